// What changed between two texts, line by line.

#ifndef DIFF_HPP
#define DIFF_HPP

#include <string_view>
#include <vector>

/// A line of a diff: `' '` is in both texts, `'-'` in the old, `'+'` in the new one; `'~'` stands for lines left out.
struct DiffLine {
    char sign;
    std::string_view text;
};

/// The lines that differ, with a few around them.
std::vector<DiffLine> diff(std::string_view before, std::string_view after);

#endif
