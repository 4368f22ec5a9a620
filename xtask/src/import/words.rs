//! Finds what people still have to say in the model.

use super::merge::{self, UNNAMED};
use crate::model::{Body, Fields, Model, TypeDef, Version};

/// Members that need no sentence: their names say all.
const PLAIN: &[&str] = &[
    "name",
    "title",
    "description",
    "message",
    "uri",
    "url",
    "path",
    "command",
    "args",
    "mimeType",
    "text",
    "label",
    "email",
    "organization",
    "data",
    "code",
    "method",
    "params",
    "result",
    "error",
    "id",
];

/// One line per type, member or method without words, and per draft without a name.
pub(super) fn lacking(model: &Model) -> Vec<String> {
    let mut lines = Vec::new();
    for version in &model.versions {
        let area_of = version.area_of();
        for (name, def) in &version.types {
            let area = area_of.get(name.as_str()).copied().unwrap_or_default();
            let at = format!("{}/{area}.json: {name}", version.folder());
            if def.doc.is_none() {
                lines.push(at.clone());
            }
            named(&at, def.draft.as_ref(), &mut lines);
            members(version, &at, def, &mut lines);
        }
        for (name, method) in &version.methods {
            let at = format!("{}/methods.json: {name}", version.folder());
            if method.doc.is_none() {
                lines.push(at.clone());
            }
            named(&at, method.draft.as_ref(), &mut lines);
        }
    }
    lines
}

fn members(version: &Version, at: &str, def: &TypeDef, lines: &mut Vec<String>) {
    if let Some(object) = merge::object(def) {
        fields(version, at, object, lines);
    }
    let Some(union) = merge::union(def) else {
        return;
    };
    for (tag, variant) in &union.variants {
        let at = format!("{at} › {tag}");
        named(&at, variant.draft.as_ref(), lines);
        if let Body::Fields(object) = &variant.body {
            fields(version, &at, object, lines);
        }
    }
}

fn fields(version: &Version, at: &str, fields: &Fields, lines: &mut Vec<String>) {
    for (name, field) in fields {
        let typed = field.ty.named().and_then(|name| version.types.get(name)).is_some_and(|def| def.doc.is_some());
        if field.doc.is_none() && !typed && !PLAIN.contains(&name.as_str()) {
            lines.push(format!("{at} › {name}"));
        }
        named(&format!("{at} › {name}"), field.draft.as_ref(), lines);
    }
}

fn named(at: &str, draft: Option<&String>, lines: &mut Vec<String>) {
    if draft.is_some_and(|draft| draft == UNNAMED) {
        lines.push(format!("{at}: the draft has no name"));
    }
}
