//! Sessions on disk, one file each: a line on the session, then its updates, a line each, as they were told.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is kept of a session beside its updates.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Header {
    /// Its id.
    pub id: String,
    /// Its working directory.
    pub cwd: String,
}

/// A folder of sessions.
#[derive(Debug)]
pub struct Store(PathBuf);

impl Store {
    /// The folder, made when it is missing.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Store(folder.to_owned()))
    }

    /// Where a session is; ids from outside are not paths.
    fn path(&self, id: &str) -> io::Result<PathBuf> {
        if id.is_empty() || !id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-') {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(self.0.join(format!("{id}.jsonl")))
    }

    /// Begins a session.
    ///
    /// # Errors
    /// When its file cannot be written.
    pub fn begin(&self, header: &Header) -> io::Result<()> {
        let mut file = File::create_new(self.path(&header.id)?)?;
        writeln!(file, "{}", serde_json::to_string(header)?)
    }

    /// Keeps an update.
    ///
    /// # Errors
    /// When its file cannot be written.
    pub fn add(&self, id: &str, update: &Value) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).open(self.path(id)?)?;
        writeln!(file, "{update}")
    }

    /// A session and its updates.
    ///
    /// # Errors
    /// When there is none, or its file is damaged.
    pub fn load(&self, id: &str) -> io::Result<(Header, Vec<Value>)> {
        let mut lines = BufReader::new(File::open(self.path(id)?)?).lines();
        let header = serde_json::from_str(&lines.next().ok_or(io::ErrorKind::UnexpectedEof)??)?;
        let updates = lines.map(|line| Ok(serde_json::from_str(&line?)?)).collect::<io::Result<_>>()?;
        Ok((header, updates))
    }

    /// All sessions, the newest first. Ids begin with the time.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn list(&self) -> io::Result<Vec<Header>> {
        let mut ids = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            ids.extend(entry?.file_name().to_str().and_then(|name| name.strip_suffix(".jsonl")).map(str::to_owned));
        }
        ids.sort();
        Ok(ids.iter().rev().filter_map(|id| self.load(id).ok()).map(|(header, _)| header).collect())
    }
}
