//! What the replayers of the vectors ask by name: of a language without names at run time, each getter that all have.

use std::fmt::Write as _;

use super::{snake, value, ALLOWED};
use crate::codegen::MARK;
use crate::model::getters::{Getter, Getters, Parameter, Shape, Takes};

/// The getters that a vector can ask for. A configuration is no JSON.
fn asked(getters: &Getters) -> impl Iterator<Item = &Getter> {
    getters.all().filter(|getter| getter.is_everywhere() && getter.gives != Shape::Config)
}

/// `core/tests/support/getters.rs`.
pub(in crate::codegen) fn rust(getters: &Getters) -> String {
    let mut out = format!(
        "// {MARK}\n//! Asks a connection by the names of its getters.\n\n\
         {ALLOWED}\
         use libacp::{{Connection, Id}};\nuse serde_json::{{json, Value}};\n\n\
         /// What a getter gives; an error where there is no such getter, or it takes other things.\n\
         pub(crate) fn get(core: &mut Connection, name: &str, with: &[Value]) -> Result<Value, String> {{\n\
         let as_text = |value: &Value| value.as_str().map(str::to_owned).ok_or_else(|| format!(\"{{value}} is no text\"));\n\
         let as_id = |value: &Value| Id::from_json(&value.to_string()).ok_or_else(|| format!(\"{{value}} is no id\"));\n\
         let read = |text: String| serde_json::from_str::<Value>(&text).expect(\"JSON\");\n\
         Ok(match (name, with) {{\n"
    );
    for getter in asked(getters) {
        let parameters = getter.parameters();
        let names: Vec<&str> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        let lets: String = parameters
            .iter()
            .map(|Parameter { name, kind, .. }| match kind {
                Takes::Text => format!("let {name} = &*as_text({name})?; "),
                Takes::Id => format!("let {name} = as_id({name})?; "),
                Takes::Number => format!("let {name} = {name}.as_u64().ok_or(\"no whole number\")?; "),
            })
            .collect();
        let found = value("core", getter, |e| convert(&getter.gives, e));
        let _ = writeln!(out, "({:?}, [{}]) => {{ {lets}json!({found}) }}", getter.name, names.join(", "));
    }
    out + "_ => return Err(format!(\"there is no getter {name} that takes {with:?}\")),\n})\n}\n"
}

fn convert(shape: &Shape, e: &str) -> String {
    match shape {
        Shape::Enum(_) => format!("{e}.name()"),
        Shape::Text | Shape::RequestId => format!("String::from({e})"),
        Shape::Json | Shape::SessionSnapshot | Shape::Session => format!("read(String::from({e}))"),
        Shape::Names => format!("{e}.map(str::to_owned).collect::<Vec<_>>()"),
        Shape::Rows(members) => {
            let names: Vec<String> = members.keys().map(|name| snake(name)).collect();
            let members = members.iter().zip(&names).map(|((name, shape), variable)| match shape {
                Shape::Enum(_) => format!("{name:?}: {variable}.name()"),
                _ => format!("{name:?}: {variable}"),
            });
            let members: Vec<String> = members.collect();
            let item = format!("|({})| json!({{{}}})", names.join(", "), members.join(", "));
            format!("{e}.map({item}).collect::<Vec<_>>()")
        }
        Shape::Request => format!("{e}.serial"),
        Shape::Requests => format!("{e}.map(|request| request.serial).collect::<Vec<_>>()"),
        // The order of sessions says nothing.
        Shape::Sessions => {
            format!("{e}.map(|(id, _)| id.to_string()).collect::<std::collections::BTreeSet<_>>()")
        }
        Shape::Terminals => format!(
            "{e}.iter().map(|open| json!({{\"session\": &*open.session, \"terminal\": &*open.terminal}})).collect::<Vec<_>>()"
        ),
        Shape::Boolean | Shape::Count | Shape::Uint16 | Shape::Uint64 | Shape::Bytes | Shape::Config => e.to_owned(),
    }
}

/// `tests/c/getters.c`.
pub(in crate::codegen) fn c(getters: &Getters) -> String {
    let mut out = format!(
        "/* {MARK} */\n// Asks a connection by the names of its getters.\n\n\
         #include \"replay.h\"\n\ntypedef acp_status getter(acp_connection *connection, const given *with, acp_writer *out);\n"
    );
    let mut rows = String::new();
    for getter in asked(getters) {
        let parameters = getter.parameters();
        let passed: String = parameters
            .iter()
            .enumerate()
            .map(|(place, parameter)| match parameter.kind {
                Takes::Text => format!(", text_slice(&with[{place}].string)"),
                Takes::Id => format!(", with[{place}].json"),
                Takes::Number => format!(", json_number(with[{place}].json, \"\")"),
            })
            .collect();
        let (ty, write) = written(getters, &getter.gives);
        let unused = if parameters.is_empty() { "    (void)with;\n" } else { "" };
        let _ = write!(
            out,
            "\nstatic acp_status get_{0}(acp_connection *connection, const given *with, acp_writer *out)\n{{\n{unused}    \
             {ty}value;\n    \
             acp_status status = acp_connection_{0}(connection{passed}, &value);\n    \
             return status == ACP_OK ? {write} : status;\n}}\n",
            getter.name
        );
        let _ = writeln!(rows, "    {{\"{0}\", {1}, get_{0}}},", getter.name, parameters.len());
    }
    let _ = write!(
        out,
        "\nstatic const struct {{\n    const char *name;\n    size_t takes;\n    getter *get;\n}} GETTERS[] = {{\n{rows}}};\n\n\
         acp_status write_got(acp_writer *out, acp_connection *connection, acp_slice name, const given *with, size_t count)\n{{\n    \
         for (size_t i = 0; i < sizeof GETTERS / sizeof *GETTERS; i++) {{\n        \
         if (acp_equal(name, acp_text(GETTERS[i].name)) && GETTERS[i].takes == count) {{\n            \
         acp_status status = GETTERS[i].get(connection, with, out);\n            \
         return status == ACP_NONE ? acp_writer_null(out) : status;\n        }}\n    }}\n    \
         return ACP_INVALID_ARGUMENT;\n}}\n"
    );
    out
}

/// The C type of a value, with a blank or a star behind it, and what writes it.
fn written(getters: &Getters, shape: &Shape) -> (&'static str, String) {
    let named = |name: &str| {
        let function = format!("acp_{}_name", snake(name).trim_start_matches('_'));
        format!("acp_writer_string(out, acp_text({function}(value)))")
    };
    match shape {
        Shape::Boolean => ("bool ", "acp_writer_bool(out, value)".to_owned()),
        Shape::Count => ("size_t ", "acp_writer_uint64(out, value)".to_owned()),
        Shape::Uint16 => ("uint16_t ", "acp_writer_uint64(out, value)".to_owned()),
        Shape::Request | Shape::Uint64 => ("uint64_t ", "acp_writer_uint64(out, value)".to_owned()),
        Shape::Enum(name) if getters.enums[name].c.is_some() => ("int32_t ", named(name)),
        Shape::Enum(_) | Shape::Text | Shape::Bytes => ("acp_slice ", "acp_writer_string(out, value)".to_owned()),
        Shape::Json
        | Shape::SessionSnapshot
        | Shape::Session
        | Shape::Names
        | Shape::Rows(_)
        | Shape::RequestId
        | Shape::Config => ("acp_slice ", "acp_writer_json(out, value)".to_owned()),
        Shape::Sessions => ("acp_sessions *", "write_session_ids(out, value)".to_owned()),
        Shape::Requests => ("acp_requests *", "write_serials(out, value)".to_owned()),
        Shape::Terminals => ("acp_terminals *", "write_terminal_list(out, value)".to_owned()),
    }
}
