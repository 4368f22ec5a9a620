//! What generated files say about types, members and methods: the model's sentences, and those that its marks amount to.

use crate::model::{Code, Field, GateForm, Is, Method, Shape, TypeDef};

/// Where the specification's pages are read.
const SITE: &str = "https://agentclientprotocol.com/";

/// What is said about a type, a member or a method.
#[derive(Debug, Clone, Default)]
pub(crate) struct About {
    /// Sentences, the model's first.
    pub(crate) text: Vec<String>,
    /// Address of its page of the specification.
    pub(crate) see: Option<String>,
    /// The draft it belongs to.
    pub(crate) draft: Option<String>,
}

impl About {
    /// About a type.
    pub(crate) fn of_type(def: &TypeDef) -> Self {
        let mut text: Vec<String> = def.doc.iter().cloned().collect();
        if let Shape::Enum { values, open } = &def.shape {
            let documented = values.iter().filter(|(_, word)| !word.doc.is_empty());
            text.extend(documented.map(|(value, word)| format!("- `{value}`: {}", word.doc)));
            if *open {
                text.push("Other values are legal.".to_owned());
            }
        }
        if let Shape::Codes(codes) = &def.shape {
            let line = |(number, code): (&String, &Code)| {
                let doc = code.doc.as_ref().map(|doc| format!(": {doc}")).unwrap_or_default();
                format!("- `{number}` `{}`{doc}", code.name)
            };
            text.extend(codes.iter().map(line));
        }
        if let Shape::String { is: Some(is) } = &def.shape {
            text.extend(meaning(*is).map(str::to_owned));
        }
        Self { text, see: def.page.as_deref().map(address), draft: def.draft.clone() }
    }

    /// About a member.
    pub(crate) fn of_field(field: &Field) -> Self {
        let mut text: Vec<String> = field.doc.iter().cloned().collect();
        if let Some(is) = field.is {
            text.extend(meaning(is).map(str::to_owned));
        }
        match (field.minimum, field.maximum) {
            (Some(low), Some(high)) => text.push(format!("From {low} to {high}.")),
            (Some(low), None) => text.push(format!("At least {low}.")),
            (None, Some(high)) => text.push(format!("At most {high}.")),
            (None, None) => {}
        }
        if let Some(least) = field.min_items {
            text.push(format!("At least {least} item{}.", if least == 1 { "" } else { "s" }));
        }
        if field.patch {
            text.push("Absent keeps what is known, null clears it, a value replaces it.".to_owned());
        }
        if let Some(default) = &field.default {
            text.push(format!("Absent means `{default}`."));
        }
        if let Some(rule) = &field.rule {
            text.push(format!("Rule {rule}."));
        }
        Self { text, see: None, draft: field.draft.clone() }
    }

    /// About a method.
    pub(crate) fn of_method(method: &Method) -> Self {
        let mut text: Vec<String> = method.doc.iter().cloned().collect();
        if let Some(gate) = &method.gate {
            let value = if gate.form == GateForm::Boolean { " to be `true`" } else { "" };
            let rule = method.gate_rule.as_ref().map(|rule| format!(" (rule {rule})")).unwrap_or_default();
            text.push(format!("Needs the {}'s capability `{}`{value}{rule}.", gate.of.name(), gate.path));
        }
        Self { text, see: method.page.as_deref().map(address), draft: method.draft.clone() }
    }
}

/// Where a page of the specification is read.
pub(super) fn address(page: &str) -> String {
    format!("{SITE}{page}")
}

fn meaning(is: Is) -> Option<&'static str> {
    Some(match is {
        // What an id or a name should be goes without saying.
        Is::Name => return None,
        Is::AbsolutePath => "An absolute path.",
        Is::Line => "Lines count from 1.",
        Is::Uri => "A URI.",
        Is::Base64 => "In base64.",
        Is::DateTime => "A time as in ISO 8601.",
        Is::Currency => "A currency code as in ISO 4217.",
        Is::Icon => "An `https:` or `data:` URI.",
    })
}

/// Breaks a text into lines of at most `width` characters, between words.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::TypeExpr;

    #[test]
    fn says_what_the_marks_of_a_member_mean() {
        let mut field = Field::new(TypeExpr::Double);
        assert!(About::of_field(&field).text.is_empty());
        field.doc = Some("How loud it is.".to_owned());
        (field.minimum, field.maximum) = (Some(0), Some(1));
        field.default = Some(json!(false));
        field.rule = Some("A-1".to_owned());
        field.draft = Some("nes".to_owned());
        let about = About::of_field(&field);
        assert_eq!(about.text, ["How loud it is.", "From 0 to 1.", "Absent means `false`.", "Rule A-1."]);
        assert_eq!(about.draft.as_deref(), Some("nes"));
    }

    #[test]
    fn breaks_lines_between_words() {
        assert_eq!(wrap("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrap("longer than that", 3), ["longer", "than", "that"]);
        assert!(wrap(" ", 3).is_empty());
    }
}
