//! What a walk has seen of a value on its way, so that nobody needs to go through it again for that.

use std::ops::Range;

use crate::json;

/// Members that are remembered; what has more is looked up the long way.
const MEMBERS: usize = 64;

/// Where the members of the outermost objects stand, and which variants there are.
#[derive(Debug, Default)]
pub(crate) struct FieldIndex {
    members: Vec<Member>,
    /// The members say nothing: there are too many, or the text is not what was walked.
    unusable: bool,
    tags: Vec<&'static str>,
}

#[derive(Debug, Clone)]
struct Member {
    /// The id of the member that this one is inside of; `None` for one of the whole value.
    parent: Option<usize>,
    /// Where its name began in the text that was walked.
    id: usize,
    name: Range<usize>,
    value: Range<usize>,
}

/// What was seen of a text with slots, each of which may be longer or shorter in another one.
#[derive(Debug)]
pub(crate) struct StoredIndex {
    members: Vec<(Member, [u8; 3])>,
    unusable: bool,
    tags: Vec<&'static str>,
}

impl StoredIndex {
    /// The field_index of another text, in the room of field_index that nobody needs any more. `by` says how far each place has moved
    /// (and wraps), by the number of slots before it.
    pub(crate) fn moved(&self, scratch: FieldIndex, by: &[usize]) -> FieldIndex {
        let mut field_index = scratch.cleared();
        field_index.unusable = self.unusable;
        field_index.tags.extend(&self.tags);
        field_index.members.extend(self.members.iter().map(|(Member { parent, id, name, value }, behind)| {
            let to = |place: usize, behind: u8| place.wrapping_add(by[usize::from(behind)]);
            let start = to(name.start, behind[0]);
            let value = to(value.start, behind[1])..to(value.end, behind[2]);
            Member { parent: *parent, id: *id, name: start..start + name.len(), value }
        }));
        field_index
    }
}

impl FieldIndex {
    /// Notes a member, by its places in the text.
    pub(super) fn member(&mut self, parent: Option<usize>, name: Range<usize>, escaped: bool, value: Range<usize>) {
        self.unusable |= escaped || self.members.len() >= MEMBERS;
        if self.unusable {
            return;
        }
        self.members.push(Member { parent, id: name.start, name, value });
    }

    /// Notes the variant of a union.
    pub(super) fn tag(&mut self, tag: &'static str) {
        if !self.tags.contains(&tag) {
            self.tags.push(tag);
        }
    }

    /// The same for a text with slots, of which so many are before a place.
    pub(crate) fn stored(&self, before: impl Fn(usize) -> u8) -> StoredIndex {
        let stored = |member: &Member| {
            let Member { name, value, .. } = member;
            (member.clone(), [before(name.start), before(value.start), before(value.end)])
        };
        StoredIndex {
            members: self.members.iter().map(stored).collect(),
            unusable: self.unusable,
            tags: self.tags.clone(),
        }
    }

    /// Nothing seen, with the room that there was.
    pub(crate) fn cleared(mut self) -> Self {
        self.members.clear();
        self.tags.clear();
        self.unusable = false;
        self
    }

    /// The text is another one now.
    pub(crate) fn invalidate(&mut self) {
        self.unusable = true;
    }

    /// Whether there may be a union with this tag in the value.
    pub(crate) fn may_have(&self, tag: &str) -> bool {
        self.tags.contains(&tag)
    }

    /// The JSON at a pointer into the value, in the text that was walked; `Err` when only the text can tell.
    pub(crate) fn find<'t>(&self, text: &'t str, pointer: &str) -> Result<Option<&'t str>, ()> {
        let path = pointer.strip_prefix('/').filter(|_| !self.unusable && !self.members.is_empty()).ok_or(())?;
        let (first, rest) = step(path);
        let Some(outer) = self.look_up(text, None, first) else { return Ok(None) };
        let value = &text[outer.value.clone()];
        let Some(path) = rest.strip_prefix('/') else { return Ok(Some(value)) };
        let parent = Some(outer.id);
        let (second, deeper) = step(path);
        Ok(match self.look_up(text, parent, second) {
            Some(inner) if deeper.is_empty() => Some(&text[inner.value.clone()]),
            Some(inner) => json::pointer(&text[inner.value.clone()], deeper),
            None if self.members.iter().any(|member| member.parent == parent) => None,
            None => json::pointer(value, rest),
        })
    }

    fn look_up(&self, text: &str, parent: Option<usize>, name: &str) -> Option<&Member> {
        let name = name.as_bytes();
        let is = |member: &&Member| {
            member.name.len() == name.len() && member.parent == parent && text.as_bytes()[member.name.clone()] == *name
        };
        self.members.iter().find(is)
    }
}

/// The first step of a path, and the rest with its slash.
fn step(path: &str) -> (&str, &str) {
    path.split_at(path.bytes().position(|byte| byte == b'/').unwrap_or(path.len()))
}
