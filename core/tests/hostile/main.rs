//! Peers that mean harm: each sends much of one thing. Memory stays under a limit that does not depend on how much it
//! was, work grows no faster than what was sent, and the next good message is understood.
//!
//! Read `attacks` (what is sent) and `victim` (the host it is sent to). What was measured is printed.

mod attacks;
mod victim;

use std::alloc::System;
use std::io::Write as _;
use std::time::{Duration, Instant};

use attacks::{Attack, ATTACKS};
use cap::Cap;
use libacp::connection::Observer;
use libacp::{Config, Connection, Role};
use victim::Victim;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

const ROUNDS: usize = 3;
/// Rounds at most, while the longer one looks too long.
const MOST_ROUNDS: usize = 20;
/// The second size of an attack is so many times the first.
const TIMES: usize = 4;
/// Work that is linear takes `TIMES` as long, work that is quadratic the square of that.
const STEEPEST: f64 = 11.0;

/// How long an attack takes, and the most memory that its victim had meanwhile.
fn attacked(attack: &Attack, size: usize) -> (Duration, usize) {
    let before = ALLOCATOR.allocated();
    // A single step that takes far more ends the program.
    ALLOCATOR.set_limit(before + 4 * attack.memory + (64 << 20)).expect("a limit above what is used");
    let begun = Instant::now();
    let mut victim = Victim::new(attack);
    (attack.send)(&mut victim, size);
    let took = begun.elapsed();
    victim.understands_the_next(attack.name);
    let most = victim.most() - before;
    drop(victim);
    ALLOCATOR.set_limit(usize::MAX).expect("no limit");
    (took, most)
}

// One test, as memory is counted for the whole program.
#[test]
fn no_attack_takes_more_than_its_limit() {
    let mut out = std::io::stdout();
    let mut wrong = Vec::new();
    for attack in ATTACKS {
        // The fastest of some rounds in turn: in the others the machine did something else as well.
        let (mut short, mut long, mut most) = (Duration::MAX, Duration::MAX, 0);
        for round in 0..MOST_ROUNDS {
            for (best, size) in [(&mut short, attack.size), (&mut long, TIMES * attack.size)] {
                let (took, memory) = attacked(attack, size);
                *best = took.min(*best);
                most = most.max(memory);
            }
            // Other programs can only make it look steeper than it is.
            if round + 1 >= ROUNDS && long.as_secs_f64() <= STEEPEST * short.as_secs_f64() {
                break;
            }
        }
        let ratio = long.as_secs_f64() / short.as_secs_f64();
        let line = format!(
            "{}: {} of {} KiB; {TIMES} times as much takes {ratio:.1} times as long ({} ms)",
            attack.name,
            most >> 10,
            attack.memory >> 10,
            long.as_millis(),
        );
        writeln!(out, "{line}").unwrap();
        // What is over at once says nothing about growth.
        if most > attack.memory || (ratio > STEEPEST && long > Duration::from_millis(5)) {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    what_nobody_polls();
    what_an_observer_keeps();
}

/// A host that feeds and never polls keeps what it has fed, is told so, and pays for nothing else.
fn what_nobody_polls() {
    const FED: usize = 16 << 20;
    let before = ALLOCATOR.allocated();
    let mut connection = Connection::new(Config::agent());
    let line = b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"none\"}\n".repeat(64);
    let mut fed = 0;
    while fed < FED {
        connection.receive(&line);
        fed += line.len();
    }
    assert_eq!(connection.buffered(), fed);
    assert!(connection.transmit().is_empty());
    let kept = ALLOCATOR.allocated() - before;
    assert!(kept <= 2 * fed + (1 << 20), "{kept} bytes for {fed}");
}

/// Who looks on while two sides misbehave keeps no more than one of them would; and unread, what it was fed.
fn what_an_observer_keeps() {
    const ROUNDS: usize = 100_000;
    const FED: usize = 16 << 20;
    let before = ALLOCATOR.allocated();
    let mut observer = Observer::default();
    let say = |observer: &mut Observer, from, members: &str| {
        observer.receive(from, format!("{{\"jsonrpc\":\"2.0\",{members}}}\n").as_bytes());
        let before = ALLOCATOR.allocated();
        while observer.poll_event().is_some() {}
        before
    };
    say(&mut observer, Role::Client, r#""id":0,"method":"initialize","params":{"protocolVersion":1}"#);
    say(&mut observer, Role::Agent, r#""id":0,"result":{"protocolVersion":1}"#);
    let mut most = 0;
    for id in 1..ROUNDS {
        let wrong = format!(r#""id":{id},"method":"session/new","params":{{"cwd":"work","mcpServers":[]}}"#);
        most = most.max(say(&mut observer, Role::Client, &wrong));
        let other = format!(r#""id":{id},"method":"fs/read_text_file","params":{{"sessionId":"s-{id}","path":"a"}}"#);
        most = most.max(say(&mut observer, Role::Agent, &other));
        if id % 3 == 0 {
            let answer = format!(r#""id":{id},"result":{{"sessionId":"s-{id}"}}"#);
            most = most.max(say(&mut observer, Role::Agent, &answer));
        }
    }
    let kept = most - before;
    assert!(kept <= 4 << 20, "{kept} bytes");

    let line = b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"none\"}\n".repeat(64);
    let (before, mut fed) = (ALLOCATOR.allocated(), 0);
    while fed < FED {
        for side in [Role::Client, Role::Agent] {
            observer.receive(side, &line);
            fed += line.len();
        }
    }
    assert_eq!(observer.buffered(), fed);
    let kept = ALLOCATOR.allocated() - before;
    assert!(kept <= 2 * fed + (1 << 20), "{kept} bytes for {fed}");
}
