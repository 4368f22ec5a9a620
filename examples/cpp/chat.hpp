// A conversation with an agent: what the user types goes to it, what it does goes to the view. This is the part that
// any client in C++ needs; it does no I/O of its own. Read next: main.cpp, which moves the bytes.

#ifndef CHAT_HPP
#define CHAT_HPP

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <acp.hpp>
#include <acp_files.hpp>

#include "titles.hpp"
#include "view.hpp"

class Chat {
public:
    /// In this folder, an absolute path; the agent may read and write these files.
    Chat(std::string folder, const acp::Files &files, View &view)
        : folder_(std::move(folder)), files_(files), view_(view)
    {}

    /// Says hello to the agent.
    void start();
    /// Deals with all that the connection has to tell.
    void drain();

    /// Whether a line of the user's is of use now, and what to ask for it with.
    bool wants_line() const noexcept;
    std::string_view prompt() const noexcept { return questions_.empty() ? "> " : "? "; }
    void take_line(std::string_view line);
    void input_ended();
    /// Ctrl-C: stops the turn that runs, or ends the conversation.
    void interrupt();

    bool over() const noexcept { return state_ == State::over; }
    /// Whether it was the agent that ended it.
    bool failed() const noexcept { return failed_; }
    acp::Connection &connection() noexcept { return connection_; }

private:
    enum class State { starting, idle, turn, over };

    /// What the user has to choose from.
    struct Question {
        /// The number of the agent's request; 0 when it is the way to log in that is asked for.
        std::uint64_t serial;
        /// The ids of the answers.
        std::vector<std::string> ids;
    };

    void on(const acp::Request &request);
    void on(const acp::Notification &notification);
    void on(const acp::Response &response);
    /// An answer to what was given up changes nothing here.
    void on(const acp::LateResponse &) {}
    void on(const acp::Cancel &cancel);
    void on(const acp::Answered &answered);
    void on(const acp::Violation &violation);
    void on(const acp::Closed &closed);
    void on(const acp::Advice &advice);
    void on(const acp::Unknown &) {}

    void use_file(const acp::Request &request);
    void ask_permission(const acp::Request &request);

    void opened(const acp::Response &response);
    void refused(const acp::Response &response);
    void show_update(std::string_view kind, acp::Json update);
    void show_tool_call(acp::Json call);
    void show_plan(acp::Json plan);
    void show_modes(acp::Json modes);

    void open_session();
    void choose_login();
    void answer(const Question &question, std::string_view id);
    void forget(std::uint64_t serial);
    void send_prompt(std::string_view text);
    void finish(bool failed = false);
    /// Says what was refused; false when something was.
    template <class T> bool sent(const acp::Result<T> &result);

    std::string folder_;
    const acp::Files &files_;
    View &view_;
    acp::Connection connection_{acp::Role::client};
    State state_ = State::starting;
    bool failed_ = false;
    bool input_ended_ = false;
    std::string session_{};
    std::deque<Question> questions_{};
    /// Updates name only what has changed.
    Titles titles_{};
};

#endif
