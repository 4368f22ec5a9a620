//! What following a conversation costs: `cargo bench -p libacp --bench tracking`.
//!
//! Two questions, each answered by ratios of one run: does an update cost more when many sessions are open, and what does
//! receiving an update cost beside validating its params alone? With a word behind `--`, only what has it in its name is
//! measured. Both sides of a ratio take turns, so that what else the machine does hits both, and the middle one of the
//! ratios counts.

use std::hint::black_box;
use std::time::{Duration, Instant};

use libacp::schema::tables::v1::TABLES;
use libacp::validation::{check, Mode, Part};
use libacp::{Config, Connection};

const ROUNDS: usize = 101;
/// Open sessions, where there are many.
const MANY: usize = 10_000;
/// Messages of one measurement.
const MESSAGES: usize = 2_000;
/// How often the mix comes in one measurement.
const MIXES: usize = 200;

const HELLO: &str = r#"{"clientCapabilities":{"session":{"configOptions":{"boolean":{}}}}}"#;
const SMALL: &str = r#"{"sessionId":"s-0","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a few words"}}}"#;
const MODES: &str =
    r#"{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},{"id":"code","name":"Code"}]}"#;
/// With a value that changes, as what is told of is a change.
const OPTIONS: &str = r#"[{"id":"model","name":"Model","category":"model","type":"select","currentValue":"big","options":[{"value":"big","name":"Big","description":"Thinks for long."},{"value":"small","name":"Small","description":"Is quick."}]},{"id":"fast","name":"Fast","type":"boolean","currentValue":true}]"#;

fn feed(connection: &mut Connection, message: &str) {
    connection.receive(message.as_bytes());
    connection.receive(b"\n");
    while connection.poll_event().is_some() {}
    connection.consume(usize::MAX);
}

/// A client with this many sessions, the first of which is at work.
fn client(sessions: usize) -> Connection {
    let mut config = Config::client();
    config.limits.sessions = sessions;
    let mut client = Connection::new(config);
    client.request("initialize", HELLO).unwrap();
    feed(&mut client, r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}"#);
    for number in 0..sessions {
        client.request("session/new", r#"{"cwd":"/work","mcpServers":[]}"#).unwrap();
        let result = format!(r#"{{"sessionId":"s-{number}","modes":{MODES},"configOptions":{OPTIONS}}}"#);
        feed(&mut client, &format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, number + 2));
    }
    client.request("session/prompt", r#"{"sessionId":"s-0","prompt":[]}"#).unwrap();
    client.consume(usize::MAX);
    client
}

/// The agent of such a client.
fn agent(sessions: usize) -> Connection {
    let mut config = Config::agent();
    config.limits.sessions = sessions;
    let mut agent = Connection::new(config);
    feed(
        &mut agent,
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}"#,
    );
    agent.respond(&libacp::Id::from(1), "{}").unwrap();
    for number in 0..sessions {
        let id = i64::try_from(number).unwrap() + 2;
        let call = r#""method":"session/new","params":{"cwd":"/work","mcpServers":[]}"#;
        feed(&mut agent, &format!(r#"{{"jsonrpc":"2.0","id":{id},{call}}}"#));
        agent.respond(&libacp::Id::from(id), &format!(r#"{{"sessionId":"s-{number}"}}"#)).unwrap();
    }
    let prompt = r#"{"sessionId":"s-0","prompt":[]}"#;
    feed(&mut agent, &format!(r#"{{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{prompt}}}"#));
    agent
}

fn line(update: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"s-0\",\"update\":{update}}}}}\n"
    )
}

fn text(words: &str) -> String {
    format!(r#"{{"type":"text","text":"{words}"}}"#)
}

/// Every kind of update, as a turn has them: each tool call has an id of its own.
fn updates(mix: usize) -> Vec<(&'static str, String)> {
    let words = text("Some words of an answer, as they come from the model.");
    let code = "fn main() {\\n    println!(\\\"Hello, world!\\\");\\n}\\n".repeat(80);
    let diff = format!(r#"{{"type":"diff","path":"/work/src/main.rs","oldText":"{code}","newText":"{code}"}}"#);
    let entry = |step: usize, status: &str| {
        format!(r#"{{"content":"Do step {step} of the plan","priority":"medium","status":"{status}"}}"#)
    };
    let (done, now, then) = (entry(1, "completed"), entry(2, "in_progress"), entry(3, "pending"));
    let chunk = format!(r#"{{"sessionUpdate":"agent_message_chunk","content":{words}}}"#);
    let call = format!(
        r#"{{"sessionUpdate":"tool_call","toolCallId":"call-{mix}","title":"Edit main.rs","kind":"edit","status":"pending","locations":[{{"path":"/work/src/main.rs","line":3}}],"rawInput":{{"path":"/work/src/main.rs"}}}}"#
    );
    let ended = format!(
        r#"{{"sessionUpdate":"tool_call_update","toolCallId":"call-{mix}","status":"completed","content":[{diff}]}}"#
    );
    let usage =
        r#"{"sessionUpdate":"usage_update","used":53000,"size":200000,"cost":{"amount":0.045,"currency":"USD"}}"#;
    let options = OPTIONS.replace("true", if mix % 2 == 0 { "true" } else { "false" });
    let command = |name: &str| {
        format!(r#"{{"name":"{name}","description":"What {name} does","input":{{"hint":"what to look for"}}}}"#)
    };
    let commands = [command("web"), command("plan"), command("test"), command("review")].join(",");
    vec![
        ("agent_message_chunk", line(&chunk)),
        ("tool_call", line(&call)),
        ("tool_call_update", line(&ended)),
        ("plan", line(&format!(r#"{{"sessionUpdate":"plan","entries":[{done},{now},{then}]}}"#))),
        ("usage_update", line(usage)),
        ("current_mode_update", line(r#"{"sessionUpdate":"current_mode_update","currentModeId":"code"}"#)),
        (
            "config_option_update",
            line(&format!(r#"{{"sessionUpdate":"config_option_update","configOptions":{options}}}"#)),
        ),
        (
            "available_commands_update",
            line(&format!(r#"{{"sessionUpdate":"available_commands_update","availableCommands":[{commands}]}}"#)),
        ),
    ]
}

fn timed(run: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    run();
    begun.elapsed()
}

/// The middle ratio of two measurements that take turns, and the shortest time of each.
fn compare(mut one: impl FnMut() -> Duration, mut other: impl FnMut() -> Duration) -> (f64, Duration, Duration) {
    let (mut ratios, mut shortest) = (Vec::new(), (Duration::MAX, Duration::MAX));
    for round in 0..ROUNDS {
        // Who goes first takes turns too.
        let (first, second) = if round % 2 == 0 {
            let first = one();
            (first, other())
        } else {
            let second = other();
            (one(), second)
        };
        ratios.push(first.as_secs_f64() / second.as_secs_f64());
        shortest = (shortest.0.min(first), shortest.1.min(second));
    }
    ratios.sort_by(f64::total_cmp);
    (ratios[ratios.len() / 2], shortest.0, shortest.1)
}

/// Takes all events, and says how many of them were deliveries.
fn events(connection: &mut Connection) -> usize {
    let mut delivered = 0;
    while let Some(event) = connection.poll_event() {
        // Anything else would be a message that is told of, which costs more.
        assert!(matches!(event, libacp::Event::Notification(_)), "{event:?}");
        delivered += 1;
        black_box(event);
    }
    delivered
}

fn per(time: Duration, messages: usize) -> u128 {
    time.as_nanos() / messages as u128
}

fn sessions() {
    let (mut few, mut many) = (agent(1), agent(MANY));
    let send = |agent: &mut Connection| {
        timed(|| {
            for _ in 0..MESSAGES {
                agent.notify("session/update", black_box(SMALL)).unwrap();
                agent.consume(usize::MAX);
            }
        })
    };
    let (ratio, one, other) = compare(|| send(&mut many), || send(&mut few));
    let (one, other) = (per(one, MESSAGES), per(other, MESSAGES));
    println!("send one update: {ratio:.2} with {MANY} sessions against 1 ({one} ns, {other} ns)");
    let (mut few, mut many) = (client(1), client(MANY));
    let bytes = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{SMALL}}}\n").repeat(MESSAGES);
    let receive = |client: &mut Connection| {
        timed(|| {
            client.receive(black_box(bytes.as_bytes()));
            assert_eq!(events(client), MESSAGES);
        })
    };
    let (ratio, one, other) = compare(|| receive(&mut many), || receive(&mut few));
    let (one, other) = (per(one, MESSAGES), per(other, MESSAGES));
    println!("receive one update: {ratio:.2} with {MANY} sessions against 1 ({one} ns, {other} ns)");
}

/// Whether this is asked for.
fn is_wanted(what: &str) -> bool {
    std::env::args().skip(1).filter(|word| !word.starts_with('-')).all(|word| what.contains(&word))
}

/// What receiving some messages costs, against validating their params and nothing else.
fn tracking(what: &str, bytes: &str) {
    if !is_wanted(what) {
        return;
    }
    let params: Vec<&str> = bytes.lines().filter_map(|line| libacp::json::pointer(line, "/params")).collect();
    let messages = params.len();
    let method = TABLES.methods.iter().find(|row| row.name == "session/update").expect("a method of version 1");
    let received = || {
        let mut client = client(1);
        timed(|| {
            client.receive(black_box(bytes.as_bytes()));
            assert_eq!(events(&mut client), messages);
        })
    };
    let validated = || {
        timed(|| {
            for params in &params {
                let checked = check(&TABLES, 0, method.params, black_box(params), Mode::Tolerant, Part::Notification);
                assert!(checked.expect("params that fit").problems.is_empty());
            }
        })
    };
    let (ratio, all, alone) = compare(received, validated);
    let (all, alone) = (per(all, messages), per(alone, messages));
    println!("{what}: receiving takes {ratio:.2} of validating alone ({all} ns, {alone} ns)");
}

fn main() {
    if is_wanted("sessions") {
        sessions();
    }
    let mut whole = String::new();
    for mix in 0..MIXES {
        whole.extend(updates(mix).into_iter().map(|(_, line)| line));
    }
    tracking("the mix of all updates", &whole);
    let kinds = updates(0).len();
    for kind in 0..kinds {
        // An update of a tool call needs its call, which comes with it.
        let first = if updates(0)[kind].0 == "tool_call_update" { kind - 1 } else { kind };
        let lines: String = (0..MIXES)
            .flat_map(|mix| updates(mix).into_iter().skip(first).take(kind + 1 - first))
            .map(|(_, line)| line)
            .collect();
        tracking(updates(0)[kind].0, &lines);
    }
}
