//! WebSocket: what a handshake has to say, and with which codes sockets close. Frames, masks and keys are the work of a
//! library.

use super::head::Request;

/// Why a socket closes: the codes of RFC 6455 that are used here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum CloseCode {
    /// The conversation is over.
    Normal = 1000,
    /// The server stops, or the agent is gone.
    GoingAway = 1001,
    /// The peer broke the protocol.
    Protocol = 1002,
    /// The peer did what the server does not allow, or nothing at all for too long.
    Policy = 1008,
    /// A message was over the limit (HTTP-27).
    TooBig = 1009,
    /// The agent failed.
    Internal = 1011,
    /// The server has too much to do.
    TryAgainLater = 1013,
}

impl CloseCode {
    /// The number.
    pub const fn number(self) -> u16 {
        self as u16
    }
}

/// What a code of a close frame says (RFC 6455, 7.4.1), for a log.
pub const fn close_reason(code: u16) -> &'static str {
    match code {
        1000 => "it is done",
        1001 => "it goes away",
        1002 => "a frame broke the protocol",
        1003 => "it does not take such data",
        1007 => "a text was not UTF-8",
        1008 => "it does not allow that",
        1009 => "a message was over its limit",
        1010 => "an extension is missing",
        1011 => "it failed",
        1012 => "it starts again",
        1013 => "it has too much to do",
        1014 => "what is behind it failed",
        _ => "for a reason of its own",
    }
}

/// Something to send on a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// A text frame with one message (WS-03).
    Text(String),
    /// A ping without data. Libraries that send their own may leave it out.
    Ping,
    /// The last frame.
    Close(CloseCode, &'static str),
}

/// What a handshake asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Handshake {
    /// It is no handshake.
    No,
    /// It asks for a version of the protocol other than 13.
    OtherVersion,
    Yes,
}

/// Whether a `GET` asks for a WebSocket (WS-01).
pub(crate) fn handshake(request: &Request<'_>) -> Handshake {
    let headers = request.headers;
    if !headers.has_word("upgrade", "websocket") || !headers.has_word("connection", "upgrade") {
        Handshake::No
    } else if headers.single("sec-websocket-version").value() == Some("13") {
        Handshake::Yes
    } else {
        Handshake::OtherVersion
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handshake_has_three_headers() {
        let ask = |upgrade: &str, connection: &str, version: &str| {
            let headers = [
                ("Upgrade", upgrade.as_bytes()),
                ("Connection", connection.as_bytes()),
                ("Sec-WebSocket-Version", version.as_bytes()),
            ];
            handshake(&Request::new("GET", "/acp", &headers))
        };
        assert_eq!(ask("WebSocket", "keep-alive, Upgrade", "13"), Handshake::Yes);
        assert_eq!(ask("websocket", "Upgrade", "8"), Handshake::OtherVersion);
        assert_eq!(ask("h2c", "Upgrade", "13"), Handshake::No);
        assert_eq!(ask("websocket", "keep-alive", "13"), Handshake::No);
        assert_eq!(CloseCode::TooBig.number(), 1009);
    }
}
