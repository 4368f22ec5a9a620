#include "chat.hpp"

#include <charconv>

namespace {

// Milliseconds in which a program must show that it is an agent.
constexpr std::uint64_t PATIENCE = 60000;

using Look = Screen::Look;

std::string text_of(acp::Json json, std::string_view pointer) { return json.string(pointer).value_or(std::string()); }

} // namespace

template <class T> bool Chat::sent(const acp::Result<T> &result)
{
    if (!result) {
        screen_.line(Look::warning, "! not sent: " + result.error().text());
    }
    return static_cast<bool>(result);
}

/// One that speaks the words of version 1 in both versions, and keeps a view of the session.
acp::Connection Chat::connect(std::string_view version, acp::Framing framing)
{
    acp::Config config(acp::Role::client);
    config.framing(framing);
    if (version == "1" || version == "2") {
        config.versions({static_cast<std::uint16_t>(version == "1" ? 1 : 2)});
    } else {
        config.versions({1, 2});
    }
    acp::Result<acp::Connection> made = acp::Connection::open(config.hosted().view(true));
    return made ? std::move(*made) : acp::Connection(acp::Role::client);
}

void Chat::start()
{
    if (!sent(connection_.request(ACP_METHOD_INITIALIZE, R"({
            "clientInfo": {"name": "acp-chat", "title": "Chat", "version": "0.1.0"},
            "clientCapabilities": {"fs": {"readTextFile": true, "writeTextFile": true}}
        })",
                                  {}, PATIENCE))) {
        finish(true);
    }
}

void Chat::drain()
{
    for (const acp::Event &event : connection_.events()) {
        event.match([this](const auto &what) { on(what); });
        show();
    }
}

// What the agent asks for.

void Chat::on(const acp::Request &request)
{
    static constexpr struct {
        std::string_view method;
        void (Chat::*serve)(const acp::Request &);
    } SERVED[] = {
        {ACP_METHOD_FS_READ_TEXT_FILE, &Chat::use_file},
        {ACP_METHOD_FS_WRITE_TEXT_FILE, &Chat::use_file},
        {ACP_METHOD_SESSION_REQUEST_PERMISSION, &Chat::ask_permission},
    };
    for (const auto &served : SERVED) {
        if (served.method == request.method()) {
            (this->*served.serve)(request);
            return;
        }
    }
    sent(connection_.respond_error(request.serial(), ACP_CODE_METHOD_NOT_FOUND,
                                   "this client does not serve the method"));
}

// ANCHOR: files
void Chat::use_file(const acp::Request &request)
{
    const acp::Result<acp::FileAnswer> answer = files_.serve(connection_, request);
    if (sent(answer) && answer->done() && request.method() == ACP_METHOD_FS_WRITE_TEXT_FILE) {
        screen_.line(Look::dim, "wrote " + text_of(request.params(), "/path"));
    }
}
// ANCHOR_END: files

void Chat::ask_permission(const acp::Request &request)
{
    const acp::Json params = request.params();
    Question question{request.serial(), {}};
    std::vector<std::string> names;
    for (const acp::Item option : params.items("/options")) {
        question.ids.push_back(text_of(option.value, "/optionId"));
        names.push_back(text_of(option.value, "/name"));
    }
    const acp::Json call = params.find("/toolCall").value_or(acp::Json());
    show();
    screen_.question("May the agent go on: " + title(call) + "?", names);
    questions_.push_back(std::move(question));
}

void Chat::on(const acp::Cancel &cancel)
{
    // Of what is served here, only a question can still be open.
    forget(cancel.serial());
    acp::Writer result;
    result.begin_object().key("outcome").begin_object().member("outcome", ACP_OUTCOME_CANCELLED);
    sent(connection_.respond(cancel.serial(), result.end_object().end_object()));
}

void Chat::on(const acp::Answered &answered)
{
    // The turn was cancelled, and with it what the user was asked.
    forget(answered.serial());
}

void Chat::forget(std::uint64_t serial)
{
    for (auto question = questions_.begin(); question != questions_.end(); ++question) {
        if (question->serial == serial) {
            questions_.erase(question);
            screen_.line(Look::dim, "(the question is withdrawn)");
            return;
        }
    }
}

// How the client's own requests end.

void Chat::on(const acp::Response &response)
{
    const std::string_view method = response.method();
    const std::optional<acp::Json> result = response.result();
    if (!result) {
        refused(response);
    } else if (method == ACP_METHOD_INITIALIZE) {
        const std::string title = text_of(*result, "/agentInfo/title"), name = text_of(*result, "/agentInfo/name");
        screen_.line(Look::bold, !title.empty() ? title : !name.empty() ? name : "an agent without a name");
        open_session();
    } else if (method == ACP_METHOD_AUTHENTICATE) {
        open_session();
    } else if (method == ACP_METHOD_SESSION_NEW) {
        opened(response);
    } else if (method == ACP_METHOD_SESSION_PROMPT) {
        if (!result->is("/stopReason", ACP_STOP_END_TURN)) {
            screen_.line(Look::warning, "(" + text_of(*result, "/stopReason") + ")");
        }
        state_ = State::idle;
    }
    if (state_ == State::idle && input_ended_) {
        finish();
    }
}

void Chat::refused(const acp::Response &response)
{
    const std::string_view method = response.method();
    if (method == ACP_METHOD_SESSION_NEW && response.error_code() == ACP_CODE_AUTH_REQUIRED) {
        choose_login();
        return;
    }
    if (response.outcome() != acp::Outcome::closed) {
        std::string why(response.error_message());
        why = why.empty() ? std::string(acp::name(response.outcome())) : why;
        screen_.line(Look::warning, "! " + std::string(method) + ": " + why);
    }
    if (state_ == State::starting) {
        finish(true);
    } else {
        state_ = state_ == State::turn && method == ACP_METHOD_SESSION_PROMPT ? State::idle : state_;
    }
}

void Chat::open_session()
{
    acp::Writer params;
    params.begin_object().member("cwd", folder_).key("mcpServers").begin_array().end_array();
    if (!sent(connection_.request(ACP_METHOD_SESSION_NEW, params.end_object()))) {
        finish(true);
    }
}

void Chat::opened(const acp::Response &response)
{
    session_ = text_of(*response.result(), "/sessionId");
    state_ = State::idle;
    show();
    screen_.line(Look::dim, "Type a prompt; Ctrl-C stops a turn; :mode NAME, :quit");
}

void Chat::choose_login()
{
    Question question{0, {}};
    std::vector<std::string> names;
    for (const acp::Item method : connection_.peer_info().items("/authMethods")) {
        question.ids.push_back(text_of(method.value, "/id"));
        names.push_back(text_of(method.value, "/name"));
    }
    if (names.empty() || input_ended_) {
        screen_.line(Look::warning, "! the agent wants a login" + std::string(names.empty() ? " and offers none" : ""));
        finish(true);
        return;
    }
    screen_.question("How do you want to log in?", names);
    questions_.push_back(std::move(question));
}

// What the user does.

bool Chat::wants_line() const noexcept
{
    return state_ == State::idle || (state_ != State::over && !questions_.empty());
}

void Chat::take_line(std::string_view line)
{
    if (!questions_.empty()) {
        const Question question = questions_.front();
        std::size_t choice = 0;
        const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), choice);
        if (error != std::errc() || end != line.data() + line.size() || choice < 1 || choice > question.ids.size()) {
            screen_.line(Look::dim, "a number from 1 to " + std::to_string(question.ids.size()));
        } else {
            questions_.pop_front();
            answer(question, question.ids[choice - 1]);
        }
    } else if (line == ":quit") {
        finish();
    } else if (line.substr(0, 6) == ":mode ") {
        acp::Writer params;
        params.begin_object().member("sessionId", session_).member("modeId", line.substr(6)).end_object();
        sent(connection_.request(ACP_METHOD_SESSION_SET_MODE, params));
    } else if (!line.empty()) {
        send_prompt(line);
    }
}

void Chat::answer(const Question &question, std::string_view id)
{
    acp::Writer message;
    if (question.serial == 0) {
        message.begin_object().member("methodId", id).end_object();
        sent(connection_.request(ACP_METHOD_AUTHENTICATE, message));
    } else {
        message.begin_object().key("outcome").begin_object().member("outcome", ACP_OUTCOME_SELECTED);
        message.member("optionId", id).end_object().end_object();
        sent(connection_.respond(question.serial, message));
    }
}

void Chat::send_prompt(std::string_view text)
{
    acp::Writer params;
    params.begin_object().member("sessionId", session_).key("prompt").begin_array();
    params.begin_object().member("type", ACP_CONTENT_TEXT).member("text", text).end_object();
    if (sent(connection_.request(ACP_METHOD_SESSION_PROMPT, params.end_array().end_object()))) {
        state_ = State::turn;
    }
}

void Chat::input_ended()
{
    input_ended_ = true;
    if (state_ == State::turn && !questions_.empty()) {
        // Nobody is there to be asked.
        interrupt();
    } else if (state_ != State::turn && state_ != State::starting) {
        finish();
    } else if (!questions_.empty()) {
        finish(true);
    }
}

void Chat::interrupt()
{
    acp::Writer params;
    const std::optional<acp::Turn> turn = connection_.session_turn(session_);
    const bool works = turn == acp::Turn::running || turn == acp::Turn::requires_action;
    if (state_ == State::turn && works &&
        sent(connection_.notify(ACP_METHOD_SESSION_CANCEL,
                                params.begin_object().member("sessionId", session_).end_object()))) {
        screen_.line(Look::dim, "(stopping)");
    } else {
        finish();
    }
}

void Chat::finish(bool failed)
{
    failed_ = failed_ || failed;
    state_ = State::over;
}

// What went wrong.

void Chat::on(const acp::Violation &violation)
{
    screen_.line(Look::warning,
               "! the agent broke " + std::string(violation.rule()) + ": " + std::string(violation.message()));
}

void Chat::on(const acp::Advice &advice)
{
    screen_.line(Look::warning, "! this client, " + std::string(advice.rule()) + ": " + std::string(advice.message()));
}

void Chat::on(const acp::Closed &)
{
    if (state_ != State::over) {
        screen_.line(Look::warning, "! the agent has gone");
        finish(true);
    }
}
