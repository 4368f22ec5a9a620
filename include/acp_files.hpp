// libacp_files for C++17: text files for agents, confined to the directories of their sessions. Header-only, over
// acp_files.h.
//
//     acp::Result<acp::Files> files = acp::Files::open({cwd});       // one for each session, with its directories
//     if (!files) { std::puts(files.error().text().c_str()); }
//     auto answer = files->serve(client, request);                   // answers fs/read_text_file and fs/write_text_file
//     if (!answer) { std::puts(answer.error().text().c_str()); }     // a call was refused
//     else if (!answer->done()) { ... }                              // the agent got an error: code(), message()
//
// Not part of acp.hpp, because it is a separate library: acp-files in pkg-config, acp::files in CMake. Several threads may
// use one `Files` at the same time; it can be moved while none does.

#ifndef ACP_FILES_HPP
#define ACP_FILES_HPP

#include <functional>
#include <vector>

#include "acp_files.h"
#include "acp_messages.hpp"

namespace acp {

/// The result of reading or writing a file. It owns its text.
class FileAnswer {
public:
    /// Takes ownership of a handle of acp_files.h.
    explicit FileAnswer(acp_files_answer *answer) noexcept : answer_(answer) {}

    /// Whether the file was read or written.
    bool done() const noexcept { return text().has_value(); }
    /// The text that was read, empty for a write; `std::nullopt` if the operation failed.
    std::optional<std::string_view> text() const noexcept
    {
        return detail::read_text(acp_files_answer_text, handle());
    }
    /// The code of the error to answer the agent with; `std::nullopt` if the operation succeeded.
    std::optional<std::int32_t> code() const noexcept
    {
        return detail::read<std::int32_t>(acp_files_answer_code, handle());
    }
    /// The message of the error to answer the agent with; empty if the operation succeeded.
    std::string_view message() const noexcept
    {
        return detail::read_text(acp_files_answer_message, handle()).value_or(std::string_view());
    }

    /// The handle, for the functions of acp_files.h.
    const acp_files_answer *handle() const noexcept { return answer_.get(); }

private:
    detail::Owned<acp_files_answer, acp_files_answer_free> answer_;
};

/// The files that the agent of one session may access. Several threads may use one object at the same time.
class Files {
public:
    /// Decides whether a file may be read or written. `path` is the path from `root` to the file, with all links
    /// resolved. Called on the thread that reads or writes; it must not use the same `Files`. If it throws, the file is
    /// refused.
    using May = std::function<bool(std::string_view path, bool writing, std::string_view root)>;

    /// Opens the directories of a session by their absolute paths. They stay the directories that they are now. `most`
    /// is the largest size of a file in bytes; 0 stands for 10,000,000. Without a `may`, `guarded` decides.
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

    /// Decides as it is decided without a `may`: everything may be read; nothing may be written inside the folders of
    /// version control (such as `.git`), and no file that editors or shells run without asking. `path` is the path from
    /// the root.
    static bool guarded(std::string_view path, bool writing) noexcept
    {
        return detail::read<bool>(acp_files_guarded, detail::slice(path), writing).value_or(false);
    }

    /// Reads a file for `fs/read_text_file`: at most `limit` lines, or all, from the line `line` on, counted from 1.
    [[nodiscard]] Result<FileAnswer> read(std::string_view path, std::optional<std::uint64_t> line = std::nullopt,
                                          std::optional<std::uint64_t> limit = std::nullopt) const noexcept
    {
        acp_files_answer *answer = nullptr;
        const acp_status status = acp_files_read(handle(), detail::slice(path), line.value_or(1),
                                                 limit.value_or(UINT64_MAX), &answer);
        return taken(status, answer, "Files::read: the path is not UTF-8, or the Files was moved from");
    }
    /// Writes a file for `fs/write_text_file`. Creates it and missing folders.
    [[nodiscard]] Result<FileAnswer> write(std::string_view path, std::string_view content) const noexcept
    {
        acp_files_answer *answer = nullptr;
        const acp_status status =
            acp_files_write(handle(), detail::slice(path), detail::slice(content), &answer);
        return taken(status, answer, "Files::write: the path or the text is not UTF-8, or the Files was moved from");
    }

    /// Carries out an `fs/read_text_file` or `fs/write_text_file` request and answers it, with the text, an empty
    /// result or the error. Returns what happened to the file. Fails, and leaves the request open, if the request has
    /// another method or a call was refused.
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

    /// The handle, for the functions of acp_files.h; null after a move.
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
    /// Why `acp_files_new` failed, in one sentence.
    static const char *unopened(acp_status status) noexcept
    {
        return status == ACP_NONE ? "Files::open: a root is no folder that can be opened; expected absolute paths of folders"
                                  : "Files::open: a root is not UTF-8, or there are more than 10,000";
    }
    // `Error::of` would take the text of the status from libacp.
    static Error refused(acp_status status, const char *why) noexcept
    {
        return {status, MisuseKind::none, {}, {}, why};
    }
    static Result<FileAnswer> taken(acp_status status, acp_files_answer *answer, const char *why) noexcept
    {
        return status == ACP_OK ? Result<FileAnswer>(FileAnswer(answer)) : refused(status, why);
    }

    // Declared first, so destroyed last: the files call it.
    std::unique_ptr<May> may_{};
    detail::Owned<acp_files, acp_files_free> files_{};
};

} // namespace acp

#endif // ACP_FILES_HPP
