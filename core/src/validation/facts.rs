//! What a walk has seen of a value on its way, so that nobody needs to go through it again for that.

use std::ops::Range;

use crate::json;

/// Members that are remembered; what has more is looked up the long way.
const MEMBERS: usize = 64;

/// Where the members of the outermost objects stand, and which variants there are.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    members: Vec<Member>,
    /// The members say nothing: there are too many, or the text is not what was walked.
    blurred: bool,
    tags: Vec<&'static str>,
}

#[derive(Debug)]
struct Member {
    /// Where the name of the member begins that this one is inside of; `None` for one of the whole value.
    parent: Option<usize>,
    name: Range<usize>,
    value: Range<usize>,
}

impl Facts {
    /// Notes a member, by its places in the text.
    pub(super) fn member(&mut self, parent: Option<usize>, name: Range<usize>, escaped: bool, value: Range<usize>) {
        self.blurred |= escaped || self.members.len() >= MEMBERS;
        if self.blurred {
            return;
        }
        self.members.push(Member { parent, name, value });
    }

    /// Notes the variant of a union.
    pub(super) fn tag(&mut self, tag: &'static str) {
        if !self.tags.contains(&tag) {
            self.tags.push(tag);
        }
    }

    /// The same at other places of another text, in the room of facts that nobody needs any more.
    pub(crate) fn moved(&self, spare: Self, to: impl Fn(usize) -> usize) -> Self {
        let range = |range: &Range<usize>| to(range.start)..to(range.end);
        let mut facts = spare.cleared();
        facts.members.extend(self.members.iter().map(|Member { parent, name, value }| Member {
            parent: parent.map(&to),
            name: range(name),
            value: range(value),
        }));
        facts.tags.extend(&self.tags);
        facts.blurred = self.blurred;
        facts
    }

    /// Nothing seen, with the room that there was.
    pub(crate) fn cleared(mut self) -> Self {
        self.members.clear();
        self.tags.clear();
        self.blurred = false;
        self
    }

    /// The text is another one now.
    pub(crate) fn blur(&mut self) {
        self.blurred = true;
    }

    /// Whether there may be a union with this tag in the value.
    pub(crate) fn may_have(&self, tag: &str) -> bool {
        self.tags.contains(&tag)
    }

    /// The JSON at a pointer into the value, in the text that was walked; `Err` when only the text can tell.
    pub(crate) fn find<'t>(&self, text: &'t str, pointer: &str) -> Result<Option<&'t str>, ()> {
        let path = pointer.strip_prefix('/').filter(|_| !self.blurred && !self.members.is_empty()).ok_or(())?;
        let (first, rest) = step(path);
        let Some(outer) = self.look_up(text, None, first) else { return Ok(None) };
        let value = &text[outer.value.clone()];
        let parent = Some(outer.name.start);
        let Some(path) = rest.strip_prefix('/') else { return Ok(Some(value)) };
        if !self.members.iter().any(|member| member.parent == parent) {
            return Ok(json::pointer(value, rest));
        }
        let (second, rest) = step(path);
        let inner = self.look_up(text, parent, second);
        Ok(inner.and_then(|inner| match rest {
            "" => Some(&text[inner.value.clone()]),
            rest => json::pointer(&text[inner.value.clone()], rest),
        }))
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
