#include "files.hpp"

namespace fs = std::filesystem;

namespace {

acp_slice slice(std::string_view text)
{
    return acp_bytes(text.data(), text.size());
}

// What an answer holds; it is freed.
std::optional<std::string> taken(acp_status status, acp_files_answer *answer, Files::Problem &problem)
{
    problem = {ACP_CODE_INVALID_PARAMS, "not UTF-8"};
    acp_slice text{};
    std::optional<std::string> content;
    if (status == ACP_OK && acp_files_answer_text(answer, &text) == ACP_OK) {
        content.emplace(text.data, text.len);
    } else if (status == ACP_OK && acp_files_answer_message(answer, &text) == ACP_OK) {
        (void)acp_files_answer_code(answer, &problem.code);
        problem.message.assign(text.data, text.len);
    }
    acp_files_answer_free(answer);
    return content;
}

} // namespace

Files::Files(const fs::path &folder)
{
    std::error_code error;
    const fs::path real = fs::canonical(folder, error);
    const std::string name = real.string();
    const acp_slice root = slice(name);
    acp_files *files = nullptr;
    if (!error && acp_files_new(&root, 1, 0, nullptr, nullptr, &files) == ACP_OK) {
        files_.reset(files);
        folder_ = real;
    }
}

std::optional<std::string> Files::read(std::string_view path, std::uint64_t line, std::uint64_t limit,
                                       Problem &problem) const
{
    acp_files_answer *answer = nullptr;
    const acp_status status = acp_files_read(files_.get(), slice(path), line, limit, &answer);
    return taken(status, answer, problem);
}

bool Files::write(std::string_view path, std::string_view content, Problem &problem) const
{
    acp_files_answer *answer = nullptr;
    const acp_status status = acp_files_write(files_.get(), slice(path), slice(content), &answer);
    return taken(status, answer, problem).has_value();
}
