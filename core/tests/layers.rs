//! Imports go one way. Each module of the crate stands on a layer, and names nothing that stands above it; and nothing in
//! the engine asks for the number of a version, since what differs between versions is data.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of each layer, the lowest first. Those of one layer may name each other.
const LAYERS: &[&[&str]] = &[
    &["rules", "versions", "role", "text", "map", "numbered", "nearest", "path", "room", "terminal"],
    &["json"],
    &["framing", "jsonrpc"],
    &["schema", "validation"],
    &["engine"],
    &["view"],
    &["connection", "observer"],
    &["typed", "relay", "host", "http"],
    &["aio"],
];

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

/// The code of a file without comments and unit tests, by line.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    let lines = lines.take_while(|(_, line)| *line != "mod tests {");
    lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// What a file names above its layer, or outside of all layers: the line, and the name.
fn upwards(module: &str, text: &str) -> Vec<String> {
    let Some(own) = layer(module) else { return vec![format!("the module {module} stands on no layer")] };
    let mut found = Vec::new();
    for (at, line) in code(text) {
        for rest in line.split("crate::").skip(1) {
            let name: String = rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
            match layer(&name) {
                Some(other) if other > own => {
                    found.push(format!("{at}: {module} imports {name}, which stands above it"));
                }
                _ => {}
            }
        }
    }
    found
}

/// Where a file compares the number of a version with another one.
fn numbers(text: &str) -> Vec<String> {
    let number = |rest: &str| {
        let rest = rest.trim_start_matches(['(', ')', ' ']);
        let sign = ["==", "!=", ">=", "<=", ">", "<"].into_iter().find_map(|sign| rest.strip_prefix(sign));
        sign.is_some_and(|rest| rest.trim_start().starts_with(|c: char| c.is_ascii_digit()))
    };
    // As text, the number stands in a pattern.
    let text_of_one = |line: &str| line.contains("=>") && (1..=9).any(|number| line.contains(&format!("\"{number}\"")));
    let compares = |line: &str| line.split("version").skip(1).any(number) || text_of_one(line);
    code(text).filter(|(_, line)| compares(line)).map(|(at, line)| format!("{at}: {}", line.trim())).collect()
}

/// All files of the crate that are not tests, with the module that each belongs to.
fn files() -> BTreeMap<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut files, mut folders) = (BTreeMap::new(), vec![root.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if name == "tests" {
            } else if path.is_dir() {
                folders.push(path);
            } else if path != root.join("lib.rs") {
                let module = path.strip_prefix(&root).expect("a file below the root").components().next();
                let module = module.expect("a name").as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned();
                files.insert(path, module);
            }
        }
    }
    files
}

#[test]
fn imports_go_down() {
    let mut wrong = Vec::new();
    for (path, module) in files() {
        let text = fs::read_to_string(&path).expect("a file");
        wrong.extend(upwards(&module, &text).into_iter().map(|what| format!("{}:{what}", path.display())));
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn the_engine_compares_no_versions() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (path, _) in
        files().into_iter().filter(|(_, module)| ["engine", "view", "connection", "validation"].contains(&&**module))
    {
        seen += 1;
        let text = fs::read_to_string(&path).expect("a file");
        wrong.extend(numbers(&text).into_iter().map(|what| format!("{}:{what}", path.display())));
    }
    assert!(seen > 50, "{seen} files");
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn what_goes_up_is_found() {
    assert_eq!(upwards("engine", "use crate::json;\nuse crate::connection::Event;\n").len(), 1);
    assert_eq!(upwards("json", "// crate::engine\nlet x = crate::engine::State;\n").len(), 1);
    assert_eq!(
        upwards("connection", "use crate::engine::{State, Role};\n#[cfg(test)]\nmod tests {\nuse crate::aio;\n").len(),
        0
    );
    assert_eq!(upwards("elsewhere", "").len(), 1);
    assert_eq!(numbers("if state.tables.version > 1 {\n// version == 1\nlet version = 2;\n").len(), 1);
    assert_eq!(numbers("match version {\n    \"1\" => names,\n    \"12\" => others,\n").len(), 1);
}
