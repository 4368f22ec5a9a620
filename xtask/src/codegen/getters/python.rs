//! Python: methods and properties of the class `Connection`, and the same part of its stub.

use std::fmt::Write as _;

use super::{choice, json_list, value, Owner, Said, ALLOWED};
use crate::codegen::about::wrap;
use crate::codegen::MARK;
use crate::model::getters::{Getter, Getters, Language, Parameter, Shape, Takes};

/// As `python/tests/stub_docs.py` has it.
const WIDTH: usize = 112;

fn all(getters: &Getters, owner: Owner) -> Vec<&Getter> {
    let all: Vec<&Getter> = match owner {
        Owner::Connection => getters.all().collect(),
        Owner::Observer => getters.of_observers().collect(),
    };
    all.into_iter().filter(|getter| getter.is_in(Language::Python)).collect()
}

/// `python/src/getters.rs`.
pub(in crate::codegen) fn file(getters: &Getters) -> String {
    let mut out = format!(
        "// {MARK}\n//! What can be asked of a connection, and of an observer.\n\n\
         {ALLOWED}\
         use std::collections::BTreeMap;\n\n\
         use libacp::json::list;\nuse pyo3::prelude::*;\n\n\
         use crate::config::Config;\nuse crate::connection::Connection;\nuse crate::json;\n\
         use crate::known::{{OpenRequest, Session, TerminalRef}};\nuse crate::observer::Observer;\nuse crate::value;\n\n\
         #[pymethods]\nimpl Connection {{\n"
    );
    for getter in all(getters, Owner::Connection) {
        method(&mut out, getters, getter);
    }
    out.push_str("}\n\n#[pymethods]\nimpl Observer {\n");
    for getter in all(getters, Owner::Observer) {
        method(&mut out, getters, getter);
    }
    out + "}\n"
}

fn method(out: &mut String, getters: &Getters, getter: &Getter) {
    for (number, paragraph) in documentation(getters, getter).iter().enumerate() {
        if number > 0 {
            out.push_str("    ///\n");
        }
        for line in wrap(paragraph, 108) {
            let _ = writeln!(out, "    /// {line}");
        }
    }
    let parameters = getter.parameters();
    if !getter.is_called(Language::Python) {
        out.push_str("    #[getter]\n");
    } else if parameters.iter().any(|parameter| parameter.default.is_some()) {
        let taken = parameters.iter().map(|one| match &one.default {
            Some(default) => format!("{}={default:?}", one.name),
            None => one.name.clone(),
        });
        let _ = writeln!(out, "    #[pyo3(signature = ({}))]", taken.collect::<Vec<_>>().join(", "));
    }
    let json = is_json(&getter.gives);
    let mut taken = vec!["&self".to_owned()];
    taken.extend(json.then(|| "py: Python<'_>".to_owned()));
    taken.extend(parameters.iter().map(|parameter| match parameter.kind {
        Takes::Text => format!("{}: &str", parameter.name),
        Takes::Id => format!("{}: &Bound<'_, PyAny>", parameter.name),
        Takes::Number => format!("{}: u64", parameter.name),
    }));
    let found = value("self.core()?", getter, |e| convert(&getter.gives, e));
    let found =
        found.strip_prefix("Some(").and_then(|rest| rest.strip_suffix(')')).map_or(found.clone(), str::to_owned);
    let nothing = getter.may_be_nothing();
    let body = match (json, nothing) {
        (false, _) => format!("Ok({found})"),
        // Python may be called to read the text, and may call back: the connection is let go first.
        (true, false) => format!("let text = {found};\njson::loads(py, &text)"),
        (true, true) => format!("let text = {found};\ntext.map(|text| json::loads(py, &text)).transpose()"),
    };
    let ids = parameters.iter().filter(|parameter| parameter.kind == Takes::Id);
    let ids: Vec<String> = ids.map(|parameter| format!("let {0} = value::id({0})?;\n", parameter.name)).collect();
    let ids = ids.concat();
    let ty = returned(&getter.gives);
    let ty = if nothing { format!("Option<{ty}>") } else { ty.to_owned() };
    let _ = write!(out, "    fn {}({}) -> PyResult<{ty}> {{\n{ids}{body}\n}}\n\n", getter.name, taken.join(", "));
}

/// Whether it comes as JSON text that is read here.
fn is_json(shape: &Shape) -> bool {
    matches!(shape, Shape::Json | Shape::SessionSnapshot | Shape::Rows(_))
}

fn returned(shape: &Shape) -> &'static str {
    match shape {
        Shape::Boolean => "bool",
        Shape::Count => "usize",
        Shape::Uint16 => "u16",
        Shape::Uint64 => "u64",
        Shape::Enum(_) => "&'static str",
        Shape::Text | Shape::Bytes | Shape::RequestId => "String",
        Shape::Json | Shape::SessionSnapshot | Shape::Rows(_) => "Py<PyAny>",
        Shape::Names => "Vec<String>",
        Shape::Config => "Config",
        Shape::Session => "Session",
        Shape::Sessions => "BTreeMap<String, Session>",
        Shape::Request => "OpenRequest",
        Shape::Requests => "Vec<OpenRequest>",
        Shape::Terminals => "Vec<TerminalRef>",
    }
}

fn convert(shape: &Shape, expression: &str) -> String {
    match shape {
        Shape::Enum(_) => format!("{expression}.name()"),
        Shape::Text | Shape::Bytes | Shape::Json | Shape::SessionSnapshot => format!("String::from({expression})"),
        Shape::RequestId => format!("{expression}.id.to_json()"),
        Shape::Names => format!("{expression}.map(str::to_owned).collect()"),
        Shape::Rows(_) => json_list(expression, shape),
        Shape::Config => format!("Config({expression}.clone())"),
        Shape::Session => format!("Session::from({expression})"),
        Shape::Sessions => {
            format!("{expression}.map(|(id, session)| (id.to_string(), Session::from(session))).collect()")
        }
        Shape::Request => format!("OpenRequest::from({expression})"),
        Shape::Requests => format!("{expression}.map(OpenRequest::from).collect()"),
        Shape::Terminals => format!("{expression}.iter().map(TerminalRef::from).collect()"),
        Shape::Boolean | Shape::Count | Shape::Uint16 | Shape::Uint64 => expression.to_owned(),
    }
}

/// The parts of `python/libacp/_native.pyi`.
pub(in crate::codegen) fn part(getters: &Getters, owner: Owner) -> String {
    let mut out = String::new();
    for getter in all(getters, owner) {
        if !getter.is_called(Language::Python) {
            out.push_str("    @property\n");
        }
        let taken: Vec<String> =
            ["self".to_owned()].into_iter().chain(getter.parameters().iter().map(declared)).collect();
        let ty = declared_type(getter);
        let none = if getter.may_be_nothing() { " | None" } else { "" };
        let _ = writeln!(out, "    def {}({}) -> {ty}{none}:", getter.name, taken.join(", "));
        let mut lines = Vec::new();
        for paragraph in documentation(getters, getter) {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.extend(wrap(&paragraph, WIDTH - 8));
        }
        match lines.as_slice() {
            [line] => {
                let _ = writeln!(out, "        \"\"\"{line}\"\"\"");
            }
            lines => {
                let text = lines.join("\n        ").replace("\n        \n", "\n\n");
                let _ = write!(out, "        \"\"\"{text}\n        \"\"\"\n");
            }
        }
    }
    out
}

fn declared(parameter: &Parameter) -> String {
    let default = parameter.default.as_ref().map(|default| format!(" = {default:?}")).unwrap_or_default();
    let ty = match parameter.kind {
        Takes::Text => "str",
        Takes::Id => "Id",
        Takes::Number => "int",
    };
    format!("{}: {ty}{default}", parameter.name)
}

fn declared_type(getter: &Getter) -> String {
    let ty = match &getter.gives {
        _ if getter.python.is_some() => return getter.python.clone().unwrap_or_default(),
        Shape::Boolean => "bool",
        Shape::Count | Shape::Uint16 | Shape::Uint64 => "int",
        Shape::Enum(name) => name,
        Shape::Text | Shape::Bytes | Shape::RequestId => "str",
        Shape::Json | Shape::SessionSnapshot => "Any",
        Shape::Rows(_) => "list[dict[str, Any]]",
        Shape::Names => "list[str]",
        Shape::Config => "Config",
        Shape::Session => "Session",
        Shape::Sessions => "dict[str, Session]",
        Shape::Request => "OpenRequest",
        Shape::Requests => "list[OpenRequest]",
        Shape::Terminals => "list[TerminalRef]",
    };
    ty.to_owned()
}

/// The docstring: paragraphs.
fn documentation(getters: &Getters, getter: &Getter) -> Vec<String> {
    let said = Said::of(getter);
    let mut text = said.text;
    if let Shape::Enum(name) = &getter.gives {
        let _ = write!(text, " One of {}.", choice(&getters.enums[name].values));
    }
    if is_json(&getter.gives) {
        text.push_str(" A new object each time.");
    }
    if let Some(nothing) = said.nothing {
        let _ = write!(text, " `None` {nothing}.");
    }
    let taken = getter.parameters().into_iter().map(|parameter| {
        let wrong = if parameter.kind == Takes::Id { "; raises `TypeError` or `Misuse` for what is none" } else { "" };
        format!("`{}` is {}{wrong}.", parameter.name, parameter.doc)
    });
    let taken = taken.collect::<Vec<_>>().join(" ");
    let see = said.see.map(|see| format!("See {see}"));
    [text].into_iter().chain(Some(taken).filter(|taken| !taken.is_empty())).chain(see).collect()
}
