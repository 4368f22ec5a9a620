#include "screen.hpp"

#include <algorithm>
#include <cstdio>

#include "diff.hpp"

namespace {

constexpr std::string_view RESET = "\x1b[0m";

std::string_view escape(Screen::Look look)
{
    switch (look) {
    case Screen::Look::plain: return "";
    case Screen::Look::dim: return "\x1b[2m";
    case Screen::Look::bold: return "\x1b[1m";
    case Screen::Look::added: return "\x1b[32m";
    case Screen::Look::removed: return "\x1b[31m";
    case Screen::Look::warning: return "\x1b[33m";
    }
    return {};
}

void write(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

/// How many bytes of a text begin with a character of several bytes that steers a terminal (U+0080 to U+009F), turns the
/// direction of what stands there (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069) or ends its line (U+2028,
/// U+2029).
std::size_t hidden(std::string_view text)
{
    const auto at = [text](std::size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : 0); };
    const unsigned char second = at(1), third = at(2);
    if ((at(0) == 0xc2 && second >= 0x80 && second < 0xa0) || (at(0) == 0xd8 && second == 0x9c)) {
        return 2;
    }
    const bool marks = second == 0x80 && (third == 0x8e || third == 0x8f || (third >= 0xa8 && third <= 0xae));
    const bool isolates = second == 0x81 && third >= 0xa6 && third <= 0xa9;
    return at(0) == 0xe2 && (marks || isolates) ? 3 : 0;
}

/// Agents are not to steer the user's terminal: control characters are shown, not sent.
std::string harmless(std::string_view text)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (const std::size_t length = hidden(text.substr(i))) {
            out += "\xef\xbf\xbd";
            i += length - 1;
        } else if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f) {
            out += '^';
            out += static_cast<char>(byte ^ 0x40);
        } else {
            out += text[i];
        }
    }
    return out;
}

/// What is asked looks like one question, however the agent names it.
std::string one_line(std::string_view text)
{
    std::string line(text);
    std::replace(line.begin(), line.end(), '\n', ' ');
    return line;
}

} // namespace

void Screen::put(Look look, std::string_view text)
{
    if (text.empty()) {
        return;
    }
    const std::string_view colour = colour_ ? escape(look) : "";
    write(colour);
    write(harmless(text));
    write(colour.empty() ? "" : RESET);
    at_start_ = text.back() == '\n';
    prompting_ = false;
}

void Screen::end_line()
{
    if (!at_start_) {
        write("\n");
        at_start_ = true;
    }
}

void Screen::stream(Look look, std::string_view text)
{
    if (look != last_ || prompting_) {
        end_line();
    }
    last_ = look;
    put(look, text);
}

void Screen::line(Look look, std::string_view text)
{
    end_line();
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        put(look, text.substr(0, end));
        end_line();
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (!text.empty()) {
            write("    ");
            at_start_ = false;
        }
    }
}

void Screen::diff(std::string_view path, std::string_view before, std::string_view after)
{
    line(Look::bold, std::string("    ").append(path));
    for (const DiffLine &changed : ::diff(before, after)) {
        const Look look = changed.sign == '+' ? Look::added : changed.sign == '-' ? Look::removed : Look::dim;
        line(look,
             changed.sign == '~' ? "    ..." : std::string("    ") + changed.sign + ' ' + std::string(changed.text));
    }
}

void Screen::patch(std::string_view path, std::string_view patch)
{
    line(Look::bold, std::string("    ").append(path));
    // What stands before the first hunk names the files.
    for (bool inside = false; !patch.empty();) {
        const std::size_t end = std::min(patch.find('\n'), patch.size());
        const std::string_view text = patch.substr(0, end);
        patch.remove_prefix(std::min(end + 1, patch.size()));
        if (text.substr(0, 2) == "@@") {
            if (inside) {
                line(Look::dim, "    ...");
            }
            inside = true;
        } else if (inside && !text.empty() && (text[0] == ' ' || text[0] == '+' || text[0] == '-')) {
            const Look look = text[0] == '+' ? Look::added : text[0] == '-' ? Look::removed : Look::dim;
            line(look, std::string("    ") + text[0] + ' ' + std::string(text.substr(1)));
        }
    }
}

void Screen::question(std::string_view title, const std::vector<std::string> &answers)
{
    line(Look::bold, "? " + one_line(title));
    for (std::size_t i = 0; i < answers.size(); ++i) {
        line(Look::plain, "  " + std::to_string(i + 1) + ") " + one_line(answers[i]));
    }
}

void Screen::prompt(std::string_view text)
{
    if (!prompting_) {
        end_line();
        put(Look::bold, text);
        prompting_ = true;
    }
    std::fflush(stdout);
}

void Screen::answered(std::string_view line, bool shown)
{
    if (!shown) {
        write(harmless(line));
        write("\n");
    }
    prompting_ = false;
    at_start_ = true;
}
