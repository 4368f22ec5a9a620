//! The files of one session, and the results of its operations.

use std::os::raw::c_void;
use std::path::Path;
use std::sync::Arc;

use libacp_files::{guarded, Asked, Error, Files, Options, Root};

use crate::border::{
    acp_slice, acp_status, free, guard, make, output, read, shared, Handle, ACP_INVALID_ARGUMENT, ACP_NONE,
};

/// Decides whether a file may be read or written. Called on the thread that calls `acp_files_read` or
/// `acp_files_write`; it must not call anything with the same `acp_files`.
///
/// - `context`: the pointer that was passed to `acp_files_new`
/// - `path`: the path from the root to the file, with all links resolved; valid during the call
/// - `writing`: true to write the file, false to read it
/// - `root`: the path of the root, with all links resolved; valid during the call
/// - returns: whether to allow it
pub type acp_files_may =
    Option<unsafe extern "C" fn(context: *mut c_void, path: acp_slice, writing: bool, root: acp_slice) -> bool>;

/// The files that the agent of one session may access.
#[derive(Debug)]
pub struct acp_files(Files);

impl Handle for acp_files {
    const TAG: u64 = u64::from_le_bytes(*b"acpfiles");
}

/// The result of reading or writing a file: the text, or the error to answer the agent's request with. It owns its
/// text.
#[derive(Debug)]
pub struct acp_files_answer(Result<String, (i32, String)>);

impl Handle for acp_files_answer {
    const TAG: u64 = u64::from_le_bytes(*b"acpanswe");
}

/// The pointer that a `may` is called with.
struct Context(*mut c_void);

// SAFETY: the header requires a `may` and a `context` that can be used on each thread that reads or writes.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

/// Opens the directories of a session. They stay the directories that they are now, even if their names are given to
/// others.
///
/// - `roots`: the absolute paths of `count` directories
/// - `count`: how many there are, at most 10,000
/// - `most`: the largest size of a file, in bytes; 0 for 10,000,000
/// - `may`: decides on each file; NULL to use `acp_files_guarded`
/// - `context`: passed to `may`; may be NULL. Must stay valid until `acp_files_free`, and usable from each thread that
///   reads or writes
/// - `*files`: the files; the caller owns them and frees them with `acp_files_free`
/// - returns: `ACP_OK`; `ACP_NONE` if a root is not a directory that can be opened, or its path is not absolute;
///   `ACP_INVALID_ARGUMENT` if `count` is too large; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_files_new(
    roots: *const acp_slice,
    count: usize,
    most: u64,
    may: acp_files_may,
    context: *mut c_void,
    files: *mut *mut acp_files,
) -> acp_status {
    let work = || {
        if count > 0 && (roots.is_null() || count > 10_000) {
            return Err(ACP_INVALID_ARGUMENT);
        }
        let mut opened = Vec::with_capacity(count);
        for at in 0..count {
            // SAFETY: the header requires `count` valid slices at `roots`.
            let path = unsafe { (*roots.add(at)).text() }?;
            opened.push(Root::open(Path::new(path)).map_err(|_| ACP_NONE)?);
        }
        let mut options = Options::default();
        if most > 0 {
            options.most = most;
        }
        if let Some(may) = may {
            let context = Context(context);
            options.may = Arc::new(move |asked| ask(may, &context, asked));
        }
        Ok(acp_files(Files::with(opened, options)))
    };
    // SAFETY: `roots`, `context` and `files` are as the header requires.
    unsafe { make(files, work) }
}

fn ask(
    may: unsafe extern "C" fn(*mut c_void, acp_slice, bool, acp_slice) -> bool,
    context: &Context,
    asked: &Asked<'_>,
) -> bool {
    // A name that is not UTF-8 cannot be passed to the host. An agent can reach one only through a link.
    let (Some(path), Some(root)) = (asked.path.to_str(), asked.root.to_str()) else { return false };
    // SAFETY: the header requires `may` to be callable with `context` for as long as the handle lives.
    unsafe { may(context.0, path.into(), asked.writing, root.into()) }
}

/// Frees the files and closes their directories.
///
/// - `files`: the files; NULL is ignored
#[no_mangle]
pub unsafe extern "C" fn acp_files_free(files: *mut acp_files) {
    // SAFETY: `files` is as the header requires.
    unsafe { free(files) }
}

/// Decides as it is decided without a `may`: everything may be read; nothing may be written inside the folders of
/// version control (such as `.git`), and no file that editors or shells run without asking (such as `.vscode` and
/// `.envrc`).
///
/// - `path`: the path from the root
/// - `writing`: true to write the file, false to read it
/// - `*allowed`: whether it is allowed
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_files_guarded(path: acp_slice, writing: bool, allowed: *mut bool) -> acp_status {
    guard(|| {
        // SAFETY: `path` and `allowed` are as the header requires.
        let path = Path::new(unsafe { path.text() }?);
        // SAFETY: as above.
        unsafe { output(allowed, || Ok(guarded(&Asked::new(Path::new(""), path, writing)))) }
    })
}

/// Reads a file for `fs/read_text_file`. Waits for the writes that were started before.
///
/// - `files`: the files; other threads may use them at the same time
/// - `path`: the absolute path of the file, as the agent sent it
/// - `line`: the first line to read, counted from 1; 0 counts as 1
/// - `limit`: the largest number of lines to read; `UINT64_MAX` for all
/// - `*answer`: the text or the error; the caller owns it and frees it with `acp_files_answer_free`
/// - returns: `ACP_OK`, also if the file cannot be read; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_files_read(
    files: *const acp_files,
    path: acp_slice,
    line: u64,
    limit: u64,
    answer: *mut *mut acp_files_answer,
) -> acp_status {
    let all = line <= 1 && limit == u64::MAX;
    let (line, limit) = if all { (None, None) } else { (Some(line), Some(limit)) };
    // SAFETY: `files`, `path` and `answer` are as the header requires.
    unsafe { work(files, path, answer, |files, path| files.read_text_file(path, line, limit)) }
}

/// Writes a file for `fs/write_text_file`. Creates it and missing folders. Waits for the operations that were started
/// before.
///
/// - `files`: the files; other threads may use them at the same time
/// - `path`: the absolute path of the file, as the agent sent it
/// - `text`: the new content of the file
/// - `*answer`: an empty text or the error; the caller owns it and frees it with `acp_files_answer_free`
/// - returns: `ACP_OK`, also if the file cannot be written; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_files_write(
    files: *const acp_files,
    path: acp_slice,
    text: acp_slice,
    answer: *mut *mut acp_files_answer,
) -> acp_status {
    guard(|| {
        // SAFETY: `files`, `path`, `text` and `answer` are as the header requires.
        let text = unsafe { text.text() }?;
        // SAFETY: as above.
        let write = || unsafe {
            work(files, path, answer, |files, path| files.write_text_file(path, text).map(|()| String::new()))
        };
        match write() {
            0 => Ok(()),
            status => Err(status),
        }
    })
}

/// Does one operation and creates its answer.
///
/// # Safety
/// `files` is NULL or a live handle, `path` is as for [`acp_slice::text`], and `answer` is NULL or can be written.
unsafe fn work(
    files: *const acp_files,
    path: acp_slice,
    answer: *mut *mut acp_files_answer,
    work: impl FnOnce(&Files, &str) -> Result<String, Error>,
) -> acp_status {
    let work = || {
        // SAFETY: as `# Safety` requires.
        let (files, path) = unsafe { (shared(files)?, path.text()?) };
        let result = work(&files.0, path).map_err(|problem| (problem.code(), problem.to_string()));
        Ok(acp_files_answer(result))
    };
    // SAFETY: as `# Safety` requires.
    unsafe { make(answer, work) }
}

/// Gets the text that was read.
///
/// - `answer`: the answer
/// - `*text`: the text, empty for a write; valid until the answer is freed
/// - returns: `ACP_OK`; `ACP_NONE` if the operation failed; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_files_answer_text(answer: *const acp_files_answer, text: *mut acp_slice) -> acp_status {
    // SAFETY: `answer` and `text` are as the header requires.
    unsafe { read(answer, text, |answer| answer.0.as_ref().ok().map(|text| text.as_str().into())) }
}

/// Gets the code of the error to answer the agent with.
///
/// - `answer`: the answer
/// - `*code`: the code, for `acp_connection_respond_error`
/// - returns: `ACP_OK`; `ACP_NONE` if the operation succeeded; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_files_answer_code(answer: *const acp_files_answer, code: *mut i32) -> acp_status {
    // SAFETY: `answer` and `code` are as the header requires.
    unsafe { read(answer, code, |answer| answer.0.as_ref().err().map(|problem| problem.0)) }
}

/// Gets the message of the error to answer the agent with. It names no path and repeats nothing that the agent sent.
///
/// - `answer`: the answer
/// - `*message`: the message, for `acp_connection_respond_error`; valid until the answer is freed
/// - returns: `ACP_OK`; `ACP_NONE` if the operation succeeded; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_files_answer_message(
    answer: *const acp_files_answer,
    message: *mut acp_slice,
) -> acp_status {
    // SAFETY: `answer` and `message` are as the header requires.
    unsafe { read(answer, message, |answer| answer.0.as_ref().err().map(|problem| problem.1.as_str().into())) }
}

/// Frees an answer, and with it the text that came from it.
///
/// - `answer`: the answer; NULL is ignored
#[no_mangle]
pub unsafe extern "C" fn acp_files_answer_free(answer: *mut acp_files_answer) {
    // SAFETY: `answer` is as the header requires.
    unsafe { free(answer) }
}
