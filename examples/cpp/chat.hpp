// A conversation with an agent: what the user types goes to it, what it does goes to the screen. This is the part that
// any client in C++ needs; it does no I/O of its own. Read next: main.cpp, which moves the bytes.

#ifndef CHAT_HPP
#define CHAT_HPP

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <acp.hpp>
#include <acp_files.hpp>

#include "screen.hpp"

class Chat {
public:
    /// In this folder, an absolute path; the agent may read and write these files. `version` is `1`, `2` or, for the newest
    /// that the agent speaks, anything else. The framing is lines for a program, messages for what HTTP carries.
    Chat(std::string folder, const acp::Files &files, Screen &screen, std::string_view version,
         acp::Framing framing = acp::Framing::lines)
        : folder_(std::move(folder)), files_(files), screen_(screen), connection_(connect(version, framing))
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

    /// What is on the screen of an entry of the view.
    struct Drawn {
        /// Where its content ended.
        std::uint64_t end = 0;
        std::string line{};
    };

    static acp::Connection connect(std::string_view version, acp::Framing framing);

    void on(const acp::Request &request);
    /// What it says is in the view.
    void on(const acp::Notification &) {}
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
    void show();
    void show_entry(acp::Json entry, acp::Json content, Drawn &drawn);
    void show_facts(acp::Json changes);
    std::string title(acp::Json call);

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
    Screen &screen_;
    acp::Connection connection_;
    State state_ = State::starting;
    bool failed_ = false;
    bool input_ended_ = false;
    std::string session_{};
    std::deque<Question> questions_{};
    /// The revision of the view that is on the screen, and what is there of its entries.
    std::uint64_t drawn_ = 0;
    std::map<std::uint64_t, Drawn> entries_{};
};

#endif
