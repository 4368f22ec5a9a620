// The files that an agent may read and write: those below one folder, by libacp_files.

#ifndef FILES_HPP
#define FILES_HPP

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <acp_files.h>

class Files {
public:
    /// What an error is answered with.
    struct Problem {
        std::int32_t code = 0;
        std::string message;
    };

    /// Below this folder, which must exist. It is opened now, and stays the folder that it is.
    explicit Files(const std::filesystem::path &folder);

    /// With all links followed; empty when there is none.
    const std::filesystem::path &folder() const noexcept { return folder_; }
    /// So many lines from this one on, counted from 1; `problem` says why there are none.
    std::optional<std::string> read(std::string_view path, std::uint64_t line, std::uint64_t limit,
                                    Problem &problem) const;
    bool write(std::string_view path, std::string_view content, Problem &problem) const;

private:
    struct Free {
        void operator()(acp_files *files) const noexcept { acp_files_free(files); }
    };

    std::filesystem::path folder_;
    std::unique_ptr<acp_files, Free> files_;
};

#endif
