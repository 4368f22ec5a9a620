//! What a walk found in a value, so that later look-ups need not search the text again.

use std::ops::Range;

use crate::json;

/// The maximum number of members that are recorded. Values with more are searched in the text.
const MEMBERS: usize = 64;

/// The positions of the members of the outermost objects, and the tags of unions.
#[derive(Debug, Default)]
pub(crate) struct FieldIndex {
    members: Vec<Member>,
    /// The members cannot be used: there were too many, or the text has changed.
    unusable: bool,
    tags: Vec<&'static str>,
}

#[derive(Debug, Clone)]
struct Member {
    /// The id of the member that contains this one; `None` for a member of the value itself.
    parent: Option<usize>,
    /// The start of its name in the text that was walked.
    id: usize,
    name: Range<usize>,
    value: Range<usize>,
}

/// FieldIndex about a text with slots, whose lengths may differ in another text.
#[derive(Debug)]
pub(crate) struct StoredIndex {
    members: Vec<(Member, [u8; 3])>,
    unusable: bool,
    tags: Vec<&'static str>,
}

impl StoredIndex {
    /// The field_index about another text, reusing the memory of old field_index. `by` has the distance that each position has
    /// moved (wrapping), indexed by the number of slots before it.
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
    /// Records a member, by its positions in the text.
    pub(super) fn member(&mut self, parent: Option<usize>, name: Range<usize>, escaped: bool, value: Range<usize>) {
        self.unusable |= escaped || self.members.len() >= MEMBERS;
        if self.unusable {
            return;
        }
        self.members.push(Member { parent, id: name.start, name, value });
    }

    /// Records the tag of a union.
    pub(super) fn tag(&mut self, tag: &'static str) {
        if !self.tags.contains(&tag) {
            self.tags.push(tag);
        }
    }

    /// These field_index for a text with slots. `before` counts the slots before a position.
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

    /// Empty field_index that reuse the memory.
    pub(crate) fn cleared(mut self) -> Self {
        self.members.clear();
        self.tags.clear();
        self.unusable = false;
        self
    }

    /// Invalidates the members because the text has changed.
    pub(crate) fn invalidate(&mut self) {
        self.unusable = true;
    }

    /// Whether the value may contain a union with this tag.
    pub(crate) fn may_have(&self, tag: &str) -> bool {
        self.tags.contains(&tag)
    }

    /// The JSON at a pointer into the value, in the text that was walked; `Err` if the text itself has to be searched.
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

    /// The members of the object that is a member of the value, with their names; `None` when only the text can tell.
    pub(crate) fn members_of<'t, 'f: 't>(
        &'f self,
        text: &'t str,
        outer: &str,
    ) -> Option<impl Iterator<Item = (&'t str, &'t str)> + use<'t, 'f>> {
        if self.unusable {
            return None;
        }
        let parent = Some(self.look_up(text, None, outer)?.id);
        self.members.iter().find(|member| member.parent == parent)?;
        let inside = self.members.iter().filter(move |member| member.parent == parent);
        Some(inside.map(move |member| (&text[member.name.clone()], &text[member.value.clone()])))
    }

    /// Two members of such an object, each where it stands first.
    pub(crate) fn pick<'t>(&self, text: &'t str, outer: &str, names: [&str; 2]) -> Option<[Option<&'t str>; 2]> {
        if self.unusable {
            return None;
        }
        let parent = self.look_up(text, None, outer)?.id;
        let (mut found, mut any) = ([None; 2], false);
        for member in self.members.iter().filter(|member| member.parent == Some(parent)) {
            any = true;
            let name = &text.as_bytes()[member.name.clone()];
            for (wanted, place) in names.iter().zip(&mut found) {
                if name == wanted.as_bytes() && place.is_none() {
                    *place = Some(&text[member.value.clone()]);
                }
            }
        }
        any.then_some(found)
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
