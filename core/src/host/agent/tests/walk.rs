//! Calls and messages in any order: the host breaks no rule of the version that was agreed.

use super::*;
use crate::connection::Turn;

/// Steps of one walk.
const STEPS: usize = 300;

/// What the two sides have not finished.
struct Walk {
    pair: Pair,
    random: u64,
    /// Prompts that the host serves and work that it does, by number, and whether each was cancelled.
    served: Vec<(u64, bool)>,
    /// How often work was done without a prompt.
    worked: usize,
    /// Questions that the client has not answered.
    asked: Vec<Request>,
    tools: usize,
    begun: usize,
    ended: usize,
}

impl Walk {
    fn below(&mut self, count: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % count
    }

    /// Takes in what both sides have seen.
    fn settle(&mut self) {
        self.pair.pump();
        for event in std::mem::take(&mut self.pair.seen) {
            match event {
                Event::Request(request) if request.method == "session/prompt" => {
                    self.served.push((request.serial, false));
                }
                Event::Cancel(cancel) => {
                    for (_, cancelled) in self.served.iter_mut().filter(|(known, _)| *known == cancel.serial) {
                        *cancelled = true;
                    }
                }
                Event::Notification(_) | Event::Response(_) => {}
                other => panic!("{other:?}"),
            }
        }
        for event in std::mem::take(&mut self.pair.told) {
            match event {
                Event::Request(request) => self.asked.push(request),
                Event::Answered(answered) => self.asked.retain(|asked| asked.serial != answered.serial),
                Event::Notification(_) | Event::Response(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    fn end(&mut self, fails: bool) {
        let Some((serial, cancelled)) = self.served.pop() else { return };
        self.ended += 1;
        let host = &mut self.pair.host;
        let reason = format!("{{\"stopReason\":\"{}\"}}", if cancelled { "cancelled" } else { "end_turn" });
        match (is_work(serial), fails) {
            (false, false) => host.respond(serial, &reason).unwrap(),
            (false, true) => host.respond_error(serial, ErrorCode::INTERNAL_ERROR, "no", None).unwrap(),
            (true, false) => host.end_work(serial, &reason).unwrap(),
            (true, true) => host.fail_work(serial, ErrorCode::INTERNAL_ERROR, "no", None).unwrap(),
        }
    }

    /// Says when a prompt becomes a message, if nothing has before.
    fn insert(&mut self) {
        let Some((serial, cancelled)) = self.served.last().copied() else { return };
        if is_work(serial) {
            return;
        }
        match self.below(3) {
            0 => self.pair.host.stepped(serial).unwrap(),
            1 => drop(self.pair.host.hold(serial)),
            // The client may have cancelled it while the host does not know yet.
            _ => assert!(self.pair.host.insert(serial).is_ok() || cancelled),
        }
    }

    fn work(&mut self) {
        match self.pair.host.begin_work("s") {
            Ok(work) => {
                self.served.push((work, false));
                self.worked += 1;
            }
            // A request may have come that the host has not polled.
            Err(misuse) => assert_eq!(misuse.rule.as_str(), "LIFE-25"),
        }
    }

    fn step(&mut self) {
        // In version 1, what is said after a turn that was cancelled may be late (TURN-05).
        let says = |serial: u64| !is_work(serial) || self.pair.client.version() == Some(2);
        let works = self.served.last().is_some_and(|(serial, _)| says(*serial));
        match self.below(16) {
            0 | 1 => {
                let said = self.begun;
                let prompt = format!(r#"{{"sessionId":"s","prompt":[{{"type":"text","text":"{said}"}}]}}"#);
                // In version 1, one turn has one prompt.
                self.begun += usize::from(self.pair.client.request("session/prompt", &prompt).is_ok());
            }
            2 if self.pair.client.session("s").unwrap().turn != Turn::Idle => {
                self.pair.client.notify("session/cancel", r#"{"sessionId":"s"}"#).unwrap();
            }
            3 => {
                let open =
                    self.pair.client.pending().find(|open| open.method == "session/prompt").map(|open| open.serial);
                if let Some(serial) = open {
                    self.pair.client.cancel(serial).unwrap();
                }
            }
            4 | 5 if works => {
                let kind = ["agent_message_chunk", "agent_thought_chunk"][usize::from(self.below(2) == 0)];
                let content = r#"{"type":"text","text":"x"}"#;
                self.pair.say(&format!(r#"{{"sessionUpdate":"{kind}","content":{content}}}"#));
            }
            6 if works => {
                self.tools += 1;
                let id = self.tools;
                self.pair.say(&format!(
                    r#"{{"sessionUpdate":"tool_call","toolCallId":"{id}","title":"T","status":"completed"}}"#
                ));
            }
            7 if works && self.tools > 0 => {
                let id = self.tools;
                let options = r#"[{"optionId":"y","name":"Y","kind":"allow_once"},{"optionId":"n","name":"N","kind":"reject_once"}]"#;
                let asked = format!(r#"{{"sessionId":"s","toolCall":{{"toolCallId":"{id}"}},"options":{options}}}"#);
                self.pair.host.request_with("session/request_permission", &asked, CallOptions::default()).unwrap();
            }
            8 | 9 if !self.asked.is_empty() => {
                let asked = self.asked.remove(0);
                let outcome = r#"{"outcome":{"outcome":"selected","optionId":"y"}}"#;
                // The connection may have answered it before, as its work was cancelled.
                let open = self.pair.client.unanswered_by_serial(asked.serial).is_some();
                assert_eq!(self.pair.client.respond(&asked, outcome).is_ok(), open);
            }
            12 if self.pair.client.version() == Some(2) => {
                // There is no handler for it.
                self.pair.client.request("session/resume", r#"{"sessionId":"s","cwd":"/w"}"#).unwrap();
            }
            10 => self.end(false),
            11 => self.end(true),
            13 | 14 => self.insert(),
            15 => self.work(),
            _ => {}
        }
        // Messages cross where both sides do something before they read.
        if self.below(3) > 0 {
            self.settle();
        }
    }
}

fn is_work(serial: u64) -> bool {
    serial >= 1 << 52
}

#[test]
fn no_order_of_calls_breaks_a_rule() {
    for version in VERSIONS {
        let mut worked = 0;
        for seed in 0..60 {
            let mut pair = Pair::open(version, &[]);
            if seed % 2 == 1 {
                pair.host.hold_prompts();
            }
            let mut walk = Walk {
                pair,
                random: seed,
                served: Vec::new(),
                worked: 0,
                asked: Vec::new(),
                tools: 0,
                begun: 0,
                ended: 0,
            };
            for _ in 0..STEPS {
                walk.step();
            }
            walk.settle();
            walk.pair.client.request("session/close", r#"{"sessionId":"s"}"#).unwrap();
            walk.pair.pump();
            let is_close =
                |event: &Event| matches!(event, Event::Request(request) if request.method == "session/close");
            let at = walk.pair.seen.iter().position(is_close).unwrap();
            let Some(Event::Request(close)) = walk.pair.seen.remove(at) else { panic!() };
            walk.settle();
            while !walk.served.is_empty() {
                walk.end(false);
            }
            walk.pair.host.respond(&close, "{}").unwrap();
            walk.settle();
            assert!(walk.begun > 5 && walk.ended > 5, "{} {}", walk.begun, walk.ended);
            worked += walk.worked;
            assert!(
                walk.pair.client.pending().next().is_none() && walk.pair.host.connection().pending().next().is_none()
            );
            assert_eq!(walk.pair.host.agent().newer.kept(), [0; 4], "version {version}, seed {seed}");
            assert_eq!(walk.pair.host.agent().works.count() + walk.pair.host.agent().older.count(), 0);
        }
        assert!(worked > 60, "{worked}");
    }
}
