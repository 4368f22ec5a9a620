//! A turn of the full agent: everything that an agent can say, and everything that its client lets it do.

use std::future::pending;
use std::path::Path;

use libacp::aio::{Failure, Turn};
use libacp::schema::{v1, Raw};
use serde_json::{json, Value};

use super::agent::say;
use super::EXTENSION;

const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
const TEXT: &str = "one\ntwo\nthree\n";

/// One of each kind of content block.
fn blocks() -> Vec<Value> {
    vec![
        json!({"type": "text", "text": "a text"}),
        json!({"type": "image", "mimeType": "image/png", "data": PIXEL}),
        json!({"type": "audio", "mimeType": "audio/wav", "data": SILENCE}),
        json!({"type": "resource_link", "uri": "file:///notes.md", "name": "notes.md"}),
        json!({"type": "resource", "resource": {"uri": "file:///notes.md", "mimeType": "text/plain", "text": "a resource"}}),
    ]
}

/// All that a turn can do, in order; each step leaves out what the client does not offer.
pub(crate) async fn run(turn: &Turn, title: &str, updated: &str) -> Result<(), Failure> {
    think(turn).await?;
    show(turn).await?;
    edit(turn).await?;
    execute(turn).await?;
    question(turn).await?;
    extend(turn).await?;
    report(turn, title, updated).await
}

async fn think(turn: &Turn) -> Result<(), Failure> {
    let mut look = v1::PlanEntry::from("look around");
    look.priority = v1::PlanEntryPriority::High;
    look.status = v1::PlanEntryStatus::InProgress;
    turn.plan([look, "answer".into()]).await?;
    let content = json!({"type": "text", "text": "Let me see."});
    let thought = json!({"sessionUpdate": "agent_thought_chunk", "content": content, "messageId": "thought-1"});
    say(turn.session(), thought).await
}

/// What the session was opened with, and each kind of content.
async fn show(turn: &Turn) -> Result<(), Failure> {
    let session = turn.session();
    let names = |all: &Value, member: &str| {
        let all = all.as_array().into_iter().flatten();
        all.map(|each| each[member].as_str().unwrap_or_default()).collect::<Vec<_>>().join(",")
    };
    let servers = names(&serde_json::to_value(&*session.mcp_servers())?, "name");
    let kinds = names(&serde_json::to_value(turn.blocks())?, "type");
    let roots = session.roots();
    let name = |root: &String| Path::new(root).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let further: Vec<String> = roots.iter().skip(1).map(name).collect();
    let listed = format!("blocks: {kinds}; servers: {servers}; directories: {}", further.join(","));
    let message =
        |content: Value, id| json!({"sessionUpdate": "agent_message_chunk", "content": content, "messageId": id});
    say(session, message(json!({"type": "text", "text": listed}), "answer-1")).await?;

    let mut look = v1::ToolCall::new(unique("look"), "Look around");
    look.kind = Some(v1::ToolKind::Search);
    look.status = Some(v1::ToolCallStatus::InProgress);
    look.name = Some("look".into());
    look.raw_input = Some(Raw::of(&json!({"deep": true}))?);
    let mut call = turn.tool_call_with(look).await?;
    let mut changes = call.changes();
    let content = blocks().into_iter().map(|block| json!({"type": "content", "content": block}));
    let content = content.collect::<Value>().to_string();
    changes.content = Some(serde_json::from_str(&content)?);
    call.update(changes).await?;
    call.complete_with(Raw::of(&json!({"found": blocks().len()}))?).await?;
    for block in blocks().into_iter().skip(1) {
        say(session, message(block, "answer-2")).await?;
    }
    Ok(())
}

/// A change to a file, which the user has to allow.
async fn edit(turn: &Turn) -> Result<(), Failure> {
    let cwd = turn.session().cwd().unwrap_or_default();
    let path = Path::new(&cwd).join("full.txt").to_string_lossy().into_owned();
    let mut edit = v1::ToolCall::new(unique("edit"), "Edit full.txt");
    edit.kind = Some(v1::ToolKind::Edit);
    edit.status = Some(v1::ToolCallStatus::Pending);
    edit.locations = vec![v1::ToolCallLocation::new(path.as_str())];
    let mut call = turn.tool_call_with(edit).await?;
    call.diff(&path, TEXT, Some("one\n")).await?;
    if !call.ask_permission().await?.allowed {
        return Ok(call.fail("Not allowed").await?);
    }
    if turn.client().can("fs/write_text_file") {
        turn.write_text_file(&path, TEXT).await?;
    }
    if turn.client().can("fs/read_text_file") {
        call.text(&turn.read_lines(&path, 2, 1).await?).await?;
    }
    Ok(call.complete().await?)
}

/// Two commands in terminals: one that ends, and one that is killed.
async fn execute(turn: &Turn) -> Result<(), Failure> {
    if !turn.client().can("terminal/create") {
        return Ok(());
    }
    let cwd = turn.session().cwd().unwrap_or_default();
    let mut call = turn.tool_call("Run commands", v1::ToolKind::Execute).await?;
    let mut greeting = v1::CreateTerminalRequest::new(turn.session().id(), "sh");
    greeting.args = vec!["-c".into(), r#"echo "$GREETING"; exit 3"#.into()];
    greeting.env = vec![v1::EnvVariable::new("GREETING", "hello")];
    greeting.cwd = Some(cwd.as_str().into());
    greeting.output_byte_limit = Some(100);
    let terminal = turn.terminal_with(greeting).await?;
    call.show(&terminal).await?;
    let ended = terminal.wait().await?;
    let printed = terminal.output().await?;
    terminal.release().await?;
    call.text(&format!("{} {}", printed.output.trim(), ended.exit_code.unwrap_or_default())).await?;
    let sleeping = turn.terminal("sleep", ["30"]).await?;
    sleeping.kill().await?;
    let ended = sleeping.wait().await?;
    sleeping.release().await?;
    call.text(&format!("killed: {}", ended.signal.as_deref().unwrap_or_default())).await?;
    Ok(call.complete().await?)
}

/// A form, and a page on the web.
async fn question(turn: &Turn) -> Result<(), Failure> {
    let Some(offered) = turn.client().capabilities().elicitation else { return Ok(()) };
    let session = turn.session();
    if offered.form.is_some() {
        let colours = json!([{"const": "red", "title": "Red"}, {"const": "blue", "title": "Blue"}]);
        let schema = json!({
            "type": "object",
            "properties": {"colour": {"type": "string", "title": "Colour", "oneOf": colours}},
            "required": ["colour"],
        });
        let params = json!({"mode": "form", "message": "Which colour?", "requestedSchema": schema});
        let answer: Value = session.request("elicitation/create", &params).await?.parse()?;
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (action, colour) = (word(&answer["action"]), word(&answer["content"]["colour"]));
        turn.message(format!("colour: {action} {colour}")).await?;
    }
    if offered.url.is_some() {
        let id = unique("page");
        let page = json!({"mode": "url", "message": "Please look", "url": "https://example.com/", "elicitationId": id});
        let answer: Value = session.request("elicitation/create", &page).await?.parse()?;
        turn.message(format!("page: {}", answer["action"].as_str().unwrap_or_default())).await?;
        if answer["action"] == "accept" {
            turn.client().notify("elicitation/complete", &json!({"elicitationId": id})).await?;
        }
    }
    Ok(())
}

/// A method of one's own.
async fn extend(turn: &Turn) -> Result<(), Failure> {
    if turn.client().extension(EXTENSION).is_none() {
        return Ok(());
    }
    turn.session().notify("_libacp.dev/note", &json!({"note": "from the agent"})).await?;
    let answer: Value = turn.session().request("_libacp.dev/echo", &json!({"value": 42})).await?.parse()?;
    Ok(turn.message(format!("echo: {}", answer["value"])).await?)
}

/// What the turn has cost, and what else has changed.
async fn report(turn: &Turn, title: &str, updated: &str) -> Result<(), Failure> {
    let session = turn.session();
    let offered = turn.client().capabilities().session.unwrap_or_default();
    if offered.notices.is_some() {
        say(session, json!({"sessionUpdate": "notice", "severity": "warning", "title": "Nearly full"})).await?;
    }
    if offered.compaction.is_some() {
        let id = unique("compaction");
        let content = json!({"type": "text", "text": "We talked."});
        let update = |status| json!({"sessionUpdate": "compaction_update", "compactionId": id, "status": status});
        say(session, update("in_progress")).await?;
        say(session, json!({"sessionUpdate": "compaction_summary_chunk", "compactionId": id, "content": content}))
            .await?;
        say(session, update("completed")).await?;
    }
    let cost = json!({"amount": 0.25, "currency": "EUR"});
    say(session, json!({"sessionUpdate": "usage_update", "used": 1000, "size": 200_000, "cost": cost})).await?;
    let mut look = v1::PlanEntry::from("look around");
    look.priority = v1::PlanEntryPriority::High;
    look.status = v1::PlanEntryStatus::Completed;
    turn.plan([look]).await?;
    say(session, json!({"sessionUpdate": "session_info_update", "title": title, "updatedAt": updated})).await
}

/// A turn that goes on until it is cancelled: the handler is dropped here, and the call reported as failed.
pub(crate) async fn wait(turn: &Turn) -> Result<(), Failure> {
    let _call = turn.tool_call("Wait", v1::ToolKind::Other).await?;
    pending().await
}

/// An id that nothing else in this process has.
fn unique(what: &str) -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static LAST: AtomicU32 = AtomicU32::new(0);
    format!("{what}-{}", LAST.fetch_add(1, Ordering::Relaxed))
}
