//! What hostile peers send.

use libacp::connection::Role;
use libacp::Id;

use crate::victim::{Habit, Victim};

const MIB: usize = 1 << 20;
/// A frame of the longest, in a buffer that grows by doubling, and beside it as the text of the message.
const FRAME: usize = 5 * MIB;

/// Much of one thing.
#[derive(Debug)]
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    /// Of the host that is attacked.
    pub(crate) role: Role,
    pub(crate) version: u16,
    pub(crate) habit: Habit,
    /// Bytes that the victim may take, however much is sent. Its limits are the defaults, but for frames of 1 MiB.
    pub(crate) memory: usize,
    /// Whether the limits are as high as if there were none.
    pub(crate) unlimited: bool,
    /// How much is sent, in the attack's own measure; then four times as much.
    pub(crate) size: usize,
    pub(crate) send: fn(&mut Victim, usize),
}

impl Attack {
    const fn on(role: Role, name: &'static str, memory: usize, size: usize, send: fn(&mut Victim, usize)) -> Self {
        Attack { name, role, version: 1, habit: Habit::Good, memory, unlimited: false, size, send }
    }

    const fn version(self, version: u16) -> Self {
        Attack { version, ..self }
    }

    const fn unlimited(self) -> Self {
        Attack { unlimited: true, ..self }
    }

    const fn habit(self, habit: Habit) -> Self {
        Attack { habit, ..self }
    }
}

use Role::{Agent, Client};

pub(crate) const ATTACKS: &[Attack] = &[
    Attack::on(Agent, "one byte at a time", FRAME, 200_000, drip),
    Attack::on(Agent, "a frame that never ends", FRAME, 32 * MIB, endless),
    Attack::on(Agent, "a header that announces 8 EiB", FRAME, 8 * MIB, announced),
    Attack::on(Agent, "empty lines", FRAME, MIB / 4, |victim, size| victim.feed(&b"\n".repeat(size))),
    Attack::on(Client, "noise", FRAME, 10_000, |victim, size| victim.feed(&b"what is this\n".repeat(size))),
    Attack::on(Agent, "nesting", FRAME, 25_000, nesting),
    Attack::on(Agent, "keys repeated", FRAME, 5_000, keys),
    Attack::on(Client, "keys that all are other ones", FRAME, 5_000, other_keys),
    Attack::on(Client, "numbers of a thousand digits", FRAME, 200, numbers),
    Attack::on(Agent, "requests never answered", 20 * MIB, 1_500, requests),
    Attack::on(Agent, "ids of every type and size", 20 * MIB, 16, ids),
    Attack::on(Agent, "sessions opened", 40 * MIB, 3_000, sessions),
    Attack::on(Client, "sessions announced", FRAME, 25_000, announced_sessions),
    Attack::on(Client, "sessions listed", 30 * MIB, 4, listed),
    Attack::on(Client, "answers to nothing", FRAME, 10_000, answers),
    Attack::on(Client, "tool calls with long ids", 24 * MIB, 1_500, tool_calls),
    Attack::on(Client, "ids in what repeats", FRAME, 20, long_ids_in_moulds),
    Attack::on(Client, "messages that nearly repeat", FRAME, 2_000, nearly),
    Attack::on(Client, "updates nobody asked for", FRAME, 25_000, updates),
    Attack::on(Agent, "batches", FRAME, 10, batches).version(2),
    Attack::on(Agent, "batches that wait for one answer each", 8 * MIB, 500, open_batches).version(2),
    Attack::on(Agent, "cancels of nothing", FRAME, 10_000, cancels),
    Attack::on(Agent, "terminals without a limit", 100 * MIB, 20_000, terminals).unlimited(),
    Attack::on(Client, "turns that leave tool calls open", 100 * MIB, 4_000, turns).unlimited(),
    Attack::on(Client, "cancels in one session after the other", 100 * MIB, 2_500, cancelled_sessions).unlimited(),
    Attack::on(Agent, "prompts cancelled by closing", 100 * MIB, 2_500, closed_sessions).unlimited(),
    Attack::on(Agent, "refusals that nobody reads", 8 * MIB, 25_000, refusals).habit(Habit::NeverWrites),
];

fn drip(victim: &mut Victim, size: usize) {
    victim.feed(br#"{"jsonrpc":"2.0","method":"_x/drip","params":{"text":""#);
    for _ in 0..size {
        victim.feed(b"x");
    }
    victim.feed(b"\"}}");
}

fn endless(victim: &mut Victim, size: usize) {
    let piece = b"{".repeat(64 * 1024);
    for _ in 0..size / piece.len() {
        victim.feed(&piece);
    }
}

fn announced(victim: &mut Victim, size: usize) {
    victim.feed(format!("Content-Length: {size}\r\n\r\n").as_bytes());
    let piece = b"{".repeat(64 * 1024);
    for _ in 0..size / piece.len() {
        victim.feed(&piece);
    }
    victim.feed(b"Content-Length: 9223372036854775808\r\nContent-Length: 99999999999999999999999\r\n");
    victim.feed(b"Content-Length: 1\r\n\r\n{");
}

fn nesting(victim: &mut Victim, size: usize) {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let (open, close) = (open.repeat(size), close.repeat(size));
        victim.line(&format!("{open}1{close}"));
        victim.line(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"_x/deep\",\"params\":{{\"a\":{open}1{close}}}}}"
        ));
        victim.line(&open);
    }
}

fn keys(victim: &mut Victim, size: usize) {
    let twice = "\"id\":7,".repeat(size);
    victim.line(&format!("{{{twice}\"jsonrpc\":\"2.0\",\"method\":\"_x/twice\"}}"));
    let twice = "\"sessionId\":\"s-1\",".repeat(size);
    victim.line(&format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{{{twice}\"_meta\":{{{twice}\"a\":1}}}}}}"
    ));
}

fn other_keys(victim: &mut Victim, size: usize) {
    let many = (0..size).map(|at| format!("\"k{at}\":{at},")).collect::<Vec<_>>().concat();
    victim.line(&update(&format!(
        "{many}\"sessionUpdate\":\"agent_message_chunk\",\"content\":{{{many}\"type\":\"text\",\"text\":\"\"}}"
    )));
}

fn numbers(victim: &mut Victim, size: usize) {
    let long = "9".repeat(1000);
    let many = vec![long.as_str(); size].join(",");
    victim.line(&format!("{{\"jsonrpc\":\"2.0\",\"method\":\"_x/numbers\",\"params\":{{\"n\":[{many}]}}}}"));
    for number in [&long, &format!("0.{long}"), &format!("1e{long}"), &format!("-{long}e-{long}")] {
        for _ in 0..size / 10 {
            victim.line(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{number},\"method\":\"_x/number\"}}"));
            victim.line(&format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{number},\"error\":{{\"code\":{number},\"message\":\"\"}}}}"
            ));
            victim.line(&update(&format!("\"sessionUpdate\":\"usage_update\",\"used\":{number},\"size\":{number}")));
        }
    }
}

fn requests(victim: &mut Victim, size: usize) {
    let long = "x".repeat(4_000);
    for at in 0..size {
        victim.line(&format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{at}{long}\",\"method\":\"_{long}\",\"params\":{{}}}}"));
    }
    assert!(victim.requests <= 1024 && victim.requests >= 1024.min(size), "{} were taken on", victim.requests);
}

/// Lengths of ids.
const LENGTHS: &[usize] = &[0, 1, 19, 4_096, 4_097, 30_000, 200_000, 900_000];

fn ids(victim: &mut Victim, size: usize) {
    for at in 0..size {
        let length = LENGTHS[at % LENGTHS.len()];
        let text = "i".repeat(length);
        for id in [
            format!("\"{text}\""),
            format!("\"{}\"", "\\u0069".repeat(length / 6)),
            format!("1{at}"),
            format!("-1{at}{}", "0".repeat(length)),
            format!("{at}.5"),
            format!("[\"{text}\"]"),
            format!("{{\"{text}\":1}}"),
            "null".into(),
            "true".into(),
        ] {
            victim.line(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"_x/any\"}}"));
            victim.line(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"session/prompt\",\"params\":{{\"sessionId\":{id},\"prompt\":[]}}}}"));
            victim.line(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}"));
            victim.line(&format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{{\"requestId\":{id}}}}}"
            ));
        }
    }
}

fn sessions(victim: &mut Victim, size: usize) {
    victim.answer = Some(r#"{"sessionId":"another-#"}"#.into());
    let roots = "/a/directory/of/a/session".repeat(4);
    for at in 0..size {
        victim.line(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{at},\"method\":\"session/new\",\"params\":{{\"cwd\":\"{roots}\",\"mcpServers\":[]}}}}"
        ));
    }
    assert!(victim.connection.sessions().count() <= 10_000);
}

fn announced_sessions(victim: &mut Victim, size: usize) {
    for at in 0..size {
        victim.line(&format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"other-{at}\",\"update\":{{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{{\"type\":\"text\",\"text\":\"\"}}}}}}}}"
        ));
    }
    assert_eq!(victim.connection.sessions().count(), 1);
}

fn listed(victim: &mut Victim, size: usize) {
    let cwd = "/w".repeat(100);
    for page in 0..size {
        let id = victim.connection.request("session/list", "{}").expect("a list");
        let items: Vec<String> =
            (0..2_500).map(|at| format!("{{\"sessionId\":\"{page}-{at}\",\"cwd\":\"{cwd}\"}}")).collect();
        victim.line(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"sessions\":[{}],\"nextCursor\":\"c{page}\"}}}}",
            items.join(",")
        ));
    }
}

fn answers(victim: &mut Victim, size: usize) {
    for at in 0..size {
        victim.line(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{}}}}", at + 1_000));
        victim.line("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"?\"}}");
        victim.line("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
        victim.line("{\"jsonrpc\":\"2.0\",\"result\":{}}");
    }
}

fn update(body: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"s-1\",\"update\":{{{body}}}}}}}")
}

fn tool_calls(victim: &mut Victim, size: usize) {
    let long = "t".repeat(4_000);
    for at in 0..size {
        victim.line(&update(&format!("\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"{long}{at}\",\"title\":\"t\"")));
        victim.line(&update(&format!("\"sessionUpdate\":\"current_mode_update\",\"currentModeId\":\"{long}{at}\"")));
    }
}

fn long_ids_in_moulds(victim: &mut Victim, size: usize) {
    let call = |id: &str| update(&format!("\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"{id}\",\"title\":\"t\""));
    for at in 0..size {
        for short in ["a", "b", "c"] {
            victim.line(&call(short));
        }
        victim.line(&call(&format!("{at}{}", "x".repeat(900_000))));
    }
}

fn nearly(victim: &mut Victim, size: usize) {
    let text = "x".repeat(3_500);
    let kinds = ["agent_message_chunk", "agent_thought_chunk", "user_message_chunk"];
    for at in 0..size {
        let kind = kinds[at % kinds.len()];
        let end = if at % 5 == 0 { ",\"_meta\":{\"at\":true}" } else { "" };
        victim.line(&update(&format!(
            "\"sessionUpdate\":\"{kind}\",\"content\":{{\"type\":\"text\",\"text\":\"{}{text}\"}}{end}",
            "\\n".repeat(at % 7)
        )));
    }
}

fn updates(victim: &mut Victim, size: usize) {
    for _ in 0..size {
        victim.line(&update(
            "\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"text\"}",
        ));
    }
}

fn batches(victim: &mut Victim, size: usize) {
    for _ in 0..size {
        victim.line(&format!("[{}1]", "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"none\"},".repeat(1_000)));
        victim.line(&format!("[{}1]", "1,".repeat(20_000)));
    }
}

/// Each waits for one request, with hundreds of refusals beside it. In the end the host answers, and what was held back
/// comes through.
fn open_batches(victim: &mut Victim, size: usize) {
    for at in 0..size {
        let request = format!("{{\"jsonrpc\":\"2.0\",\"id\":{at},\"method\":\"_x/wait\"}}");
        victim.line(&format!("[{request}{}]", ",1".repeat(500)));
    }
    // Reading pauses while answers wait, so that more may come once they are written.
    while victim.connection.unanswered().next().is_some() || victim.connection.buffered() > 0 {
        let open: Vec<Id> = victim.connection.unanswered().map(|request| request.id.clone()).collect();
        for id in open {
            victim.connection.respond(&id, "{}").expect("an answer");
        }
        victim.line("");
    }
}

fn cancels(victim: &mut Victim, size: usize) {
    for at in 0..size {
        victim.line(&format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{{\"requestId\":{at}}}}}"
        ));
        victim.line("{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"s-1\"}}");
    }
}

/// Terminals whose ids come in the order that is dearest for a sorted list.
fn terminals(victim: &mut Victim, size: usize) {
    for at in 0..size {
        let create = victim.connection.request("terminal/create", r#"{"sessionId":"s-1","command":"ls"}"#);
        let id = create.expect("a terminal");
        victim
            .line(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"terminalId\":\"t-{:08}\"}}}}", size - at));
    }
    assert_eq!(victim.connection.open_terminals().len(), size);
}

/// Tool calls that never end, and turns that do.
fn turns(victim: &mut Victim, size: usize) {
    for at in 0..size {
        victim.line(&update(&format!("\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"{at}\",\"title\":\"t\"")));
    }
    for at in 0..size {
        victim.line(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{\"stopReason\":\"end_turn\"}}}}", at + 3));
        victim.connection.request("session/prompt", r#"{"sessionId":"s-1","prompt":[]}"#).expect("the next turn");
    }
    assert_eq!(victim.connection.session("s-1").expect("the session").tool_calls().count(), size);
}

/// The host cancels in each of many sessions that ask for a permission.
fn cancelled_sessions(victim: &mut Victim, size: usize) {
    for at in 0..size {
        let new = victim.connection.request("session/new", r#"{"cwd":"/w","mcpServers":[]}"#).expect("a session");
        victim.line(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{new},\"result\":{{\"sessionId\":\"p-{at}\"}}}}"));
        victim.line(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{at},\"method\":\"session/request_permission\",\"params\":{{\"sessionId\":\"p-{at}\",\"toolCall\":{{\"toolCallId\":\"c\"}},\"options\":[{{\"optionId\":\"y\",\"name\":\"Y\",\"kind\":\"allow_once\"}}]}}}}"
        ));
    }
    assert_eq!(victim.connection.unanswered().count(), size);
    for at in 0..size {
        victim.connection.notify("session/cancel", &format!("{{\"sessionId\":\"p-{at}\"}}")).expect("a cancel");
        victim.feed(b"\n");
    }
    assert_eq!(victim.connection.unanswered().count(), 0);
}

/// The client closes many sessions that are at work.
fn closed_sessions(victim: &mut Victim, size: usize) {
    for at in 0..size {
        let id = at + 10;
        victim.line(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"session/new\",\"params\":{{\"cwd\":\"/w\",\"mcpServers\":[]}}}}"
        ));
        let answer = format!("{{\"sessionId\":\"p-{at}\"}}");
        victim
            .connection
            .respond(&libacp::Id::from(i64::try_from(id).expect("a small number")), &answer)
            .expect("a session");
        victim.line(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":\"p{at}\",\"method\":\"session/prompt\",\"params\":{{\"sessionId\":\"p-{at}\",\"prompt\":[]}}}}"
        ));
    }
    for at in 0..size {
        victim.line(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":\"c{at}\",\"method\":\"session/close\",\"params\":{{\"sessionId\":\"p-{at}\"}}}}"
        ));
    }
    assert_eq!(victim.connection.unanswered().filter(|open| open.cancelled).count(), size);
}

fn refusals(victim: &mut Victim, size: usize) {
    for _ in 0..size {
        // A host that never writes must look at `buffered`, and read no more.
        if victim.connection.buffered() > 64 * 1024 {
            break;
        }
        victim.line("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"none\"}");
    }
    assert!(victim.connection.transmit().len() <= 2 * MIB, "{} bytes wait", victim.connection.transmit().len());
}
