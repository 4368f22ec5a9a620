//! The files of recordings: those of version 1, and in a folder of their own those of version 2.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::base64;

pub(crate) fn all() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/recordings");
    let mut paths: Vec<PathBuf> = [folder.clone(), folder.join("version-2")]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()))
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    paths.sort();
    paths
}

/// The name of one, with the folder where that says the version.
#[allow(dead_code, reason = "those who feed the lines alone ask for no names")]
pub(crate) fn name(path: &Path) -> String {
    let stem = path.file_stem().unwrap().to_str().unwrap();
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    folder.filter(|folder| *folder != "recordings").map_or(stem.to_owned(), |folder| format!("{folder}/{stem}"))
}

/// The records of one file: who sent (`>`, `<`, or `#` for a mark), and the bytes.
pub(crate) fn records(path: &Path) -> Vec<(char, Vec<u8>)> {
    let text = fs::read_to_string(path).unwrap();
    let record = |line: &str| {
        let record: Value = serde_json::from_str(line).unwrap();
        let bytes = match record["b64"].as_str() {
            Some(text) => base64::decode(text),
            None => record["s"].as_str().unwrap_or_default().as_bytes().to_vec(),
        };
        (record["d"].as_str().unwrap().chars().next().unwrap(), bytes)
    };
    text.split('\n').filter(|line| !line.is_empty()).map(record).collect()
}
