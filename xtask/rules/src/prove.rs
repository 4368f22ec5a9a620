//! Each rule in turn is switched off, one direction at a time, and its own vectors are replayed: one of them must fail.
//! `cargo xtask rules --prove` runs this.
//!
//! It does so in each version that has the rule, with the vectors of that version, and names each direction of each version
//! that none of them proves.
//!
//! That nothing fails without a rule has one of three causes: its vectors do not look, no code holds anything to it, or
//! another rule speaks for it, which its row then has to say (`reported_as`). What the code asks about each rule while all
//! vectors are replayed is held against the rows as well, so that a direction which no row claims shows up.

#[path = "../../../core/tests/http/ask.rs"]
mod ask;
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
#[path = "../../../core/tests/http/remote.rs"]
mod remote;
#[allow(dead_code, reason = "the core's own tests use more of it")]
#[path = "../../../core/tests/support/replay.rs"]
mod replay;
#[allow(dead_code, reason = "the core's own tests use more of it")]
#[path = "../../../core/tests/support/scenario.rs"]
mod scenario;
#[path = "../../../core/tests/http/serve.rs"]
mod serve;

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
    let (core, remote) = (scenario::load(&scenario::vectors()), remote::load());
    let all: Vec<Vector> = core.iter().map(Vector::Core).chain(remote.iter().map(Vector::Remote)).collect();
    let replayed = share(&all, |vector| Replayed::new(*vector));
    let mut complaints: Vec<String> = replayed.iter().filter_map(Replayed::complaint).collect();
    if complaints.is_empty() {
        complaints.extend(misclaimed(&replayed));
    }
    complaints.sort();
    let vectors = vectors_of(&replayed);
    let claims: Vec<Claim> = rules().flat_map(claims).collect();
    let proofs = share(&claims, |claim| {
        claim.proof(vectors.get(&(claim.rule.id, claim.version)).map_or(&[][..], Vec::as_slice))
    });
    for version in versions() {
        let of: Vec<&Proof> = proofs.iter().filter(|proof| proof.claim.version == version).collect();
        let count = |wanted: Way| of.iter().filter(|proof| proof.claim.way == wanted).count();
        println!(
            "version {version}: {} rules switched off in {} directions ({} on send, {} on receive, {} tracked), {} proved",
            of.iter().map(|proof| proof.claim.rule.id).collect::<BTreeSet<_>>().len(),
            of.len(),
            count(Way::Send),
            count(Way::Receive),
            count(Way::Track),
            of.iter().filter(|proof| proof.proved).count()
        );
    }
    let mut unproved: Vec<String> = proofs.iter().filter_map(Proof::gap).collect();
    unproved.sort();
    for line in complaints.iter().chain(&unproved) {
        println!("{line}");
    }
    let failed = unproved.len() + complaints.len();
    println!("{} passed, {failed} failed", proofs.len() - unproved.len());
    if claims.is_empty() || failed > 0 {
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

/// A direction of a rule in one of its versions.
#[derive(Debug, Clone, Copy)]
struct Claim {
    rule: &'static Rule,
    way: Way,
    version: u16,
}

fn claims(rule: &'static Rule) -> impl Iterator<Item = Claim> {
    let all = versions().flat_map(move |version| ways(rule).map(move |way| Claim { rule, way, version }));
    all.filter(|claim| claim.rule.holds(claim.way, claim.version))
}

/// A scenario of connections, or one of the remote transports, which are the same in all versions.
#[derive(Debug, Clone, Copy)]
enum Vector<'a> {
    Core(&'a Scenario),
    Remote(&'a remote::Scenario),
}

impl<'a> Vector<'a> {
    fn rule(self) -> Option<&'a str> {
        match self {
            Vector::Core(scenario) => scenario.rule.as_deref(),
            Vector::Remote(scenario) => scenario.rule.as_deref(),
        }
    }

    fn versions(self) -> Vec<u16> {
        match self {
            // One that cannot be replayed has no version, and its failure is told.
            Vector::Core(scenario) => vec![catch_unwind(|| scenario.version()).unwrap_or_default()],
            Vector::Remote(_) => versions().collect(),
        }
    }

    /// Why it fails, if it does.
    fn failure(self) -> Option<String> {
        let run = || match self {
            Vector::Core(scenario) => scenario.run(Split::Whole),
            Vector::Remote(scenario) => scenario.run(usize::MAX),
        };
        catch_unwind(run).unwrap_or_else(|_| Err("a panic".into())).err()
    }
}

/// What every worker has made of its share of the work.
fn share<'a, T: Sync, R: Send>(work: &'a [T], one: impl Fn(&'a T) -> R + Sync) -> Vec<R> {
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

/// A scenario that was replayed with every rule on.
#[derive(Debug)]
struct Replayed<'a> {
    vector: Vector<'a>,
    versions: Vec<u16>,
    /// Why it fails, if it does.
    failure: Option<String>,
    /// What the code asked.
    asked: HashSet<(RuleId, Way)>,
}

impl<'a> Replayed<'a> {
    fn new(vector: Vector<'a>) -> Self {
        let failure = vector.failure();
        Replayed { vector, versions: vector.versions(), failure, asked: asked() }
    }

    fn complaint(&self) -> Option<String> {
        let why = self.failure.as_ref()?;
        let (file, name) = match self.vector {
            Vector::Core(scenario) => (&scenario.file, &scenario.name),
            Vector::Remote(scenario) => (&scenario.file, &scenario.name),
        };
        Some(format!("{file}: {name}: {why}"))
    }
}

/// Those that name a rule, by rule and version.
fn vectors_of<'a>(all: &'a [Replayed<'a>]) -> BTreeMap<(&'a str, u16), Vec<&'a Replayed<'a>>> {
    let mut of: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for vector in all {
        if let Some(rule) = vector.vector.rule() {
            for version in &vector.versions {
                of.entry((rule, *version)).or_default().push(vector);
            }
        }
    }
    of
}

/// The rules whose ids events carry for this one: its own, unless others speak for it.
fn speakers(rule: &Rule) -> impl Iterator<Item = RuleId> + '_ {
    [rule.id].into_iter().chain(rule.reported_as.iter().copied()).map(RuleId::of)
}

/// Directions that a row claims and no code asks about, or the other way round.
fn misclaimed(replayed: &[Replayed<'_>]) -> Vec<String> {
    let heard: HashSet<(RuleId, Way)> = replayed.iter().flat_map(|vector| &vector.asked).copied().collect();
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

impl Claim {
    /// What these vectors, which are the rule's and of the version, say about it.
    fn proof(self, vectors: &[&Replayed]) -> Proof {
        let off: Vec<(RuleId, Way)> = speakers(self.rule).map(|speaker| (speaker, self.way)).collect();
        // One that has never asked about the rule ends the same without it.
        let mut asking = vectors.iter().filter(|vector| off.iter().any(|way| vector.asked.contains(way)));
        let proved = without(&off, || asking.any(|vector| vector.vector.failure().is_some()));
        Proof { claim: self, vectors: vectors.len(), proved }
    }
}

/// What the vectors say about a claim.
#[derive(Debug)]
struct Proof {
    claim: Claim,
    /// How many there are.
    vectors: usize,
    /// Whether one of them fails without it.
    proved: bool,
}

impl Proof {
    /// What is wrong where no vector fails without the rule in this direction.
    fn gap(&self) -> Option<String> {
        let Claim { rule, way, version } = self.claim;
        let why = match self.vectors {
            _ if self.proved => return None,
            0 => "no vector names it".to_owned(),
            count => format!("its {count} vectors pass without it"),
        };
        Some(format!("{} {} in version {version}: {why}", rule.id, way.name()))
    }
}

/// The versions that the library speaks, oldest first.
fn versions() -> impl Iterator<Item = u16> {
    (1..=Versions::ALL.newest()).filter(|version| Versions::ALL.contains(*version))
}
