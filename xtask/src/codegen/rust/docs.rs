//! The documentation of types and members: the model's descriptions, and where they come from.

use crate::model::{Field, TypeDef};

/// The first line of a file.
pub(super) fn area(area: &str, version: u16) -> String {
    format!("Types of version {version} of the protocol: {}.", area.replace('_', " "))
}

/// The comment of a type.
pub(super) fn of_type(name: &str, def: &TypeDef) -> String {
    let page = def.page.as_ref().map(|page| format!("See <https://agentclientprotocol.com/{page}>."));
    let own = sentence(def.doc.as_deref(), || format!("The type `{name}` of the specification."));
    lines(&own, &[page, def.draft.as_deref().map(draft)])
}

/// The comment of a member.
pub(super) fn of_member(name: &str, field: &Field) -> String {
    let own = sentence(field.doc.as_deref(), || format!("The member `{name}` of the specification."));
    let rule = field.rule.as_ref().map(|rule| format!("Rule {rule}."));
    lines(&own, &[rule, field.draft.as_deref().map(draft)])
}

/// The comment of a value of an enum.
pub(super) fn of_value(doc: &str, value: &str) -> String {
    lines(&sentence(Some(doc), || format!("The value `{value}`.")), &[])
}

/// The comment of a variant of a union.
pub(super) fn of_variant(doc: Option<&str>, tag: &str, in_draft: Option<&str>) -> String {
    lines(&sentence(doc, || format!("The variant `{tag}`.")), &[in_draft.map(draft)])
}

fn draft(name: &str) -> String {
    format!("Draft `{name}`: may still change.")
}

fn sentence(doc: Option<&str>, other: impl Fn() -> String) -> String {
    doc.filter(|doc| !doc.is_empty()).map_or_else(other, str::to_owned)
}

/// The lines of a comment: the sentence, then a paragraph with the notes.
fn lines(own: &str, notes: &[Option<String>]) -> String {
    let notes: Vec<_> = notes.iter().flatten().map(String::as_str).collect();
    let mut out = wrap(own);
    if !notes.is_empty() {
        out += "///\n";
        out += &wrap(&notes.join(" "));
    }
    out
}

/// Wraps text at 100 columns, so that lines stay within the project's width at any indentation.
fn wrap(text: &str) -> String {
    let mut out = String::new();
    let mut width = 0;
    for word in text.split_whitespace() {
        if width == 0 || width + 1 + word.len() > 100 {
            out += if out.is_empty() { "/// " } else { "\n/// " };
            width = 0;
        } else {
            out.push(' ');
            width += 1;
        }
        out += word;
        width += word.len();
    }
    out + "\n"
}
