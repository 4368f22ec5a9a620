// A client: `client AGENT [ARGUMENT...]` starts an agent, gives it one prompt, and prints what it says.

#include <acp.hpp>

#include <csignal>
#include <filesystem>
#include <iostream>
#include <sys/wait.h>
#include <unistd.h>

/// One conversation with one agent.
class Client {
public:
    Client() { agent.request(ACP_METHOD_INITIALIZE, R"({"clientCapabilities":{}})").value(); }

    acp::Connection agent{acp::Role::client};
    bool over = false;

    /// Takes all events; each of them may lead to the next call.
    void drain()
    {
        for (const acp::Event &event : agent.events()) {
            event.match([this](const acp::Response &response) { answered(response); },
                        [](const acp::Notification &told) {
                            if (told.update() == ACP_UPDATE_AGENT_MESSAGE_CHUNK) {
                                std::cout << told.params().string("/update/content/text").value_or("");
                            }
                        },
                        [this](const acp::Request &asked) {
                            // This client has offered neither files nor terminals, so only permission can be asked.
                            agent.respond(asked.serial(), R"({"outcome":{"outcome":"cancelled"}})").value();
                        },
                        [](const acp::Violation &broken) { std::cerr << "the agent: " << broken.message() << '\n'; },
                        [this](const acp::Closed &) { over = true; }, [](const auto &) {});
        }
    }

private:
    void answered(const acp::Response &response)
    {
        acp::Writer params;
        if (!response.result()) {
            std::cerr << response.method() << ": " << response.error_message() << '\n';
            over = true;
        } else if (response.method() == ACP_METHOD_INITIALIZE) {
            params.begin_object().member("cwd", std::filesystem::current_path().string());
            params.key("mcpServers").begin_array().end_array().end_object();
            agent.request(ACP_METHOD_SESSION_NEW, params).value();
        } else if (response.method() == ACP_METHOD_SESSION_NEW) {
            params.begin_object().member("sessionId", *response.result()->find("/sessionId"));
            params.member("prompt", acp::Json(R"([{"type":"text","text":"Hello"}])")).end_object();
            agent.request(ACP_METHOD_SESSION_PROMPT, params).value();
        } else {
            std::cout << "\n(" << response.result()->string("/stopReason").value_or("") << ")\n";
            over = true;
        }
    }
};

int main(int count, char **arguments)
{
    int to[2], from[2];
    if (count < 2 || pipe(to) != 0 || pipe(from) != 0) {
        std::cerr << "usage: client AGENT [ARGUMENT...]\n";
        return 2;
    }
    if (fork() == 0) {
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        close(to[1]);
        close(from[0]);
        execvp(arguments[1], arguments + 1);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    // An agent that has ended shows in what is read from it.
    std::signal(SIGPIPE, SIG_IGN);
    Client client;
    while (!client.over) {
        // What waits for the agent is written, what it writes is passed in, and what that means comes as events.
        for (auto waiting = client.agent.transmit(); !waiting.empty(); waiting = client.agent.transmit()) {
            const ssize_t size = write(to[1], waiting.data(), waiting.size());
            client.agent.consume(size < 0 ? waiting.size() : static_cast<std::size_t>(size));
        }
        char bytes[16384];
        const ssize_t size = read(from[0], bytes, sizeof bytes);
        if (size > 0) {
            client.agent.receive({bytes, static_cast<std::size_t>(size)});
        } else {
            client.agent.receive_eof();
        }
        client.drain();
    }
    close(to[1]);
    wait(nullptr);
}
