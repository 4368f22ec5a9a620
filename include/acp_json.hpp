// libacp for C++17: reading JSON text by pointer and writing it piece by piece, for hosts without a JSON library.
//
// Part of acp.hpp, which is what a program includes.

#ifndef ACP_JSON_HPP
#define ACP_JSON_HPP

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <type_traits>

#include "acp_result.hpp"

namespace acp {

namespace detail {

/// Iterates over anything that has `size()` and `operator[]`.
template <class List> class Index {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = decltype(std::declval<const List &>()[0]);
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = value_type;

    Index(const List *list, std::size_t at) noexcept : list_(list), at_(at) {}
    value_type operator*() const noexcept { return (*list_)[at_]; }
    Index &operator++() noexcept
    {
        ++at_;
        return *this;
    }
    bool operator==(const Index &other) const noexcept { return at_ == other.at_; }
    bool operator!=(const Index &other) const noexcept { return at_ != other.at_; }

private:
    const List *list_;
    std::size_t at_;
};

} // namespace detail

class Items;

/// JSON text that this object does not own. Look-ups take a JSON pointer (`/options/0/name`; empty for the whole text)
/// and return `std::nullopt` if it names nothing or a value of another type.
class Json {
public:
    constexpr Json() noexcept = default;
    /// Refers to JSON text, which must outlive this object.
    constexpr explicit Json(std::string_view text) noexcept : text_(text) {}

    /// The text.
    constexpr std::string_view text() const noexcept { return text_; }

    /// The value that a pointer names; a part of this text.
    std::optional<Json> find(std::string_view pointer) const noexcept
    {
        const auto found = look<acp_slice>(acp_json_find, pointer);
        return found ? std::optional<Json>(Json(detail::view(*found))) : std::nullopt;
    }
    /// The type of a value.
    std::optional<JsonType> type(std::string_view pointer = {}) const noexcept
    {
        return detail::read_enum<JsonType>(acp_json_type, detail::slice(text_), detail::slice(pointer));
    }
    /// A string without quotes and escapes, as a copy.
    std::optional<std::string> string(std::string_view pointer = {}) const
    {
        std::size_t length = 0;
        acp_status status = acp_json_string(detail::slice(text_), detail::slice(pointer), nullptr, 0, &length);
        std::string out;
        if (status == ACP_SHORT_BUFFER) {
            out.resize(length);
            status = acp_json_string(detail::slice(text_), detail::slice(pointer), out.data(), length, &length);
        }
        return status == ACP_OK ? std::optional<std::string>(std::move(out)) : std::nullopt;
    }
    /// A string without quotes and escapes, copied to a buffer; `std::nullopt` also if the buffer is too small.
    std::optional<std::string_view> string(std::string_view pointer, char *buffer, std::size_t capacity) const noexcept
    {
        std::size_t length = 0;
        if (acp_json_string(detail::slice(text_), detail::slice(pointer), buffer, capacity, &length) != ACP_OK) {
            return std::nullopt;
        }
        return std::string_view(buffer, length);
    }
    /// Whether a value is a string with this content.
    bool is(std::string_view pointer, std::string_view value) const noexcept
    {
        return detail::read<bool>(acp_json_string_is, detail::slice(text_), detail::slice(pointer),
                                  detail::slice(value))
            .value_or(false);
    }
    /// An integer, exactly.
    std::optional<std::int64_t> int64(std::string_view pointer = {}) const noexcept
    {
        return look<std::int64_t>(acp_json_int64, pointer);
    }
    /// An unsigned integer, exactly.
    std::optional<std::uint64_t> uint64(std::string_view pointer = {}) const noexcept
    {
        return look<std::uint64_t>(acp_json_uint64, pointer);
    }
    /// A number, as the nearest double.
    std::optional<double> number(std::string_view pointer = {}) const noexcept
    {
        return look<double>(acp_json_double, pointer);
    }
    /// A boolean.
    std::optional<bool> boolean(std::string_view pointer = {}) const noexcept
    {
        return look<bool>(acp_json_bool, pointer);
    }
    /// The number of items of a list or members of an object.
    std::optional<std::size_t> size(std::string_view pointer = {}) const noexcept
    {
        return look<std::size_t>(acp_json_len, pointer);
    }
    /// The items of a list or the members of an object, for a loop; none if the pointer names anything else.
    Items items(std::string_view pointer = {}) const noexcept;

private:
    template <class T, class Function> std::optional<T> look(Function function, std::string_view pointer) const noexcept
    {
        return detail::read<T>(function, detail::slice(text_), detail::slice(pointer));
    }

    std::string_view text_{};
};

/// An item of a list, or a member of an object.
struct Item {
    /// The name of a member; empty in a list. Valid as long as the `Items`.
    std::string_view key;
    /// The value. Valid as long as the text.
    Json value;
};

/// The items of a list or the members of an object. Keys are valid as long as this object, values as long as the text.
class Items {
public:
    /// Takes ownership of a handle of acp.h.
    explicit Items(acp_items *items = nullptr) noexcept : items_(items) {}

    /// The number of items or members.
    std::size_t size() const noexcept { return detail::read<std::size_t>(acp_items_len, handle()).value_or(0); }
    /// Whether there are none.
    bool empty() const noexcept { return size() == 0; }
    /// One of them; empty if `index` is out of range.
    Item operator[](std::size_t index) const noexcept
    {
        return {detail::read_text(acp_items_key, handle(), index).value_or(std::string_view()),
                Json(detail::read_text(acp_items_value, handle(), index).value_or(std::string_view()))};
    }
    detail::Index<Items> begin() const noexcept { return {this, 0}; }
    detail::Index<Items> end() const noexcept { return {this, size()}; }

private:
    const acp_items *handle() const noexcept { return items_.get(); }

    detail::Owned<acp_items, acp_items_free> items_;
};

inline Items Json::items(std::string_view pointer) const noexcept
{
    return Items(look<acp_items *>(acp_json_items, pointer).value_or(nullptr));
}

/// A value for `Writer::form`: a string, JSON, a number, a boolean or null. Texts are not copied.
class Value : public acp_value {
public:
    Value(std::string_view content) noexcept : acp_value{ACP_VALUE_STRING, 0, 0, detail::slice(content)} {}
    Value(const std::string &content) noexcept : Value(std::string_view(content)) {}
    Value(const char *content) noexcept : Value(std::string_view(content)) {}
    Value(Json json) noexcept : acp_value{ACP_VALUE_JSON, 0, 0, detail::slice(json.text())} {}
    Value(std::nullptr_t) noexcept : acp_value{ACP_VALUE_NULL, 0, 0, detail::slice({})} {}
    template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
    Value(Number number) noexcept
        : acp_value{std::is_same_v<Number, bool>         ? ACP_VALUE_BOOL
                    : std::is_floating_point_v<Number> ? ACP_VALUE_DOUBLE
                                                       : ACP_VALUE_INT64,
                    static_cast<std::int64_t>(number), static_cast<double>(number), detail::slice({})}
    {
        static_assert(!std::is_unsigned_v<Number> || sizeof(Number) < sizeof(std::int64_t) || std::is_same_v<Number, bool>,
                      "numbers beyond std::int64_t are written with Writer::value");
    }
};
static_assert(sizeof(Value) == sizeof(acp_value), "a list of them is one of acp_value");

/// Writes one JSON value piece by piece, and adds commas and colons. Pieces that do not fit together are reported by
/// `finish`.
class Writer {
public:
    /// An empty writer.
    Writer() noexcept : writer_(detail::read<acp_writer *>(acp_writer_new).value_or(nullptr)) {}

    /// Begins an object.
    Writer &begin_object() noexcept { return keep(acp_writer_begin_object(writer_.get())); }
    /// Ends the innermost object.
    Writer &end_object() noexcept { return keep(acp_writer_end_object(writer_.get())); }
    /// Begins a list.
    Writer &begin_array() noexcept { return keep(acp_writer_begin_array(writer_.get())); }
    /// Ends the innermost list.
    Writer &end_array() noexcept { return keep(acp_writer_end_array(writer_.get())); }
    /// Writes the name of a member. Its value comes next.
    Writer &key(std::string_view name) noexcept { return keep(acp_writer_key(writer_.get(), detail::slice(name))); }

    /// Writes a string.
    Writer &value(std::string_view text) noexcept
    {
        return keep(acp_writer_string(writer_.get(), detail::slice(text)));
    }
    /// Writes a string.
    Writer &value(const char *text) noexcept { return value(std::string_view(text)); }
    /// Writes a value that is JSON text already.
    Writer &value(Json json) noexcept { return keep(acp_writer_json(writer_.get(), detail::slice(json.text()))); }
    /// Writes null.
    Writer &value(std::nullptr_t) noexcept { return keep(acp_writer_null(writer_.get())); }
    /// Writes a number or a boolean.
    template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
    Writer &value(Number number) noexcept
    {
        if constexpr (std::is_same_v<Number, bool>) {
            return keep(acp_writer_bool(writer_.get(), number));
        } else if constexpr (std::is_floating_point_v<Number>) {
            return keep(acp_writer_double(writer_.get(), static_cast<double>(number)));
        } else if constexpr (std::is_signed_v<Number>) {
            return keep(acp_writer_int64(writer_.get(), number));
        } else {
            return keep(acp_writer_uint64(writer_.get(), number));
        }
    }
    /// Writes a member: its name and its value.
    template <class T> Writer &member(std::string_view name, const T &content) noexcept
    {
        return key(name).value(content);
    }

    /// Writes one value from a template: JSON text in which each `?` outside strings stands for the next of the values.
    /// Strings in the template may have single quotes: `json.form("{'sessionId':?}", {session})`.
    Writer &form(std::string_view form, std::initializer_list<Value> values = {}) noexcept
    {
        return keep(acp_writer_template(writer_.get(), detail::slice(form), values.begin(), values.size()));
    }

    /// Finishes the value and returns its text, valid until the writer is reset or destroyed; or the first error.
    Result<std::string_view> finish() noexcept
    {
        acp_slice out{nullptr, 0};
        const acp_status status = status_ == ACP_OK ? acp_writer_finish(writer_.get(), &out) : status_;
        return status == ACP_OK ? Result<std::string_view>(detail::view(out)) : Error::of(status);
    }
    /// Makes the writer empty again.
    void reset() noexcept { status_ = acp_writer_reset(writer_.get()); }

private:
    Writer &keep(acp_status status) noexcept
    {
        status_ = status_ == ACP_OK ? status : status_;
        return *this;
    }

    detail::Owned<acp_writer, acp_writer_free> writer_;
    acp_status status_ = ACP_OK;
};

/// JSON text that is passed to a call: text, a part of a message, or what a writer has written. Texts are not copied.
class JsonText {
public:
    JsonText(std::string_view text) noexcept : text_(text) {}
    JsonText(const std::string &text) noexcept : text_(text) {}
    JsonText(const char *text) noexcept : text_(text) {}
    JsonText(Json json) noexcept : text_(json.text()) {}
    JsonText(Writer &writer) noexcept
    {
        const Result<std::string_view> written = writer.finish();
        text_ = written ? *written : std::string_view();
        status_ = written.error().status;
    }

    /// The text, for the functions of acp.h.
    acp_slice slice() const noexcept { return detail::slice(text_); }
    /// `ACP_OK`, or why the writer has no text.
    acp_status status() const noexcept { return status_; }

private:
    std::string_view text_{};
    acp_status status_ = ACP_OK;
};

} // namespace acp

#endif // ACP_JSON_HPP
