//! Hostile names against a model of the tree: what POSIX says a path is, kept in memory.
//!
//! `LIBACP_FILES_TREES` says how many trees are made, each asked 200 times.
#![cfg(unix)]

mod support;

use std::collections::BTreeMap;
use std::fs;

use libacp_files::{Error, Files};
use support::{read, Chance, Scene};

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Folder,
    File(String),
    Link(String),
}

/// Everything below the scene's top, by the way from there.
type Tree = BTreeMap<Vec<String>, Node>;

#[derive(Debug, PartialEq)]
enum Found {
    /// This is there.
    There(Vec<String>),
    /// This is not there, and the last so many names of it are to be made.
    Missing(Vec<String>),
    Nowhere,
}

/// Where a path leads, as the system sees it, and whether it stayed below the root all the way.
fn resolve(tree: &Tree, top: &[&str], path: &str) -> (Found, bool) {
    let names = |path: &str| -> Vec<String> {
        path.split('/').filter(|name| !name.is_empty() && *name != ".").rev().map(str::to_owned).collect()
    };
    // What is to come, the next last; above the top there are folders alone, and they are not of the model.
    let (mut coming, mut at, mut turns, mut inside) = (names(path), Vec::<String>::new(), 0, true);
    let mut missing = false;
    while let Some(name) = coming.pop() {
        if at.len() > top.len() {
            inside &= at[top.len()] == "root";
        }
        if name == ".." {
            if missing {
                return (Found::Nowhere, inside);
            }
            at.pop();
            inside &= at.len() > top.len();
            turns += 1;
            continue;
        }
        at.push(name);
        if at.len() <= top.len() {
            if at.last().map(String::as_str) != Some(top[at.len() - 1]) {
                return (Found::Nowhere, false);
            }
            continue;
        }
        match tree.get(&at[top.len()..]) {
            _ if missing => {}
            Some(Node::Link(target)) => {
                at.pop();
                turns += 1;
                if turns > 40 {
                    return (Found::Nowhere, inside);
                }
                if target.starts_with('/') {
                    at.clear();
                }
                coming.extend(names(target));
            }
            Some(Node::Folder) => {}
            Some(Node::File(_)) if coming.is_empty() => {}
            Some(Node::File(_)) => return (Found::Nowhere, inside),
            None => missing = true,
        }
    }
    if at.len() <= top.len() {
        return (Found::Nowhere, false);
    }
    let below = at[top.len()..].to_vec();
    inside &= below[0] == "root" && turns <= 30;
    (if missing { Found::Missing(below) } else { Found::There(below) }, inside)
}

const NAMES: &[&str] = &["a", "b", "c", "d", "\u{e4}", "with space", "...", "-"];

fn grow(chance: &mut Chance, scene: &Scene) -> Tree {
    let mut tree = Tree::from([(vec!["root".to_owned()], Node::Folder)]);
    fs::create_dir(scene.top.join("outside")).unwrap();
    tree.insert(vec!["outside".to_owned()], Node::Folder);
    for number in 0..30 {
        let folders: Vec<_> =
            tree.iter().filter(|(_, node)| **node == Node::Folder).map(|(at, _)| at.clone()).collect();
        let mut at = chance.one(&folders).clone();
        at.push((*chance.one(NAMES)).to_owned());
        if tree.contains_key(&at) {
            continue;
        }
        let real = scene.top.join(at.join("/"));
        let node = match chance.below(3) {
            0 => Node::Folder,
            1 => Node::File(format!("{} {number}", at[0])),
            _ => Node::Link(target(chance, scene)),
        };
        match &node {
            Node::Folder => fs::create_dir(&real).unwrap(),
            Node::File(content) => fs::write(&real, content).unwrap(),
            Node::Link(target) => std::os::unix::fs::symlink(target, &real).unwrap(),
        }
        tree.insert(at, node);
    }
    tree
}

fn steps(chance: &mut Chance, most: usize) -> String {
    let count = chance.below(most) + 1;
    let step = |chance: &mut Chance| match chance.below(10) {
        0 | 1 => "..",
        2 => ".",
        3 => "",
        4 => *chance.one(&["root", "outside", "none"]),
        _ => *chance.one(NAMES),
    };
    (0..count).map(|_| step(chance)).collect::<Vec<_>>().join("/")
}

fn target(chance: &mut Chance, scene: &Scene) -> String {
    let start = *chance.one(&["", "", "../", "TOP/root/", "TOP/outside/", "TOP/root/../outside/"]);
    let text = start.replace("TOP", scene.top.to_str().unwrap()) + &steps(chance, 3);
    if text.is_empty() || (text.starts_with('/') && start.is_empty()) {
        return "a".to_owned();
    }
    text
}

/// What is really there, as the model has it.
fn look(scene: &Scene) -> Tree {
    let all = scene.all().into_iter().map(|(path, what)| {
        let below = path.strip_prefix(&scene.top).unwrap();
        let at = below.iter().map(|name| name.to_str().unwrap().to_owned()).collect();
        let node = match what.split_at(what.find(' ').map_or(what.len(), |at| at + 1)) {
            ("-> ", target) => Node::Link(target.to_owned()),
            ("= ", content) => Node::File(content.to_owned()),
            _ => Node::Folder,
        };
        (at, node)
    });
    all.collect()
}

struct Counts {
    done: usize,
    refused: usize,
}

fn ask(files: &Files, scene: &Scene, tree: &mut Tree, chance: &mut Chance, counts: &mut Counts) {
    let path = format!("{}/{}", scene.root.display(), steps(chance, 6));
    let top: Vec<&str> = scene.top.iter().skip(1).map(|name| name.to_str().unwrap()).collect();
    let (mut found, inside) = resolve(tree, &top, &path);
    if path.ends_with('/') || path.ends_with("/.") {
        // It can only be a folder's.
        found = Found::Nowhere;
    }
    let there = match &found {
        Found::There(at) => tree.get(at).cloned(),
        _ => None,
    };
    let text = format!("new {}", chance.below(1_000_000));
    if chance.below(2) == 0 {
        match (read(files, &path), there) {
            (Ok(text), Some(Node::File(content))) => {
                assert_eq!(text, content, "{path}");
                assert!(text.starts_with("root") || text.starts_with("new"), "{path} leads outside");
                counts.done += 1;
            }
            (Ok(_), _) => panic!("{path} was read, and is no file"),
            (Err(problem), Some(Node::File(_))) if inside => panic!("{path} was not read: {problem}"),
            (Err(_), _) => counts.refused += 1,
        }
    } else {
        let result = files.write_text_file(&path, &text);
        let at = match found {
            Found::There(at) if matches!(there, Some(Node::File(_))) => Some(at),
            Found::Missing(at) => Some(at),
            _ => None,
        };
        match (result, at) {
            (Ok(()), Some(at)) => {
                assert_eq!(at[0], "root", "{path} was written outside");
                for len in 1..at.len() {
                    tree.entry(at[..len].to_vec()).or_insert(Node::Folder);
                }
                tree.insert(at, Node::File(text));
                counts.done += 1;
            }
            (Ok(()), None) => panic!("{path} was written, and is no file's"),
            (Err(Error::Refused), _) => panic!("{path} was refused"),
            (Err(problem), Some(_)) if inside => panic!("{path} was not written: {problem}"),
            (Err(_), _) => counts.refused += 1,
        }
    }
    assert_eq!(&look(scene), tree, "after {path}");
}

#[test]
fn hostile_names_lead_where_the_model_says_or_nowhere() {
    let trees = std::env::var("LIBACP_FILES_TREES").ok().and_then(|trees| trees.parse().ok()).unwrap_or(12);
    let mut counts = Counts { done: 0, refused: 0 };
    for seed in 1..=trees {
        let mut chance = Chance(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let scene = Scene::new("model");
        let mut tree = grow(&mut chance, &scene);
        let files = scene.files();
        for _ in 0..200 {
            ask(&files, &scene, &mut tree, &mut chance, &mut counts);
        }
    }
    println!("{} done, {} refused", counts.done, counts.refused);
    assert!(counts.done > 200 && counts.refused > 500, "{} done, {} refused", counts.done, counts.refused);
}
