//! One list of types for all versions: what is the same in two of them is written once.
//!
//! Types refer to each other, in circles as well, so that two are the same if nothing tells them apart: all begin in groups
//! by what they say themselves, and a group is split for as long as its types refer to different groups.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::super::MARK;
use super::{Entry, Id, Tables};

/// Around the place of a type in the texts of others, until the places are final.
const OPEN: char = '⟦';
const CLOSE: char = '⟧';

/// Behind the place, where only a draft refers to the type.
const DRAFT: char = '?';

/// A reference to a type, as it stands in a text.
pub(super) fn refer(id: Id) -> String {
    format!("{OPEN}{id}{CLOSE}")
}

/// The same from a member or variant of this draft, or of none.
pub(super) fn refer_from(draft: usize, id: Id) -> String {
    if draft == 0 {
        refer(id)
    } else {
        format!("{OPEN}{id}{DRAFT}{CLOSE}")
    }
}

/// A text with its references, each by `place`, which learns whether only a draft refers to it.
fn placed(text: &str, mut place: impl FnMut(Id, bool) -> String) -> String {
    let mut parts = text.split(OPEN);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (id, rest) = part.split_once(CLOSE).expect("a reference is closed");
        let number = id.trim_end_matches(DRAFT);
        out.push_str(&place(number.parse().expect("a reference is a number"), number != id));
        out.push_str(rest);
    }
    out
}

/// The types of all versions.
pub(super) struct Shared {
    /// For each version, where its types stand in the list.
    places: Vec<Vec<Id>>,
    /// The list: a version that has the type, and its place there.
    types: Vec<(usize, Id)>,
}

impl Shared {
    pub(super) fn new(all: &[Tables<'_>]) -> Self {
        let names: Vec<_> = all.iter().map(Tables::names).collect();
        // Types with a name keep apart from others of their version, as there are rules for each of them; types without
        // one are known by their rules.
        let own = |version: usize, id: Id| {
            let entry = &all[version].types[id];
            let rules = names[version][id].is_empty().then(|| (entry.rules.clone(), entry.aliases.clone()));
            (placed(&entry.text, |_, _| "_".to_owned()), names[version][id].clone(), rules)
        };
        let mut groups = grouped(all, own);
        loop {
            let next = grouped(all, |version, id| {
                let mut refers = Vec::new();
                let _ = placed(&all[version].types[id].text, |to, _| {
                    refers.push(groups[version][to]);
                    String::new()
                });
                (groups[version][id], refers)
            });
            if next == groups {
                break;
            }
            groups = next;
        }
        let mut types = Vec::new();
        for (version, groups) in groups.iter().enumerate() {
            for (id, &group) in groups.iter().enumerate() {
                if group == types.len() {
                    types.push((version, id));
                }
            }
        }
        Self { places: groups, types }
    }

    /// Where a type of a version stands in the list.
    pub(super) fn place(&self, version: usize, id: Id) -> Id {
        self.places[version][id]
    }

    /// Where the types stand to which nothing but drafts leads.
    fn of_drafts(&self, all: &[Tables<'_>]) -> BTreeSet<Id> {
        let members = self.types.iter().map(|&(version, id)| {
            let mut refers = Vec::new();
            let _ = placed(&all[version].types[id].text, |to, draft| {
                refers.push((self.place(version, to), draft));
                String::new()
            });
            refers
        });
        let members: Vec<Vec<(Id, bool)>> = members.collect();
        let mut methods = Vec::new();
        for (version, tables) in all.iter().enumerate() {
            for method in tables.version.methods.values() {
                let types = [Some(&method.params), method.result.as_ref()].into_iter().flatten();
                let place = |name: &String| (self.place(version, tables.ids[name.as_str()]), method.draft.is_some());
                methods.extend(types.map(place));
            }
        }
        let known: BTreeSet<Id> = methods.iter().chain(members.iter().flatten()).map(|(id, _)| *id).collect();
        let stable =
            |refers: &[(Id, bool)]| refers.iter().filter(|(_, draft)| !draft).map(|(id, _)| *id).collect::<Vec<_>>();
        // What nothing leads to is only known by its name, so that nothing is said of drafts.
        let mut left = stable(&methods);
        left.extend((0..members.len()).filter(|id| !known.contains(id)));
        let mut drafts: BTreeSet<Id> = (0..members.len()).collect();
        while let Some(id) = left.pop() {
            if drafts.remove(&id) {
                left.extend(stable(&members[id]));
            }
        }
        drafts
    }

    /// `core/src/schema/tables/types.rs`.
    pub(super) fn render(&self, all: &[Tables<'_>]) -> String {
        let mut out = format!(
            "//! {MARK}\n//!\n//! The types of all versions as static data.\n\
             #![allow(clippy::all, clippy::pedantic)]\n\n\
             use crate::validation::table::{{Field, Other, StringKind, Type, TypeId, Variant}};\n\n\
             const fn f(name: &'static str, ty: TypeId, flags: u8, draft: u8) -> Field {{\n\
             Field {{ name, ty, flags, draft }}\n}}\n\n\
             const fn v(tag: &'static str, ty: TypeId, draft: u8) -> Variant {{\nVariant {{ tag, ty, draft }}\n}}\n\n\
             /// A type to which only drafts lead, which a build for clients alone does not have.\n\
             const fn d(ty: Type) -> Type {{\nif cfg!(clients_only) {{ Type::Any }} else {{ ty }}\n}}\n\n\
             pub(super) static TYPES: &[Type] = &[\n"
        );
        let names: Vec<_> = all.iter().map(Tables::names).collect();
        let drafts = self.of_drafts(all);
        for (at, &(version, id)) in self.types.iter().enumerate() {
            let mut text = placed(&all[version].types[id].text, |to, _| self.place(version, to).to_string());
            if drafts.contains(&at) {
                text = format!("d({text})");
            }
            let _ = writeln!(out, "// {at} {}\n{text},", names[version][id].join(", "));
        }
        out.push_str("];\n");
        out
    }
}

/// For each version, the groups of its types, numbered as they are met.
fn grouped<K: Ord>(all: &[Tables<'_>], key: impl Fn(usize, Id) -> K) -> Vec<Vec<usize>> {
    let mut seen = BTreeMap::new();
    let of_version = |(version, tables): (usize, &Tables<'_>)| {
        let group = |id| {
            let next = seen.len();
            *seen.entry(key(version, id)).or_insert(next)
        };
        (0..tables.types.len()).map(group).collect()
    };
    all.iter().enumerate().map(of_version).collect()
}

impl Tables<'_> {
    /// The names of each type.
    fn names(&self) -> Vec<Vec<&str>> {
        let mut names = vec![Vec::new(); self.types.len()];
        for (name, id) in &self.ids {
            names[*id].push(*name);
        }
        names
    }

    /// What is written about each type, with its place in the list.
    pub(super) fn entries<'a>(&'a self, shared: &'a Shared, version: usize) -> BTreeMap<Id, (&'a Entry, Id)> {
        self.types.iter().enumerate().map(|(id, entry)| (shared.place(version, id), (entry, id))).collect()
    }
}
