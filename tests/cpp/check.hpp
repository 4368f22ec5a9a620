// What the tests of acp.hpp share.

#ifndef CHECK_HPP
#define CHECK_HPP

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "acp.hpp"

#define CHECK(condition) check(static_cast<bool>(condition), #condition, __FILE__, __LINE__)

void check(bool condition, const char *what, const char *file, int line);
/// How often memory was asked for with `new` up to now.
std::size_t allocations() noexcept;

/// Passes a line to a connection.
void feed(acp::Connection &connection, std::string_view line);
/// All that waits for the peer, taken.
std::string take(acp::Connection &connection);
/// A client with one session, `s-1`.
acp::Connection with_session();
/// An agent whose `initialize` has been answered.
acp::Connection agent();
/// Calls a function with the next event as this class; it must be one.
template <class Kind, class Function> void next(acp::Connection &connection, Function &&function)
{
    const std::optional<acp::Event> event = connection.poll_event();
    CHECK(event);
    if (event) {
        const acp::EventView view = event->view();
        const Kind *kind = std::get_if<Kind>(&view);
        CHECK(kind != nullptr);
        if (kind != nullptr) {
            function(*kind);
        }
    }
}

// The tests of each file.
void connections();
void refusals();
void configurations();
void lists();
void sessions();
void clocks();
void loops();
void kinds();
void matching();
void keeping();
void answers_of_the_library();
void observers();
void views();
void recordings();
void reading();
void writing();
void messages();
void permission();
void memory();
void exceptions();
void catalogue();
void file_access();
void file_permission();
void file_requests();
void remote_requests();
void remote_websocket();
void remote_failures();
void remote_options();

#endif
