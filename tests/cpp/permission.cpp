// Policies for requests for permission; tests/c/permission.c replays all of tests/policies.

#include "check.hpp"

void permission()
{
    acp::PermissionPolicy policy;
    const acp::Result<void> wrong = policy.read(R"({"rules":[{"action":"allow","kind":"reed"}]})");
    CHECK(!wrong && wrong.error().pointer == "/rules/0/kind");
    CHECK(wrong.error().message.find("did you mean read?") != std::string_view::npos);
    CHECK(policy.read(R"({"rules":[{"action":"allow","kind":"read"},{"action":"deny","kind":"delete"}]})"));

    acp::Connection client(acp::Role::client);
    const auto decided = [&](std::string_view kind) {
        const std::string call = R"({"toolCallId":"t","kind":")" + std::string(kind) + R"("})";
        const std::string options = R"([{"optionId":"y","name":"Yes","kind":"allow_once"},)"
                                    R"({"optionId":"n","name":"No","kind":"reject_once"}])";
        return *policy.decide(client, R"({"sessionId":"s","toolCall":)" + call + R"(,"options":)" + options + "}");
    };
    const acp::PermissionDecision read = decided("read");
    CHECK(read.action == acp::Permission::allow && read.option == "y");
    CHECK(acp::Json(read.json).string("/rule") == "/rules/0");
    CHECK(decided("delete").action == acp::Permission::deny && decided("delete").option == "n");
    CHECK(decided("edit").action == acp::Permission::ask && decided("edit").option.empty());
    CHECK(acp::name(acp::Permission::ask) == "ask" && policy.decisions().string("/4/action") == "ask");

    acp::PermissionPolicy moved = std::move(policy);
    CHECK(moved.decisions().string("/0/action") == "allow");
    CHECK(policy.read("{}").error().status == ACP_INVALID_ARGUMENT); // NOLINT: what was moved from is safe to call
}
