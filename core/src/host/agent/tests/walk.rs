//! Calls and messages in any order: the host breaks no rule of the version that was agreed.

use super::*;
use crate::connection::Turn;

/// Steps of one walk.
const STEPS: usize = 300;

/// What the two sides have not finished.
struct Walk {
    pair: Pair,
    random: u64,
    /// Prompts that the host serves, and whether each was cancelled.
    served: Vec<(Request, bool)>,
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
                Event::Request(request) if request.method == "session/prompt" => self.served.push((request, false)),
                Event::Cancel(cancel) => {
                    for (_, cancelled) in self.served.iter_mut().filter(|(known, _)| known.serial == cancel.serial) {
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
        let Some((prompt, cancelled)) = self.served.pop() else { return };
        self.ended += 1;
        if fails {
            self.pair.host.respond_error(&prompt, ErrorCode::INTERNAL_ERROR, "no", None).unwrap();
        } else {
            let reason = if cancelled { "cancelled" } else { "end_turn" };
            self.pair.host.respond(&prompt, &format!("{{\"stopReason\":\"{reason}\"}}")).unwrap();
        }
    }

    fn step(&mut self) {
        let works = !self.served.is_empty();
        match self.below(13) {
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
            _ => {}
        }
        // Messages cross where both sides do something before they read.
        if self.below(3) > 0 {
            self.settle();
        }
    }
}

#[test]
fn no_order_of_calls_breaks_a_rule() {
    for version in VERSIONS {
        for seed in 0..30 {
            let pair = Pair::open(version, &[]);
            let mut walk =
                Walk { pair, random: seed, served: Vec::new(), asked: Vec::new(), tools: 0, begun: 0, ended: 0 };
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
            assert!(
                walk.pair.client.pending().next().is_none() && walk.pair.host.connection().pending().next().is_none()
            );
            assert_eq!(walk.pair.host.agent().newer.kept(), [0; 4], "version {version}, seed {seed}");
        }
    }
}
