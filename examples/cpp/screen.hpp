// What the user sees: plain lines on standard output, in colour where it is a terminal.

#ifndef SCREEN_HPP
#define SCREEN_HPP

#include <string>
#include <string_view>
#include <vector>

class Screen {
public:
    enum class Look { plain, dim, bold, added, removed, warning };

    explicit Screen(bool colour) noexcept : colour_(colour) {}

    /// Text that comes in pieces. Another look than that of the piece before starts a new line.
    void stream(Look look, std::string_view text);
    /// One line of its own; a text of several lines is indented.
    void line(Look look, std::string_view text);
    /// What changed in a file.
    void diff(std::string_view path, std::string_view before, std::string_view after);
    /// The same as a patch in git's format.
    void patch(std::string_view path, std::string_view patch);
    /// A question with numbered answers.
    void question(std::string_view title, const std::vector<std::string> &answers);
    /// Asks for a line of the user's, once until there is something else to see.
    void prompt(std::string_view text);
    /// A line of the user's has come; a terminal has shown it already.
    void answered(std::string_view line, bool shown);

private:
    void put(Look look, std::string_view text);
    void end_line();

    bool colour_;
    bool at_start_ = true;
    bool prompting_ = false;
    Look last_ = Look::plain;
};

#endif
