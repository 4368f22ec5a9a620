//! JavaScript: what the module tells, what the class `Connection` makes of it, and its types.
//!
//! The module has three tables: of texts, of numbers, and of numbers about what texts name. A getter is a place in one of
//! them. Booleans are 0 and 1, values of an enumeration their places.

use std::fmt::Write as _;

use super::{camel, choice, json_list, value, Owner, Said, ALLOWED};
use crate::codegen::about::wrap;
use crate::codegen::{screaming, MARK};
use crate::model::getters::{Getter, Getters, Language, Parameter, Shape, Takes};

/// The tables, as `wasm/src/getters.rs` names them, with what an entry takes and gives.
#[derive(Clone, Copy, PartialEq)]
enum Table {
    Texts,
    Numbers,
    NumbersOf,
}

fn table(getter: &Getter) -> Table {
    match getter.gives {
        Shape::Boolean | Shape::Count | Shape::Uint16 | Shape::Uint64 | Shape::Enum(_)
            if getter.parameters().is_empty() =>
        {
            Table::Numbers
        }
        Shape::Boolean | Shape::Count | Shape::Uint16 | Shape::Uint64 | Shape::Enum(_) => Table::NumbersOf,
        _ => Table::Texts,
    }
}

fn all(getters: &Getters, owner: Owner) -> Vec<&Getter> {
    let all: Vec<&Getter> = match owner {
        Owner::Connection => getters.all().collect(),
        Owner::Observer => getters.of_observers().collect(),
    };
    all.into_iter().filter(|getter| getter.is_in(Language::JavaScript)).collect()
}

fn of(getters: &Getters, owner: Owner, wanted: Table) -> Vec<&Getter> {
    all(getters, owner).into_iter().filter(|getter| table(getter) == wanted).collect()
}

/// `wasm/src/getters.rs`.
pub(in crate::codegen) fn module(getters: &Getters) -> String {
    let mut out = format!(
        "// {MARK}\n//! What can be asked of a connection, in the order in which `js/getters.js` counts.\n\n\
         {ALLOWED}\
         use libacp::connection::{{Connection, Observer}};\nuse libacp::json::list;\nuse libacp::Id;\n\n\
         use crate::config::{{self, double}};\nuse crate::state;\n\n\
         /// A text about a connection, or about what the texts name.\n\
         pub(crate) type Text<T> = fn(&T, [&str; 3]) -> Option<String>;\n\
         /// A number that a connection has.\n\
         pub(crate) type Number = fn(&mut Connection) -> Option<f64>;\n\
         /// A number about what the texts name.\n\
         pub(crate) type NumberOf<T> = fn(&mut T, [&str; 3]) -> Option<f64>;\n"
    );
    for (name, ty, owner, wanted) in [
        ("TEXTS", "Text<Connection>", Owner::Connection, Table::Texts),
        ("NUMBERS", "Number", Owner::Connection, Table::Numbers),
        ("NUMBERS_OF", "NumberOf<Connection>", Owner::Connection, Table::NumbersOf),
        ("OBSERVER_TEXTS", "Text<Observer>", Owner::Observer, Table::Texts),
        ("OBSERVER_NUMBERS_OF", "NumberOf<Observer>", Owner::Observer, Table::NumbersOf),
    ] {
        let entries = of(getters, owner, wanted);
        let _ = write!(out, "\npub(crate) const {name}: [{ty}; {}] = [\n", entries.len());
        for getter in entries {
            let parameters = getter.parameters();
            let texts: Vec<&str> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
            let texts = match texts.len() {
                _ if wanted == Table::Numbers => String::new(),
                0 => ", _".to_owned(),
                3 => format!(", [{}]", texts.join(", ")),
                _ => format!(", [{}, ..]", texts.join(", ")),
            };
            let read: String = parameters.iter().filter_map(reading).collect();
            let found = value("core", getter, |e| convert(getter, e));
            let body = if read.is_empty() { found } else { format!("{{ {read}{found} }}") };
            let _ = writeln!(out, "// {}\n|core{texts}| {body},", camel(&getter.name));
        }
        out.push_str("];\n");
    }
    out
}

/// What makes the core's type of a text.
fn reading(parameter: &Parameter) -> Option<String> {
    let name = &parameter.name;
    match parameter.kind {
        Takes::Text => None,
        Takes::Id => Some(format!("let {name} = Id::from_json({name})?; ")),
        Takes::Number => Some(format!("let {name} = {name}.parse().ok()?; ")),
    }
}

fn convert(getter: &Getter, expression: &str) -> String {
    match &getter.gives {
        Shape::Boolean => format!("f64::from(u8::from({expression}))"),
        Shape::Count => format!("double({expression} as u64)"),
        Shape::Uint64 => format!("double({expression})"),
        Shape::Uint16 => format!("f64::from({expression})"),
        Shape::Enum(_) => format!("f64::from({expression} as u8)"),
        Shape::Text | Shape::Bytes | Shape::Json | Shape::SessionSnapshot => format!("String::from({expression})"),
        list @ (Shape::Names | Shape::Rows(_)) => json_list(expression, list),
        Shape::Config => format!("config::write({expression})"),
        Shape::Session => format!("state::session({expression})"),
        Shape::Sessions => format!("state::sessions({expression})"),
        Shape::Request => format!("state::request({expression})"),
        Shape::RequestId => format!("{expression}.id.to_json()"),
        Shape::Requests => format!("state::requests({expression})"),
        Shape::Terminals => format!("state::terminals(&{expression})"),
    }
}

/// `wasm/js/getters.js`.
pub(in crate::codegen) fn script(getters: &Getters) -> String {
    let mut out = format!("// {MARK}\n\n");
    for (name, enumeration) in &getters.enums {
        if all(getters, Owner::Connection).iter().any(|getter| getter.gives == Shape::Enum(name.clone())) {
            let values: Vec<String> = enumeration.values.iter().map(|value| format!("{value:?}")).collect();
            let _ = writeln!(out, "const {} = [{}];", screaming(name), values.join(", "));
        }
    }
    out.push_str(
        "\n/** What a number says that is NaN where there is nothing. */\n\
         const there = (number) => (Number.isNaN(number) ? undefined : number);\n\
         const flag = (number) => (Number.isNaN(number) ? undefined : number === 1);\n\n\
         /**\n * What can be asked of a connection, as members of its class. `ask` asks the module for what stands at a place of a table:\n \
         * a number, a number about texts, a text, the value of one; and makes texts of what is given.\n */\n\
         export const getters = (ask) => ({\n",
    );
    members(&mut out, getters, Owner::Connection);
    out.push_str("});\n\n/** The same of an observer. */\nexport const observed = (ask) => ({\n");
    members(&mut out, getters, Owner::Observer);
    out + "});\n"
}

fn members(out: &mut String, getters: &Getters, owner: Owner) {
    for getter in all(getters, owner) {
        let name = camel(&getter.name);
        let wanted = table(getter);
        let place = of(getters, owner, wanted).iter().position(|other| other.name == getter.name).unwrap_or_default();
        let parameters = getter.parameters();
        let texts: Vec<String> = parameters.iter().map(|parameter| format!(", {}", given(parameter))).collect();
        let texts = texts.concat();
        let value = returned(getter, wanted, &format!("(this, {place}{texts})"));
        let taken: Vec<String> = parameters
            .iter()
            .map(|parameter| match &parameter.default {
                Some(default) => format!("{} = {default:?}", parameter.name),
                None => parameter.name.clone(),
            })
            .collect();
        let head = if getter.is_called(Language::JavaScript) {
            format!("{name}({})", taken.join(", "))
        } else {
            format!("get {name}()")
        };
        let _ = write!(out, "  {head} {{\n    return {value};\n  }},\n");
    }
}

fn given(parameter: &Parameter) -> String {
    let name = &parameter.name;
    match parameter.kind {
        Takes::Text => format!("ask.textOf({name}, {name:?})"),
        Takes::Id => format!("ask.idText({name})"),
        Takes::Number => format!("ask.wholeText({name}, {name:?})"),
    }
}

/// The value of a getter, from what the module gives.
fn returned(getter: &Getter, wanted: Table, call: &str) -> String {
    let number = format!("ask.{}{call}", if wanted == Table::Numbers { "number" } else { "numberOf" });
    let nothing = getter.may_be_nothing();
    match &getter.gives {
        Shape::Enum(name) => format!("{}[{number}]", screaming(name)),
        Shape::Boolean if nothing => format!("flag({number})"),
        Shape::Boolean => format!("{number} === 1"),
        Shape::Count | Shape::Uint16 | Shape::Uint64 if nothing => format!("there({number})"),
        Shape::Count | Shape::Uint16 | Shape::Uint64 => number,
        Shape::Text => format!("ask.text{call}"),
        Shape::Session | Shape::SessionSnapshot => format!("ask.session(ask.value{call})"),
        Shape::Sessions => format!("ask.sessions(ask.value{call})"),
        _ => format!("ask.value{call}"),
    }
}

/// `wasm/js/getters.d.ts`.
pub(in crate::codegen) fn types(getters: &Getters) -> String {
    let (mut of_connections, mut of_both) = (String::new(), String::new());
    let shared: Vec<&str> = all(getters, Owner::Observer).iter().map(|getter| getter.name.as_str()).collect();
    for getter in all(getters, Owner::Connection) {
        let members = if shared.contains(&getter.name.as_str()) { &mut of_both } else { &mut of_connections };
        documentation(members, getters, getter);
        let taken: Vec<String> = getter.parameters().iter().map(declared).collect();
        let ty = declared_type(getters, getter);
        let none = if getter.may_be_nothing() { " | undefined" } else { "" };
        let name = camel(&getter.name);
        let _ = if getter.is_called(Language::JavaScript) {
            writeln!(members, "  {name}({}): {ty}{none};", taken.join(", "))
        } else {
            writeln!(members, "  readonly {name}: {ty}{none};")
        };
    }
    let mut out = format!("// {MARK}\n");
    for (file, names) in [
        ("event", &["Called", "CapabilitiesOf", "Other", "TerminalRef"][..]),
        ("index", &["Config", "OpenRequest", "Role", "Version"]),
        (
            "session",
            &["ConnectionSnapshot", "LoginMethod", "ProviderState", "Session", "SessionSnapshot", "ToolCallState"],
        ),
        ("types", &["Json", "ProtocolVersion", "RequestId", "v1", "v2"]),
        ("view", &["ViewChanges", "ViewContent", "ViewSnapshot"]),
    ] {
        let code: String = of_connections
            .lines()
            .chain(of_both.lines())
            .filter(|line| !line.trim_start().starts_with(['*', '/']))
            .collect();
        let is_named = |name: &&&str| {
            code.split(|c: char| !c.is_alphanumeric()).any(|word| word == **name)
                || matches!(**name, "Role" | "Version")
        };
        let used: Vec<&str> = names.iter().filter(is_named).copied().collect();
        let _ = writeln!(out, "import type {{ {} }} from \"./{file}.js\";", used.join(", "));
    }
    let _ = write!(
        out,
        "\n/** What can be asked of a connection. */\nexport interface Getters<R extends Role, V extends Version> extends ViewGetters {{\n\
         {of_connections}}}\n\n\
         /** What can be asked of a connection and of an observer. */\nexport interface ViewGetters {{\n{of_both}}}\n"
    );
    out
}

fn declared(parameter: &Parameter) -> String {
    let optional = if parameter.default.is_some() { "?" } else { "" };
    let ty = match parameter.kind {
        Takes::Text => "string",
        Takes::Id => "RequestId",
        Takes::Number => "number",
    };
    format!("{}{optional}: {ty}", parameter.name)
}

fn declared_type(getters: &Getters, getter: &Getter) -> String {
    let ty = match &getter.gives {
        _ if getter.typescript.is_some() => return getter.typescript.clone().unwrap_or_default(),
        Shape::Enum(name) => {
            let values: Vec<String> = getters.enums[name].values.iter().map(|value| format!("{value:?}")).collect();
            return values.join(" | ");
        }
        Shape::Boolean => "boolean",
        Shape::Count | Shape::Uint16 | Shape::Uint64 => "number",
        Shape::Text | Shape::Bytes => "string",
        Shape::Json | Shape::SessionSnapshot => "Json",
        Shape::Names => "string[]",
        Shape::Rows(_) => "{ [member: string]: Json }[]",
        Shape::Config => "Config",
        Shape::Session => "Session",
        Shape::Sessions => "Map<string, Session>",
        Shape::Request => "OpenRequest",
        Shape::RequestId => "RequestId",
        Shape::Requests => "OpenRequest[]",
        Shape::Terminals => "TerminalRef[]",
    };
    ty.to_owned()
}

fn documentation(out: &mut String, getters: &Getters, getter: &Getter) {
    let said = Said::of(getter);
    let mut text = said.text;
    if let Shape::Enum(name) = &getter.gives {
        let _ = write!(text, " One of {}.", choice(&getters.enums[name].values));
    }
    if matches!(getter.gives, Shape::Json | Shape::SessionSnapshot | Shape::Rows(_)) {
        text.push_str(" A new object each time.");
    }
    let called = getter.is_called(Language::JavaScript);
    let mut tags: Vec<String> = Vec::new();
    for parameter in getter.parameters() {
        let default = parameter.default.as_ref().map(|default| format!("; {default:?} where it is left out"));
        tags.push(format!("@param {} {}{}.", parameter.name, capital(&parameter.doc), default.unwrap_or_default()));
    }
    match said.nothing {
        Some(nothing) if called => tags.push(format!("@returns Undefined {nothing}.")),
        Some(nothing) => {
            let _ = write!(text, " Undefined {nothing}.");
        }
        None => {}
    }
    tags.extend(
        getter
            .parameters()
            .iter()
            .any(|one| one.kind != Takes::Text)
            .then(|| "@throws TypeError for what is none.".to_owned()),
    );
    tags.extend(said.see.map(|see| format!("@see {see}")));
    let lines: Vec<String> = wrap(&text, 112).into_iter().chain(tags.iter().flat_map(|tag| wrap(tag, 112))).collect();
    match lines.as_slice() {
        [line] => {
            let _ = writeln!(out, "  /** {line} */");
        }
        lines => {
            let _ = write!(out, "  /**\n   * {}\n   */\n", lines.join("\n   * "));
        }
    }
}

fn capital(text: &str) -> String {
    text.get(..1).map(|first| first.to_uppercase() + &text[1..]).unwrap_or_default()
}
