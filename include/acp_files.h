/* libacp_files: text files for agents, confined to the directories of their sessions.
 *
 * Generated from ffi-files/src by `cargo run -p xtask-header`. Do not edit.
 *
 * This is a separate library (acp-files in pkg-config, acp::files in CMake) on which libacp does not depend. The
 * conventions of acp.h hold here too, with these differences:
 *
 * - Several threads may use an acp_files at once, except to free it. Their operations take effect in the order of the
 *   calls.
 * - The library calls back in one place: the acp_files_may that a program passes to acp_files_new. It is called by
 *   acp_files_read and acp_files_write on the calling thread, and must not call anything with the same acp_files.
 * - Outputs have other names than `out`.
 * - The errors in answers are meant for the agent: they name no path and repeat nothing that the agent sent.
 */

#ifndef ACP_FILES_H
#define ACP_FILES_H


#include "acp.h"

// The files that the agent of one session may access.
typedef struct acp_files acp_files;

// The result of reading or writing a file: the text, or the error to answer the agent's request with. It owns its
// text.
typedef struct acp_files_answer acp_files_answer;

// Decides whether a file may be read or written. Called on the thread that calls `acp_files_read` or
// `acp_files_write`; it must not call anything with the same `acp_files`.
//
// - `context`: the pointer that was passed to `acp_files_new`
// - `path`: the path from the root to the file, with all links resolved; valid during the call
// - `writing`: true to write the file, false to read it
// - `root`: the path of the root, with all links resolved; valid during the call
// - returns: whether to allow it
typedef bool (*acp_files_may)(void *context, acp_slice path, bool writing, acp_slice root);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Opens the directories of a session. They stay the directories that they are now, even if their names are given to
// others.
//
// - `roots`: the absolute paths of `count` directories
// - `count`: how many there are, at most 10,000
// - `most`: the largest size of a file, in bytes; 0 for 10,000,000
// - `may`: decides on each file; NULL to use `acp_files_guarded`
// - `context`: passed to `may`; may be NULL. Must stay valid until `acp_files_free`, and usable from each thread that
//   reads or writes
// - `*files`: the files; the caller owns them and frees them with `acp_files_free`
// - returns: `ACP_OK`; `ACP_NONE` if a root is not a directory that can be opened, or its path is not absolute;
//   `ACP_INVALID_ARGUMENT` if `count` is too large; or a general error
acp_status acp_files_new(const acp_slice *roots,
                         size_t count,
                         uint64_t most,
                         acp_files_may may,
                         void *context,
                         acp_files **files);

// Frees the files and closes their directories.
//
// - `files`: the files; NULL is ignored
void acp_files_free(acp_files *files);

// Decides as it is decided without a `may`: everything may be read; nothing may be written inside the folders of
// version control (such as `.git`), and no file that editors or shells run without asking (such as `.vscode` and
// `.envrc`).
//
// - `path`: the path from the root
// - `writing`: true to write the file, false to read it
// - `*allowed`: whether it is allowed
// - returns: `ACP_OK` or a general error
acp_status acp_files_guarded(acp_slice path, bool writing, bool *allowed);

// Reads a file for `fs/read_text_file`. Waits for the writes that were started before.
//
// - `files`: the files; other threads may use them at the same time
// - `path`: the absolute path of the file, as the agent sent it
// - `line`: the first line to read, counted from 1; 0 counts as 1
// - `limit`: the largest number of lines to read; `UINT64_MAX` for all
// - `*answer`: the text or the error; the caller owns it and frees it with `acp_files_answer_free`
// - returns: `ACP_OK`, also if the file cannot be read; or a general error
acp_status acp_files_read(const acp_files *files,
                          acp_slice path,
                          uint64_t line,
                          uint64_t limit,
                          acp_files_answer **answer);

// Writes a file for `fs/write_text_file`. Creates it and missing folders. Waits for the operations that were started
// before.
//
// - `files`: the files; other threads may use them at the same time
// - `path`: the absolute path of the file, as the agent sent it
// - `text`: the new content of the file
// - `*answer`: an empty text or the error; the caller owns it and frees it with `acp_files_answer_free`
// - returns: `ACP_OK`, also if the file cannot be written; or a general error
acp_status acp_files_write(const acp_files *files, acp_slice path, acp_slice text, acp_files_answer **answer);

// Gets the text that was read.
//
// - `answer`: the answer
// - `*text`: the text, empty for a write; valid until the answer is freed
// - returns: `ACP_OK`; `ACP_NONE` if the operation failed; or a general error
acp_status acp_files_answer_text(const acp_files_answer *answer, acp_slice *text);

// Gets the code of the error to answer the agent with.
//
// - `answer`: the answer
// - `*code`: the code, for `acp_connection_respond_error`
// - returns: `ACP_OK`; `ACP_NONE` if the operation succeeded; or a general error
acp_status acp_files_answer_code(const acp_files_answer *answer, int32_t *code);

// Gets the message of the error to answer the agent with. It names no path and repeats nothing that the agent sent.
//
// - `answer`: the answer
// - `*message`: the message, for `acp_connection_respond_error`; valid until the answer is freed
// - returns: `ACP_OK`; `ACP_NONE` if the operation succeeded; or a general error
acp_status acp_files_answer_message(const acp_files_answer *answer, acp_slice *message);

// Frees an answer, and with it the text that came from it.
//
// - `answer`: the answer; NULL is ignored
void acp_files_answer_free(acp_files_answer *answer);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif /* ACP_FILES_H */
