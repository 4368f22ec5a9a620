//! Messages as text. The core writes every envelope, so no host can write a wrong one.

use std::borrow::Cow;

use super::{ErrorCode, Id};
use crate::json::quote;
use crate::room;

const HEAD: &str = r#"{"jsonrpc":"2.0","#;
/// A closing brace and a line end.
const END: usize = 2;

pub(crate) fn write_request(id: &Id, method: &str, params: &str) -> String {
    let mut out = room::text(params.len() + method.len() + 64);
    out.push_str(HEAD);
    out.push_str("\"id\":");
    id.write(&mut out);
    out.push(',');
    call(out, method, params)
}

pub(crate) fn write_notification(method: &str, params: &str) -> String {
    let mut out = room::text(params.len() + method.len() + 48);
    out.push_str(HEAD);
    call(out, method, params)
}

fn call(mut out: String, method: &str, params: &str) -> String {
    out.push_str("\"method\":");
    quote(&mut out, method);
    out.push_str(",\"params\":");
    out.push_str(params);
    out.push('}');
    out
}

pub(crate) fn write_result(id: &Id, result: Cow<'_, str>) -> String {
    let copied = if matches!(result, Cow::Borrowed(_)) { result.len() } else { 0 };
    let mut out = room::text(copied + 48);
    out.push_str(HEAD);
    out.push_str("\"id\":");
    id.write(&mut out);
    out.push_str(",\"result\":");
    match result {
        Cow::Borrowed(result) => out.push_str(result),
        Cow::Owned(mut result) => {
            room::make(&mut result, out.len() + END);
            result.insert_str(0, &out);
            out = result;
        }
    }
    out.push('}');
    out
}

pub(crate) fn write_error(id: &Id, code: ErrorCode, message: &str, data: Option<&str>) -> String {
    let mut out = room::text(message.len() + 96);
    out.push_str(HEAD);
    out.push_str("\"id\":");
    id.write(&mut out);
    out.push_str(",\"error\":{\"code\":");
    out.push_str(&code.to_string());
    out.push_str(",\"message\":");
    quote(&mut out, message);
    if let Some(data) = data {
        out.push_str(",\"data\":");
        out.push_str(data);
    }
    out.push_str("}}");
    out
}
