//! The agent's turns: a prompt whose first text is `step: ID` plays that of the step.

use std::future::pending;
use std::path::Path;
use std::time::Duration;

use libacp::aio::{Ending, Error, Failure, RequestError, Turn};
use libacp::schema::{v1, Raw};
use libacp::ErrorCode;
use serde_json::{json, Value};

use crate::agent::{say, Lab};
use crate::checks::{fill, list, text};

/// What agents say in turns that are the same for all.
const TURNS: &str = include_str!("../../turns.json");

type Played = Result<(), Failure>;

impl Lab {
    pub(crate) async fn turn(&self, turn: &Turn) -> Result<Ending, Failure> {
        let blocks = serde_json::to_value(turn.blocks())?;
        let texts = blocks.as_array().into_iter().flatten().filter(|block| block["type"] == "text");
        let told = texts.map(|block| json!({"sessionUpdate": "user_message_chunk", "content": block}));
        self.with(turn.session().id(), |kept| kept.history.extend(told))?;
        let step = blocks[0]["text"].as_str().unwrap_or_default().trim_start_matches("step: ");
        match step.split_once('.').unwrap_or_default() {
            ("stop", "max_tokens") => return Ok(v1::StopReason::MaxTokens.into()),
            ("stop", "max_turn_requests") => return Ok(v1::StopReason::MaxTurnRequests.into()),
            ("stop", "refusal") => return Ok(v1::StopReason::Refusal.into()),
            ("stop", _) => {}
            ("enum", "stop") => return Ok(v1::StopReason::from("_libacp.dev/tired").into()),
            ("enum", "audience") => {
                let audience = list(&blocks[1]["annotations"]["audience"]).map(text).collect::<Vec<_>>();
                turn.message(audience.join(" ")).await?;
            }
            ("prompt", what) if what != "stream" => show_block(turn, &blocks[1]).await?,
            ("update", what) => self.update(turn, what).await?,
            ("config", "grouped") => {
                let style = self.with(turn.session().id(), |kept| text(&kept.options["style"]).to_owned())?;
                turn.message(style).await?;
            }
            ("mode" | "config", _) => self.settings(turn).await?,
            ("perm", what) => permission(turn, what).await?,
            ("meta", "permission") => ask_with_meta(turn).await?,
            ("cancel-request", _) => give_up(turn).await?,
            ("fs", what) => files(turn, what).await?,
            ("term", what) if what != "display" => terminals(turn, what).await?,
            ("elicit", "complete") => visit(turn).await?,
            ("elicit", what) => elicit(turn, if what == "form" { "Which colour?" } else { "Anything else?" }).await?,
            ("session", "close") | ("cancel", "prompt") => {
                turn.message("Waiting.").await?;
                pending::<()>().await;
            }
            ("session", "multi") => count_up(turn).await?,
            ("session", "folders") => turn.message(turn.session().roots()[1..].join(" ")).await?,
            ("session", _) => self.remember(turn).await?,
            _ => others(turn, step, &blocks).await?,
        }
        Ok(().into())
    }

    async fn remember(&self, turn: &Turn) -> Played {
        turn.message("Remembered.").await?;
        let content = json!({"type": "text", "text": "Remembered."});
        let told = json!({"sessionUpdate": "agent_message_chunk", "content": content});
        self.with(turn.session().id(), |kept| kept.history.push(told))
    }

    async fn settings(&self, turn: &Turn) -> Played {
        let told = self.with(turn.session().id(), |kept| {
            format!("{} {} {}", kept.mode, kept.options["model"].as_str().unwrap_or_default(), kept.options["web"])
        })?;
        Ok(turn.message(told).await?)
    }

    async fn update(&self, turn: &Turn, what: &str) -> Played {
        let update = match what {
            "mode" => json!({"sessionUpdate": "current_mode_update", "currentModeId": "code"}),
            "options" => {
                let options = self.with(turn.session().id(), |kept| {
                    kept.options.insert("model".to_owned(), json!("large"));
                    kept.listed()
                })?;
                json!({"sessionUpdate": "config_option_update", "configOptions": options})
            }
            _ => return tell(turn, what).await,
        };
        say(turn.session(), update).await
    }
}

/// Plays a turn that is the same for all agents, in the words of version 1: the library says them in those of the other.
async fn play(turn: &Turn, step: &str) -> Played {
    let turns: Value = serde_json::from_str(TURNS)?;
    let said = turns.get(step).ok_or_else(|| Failure::new(format!("there is no step {step}")))?;
    for each in list(&fill(said, &turn.session().cwd().unwrap_or_default())) {
        let Some((word, what)) = each.as_object().and_then(|members| members.iter().next()) else { continue };
        let with = |kind: &str| {
            let mut update = json!({"sessionUpdate": kind});
            what.as_object().into_iter().flatten().for_each(|(name, value)| update[name] = value.clone());
            update
        };
        let update = match word.as_str() {
            "message" => {
                turn.message(text(what)).await?;
                continue;
            }
            "call" => with("tool_call"),
            "change" => with("tool_call_update"),
            "plan" => json!({"sessionUpdate": "plan", "entries": what}),
            _ => what.clone(),
        };
        say(turn.session(), update).await?;
    }
    Ok(())
}

/// The path of a file in the session's folder.
fn path(turn: &Turn, name: &str) -> String {
    Path::new(&turn.session().cwd().unwrap_or_default()).join(name).to_string_lossy().into_owned()
}

async fn show_block(turn: &Turn, block: &Value) -> Played {
    let members: [&str; 2] = match block["type"].as_str() {
        Some("image") => ["/mimeType", "/data"],
        Some("resource") => ["/resource/uri", "/resource/text"],
        _ => ["/uri", "/name"],
    };
    let member = |at: &str| block.pointer(at).and_then(Value::as_str).unwrap_or_default();
    Ok(turn.message(["/type", members[0], members[1]].map(member).join(" ")).await?)
}

async fn tell(turn: &Turn, what: &str) -> Played {
    match what {
        "thought" => {
            turn.thought("Let me ").await?;
            turn.thought("see.").await?;
            turn.message("Seen.").await?;
        }
        "plan" => {
            for status in [v1::PlanEntryStatus::InProgress, v1::PlanEntryStatus::Completed] {
                let look = v1::PlanEntry::new("look", v1::PlanEntryPriority::High, status);
                turn.plan([look, "answer".into()]).await?;
            }
        }
        "tool_call" => {
            let mut look = v1::ToolCall::new("look", "Look around");
            look.kind = Some(v1::ToolKind::Search);
            look.status = Some(v1::ToolCallStatus::Pending);
            look.locations = vec![v1::ToolCallLocation::new(path(turn, "notes.txt"))];
            look.raw_input = Some(Raw::of(&json!({"deep": true}))?);
            let mut call = turn.tool_call_with(look).await?;
            let mut changes = call.changes();
            changes.status = Some(v1::ToolCallStatus::InProgress);
            call.update(changes).await?;
            call.text("found it").await?;
            call.complete_with(Raw::of(&json!({"found": 1}))?).await?;
        }
        "tool_call.failed" => {
            turn.tool_call("Try", v1::ToolKind::Other).await?.fail("It broke.").await?;
            turn.message("Never mind.").await?;
        }
        "diff" => {
            let mut call = turn.tool_call("Edit notes.txt", v1::ToolKind::Edit).await?;
            call.diff(&path(turn, "notes.txt"), "one\n2\nthree\n", Some("one\ntwo\nthree\n")).await?;
            call.complete().await?;
        }
        _ => play(turn, &format!("update.{what}")).await?,
    }
    Ok(())
}

async fn permission(turn: &Turn, what: &str) -> Played {
    let title = match what {
        "selected" => "allow",
        "rejected" => "reject",
        _ => "wait",
    };
    let mut call = v1::ToolCall::new(title, title);
    call.status = Some(v1::ToolCallStatus::Pending);
    let mut call = turn.tool_call_with(call).await?;
    if call.ask_permission().await?.allowed {
        call.complete().await?;
        Ok(turn.message("allowed").await?)
    } else {
        call.fail("Not allowed").await?;
        Ok(turn.message("rejected").await?)
    }
}

/// A question with a `_meta`, of which the high-level API has none.
async fn ask_with_meta(turn: &Turn) -> Played {
    let call = turn.tool_call("meta", v1::ToolKind::Other).await?;
    let mut asked = question(call.id(), "meta");
    asked["_meta"] = json!({"libacp.dev/trace": "abc"});
    let answer: Value = turn.session().request("session/request_permission", &asked).await?.parse()?;
    let allowed = answer["outcome"]["optionId"] == "yes";
    call.complete().await?;
    Ok(turn.message(if allowed { "allowed" } else { "rejected" }).await?)
}

/// Asks for a permission, and gives that up.
async fn give_up(turn: &Turn) -> Played {
    let asked = question("wait", "wait");
    let asking = turn.session().request("session/request_permission", &asked);
    match tokio::time::timeout(Duration::from_millis(20), asking).await {
        Ok(answer) => Err(Failure::new(format!("the question has an answer: {answer:?}"))),
        Err(_) => Ok(turn.message("given up").await?),
    }
}

fn question(id: &str, title: &str) -> Value {
    let options = json!([
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]);
    json!({"toolCall": {"toolCallId": id, "title": title}, "options": options})
}

async fn files(turn: &Turn, what: &str) -> Played {
    let read = match what {
        "read" => turn.read_text_file(&path(turn, "notes.txt")).await?,
        "read-range" => turn.read_lines(&path(turn, "notes.txt"), 2, 1).await?.trim_end().to_owned(),
        "write" => {
            turn.write_text_file(&path(turn, "out.txt"), "a\r\nä😀").await?;
            "written".to_owned()
        }
        _ => match turn.read_text_file(&path(turn, "none.txt")).await {
            Err(Error::Peer { error, .. }) => format!("error {}", error.code.0),
            other => format!("no error: {other:?}"),
        },
    };
    Ok(turn.message(read).await?)
}

async fn terminals(turn: &Turn, what: &str) -> Played {
    match what {
        "run" => {
            let mut request = v1::CreateTerminalRequest::new(turn.session().id(), "sh");
            request.args = vec!["-c".into(), r#"echo "$GREETING"; exit 3"#.into()];
            request.env = vec![v1::EnvVariable::new("GREETING", "hello")];
            let terminal = turn.terminal_with(request).await?;
            let code = terminal.wait().await?.exit_code.unwrap_or_default();
            let printed = terminal.output().await?.output.trim().to_owned();
            terminal.release().await?;
            Ok(turn.message(format!("{printed} {code}")).await?)
        }
        _ => {
            let terminal = turn.terminal("sleep", ["30"]).await?;
            terminal.kill().await?;
            let ended = terminal.wait().await?;
            terminal.release().await?;
            Ok(turn.message(if ended.signal.is_some() { "killed" } else { "not killed" }).await?)
        }
    }
}

async fn elicit(turn: &Turn, message: &str) -> Played {
    let colours = json!([{"const": "red", "title": "red"}, {"const": "blue", "title": "blue"}]);
    let colour = json!({"colour": {"type": "string", "oneOf": colours}});
    let schema = json!({"type": "object", "properties": colour, "required": ["colour"]});
    let params = json!({"mode": "form", "message": message, "requestedSchema": schema});
    let answer: Value = turn.session().request("elicitation/create", &params).await?.parse()?;
    let words = [&answer["action"], &answer["content"]["colour"]].map(|value| value.as_str().unwrap_or_default());
    Ok(turn.message(words.join(" ").trim_end()).await?)
}

async fn visit(turn: &Turn) -> Played {
    let url = "https://example.com/visit";
    let link = json!({"mode": "url", "message": "Visit", "url": url, "elicitationId": "visit"});
    let answer: Value = turn.session().request("elicitation/create", &link).await?.parse()?;
    turn.client().notify("elicitation/complete", &json!({"elicitationId": "visit"})).await?;
    Ok(turn.message(text(&answer["action"])).await?)
}

async fn count_up(turn: &Turn) -> Played {
    for number in 0..20 {
        turn.message(format!("{} {number};", turn.session().id())).await?;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Ok(())
}

async fn others(turn: &Turn, step: &str, blocks: &Value) -> Played {
    let said = match step {
        "init.client" => {
            format!("client {}", turn.client().info().map(|info| info.name.to_string()).unwrap_or_default())
        }
        "ext.client" => {
            let answer: Value = turn.client().request("_libacp.dev/echo", &json!({"value": 42})).await?.parse()?;
            format!("echo {}", answer["value"])
        }
        "meta.prompt" => {
            let meta: Value = turn.meta().map(Raw::parse).transpose()?.unwrap_or_default();
            format!("trace {}", meta["libacp.dev/trace"].as_str().unwrap_or_default())
        }
        "error.handler" => {
            let error = RequestError::new(ErrorCode(-32042), "No such thing");
            return Err(error.data(Raw::of(&json!({"thing": "x"}))?).into());
        }
        "big.prompt-1m" | "big.prompt-8m" => {
            let got = text(&blocks[1]["text"]);
            let same = got == "0123456789".repeat(got.len() / 10);
            format!("{} {}", got.len(), if same { "the same" } else { "different" })
        }
        "view.same" => {
            turn.thought("Hm.").await?;
            turn.message("First.").await?;
            let mut call = turn.tool_call("Look", v1::ToolKind::Other).await?;
            call.text("found").await?;
            call.complete().await?;
            "Second.".to_owned()
        }
        _ => return play(turn, step).await,
    };
    Ok(turn.message(said).await?)
}
