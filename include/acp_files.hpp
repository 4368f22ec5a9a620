// libacp_files for C++17: text files for agents, confined to the directories of their sessions. Header-only, over
// acp_files.h.
//
//     acp::Result<acp::Files> files = acp::Files::open({cwd});       // one for each session, with its directories
//     if (!files) { std::puts(files.error().text().c_str()); }
//     auto answer = files->serve(client, request);                   // of fs/read_text_file and fs/write_text_file
//     if (!answer) { std::puts(answer.error().text().c_str()); }     // what libacp says of a call that it refused
//     else if (!answer->done()) { ... }                              // the agent was told why: code(), message()
//
// No part of acp.hpp, as the library is none of libacp: acp-files in pkg-config, acp::files in CMake. `Files` may be used by
// several threads at once, and can be moved while none uses it.

#ifndef ACP_FILES_HPP
#define ACP_FILES_HPP

#include <functional>
#include <vector>

#include "acp_files.h"
#include "acp_messages.hpp"

namespace acp {

/// What became of reading or writing a file. It owns its texts.
class FileAnswer {
public:
    /// Takes over a handle of acp_files.h.
    explicit FileAnswer(acp_files_answer *answer) noexcept : answer_(answer) {}

    /// Whether the file was read or written.
    bool done() const noexcept { return text().has_value(); }
    /// The text that was read, empty for a write; nothing where it failed.
    std::optional<std::string_view> text() const noexcept
    {
        return detail::read_text(acp_files_answer_text, handle());
    }
    /// The code of the error to answer with; nothing where it did not fail.
    std::optional<std::int32_t> code() const noexcept
    {
        return detail::read<std::int32_t>(acp_files_answer_code, handle());
    }
    /// The message of the error to answer with, made for the agent; empty where it did not fail.
    std::string_view message() const noexcept
    {
        return detail::read_text(acp_files_answer_message, handle()).value_or(std::string_view());
    }

    /// The handle, for the functions of acp_files.h.
    const acp_files_answer *handle() const noexcept { return answer_.get(); }

private:
    detail::Owned<acp_files_answer, acp_files_answer_free> answer_;
};

/// The files that one session's agent may reach.
class Files {
public:
    /// Decides whether a file may be read or written: `path` is the way to it from `root`, all links followed. It is called
    /// on the thread that reads or writes and must not use the same `Files`. One that throws refuses.
    using May = std::function<bool(std::string_view path, bool writing, std::string_view root)>;

    /// Opens the directories of a session, absolute paths, which stay the folders that they are now. `most` is how many bytes
    /// a file may have; 0 stands for 10,000,000. Without a `may`, `guarded` decides.
    [[nodiscard]] static Result<Files> open(const std::vector<std::string_view> &roots, std::uint64_t most = 0,
                                            May may = {})
    {
        std::vector<acp_slice> slices;
        for (const std::string_view root : roots) {
            slices.push_back(detail::slice(root));
        }
        Files made;
        if (may) {
            made.may_ = std::make_unique<May>(std::move(may));
        }
        acp_files *files = nullptr;
        const acp_status status = acp_files_new(slices.data(), slices.size(), most, made.may_ ? ask : nullptr,
                                                made.may_.get(), &files);
        made.files_.reset(files);
        return status == ACP_OK ? Result<Files>(std::move(made)) : refused(status, unopened(status));
    }

    /// What holds without a `may`: all may be read; nothing may be written below `.git` and its like, or that editors run
    /// without asking. `path` is the way from the root.
    static bool guarded(std::string_view path, bool writing) noexcept
    {
        return detail::read<bool>(acp_files_guarded, detail::slice(path), writing).value_or(false);
    }

    /// Reads a file for `fs/read_text_file`: `limit` lines, or all, from the line `line` on, which is counted from 1.
    [[nodiscard]] Result<FileAnswer> read(std::string_view path, std::optional<std::uint64_t> line = std::nullopt,
                                          std::optional<std::uint64_t> limit = std::nullopt) const noexcept
    {
        acp_files_answer *answer = nullptr;
        const acp_status status = acp_files_read(handle(), detail::slice(path), line.value_or(1),
                                                 limit.value_or(UINT64_MAX), &answer);
        return taken(status, answer, "Files::read: the path is not UTF-8, or the Files was moved from");
    }
    /// Writes a file for `fs/write_text_file`; folders that are missing are made.
    [[nodiscard]] Result<FileAnswer> write(std::string_view path, std::string_view content) const noexcept
    {
        acp_files_answer *answer = nullptr;
        const acp_status status =
            acp_files_write(handle(), detail::slice(path), detail::slice(content), &answer);
        return taken(status, answer, "Files::write: the path or the text is not UTF-8, or the Files was moved from");
    }

    /// Does what an `fs/read_text_file` or an `fs/write_text_file` asks for, and answers it: with the text, with an empty
    /// result, or with the error. What it gives back is what became of the file. Another request is refused, and where a call
    /// was refused, the request is still open.
    [[nodiscard]] Result<FileAnswer> serve(Connection &connection, const Request &request) const
    {
        const bool reads = request.method() == ACP_METHOD_FS_READ_TEXT_FILE;
        if (!reads && request.method() != ACP_METHOD_FS_WRITE_TEXT_FILE) {
            return refused(ACP_INVALID_ARGUMENT, "Files::serve: the request asks for no file; it is still open");
        }
        const Json params = request.params();
        const std::string path = params.string("/path").value_or("");
        Result<FileAnswer> answer = reads ? read(path, params.uint64("/line"), params.uint64("/limit"))
                                          : write(path, params.string("/content").value_or(""));
        if (!answer) {
            return answer;
        }
        const Result<void> sent =
            !answer->done() ? connection.respond_error(request.serial(),
                                                       answer->code().value_or(ACP_CODE_INTERNAL_ERROR),
                                                       answer->message())
            : reads         ? client::answer_file(connection, request.serial(), *answer->text())
                            : connection.respond(request.serial(), "{}");
        return sent ? std::move(answer) : Result<FileAnswer>(sent.error());
    }

    /// The handle, for the functions of acp_files.h; null in one that was moved from.
    const acp_files *handle() const noexcept { return files_.get(); }

private:
    Files() noexcept = default;

    static bool ask(void *context, acp_slice path, bool writing, acp_slice root) noexcept
    {
#if ACP_HAS_EXCEPTIONS
        try {
            return (*static_cast<const May *>(context))(detail::view(path), writing, detail::view(root));
        } catch (...) {
            return false;
        }
#else
        return (*static_cast<const May *>(context))(detail::view(path), writing, detail::view(root));
#endif
    }
    static const char *unopened(acp_status status) noexcept
    {
        return status == ACP_NONE ? "Files::open: a root is no folder that can be opened; expected absolute paths of folders"
                                  : "Files::open: a root is not UTF-8, or there are more than 10,000";
    }
    // Not by `Error::of`, whose text is libacp's.
    static Error refused(acp_status status, const char *why) noexcept
    {
        return {status, MisuseKind::none, {}, {}, why};
    }
    static Result<FileAnswer> taken(acp_status status, acp_files_answer *answer, const char *why) noexcept
    {
        return status == ACP_OK ? Result<FileAnswer>(FileAnswer(answer)) : refused(status, why);
    }

    // Freed last: the files call it.
    std::unique_ptr<May> may_{};
    detail::Owned<acp_files, acp_files_free> files_{};
};

} // namespace acp

#endif // ACP_FILES_HPP
