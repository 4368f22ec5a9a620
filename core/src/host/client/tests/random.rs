//! Conversations of version 2 by chance: whatever an agent does in its turn, each prompt ends once, and only in the end.

use super::{Pair, RUNNING};
use crate::connection::Turn;

/// Numbers that look random, the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// What the agent owes of the prompts that it has not answered, or not echoed.
#[derive(Default)]
struct Owed {
    /// The prompt that was echoed and not answered.
    answer: Option<u64>,
    /// Messages of answered prompts.
    echoes: Vec<String>,
}

struct Game {
    pair: Pair,
    owed: Owed,
    prompts: Vec<u64>,
}

impl Game {
    fn works(&self) -> bool {
        self.pair.agent.session("s").unwrap().is_under_way()
    }

    /// The oldest prompt without an answer: its serial, and whether the client has cancelled it.
    fn oldest(&self) -> Option<(u64, bool)> {
        let agent = &self.pair.agent;
        let open = agent.unanswered().next()?;
        Some((open.serial, open.cancelled || agent.session("s").unwrap().has_cancelled(open)))
    }

    fn answer(&mut self) {
        let Some((serial, cancelled)) = self.oldest() else { return };
        if cancelled && self.owed.answer != Some(serial) {
            self.pair.refuse(-32800);
            return;
        }
        if self.owed.answer.take().is_none() {
            self.owed.echoes.push(format!("m{serial}"));
        }
        self.pair.answer(&format!(r#"{{"messageId":"m{serial}"}}"#));
    }

    fn echo(&mut self) {
        if let Some(message) = self.owed.echoes.pop() {
            self.pair.echo(&message);
        } else if let Some((serial, false)) = self.oldest().filter(|_| self.owed.answer.is_none()) {
            self.owed.answer = Some(serial);
            self.pair.echo(&format!("m{serial}"));
        }
    }

    fn idle(&mut self) {
        if self.works() && self.owed.echoes.is_empty() {
            let stopped = self.pair.agent.session("s").unwrap().turn == Turn::Cancelling;
            self.pair.end_turn(if stopped { "cancelled" } else { "end_turn" });
        }
    }

    fn step(&mut self, dice: &mut Dice) {
        let open: Vec<u64> = self.prompts.iter().copied().filter(|call| self.pair.end(*call).is_none()).collect();
        match dice.below(9) {
            0 | 1 if open.len() < 4 => {
                let prompt = self.pair.prompt();
                self.prompts.push(prompt);
            }
            2 => self.answer(),
            3 => self.echo(),
            4 | 5 if !self.works() => self.pair.tell(RUNNING),
            6 => self.idle(),
            7 if self.works() => self.pair.chunk(),
            8 if !open.is_empty() && dice.below(3) == 0 => {
                let call = open[dice.below(open.len() as u64) as usize];
                self.pair.client.abandon(call);
                self.pair.pump();
            }
            _ => {}
        }
    }

    /// The agent does what it still has to do, and time passes.
    fn finish(&mut self) {
        while self.oldest().is_some() {
            self.answer();
        }
        while !self.owed.echoes.is_empty() {
            self.echo();
        }
        if !self.works() && self.pair.agent.session("s").unwrap().is_working() {
            self.pair.tell(RUNNING);
        }
        self.idle();
        while let Some(due) = self.pair.client.poll_timeout() {
            self.pair.client.handle_timeout(due);
            self.pair.pump();
        }
    }
}

#[test]
fn each_prompt_ends_once() {
    let mut seen = 0;
    for seed in 0..300 {
        let mut dice = Dice(seed);
        let mut game = Game { pair: Pair::open(2), owed: Owed::default(), prompts: Vec::new() };
        for _ in 0..60 {
            game.step(&mut dice);
        }
        game.finish();
        for prompt in &game.prompts {
            assert!(game.pair.end(*prompt).is_some(), "{seed}: {prompt} of {:?}", game.prompts);
        }
        seen += game.prompts.len();
        let calls = game.pair.client.connection().pending().count();
        assert_eq!(calls, 0);
    }
    assert!(seen > 1000, "{seen}");
}
