//! Snapshots: all that is known of a connection, and of a session, as one JSON text each, the same in every language.

use super::Connection;
use crate::engine::Session;
use crate::json::Writer;

impl Connection {
    /// All that is known of the connection as a whole, as JSON text: an object that always has these members.
    /// [`Session::snapshot`] is the same for one session.
    ///
    /// | member | value | from |
    /// | --- | --- | --- |
    /// | `phase` | `start`, `initializing`, `ready` or `closed` | [`phase`](Connection::phase) |
    /// | `version` | a number, or null before it is agreed | [`version`](Connection::version) |
    /// | `login` | `unknown`, `required` or `done` | [`login`](Connection::login) |
    /// | `loginMethods` | a list of `{"methodId", "kind"}`, the second `agent`, `terminal`, `custom` or `unknown` | [`login_methods`](Connection::login_methods) |
    /// | `openElicitations` | a list of ids | [`open_elicitations`](Connection::open_elicitations) |
    /// | `providers` | a list of `{"providerId", "enabled"}` | [`providers`](Connection::providers) |
    ///
    /// ```
    /// # use libacp::{Config, Connection};
    /// let mut client = Connection::new(Config::client());
    /// client.request("initialize", "{}").unwrap();
    /// client.receive(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":1,\"authMethods\":[{\"id\":\"web\",\"name\":\"Web\"}]}}\n");
    /// while client.poll_event().is_some() {}
    /// let snapshot = client.snapshot();
    /// assert_eq!(libacp::json::pointer(&snapshot, "/login"), Some("\"unknown\""));
    /// assert_eq!(libacp::json::pointer(&snapshot, "/loginMethods"), Some(r#"[{"methodId":"web","kind":"agent"}]"#));
    /// ```
    pub fn snapshot(&self) -> String {
        let mut out = Writer::new();
        out.begin_object().key("phase").string(self.phase().name()).key("version");
        match self.version() {
            Some(version) => out.unsigned(version.into()),
            None => out.null(),
        };
        out.key("login").string(self.login().name()).key("loginMethods").begin_array();
        for (id, kind) in self.login_methods() {
            out.begin_object().key("methodId").string(id).key("kind").string(kind.name()).end_object();
        }
        out.end_array();
        strings(&mut out, "openElicitations", self.open_elicitations());
        out.key("providers").begin_array();
        for (id, enabled) in self.providers() {
            out.begin_object().key("providerId").string(id).key("enabled").boolean(enabled).end_object();
        }
        out.end_array().end_object();
        out.finish().unwrap_or_default()
    }
}

impl Session {
    /// All that is known of the session as JSON text: an object with these members, always all of them. Lists that the
    /// agent told of stand in it as they came.
    ///
    /// | member | value | from |
    /// | --- | --- | --- |
    /// | `state` | `loading`, `resuming` or `ready` | [`state`](Session::state) |
    /// | `turn` | `idle`, `running`, `requires_action` or `cancelling` | [`turn`](Session::turn) |
    /// | `stopReason` | why the work ended, or null | [`stop_reason`](Session::stop_reason) |
    /// | `error` | the error that it ended with, or null | [`stop_error`](Session::stop_error) |
    /// | `background` | the list of what runs beside it, or null | [`background`](Session::background) |
    /// | `terminals` | an object from terminal id to whether its command has ended | [`terminals`](Session::terminals) |
    /// | `cwd` | the working directory, or null | [`cwd`](Session::cwd) |
    /// | `roots` | the list of all its directories | [`roots`](Session::roots) |
    /// | `modes` | `{"currentModeId", "availableModes"}`, the second a list or null; or null | [`mode`](Session::mode), [`available_modes`](Session::available_modes) |
    /// | `configOptions` | a list, or null | [`config_options`](Session::config_options) |
    /// | `toolCalls` | a list of `{"toolCallId", "status"}` | [`tool_calls`](Session::tool_calls) |
    /// | `displayTerminals` | a list of `{"terminalId", "exited"}` | [`display_terminals`](Session::display_terminals) |
    /// | `cancellable` | `{"toolCalls", "terminals"}`, lists of the ids of those that the client may cancel | [`cancellable_tool_calls`](Session::cancellable_tool_calls), [`cancellable_terminals`](Session::cancellable_terminals) |
    /// | `plan` | the list of its entries, or null | [`plan`](Session::plan) |
    /// | `planIds` | a list | [`plan_ids`](Session::plan_ids) |
    /// | `commands` | a list, or null | [`commands`](Session::commands) |
    /// | `openCompactions` | a list of ids | [`open_compactions`](Session::open_compactions) |
    /// | `authUncertain` | whether it was opened before the last logout | [`auth_uncertain`](Session::auth_uncertain) |
    /// | `parent` | the id of the session that it is a child of, or null | [`parent`](Session::parent) |
    /// | `mayCancel` | whether the client may cancel its work | [`may_cancel`](Session::may_cancel) |
    ///
    /// Null says that the session has told of none, or of more than is kept. It costs as much as it is long, so take it
    /// when it is looked at, not with every message.
    ///
    /// ```
    /// # use libacp::{Config, Connection};
    /// # let mut client = Connection::new(Config::client());
    /// # client.request("initialize", "{}").unwrap();
    /// # client.receive(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":1}}\n");
    /// # while client.poll_event().is_some() {}
    /// client.request("session/new", r#"{"cwd":"/work","mcpServers":[]}"#).unwrap();
    /// client.receive(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"sessionId\":\"s\"}}\n");
    /// while client.poll_event().is_some() {}
    /// let snapshot = client.session("s").unwrap().snapshot();
    /// assert_eq!(libacp::json::pointer(&snapshot, "/turn"), Some("\"idle\""));
    /// assert_eq!(libacp::json::pointer(&snapshot, "/roots"), Some("[\"/work\"]"));
    /// assert_eq!(libacp::json::pointer(&snapshot, "/plan"), Some("null"));
    /// ```
    pub fn snapshot(&self) -> String {
        let mut out = Writer::new();
        out.begin_object().key("state").string(self.state.name()).key("turn").string(self.turn.name());
        match self.stop_reason() {
            Some(reason) => out.key("stopReason").string(reason),
            None => out.key("stopReason").null(),
        };
        list(&mut out, "error", self.stop_error());
        list(&mut out, "background", self.background());
        out.key("terminals").begin_object();
        for (id, ended) in &self.terminals {
            out.key(id).boolean(*ended);
        }
        out.end_object().key("cwd");
        match self.cwd() {
            Some(cwd) => out.string(cwd),
            None => out.null(),
        };
        strings(&mut out, "roots", self.roots());
        self.write_modes(&mut out);
        list(&mut out, "configOptions", self.config_options());
        out.key("toolCalls").begin_array();
        for (id, status) in self.tool_calls() {
            out.begin_object().key("toolCallId").string(id).key("status").string(status).end_object();
        }
        out.end_array().key("displayTerminals").begin_array();
        for (id, exited) in self.display_terminals() {
            out.begin_object().key("terminalId").string(id).key("exited").boolean(exited).end_object();
        }
        out.end_array().key("cancellable").begin_object();
        strings(&mut out, "toolCalls", self.cancellable_tool_calls());
        strings(&mut out, "terminals", self.cancellable_terminals());
        out.end_object();
        list(&mut out, "plan", self.plan());
        strings(&mut out, "planIds", self.plan_ids());
        list(&mut out, "commands", self.commands());
        strings(&mut out, "openCompactions", self.open_compactions());
        out.key("authUncertain").boolean(self.auth_uncertain).key("parent");
        match self.parent() {
            Some(parent) => out.string(parent),
            None => out.null(),
        };
        out.key("mayCancel").boolean(self.may_cancel()).end_object();
        out.finish().unwrap_or_default()
    }

    fn write_modes(&self, out: &mut Writer) {
        out.key("modes");
        let Some(current) = self.mode() else {
            out.null();
            return;
        };
        out.begin_object().key("currentModeId").string(&current);
        list(out, "availableModes", self.available_modes());
        out.end_object();
    }
}

fn list(out: &mut Writer, name: &str, text: Option<&str>) {
    out.key(name).json(text.unwrap_or("null"));
}

fn strings<'a>(out: &mut Writer, name: &str, items: impl Iterator<Item = &'a str>) {
    out.key(name).begin_array();
    for item in items {
        out.string(item);
    }
    out.end_array();
}
