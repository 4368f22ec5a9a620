//! The files of one session, and answers to its requests.

use std::os::raw::c_void;
use std::path::Path;
use std::sync::Arc;

use libacp_files::{guarded, Asked, Error, Files, Options, Root};

use crate::border::{
    acp_slice, acp_status, free, guard, make, output, read, shared, Handle, ACP_INVALID_ARGUMENT, ACP_NONE,
};

/// Whether a file may be read or written: `path` is the way to it from `root`, all links followed. `context` is what was
/// given with the function.
pub type acp_files_may =
    Option<unsafe extern "C" fn(context: *mut c_void, path: acp_slice, writing: bool, root: acp_slice) -> bool>;

/// The files that one session's agent may reach.
#[derive(Debug)]
pub struct acp_files(Files);

impl Handle for acp_files {
    const TAG: u64 = u64::from_le_bytes(*b"acpfiles");
}

/// What became of reading or writing a file.
#[derive(Debug)]
pub struct acp_files_answer(Result<String, (i32, String)>);

impl Handle for acp_files_answer {
    const TAG: u64 = u64::from_le_bytes(*b"acpanswe");
}

/// What a `may` is called with.
struct Context(*mut c_void);

// SAFETY: the header says that `may` is called on any thread that reads or writes.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

/// Opens the roots of a session, which stay the folders that they are now. Each is an absolute path; one that is no
/// folder is `ACP_NONE`. `most` is how many bytes a file may have; 0 stands for 10,000,000. `may` decides on each file;
/// where it is NULL, `acp_files_guarded` does.
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
            // SAFETY: callers keep the promises of the header: so many slices are there, each as it should be.
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
    // SAFETY: the caller keeps what the header says of `roots`, `context` and `files`.
    unsafe { make(files, work) }
}

fn ask(
    may: unsafe extern "C" fn(*mut c_void, acp_slice, bool, acp_slice) -> bool,
    context: &Context,
    asked: &Asked<'_>,
) -> bool {
    // A name that is not UTF-8 cannot be shown to the host. An agent reaches one through a link alone.
    let (Some(path), Some(root)) = (asked.path.to_str(), asked.root.to_str()) else { return false };
    // SAFETY: the caller has said that the function may be called with its context while the handle lives.
    unsafe { may(context.0, path.into(), asked.writing, root.into()) }
}

/// Frees the files; NULL is fine. Their roots are closed.
#[no_mangle]
pub unsafe extern "C" fn acp_files_free(files: *mut acp_files) {
    // SAFETY: the caller keeps what the header says of `files`.
    unsafe { free(files) }
}

/// What holds without a `may`: all may be read; nothing may be written below `.git` and its like, or that editors run
/// without asking, such as `.vscode` and `.envrc`. `path` is the way from the root.
#[no_mangle]
pub unsafe extern "C" fn acp_files_guarded(path: acp_slice, writing: bool, allowed: *mut bool) -> acp_status {
    guard(|| {
        // SAFETY: the caller keeps what the header says of `path` and `allowed`.
        let path = Path::new(unsafe { path.text() }?);
        // SAFETY: as above.
        unsafe { output(allowed, || Ok(guarded(&Asked::new(Path::new(""), path, writing)))) }
    })
}

/// Reads a file for `fs/read_text_file`: `limit` lines from the line `line` on, which is counted from 1. 0 as the line is
/// the first one; `UINT64_MAX` as the limit is all of them.
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
    // SAFETY: the caller keeps what the header says of `files`, `path` and `answer`.
    unsafe { work(files, path, answer, |files, path| files.read_text_file(path, line, limit)) }
}

/// Writes a file for `fs/write_text_file`; folders that are missing are made.
#[no_mangle]
pub unsafe extern "C" fn acp_files_write(
    files: *const acp_files,
    path: acp_slice,
    text: acp_slice,
    answer: *mut *mut acp_files_answer,
) -> acp_status {
    guard(|| {
        // SAFETY: the caller keeps what the header says of `files`, `path`, `text` and `answer`.
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

unsafe fn work(
    files: *const acp_files,
    path: acp_slice,
    answer: *mut *mut acp_files_answer,
    work: impl FnOnce(&Files, &str) -> Result<String, Error>,
) -> acp_status {
    let work = || {
        // SAFETY: the caller's promise.
        let (files, path) = unsafe { (shared(files)?, path.text()?) };
        let result = work(&files.0, path).map_err(|problem| (problem.code(), problem.to_string()));
        Ok(acp_files_answer(result))
    };
    // SAFETY: the caller's promise.
    unsafe { make(answer, work) }
}

/// The text that was read, empty for a write. `ACP_NONE` where it failed.
#[no_mangle]
pub unsafe extern "C" fn acp_files_answer_text(answer: *const acp_files_answer, text: *mut acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `answer` and `text`.
    unsafe { read(answer, text, |answer| answer.0.as_ref().ok().map(|text| text.as_str().into())) }
}

/// The code of the error to answer with. `ACP_NONE` where it did not fail.
#[no_mangle]
pub unsafe extern "C" fn acp_files_answer_code(answer: *const acp_files_answer, code: *mut i32) -> acp_status {
    // SAFETY: the caller keeps what the header says of `answer` and `code`.
    unsafe { read(answer, code, |answer| answer.0.as_ref().err().map(|problem| problem.0)) }
}

/// The message of the error to answer with. `ACP_NONE` where it did not fail.
#[no_mangle]
pub unsafe extern "C" fn acp_files_answer_message(
    answer: *const acp_files_answer,
    message: *mut acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `answer` and `message`.
    unsafe { read(answer, message, |answer| answer.0.as_ref().err().map(|problem| problem.1.as_str().into())) }
}

/// Frees an answer; NULL is fine.
#[no_mangle]
pub unsafe extern "C" fn acp_files_answer_free(answer: *mut acp_files_answer) {
    // SAFETY: the caller keeps what the header says of `answer`.
    unsafe { free(answer) }
}
