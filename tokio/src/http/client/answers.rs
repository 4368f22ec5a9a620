//! Answers that the host gets in place of the agent's.

use libacp::http::ClientSendError;
use libacp::{json, ErrorCode, Id};

/// The answer to what cannot be sent: to a call, and to what is no message. Nothing to other messages.
pub(super) fn refusal(json: &str, why: Option<&ClientSendError>) -> Option<String> {
    let text = why.map_or_else(|| "too many calls are open".to_owned(), ToString::to_string);
    let rule = match why {
        Some(ClientSendError::Misuse { rule, .. }) => rule.as_str(),
        _ => "",
    };
    let (id, code) = match rule {
        "RPC-21" => (Id::Null, ErrorCode::PARSE_ERROR),
        // An answer with an id that is in use would end the other call.
        "RPC-10" | "RPC-22" | "HTTP-15" => (Id::Null, ErrorCode::INVALID_REQUEST),
        _ => {
            json::pointer(json, "/method")?;
            (json::pointer(json, "/id").and_then(Id::from_json)?, ErrorCode::INVALID_REQUEST)
        }
    };
    Some(error(&id, code, &text))
}

/// An answer that is an error.
pub(super) fn error(id: &Id, code: ErrorCode, why: &str) -> String {
    let (id, code, mut text) = (id.to_json(), code.0, String::new());
    json::quote(&mut text, why);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{text}}}}}"#)
}
