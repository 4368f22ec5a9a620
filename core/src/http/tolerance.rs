//! Where the draft of the transport contradicts itself, leaves something open, or its implementations differ: 20 points, and
//! what is done about each.
//!
//! Where there is a choice, the tolerant way is the default, and what a peer does otherwise than the draft says is reported
//! as a violation of the rule. [`Tolerance::strict`] refuses it.

use crate::rules::RuleId;

/// A point at which a tolerant server or client accepts what a strict one refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Choice {
    /// A server lets a client open the stream of a session that the connection does not know yet, as is needed before
    /// `session/load`. Strict: 404.
    EarlyStream = 1,
    /// A client takes the answer to `session/load` from the stream of the session as well.
    LoadAnswer = 2,
    /// A server drops a notification `initialized`, which this protocol does not have. Strict: the agent gets it.
    Initialized = 3,
    /// A client reads the id of the connection from the body of the first answer if no header has it.
    IdInBody = 4,
    /// A server takes a call that opens a session without `Acp-Session-Id`. Strict: 400.
    OpensWithoutHeader = 5,
    /// A server takes `$/cancel_request` and others that belong to no session with `Acp-Session-Id`. Strict: 400.
    NeedlessHeader = 6,
    /// A server takes an answer without `Acp-Session-Id`: the id of the question tells the session. Strict: 400.
    AnswerWithoutHeader = 7,
    /// A server gives a stream to a second reader if the first has taken nothing for two keep-alives. Strict: 409.
    StaleReader = 8,
    /// A server passes on `initialize` on a connection that has been initialized. Strict: 400, or an error on a socket.
    InitializeAgain = 9,
    /// A client takes any successful status in place of 202.
    AnyStatus = 10,
}

impl Choice {
    /// All of them.
    pub const ALL: [Choice; 10] = [
        Choice::EarlyStream,
        Choice::LoadAnswer,
        Choice::Initialized,
        Choice::IdInBody,
        Choice::OpensWithoutHeader,
        Choice::NeedlessHeader,
        Choice::AnswerWithoutHeader,
        Choice::StaleReader,
        Choice::InitializeAgain,
        Choice::AnyStatus,
    ];

    /// The name in settings that are JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Choice::EarlyStream => "early-stream",
            Choice::LoadAnswer => "load-answer",
            Choice::Initialized => "initialized",
            Choice::IdInBody => "id-in-body",
            Choice::OpensWithoutHeader => "opens-without-header",
            Choice::NeedlessHeader => "needless-header",
            Choice::AnswerWithoutHeader => "answer-without-header",
            Choice::StaleReader => "stale-reader",
            Choice::InitializeAgain => "initialize-again",
            Choice::AnyStatus => "any-status",
        }
    }
}

/// One of the points.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Point {
    /// Its number.
    pub number: u8,
    /// What is unclear, and what is done.
    pub text: &'static str,
    /// The rule that reports about it carry.
    pub rule: Option<RuleId>,
    /// What can be switched; `None` where nothing can.
    pub choice: Option<Choice>,
}

const fn point(number: u8, rule: Option<RuleId>, choice: Option<Choice>, text: &'static str) -> Point {
    Point { number, text, rule, choice }
}

/// The points, in the order of their numbers.
pub const POINTS: [Point; 20] = [
    point(1, Some(id!("WS-05")), None, "Sessions outlive a connection, and a WebSocket that ends ends its sessions: the transport ends the connection alone; the agent decides what its sessions are then."),
    point(2, Some(id!("HTTP-09")), Some(Choice::EarlyStream), "An unknown session is 404, and its stream is opened before it is loaded: a bounded number of streams is opened for sessions that are not known yet, and one whose session no call asks for is reported; a client that gets 404 tries again after the load."),
    point(3, Some(id!("HTTP-10")), Some(Choice::LoadAnswer), "The answer to a load comes on the stream of the connection, and three servers send it on that of the session: a server does the former, a client takes either."),
    point(4, Some(id!("HTTP-12")), None, "Nothing says where a replay ends: a server sends the answer when the replay has left, a client waits for it."),
    point(5, Some(id!("HTTP-04")), Some(Choice::Initialized), "The draft speaks of a step `initialized`, which this protocol lacks: a notification of that name is dropped."),
    point(6, Some(id!("HTTP-03")), Some(Choice::IdInBody), "The id of the connection is in the header, and in the body by one sentence: a server writes the header; a client reads either."),
    point(7, Some(id!("HTTP-08")), Some(Choice::OpensWithoutHeader), "Which calls belong to a session: those whose params name one. The answers of calls that open one come on the stream of the connection."),
    point(8, Some(id!("HTTP-08")), Some(Choice::NeedlessHeader), "`$/cancel_request` names no session: it is sent for the connection, and taken with a session as well."),
    point(9, Some(id!("HTTP-08")), Some(Choice::AnswerWithoutHeader), "Whether answers of a client carry the session: it sends it, and a server does without."),
    point(10, Some(id!("HTTP-13")), None, "The session in the header and the one in the body differ: 400."),
    point(11, Some(id!("HTTP-26")), Some(Choice::StaleReader), "A stream has one reader. A second one is 409, unless the first is dead."),
    point(12, Some(id!("HTTP-15")), None, "Batches are 501, with a JSON-RPC error."),
    point(13, Some(id!("HTTP-03")), Some(Choice::InitializeAgain), "`initialize` with the id of a connection goes to that connection; the answer is the body of a 200."),
    point(14, Some(id!("RPC-21")), None, "What is no message is 400, with a JSON-RPC error."),
    point(15, Some(id!("HTTP-21")), None, "Keep-alives, limits, idle connections, origins and hosts are not described: all are on by default."),
    point(16, Some(id!("HTTP-01")), None, "HTTP/2 is required, and WebSocket was made for HTTP/1.1: both are served, and a client takes what the server speaks."),
    point(17, Some(id!("HTTP-27")), None, "Browsers allow six requests over HTTP/1.1, proxies a number over HTTP/2: a client knows its limit, and says when a session does not fit any more."),
    point(18, Some(id!("HTTP-06")), None, "The browser's own reader of event streams sends no headers: streams are read from responses to ordinary requests."),
    point(19, None, None, "Diagrams of the draft have names and values that the protocol lacks: only the protocol's are known."),
    point(20, Some(id!("HTTP-25")), None, "Redirects and refused credentials are not described: a client reports them, and tries again with new headers."),
];

/// What is tolerated. The default is everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tolerance(u16);

impl Default for Tolerance {
    fn default() -> Self {
        Tolerance(u16::MAX)
    }
}

impl Tolerance {
    /// Nothing.
    #[must_use]
    pub const fn strict() -> Self {
        Tolerance(0)
    }

    /// With one choice made otherwise.
    #[must_use]
    pub const fn with(self, choice: Choice, tolerated: bool) -> Self {
        let bit = 1 << choice as u16;
        Tolerance(if tolerated { self.0 | bit } else { self.0 & !bit })
    }

    /// Whether the tolerant way is taken.
    pub const fn has(self, choice: Choice) -> bool {
        self.0 & 1 << choice as u16 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_numbered_and_choices_stand_once() {
        for (at, point) in POINTS.iter().enumerate() {
            assert_eq!(usize::from(point.number), at + 1);
        }
        let choices: Vec<Choice> = POINTS.iter().filter_map(|point| point.choice).collect();
        assert!(choices.iter().enumerate().all(|(at, choice)| !choices[..at].contains(choice)));
    }

    #[test]
    fn choices_are_made_one_by_one() {
        let strict = Tolerance::strict().with(Choice::StaleReader, true);
        assert!(strict.has(Choice::StaleReader) && !strict.has(Choice::AnyStatus));
        let tolerant = Tolerance::default().with(Choice::EarlyStream, false);
        assert!(!tolerant.has(Choice::EarlyStream) && tolerant.has(Choice::AnyStatus));
    }
}
