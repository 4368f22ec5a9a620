//! What the agent says and does for a prompt: steps in time, as data.

use std::collections::VecDeque;

use serde_json::{json, Value};

/// One thing that the agent does.
#[derive(Debug, Clone)]
pub enum Step {
    /// Waits, in milliseconds.
    Wait(u64),
    /// Reports an update.
    Update(Value),
    /// Asks for permission for a tool call that it has reported, and goes on with one or the other.
    Ask {
        /// The id of the tool call.
        tool: String,
        /// What follows when it is granted.
        granted: Vec<Step>,
        /// What follows when it is not.
        denied: Vec<Step>,
    },
    /// Ends the turn.
    End,
}

/// Steps yet to come.
pub type Steps = VecDeque<Step>;

/// What the scenes need to know of a session.
#[derive(Debug)]
pub struct Stage<'a> {
    /// Its working directory.
    pub cwd: &'a str,
    /// How many prompts came before; keeps ids apart.
    pub turn: usize,
    /// Whether tools run without asking.
    pub auto: bool,
    /// The model's name.
    pub model: &'a str,
}

/// Commands that a user can type.
pub fn commands() -> Value {
    json!([
        {"name": "plan", "description": "Makes a plan and works through it"},
        {"name": "edit", "description": "Changes a file, after asking", "input": {"hint": "what to change"}},
        {"name": "story", "description": "Tells a long story; stop it when you have had enough"},
    ])
}

/// What a prompt brings.
pub fn scene(prompt: &str, stage: &Stage<'_>) -> Steps {
    let (command, rest) = prompt.split_once(' ').unwrap_or((prompt, ""));
    let mut steps = Steps::new();
    match command {
        "/plan" => plan(&mut steps, stage),
        "/edit" => edit(&mut steps, stage, rest),
        "/story" => story(&mut steps),
        _ => tour(&mut steps, prompt, stage),
    }
    steps
}

/// Text in pieces of a few words, as a model brings it.
fn say(steps: &mut Steps, kind: &str, text: &str) {
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.char_indices().map(|(at, _)| at).filter(|&at| at > 12).find(|&at| rest[at..].starts_with(' '));
        let (piece, after) = rest.split_at(end.unwrap_or(rest.len()));
        steps.push_back(Step::Update(json!({"sessionUpdate": kind, "content": {"type": "text", "text": piece}})));
        steps.push_back(Step::Wait(25));
        rest = after;
    }
}

fn think(steps: &mut Steps, text: &str) {
    say(steps, "agent_thought_chunk", text);
}

fn tell(steps: &mut Steps, text: &str) {
    say(steps, "agent_message_chunk", text);
}

fn tour(steps: &mut Steps, prompt: &str, stage: &Stage<'_>) {
    think(steps, "The user says something that is no command. A short tour of what can be shown is the best answer.");
    tell(
        steps,
        &format!(
            "## You said\n\n> {}\n\nThis agent has no model behind it ({} is only a name); it shows what a client draws:\n\n\
             - **/plan** works through a plan,\n- **/edit** changes a file and *asks first*,\n- **/story** goes on until \
             you stop it.\n\nSome code, too:\n\n```rust\nlet mut agent = Connection::new(Config::agent());\n\
             agent.receive(bytes); // and poll\n```\n\n",
            prompt.lines().collect::<Vec<_>>().join("\n> "),
            stage.model,
        ),
    );
    read(steps, stage, "README.md");
    tell(steps, "\n| what | where |\n| --- | --- |\n| the protocol | `agentclientprotocol.com` |\n| this page | `examples/web` |\n");
}

fn read(steps: &mut Steps, stage: &Stage<'_>, name: &str) {
    let id = format!("read-{}", stage.turn);
    let path = format!("{}/{name}", stage.cwd.trim_end_matches('/'));
    steps.push_back(Step::Update(json!({
        "sessionUpdate": "tool_call", "toolCallId": id, "title": format!("Read {name}"), "kind": "read",
        "status": "in_progress", "locations": [{"path": path, "line": 1}],
    })));
    steps.push_back(Step::Wait(400));
    steps.push_back(Step::Update(json!({
        "sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed",
        "content": [{"type": "content", "content": {"type": "text", "text": "# A project\n\nIt has a readme."}}],
    })));
}

fn edit(steps: &mut Steps, stage: &Stage<'_>, what: &str) {
    let what = if what.is_empty() { "greet the whole world" } else { what };
    think(steps, "One line has to change. It is somebody's file, so I ask.");
    tell(steps, &format!("I will {what}.\n"));
    let id = format!("edit-{}", stage.turn);
    let path = format!("{}/src/main.rs", stage.cwd.trim_end_matches('/'));
    let old = "fn main() {\n    let name = \"you\";\n    println!(\"Hello, {name}!\");\n}\n";
    let new = "fn main() {\n    let names = [\"you\", \"world\"];\n    for name in names {\n        println!(\"Hello, {name}!\");\n    }\n}\n";
    steps.push_back(Step::Update(json!({
        "sessionUpdate": "tool_call", "toolCallId": id, "title": "Edit src/main.rs", "kind": "edit",
        "status": "pending", "locations": [{"path": path, "line": 2}],
        "content": [{"type": "diff", "path": path, "oldText": old, "newText": new}],
    })));
    let status = |status: &str| json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status});
    let mut granted =
        Steps::from([Step::Update(status("in_progress")), Step::Wait(500), Step::Update(status("completed"))]);
    tell(&mut granted, "\nDone: `src/main.rs` greets everybody.");
    let mut denied = Steps::from([Step::Update(status("failed"))]);
    tell(&mut denied, "\nThen it stays as it is.");
    if stage.auto {
        steps.extend(granted);
    } else {
        steps.push_back(Step::Ask { tool: id, granted: granted.into(), denied: denied.into() });
    }
}

fn plan(steps: &mut Steps, stage: &Stage<'_>) {
    const WORK: [(&str, &str); 3] =
        [("Look around", "high"), ("Change what has to change", "medium"), ("Look again", "low")];
    let at = |done: usize| {
        let entries: Vec<Value> = WORK
            .iter()
            .enumerate()
            .map(|(index, (content, priority))| {
                let status = match index.cmp(&done) {
                    std::cmp::Ordering::Less => "completed",
                    std::cmp::Ordering::Equal => "in_progress",
                    std::cmp::Ordering::Greater => "pending",
                };
                json!({"content": content, "priority": priority, "status": status})
            })
            .collect();
        Step::Update(json!({"sessionUpdate": "plan", "entries": entries}))
    };
    tell(steps, "Three steps:\n\n");
    for (done, (work, _)) in WORK.iter().enumerate() {
        steps.push_back(at(done));
        steps.push_back(Step::Wait(500));
        if done == 0 {
            read(steps, stage, "Cargo.toml");
        }
        tell(steps, &format!("{}. {work}.\n", done + 1));
    }
    steps.push_back(at(WORK.len()));
}

fn story(steps: &mut Steps) {
    for night in 1..=200 {
        tell(
            steps,
            &format!("**Night {night}.** The queen told of a program that had no end, and of the one who stopped it. "),
        );
        steps.push_back(Step::Wait(100));
    }
}
