/* libacp_files: text files for agents, confined to the directories of their sessions.
 *
 * Made from ffi-files/src by `cargo run -p xtask-header`. Do not edit.
 *
 * A library of its own (acp-files in pkg-config, acp::files in CMake): programs that serve no files do not need it, and
 * libacp does not. The conventions of acp.h hold here too, with these additions:
 *
 * - An acp_files may be used by several threads at once. What they ask for takes effect in the order of the calls.
 * - The library calls back in one place, the acp_files_may that a program gives it. It is called during acp_files_read and
 *   acp_files_write, on their thread, and must not call anything with the same acp_files.
 * - What an answer holds in case of an error is made for the agent: it names no path and repeats nothing of the agent's.
 */

#ifndef ACP_FILES_H
#define ACP_FILES_H


#include "acp.h"

// The files that one session's agent may reach.
typedef struct acp_files acp_files;

// What became of reading or writing a file.
typedef struct acp_files_answer acp_files_answer;

// Whether a file may be read or written: `path` is the way to it from `root`, all links followed. `context` is what was
// given with the function.
typedef bool (*acp_files_may)(void *context, acp_slice path, bool writing, acp_slice root);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Opens the roots of a session, which stay the folders that they are now. Each is an absolute path; one that is no
// folder is `ACP_NONE`. `most` is how many bytes a file may have; 0 stands for 10,000,000. `may` decides on each file;
// where it is NULL, `acp_files_guarded` does.
acp_status acp_files_new(const acp_slice *roots,
                         size_t count,
                         uint64_t most,
                         acp_files_may may,
                         void *context,
                         acp_files **files);

// Frees the files; NULL is fine. Their roots are closed.
void acp_files_free(acp_files *files);

// What holds without a `may`: all may be read; nothing may be written below `.git` and its like, or that editors run
// without asking, such as `.vscode` and `.envrc`. `path` is the way from the root.
acp_status acp_files_guarded(acp_slice path, bool writing, bool *allowed);

// Reads a file for `fs/read_text_file`: `limit` lines from the line `line` on, which is counted from 1. 0 as the line is
// the first one; `UINT64_MAX` as the limit is all of them.
acp_status acp_files_read(const acp_files *files,
                          acp_slice path,
                          uint64_t line,
                          uint64_t limit,
                          acp_files_answer **answer);

// Writes a file for `fs/write_text_file`; folders that are missing are made.
acp_status acp_files_write(const acp_files *files, acp_slice path, acp_slice text, acp_files_answer **answer);

// The text that was read, empty for a write. `ACP_NONE` where it failed.
acp_status acp_files_answer_text(const acp_files_answer *answer, acp_slice *text);

// The code of the error to answer with. `ACP_NONE` where it did not fail.
acp_status acp_files_answer_code(const acp_files_answer *answer, int32_t *code);

// The message of the error to answer with. `ACP_NONE` where it did not fail.
acp_status acp_files_answer_message(const acp_files_answer *answer, acp_slice *message);

// Frees an answer; NULL is fine.
void acp_files_answer_free(acp_files_answer *answer);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif /* ACP_FILES_H */
