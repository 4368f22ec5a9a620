// A client: `client AGENT [ARGUMENT...]` starts an agent, gives it what stands on standard input as a prompt, and prints
// what it says.

#include <acp.hpp>

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

/// One conversation with one agent.
class Client {
public:
    explicit Client(std::string prompt) : prompt_(std::move(prompt))
    {
        check(acp::client::initialize(agent, "example", "1.0"));
    }

    acp::Connection agent{acp::Role::client};
    bool over = false, failed = false;

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
                            // This client has offered neither files nor terminals, so only permission can be asked of it;
                            // it gives none.
                            check(asked.method() == ACP_METHOD_SESSION_REQUEST_PERMISSION
                                      ? acp::client::answer_permission(agent, asked.serial())
                                      : agent.respond_not_served(asked.serial()));
                        },
                        [](const acp::Violation &broken) { std::cerr << "the agent: " << broken.message() << '\n'; },
                        [this](const acp::Closed &) { over = true; }, [](const auto &) {});
        }
    }

private:
    void answered(const acp::Response &response)
    {
        if (!response.result()) {
            const std::string_view why = response.error_message();
            std::cerr << response.method() << ": " << (why.empty() ? "no answer" : why) << '\n';
            over = failed = true;
        } else if (response.method() == ACP_METHOD_INITIALIZE) {
            check(acp::client::new_session(agent, std::filesystem::current_path().string()));
        } else if (response.method() == ACP_METHOD_SESSION_NEW) {
            check(acp::client::prompt(agent, response.result()->string("/sessionId").value_or(""), prompt_));
        } else {
            std::cout << "\n(" << response.result()->string("/stopReason").value_or("") << ")\n";
            over = true;
        }
    }

    /// Ends the conversation when a call was refused, and says why it was.
    template <class T> void check(const acp::Result<T> &called)
    {
        if (!called) {
            std::cerr << called.error().text() << '\n';
            over = failed = true;
        }
    }

    std::string prompt_;
};

/// An agent as a process group of its own: Ctrl-C is for the client alone, and what it has started ends with it.
class Process {
public:
    explicit Process(char **command)
    {
        int input[2], output[2];
        if (pipe(input) != 0 || pipe(output) != 0 || (pid_ = fork()) < 0) {
            std::perror("the agent cannot be started");
            std::exit(1);
        }
        if (pid_ == 0) {
            std::signal(SIGPIPE, SIG_DFL); // what is ignored here is not to be so there
            setpgid(0, 0);
            dup2(input[0], STDIN_FILENO);
            dup2(output[1], STDOUT_FILENO);
            for (const int end : {input[0], input[1], output[0], output[1]}) {
                close(end);
            }
            execvp(command[0], command);
            _exit(127);
        }
        setpgid(pid_, pid_); // whichever of the two comes first
        close(input[0]);
        close(output[1]);
        to = input[1];
        from = output[0];
        // What cannot be read or written at once is left for later.
        fcntl(to, F_SETFL, O_NONBLOCK);
        fcntl(from, F_SETFL, O_NONBLOCK);
    }
    Process(const Process &) = delete;
    Process &operator=(const Process &) = delete;
    /// The end of its input is an agent's sign to end; half a second later, nothing of it is left.
    ~Process()
    {
        close(to);
        for (int i = 0; i < 100 && waitpid(pid_, nullptr, WNOHANG) == 0; ++i) {
            poll(nullptr, 0, 5);
        }
        kill(-pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        close(from);
    }

    int to = -1;
    int from = -1;

private:
    pid_t pid_ = -1;
};

int main(int count, char **arguments)
{
    if (count < 2) {
        std::cerr << "usage: client AGENT [ARGUMENT...]\n";
        return 2;
    }
    // An agent that has ended shows in what is read from it.
    std::signal(SIGPIPE, SIG_IGN);
    Client client(std::string(std::istreambuf_iterator<char>(std::cin), {}));
    Process process(arguments + 1);
    while (!client.over) {
        const std::string_view waiting = client.agent.transmit();
        // Waits for both pipes at once: an agent that writes while nobody reads would never read what is written to it.
        pollfd ends[] = {{process.from, POLLIN, 0}, {waiting.empty() ? -1 : process.to, POLLOUT, 0}};
        if (poll(ends, 2, -1) < 0) {
            continue;
        }
        if (ends[1].revents != 0) {
            const ssize_t size = write(process.to, waiting.data(), waiting.size());
            // What an agent does not read any more is given up; what it still says may tell why.
            client.agent.consume(size < 0 ? waiting.size() : static_cast<std::size_t>(size));
        }
        if (ends[0].revents != 0) {
            char bytes[65536];
            const ssize_t size = read(process.from, bytes, sizeof bytes);
            if (size > 0) {
                client.agent.receive({bytes, static_cast<std::size_t>(size)});
            } else {
                client.agent.receive_eof();
            }
        }
        client.drain();
        // Words come in pieces; each is shown when it comes.
        std::cout.flush();
    }
    return client.failed ? 1 : 0;
}
