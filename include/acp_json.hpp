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

/// Goes through anything that has `size()` and `operator[]`.
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

/// JSON text that belongs to somebody else. A look-up takes a JSON pointer (`/options/0/name`; empty for the whole)
/// and is empty-handed where the pointer names nothing or a value of another type.
class Json {
public:
    constexpr Json() noexcept = default;
    constexpr explicit Json(std::string_view text) noexcept : text_(text) {}

    /// The text itself.
    constexpr std::string_view text() const noexcept { return text_; }

    /// The value that a pointer names.
    std::optional<Json> find(std::string_view pointer) const noexcept
    {
        const auto found = look<acp_slice>(acp_json_find, pointer);
        return found ? std::optional<Json>(Json(detail::view(*found))) : std::nullopt;
    }
    std::optional<JsonType> type(std::string_view pointer = {}) const noexcept
    {
        return detail::read_enum<JsonType>(acp_json_type, detail::slice(text_), detail::slice(pointer));
    }
    /// A string, without quotes and escapes, in memory of its own.
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
    /// A string, into a buffer of the caller's; nothing also where there is no room.
    std::optional<std::string_view> string(std::string_view pointer, char *buffer, std::size_t capacity) const noexcept
    {
        std::size_t length = 0;
        if (acp_json_string(detail::slice(text_), detail::slice(pointer), buffer, capacity, &length) != ACP_OK) {
            return std::nullopt;
        }
        return std::string_view(buffer, length);
    }
    /// Whether the string that a pointer names is this text.
    bool is(std::string_view pointer, std::string_view value) const noexcept
    {
        return detail::read<bool>(acp_json_string_is, detail::slice(text_), detail::slice(pointer),
                                  detail::slice(value))
            .value_or(false);
    }
    std::optional<std::int64_t> int64(std::string_view pointer = {}) const noexcept
    {
        return look<std::int64_t>(acp_json_int64, pointer);
    }
    std::optional<std::uint64_t> uint64(std::string_view pointer = {}) const noexcept
    {
        return look<std::uint64_t>(acp_json_uint64, pointer);
    }
    std::optional<double> number(std::string_view pointer = {}) const noexcept
    {
        return look<double>(acp_json_double, pointer);
    }
    std::optional<bool> boolean(std::string_view pointer = {}) const noexcept
    {
        return look<bool>(acp_json_bool, pointer);
    }
    /// How many items a list, or members an object, has.
    std::optional<std::size_t> size(std::string_view pointer = {}) const noexcept
    {
        return look<std::size_t>(acp_json_len, pointer);
    }
    /// The items of a list or the members of an object; none where the pointer names neither.
    Items items(std::string_view pointer = {}) const noexcept;

private:
    template <class T, class Function> std::optional<T> look(Function function, std::string_view pointer) const noexcept
    {
        return detail::read<T>(function, detail::slice(text_), detail::slice(pointer));
    }

    std::string_view text_{};
};

/// One item of a list, or one member of an object.
struct Item {
    /// The name of a member; empty in a list.
    std::string_view key;
    Json value;
};

/// The items of a list or the members of an object. Keys are valid as long as this, values as long as the text.
class Items {
public:
    explicit Items(acp_items *items = nullptr) noexcept : items_(items) {}

    std::size_t size() const noexcept { return detail::read<std::size_t>(acp_items_len, handle()).value_or(0); }
    bool empty() const noexcept { return size() == 0; }
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

/// A value for `Writer::form`: text, JSON, a whole number, a number, a boolean or null.
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

/// Writes one JSON value piece by piece; commas and colons come by themselves. The first piece that is refused is kept
/// and comes out of `finish`.
class Writer {
public:
    Writer() noexcept : writer_(detail::read<acp_writer *>(acp_writer_new).value_or(nullptr)) {}

    Writer &begin_object() noexcept { return keep(acp_writer_begin_object(writer_.get())); }
    Writer &end_object() noexcept { return keep(acp_writer_end_object(writer_.get())); }
    Writer &begin_array() noexcept { return keep(acp_writer_begin_array(writer_.get())); }
    Writer &end_array() noexcept { return keep(acp_writer_end_array(writer_.get())); }
    /// The name of the member whose value comes next.
    Writer &key(std::string_view name) noexcept { return keep(acp_writer_key(writer_.get(), detail::slice(name))); }

    Writer &value(std::string_view text) noexcept
    {
        return keep(acp_writer_string(writer_.get(), detail::slice(text)));
    }
    Writer &value(const char *text) noexcept { return value(std::string_view(text)); }
    Writer &value(Json json) noexcept { return keep(acp_writer_json(writer_.get(), detail::slice(json.text()))); }
    Writer &value(std::nullptr_t) noexcept { return keep(acp_writer_null(writer_.get())); }
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
    /// A member of an object with its value.
    template <class T> Writer &member(std::string_view name, const T &content) noexcept
    {
        return key(name).value(content);
    }

    /// One value by a template: JSON text in which each `?` outside of strings stands for the next of the values, and in which
    /// strings may stand in single quotes: `json.form("{'sessionId':?}", {session})`.
    Writer &form(std::string_view form, std::initializer_list<Value> values = {}) noexcept
    {
        return keep(acp_writer_template(writer_.get(), detail::slice(form), values.begin(), values.size()));
    }

    /// The text, valid until the writer is reset or goes away; or what was refused first.
    Result<std::string_view> finish() noexcept
    {
        acp_slice out{nullptr, 0};
        const acp_status status = status_ == ACP_OK ? acp_writer_finish(writer_.get(), &out) : status_;
        return status == ACP_OK ? Result<std::string_view>(detail::view(out)) : Error::of(status);
    }
    /// Makes it empty again, and keeps the memory.
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

/// JSON text that goes into a call: text, a part of a message, or what a writer has written.
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

    acp_slice slice() const noexcept { return detail::slice(text_); }
    /// `ACP_OK`, or why the writer has no text.
    acp_status status() const noexcept { return status_; }

private:
    std::string_view text_{};
    acp_status status_ = ACP_OK;
};

} // namespace acp

#endif // ACP_JSON_HPP
