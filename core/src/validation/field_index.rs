//! An index of the members that validation has seen, so that rules find them without parsing the text again.
//!
//! It has the members of the whole value and of the objects directly in it, as far as the schema describes them. A member
//! is identified by the offset of its name in the text that was validated (`id`). The `parent` of a member is the `id` of the
//! member whose value it is in, or `None` for a member of the whole value. A stored index is moved to the offsets of another
//! text without changing ids, as they only connect members with each other.

use std::ops::Range;

use crate::json;

/// Maximum number of members in the index. Of a value with more, the text is parsed.
const MEMBERS: usize = 64;

/// The places of members, and the tags of the unions in the value.
#[derive(Debug, Default)]
pub(crate) struct FieldIndex {
    members: Vec<Member>,
    /// The places cannot be used: there are too many members, a name has escapes, or the text has been repaired since.
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

/// The index of a template: each place with the number of slots before it, by which it moves in another text.
#[derive(Debug)]
pub(crate) struct StoredIndex {
    members: Vec<(Member, [u8; 3])>,
    unusable: bool,
    tags: Vec<&'static str>,
}

impl StoredIndex {
    /// Rebases the index onto another text, reusing the allocation of `scratch`. `by` is how far a place has moved, by the
    /// number of slots before it; the numbers wrap.
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

impl Member {
    /// Whether it has this name. Most names differ in their length.
    #[inline]
    fn is(&self, text: &str, name: &str) -> bool {
        self.name.end - self.name.start == name.len() && text.as_bytes()[self.name.clone()] == *name.as_bytes()
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

    /// The index as a template keeps it. `before` is the number of slots before a place.
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

    /// An empty index in the same allocation.
    pub(crate) fn cleared(mut self) -> Self {
        self.members.clear();
        self.tags.clear();
        self.unusable = false;
        self
    }

    /// Marks the places as unusable: the text has changed.
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

    /// Some members of such an object, each where it stands first.
    #[inline]
    pub(crate) fn pick<'t, const N: usize>(
        &self,
        text: &'t str,
        outer: &str,
        names: [&str; N],
    ) -> Option<[Option<&'t str>; N]> {
        if self.unusable {
            return None;
        }
        let parent = self.look_up(text, None, outer)?.id;
        let (mut found, mut any) = ([None; N], false);
        for member in &self.members {
            if member.parent != Some(parent) {
                continue;
            }
            any = true;
            for at in 0..N {
                if member.is(text, names[at]) && found[at].is_none() {
                    found[at] = Some(&text[member.value.clone()]);
                }
            }
        }
        any.then_some(found)
    }

    fn look_up(&self, text: &str, parent: Option<usize>, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.parent == parent && member.is(text, name))
    }
}

/// The first step of a path, and the rest with its slash.
fn step(path: &str) -> (&str, &str) {
    path.split_at(path.bytes().position(|byte| byte == b'/').unwrap_or(path.len()))
}
