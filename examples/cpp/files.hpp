// The files that an agent may read and write: those below one folder.

#ifndef FILES_HPP
#define FILES_HPP

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

class Files {
public:
    /// Below this folder, which must exist.
    explicit Files(const std::filesystem::path &folder);

    const std::filesystem::path &folder() const noexcept { return folder_; }
    /// So many lines from this one on, counted from 1; `problem` says why there are none.
    std::optional<std::string> read(std::string_view path, std::uint64_t line, std::uint64_t limit,
                                    std::string &problem) const;
    bool write(std::string_view path, std::string_view content, std::string &problem) const;

private:
    /// The path with all links followed, where it is below the folder.
    std::optional<std::filesystem::path> inside(std::string_view path, std::string &problem) const;

    std::filesystem::path folder_;
};

#endif
