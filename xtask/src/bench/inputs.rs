//! The bytes that all programs work on: made once, and the same in every run.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{json, Value};

/// Where they lie.
pub(super) const FOLDER: &str = "target/bench/inputs";
/// Lines of W4.
const LINES: usize = 20_000;
/// Bytes of the frame of W6, without its line end.
const BIG: usize = 16 << 20;

/// Writes them.
pub(super) fn write() -> Result<()> {
    fs::create_dir_all(FOLDER).context(FOLDER)?;
    let mix: Vec<Value> = (0..).flat_map(turn).take(LINES).collect();
    let mut big = line(0, &chunk("agent_message_chunk", ""));
    // Text as a model writes it, with line ends and quotes to be unescaped.
    let words = r#"A line of the \"long\" answer.\n"#;
    let at = big.len() - r#""}}}}"#.len();
    let missing = BIG - big.len();
    let filler = words.repeat(missing / words.len()) + &"x".repeat(missing % words.len());
    big.insert_str(at, &filler);
    let code = code(120);
    let files = [
        ("small.jsonl", lines((0..LINES).map(|number| chunk("agent_message_chunk", &small(number))))),
        ("mix.jsonl", lines(mix.into_iter())),
        ("big.jsonl", big + "\n"),
        // What the hosts of W1, W2 and W3 put into their messages.
        ("chunk.txt", small(0)),
        ("old.txt", cut(&code, 4096)),
        ("new.txt", cut(&code.replace("value", "result"), 4096)),
        ("file.txt", cut(&code, 1024)),
    ];
    for (name, text) in files {
        let path = Path::new(FOLDER).join(name);
        fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

fn lines(updates: impl Iterator<Item = Value>) -> String {
    updates.enumerate().map(|(number, update)| line(number, &update) + "\n").collect()
}

/// The notification of an update; every fourth as programs write it that escape all but ASCII.
fn line(number: usize, update: &Value) -> String {
    let params = json!({"sessionId": "s-0", "update": update});
    let line = json!({"jsonrpc": "2.0", "method": "session/update", "params": params}).to_string();
    if number % 4 != 3 {
        return line;
    }
    let mut ascii = String::with_capacity(line.len());
    for character in line.chars() {
        if character.is_ascii() {
            ascii.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(ascii, "\\u{unit:04x}");
            }
        }
    }
    ascii
}

/// Forty bytes.
fn small(number: usize) -> String {
    format!("{:<40}", format!("Piece {number} of what the agent says"))
}

/// A program's text, with this many lines.
fn code(count: usize) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        let _ = writeln!(text, "    let value_{number} = \"{number}\\t\".len(); // größer");
        text
    })
}

/// The longest start that has at most this many bytes, filled up to them.
fn cut(text: &str, bytes: usize) -> String {
    let mut end = bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned() + &" ".repeat(bytes - end)
}

fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}

fn chunk(kind: &str, words: &str) -> Value {
    json!({"sessionUpdate": kind, "content": text(words)})
}

/// The updates of one turn: every kind that all three official SDKs know.
fn turn(number: usize) -> Vec<Value> {
    let call = format!("call-{number}");
    let meta = json!({"example.com/trace": {"span": number, "sampled": number.is_multiple_of(2), "ratio": 0.25}});
    let says = |words: &str| chunk("agent_message_chunk", words);
    let step = |step: usize, status: &str| json!({"content": format!("Do step {step} of the plan"), "priority": "medium", "status": status});
    let command = |name: &str| {
        let about = format!("What {name} does");
        json!({"name": name, "description": about, "input": {"hint": "what to look for"}})
    };
    let path = format!("/work/src/module_{number}.rs");
    let (old, new) = (code(8), code(9).replace("value", "result"));
    vec![
        chunk("user_message_chunk", "Please look at the module \u{1f50d}, and make it faster."),
        chunk("agent_thought_chunk", "The user wants it faster. First I have to see where the time goes."),
        chunk("agent_thought_chunk", "Größe, naïve, 速度, скорость: \"words\" of many\n\tlanguages \u{1f680}"),
        json!({"sessionUpdate": "plan", "entries": [step(1, "completed"), step(2, "in_progress"), step(3, "pending")]}),
        says("I begin with a measurement."),
        says(" It shows\n\n```rust\nfn main() {\n\tprintln!(\"C:\\\\work\");\n}\n```\n"),
        json!({
            "sessionUpdate": "tool_call", "toolCallId": call, "title": "Edit the module", "kind": "edit",
            "status": "pending", "locations": [{"path": path, "line": 3}],
            "rawInput": {"path": path, "edits": [[1, 2], [3, 4]], "dry": false, "most": null},
        }),
        json!({"sessionUpdate": "tool_call_update", "toolCallId": call, "status": "in_progress",
            "content": [{"type": "content", "content": text("Reading the module …")}]}),
        json!({"sessionUpdate": "tool_call_update", "toolCallId": call,
            "content": [{"type": "diff", "path": path, "oldText": old, "newText": new}]}),
        json!({"sessionUpdate": "tool_call_update", "toolCallId": call, "status": "completed",
            "rawOutput": {"lines": number, "ok": true}, "_meta": meta}),
        json!({"sessionUpdate": "usage_update", "used": 53_000 + number, "size": 200_000,
            "cost": {"amount": 0.045, "currency": "USD"}}),
        json!({"sessionUpdate": "agent_message_chunk", "content": text("Done with that."), "_meta": meta}),
        says(" The rest is easy"),
        says(", and"),
        says(" short."),
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "resource_link", "name": "the module",
            "uri": format!("file://{path}"), "mimeType": "text/x-rust"}}),
        json!({"sessionUpdate": "agent_message_chunk",
            "content": {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgoA".repeat(20)}}),
        json!({"sessionUpdate": "available_commands_update",
            "availableCommands": [command("web"), command("plan"), command("test")]}),
        json!({"sessionUpdate": "current_mode_update", "currentModeId": if number.is_multiple_of(2) { "code" } else { "ask" }}),
        json!({"sessionUpdate": "config_option_update", "configOptions": [
            {"id": "model", "name": "Model", "category": "model", "type": "select",
                "currentValue": if number.is_multiple_of(2) { "big" } else { "small" },
                "options": [{"value": "big", "name": "Big", "description": "Thinks for long."},
                    {"value": "small", "name": "Small", "description": "Is quick."}]}]}),
        json!({"sessionUpdate": "session_info_update", "title": format!("Turn {number} \u{2013} faster"),
            "updatedAt": "2026-11-22T10:00:00Z"}),
        says("That is all for now. \u{2728}"),
    ]
}
