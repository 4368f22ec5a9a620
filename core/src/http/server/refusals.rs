//! With which status, code and words each request is refused. Every response with an error comes from this table.

use crate::http::{head, Response};
use crate::rules::RuleId;
use crate::{ErrorCode, Id};

/// A way to refuse a request.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) rule: RuleId,
    pub(super) status: u16,
    code: ErrorCode,
    pub(super) message: &'static str,
    header: Option<(&'static str, &'static str)>,
}

impl Refusal {
    const fn new(rule: RuleId, status: u16, message: &'static str) -> Self {
        Refusal { rule, status, code: ErrorCode::INVALID_REQUEST, message, header: None }
    }

    const fn code(mut self, code: ErrorCode) -> Self {
        self.code = code;
        self
    }

    const fn header(mut self, name: &'static str, value: &'static str) -> Self {
        self.header = Some((name, value));
        self
    }

    /// The response, with another sentence if there is a better one.
    pub(super) fn response(&self, message: Option<&str>) -> Response {
        let response = Response::new(self.status);
        let response = self.header.into_iter().fold(response, |response, (name, value)| response.header(name, value));
        response.error(self.code, message.unwrap_or(self.message), self.rule.as_str())
    }

    /// The error for a message that no response belongs to.
    pub(super) fn answer(&self, id: &Id) -> String {
        head::error(id, self.code, self.message, self.rule.as_str())
    }
}

macro_rules! refusals {
    ($($name:ident = $new:expr;)*) => {
        $(pub(super) const $name: Refusal = $new;)*
        /// All of them.
        #[cfg(test)]
        pub(super) const ALL: &[Refusal] = &[$($name),*];
    };
}

refusals! {
    OTHER_PATH = Refusal::new(id!("HTTP-01"), 404, "there is nothing at this path");
    OTHER_METHOD = Refusal::new(id!("HTTP-01"), 405, "the endpoint serves POST, GET and DELETE").header("allow", "GET, POST, DELETE, OPTIONS");
    INITIALIZED = Refusal::new(id!("HTTP-03"), 400, "the connection is initialized");
    NOT_A_METHOD = Refusal::new(id!("HTTP-04"), 400, "the protocol has no such method");
    NOT_JSON = Refusal::new(id!("HTTP-05"), 415, "the body has to be application/json");
    NOT_A_STREAM = Refusal::new(id!("HTTP-06"), 406, "accept text/event-stream, or ask for a WebSocket");
    NO_CONNECTION = Refusal::new(id!("HTTP-07"), 400, "Acp-Connection-Id is missing, repeated or malformed");
    UNKNOWN_CONNECTION = Refusal::new(id!("HTTP-07"), 404, "there is no such connection; initialize a new one");
    NO_SESSION = Refusal::new(id!("HTTP-08"), 400, "Acp-Session-Id is missing");
    NEEDLESS_SESSION = Refusal::new(id!("HTTP-08"), 400, "the message belongs to no session");
    UNKNOWN_SESSION = Refusal::new(id!("HTTP-09"), 404, "the connection has no such session");
    NO_QUESTION = Refusal::new(id!("HTTP-11"), 400, "the agent has no such open request");
    OTHER_SESSION = Refusal::new(id!("HTTP-13"), 400, "the session in the header is not the one in the body");
    BATCH = Refusal::new(id!("HTTP-15"), 501, "batches are not served; send one message at a time");
    BAD_SESSION = Refusal::new(id!("HTTP-22"), 400, "Acp-Session-Id has to be one id of visible ASCII characters; use WebSocket for others");
    FOREIGN_ORIGIN = Refusal::new(id!("HTTP-23"), 403, "pages of this origin are not served");
    OTHER_HOST = Refusal::new(id!("HTTP-24"), 421, "this server does not answer to this host");
    NO_TOKEN = Refusal::new(id!("HTTP-25"), 401, "a token is required").header("www-authenticate", "Bearer");
    SECOND_READER = Refusal::new(id!("HTTP-26"), 409, "the stream has a reader");
    LARGE_BODY = Refusal::new(id!("HTTP-27"), 413, "the body is over the limit");
    LARGE_HEAD = Refusal::new(id!("HTTP-27"), 431, "the headers are over the limit");
    MANY_CALLS = Refusal::new(id!("HTTP-27"), 429, "too many calls are open").header("retry-after", "1");
    MANY_SESSIONS = Refusal::new(id!("HTTP-27"), 429, "the connection has too many sessions");
    MANY_CONNECTIONS = Refusal::new(id!("HTTP-27"), 503, "too many connections are open").header("retry-after", "10");
    BUSY = Refusal::new(id!("HTTP-27"), 503, "the agent has too much to read").header("retry-after", "1");
    SLOW_BODY = Refusal::new(id!("HTTP-28"), 408, "the body took too long");
    SLOW_AGENT = Refusal::new(id!("HTTP-28"), 504, "the agent took too long to answer").code(ErrorCode::INTERNAL_ERROR);
    LOST_STREAM = Refusal::new(id!("HTTP-28"), 410, "nobody read this stream, and its messages are lost; load the session");
    LOST_EVENTS = Refusal::new(id!("HTTP-28"), 410, "what came after Last-Event-ID is not kept; load the session");
    LOST_AGENT = Refusal::new(id!("HTTP-03"), 502, "the agent has ended").code(ErrorCode::INTERNAL_ERROR);
    NO_ENTROPY = Refusal::new(id!("HTTP-03"), 503, "the server cannot make an id").header("retry-after", "1");
    SYNTAX = Refusal::new(id!("RPC-21"), 400, "the body is not JSON").code(ErrorCode::PARSE_ERROR);
    NO_MESSAGE = Refusal::new(id!("RPC-22"), 400, "the body is no call and no answer");
    SAME_ID = Refusal::new(id!("RPC-10"), 400, "a call with this id is open");
    OTHER_WEBSOCKET = Refusal::new(id!("WS-01"), 426, "WebSocket 13 is served").header("sec-websocket-version", "13");
    FIRST_MESSAGE = Refusal::new(id!("WS-02"), 400, "the first message has to be initialize");
    SOCKET_BATCH = Refusal::new(id!("WS-08"), 501, "batches are not served; send one message at a time");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_say_nothing_of_the_request() {
        for refusal in ALL {
            let response = refusal.response(None);
            assert!((400..600).contains(&response.status), "{refusal:?}");
            assert!(response.body.contains(r#""id":null"#) && response.body.contains(refusal.rule.as_str()));
            assert_eq!(response.headers.last().unwrap().1, "application/json");
        }
        assert!(NO_TOKEN.response(None).headers.contains(&("www-authenticate", "Bearer".into())));
        assert!(UNKNOWN_CONNECTION.response(Some("gone")).body.contains(r#""message":"gone""#));
    }
}
