// An agent: speaks ACP on standard input and output, and says back what it is told.

#include <acp.hpp>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <poll.h>
#include <unistd.h>

acp::Result<void> serve(acp::Connection &client, const acp::Request &request)
{
    static unsigned sessions = 0;
    if (request.method() == ACP_METHOD_INITIALIZE) {
        return acp::agent::answer_initialize(client, request.serial(), "echo", "1.0");
    }
    if (request.method() == ACP_METHOD_SESSION_NEW) { // a client may have many
        return acp::agent::answer_new_session(client, request.serial(), "session-" + std::to_string(++sessions));
    }
    if (request.method() == ACP_METHOD_SESSION_PROMPT) {
        const auto text = request.params().string("/prompt/0/text").value_or("(no text)");
        const auto said = acp::agent::message(client, request.session().value_or(""), text);
        return said ? acp::agent::answer_prompt(client, request.serial()) : said;
    }
    return client.respond_not_served(request.serial());
}

int main()
{
    acp::Connection client(acp::Role::agent);
    pollfd ends[] = {{STDIN_FILENO, POLLIN, 0}, {-1, POLLOUT, 0}}; // poll(2) passes over -1
    while (ends[0].fd >= 0 || !client.transmit().empty()) {
        const std::string_view waiting = client.transmit();
        ends[1].fd = waiting.empty() ? -1 : STDOUT_FILENO;
        // Waits for both ends at once: with a client that writes while nobody reads, neither side would ever go on.
        // Where no more comes in, the rest has a second each time to go out.
        const int ready = poll(ends, 2, ends[0].fd < 0 ? 1000 : -1);
        if (ready == 0) {
            break;
        }
        if (ready > 0 && ends[1].revents != 0) {
            // No more than any pipe takes at once that is ready.
            const ssize_t size = write(STDOUT_FILENO, waiting.data(), std::min<std::size_t>(waiting.size(), PIPE_BUF));
            client.consume(size < 0 ? waiting.size() : static_cast<std::size_t>(size));
        }
        if (ready > 0 && ends[0].revents != 0) {
            char bytes[16384];
            const ssize_t size = read(STDIN_FILENO, bytes, sizeof bytes);
            if (size > 0) {
                client.receive({bytes, static_cast<std::size_t>(size)});
            } else {
                client.receive_eof();
                ends[0].fd = -1;
            }
        }
        for (const acp::Event &event : client.events()) {
            event.match([&](const acp::Request &request) {
                // A call that is refused sends nothing; the client waits for an answer all the same.
                if (!serve(client, request) && !client.respond_refused(request.serial())) {
                    std::fputs("a request is left without an answer\n", stderr);
                }
            }, [](const auto &) {});
        }
    }
}
