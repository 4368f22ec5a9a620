//! Each rule in turn is switched off, one direction at a time, and its own vectors are replayed: one of them must fail.
//! `cargo xtask rules --prove` runs this.
//!
//! How many rules each version's own vectors prove is told as well, and which rules of a version only those of another do.
//!
//! That nothing fails without a rule has one of three causes: its vectors do not look, no code holds anything to it, or
//! another rule speaks for it, which its row then has to say (`reported_as`). What the code asks about each rule while all
//! vectors are replayed is held against the rows as well, so that a direction which no row claims shows up.

#[path = "../../../core/tests/support/base64.rs"]
mod base64;
#[path = "../../../core/tests/support/config.rs"]
mod config;
#[path = "../../../core/tests/support/event.rs"]
mod event;
#[allow(dead_code, reason = "the core's own tests use more of it")]
#[path = "../../../core/tests/support/exact.rs"]
mod exact;
#[allow(dead_code, reason = "the core's own tests use more of it")]
#[path = "../../../core/tests/support/expected.rs"]
mod expected;
#[allow(dead_code, reason = "the core's own tests use more of it")]
#[path = "../../../core/tests/support/frames.rs"]
mod frames;
#[allow(dead_code, reason = "the core's own tests use more of it")]
#[path = "../../../core/tests/support/replay.rs"]
mod replay;
#[allow(dead_code, reason = "the core's own tests use more of it")]
#[path = "../../../core/tests/support/scenario.rs"]
mod scenario;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::panic::{catch_unwind, set_hook};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use libacp::connection::Versions;
use libacp::rules::{asked, without, Rule, RuleId, Way, AREAS};
use replay::Split;
use scenario::Scenario;

fn main() -> ExitCode {
    // A replay that a missing rule makes impossible may end in a panic, which is a failure like others.
    set_hook(Box::new(|_| {}));
    let all = scenario::load(&scenario::vectors());
    let (mut complaints, heard) = replay_all(&all);
    if complaints.is_empty() {
        complaints.extend(misclaimed(&heard));
    }
    let claims: Vec<(&'static Rule, Way)> = rules().flat_map(|rule| ways(rule).map(move |way| (rule, way))).collect();
    let proofs = proofs(&claims, &vectors_of(&all));
    let mut unproved: Vec<String> = claims.iter().zip(&proofs).filter_map(|(claim, proof)| gap(claim, proof)).collect();
    for version in versions() {
        let of = |rule: &Rule| rule.versions.contains(version);
        let all: BTreeSet<&str> = claims.iter().filter(|(rule, _)| of(rule)).map(|(rule, _)| rule.id).collect();
        let proved = claims.iter().zip(&proofs).filter(|(_, proof)| proof.versions.contains(&version));
        let proved: BTreeSet<&str> = proved.map(|((rule, _), _)| rule.id).collect();
        let others: Vec<&str> = all.difference(&proved).copied().collect();
        println!("version {version}: {} of {} rules proved", all.len() - others.len(), all.len());
        if !others.is_empty() {
            println!("  proved in another version alone: {}", others.join(" "));
        }
    }
    unproved.sort();
    for line in complaints.iter().chain(&unproved) {
        println!("{line}");
    }
    let count = |wanted: Way| claims.iter().filter(|(_, way)| *way == wanted).count();
    println!(
        "{} rules switched off in {} directions: {} on send, {} on receive, {} tracked",
        claims.iter().map(|(rule, _)| rule.id).collect::<BTreeSet<_>>().len(),
        claims.len(),
        count(Way::Send),
        count(Way::Receive),
        count(Way::Track)
    );
    let passed = proofs.iter().filter(|proof| !proof.versions.is_empty()).count();
    println!("{passed} passed, {} failed", unproved.len() + complaints.len());
    if claims.is_empty() || !unproved.is_empty() || !complaints.is_empty() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn rules() -> impl Iterator<Item = &'static Rule> {
    AREAS.iter().flat_map(|area| area.rules)
}

/// The directions that the row of a rule claims.
fn ways(rule: &Rule) -> impl Iterator<Item = Way> {
    let claimed = [(rule.send, Way::Send), (rule.receive, Way::Receive), (rule.track, Way::Track)];
    claimed.into_iter().filter_map(|(claimed, way)| claimed.then_some(way))
}

fn vectors_of(all: &[Scenario]) -> BTreeMap<&str, Vec<&Scenario>> {
    let mut of: BTreeMap<&str, Vec<&Scenario>> = BTreeMap::new();
    for scenario in all {
        if let Some(rule) = &scenario.rule {
            of.entry(rule).or_default().push(scenario);
        }
    }
    of
}

/// Why a scenario fails, if it does.
fn failure(scenario: &Scenario) -> Option<String> {
    catch_unwind(|| scenario.run(Split::Whole)).unwrap_or_else(|_| Err("a panic".into())).err()
}

/// What every worker has made of its share of the work.
fn share<T: Sync, R: Send>(work: &[T], one: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let work = || {
            let mut done = Vec::new();
            while let Some(item) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                done.push(one(item));
            }
            done
        };
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        running.into_iter().flat_map(|worker| worker.join().expect("a worker's end")).collect()
    })
}

/// With every rule on: the scenarios that fail, and what the code asked.
fn replay_all(all: &[Scenario]) -> (Vec<String>, HashSet<(RuleId, Way)>) {
    let replayed = share(all, |scenario| {
        let why = failure(scenario);
        (why.map(|why| format!("{}: {}: {why}", scenario.file, scenario.name)), asked())
    });
    let (failed, heard): (Vec<_>, Vec<_>) = replayed.into_iter().unzip();
    (failed.into_iter().flatten().collect(), heard.into_iter().flatten().collect())
}

/// The rules whose ids events carry for this one: its own, unless others speak for it.
fn speakers(rule: &Rule) -> impl Iterator<Item = RuleId> + '_ {
    [rule.id].into_iter().chain(rule.reported_as.iter().copied()).map(RuleId::of)
}

/// Directions that a row claims and no code asks about, or the other way round.
fn misclaimed(heard: &HashSet<(RuleId, Way)>) -> Vec<String> {
    let mut complaints = Vec::new();
    for rule in rules() {
        for way in [Way::Send, Way::Receive, Way::Track] {
            let claimed = ways(rule).any(|claimed| claimed == way);
            let own = heard.contains(&(RuleId::of(rule.id), way));
            let any = speakers(rule).any(|speaker| heard.contains(&(speaker, way)));
            match (claimed, own, any) {
                (true, _, false) => complaints.push(format!("{}: nothing asks about {}", rule.id, way.name())),
                (false, true, _) => complaints.push(format!("{}: the row does not claim {}", rule.id, way.name())),
                _ => {}
            }
        }
    }
    complaints
}

/// What the vectors of a rule say about one of its directions.
#[derive(Debug)]
struct Proof {
    claim: (&'static str, Way),
    /// How many there are.
    vectors: usize,
    /// The versions in which one of them fails without it.
    versions: BTreeSet<u16>,
}

/// The proof of each claim, in their order.
fn proofs(claims: &[(&'static Rule, Way)], vectors: &BTreeMap<&str, Vec<&Scenario>>) -> Vec<Proof> {
    let prove = |(rule, way): &(&'static Rule, Way)| {
        let own = vectors.get(rule.id).map_or(&[][..], Vec::as_slice);
        let off: Vec<(RuleId, Way)> = speakers(rule).map(|speaker| (speaker, *way)).collect();
        let noticed = |version: &u16| {
            let mut mine = own.iter().filter(|scenario| scenario.version() == *version);
            without(&off, || mine.any(|scenario| failure(scenario).is_some()))
        };
        let versions = versions().filter(noticed).collect();
        Proof { claim: (rule.id, *way), vectors: own.len(), versions }
    };
    let mut all = share(claims, prove);
    let place = |proof: &Proof| claims.iter().position(|(rule, way)| (rule.id, *way) == proof.claim);
    all.sort_by_key(place);
    all
}

/// What is wrong where no vector fails without the rule in this direction.
fn gap((rule, way): &(&Rule, Way), proof: &Proof) -> Option<String> {
    let why = match proof.vectors {
        _ if !proof.versions.is_empty() => return None,
        0 => "no vector names it".to_owned(),
        count => format!("its {count} vectors pass without it"),
    };
    Some(format!("{} {}: {why}", rule.id, way.name()))
}

/// The versions that the library speaks, oldest first.
fn versions() -> impl Iterator<Item = u16> {
    (1..=Versions::ALL.newest()).filter(|version| Versions::ALL.contains(*version))
}
