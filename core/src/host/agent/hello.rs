//! `initialize`, as an agent of version 1 reads and answers it.

use std::borrow::Cow;

use super::object::{each, quoted, Object};
use crate::json;

/// What every client of version 2 takes, and what is a capability in version 1 (NOTE-06, CONF-08).
const TAKEN: &[(&str, &str)] = &[("configOptions", r#"{"boolean":{}}"#), ("notices", "{}"), ("compaction", "{}")];
/// What every agent of version 2 with sessions serves, so that nothing says it; and what it says in another place.
const UNSAID: &[&str] = &["list", "resume", "close", "options"];
const NOBODY: &str = r#"{"name":"unknown","version":"unknown"}"#;

/// The params as in version 1.
pub(super) fn request(params: &str) -> String {
    let mut hello = Object::of(params);
    // A client may write both spellings, and this one counts (INIT-16).
    if hello.has("info") {
        hello.take("clientInfo");
    }
    hello.rename("info", "clientInfo");
    hello.take("clientCapabilities");
    let capabilities = hello.take("capabilities").unwrap_or("{}".into());
    hello.set("clientCapabilities", client(&capabilities));
    hello.write()
}

fn client(capabilities: &str) -> String {
    let mut all = Object::of(capabilities);
    // Version 2 has neither (CAP-14).
    all.retain(|name, _| !matches!(name, "fs" | "terminal"));
    all.change("auth", |auth| {
        let mut auth = Object::of(auth);
        auth.change("terminal", |_| "true".to_owned());
        auth.write()
    });
    let session = all.take("session");
    let mut session = Object::of(session.as_deref().unwrap_or("{}"));
    for (name, marker) in TAKEN {
        session.set_absent(name, *marker);
    }
    let session = session.write();
    all.set("session", session);
    all.write()
}

/// A result of version 1 as in version 2.
pub(super) fn result(result: &str) -> String {
    let mut welcome = Object::of(result);
    welcome.rename("agentInfo", "info");
    welcome.set_absent("info", NOBODY);
    // A handler may name the version that it was written for; the connection names the one that was agreed.
    welcome.take("protocolVersion");
    let capabilities = welcome.take("agentCapabilities");
    let capabilities = welcome.take("capabilities").or(capabilities);
    welcome.set("capabilities", agent(capabilities.as_deref().unwrap_or("{}")));
    welcome.change("authMethods", |methods| each(methods, method));
    welcome.write()
}

fn agent(capabilities: &str) -> String {
    let mut all = Object::of(capabilities);
    all.take("loadSession");
    let prompt = all.take("promptCapabilities");
    let mcp = all.take("mcpCapabilities");
    let sessions = all.take("sessionCapabilities");
    all.change("auth", |auth| {
        let mut auth = Object::of(auth);
        auth.take("logout");
        auth.write()
    });
    let own = all.take("session").or(sessions);
    let mut session = Object::of(own.as_deref().unwrap_or("{}"));
    session.retain(|name, value| !UNSAID.contains(&name) && value != "null");
    if let Some(prompt) = prompt {
        session.set_absent("prompt", markers(Object::of(&prompt)));
    }
    // Every agent of version 1 starts servers as programs, and none of version 2 takes SSE.
    let mut servers = Object::of(mcp.as_deref().unwrap_or("{}"));
    servers.take("sse");
    servers.set_absent("stdio", "{}");
    session.set_absent("mcp", markers(servers));
    let session = session.write();
    // Without it an agent has no sessions at all (CAP-10).
    all.set("session", session);
    all.write()
}

/// Capabilities that are true, as objects (CAP-05).
fn markers(mut capabilities: Object<'_>) -> String {
    capabilities.retain(|_, value| !matches!(value, "false" | "null"));
    let names: Vec<String> = json::members(&capabilities.write()).iter().map(|(name, _)| name.to_string()).collect();
    for name in names {
        capabilities.change(&name, |value| if value == "true" { "{}".to_owned() } else { value.to_owned() });
    }
    capabilities.write()
}

fn method(method: &str) -> String {
    let mut method = Object::of(method);
    method.rename("id", "methodId");
    // What is of no type, or of one that is gone, is a login that the agent performs (AUTH-29).
    if method.text("type").is_none_or(|kind| kind == "env_var") {
        method.set_text("type", "agent");
    }
    method.change("env", variables);
    method.write()
}

/// Variables as a list, if they are an object.
fn variables(env: &str) -> String {
    if !env.starts_with('{') {
        return env.to_owned();
    }
    let item = |(name, value): (Cow<'_, str>, &str)| format!("{{\"name\":{},\"value\":{value}}}", quoted(&name));
    format!("[{}]", json::members(env).into_iter().map(item).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_read_as_one_of_version_1() {
        let params = r#"{"protocolVersion":2,"info":{"name":"c","version":"1"},"clientInfo":{"name":"old","version":"0"},"capabilities":{"auth":{"terminal":{}},"fs":{},"elicitation":{"form":{}}},"clientCapabilities":{"terminal":true},"_meta":{"a":1}}"#;
        let expected = r#"{"protocolVersion":2,"clientInfo":{"name":"c","version":"1"},"_meta":{"a":1},"clientCapabilities":{"auth":{"terminal":true},"elicitation":{"form":{}},"session":{"configOptions":{"boolean":{}},"notices":{},"compaction":{}}}}"#;
        assert_eq!(request(params), expected);
    }

    #[test]
    fn an_agent_says_what_it_can_do_in_version_2() {
        let cases = [
            (
                "{}",
                r#"{"info":{"name":"unknown","version":"unknown"},"capabilities":{"session":{"mcp":{"stdio":{}}}}}"#,
            ),
            (
                r#"{"protocolVersion":1,"agentInfo":{"name":"a","version":"1"},"agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":true,"audio":false,"_meta":{"b":true}},"mcpCapabilities":{"http":true,"sse":true},"sessionCapabilities":{"list":{},"delete":{},"fork":null},"auth":{"logout":{}},"_meta":{"a":1}},"authMethods":[{"id":"w","name":"W"},{"id":"t","name":"T","type":"terminal","env":{"A":"b"}}]}"#,
                r#"{"info":{"name":"a","version":"1"},"authMethods":[{"methodId":"w","name":"W","type":"agent"},{"methodId":"t","name":"T","type":"terminal","env":[{"name":"A","value":"b"}]}],"capabilities":{"auth":{},"_meta":{"a":1},"session":{"delete":{},"prompt":{"image":{},"_meta":{"b":true}},"mcp":{"http":{},"stdio":{}}}}}"#,
            ),
        ];
        for (given, expected) in cases {
            assert_eq!(result(given), expected);
        }
    }
}
