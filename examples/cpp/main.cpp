// A chat with any ACP agent in the terminal:
// `acp-chat [--cwd DIR] [--colour auto|always|never] [--version 1|2|any] -- AGENT [ARGUMENT...]`.
//
// AGENT is a command, or an http(s) address where the program was built with libcurl (ACP_CHAT_REMOTE).
//
// This file is the loop: poll(2) on the user, the agent and Ctrl-C. What the bytes mean is in chat.cpp.

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "chat.hpp"
#include "process.hpp"

#ifdef ACP_CHAT_REMOTE
#include <acp/curl.hpp>
#endif

namespace {

struct Options {
    std::string cwd = ".";
    std::string colour = "auto";
    /// The version of the protocol: `any` is the newest that the agent speaks.
    std::string version = "any";
    std::vector<std::string> agent{};
};

bool parse(char **arguments, Options &options)
{
    for (++arguments; *arguments != nullptr; arguments += 2) {
        const std::string_view name = *arguments;
        if (name == "--") {
            while (*++arguments != nullptr) {
                options.agent.emplace_back(*arguments);
            }
            break;
        }
        std::string *value = name == "--cwd"       ? &options.cwd
                             : name == "--colour"  ? &options.colour
                             : name == "--version" ? &options.version
                                                   : nullptr;
        if (value == nullptr || arguments[1] == nullptr) {
            return false;
        }
        *value = arguments[1];
    }
    const bool known = options.version == "1" || options.version == "2" || options.version == "any";
    return known && !options.agent.empty();
}

/// Where Ctrl-C arrives: a signal handler may do little but write.
int interrupts[2] = {-1, -1};

extern "C" void on_interrupt(int)
{
    const int before = errno;
    (void)!write(interrupts[1], "!", 1);
    errno = before;
}

/// Lines of the user's that have come and are not used yet.
class Input {
public:
    bool read_some()
    {
        std::array<char, 4096> block;
        const ssize_t count = read(STDIN_FILENO, block.data(), block.size());
        if (count > 0) {
            text_.append(block.data(), static_cast<std::size_t>(count));
        }
        // What has no line end at the end of the input is a line as well.
        ended_ = count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN);
        if (ended_ && !text_.empty() && text_.back() != '\n') {
            text_ += '\n';
        }
        return !ended_;
    }
    std::optional<std::string> line()
    {
        const std::size_t end = text_.find('\n');
        if (end == std::string::npos) {
            return std::nullopt;
        }
        std::string line = text_.substr(0, end);
        text_.erase(0, end + 1);
        return line;
    }
    bool ended() const noexcept { return ended_; }

private:
    std::string text_{};
    bool ended_ = false;
};

void read_agent(Process &agent, acp::Connection &connection)
{
    static std::array<char, 65536> block;
    const ssize_t count = read(agent.from().get(), block.data(), block.size());
    if (count > 0) {
        connection.receive({block.data(), static_cast<std::size_t>(count)});
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
        connection.receive_eof();
        agent.from().close();
    }
}

void write_agent(Process &agent, acp::Connection &connection)
{
    const std::string_view waits = connection.transmit();
    const ssize_t count = write(agent.to().get(), waits.data(), waits.size());
    if (count > 0) {
        connection.consume(static_cast<std::size_t>(count));
    } else if (count < 0 && errno != EAGAIN && errno != EINTR) {
        // It reads no more; what it still says may tell why.
        agent.to().close();
    }
}

// ANCHOR: step
/// Waits until something can be done, and does it.
void step(Process &agent, Chat &chat, Input &input, bool listen)
{
    acp::Connection &connection = chat.connection();
    const bool waiting = !connection.transmit().empty();
    pollfd fds[] = {
        {listen && !input.ended() ? STDIN_FILENO : -1, POLLIN, 0},
        {interrupts[0], POLLIN, 0},
        {agent.from().get(), POLLIN, 0},
        {waiting ? agent.to().get() : -1, POLLOUT, 0},
    };
    int patience = -1;
    if (const auto wanted = connection.poll_timeout()) {
        const std::uint64_t now = now_ms();
        patience = *wanted <= now ? 0 : static_cast<int>(std::min<std::uint64_t>(*wanted - now, 60000));
    }
    if (poll(fds, std::size(fds), patience) < 0) {
        return;
    }
    char mark;
    if (fds[1].revents != 0 && read(interrupts[0], &mark, 1) == 1) {
        chat.interrupt();
    }
    if (fds[3].revents != 0) {
        write_agent(agent, connection);
    }
    if (fds[2].revents != 0) {
        read_agent(agent, connection);
    }
    if (fds[0].revents != 0) {
        input.read_some();
    }
    connection.handle_timeout(now_ms());
}
// ANCHOR_END: step

/// Talks until it is over; `step` waits for something and does it.
template <class Step> void talk(Chat &chat, Screen &screen, Input &input, const Step &step)
{
    const bool typed = isatty(STDIN_FILENO) == 1;
    chat.connection().handle_timeout(now_ms());
    chat.start();
    for (chat.drain(); !chat.over(); chat.drain()) {
        const bool listen = chat.wants_line();
        if (auto line = listen ? input.line() : std::nullopt) {
            screen.prompt(chat.prompt());
            screen.answered(*line, typed);
            chat.take_line(*line);
        } else if (listen && input.ended()) {
            chat.input_ended();
        } else {
            if (listen) {
                screen.prompt(chat.prompt());
            }
            std::fflush(stdout);
            step(listen);
        }
    }
}

#ifdef ACP_CHAT_REMOTE
/// The same with an agent that libcurl reaches, which waits for the user as well.
int run_remote(const std::string &url, Chat &chat, Screen &screen)
{
    acp::Result<acp::CurlRemote> agent = acp::CurlRemote::open({url});
    if (!agent) {
        std::fprintf(stderr, "%s\n", agent.error().text().c_str());
        return 2;
    }
    const auto told = [&screen](const acp::http_client::Action &action) {
        action.match([&](const acp::http_client::Lost &) { screen.line(Screen::Look::warning, "(the connection is lost)"); },
                     [&](const acp::http_client::Attached &) { screen.line(Screen::Look::dim, "(and open again)"); },
                     [&](const acp::http_client::Gap &) {
                         screen.line(Screen::Look::warning, "(a stream broke; something may be missing)");
                     },
                     [&](const acp::http_client::Closed &closed) {
                         const std::string status = closed.status() ? " " + std::to_string(*closed.status()) : "";
                         if (closed.why() != "host") {
                             screen.line(Screen::Look::warning, "! " + closed.why() + status);
                         }
                     },
                     [](const auto &) {});
    };
    Input input;
    talk(chat, screen, input, [&](bool listen) {
        curl_waitfd also[] = {{interrupts[0], CURL_WAIT_POLLIN, 0}, {STDIN_FILENO, CURL_WAIT_POLLIN, 0}};
        const unsigned count = listen && !input.ended() ? 2 : 1;
        (void)agent->turn(chat.connection(), 60000, told, also, count);
        char mark;
        if (also[0].revents != 0 && read(interrupts[0], &mark, 1) == 1) {
            chat.interrupt();
        }
        if (also[1].revents != 0) {
            input.read_some();
        }
    });
    // The server is told, so that the agent ends as well.
    (void)agent->turn(chat.connection(), 0, told);
    (void)agent->client().close();
    for (const std::uint64_t until = now_ms() + acp::CurlRemote::LAST; !agent->is_closed() && now_ms() < until;) {
        (void)agent->turn(chat.connection(), 100, told);
    }
    return chat.failed() ? 1 : 0;
}
#endif

int run(const Options &options)
{
    std::error_code error;
    const std::string folder = std::filesystem::canonical(options.cwd, error).string();
    const acp::Result<acp::Files> files = acp::Files::open({folder});
    if (!files) {
        std::fprintf(stderr, "%s is no folder\n", options.cwd.c_str());
        return 2;
    }
    const bool terminal = isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
    Screen screen(options.colour == "always" || (options.colour == "auto" && terminal));
    const std::string &first = options.agent.front();
    if (first.rfind("http://", 0) == 0 || first.rfind("https://", 0) == 0) {
#ifdef ACP_CHAT_REMOTE
        Chat chat(folder, *files, screen, options.version, acp::Framing::messages);
        screen.line(Screen::Look::dim, "(connecting to " + first + ")");
        const int status = run_remote(first, chat, screen);
        std::fflush(stdout);
        return status;
#else
        std::fprintf(stderr, "this acp-chat was built without libcurl, and %s is an address\n", first.c_str());
        return 2;
#endif
    }
    Process agent(options.agent);
    if (!agent.problem().empty()) {
        std::fprintf(stderr, "%s\n", agent.problem().c_str());
        return 1;
    }
    Chat chat(folder, *files, screen, options.version);
    Input input;
    screen.line(Screen::Look::dim, "(starting " + first + ")");
    talk(chat, screen, input, [&](bool listen) { step(agent, chat, input, listen); });
    write_agent(agent, chat.connection());
    const int status = agent.end(400);
    screen.line(Screen::Look::dim, status == 0 ? "" : "the agent ended with " + std::to_string(status));
    std::fflush(stdout);
    return chat.failed() ? 1 : 0;
}

} // namespace

int main(int, char **arguments)
{
    Options options;
    if (!parse(arguments, options)) {
        std::fprintf(stderr, "usage: acp-chat [--cwd DIR] [--colour auto|always|never] [--version 1|2|any] -- AGENT [ARGUMENT...]\n");
        return 2;
    }
    if (!acp::compatible()) {
        std::fprintf(stderr, "libacp %s does not fit this program\n", acp_library_version());
        return 2;
    }
    if (pipe(interrupts) != 0 || !do_not_block(interrupts[0]) || !do_not_block(interrupts[1])) {
        std::perror("pipe");
        return 1;
    }
    for (const int end : interrupts) {
        fcntl(end, F_SETFD, FD_CLOEXEC);
    }
    struct sigaction action{};
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    return run(options);
}
