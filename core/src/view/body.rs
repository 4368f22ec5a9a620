//! What an entry holds: the blocks of a message, the items of a tool call, the bytes of a terminal.

use std::collections::VecDeque;

use super::content::Content;
use super::kind::EntryKind;
use super::output::Output;
use crate::json::{self, Writer};

/// What an item of a tool call takes beside its bytes.
const ITEM: usize = 32;

/// How much of one entry is kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Most {
    pub(super) content: usize,
    pub(super) output: usize,
}

/// Where a content is read on: behind so many blocks, items or bytes of a terminal, and `inside` is how far in what follows
/// those, from 1 for its beginning; 0 where nothing of that was read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    pub(super) skipped: usize,
    pub(super) inside: usize,
}

/// What it holds, by its kind.
#[derive(Debug, Clone)]
pub(super) enum Body {
    Nothing,
    Blocks(Content),
    /// A list that was told as a whole, and what was added to it.
    Items {
        whole: Box<str>,
        added: Option<Box<Added>>,
    },
    Output(Box<Output>),
}

/// What was added to a list, and what it takes.
#[derive(Debug, Clone, Default)]
pub(super) struct Added {
    list: VecDeque<Box<str>>,
    bytes: usize,
}

impl Body {
    pub(super) fn of(kind: EntryKind) -> Self {
        match kind {
            EntryKind::Message(_) | EntryKind::Compaction => Body::Blocks(Content::default()),
            EntryKind::ToolCall => Body::Items { whole: Box::default(), added: None },
            EntryKind::Terminal => Body::Output(Box::default()),
            _ => Body::Nothing,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Body::Nothing => 0,
            Body::Blocks(content) => content.bytes(),
            Body::Items { whole, added } => whole.len() + added.as_ref().map_or(0, |added| added.bytes),
            Body::Output(output) => output.bytes().len(),
        }
    }

    /// How far it reaches: a number that grows while it grows. What was told as a whole counts as one.
    pub(super) fn reach(&self) -> usize {
        match self {
            Body::Nothing => 0,
            Body::Blocks(content) => content.reach(),
            Body::Items { whole, added } => {
                usize::from(!whole.is_empty()) + added.as_ref().map_or(0, |added| added.list.len())
            }
            Body::Output(output) => output.reach(),
        }
    }

    /// The place where it reached so far; `None` if it never did.
    pub(super) fn place(&self, at: usize) -> Option<Place> {
        match self {
            Body::Blocks(content) => content.place(at),
            Body::Output(output) => output.reached(at).then_some(Place { skipped: at, inside: at }),
            _ => (at <= self.reach()).then_some(Place { skipped: at, inside: 0 }),
        }
    }

    /// Whether it is exactly this list, as it was told last.
    pub(super) fn is_list(&self, value: &str) -> bool {
        matches!(self, Body::Items { whole, added: None } if **whole == *value)
    }

    /// The items of a tool call.
    pub(super) fn items(&self) -> impl Iterator<Item = &str> {
        self.items_from(Place::default())
    }

    pub(super) fn items_from(&self, place: Place) -> impl Iterator<Item = &str> + use<'_> {
        let items = if let Body::Items { whole, added } = self { Some((whole, added)) } else { None };
        let all = items.map(|(whole, added)| {
            let told = usize::from(!whole.is_empty());
            let whole = if place.skipped < told { json::items(whole) } else { Vec::new() };
            let added = added.as_ref().map(|added| added.list.range(place.skipped.saturating_sub(told)..));
            whole.into_iter().chain(added.into_iter().flatten().map(|item| &**item))
        });
        all.into_iter().flatten()
    }

    /// Adds a block, an item or bytes; whether something was given up for it.
    pub(super) fn append(&mut self, item: &str, most: Most) -> bool {
        match self {
            Body::Nothing => false,
            Body::Blocks(content) => {
                content.append(item);
                content.cut(most.content)
            }
            Body::Items { whole, added } => {
                let Added { list, bytes } = &mut **added.get_or_insert_default();
                list.push_back(item.into());
                *bytes += item.len() + ITEM;
                let over = whole.len() + *bytes > most.content;
                if over && !whole.is_empty() {
                    let told = std::mem::take(whole);
                    for item in json::items(&told).into_iter().rev() {
                        list.push_front(item.into());
                        *bytes += item.len() + ITEM;
                    }
                }
                while over && *bytes > most.content / 2 {
                    *bytes -= list.pop_front().map_or(*bytes, |item| item.len() + ITEM);
                }
                over
            }
            Body::Output(output) => {
                let before = output.before();
                if let Some(data) = json::unescape(item) {
                    output.append(&data, most.output);
                }
                before != output.before()
            }
        }
    }

    /// Takes a list, or the bytes of a snapshot, where it is empty; whether something was given up for it.
    pub(super) fn fill(&mut self, value: &str, most: Most) -> bool {
        match self {
            Body::Items { whole, .. } if value.len() <= most.content => {
                *whole = value.into();
                false
            }
            Body::Output(_) => json::pointer(value, "/data").is_some_and(|data| self.append(data, most)),
            _ => json::items(value).into_iter().filter(|item| self.append(item, most)).count() > 0,
        }
    }

    /// Writes the members that it is, from a place on.
    pub(super) fn write(&self, kind: EntryKind, place: Place, out: &mut Writer) {
        match self {
            Body::Nothing => {}
            Body::Blocks(content) => {
                out.key(if kind == EntryKind::Compaction { "summary" } else { "blocks" });
                content.write(place, out);
            }
            Body::Items { whole, added } => {
                out.key("content");
                if added.is_none() && !whole.is_empty() && place.skipped == 0 {
                    out.json(whole);
                    return;
                }
                out.begin_array();
                self.items_from(place).for_each(|item| _ = out.json(item));
                out.end_array();
            }
            Body::Output(output) => {
                out.key("output").string(&output.text_from(place.skipped)).key("before").unsigned(output.before());
            }
        }
    }
}
