#include "diff.hpp"

#include <algorithm>
#include <cstddef>

namespace {

constexpr std::size_t CONTEXT = 3;
// Texts that differ in more places are shown as one whole replaced by another: the table has this many cells.
constexpr std::size_t MOST_CELLS = 4'000'000;

using Lines = std::vector<std::string_view>;

Lines split(std::string_view text)
{
    Lines lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

/// The part in which two texts differ, by the longest common subsequence.
void compare(const Lines &before, const Lines &after, std::vector<DiffLine> &out)
{
    const std::size_t rows = before.size(), columns = after.size();
    std::size_t i = 0, j = 0;
    if (rows != 0 && columns <= MOST_CELLS / rows) {
        // length[i][j]: of the longest common subsequence of what follows in both.
        std::vector<unsigned> length((rows + 1) * (columns + 1));
        const auto at = [&](std::size_t row, std::size_t column) -> unsigned & {
            return length[row * (columns + 1) + column];
        };
        for (std::size_t row = rows; row-- > 0;) {
            for (std::size_t column = columns; column-- > 0;) {
                at(row, column) = before[row] == after[column] ? at(row + 1, column + 1) + 1
                                                               : std::max(at(row + 1, column), at(row, column + 1));
            }
        }
        while (i < rows && j < columns) {
            if (before[i] == after[j]) {
                out.push_back({' ', before[i]});
                ++i, ++j;
            } else if (at(i + 1, j) >= at(i, j + 1)) {
                out.push_back({'-', before[i++]});
            } else {
                out.push_back({'+', after[j++]});
            }
        }
    }
    for (; i < rows; ++i) {
        out.push_back({'-', before[i]});
    }
    for (; j < columns; ++j) {
        out.push_back({'+', after[j]});
    }
}

/// Leaves out what is far from any change.
std::vector<DiffLine> shorten(const std::vector<DiffLine> &all)
{
    std::vector<bool> near(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].sign != ' ') {
            const std::size_t from = i < CONTEXT ? 0 : i - CONTEXT, to = std::min(i + CONTEXT + 1, all.size());
            std::fill(near.begin() + static_cast<std::ptrdiff_t>(from), near.begin() + static_cast<std::ptrdiff_t>(to),
                      true);
        }
    }
    std::vector<DiffLine> kept;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (near[i]) {
            kept.push_back(all[i]);
        } else if (kept.empty() || kept.back().sign != '~') {
            kept.push_back({'~', {}});
        }
    }
    return kept;
}

} // namespace

std::vector<DiffLine> diff(std::string_view before, std::string_view after)
{
    Lines old_lines = split(before), new_lines = split(after);
    const auto [old_part, new_part] =
        std::mismatch(old_lines.begin(), old_lines.end(), new_lines.begin(), new_lines.end());
    const auto [old_end, new_end] = std::mismatch(old_lines.rbegin(), std::make_reverse_iterator(old_part),
                                                  new_lines.rbegin(), std::make_reverse_iterator(new_part));
    std::vector<DiffLine> all;
    for (auto line = old_lines.begin(); line != old_part; ++line) {
        all.push_back({' ', *line});
    }
    compare(Lines(old_part, old_end.base()), Lines(new_part, new_end.base()), all);
    for (auto line = old_end.base(); line != old_lines.end(); ++line) {
        all.push_back({' ', *line});
    }
    return shorten(all);
}
