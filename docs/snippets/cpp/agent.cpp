// An agent: speaks ACP on standard input and output, and says back what it is told.

#include <acp.hpp>

#include <cstdio>
#include <unistd.h>

void serve(acp::Connection &client, const acp::Request &request)
{
    static unsigned sessions = 0;
    acp::Writer json;
    if (request.method() == ACP_METHOD_INITIALIZE) {
        client.respond(request.serial(), R"({"agentInfo":{"name":"echo","version":"1.0"}})").value();
    } else if (request.method() == ACP_METHOD_SESSION_NEW) {
        json.begin_object().member("sessionId", "session-" + std::to_string(++sessions)).end_object();
        client.respond(request.serial(), json).value();
    } else if (request.method() == ACP_METHOD_SESSION_PROMPT) {
        json.begin_object().member("sessionId", *request.session()).key("update").begin_object();
        json.member("sessionUpdate", ACP_UPDATE_AGENT_MESSAGE_CHUNK).key("content").begin_object();
        json.member("type", "text").member("text", request.params().string("/prompt/0/text").value_or("(no text)"));
        client.notify(ACP_METHOD_SESSION_UPDATE, json.end_object().end_object().end_object()).value();
        client.respond(request.serial(), R"({"stopReason":"end_turn"})").value();
    } else {
        client.respond_error(request.serial(), ACP_CODE_METHOD_NOT_FOUND, "Not served").value();
    }
}

int main()
{
    acp::Connection client(acp::Role::agent);
    for (bool over = false; !over;) {
        char bytes[16384];
        const ssize_t size = read(STDIN_FILENO, bytes, sizeof bytes);
        if (size > 0) {
            client.receive({bytes, static_cast<std::size_t>(size)});
        } else {
            client.receive_eof();
        }
        for (const acp::Event &event : client.events()) {
            event.match([&](const acp::Request &request) { serve(client, request); },
                        [&](const acp::Closed &) { over = true; }, [](const auto &) {});
        }
        const auto waiting = client.transmit();
        client.consume(std::fwrite(waiting.data(), 1, waiting.size(), stdout));
        std::fflush(stdout);
    }
}
