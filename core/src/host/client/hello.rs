//! `initialize`: what a client says in the words of version 1, said for both versions, and what an agent of version 2 answers.

use super::shapes::{copy, given, object, rename, text};
use crate::json::{self, Writer};
use crate::versions::Versions;

/// The client's capabilities that both versions have in the same shape.
const ALIKE: [&str; 4] = ["elicitation", "nes", "positionEncodings", "_meta"];
/// Capabilities that are objects in version 2 and `true` in version 1: where each stands in them.
const SWITCHES: [(&str, &[&str]); 2] =
    [("promptCapabilities", &["image", "audio", "embeddedContext"]), ("mcpCapabilities", &["http", "acp"])];
/// The names of the same in version 2, below `session`.
const OF_SESSIONS: [(&str, &str); 2] = [("promptCapabilities", "prompt"), ("mcpCapabilities", "mcp")];
/// What every agent of version 2 with sessions serves (CAP-05), and version 1 has a capability for.
const BASIC: [&str; 3] = ["list", "resume", "close"];

/// The params of `initialize` in the words of each of these versions (INIT-16). Words of version 2 that are there already
/// are kept.
pub(super) fn params(given_: &str, versions: Versions) -> String {
    let own = |name: &str| given(given_, &format!("/{name}"));
    object(given_, |writer| {
        let old: &[&str] = if versions.contains(1) { &[] } else { &["clientInfo", "clientCapabilities"] };
        let nothing = ["info", "capabilities"].into_iter().filter(|name| own(name).is_none());
        copy(writer, given_, &old.iter().copied().chain(nothing).collect::<Vec<_>>());
        if own("info").is_none() {
            let unknown = r#"{"name":"unknown","version":"unknown"}"#;
            writer.key("info").json(own("clientInfo").unwrap_or(unknown));
        }
        if own("capabilities").is_none() {
            client_capabilities(writer.key("capabilities"), own("clientCapabilities").unwrap_or("{}"));
        }
    })
}

/// Files and terminals of the client are no part of version 2 (CAP-14); other members of version 1 are capabilities that
/// every client of version 2 has.
fn client_capabilities(writer: &mut Writer, old: &str) {
    writer.begin_object();
    for name in ALIKE {
        if let Some(value) = json::pointer(old, &format!("/{name}")) {
            writer.key(name).json(value);
        }
    }
    if let Some(auth) = given(old, "/auth") {
        writer.key("auth").begin_object();
        copy(writer, auth, &["terminal"]);
        if json::pointer(auth, "/terminal") == Some("true") {
            writer.key("terminal").json("{}");
        }
        writer.end_object();
    }
    writer.end_object();
}

/// The result of `initialize` of version 2 in the words of version 1. An agent may write both spellings, and the new one
/// counts.
pub(super) fn result(answer: &str) -> String {
    object(answer, |writer| {
        let info = given(answer, "/info").or_else(|| given(answer, "/agentInfo"));
        copy(writer, answer, &["info", "agentInfo", "capabilities", "agentCapabilities", "authMethods"]);
        if let Some(info) = info {
            writer.key("agentInfo").json(info);
        }
        let methods = json::items(json::pointer(answer, "/authMethods").unwrap_or("[]"));
        let capabilities = given(answer, "/capabilities").unwrap_or("{}");
        agent_capabilities(writer.key("agentCapabilities"), capabilities, !methods.is_empty());
        writer.key("authMethods").begin_array();
        for method in methods {
            auth_method(writer, method);
        }
        writer.end_array();
    })
}

/// An agent with ways to log in serves the logout, too (AUTH-18).
fn agent_capabilities(writer: &mut Writer, new: &str, has_logins: bool) {
    writer.begin_object();
    copy(
        writer,
        new,
        &["session", "auth", "loadSession", "promptCapabilities", "mcpCapabilities", "sessionCapabilities"],
    );
    writer.key("auth").begin_object();
    copy(writer, given(new, "/auth").unwrap_or("{}"), &["logout"]);
    if has_logins {
        writer.key("logout").json("{}");
    }
    writer.end_object();
    let session = given(new, "/session");
    writer.key("loadSession").boolean(session.is_some());
    let session = session.unwrap_or("{}");
    for (name, members) in SWITCHES {
        let below = OF_SESSIONS.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| new);
        let block = given(session, &format!("/{below}")).unwrap_or("{}");
        writer.key(name).begin_object();
        copy(writer, block, members);
        for member in members {
            writer.key(member).boolean(given(block, &format!("/{member}")).is_some());
        }
        writer.end_object();
    }
    writer.key("sessionCapabilities").begin_object();
    copy(writer, session, &["prompt", "mcp", "list", "resume", "close"]);
    for name in BASIC.iter().filter(|_| given(new, "/session").is_some()) {
        writer.key(name).json("{}");
    }
    writer.end_object();
    writer.end_object();
}

/// A way to log in: one that the agent performs itself has no type in version 1, and variables are an object there, in which
/// the last of a name counts (AUTH-20).
fn auth_method(writer: &mut Writer, method: &str) {
    writer.begin_object();
    let agent = text(method, "/type").is_some_and(|kind| kind == "agent");
    let own = object(method, |writer| copy(writer, method, if agent { &["type", "env"] } else { &["env"] }));
    rename(writer, &own, &[("methodId", "id")]);
    if let Some(env) = given(method, "/env") {
        writer.key("env").begin_object();
        let variables = json::columns(env, ["name", "value"]);
        for (at, [name, value]) in variables.iter().enumerate() {
            let again = variables[at + 1..].iter().any(|[other, _]| other == name);
            if let Some((name, value)) = name.and_then(json::unescape).zip(*value).filter(|_| !again) {
                writer.key(&name).json(value);
            }
        }
        writer.end_object();
    }
    writer.end_object();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> serde_json::Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_client_says_what_it_can_do_in_both_versions() {
        let old = r#"{"clientInfo":{"name":"c","version":"1"},"_meta":{"k":1},"clientCapabilities":{"fs":{"readTextFile":true},"terminal":true,
            "elicitation":{"form":{}},"auth":{"terminal":true},"_meta":{"x":1}}}"#;
        let new = r#""info":{"name":"c","version":"1"},"capabilities":{"elicitation":{"form":{}},"_meta":{"x":1},"auth":{"terminal":{}}}}"#;
        let both = format!("{},{new}", &old[..old.len() - 1]);
        assert_eq!(parsed(&params(old, Versions::ALL)), parsed(&both));
        assert_eq!(parsed(&params(old, Versions::only(2))), parsed(&format!(r#"{{"_meta":{{"k":1}},{new}"#)));
        let own = r#"{"info":{"name":"n","version":"2"},"capabilities":{}}"#;
        assert_eq!(params(own, Versions::ALL), own);
        assert_eq!(parsed(&params("{}", Versions::ALL))["info"]["name"], "unknown");
    }

    #[test]
    fn what_an_agent_can_do_is_said_in_the_words_of_version_1() {
        let new = r#"{"protocolVersion":2,"info":{"name":"a","version":"1"},"_meta":{"k":1},"capabilities":{"_meta":{"x":1},
            "session":{"prompt":{"image":{}},"mcp":{"stdio":{},"http":{}},"delete":{},"list":{}}},"authMethods":[
            {"type":"agent","methodId":"l","name":"L"},
            {"type":"terminal","methodId":"t","name":"T","env":[{"name":"A","value":"1"},{"name":"B","value":"2"},{"name":"A","value":"3"}]},
            {"type":"_x","methodId":"x","name":"X"}]}"#;
        let old = r#"{"protocolVersion":2,"_meta":{"k":1},"agentInfo":{"name":"a","version":"1"},"agentCapabilities":{"_meta":{"x":1},
            "auth":{"logout":{}},"loadSession":true,
            "promptCapabilities":{"image":true,"audio":false,"embeddedContext":false},
            "mcpCapabilities":{"stdio":{},"http":true,"acp":false},
            "sessionCapabilities":{"delete":{},"list":{},"resume":{},"close":{}}},"authMethods":[
            {"id":"l","name":"L"},
            {"type":"terminal","id":"t","name":"T","env":{"A":"3","B":"2"}},
            {"type":"_x","id":"x","name":"X"}]}"#;
        assert_eq!(parsed(&result(new)), parsed(old));
        let both = r#"{"protocolVersion":2,"info":{"name":"a","version":"1"},"agentInfo":{"name":"b","version":"1"},
            "capabilities":{"session":{},"loadSession":false,"sessionCapabilities":{},"promptCapabilities":{},"mcpCapabilities":{}},
            "agentCapabilities":{"loadSession":false},"authMethods":[{"type":"agent","methodId":"l","id":"k","name":"L"}]}"#;
        let text = result(both);
        let read = crate::schema::read::<crate::schema::v1::InitializeResponse<'_>>(&text).unwrap();
        assert_eq!(read.agent_info.unwrap().name, "a");
        assert_eq!(parsed(&text)["agentCapabilities"]["loadSession"], true);
        assert_eq!(parsed(&text)["authMethods"], parsed(r#"[{"id":"l","name":"L"}]"#));
        let nothing = parsed(&result(r#"{"protocolVersion":2,"capabilities":{}}"#));
        assert_eq!(nothing["agentCapabilities"]["loadSession"], false);
        assert!(nothing["agentCapabilities"]["auth"].get("logout").is_none());
        assert_eq!(nothing["agentCapabilities"]["sessionCapabilities"], parsed("{}"));
    }
}
