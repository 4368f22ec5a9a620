// libacp for C++17: what calls return. A `Result` is a value or an `Error`; for programs that prefer exceptions, `value()`
// throws.
//
// Part of acp.hpp, which is what a program includes.

#ifndef ACP_RESULT_HPP
#define ACP_RESULT_HPP

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "acp_enums.hpp"

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define ACP_HAS_EXCEPTIONS 1
#include <stdexcept>
#else
#define ACP_HAS_EXCEPTIONS 0
#endif

namespace acp {

/// Why a call was refused. The texts belong to the connection and are valid until the next call that changes it.
struct Error {
    /// The status of the C interface; never `ACP_OK` in an error.
    acp_status status = ACP_OK;
    /// The kind of mistake, if `status` is `ACP_MISUSE`.
    MisuseKind kind = MisuseKind::none;
    /// The id of the rule that would have been broken; empty if there is none.
    std::string_view rule{};
    /// A JSON pointer into what was passed; empty if the call as a whole is meant.
    std::string_view pointer{};
    /// What is wrong, what was expected, and what to do instead.
    std::string_view message{};

    /// An error that has only a status.
    static Error of(acp_status status) noexcept { return {status, MisuseKind::none, {}, {}, acp_status_name(status)}; }

    /// All of it on one line, as a copy.
    std::string text() const
    {
        std::string all(rule);
        for (std::string_view part : {pointer, message}) {
            all.append(all.empty() || part.empty() ? "" : ": ").append(part);
        }
        return all;
    }
};

#if ACP_HAS_EXCEPTIONS
/// What `Result::value` throws: an `Error` with texts of its own.
class Exception : public std::runtime_error {
public:
    /// Copies an error.
    explicit Exception(const Error &error)
        : std::runtime_error(error.text()), status_(error.status), kind_(error.kind), rule_(error.rule),
          pointer_(error.pointer)
    {}

    /// The status of the C interface.
    acp_status status() const noexcept { return status_; }
    /// The kind of mistake, if the status is `ACP_MISUSE`.
    MisuseKind kind() const noexcept { return kind_; }
    /// The id of the rule that would have been broken; empty if there is none.
    const std::string &rule() const noexcept { return rule_; }
    /// A JSON pointer into what was passed; empty if the call as a whole is meant.
    const std::string &pointer() const noexcept { return pointer_; }

private:
    acp_status status_;
    MisuseKind kind_;
    std::string rule_;
    std::string pointer_;
};
#endif

/// A value, or why there is none.
template <class T> class Result {
public:
    /// A success.
    Result(T value) : value_(std::move(value)) {}
    /// A failure.
    Result(const Error &error) noexcept : error_(error) {}

    /// Whether there is a value.
    explicit operator bool() const noexcept { return value_.has_value(); }
    /// The value. Undefined if there is none.
    T &operator*() & noexcept { return *value_; }
    const T &operator*() const & noexcept { return *value_; }
    T &&operator*() && noexcept { return std::move(*value_); }
    T *operator->() noexcept { return &*value_; }
    const T *operator->() const noexcept { return &*value_; }
    /// Why there is no value; its status is `ACP_OK` if there is one.
    const Error &error() const noexcept { return error_; }

#if ACP_HAS_EXCEPTIONS
    /// The value; throws `Exception` if there is none.
    T &value() &
    {
        check();
        return *value_;
    }
    T &&value() &&
    {
        check();
        return std::move(*value_);
    }

private:
    void check() const
    {
        if (!value_) {
            throw Exception(error_);
        }
    }
#endif

private:
    std::optional<T> value_{};
    Error error_{};
};

/// Success, or why a call failed.
template <> class Result<void> {
public:
    Result() noexcept = default;
    Result(const Error &error) noexcept : error_(error) {}

    explicit operator bool() const noexcept { return error_.status == ACP_OK; }
    /// Why the call failed; its status is `ACP_OK` if it succeeded.
    const Error &error() const noexcept { return error_; }

#if ACP_HAS_EXCEPTIONS
    /// Throws `Exception` if the call failed.
    void value() const
    {
        if (error_.status != ACP_OK) {
            throw Exception(error_);
        }
    }
#endif

private:
    Error error_{};
};

namespace detail {

inline acp_slice slice(std::string_view text) noexcept { return acp_bytes(text.data(), text.size()); }

inline std::string_view view(acp_slice bytes) noexcept { return {bytes.data, bytes.len}; }

template <auto Function> struct Free {
    template <class Handle> void operator()(Handle *handle) const noexcept { Function(handle); }
};

/// A handle of the C interface that frees itself.
template <class Handle, auto Function> using Owned = std::unique_ptr<Handle, Free<Function>>;

/// What a function of the C interface writes to its output; `std::nullopt` with any status but `ACP_OK`.
template <class T, class Function, class... Arguments>
std::optional<T> read(Function function, Arguments... arguments) noexcept
{
    T out{};
    return function(arguments..., &out) == ACP_OK ? std::optional<T>(out) : std::nullopt;
}

/// Like `read`, for text.
template <class Function, class... Arguments>
std::optional<std::string_view> read_text(Function function, Arguments... arguments) noexcept
{
    const auto out = read<acp_slice>(function, arguments...);
    return out ? std::optional<std::string_view>(view(*out)) : std::nullopt;
}

/// Like `read`, for an enumeration.
template <class Enum, class Function, class... Arguments>
std::optional<Enum> read_enum(Function function, Arguments... arguments) noexcept
{
    const auto out = read<std::int32_t>(function, arguments...);
    return out ? std::optional<Enum>(static_cast<Enum>(*out)) : std::nullopt;
}

} // namespace detail
} // namespace acp

#endif // ACP_RESULT_HPP
