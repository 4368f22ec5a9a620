//! Prompts of version 2 in every order in which an agent may answer them.

use super::{Pair, DONE, IDLE, RUNNING};

/// How the first prompt ends, with the message `m`.
const ENDED: &str = r#"{"stopReason":"end_turn","messageId":"m"}"#;

/// All orders of these steps in which `before` holds for each pair of them.
fn orders(steps: &[char], before: &[(char, char)]) -> Vec<Vec<char>> {
    if steps.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let rest: Vec<char> =
            steps.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, step)| *step).collect();
        if before.iter().any(|(first, then)| then == step && rest.contains(first)) {
            continue;
        }
        all.extend(orders(&rest, before).into_iter().map(|mut order| {
            order.insert(0, *step);
            order
        }));
    }
    all
}

/// Takes a step of the agent: `e`cho, `a`nswer, `r`unning, `i`dle at the end, or an idle that crosses the prompt.
fn step(pair: &mut Pair, step: char) {
    match step {
        'e' => pair.echo("m"),
        'a' => pair.answer(r#"{"messageId":"m"}"#),
        'r' => pair.tell(RUNNING),
        'c' => pair.tell(IDLE),
        _ => pair.tell(DONE),
    }
}

#[test]
fn a_prompt_ends_with_its_work_whatever_comes_first() {
    // The echo precedes the end of the work that it starts, as does running; an idle that crosses precedes all of it.
    let before = [('r', 'i'), ('e', 'i'), ('c', 'r'), ('c', 'e'), ('c', 'a')];
    let mut seen = 0;
    for steps in [&['e', 'a', 'r', 'i'][..], &['c', 'e', 'a', 'r', 'i'][..]] {
        for order in orders(steps, &before) {
            seen += 1;
            let mut pair = Pair::open(2);
            let prompt = pair.prompt();
            for (at, what) in order.iter().enumerate() {
                assert_eq!(pair.end(prompt), None, "{order:?} at {at}");
                step(&mut pair, *what);
            }
            assert_eq!(pair.end(prompt).as_deref(), Some(ENDED), "{order:?}");
            assert!(pair.client.poll_timeout().is_none());
        }
    }
    assert_eq!(seen, 16);
}

#[test]
fn updates_belong_to_the_prompt_until_it_ends() {
    let mut pair = Pair::open(2);
    let prompt = pair.prompt();
    pair.begin_turn("m");
    pair.chunk();
    pair.tell(DONE);
    pair.tell(IDLE);
    let calls: Vec<_> = pair.told.iter().map(|(event, call)| (event.name(), *call)).collect();
    let mine = ("notification", Some(prompt));
    assert_eq!(calls, [mine, mine, mine, mine, ("response", None), ("notification", None)]);
}

#[test]
fn prompts_of_one_work_end_together() {
    let mut pair = Pair::open(2);
    let first = pair.prompt();
    pair.begin_turn("m");
    let second = pair.prompt();
    pair.echo("n");
    pair.answer(r#"{"messageId":"n"}"#);
    pair.chunk();
    assert_eq!(pair.told.last().unwrap().1, Some(second));
    assert!(pair.ended().next().is_none());
    pair.tell(DONE);
    let other = ENDED.replace("\"m\"", "\"n\"");
    assert_eq!((pair.end(first).as_deref(), pair.end(second)), (Some(ENDED), Some(other)));
}

#[test]
fn a_prompt_that_the_agent_holds_ends_with_its_own_work() {
    let mut pair = Pair::open(2);
    let first = pair.prompt();
    pair.begin_turn("m");
    let second = pair.prompt();
    pair.tell(DONE);
    assert_eq!((pair.end(first).as_deref(), pair.end(second)), (Some(ENDED), None));
    pair.begin_turn("n");
    assert_eq!(pair.end(second), None);
    pair.tell(r#"{"sessionUpdate":"state_update","state":"idle","stopReason":"max_tokens","_meta":{"k":1}}"#);
    let end = r#"{"stopReason":"max_tokens","messageId":"n","_meta":{"k":1}}"#;
    assert_eq!(pair.end(second).as_deref(), Some(end));
}

#[test]
fn an_answer_that_comes_during_later_work_is_that_of_the_earlier_one() {
    let mut pair = Pair::open(2);
    let first = pair.prompt();
    pair.echo("m");
    pair.tell(RUNNING);
    pair.tell(DONE);
    let second = pair.prompt();
    pair.tell(RUNNING);
    pair.answer(r#"{"messageId":"m"}"#);
    assert_eq!((pair.end(first).as_deref(), pair.end(second)), (Some(ENDED), None));
    pair.echo("n");
    pair.answer(r#"{"messageId":"n"}"#);
    assert_eq!(pair.end(second), None);
    pair.tell(DONE);
    assert_eq!(pair.end(second), Some(ENDED.replace("\"m\"", "\"n\"")));
}

#[test]
fn work_of_the_agent_itself_ends_no_prompt_that_came_later() {
    let mut pair = Pair::open(2);
    pair.tell(RUNNING);
    let prompt = pair.prompt();
    pair.tell(DONE);
    assert_eq!(pair.end(prompt), None);
    pair.begin_turn("m");
    assert_eq!(pair.end(prompt), None);
    pair.tell(DONE);
    assert_eq!(pair.end(prompt).as_deref(), Some(ENDED));
}

/// Two prompts, with the steps of the agent in this order: each ends with the later of its answer and the idle.
fn both_end(order: &[char]) {
    let mut pair = Pair::open(2);
    let (first, second) = (pair.prompt(), pair.prompt());
    let serials: Vec<u64> = pair.agent.unanswered().map(|open| open.serial).collect();
    for (at, what) in order.iter().enumerate() {
        match what {
            'e' | 'f' => pair.echo(if *what == 'e' { "m" } else { "n" }),
            'a' => pair.agent.respond(serials[0], r#"{"messageId":"m"}"#).unwrap(),
            'b' => pair.agent.respond(serials[1], r#"{"messageId":"n"}"#).unwrap(),
            'r' => pair.tell(RUNNING),
            _ => pair.tell(DONE),
        }
        pair.pump();
        let done = &order[..=at];
        for (call, answer, message) in [(first, 'a', "m"), (second, 'b', "n")] {
            let over = done.contains(&'i') && done.contains(&answer);
            let end = over.then(|| ENDED.replace("\"m\"", &format!("\"{message}\"")));
            assert_eq!(pair.end(call), end, "{message} in {order:?} at {at}");
        }
    }
}

#[test]
fn two_prompts_end_with_their_work_whatever_comes_first() {
    let orders = orders(&['e', 'a', 'f', 'b', 'r', 'i'], &[('r', 'i'), ('e', 'i'), ('f', 'i'), ('e', 'f')]);
    assert_eq!(orders.len(), 90);
    for order in &orders {
        both_end(order);
    }
}

#[test]
fn a_prompt_that_is_cancelled_anywhere_ends_once() {
    let orders = orders(&['e', 'a', 'r', 'i'], &[('r', 'i'), ('e', 'i')]);
    for (order, at) in orders.iter().flat_map(|order| (0..4).map(move |at| (order, at))) {
        for by in ["cancel", "abandon"] {
            let mut pair = Pair::open(2);
            let prompt = pair.prompt();
            for (now, what) in order.iter().enumerate() {
                if now == at && pair.end(prompt).is_none() {
                    match by {
                        "cancel" => pair.client.cancel(prompt).unwrap(),
                        _ => pair.client.abandon(prompt),
                    }
                    pair.pump();
                }
                let stopped = pair.heard().contains(&"session/cancel");
                match what {
                    'i' if stopped => pair.end_turn("cancelled"),
                    what => step(&mut pair, *what),
                }
            }
            let end = pair.end(prompt).unwrap_or_else(|| panic!("{order:?} at {at}"));
            assert!(end.contains(r#""messageId":"m""#), "{end}");
            assert_eq!(end.contains("cancelled"), pair.heard().contains(&"session/cancel"), "{order:?} at {at}: {end}");
        }
    }
}

#[test]
fn a_snapshot_between_a_message_and_the_work_on_it_ends_nothing() {
    for snapshot in [IDLE, DONE] {
        let mut pair = Pair::open(2);
        let first = pair.prompt();
        pair.begin_turn("k");
        pair.tell(DONE);
        assert!(pair.end(first).is_some());
        let prompt = pair.prompt();
        pair.echo("m");
        pair.answer(r#"{"messageId":"m"}"#);
        pair.tell(snapshot);
        assert_eq!(pair.end(prompt), None);
        pair.tell(RUNNING);
        assert!(pair.client.poll_timeout().is_none());
        pair.tell(DONE);
        assert_eq!(pair.end(prompt).as_deref(), Some(ENDED));
    }
}

#[test]
fn work_that_an_agent_never_tells_of_ends_with_its_idle() {
    let mut pair = Pair::open(2);
    let prompt = pair.prompt();
    pair.echo("m");
    pair.answer(r#"{"messageId":"m"}"#);
    pair.tell(IDLE);
    let due = pair.client.poll_timeout().expect("a time");
    pair.client.cancel(prompt).unwrap();
    pair.client.handle_timeout(due);
    pair.pump();
    assert!(pair.heard().is_empty() && pair.end(prompt).is_some());
}

#[test]
fn work_that_ends_before_the_answer_and_without_an_echo_ends_the_prompt_in_a_while() {
    let before_answer = || {
        let mut pair = Pair::open(2);
        let prompt = pair.prompt();
        pair.tell(RUNNING);
        pair.tell(DONE);
        (pair, prompt)
    };
    let (mut pair, prompt) = before_answer();
    pair.answer(r#"{"messageId":"m"}"#);
    pair.elapse(prompt);
    assert_eq!(pair.end(prompt).as_deref(), Some(ENDED));

    // It was other work if the message comes after it, or work begins once more.
    for later in ['e', 'r'] {
        let (mut pair, prompt) = before_answer();
        if later == 'e' {
            pair.echo("m");
        }
        pair.answer(r#"{"messageId":"m"}"#);
        if later == 'r' {
            pair.tell(RUNNING);
        }
        assert!(pair.client.poll_timeout().is_none() && pair.end(prompt).is_none(), "{later}");
    }
}
