// libacp for C++17: what a host decides before a connection begins.
//
// Part of acp.hpp, which is what a program includes.

#ifndef ACP_CONFIG_HPP
#define ACP_CONFIG_HPP

#include "acp_result.hpp"

#include <initializer_list>

namespace acp {

/// A time-out for a call that waits for ever, whatever the configuration says.
inline constexpr std::uint64_t never = ACP_NEVER;

/// What a host decides before a connection begins. Settings can be chained; the first one that is refused is kept, and
/// `Connection::open` fails with it.
class Config {
public:
    /// The defaults: lines, tolerant, version 1, no drafts, no time-out, ten seconds to answer what was cancelled, no reminders.
    explicit Config(Role role) noexcept
        : Config(detail::read<acp_config *>(acp_config_new, detail::number(role)).value_or(nullptr))
    {}
    /// Takes over a handle of acp.h.
    explicit Config(acp_config *config) noexcept
        : config_(config), status_(config == nullptr ? ACP_INVALID_ARGUMENT : ACP_OK)
    {}

    Config &framing(Framing framing) noexcept
    {
        return keep(acp_config_set_framing(config_.get(), detail::number(framing)),
                    "Config::framing: no such framing");
    }
    Config &policy(Policy policy) noexcept
    {
        return keep(acp_config_set_policy(config_.get(), detail::number(policy)),
                    "Config::policy: no such policy");
    }
    /// Another policy for the rules of one severity; nothing takes it back.
    Config &policy_for(Severity severity, std::optional<Policy> policy) noexcept
    {
        return keep(policy ? acp_config_set_policy_for(config_.get(), detail::number(severity), detail::number(*policy))
                           : acp_config_clear_policy_for(config_.get(), detail::number(severity)),
                    "Config::policy_for: no such severity or policy");
    }
    Config &limit(Limit limit, std::uint64_t value) noexcept
    {
        return keep(acp_config_set_limit(config_.get(), detail::number(limit), value),
                    "Config::limit: no such limit, or a value that is too large for it");
    }
    /// The versions of the protocol that may be agreed on: version 1 where nothing says otherwise.
    Config &versions(std::initializer_list<std::uint16_t> versions) noexcept
    {
        return keep(acp_config_set_versions(config_.get(), versions.begin(), versions.size()),
                    "Config::versions: expected at least one version, and none but 1 and 2");
    }
    /// Switches a draft on (`ACP_DRAFT_…`).
    Config &draft(std::string_view name) noexcept
    {
        return keep(acp_config_set_draft(config_.get(), detail::slice(name)),
                    "Config::draft: no draft has this name; ACP_DRAFT_… are the names");
    }
    /// Milliseconds after which a request of the host's own fails; nothing waits for ever.
    Config &timeout(std::optional<std::uint64_t> milliseconds) noexcept
    {
        return keep(acp_config_set_timeout(config_.get(), milliseconds.value_or(ACP_UNSET)),
                    "Config::timeout was refused");
    }
    /// Milliseconds that the peer has to answer a request that was cancelled; nothing waits for ever.
    Config &cancel_grace(std::optional<std::uint64_t> milliseconds) noexcept
    {
        return keep(acp_config_set_cancel_grace(config_.get(), milliseconds.value_or(ACP_UNSET)),
                    "Config::cancel_grace was refused");
    }
    /// Milliseconds after which the host is reminded, once, of a request that it has not answered; nothing for never.
    Config &reminder(std::optional<std::uint64_t> milliseconds) noexcept
    {
        return keep(acp_config_set_reminder(config_.get(), milliseconds.value_or(ACP_UNSET)),
                    "Config::reminder was refused");
    }
    /// Whether a session may have several prompts at once, for agents that queue prompts.
    Config &prompt_queueing(bool allowed) noexcept
    {
        return keep(acp_config_set_prompt_queueing(config_.get(), allowed),
                    "Config::prompt_queueing was refused");
    }
    /// Names a method that is neither the specification's nor begins with an underscore, and is sent and delivered all the
    /// same.
    Config &foreign_method(std::string_view name) noexcept
    {
        return keep(acp_config_set_foreign_method(config_.get(), detail::slice(name)),
                    "Config::foreign_method: such a method can be no peer's own, or its name is empty or too long");
    }

    Role role() const noexcept { return detail::read_enum<Role>(acp_config_role, handle()).value_or(Role{}); }
    Framing framing() const noexcept
    {
        return detail::read_enum<Framing>(acp_config_framing, handle()).value_or(Framing{});
    }
    Policy policy() const noexcept { return detail::read_enum<Policy>(acp_config_policy, handle()).value_or(Policy{}); }
    std::optional<Policy> policy_for(Severity severity) const noexcept
    {
        return detail::read_enum<Policy>(acp_config_policy_for, handle(), detail::number(severity));
    }
    std::uint64_t limit(Limit limit) const noexcept
    {
        return detail::read<std::uint64_t>(acp_config_limit, handle(), detail::number(limit)).value_or(0);
    }
    bool has_version(std::uint16_t version) const noexcept
    {
        return detail::read<bool>(acp_config_version, handle(), version).value_or(false);
    }
    bool has_draft(std::string_view name) const noexcept
    {
        return detail::read<bool>(acp_config_draft, handle(), detail::slice(name)).value_or(false);
    }
    std::optional<std::uint64_t> timeout() const noexcept
    {
        return detail::read<std::uint64_t>(acp_config_timeout, handle());
    }
    std::optional<std::uint64_t> cancel_grace() const noexcept
    {
        return detail::read<std::uint64_t>(acp_config_cancel_grace, handle());
    }
    std::optional<std::uint64_t> reminder() const noexcept
    {
        return detail::read<std::uint64_t>(acp_config_reminder, handle());
    }
    bool prompt_queueing() const noexcept
    {
        return detail::read<bool>(acp_config_prompt_queueing, handle()).value_or(false);
    }
    bool has_foreign_method(std::string_view name) const noexcept
    {
        return detail::read<bool>(acp_config_foreign_method, handle(), detail::slice(name)).value_or(false);
    }

    /// `ACP_OK`, or why the first setting that was refused was; and which one it was, in one sentence.
    acp_status status() const noexcept { return status_; }
    std::string_view refused() const noexcept { return refused_; }
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
