// libacp for C++17: the settings that a connection starts with.
//
// Part of acp.hpp, which is what a program includes.

#ifndef ACP_CONFIG_HPP
#define ACP_CONFIG_HPP

#include "acp_result.hpp"

#include <initializer_list>

namespace acp {

/// A time-out for a call that waits without a limit, whatever the configuration says.
inline constexpr std::uint64_t never = ACP_NEVER;

/// The settings that a connection starts with. Setters can be chained. The first setting that is refused is remembered,
/// and `Connection::open` fails with it.
class Config {
public:
    /// The defaults: one message per line, tolerant, version 1, no drafts, no time-out, ten seconds of grace for
    /// cancelled requests, no reminders, one prompt at a time.
    explicit Config(Role role) noexcept
        : Config(detail::read<acp_config *>(acp_config_new, detail::number(role)).value_or(nullptr))
    {}
    /// Takes ownership of a handle of acp.h.
    explicit Config(acp_config *config) noexcept
        : config_(config), status_(config == nullptr ? ACP_INVALID_ARGUMENT : ACP_OK)
    {}

    /// Sets how messages are separated on the transport.
    Config &framing(Framing framing) noexcept
    {
        return keep(acp_config_set_framing(config_.get(), detail::number(framing)),
                    "Config::framing: no such framing");
    }
    /// Sets what happens to a message of the peer that breaks a rule.
    Config &policy(Policy policy) noexcept
    {
        return keep(acp_config_set_policy(config_.get(), detail::number(policy)),
                    "Config::policy: no such policy");
    }
    /// Sets another policy for the rules of one severity; `std::nullopt` undoes that.
    Config &policy_for(Severity severity, std::optional<Policy> policy) noexcept
    {
        return keep(policy ? acp_config_set_policy_for(config_.get(), detail::number(severity), detail::number(*policy))
                           : acp_config_clear_policy_for(config_.get(), detail::number(severity)),
                    "Config::policy_for: no such severity or policy");
    }
    /// Sets a limit that holds whatever the peer sends. `Limit` lists the units and defaults.
    Config &limit(Limit limit, std::uint64_t value) noexcept
    {
        return keep(acp_config_set_limit(config_.get(), detail::number(limit), value),
                    "Config::limit: no such limit, or a value that is too large for it");
    }
    /// Sets the protocol versions that may be agreed on. Version 1 alone is the default.
    Config &versions(std::initializer_list<std::uint16_t> versions) noexcept
    {
        return keep(acp_config_set_versions(config_.get(), versions.begin(), versions.size()),
                    "Config::versions: expected at least one version, and none but 1 and 2");
    }
    /// Enables a draft of the protocol (`ACP_DRAFT_…`).
    Config &draft(std::string_view name) noexcept
    {
        return keep(acp_config_set_draft(config_.get(), detail::slice(name)),
                    "Config::draft: no draft has this name; ACP_DRAFT_… are the names");
    }
    /// Sets after how many milliseconds one of the host's requests ends with `Outcome::timeout`; `std::nullopt` for
    /// never, which is the default.
    Config &timeout(std::optional<std::uint64_t> milliseconds) noexcept
    {
        return keep(acp_config_set_timeout(config_.get(), milliseconds.value_or(ACP_UNSET)),
                    "Config::timeout was refused");
    }
    /// Sets how many milliseconds the peer has to answer a request that was cancelled, 10,000 by default;
    /// `std::nullopt` to wait for the answer without a limit.
    Config &cancel_grace(std::optional<std::uint64_t> milliseconds) noexcept
    {
        return keep(acp_config_set_cancel_grace(config_.get(), milliseconds.value_or(ACP_UNSET)),
                    "Config::cancel_grace was refused");
    }
    /// Sets after how many milliseconds the host is reminded, once, of a request that it has not answered;
    /// `std::nullopt` for no reminders, which is the default.
    Config &reminder(std::optional<std::uint64_t> milliseconds) noexcept
    {
        return keep(acp_config_set_reminder(config_.get(), milliseconds.value_or(ACP_UNSET)),
                    "Config::reminder was refused");
    }
    /// Sets whether a session may have several prompts at once, for agents that queue prompts.
    Config &prompt_queueing(bool allowed) noexcept
    {
        return keep(acp_config_set_prompt_queueing(config_.get(), allowed),
                    "Config::prompt_queueing was refused");
    }
    /// Sets whether the connection, or the observer, keeps a view of each session: the conversation as a client shows
    /// it. False is the default, and costs nothing.
    Config &view(bool kept) noexcept { return keep(acp_config_set_view(config_.get(), kept), "Config::view was refused"); }
    /// Sets whether the connection speaks the words of version 1, whichever version is agreed: the host sends and receives
    /// the methods and shapes of version 1, and a `session/prompt` is one request from its beginning to the end of the work
    /// on it. Notifications that a client receives are left as they are; a view shows both versions alike. It matters only
    /// where `versions` allows version 2.
    Config &hosted(bool hosted = true) noexcept
    {
        return keep(acp_config_set_hosted(config_.get(), hosted), "Config::hosted was refused");
    }
    /// Says that an agent that is `hosted`, which this includes, serves a method, named as in version 1. For one that does
    /// not serve `session/list`, `session/resume` or `session/load`, the library answers with the sessions that are open.
    Config &served(std::string_view method) noexcept
    {
        return keep(acp_config_set_served(config_.get(), detail::slice(method)), "Config::served: the method is no UTF-8");
    }
    /// Allows a method that neither the specification defines nor begins with an underscore. It is then sent and
    /// delivered like an extension's method.
    Config &foreign_method(std::string_view name) noexcept
    {
        return keep(acp_config_set_foreign_method(config_.get(), detail::slice(name)),
                    "Config::foreign_method: such a method can be no peer's own, or its name is empty or too long");
    }

    /// The side that the host plays.
    Role role() const noexcept { return detail::read_enum<Role>(acp_config_role, handle()).value_or(Role{}); }
    /// How messages are separated on the transport.
    Framing framing() const noexcept
    {
        return detail::read_enum<Framing>(acp_config_framing, handle()).value_or(Framing{});
    }
    /// The policy for rules of severities that have no policy of their own.
    Policy policy() const noexcept { return detail::read_enum<Policy>(acp_config_policy, handle()).value_or(Policy{}); }
    /// The policy that `policy_for` set for one severity, if any.
    std::optional<Policy> policy_for(Severity severity) const noexcept
    {
        return detail::read_enum<Policy>(acp_config_policy_for, handle(), detail::number(severity));
    }
    /// A limit: the one that was set, or the default.
    std::uint64_t limit(Limit limit) const noexcept
    {
        return detail::read<std::uint64_t>(acp_config_limit, handle(), detail::number(limit)).value_or(0);
    }
    /// Whether a protocol version may be agreed on.
    bool has_version(std::uint16_t version) const noexcept
    {
        return detail::read<bool>(acp_config_version, handle(), version).value_or(false);
    }
    /// Whether a draft is enabled.
    bool has_draft(std::string_view name) const noexcept
    {
        return detail::read<bool>(acp_config_draft, handle(), detail::slice(name)).value_or(false);
    }
    /// The time-out of the host's requests in milliseconds; `std::nullopt` for none.
    std::optional<std::uint64_t> timeout() const noexcept
    {
        return detail::read<std::uint64_t>(acp_config_timeout, handle());
    }
    /// How many milliseconds the peer has to answer a cancelled request; `std::nullopt` for no limit.
    std::optional<std::uint64_t> cancel_grace() const noexcept
    {
        return detail::read<std::uint64_t>(acp_config_cancel_grace, handle());
    }
    /// After how many milliseconds the host is reminded of a request; `std::nullopt` for never.
    std::optional<std::uint64_t> reminder() const noexcept
    {
        return detail::read<std::uint64_t>(acp_config_reminder, handle());
    }
    /// Whether a session may have several prompts at once.
    bool prompt_queueing() const noexcept
    {
        return detail::read<bool>(acp_config_prompt_queueing, handle()).value_or(false);
    }
    /// Whether views are kept.
    bool view() const noexcept { return detail::read<bool>(acp_config_view, handle()).value_or(false); }
    /// Whether the connection speaks the words of version 1 in both versions.
    bool hosted() const noexcept { return detail::read<bool>(acp_config_hosted, handle()).value_or(false); }
    /// Whether `foreign_method` has allowed a method.
    bool has_foreign_method(std::string_view name) const noexcept
    {
        return detail::read<bool>(acp_config_foreign_method, handle(), detail::slice(name)).value_or(false);
    }

    /// `ACP_OK`, or the status with which the first setting was refused.
    acp_status status() const noexcept { return status_; }
    /// Which setting was refused first and why, in one sentence. Meaningful only if `status` is not `ACP_OK`.
    std::string_view refused() const noexcept { return refused_; }
    /// The handle, for the functions of acp.h; null after a move.
    const acp_config *handle() const noexcept { return config_.get(); }

private:
    Config &keep(acp_status status, std::string_view why) noexcept
    {
        if (status_ == ACP_OK && status != ACP_OK) {
            status_ = status;
            refused_ = config_ == nullptr ? "Config: no such role, or it was moved from" : why;
        }
        return *this;
    }

    detail::Owned<acp_config, acp_config_free> config_;
    acp_status status_;
    std::string_view refused_{"Config: no such role"};
};

} // namespace acp

#endif // ACP_CONFIG_HPP
