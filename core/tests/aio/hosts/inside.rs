//! The actions inside of tool calls and of terminals.

use libacp::aio::{DisplayTerminal, Failure, Terminal};
use libacp::schema::{v1, v2, IntoOwned, Patch, Raw};
use serde_json::{json, Value};

use super::turns::{act, list, outcome, read, tell, Subject};
use super::world::World;

pub(super) async fn tool_call(world: &World, method: &str, subject: &Subject, with: &Value) -> Result<(), Failure> {
    let turn = subject.turn();
    let mut json = with.clone();
    let members = json.as_object_mut().unwrap();
    let then = members.remove("then").unwrap_or_default();
    for (ours, theirs) in [("id", "toolCallId"), ("raw_input", "rawInput")] {
        if let Some(value) = members.remove(ours) {
            members.insert(theirs.to_owned(), value);
        }
    }
    let mut call = if members.keys().all(|name| name == "title" || name == "kind") && members.contains_key("kind") {
        turn.tool_call(with["title"].as_str().unwrap(), read(&with["kind"])).await?
    } else {
        let made_up = json!(format!("made-up-{}", members.len()));
        members.entry("toolCallId").or_insert(made_up);
        members.entry("status").or_insert(json!("in_progress"));
        turn.tool_call_with(read(&json)).await?
    };
    for action in then.as_array().into_iter().flatten() {
        let (with, name) = (world.fill(&action["with"]), action["as"].as_str());
        let text = |member: &str| with[member].as_str().unwrap_or_default();
        match action["do"].as_str() {
            Some("text") => call.text(text("text")).await?,
            Some("diff") => call.diff(text("path"), text("new_text"), with["old_text"].as_str()).await?,
            Some("change") => {
                let mut changes = with.clone();
                changes["toolCallId"] = json!(call.id());
                call.update(read(&changes)).await?;
            }
            Some("append") => match with["text"].as_str() {
                Some(text) => call.append(v1::Content::new(text.into())).await?,
                None => call.append(read::<v1::ToolCallContent<'static>>(&with["content"])).await?,
            },
            Some("show") => call.show(world.display(text("terminal"))).await?,
            Some("background") => turn.session().background(&call).await?,
            Some("cancelled") => {
                call.cancelled().await?;
                return Ok(());
            }
            Some("complete") => {
                match with.get("raw_output") {
                    Some(output) => call.complete_with(Raw::of(output)?).await?,
                    None => call.complete().await?,
                }
                return Ok(());
            }
            Some("fail") => {
                call.fail(text("text")).await?;
                return Ok(());
            }
            Some("ask_permission") => {
                let asked = match with.get("options") {
                    Some(options) => call.ask_permission_with(list(options)).await,
                    None => call.ask_permission().await,
                };
                let refused = asked.as_ref().is_ok_and(|permission| !permission.allowed);
                tell(world, name, asked.map(|permission| outcome(&permission)))?;
                if refused {
                    // Dropped, it has failed.
                    return Ok(());
                }
            }
            _ => {
                act(world, method, subject, std::slice::from_ref(action)).await?;
            }
        }
    }
    Ok(call.complete().await?)
}

pub(super) async fn terminal(world: &World, method: &str, subject: &Subject, with: &Value) -> Result<(), Failure> {
    let turn = subject.turn();
    let command = with["command"].as_str().unwrap();
    let args: Vec<&str> = with["args"].as_array().into_iter().flatten().map(|arg| arg.as_str().unwrap()).collect();
    let plain = with.as_object().unwrap().keys().all(|name| ["command", "args", "then"].contains(&name.as_str()));
    let terminal: Terminal = if plain {
        turn.terminal(command, args).await?
    } else {
        let mut request = v1::CreateTerminalRequest::new(turn.session().id(), command);
        request.args = args.into_iter().map(Into::into).collect();
        let env = with["env"].as_object().into_iter().flatten();
        request.env = env.map(|(name, value)| v1::EnvVariable::new(name.as_str(), value.as_str().unwrap())).collect();
        request.cwd = with["cwd"].as_str().map(Into::into);
        request.output_byte_limit = with["output_byte_limit"].as_u64();
        turn.terminal_with(request.into_owned()).await?
    };
    for action in with["then"].as_array().into_iter().flatten() {
        let name = action["as"].as_str();
        match action["do"].as_str() {
            Some("wait") => tell(world, name, terminal.wait().await.map(|end| serde_json::to_value(end).unwrap()))?,
            Some("output") => tell(world, name, terminal.output().await.map(|end| serde_json::to_value(end).unwrap()))?,
            Some("kill") => tell(world, name, terminal.kill().await.map(|end| serde_json::to_value(end).unwrap()))?,
            _ => {
                act(world, method, subject, std::slice::from_ref(action)).await?;
            }
        }
    }
    Ok(terminal.release().await?)
}

pub(super) async fn display(world: &World, method: &str, subject: &Subject, with: &Value) -> Result<(), Failure> {
    let turn = subject.turn();
    let (command, id, cwd) = (with["command"].as_str().unwrap(), with["id"].as_str(), with["cwd"].as_str());
    let terminal: DisplayTerminal = if id.is_none() && cwd.is_none() {
        turn.display_terminal(command).await?
    } else {
        let mut update = v2::TerminalUpdate::new(id.unwrap_or_default().to_owned());
        update.command = Patch::Value(command.into());
        update.cwd = cwd.map_or(Patch::Absent, |cwd| Patch::Value(cwd.into()));
        turn.display_terminal_with(update).await?
    };
    world.displays(&terminal);
    for action in with["then"].as_array().into_iter().flatten() {
        let with = &action["with"];
        match action["do"].as_str() {
            Some("write") => terminal.write(with["text"].as_str().unwrap()).await?,
            Some("background") => turn.session().background(&terminal).await?,
            Some("exit") => {
                match (with["code"].as_i64(), with["signal"].as_str()) {
                    (Some(code), None) => terminal.exit(code).await?,
                    (code, signal) => {
                        let mut status = v2::TerminalExitStatus::new();
                        (status.exit_code, status.signal) = (code, signal.map(Into::into));
                        terminal.exit_with(status).await?;
                    }
                }
                return Ok(());
            }
            _ => {
                act(world, method, subject, std::slice::from_ref(action)).await?;
            }
        }
    }
    Ok(())
}
