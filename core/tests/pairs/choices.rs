//! Choices that can be made again, and made simpler.
//!
//! A run draws all its choices from here. A run that fails is repeated with parts of its choices left out or smaller;
//! what still fails is kept. Where choices have run out, each is 0, which stands for the least that can be done.

use crate::rng::Rng;

/// Attempts at making a failure simpler.
const ATTEMPTS: usize = 3_000;

#[derive(Debug)]
pub(crate) struct Choices {
    taken: Vec<u32>,
    at: usize,
    more: Option<Rng>,
}

impl Choices {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        // Seeds that stand next to each other begin alike.
        (0..8).for_each(|_| _ = rng.next());
        Choices { taken: Vec::new(), at: 0, more: Some(rng) }
    }

    pub(crate) fn again(taken: &[u32]) -> Self {
        Choices { taken: taken.to_vec(), at: 0, more: None }
    }

    /// A number from 0 up to this, which is not included (and at least 1).
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let end = end.max(1);
        let chosen = match (self.taken.get(self.at), &mut self.more) {
            (Some(&chosen), _) => chosen as usize % end,
            (None, Some(rng)) => rng.below(end),
            (None, None) => 0,
        };
        if self.more.is_some() {
            self.taken.push(u32::try_from(chosen).expect("a small number"));
        }
        self.at += 1;
        chosen
    }

    /// The choices that were made up to now are all there are.
    pub(crate) fn are_over(&self) -> bool {
        self.more.is_none() && self.at >= self.taken.len()
    }

    /// Once in so many times, and never when there is no choice.
    pub(crate) fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == chances - 1 && chances > 1
    }

    pub(crate) fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        if all.is_empty() {
            return None;
        }
        all.get(self.below(all.len()))
    }

    /// One of those that fit.
    pub(crate) fn pick_from<T>(&mut self, all: impl Iterator<Item = T>) -> Option<T> {
        let mut all: Vec<T> = all.collect();
        if all.is_empty() {
            return None;
        }
        let at = self.below(all.len());
        Some(all.swap_remove(at))
    }
}

/// Why a run fails that makes these choices, if it does.
type Fails<'f> = &'f dyn Fn(&mut Choices) -> Option<String>;

/// The simplest choices found that fail, and why they do.
pub(crate) fn simplest(failed: &Choices, fails: Fails<'_>) -> (Vec<u32>, String) {
    let mut best = failed.taken[..failed.at.min(failed.taken.len())].to_vec();
    let mut why = fails(&mut Choices::again(&best)).unwrap_or_else(|| "not again".into());
    let mut left = ATTEMPTS;
    let mut attempt = |new: Vec<u32>, best: &mut Vec<u32>| {
        left = left.saturating_sub(1);
        let outcome = if left == 0 { None } else { fails(&mut Choices::again(&new)) };
        outcome.map(|reason| {
            *best = new;
            why = reason;
        })
    };
    let mut size = best.len().div_ceil(2).max(1);
    let mut length = best.len();
    loop {
        let mut at = 0;
        while at < best.len() {
            let end = (at + size).min(best.len());
            let without = [&best[..at], &best[end..]].concat();
            if attempt(without, &mut best).is_none() {
                at += size;
            }
        }
        match (size, best.len() < length) {
            (1, false) => break,
            (1, true) => (size, length) = (8.min(best.len()).max(1), best.len()),
            _ => size /= 2,
        }
    }
    for at in 0..best.len() {
        for smaller in [0, best.get(at).map_or(0, |choice| choice / 2)] {
            if best.get(at).is_some_and(|choice| *choice > smaller) {
                let mut new = best.clone();
                new[at] = smaller;
                let _ = attempt(new, &mut best);
            }
        }
    }
    (best, why)
}
