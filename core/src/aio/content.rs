//! Conversions from text to the types that it can stand for.

use crate::schema::{v1, Str};

impl<'a> From<&'a str> for v1::ContentBlock<'a> {
    fn from(text: &'a str) -> Self {
        v1::TextContent::new(text).into()
    }
}

impl<'a> From<&'a String> for v1::ContentBlock<'a> {
    fn from(text: &'a String) -> Self {
        text.as_str().into()
    }
}

impl<'a> From<String> for v1::ContentBlock<'a> {
    fn from(text: String) -> Self {
        v1::TextContent::new(Str::<'a>::from(text)).into()
    }
}

/// A pending entry of medium priority.
impl<'a> From<&'a str> for v1::PlanEntry<'a> {
    fn from(step: &'a str) -> Self {
        v1::PlanEntry::new(step, v1::PlanEntryPriority::Medium, v1::PlanEntryStatus::Pending)
    }
}

/// The content of a prompt. Created from text, from a content block, or from several of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt<'a>(pub(super) Vec<v1::ContentBlock<'a>>);

impl<'a> From<&'a str> for Prompt<'a> {
    fn from(text: &'a str) -> Self {
        Prompt(vec![text.into()])
    }
}

impl<'a> From<&'a String> for Prompt<'a> {
    fn from(text: &'a String) -> Self {
        text.as_str().into()
    }
}

impl From<String> for Prompt<'_> {
    fn from(text: String) -> Self {
        Prompt(vec![text.into()])
    }
}

impl<'a> From<v1::ContentBlock<'a>> for Prompt<'a> {
    fn from(block: v1::ContentBlock<'a>) -> Self {
        Prompt(vec![block])
    }
}

impl<'a> From<Vec<v1::ContentBlock<'a>>> for Prompt<'a> {
    fn from(blocks: Vec<v1::ContentBlock<'a>>) -> Self {
        Prompt(blocks)
    }
}
