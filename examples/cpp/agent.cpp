// An ACP agent on standard input and output, to talk to without a language model: `acp-demo-cpp`. It thinks, plans,
// reads `notes.txt` in the session's folder, asks whether it may add the prompt to it (not in the mode `free`), does so,
// and says what became of it. The prompt `wait` makes it work until it is cancelled, `crash` makes it end.
//
// It serves both versions of the protocol and is written in the words of version 1 (`Config::hosted`). Files are read and
// written through the client; where it has none to offer, as in version 2, the agent does so itself.
//
// One turn is a chain of requests to the client; each answer takes it a step further. Nothing waits inside.

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include <poll.h>
#include <unistd.h>

#include <acp.hpp>

namespace {

/// A session and the turn that runs in it, if one does.
struct Session {
    std::string id;
    std::string cwd;
    /// The prompt's number, 0 when no turn runs.
    std::uint64_t prompt = 0;
    /// What it said.
    std::string text{};
    /// What the file held.
    std::string notes{};
    /// `ask` or, where it need not ask before it writes, `free`.
    std::string mode = "ask";
    /// How many tool calls there were: each has an id of its own.
    unsigned calls = 0;

    std::string file() const { return cwd + "/notes.txt"; }
    std::string call() const { return "call-" + std::to_string(calls); }
};

class Agent {
public:
    acp::Connection &connection() noexcept { return connection_; }
    bool over() const noexcept { return over_; }

    void drain()
    {
        for (const acp::Event &event : connection_.events()) {
            event.match(
                [this](const acp::Request &request) { serve(request); },
                [this](const acp::Response &response) { go_on(response); },
                [this](const acp::Notification &told) { cancel(told); }, [this](const acp::Closed &) { over_ = true; },
                [](const acp::Violation &violation) { complain(violation.rule(), violation.message()); },
                [](const acp::Advice &advice) { complain(advice.rule(), advice.message()); }, [](const auto &) {});
        }
    }

private:
    static void complain(std::string_view what, std::string_view why)
    {
        // Clients are not to steer the terminal either: what is not plain ASCII is a `?`.
        std::string line = std::string(what).append(": ").append(why);
        std::replace_if(line.begin(), line.end(), [](char byte) { return byte < ' ' || byte > '~'; }, '?');
        std::fprintf(stderr, "%s\n", line.c_str());
    }
    template <class T> static bool sent(const acp::Result<T> &result)
    {
        if (!result) {
            complain("not sent", result.error().text());
        }
        return static_cast<bool>(result);
    }

    void serve(const acp::Request &request)
    {
        const std::string_view method = request.method();
        if (method == ACP_METHOD_INITIALIZE) {
            sent(connection_.respond(request.serial(), R"({
                "agentInfo": {"name": "acp-demo-cpp", "title": "A demonstration in C++", "version": "0.1.0"},
                "agentCapabilities": {"sessionCapabilities": {"close": {}}}
            })"));
        } else if (method == ACP_METHOD_SESSION_NEW) {
            const std::string id = "session-" + std::to_string(sessions_.size() + 1);
            sessions_[id] = {id, request.params().string("/cwd").value_or("")};
            acp::Writer result;
            result.begin_object().member("sessionId", id).member("modes", acp::Json(R"({
                "currentModeId": "ask",
                "availableModes": [{"id": "ask", "name": "Ask first"}, {"id": "free", "name": "Do not ask"}]
            })"));
            sent(connection_.respond(request.serial(), result.end_object()));
        } else if (method == ACP_METHOD_SESSION_SET_MODE) {
            // Only one of the modes above comes here; the library refuses all others.
            sessions_[std::string(request.session().value_or(""))].mode =
                request.params().string("/modeId").value_or("");
            sent(connection_.respond(request.serial(), "{}"));
        } else if (method == ACP_METHOD_SESSION_PROMPT) {
            begin(request);
        } else if (method == ACP_METHOD_SESSION_CLOSE) {
            // The library has cancelled its prompt.
            sessions_.erase(std::string(request.session().value_or("")));
            sent(connection_.respond(request.serial(), "{}"));
        } else {
            sent(connection_.respond_error(request.serial(), ACP_CODE_METHOD_NOT_FOUND,
                                           "this agent does not serve the method"));
        }
    }

    void begin(const acp::Request &request)
    {
        Session &session = sessions_[std::string(request.session().value_or(""))];
        session.prompt = request.serial();
        session.text = request.params().string("/prompt/0/text").value_or("");
        if (session.text == "crash") {
            std::_Exit(3);
        }
        chunk(session, ACP_UPDATE_AGENT_THOUGHT_CHUNK, "The user says: " + session.text);
        if (session.text == "wait") {
            chunk(session, ACP_UPDATE_AGENT_MESSAGE_CHUNK, "Working until I am stopped.\n");
            return;
        }
        plan(session, ACP_PLAN_STATUS_IN_PROGRESS, ACP_PLAN_STATUS_PENDING);
        if (!connection_.can(ACP_METHOD_FS_READ_TEXT_FILE)) {
            std::ostringstream notes;
            notes << std::ifstream(session.file()).rdbuf();
            session.notes = notes.str();
            propose(session);
            return;
        }
        acp::Writer params;
        params.begin_object().member("sessionId", session.id).member("path", session.file()).end_object();
        ask(session, ACP_METHOD_FS_READ_TEXT_FILE, params);
    }

    /// The client has answered.
    void go_on(const acp::Response &response)
    {
        const auto asked = asked_.find(response.serial());
        if (asked == asked_.end()) {
            return;
        }
        const auto [id, prompt] = asked->second;
        asked_.erase(asked);
        Session &session = sessions_[id];
        if (session.prompt != prompt) {
            // The turn was cancelled meanwhile.
            return;
        }
        const std::string_view method = response.method();
        const acp::Json result = response.result().value_or(acp::Json("{}"));
        if (method == ACP_METHOD_FS_READ_TEXT_FILE) {
            // A file that is not there yet is an empty one.
            session.notes = result.string("/content").value_or("");
            propose(session);
        } else if (method == ACP_METHOD_SESSION_REQUEST_PERMISSION) {
            if (result.is("/outcome/optionId", "yes")) {
                write(session);
            } else {
                close_call(session, ACP_TOOL_STATUS_FAILED, "Then I leave the file alone.");
            }
        } else {
            written(session, response.result().has_value());
        }
    }

    /// Shows what is to be done, and asks for leave where it must.
    void propose(Session &session)
    {
        ++session.calls;
        plan(session, ACP_PLAN_STATUS_COMPLETED, ACP_PLAN_STATUS_IN_PROGRESS);
        acp::Writer call = update(session, ACP_UPDATE_TOOL_CALL);
        call.member("toolCallId", session.call())
            .member("title", "Add a line to notes.txt")
            .member("kind", ACP_TOOL_KIND_EDIT);
        call.member("status", ACP_TOOL_STATUS_PENDING).key("content").begin_array().begin_object();
        call.member("type", ACP_TOOL_CONTENT_DIFF).member("path", session.file()).member("oldText", session.notes);
        call.member("newText", session.notes + session.text + "\n").end_object().end_array();
        send(call);
        if (session.mode == "free") {
            write(session);
            return;
        }
        acp::Writer params;
        params.begin_object().member("sessionId", session.id).key("toolCall").begin_object();
        params.member("toolCallId", session.call()).end_object().key("options").begin_array();
        params.begin_object().member("optionId", "yes").member("name", "Yes, once");
        params.member("kind", ACP_PERMISSION_ALLOW_ONCE).end_object();
        params.begin_object().member("optionId", "no").member("name", "No");
        params.member("kind", ACP_PERMISSION_REJECT_ONCE).end_object().end_array().end_object();
        ask(session, ACP_METHOD_SESSION_REQUEST_PERMISSION, params);
    }

    void write(Session &session)
    {
        if (!connection_.can(ACP_METHOD_FS_WRITE_TEXT_FILE)) {
            std::ofstream file(session.file());
            file << session.notes << session.text << std::endl;
            written(session, file.good());
            return;
        }
        acp::Writer params;
        params.begin_object().member("sessionId", session.id).member("path", session.file());
        ask(session, ACP_METHOD_FS_WRITE_TEXT_FILE,
            params.member("content", session.notes + session.text + "\n").end_object());
    }

    void written(Session &session, bool done)
    {
        close_call(session, done ? ACP_TOOL_STATUS_COMPLETED : ACP_TOOL_STATUS_FAILED,
                   done ? "Your words are in the file now." : "The file could not be written.");
    }

    void close_call(Session &session, std::string_view status, std::string_view words)
    {
        acp::Writer call = update(session, ACP_UPDATE_TOOL_CALL_UPDATE);
        send(call.member("toolCallId", session.call()).member("status", status));
        plan(session, ACP_PLAN_STATUS_COMPLETED, ACP_PLAN_STATUS_COMPLETED);
        chunk(session, ACP_UPDATE_AGENT_MESSAGE_CHUNK, words);
        end(session, ACP_STOP_END_TURN);
    }

    void cancel(const acp::Notification &told)
    {
        const auto session = sessions_.find(std::string(told.session().value_or("")));
        if (told.method() == ACP_METHOD_SESSION_CANCEL && session != sessions_.end() && session->second.prompt != 0) {
            end(session->second, ACP_STOP_CANCELLED);
        }
    }

    void end(Session &session, std::string_view why)
    {
        acp::Writer result;
        sent(connection_.respond(session.prompt, result.begin_object().member("stopReason", why).end_object()));
        session.prompt = 0;
    }

    // What is said to the client.

    void ask(const Session &session, std::string_view method, const acp::JsonText &params)
    {
        const acp::Result<std::uint64_t> serial = connection_.request(method, params);
        if (sent(serial)) {
            asked_[*serial] = {session.id, session.prompt};
        }
    }
    static acp::Writer update(const Session &session, std::string_view kind)
    {
        acp::Writer params;
        params.begin_object().member("sessionId", session.id).key("update").begin_object();
        params.member("sessionUpdate", kind);
        return params;
    }
    void send(acp::Writer &params)
    {
        sent(connection_.notify(ACP_METHOD_SESSION_UPDATE, params.end_object().end_object()));
    }
    void chunk(const Session &session, std::string_view kind, std::string_view text)
    {
        acp::Writer params = update(session, kind);
        params.key("content").begin_object().member("type", ACP_CONTENT_TEXT).member("text", text).end_object();
        send(params);
    }
    void plan(const Session &session, std::string_view reading, std::string_view writing)
    {
        acp::Writer params = update(session, ACP_UPDATE_PLAN);
        params.key("entries").begin_array();
        for (const auto &[content, status] : {std::pair{"Read the notes", reading}, {"Add a line", writing}}) {
            params.begin_object().member("content", content).member("priority", ACP_PLAN_PRIORITY_MEDIUM);
            params.member("status", status).end_object();
        }
        params.end_array();
        send(params);
    }

    /// One of both versions, if there is memory for it.
    static acp::Connection connect()
    {
        acp::Result<acp::Connection> made =
            acp::Connection::open(acp::Config(acp::Role::agent).versions({1, 2}).served(ACP_METHOD_SESSION_CLOSE));
        return made ? std::move(*made) : acp::Connection(acp::Role::agent);
    }

    acp::Connection connection_ = connect();
    std::map<std::string, Session> sessions_{};
    /// The sessions and their prompts that wait for the answers to these requests.
    std::map<std::uint64_t, std::pair<std::string, std::uint64_t>> asked_{};
    bool over_ = false;
};

/// Moves bytes one way or the other, whichever can be; false when the output is closed.
bool step(acp::Connection &connection)
{
    static char block[65536];
    const std::string_view waits = connection.transmit();
    // The input has ended when the connection is closed.
    const bool reading = connection.phase() != acp::Phase::closed;
    pollfd fds[] = {{reading ? STDIN_FILENO : -1, POLLIN, 0}, {waits.empty() ? -1 : STDOUT_FILENO, POLLOUT, 0}};
    if (poll(fds, 2, -1) < 0) {
        return errno == EINTR;
    }
    if (fds[1].revents != 0) {
        // At most what a pipe takes without waiting, as this one may wait.
        const ssize_t count = write(STDOUT_FILENO, waits.data(), std::min<std::size_t>(waits.size(), PIPE_BUF));
        if (count < 0 && errno != EINTR && errno != EAGAIN) {
            return false;
        }
        connection.consume(count > 0 ? static_cast<std::size_t>(count) : 0);
    }
    if (fds[0].revents != 0) {
        const ssize_t count = read(STDIN_FILENO, block, sizeof block);
        if (count > 0) {
            connection.receive({block, static_cast<std::size_t>(count)});
        } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
            connection.receive_eof();
        }
    }
    return true;
}

} // namespace

int main()
{
    Agent agent;
    bool open = true;
    while (open && !(agent.over() && agent.connection().transmit().empty())) {
        agent.drain();
        if (!agent.over() || !agent.connection().transmit().empty()) {
            open = step(agent.connection());
        }
    }
    return 0;
}
