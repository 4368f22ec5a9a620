// libacp for C++17: policies for requests for permission.
//
// Part of acp.hpp, which is what a program includes.

#ifndef ACP_PERMISSION_HPP
#define ACP_PERMISSION_HPP

#include "acp_connection.hpp"
#include "acp_enums.hpp"
#include "acp_json.hpp"
#include "acp_result.hpp"

#include <string>
#include <string_view>

namespace acp {

/// What is done with a request for permission.
enum class Permission : std::int32_t {
    /// The tool call may run, this once.
    allow = ACP_PERMISSION_ALLOW,
    /// It may not.
    deny = ACP_PERMISSION_DENY,
    /// The user decides. Without anybody to ask, reject it.
    ask = ACP_PERMISSION_ASK
};

/// The name of the constant; "unknown" for a value that has none.
inline std::string_view name(Permission value) noexcept { return acp_permission_name(detail::number(value)); }

/// What a policy decided about one request.
struct PermissionDecision {
    /// What to do.
    Permission action;
    /// The id of the option to answer with, for `client::answer_permission`; empty where there is none.
    std::string option;
    /// The decision as JSON text: an object with `action`, `optionId` or null, `rule` (a JSON pointer into the policy) or
    /// null, `reason`, `sessionId` and `toolCallId` or null.
    std::string json;
};

/// Rules that decide requests for permission: allow, deny or ask, by the kind of the tool, its name, and its paths.
class PermissionPolicy {
public:
    /// A policy that asks about everything.
    PermissionPolicy() noexcept : policy_(detail::read<acp_permission_policy *>(acp_permission_policy_new).value_or(nullptr))
    {
    }

    /// Reads the rules of the policy from JSON text; acp.h (`acp_permission_policy_read`) says what it has. The error of a
    /// text that is no policy says where and what was expected, and nothing has changed.
    [[nodiscard]] Result<void> read(std::string_view json) noexcept
    {
        const acp_status status = acp_permission_policy_read(handle(), detail::slice(json));
        if (status == ACP_OK) {
            return {};
        }
        Error error = Error::of(status);
        if (status == ACP_MISUSE) {
            error.kind = MisuseKind::params;
            error.pointer = detail::read_text(acp_permission_policy_error_pointer, handle()).value_or("");
            error.message = detail::read_text(acp_permission_policy_error_message, handle()).value_or("");
        }
        return error;
    }

    /// Decides a `session/request_permission` that a client's connection has received; `params` are its params. It sends
    /// nothing. With a view (`Config::view`), it knows what was told of the tool call before.
    [[nodiscard]] Result<PermissionDecision> decide(const Connection &connection, std::string_view params)
    {
        std::int32_t action = 0;
        acp_slice option{};
        acp_slice decision{};
        const acp_status status = acp_permission_policy_decide(handle(), connection.handle(), detail::slice(params), &action,
                                                               &option, &decision);
        if (status != ACP_OK) {
            return Error::of(status);
        }
        return PermissionDecision{static_cast<Permission>(action), std::string(detail::view(option)),
                                  std::string(detail::view(decision))};
    }
    /// The last 256 decisions, oldest first: a JSON list. Valid until the next call of this policy.
    Json decisions() noexcept
    {
        return Json(detail::read_text(acp_permission_policy_decisions, handle()).value_or("[]"));
    }

    /// The handle, for the functions of acp.h; null after a move.
    acp_permission_policy *handle() const noexcept { return policy_.get(); }

private:
    detail::Owned<acp_permission_policy, acp_permission_policy_free> policy_;
};

} // namespace acp

#endif // ACP_PERMISSION_HPP
