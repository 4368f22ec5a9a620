//! The book's page of all messages, for those who write and read them as JSON: each member with its JSON pointer.
//!
//! Objects are unfolded where they stand. What has several forms (a union, an enumeration) has a section of its own, whose
//! pointers go on from where it is named.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use indexmap::IndexSet;

use super::about::About;
use super::MARK;
use crate::model::{Body, Fields, Flat, Kind, Method, Open, Sender, Shape, TypeDef, TypeExpr, Union, Version};

const HEAD: &str = "\
Params and results of every method of version VERSION, for hosts that write and read JSON themselves (`acp_json_…`,
`acp_writer_…`, `acp::Json`, `acp::Writer`). A pointer is the argument of `acp_json_find` and similar functions; `0` in it stands
for any index of a list, `*` for any name. A member without *required* may be omitted. If the type is a link, append the pointers
of that section to the pointer. Every object may have a `_meta`, an object with extension data.

";

/// The page of one version.
pub(super) fn page(version: &Version) -> Result<String> {
    let mut page = Page { version, named: IndexSet::new(), out: String::new() };
    let _ = write!(page.out, "<!-- {MARK} -->\n\n# Messages of version {}\n\n", version.number);
    page.out.push_str(&HEAD.replace("VERSION", &version.number.to_string()));
    for sender in [Sender::Client, Sender::Agent, Sender::Both] {
        let says = match sender {
            Sender::Client => "What clients send",
            Sender::Agent => "What agents send",
            Sender::Both => "What both send",
        };
        let methods = version.methods.iter().filter(|(_, method)| method.from == sender);
        let _ = write!(page.out, "## {says}\n\n");
        for (name, method) in methods {
            page.method(name, method)?;
        }
    }
    page.out.push_str("## Parts\n\n");
    // A section may name more of them.
    let mut at = 0;
    while let Some(name) = page.named.get_index(at).cloned() {
        page.part(&name)?;
        at += 1;
    }
    Ok(page.out.trim_end().to_owned() + "\n")
}

struct Page<'m> {
    version: &'m Version,
    /// Types that have a section, in the order in which they were named.
    named: IndexSet<String>,
    out: String,
}

impl<'m> Page<'m> {
    fn def(&self, name: &str) -> Result<&'m TypeDef> {
        self.version.types.get(name).with_context(|| format!("no type {name}"))
    }

    fn about(&mut self, about: &About) {
        for line in about.text.iter().cloned().chain(about.draft.iter().map(|draft| format!("Draft `{draft}`."))) {
            let _ = writeln!(self.out, "{line}");
        }
        self.out.push('\n');
    }

    fn method(&mut self, name: &str, method: &Method) -> Result<()> {
        let kind = match method.kind {
            Kind::Request => "request",
            Kind::Notification => "notification",
            Kind::Both => "request or notification",
        };
        let _ = write!(self.out, "### {name}\n\nA {kind}. ");
        self.about(&About::of_method(method));
        let forms = [
            ("Params", Some(&method.params)),
            ("Params of the notification", method.notification_params.as_ref()),
            ("Result", method.result.as_ref()),
        ];
        for (what, of) in forms {
            if let Some(of) = of {
                let _ = write!(self.out, "{what}:\n\n");
                self.table(of)?;
            }
        }
        Ok(())
    }

    fn part(&mut self, name: &str) -> Result<()> {
        let def = self.def(name)?;
        let _ = write!(self.out, "### {name}\n\n");
        self.about(&About::of_type(def));
        match &def.shape {
            Shape::Union(union) => self.union(union),
            Shape::AnyOf { of, .. } => self.forms("One of", of),
            Shape::Object { .. } => self.table(name),
            _ => Ok(()),
        }
    }

    /// The members of a type, or what it is.
    fn table(&mut self, name: &str) -> Result<()> {
        let Shape::Object { fields, flat } = &self.def(name)?.shape else {
            let link = self.linked(&TypeExpr::Named(name.to_owned()));
            let _ = write!(self.out, "{link}\n\n");
            return Ok(());
        };
        let mut rows = Vec::new();
        self.rows(&mut rows, "", fields, &mut vec![name.to_owned()])?;
        if rows.is_empty() && flat.is_none() {
            self.out.push_str("An empty object.\n\n");
        }
        self.write(&rows);
        match flat {
            Some(Flat::Union(union)) => self.union(union)?,
            Some(Flat::AnyOf(of)) => self.forms("And the members of one of", of)?,
            None => {}
        }
        Ok(())
    }

    /// Forms that no member tells apart, and the members of those that are objects.
    fn forms(&mut self, head: &str, of: &[TypeExpr]) -> Result<()> {
        let forms: Vec<String> = of.iter().map(|form| self.linked(form)).collect();
        let _ = write!(self.out, "{head}: {}.\n\n", forms.join(", "));
        for (number, (form, shown)) in of.iter().zip(forms).enumerate() {
            let (at, Some(name)) = unfolded("", form) else { continue };
            let Shape::Object { fields, flat: None } = &self.def(name)?.shape else { continue };
            let mut rows = Vec::new();
            self.rows(&mut rows, &at, fields, &mut vec![name.to_owned()])?;
            let end = if rows.is_empty() { " without members of its own" } else { "" };
            let _ = write!(self.out, "Form {}, {shown}{end}:\n\n", number + 1);
            self.write(&rows);
        }
        Ok(())
    }

    fn union(&mut self, union: &Union) -> Result<()> {
        let bodies = union.variants.iter().map(|(tag, variant)| (Some(tag), &variant.body, variant.doc.clone()));
        for (tag, body, doc) in bodies.chain(union.untagged.iter().map(|body| (None, body, None))) {
            let head = match tag {
                Some(tag) => format!("With `/{}` as `\"{tag}\"`", union.tag),
                None => format!("Without `/{}`", union.tag),
            };
            let mut rows = Vec::new();
            let doc = match body {
                Body::Named(name) => {
                    let def = self.def(name)?;
                    match &def.shape {
                        Shape::Object { fields, flat: None } => {
                            self.rows(&mut rows, "", fields, &mut vec![name.clone()])?;
                        }
                        _ => rows.push([
                            "(its members)".to_owned(),
                            self.linked(&TypeExpr::Named(name.clone())),
                            String::new(),
                        ]),
                    }
                    doc.or_else(|| def.doc.clone())
                }
                Body::Fields(fields) => {
                    self.rows(&mut rows, "", fields, &mut Vec::new())?;
                    doc
                }
            };
            let doc = doc.map(|doc| format!(": {doc}")).unwrap_or_default();
            let end = if rows.is_empty() { " No members of its own." } else { "" };
            let _ = write!(self.out, "{head}{doc}{end}\n\n");
            self.write(&rows);
        }
        if let Open::With(_) = union.open {
            let _ = write!(self.out, "Other values of `/{}` are legal.\n\n", union.tag);
        }
        Ok(())
    }

    /// The members below a pointer; `inside` are the objects that are being unfolded.
    fn rows(&mut self, rows: &mut Vec<[String; 3]>, at: &str, fields: &Fields, inside: &mut Vec<String>) -> Result<()> {
        for (name, field) in fields {
            let pointer = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
            let about = About::of_field(field);
            let required = if field.is_always_there() { "*required*" } else { "" };
            let draft = about.draft.iter().map(|draft| format!("Draft `{draft}`."));
            let text: Vec<String> =
                [required.to_owned()].into_iter().chain(about.text.iter().cloned()).chain(draft).collect();
            let text = text.join(" ").trim().replace('|', "\\|").replace('\n', " ");
            let null = if field.null { " or null" } else { "" };
            let constant = field.constant.as_ref().map(|value| format!("`{value}`"));
            let ty = constant.unwrap_or_else(|| self.linked(&field.ty));
            rows.push([format!("`{pointer}`"), format!("{ty}{null}"), text]);
            let (below, inner) = unfolded(&pointer, &field.ty);
            if let Some(inner) = inner.filter(|inner| !inside.iter().any(|name| name == inner)) {
                if let Shape::Object { fields, flat: None } = &self.def(inner)?.shape {
                    inside.push(inner.to_owned());
                    self.rows(rows, &below, fields, inside)?;
                    inside.pop();
                }
            }
        }
        Ok(())
    }

    fn write(&mut self, rows: &[[String; 3]]) {
        if !rows.is_empty() {
            self.out.push_str("| pointer | type | |\n| --- | --- | --- |\n");
            for [pointer, ty, text] in rows {
                let _ = writeln!(self.out, "| {pointer} | {ty} | {text} |");
            }
            self.out.push('\n');
        }
    }

    /// A type as text, with a link where it has a section of its own.
    fn linked(&mut self, ty: &TypeExpr) -> String {
        match ty {
            TypeExpr::List(item) => format!("list of {}", self.linked(item)),
            TypeExpr::Map(value) => format!("object of {}", self.linked(value)),
            TypeExpr::Named(name) => match self.version.types.get(name).map(|def| &def.shape) {
                Some(Shape::Object { flat: None, .. }) => "object".to_owned(),
                Some(Shape::String { .. }) => "string".to_owned(),
                Some(Shape::Integer(int)) => int.name().to_owned(),
                Some(Shape::Alias(of)) => self.linked(of),
                _ => {
                    self.named.insert(name.clone());
                    format!("[{name}](#{})", name.to_lowercase())
                }
            },
            other => other.to_string(),
        }
    }
}

/// Where the object that a member holds, or a list or a map of them, goes on, and its name.
fn unfolded<'t>(pointer: &str, ty: &'t TypeExpr) -> (String, Option<&'t str>) {
    match ty {
        TypeExpr::Named(name) => (pointer.to_owned(), Some(name)),
        TypeExpr::List(item) => unfolded(&format!("{pointer}/0"), item),
        TypeExpr::Map(value) => unfolded(&format!("{pointer}/*"), value),
        _ => (pointer.to_owned(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{self, Model};
    use std::path::Path;

    #[test]
    fn every_method_and_every_pointer_of_a_prompt_are_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let model: Model = model::load::model(&root.join(model::FOLDER)).unwrap();
        for version in &model.versions {
            let page = page(version).unwrap();
            for name in version.methods.keys() {
                assert!(page.contains(&format!("\n### {name}\n")), "{name}");
            }
            // Whatever is linked has a section.
            for link in page.split("](#").skip(1).filter_map(|rest| rest.split(')').next()) {
                assert!(page.to_lowercase().contains(&format!("\n### {link}\n")), "{link}");
            }
        }
        let page = page(&model.versions[0]).unwrap();
        for row in [
            "| `/prompt` | list of [ContentBlock]",
            "| `/options/0/optionId` |",
            "With `/sessionUpdate` as `\"plan\"`",
            // Of forms that no member tells apart.
            "| `/hint` |",
            "| `/0/options/0/value` |",
        ] {
            assert!(page.contains(row), "{row}");
        }
    }
}
