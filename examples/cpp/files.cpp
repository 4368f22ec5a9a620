#include "files.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace fs = std::filesystem;

Files::Files(const fs::path &folder)
{
    std::error_code error;
    folder_ = fs::canonical(folder, error);
}

std::optional<fs::path> Files::inside(std::string_view path, std::string &problem) const
{
    std::error_code error;
    const fs::path real = fs::weakly_canonical(fs::path(path), error);
    const auto [rest, at] = std::mismatch(folder_.begin(), folder_.end(), real.begin(), real.end());
    if (error || folder_.empty() || rest != folder_.end() || at == real.end()) {
        problem = "the path is not inside the session's folder";
        return std::nullopt;
    }
    // A link that is still one leads to what is not there yet. Others, as folders and pipes, are no text files, and may
    // keep who opens them waiting for ever.
    const fs::file_type type = fs::symlink_status(real, error).type();
    if (type != fs::file_type::regular && type != fs::file_type::not_found) {
        problem = "the path is not that of a file";
        return std::nullopt;
    }
    return real;
}

std::optional<std::string> Files::read(std::string_view path, std::uint64_t line, std::uint64_t limit,
                                       std::string &problem) const
{
    const auto real = inside(path, problem);
    if (!real) {
        return std::nullopt;
    }
    std::ifstream file(*real, std::ios::binary);
    if (!file) {
        problem = "the file cannot be read";
        return std::nullopt;
    }
    const std::string all{std::istreambuf_iterator<char>(file), {}};
    std::size_t start = 0;
    const auto skip = [&all](std::size_t from) {
        const std::size_t end = all.find('\n', from);
        return end == std::string::npos ? all.size() : end + 1;
    };
    for (; line > 1 && start < all.size(); --line) {
        start = skip(start);
    }
    std::size_t end = start;
    for (; limit > 0 && end < all.size(); --limit) {
        end = skip(end);
    }
    return all.substr(start, end - start);
}

bool Files::write(std::string_view path, std::string_view content, std::string &problem) const
{
    const auto real = inside(path, problem);
    if (!real) {
        return false;
    }
    std::ofstream file(*real, std::ios::binary | std::ios::trunc);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    file.close();
    if (!file) {
        problem = "the file cannot be written";
    }
    return static_cast<bool>(file);
}
