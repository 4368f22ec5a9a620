//! Reading and writing one file after its path was followed.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};

use crate::root::Place;
use crate::Error;

/// How many bytes are searched for line ends at a time.
const CHUNK: usize = 64 * 1024;
/// How long a writer that has written half a character is given to write the rest.
const SECOND_HALF: Duration = Duration::from_millis(50);
/// Buffers above this size are allocated with some care.
const LARGE: usize = 1 << 20;

/// Reads a file, or a range of its lines.
pub(crate) fn read(place: &Place<'_>, most: u64, line: Option<u64>, limit: Option<u64>) -> Result<String, Error> {
    let there = place.there.as_ref().ok_or(Error::NotFound)?;
    let (mut file, now) = open(&place.dir, place, there, OpenOptions::new().read(true))?;
    if now.len() > most {
        return Err(Error::TooLong { most });
    }
    let lock = Lock::of(&now, place);
    let _held = lock.shared();
    let mut bytes = Vec::new();
    let mut window = Window { skip: line.unwrap_or(1).max(1) - 1, limit: limit.unwrap_or(u64::MAX), seen: 0 };
    let mut more = |bytes: &mut Vec<u8>| {
        let fits = match (line, limit) {
            (None, None) => whole(&mut file, bytes, now.len(), most),
            _ => window.read(&mut file, bytes, most),
        };
        let fits = fits.map_err(|problem| Error::Read(problem.kind()))?;
        fits.then_some(()).ok_or(Error::TooLong { most })
    };
    more(&mut bytes)?;
    let seen = bytes.len();
    if complete(&bytes) < seen {
        // The file may be written at this moment; wait for the second half of the character.
        thread::sleep(SECOND_HALF);
        more(&mut bytes)?;
        if bytes.len() > seen {
            bytes.truncate(complete(&bytes));
        }
    }
    String::from_utf8(bytes).map_err(|_| Error::NotUtf8)
}

/// Where the last complete character ends.
fn complete(bytes: &[u8]) -> usize {
    let begin = bytes.len().saturating_sub(4);
    let last = bytes[begin..].iter().rposition(|byte| byte & 0xc0 != 0x80);
    let Some(last) = last.map(|last| begin + last) else { return bytes.len() };
    let length = match bytes[last] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    if last + length > bytes.len() {
        last
    } else {
        bytes.len()
    }
}

/// Reads all of a file, even if it grows meanwhile. Returns false if it is too large.
fn whole(file: &mut File, bytes: &mut Vec<u8>, size: u64, most: u64) -> io::Result<bool> {
    if bytes.is_empty() {
        *bytes = room(usize::try_from(size).unwrap_or(0) + 1);
    }
    file.take(most.saturating_add(1) - bytes.len() as u64).read_to_end(bytes)?;
    Ok(bytes.len() as u64 <= most)
}

/// A buffer with this capacity.
///
/// glibc may keep a block of up to 32 MiB after it is freed, once per thread that allocates one; larger blocks go back
/// to the system. Reserved memory that is not touched costs nothing.
fn room(size: usize) -> Vec<u8> {
    const KEPT: usize = 32 << 20;
    let mut bytes = Vec::new();
    let keeps = cfg!(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"));
    let wanted = if keeps && size > LARGE { size.max(KEPT + CHUNK) } else { size };
    if bytes.try_reserve_exact(wanted).is_err() {
        bytes.reserve_exact(size);
    }
    bytes
}

/// A range of lines. Nothing outside of it is kept in memory.
struct Window {
    skip: u64,
    limit: u64,
    seen: u64,
}

impl Window {
    /// Reads up to the end of the file or of the range. Returns false if the file is too large.
    fn read(&mut self, file: &mut File, kept: &mut Vec<u8>, most: u64) -> io::Result<bool> {
        let mut chunk = vec![0; CHUNK];
        while self.limit > 0 {
            let len = match file.read(&mut chunk) {
                Ok(0) => break,
                Ok(len) => len,
                Err(problem) if problem.kind() == ErrorKind::Interrupted => continue,
                Err(problem) => return Err(problem),
            };
            self.seen += len as u64;
            if self.seen > most {
                return Ok(false);
            }
            let rest = pass(&chunk[..len], &mut self.skip);
            if self.skip == 0 {
                let after = pass(rest, &mut self.limit);
                kept.extend_from_slice(&rest[..rest.len() - after.len()]);
            }
        }
        Ok(true)
    }
}

/// What follows after `ends` line ends, which are counted down.
fn pass<'b>(bytes: &'b [u8], ends: &mut u64) -> &'b [u8] {
    if *ends == 0 {
        return bytes;
    }
    for at in memchr::memchr_iter(b'\n', bytes) {
        *ends -= 1;
        if *ends == 0 {
            return &bytes[at + 1..];
        }
    }
    &[]
}

/// Writes a file. Creates it and missing folders.
pub(crate) fn write(place: &Place<'_>, text: &str) -> Result<(), Error> {
    let dir = place.made()?;
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    let Some(there) = &place.there else {
        options.create_new(true).follow(FollowSymlinks::No);
        let mut file = dir.open_with(&place.name, &options).map_err(|problem| Error::open(&problem))?;
        let written = locked(&mut file, place, text);
        if matches!(written, Err(Error::Write(_))) {
            // There was no file before, so do not leave a part of one.
            drop(dir.remove_file(&place.name));
        }
        return written;
    };
    let (mut file, _) = open(&dir, place, there, &mut options)?;
    locked(&mut file, place, text)
}

fn locked(file: &mut File, place: &Place<'_>, text: &str) -> Result<(), Error> {
    let now = file.metadata().map_err(|problem| Error::Write(problem.kind()))?;
    let lock = Lock::of(&now, place);
    let _held = lock.alone();
    // Another session may have changed the size before this one got the lock.
    let size = file.metadata().map_err(|problem| Error::Write(problem.kind()))?.len();
    replace(file, size, text.as_bytes())
}

/// Replaces the content of a file in place, so that the file keeps its mode, owner and hard links.
///
/// Whatever makes the file longer is written first, because that is what fails on a full disk; truncation comes last.
/// The part of the old text that is overwritten is held in memory, because on some file systems overwriting can fail
/// too.
fn replace(file: &mut File, size: u64, new: &[u8]) -> Result<(), Error> {
    let common = usize::try_from(size).map_or(new.len(), |size| size.min(new.len()));
    let mut old = Vec::with_capacity(common);
    file.take(common as u64).read_to_end(&mut old).map_err(|problem| Error::Read(problem.kind()))?;
    let written = put(file, &new[common..], size.min(new.len() as u64))
        .and_then(|()| put(file, &new[..common], 0))
        .and_then(|()| if (new.len() as u64) < size { file.set_len(new.len() as u64) } else { Ok(()) });
    written.map_err(|problem| match put(file, &old, 0).and_then(|()| file.set_len(size)) {
        Ok(()) => Error::Write(problem.kind()),
        Err(_) => Error::Damaged(problem.kind()),
    })
}

fn put(file: &mut File, bytes: &[u8], at: u64) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)
}

/// Opens the file that was examined, if it is still a regular file.
fn open(dir: &Dir, place: &Place<'_>, there: &Metadata, options: &mut OpenOptions) -> Result<(File, Metadata), Error> {
    if !there.is_file() {
        return Err(Error::NotAFile);
    }
    options.follow(FollowSymlinks::No);
    // If a pipe has taken the file's place meanwhile, opening it must not block.
    #[cfg(unix)]
    cap_fs_ext::OpenOptionsSyncExt::nonblock(options, true);
    let file = dir.open_with(&place.name, options).map_err(|problem| Error::open(&problem))?;
    let now = file.metadata().map_err(|problem| Error::open(&problem))?;
    if now.is_file() {
        Ok((file, now))
    } else {
        Err(Error::NotAFile)
    }
}

type Key = (u64, u64);
type Shared = Arc<RwLock<()>>;

/// The files that are open in this process. Each session has its own queue, but two sessions may use one file.
static OPEN: LazyLock<Mutex<HashMap<Key, Shared>>> = LazyLock::new(Mutex::default);

struct Lock {
    key: Key,
    lock: Option<Shared>,
}

impl Lock {
    fn of(file: &Metadata, place: &Place<'_>) -> Lock {
        let key = identity(file, place);
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        Lock { key, lock: Some(open.entry(key).or_default().clone()) }
    }

    fn shared(&self) -> Option<std::sync::RwLockReadGuard<'_, ()>> {
        self.lock.as_ref().map(|lock| lock.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn alone(&self) -> Option<std::sync::RwLockWriteGuard<'_, ()>> {
        self.lock.as_ref().map(|lock| lock.write().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        self.lock = None;
        if open.get(&self.key).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            open.remove(&self.key);
        }
    }
}

#[cfg(unix)]
fn identity(file: &Metadata, _: &Place<'_>) -> Key {
    use cap_std::fs::MetadataExt;
    (file.dev(), file.ino())
}

/// The standard library has no file ids here, so the path has to do.
#[cfg(not(unix))]
fn identity(_: &Metadata, place: &Place<'_>) -> Key {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    place.root.path().join(&place.path).hash(&mut hasher);
    (0, hasher.finish())
}
