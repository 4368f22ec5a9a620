//! What a session shows, in the words of the catalogue.

use libacp::aio::ClientSession;
use serde_json::{json, Map, Value};

use crate::checks::{list, tool, Checked, Trouble};

/// All that the steps ask about, in both versions.
pub(crate) fn seen(session: &ClientSession) -> Checked<Value> {
    let view = session.view(|view| view.to_json()).ok_or_else(|| Trouble::Wrong("there is no view".to_owned()))?;
    let view: Value = serde_json::from_str(&view)?;
    let of = |kind: &'static str| list(&view["entries"]).filter(move |entry| entry["type"] == kind);
    let text = |role: &str| of("message").filter(|entry| entry["role"] == role).map(text).collect::<String>();
    let transcript = list(&view["entries"]).filter_map(|entry| match entry["type"].as_str() {
        Some("message") => Some(json!([entry["role"], self::text(entry)])),
        Some("tool_call") => Some(json!(["tool_call", entry["title"]])),
        _ => None,
    });
    let options = list(&view["configOptions"])
        .filter_map(|option| Some((option["configId"].as_str()?.to_owned(), option["currentValue"].clone())));
    let terminal = |each: &Value| json!({"output": each["output"], "exit": each["exitStatus"]["exitCode"]});
    Ok(json!({
        "stop": view["stopReason"],
        "state": view["state"],
        "text": text("agent"),
        "thoughts": text("thought"),
        "plan": of("plan").next().map(|entry| &entry["plan"]["entries"]),
        "tools": of("tool_call").map(tool).collect::<Vec<_>>(),
        "commands": list(&view["commands"]).map(|each| json!([each["name"], each["input"]["hint"]])).collect::<Vec<_>>(),
        "mode": view["modes"]["currentModeId"],
        "options": options.collect::<Map<_, _>>(),
        "usage": view["usage"],
        "title": view["title"],
        "terminals": list(&view["terminals"]).map(terminal).collect::<Vec<_>>(),
        "unknown": of("update").map(|entry| &entry["update"]).collect::<Vec<_>>(),
        "transcript": transcript.collect::<Vec<_>>(),
    }))
}

fn text(message: &Value) -> String {
    list(&message["blocks"]).filter_map(|block| block["text"].as_str()).collect()
}
