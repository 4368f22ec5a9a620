//! Version 1: what is said in the shapes of version 2.

use super::*;

/// The update that the client is told, as JSON.
fn told(pair: &mut Pair, update: &str) -> String {
    pair.say(update);
    pair.update()
}

fn terminal(id: &str) -> String {
    format!(r#"{{"type":"terminal","terminalId":"{id}"}}"#)
}

fn block(text: &str) -> String {
    format!(r#"{{"type":"content","content":{{"type":"text","text":"{text}"}}}}"#)
}

fn misuse(pair: &mut Pair, update: &str) -> (String, String) {
    let misuse = pair.host.notify("session/update", &format!(r#"{{"sessionId":"s","update":{update}}}"#)).unwrap_err();
    pair.quiet();
    (misuse.rule.as_str().to_owned(), misuse.pointer)
}

#[test]
fn chunks_of_content_are_all_of_it() {
    let mut pair = Pair::open(1, &[]);
    let call = format!(r#"{{"sessionUpdate":"tool_call","toolCallId":"t","title":"T","content":[{}]}}"#, block("a"));
    assert_eq!(told(&mut pair, &call), call);
    let chunk = |text: &str| {
        format!(r#"{{"sessionUpdate":"tool_call_content_chunk","toolCallId":"t","content":{}}}"#, block(text))
    };
    let all = |texts: &[&str]| {
        let items: Vec<String> = texts.iter().map(|text| block(text)).collect();
        format!(r#"{{"sessionUpdate":"tool_call_update","toolCallId":"t","content":[{}]}}"#, items.join(","))
    };
    assert_eq!(told(&mut pair, &chunk("b")), all(&["a", "b"]));
    assert_eq!(told(&mut pair, &chunk("c")), all(&["a", "b", "c"]));
    // A list replaces what there was, and null says nothing in version 1.
    assert_eq!(told(&mut pair, &all(&["d"])), all(&["d"]));
    let nothing = r#"{"sessionUpdate":"tool_call_update","toolCallId":"t","content":null,"title":"U"}"#;
    assert_eq!(told(&mut pair, nothing), nothing);
    assert_eq!(told(&mut pair, &chunk("e")), all(&["d", "e"]));
    for (chunk, rule) in [
        (r#"{"sessionUpdate":"tool_call_content_chunk","toolCallId":"t"}"#, ("TOOL-21", "/update/content")),
        (r#"{"sessionUpdate":"tool_call_content_chunk","content":{}}"#, ("TOOL-21", "/update/toolCallId")),
        (
            r#"{"sessionUpdate":"tool_call_content_chunk","toolCallId":"t","content":{"type":"diff","path":"a","newText":""}}"#,
            ("TOOL-10", "/update/content/2/path"),
        ),
    ] {
        assert_eq!(misuse(&mut pair, chunk), (rule.0.to_owned(), rule.1.to_owned()));
    }
    // What was refused is not kept.
    assert_eq!(told(&mut pair, &chunk("f")), all(&["d", "e", "f"]));
}

#[test]
fn what_is_kept_of_content_is_bounded() {
    let mut pair = Pair::open(1, &[]);
    pair.say(r#"{"sessionUpdate":"tool_call","toolCallId":"t","title":"T"}"#);
    pair.update();
    let long = "x".repeat(20_000);
    for number in 0..10 {
        let item = block(&format!("{number}{long}"));
        let chunk = format!(r#"{{"sessionUpdate":"tool_call_content_chunk","toolCallId":"t","content":{item}}}"#);
        let content = told(&mut pair, &chunk);
        let items = json::items(json::pointer(&content, "/content").unwrap()).len();
        assert_eq!(items, (number + 1).min(3));
        assert!(text(&content, &format!("/content/{}/content/text", items - 1)).starts_with(&number.to_string()));
    }
    // One that is longer than the bound is told alone.
    let item = block(&"y".repeat(100_000));
    let chunk = format!(r#"{{"sessionUpdate":"tool_call_content_chunk","toolCallId":"t","content":{item}}}"#);
    assert_eq!(json::items(json::pointer(&told(&mut pair, &chunk), "/content").unwrap()).len(), 1);
}

#[test]
fn terminals_of_the_agent_are_text() {
    let mut pair = Pair::open(1, &[]);
    pair.say(r#"{"sessionUpdate":"terminal_update","terminalId":"x","command":"cargo test","cwd":"/w"}"#);
    pair.quiet();
    let call = format!(
        r#"{{"sessionUpdate":"tool_call","toolCallId":"t","title":"T","content":[{},{}]}}"#,
        block("a"),
        terminal("x")
    );
    let shown = told(&mut pair, &call);
    let place = "/content/1/content/text";
    assert_eq!(
        (text(&shown, place), text(&shown, "/content/0/content/text")),
        ("```\n$ cargo test\n```".into(), "a".into())
    );
    let printed =
        |data: &str| format!(r#"{{"sessionUpdate":"terminal_output_chunk","terminalId":"x","data":"{data}"}}"#);
    // "é" in two parts.
    let shown = told(&mut pair, &printed("b2sKww=="));
    assert_eq!((text(&shown, "/toolCallId"), text(&shown, place)), ("t".into(), "```\n$ cargo test\nok\n```".into()));
    assert_eq!(text(&told(&mut pair, &printed("qQ==")), place), "```\n$ cargo test\nok\né\n```");
    // What is printed does not end the block. ("```\n")
    assert_eq!(text(&told(&mut pair, &printed("YGBgCg==")), place), "````\n$ cargo test\nok\né```\n````");
    let exit = r#"{"sessionUpdate":"terminal_update","terminalId":"x","exitStatus":{"exitCode":101}}"#;
    assert_eq!(text(&told(&mut pair, exit), place), "````\n$ cargo test\nok\né```\n[exited with 101]\n````");
    // A snapshot takes the place of what was printed, and null takes back. ("new")
    let again = r#"{"sessionUpdate":"terminal_update","terminalId":"x","output":{"data":"bmV3"},"exitStatus":null}"#;
    assert_eq!(text(&told(&mut pair, again), place), "```\n$ cargo test\nnew\n```");
    let killed =
        r#"{"sessionUpdate":"terminal_update","terminalId":"x","exitStatus":{"exitCode":null,"signal":"SIGKILL"}}"#;
    assert_eq!(text(&told(&mut pair, killed), place), "```\n$ cargo test\nnew\n[ended by SIGKILL]\n```");
    pair.say(r#"{"sessionUpdate":"terminal_update","terminalId":"x","size":{"cols":80,"rows":24}}"#);
    pair.quiet();
    for (update, rule, place) in [
        (printed("!"), "DTERM-07", "/update/data"),
        (
            r#"{"sessionUpdate":"terminal_update","terminalId":"x","output":{}}"#.into(),
            "DTERM-07",
            "/update/output/data",
        ),
        (r#"{"sessionUpdate":"terminal_update"}"#.into(), "DTERM-01", "/update/terminalId"),
    ] {
        assert_eq!(misuse(&mut pair, &update), (rule.to_owned(), place.to_owned()));
    }
    // A terminal that nobody has announced is one of the client's (TOOL-12).
    let unknown = format!(r#"{{"sessionUpdate":"tool_call_update","toolCallId":"t","content":[{}]}}"#, terminal("y"));
    assert_eq!(misuse(&mut pair, &unknown).0, "TOOL-12");
}

#[test]
fn the_end_of_what_a_terminal_printed_is_shown() {
    let mut pair = Pair::open(1, &[]);
    pair.say(r#"{"sessionUpdate":"terminal_update","terminalId":"x","command":"yes"}"#);
    pair.say(&format!(r#"{{"sessionUpdate":"tool_call","toolCallId":"t","title":"T","content":[{}]}}"#, terminal("x")));
    pair.update();
    // "aaa" many times.
    let data = "YWFh".repeat(2_000);
    for _ in 0..10 {
        pair.say(&format!(r#"{{"sessionUpdate":"terminal_output_chunk","terminalId":"x","data":"{data}"}}"#));
        assert!(pair.update().len() < 17_000);
    }
    let last = told(&mut pair, r#"{"sessionUpdate":"terminal_update","terminalId":"x","exitStatus":{}}"#);
    assert!(text(&last, "/content/0/content/text").starts_with("```\n$ yes\n…\naaa"));
    assert!(text(&last, "/content/0/content/text").ends_with("aaa\n[exited]\n```"));
}

#[test]
fn there_is_one_plan() {
    let mut pair = Pair::open(1, &[]);
    let entry =
        |content: &str, status: &str| format!(r#"{{"content":"{content}","priority":"high","status":"{status}"}}"#);
    let plan = |id: &str, entries: &str| {
        format!(r#"{{"sessionUpdate":"plan_update","plan":{{"type":"items","planId":"{id}","entries":[{entries}]}}}}"#)
    };
    let alone = |entries: &str| format!(r#"{{"sessionUpdate":"plan","entries":[{entries}]}}"#);
    let removed = |id: &str| format!(r#"{{"sessionUpdate":"plan_removed","planId":"{id}"}}"#);
    // The draft of version 1 is on, and this client does not take it (PLAN-10).
    let (a, b) = (entry("a", "pending"), entry("b", "cancelled"));
    assert_eq!(told(&mut pair, &plan("p", &format!("{a},{b}"))), alone(&a));
    assert_eq!(told(&mut pair, &plan("q", "")), alone(""));
    pair.say(&removed("p"));
    pair.quiet();
    assert_eq!(told(&mut pair, &removed("q")), alone(""));
    pair.say(&removed("q"));
    pair.say(r#"{"sessionUpdate":"plan_update","plan":{"type":"markdown","planId":"p","content":"x"}}"#);
    pair.quiet();
    assert_eq!(told(&mut pair, &alone(&a)), alone(&a));
    assert_eq!(told(&mut pair, &removed("main")), alone(""));
    assert_eq!(
        misuse(&mut pair, r#"{"sessionUpdate":"plan_update","plan":{"type":"items","entries":[]}}"#).0,
        "PLAN-06"
    );
    assert_eq!(misuse(&mut pair, r#"{"sessionUpdate":"plan_removed"}"#).0, "PLAN-06");
}

#[test]
fn states_are_not_told_and_statuses_are_those_of_version_1() {
    let mut pair = Pair::open(1, &[]);
    pair.say(r#"{"sessionUpdate":"state_update","state":"running"}"#);
    pair.quiet();
    let call = r#"{"sessionUpdate":"tool_call","toolCallId":"t","title":"T","capabilities":{"cancel":{}}}"#;
    assert_eq!(told(&mut pair, call), r#"{"sessionUpdate":"tool_call","toolCallId":"t","title":"T"}"#);
    let cancelled = r#"{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"cancelled"}"#;
    assert_eq!(told(&mut pair, cancelled), cancelled.replace("cancelled", "failed"));
    for kind in [
        "tool_call_content_chunk",
        "terminal_update",
        "terminal_output_chunk",
        "plan_update",
        "plan_removed",
        "state_update",
    ] {
        assert!(pair.host.can(&format!("session/update:{kind}")), "{kind}");
    }
    assert_eq!(misuse(&mut pair, r#"{"sessionUpdate":"user_message","messageId":"u"}"#).0, "TURN-08");
    let other = r#"{"sessionId":"other","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"T"}}"#;
    assert_eq!(pair.host.notify("session/update", other).unwrap_err().rule.as_str(), "SESS-01");
}

#[test]
fn messages_of_work_are_messages_of_their_own() {
    let mut pair = Pair::open(1, &[]);
    let chunk = r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}"#;
    let prompt = pair.prompt("hi");
    assert_eq!(told(&mut pair, chunk), chunk);
    pair.host.respond(&prompt, r#"{"stopReason":"end_turn"}"#).unwrap();
    pair.result();
    let mut ids = Vec::new();
    for _ in 0..2 {
        let work = pair.host.begin_work("s").unwrap();
        ids.extend((0..2).map(|_| text(&told(&mut pair, chunk), "/messageId")));
        told(&mut pair, r#"{"sessionUpdate":"plan","entries":[]}"#);
        ids.push(text(&told(&mut pair, chunk), "/messageId"));
        pair.host.end_work(work, r#"{"stopReason":"end_turn"}"#).unwrap();
    }
    assert!(ids[0] == ids[1] && ids[3] == ids[4] && !ids[0].is_empty());
    assert!(ids[2] != ids[1] && ids[3] != ids[2] && ids[3] != ids[0] && ids[5] != ids[4]);
    pair.quiet();
}
