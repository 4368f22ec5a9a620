//! Every method, from every side, in every form, at every stage, in every version, with the capability that it needs
//! there in every way that it can be, with drafts on and off, with every state of the login: each combination ends as the catalogue says.
//!
//! `case` has what the catalogue says, as a list of rules over the model's own files; `stand` makes each combination
//! happen. Nothing of what is expected comes from the tables that are generated or from the code under test.

#[path = "admission/case.rs"]
mod case;
#[path = "support/model.rs"]
mod model;
#[path = "admission/stand.rs"]
mod stand;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::thread;

use case::{Case, Login, Mark, Outcome, Stage, LOGINS, STAGES};
use libacp::connection::Versions;
use libacp::Role;
use model::Model;
use stand::Stand;

/// Names beside those of the model: the host's own, and what nobody may call.
const OTHERS: &[&str] = &["_x/y", "x/y", "initialized", "$/x"];

/// What was seen of some combinations.
#[derive(Debug, Default)]
struct Tally {
    counts: BTreeMap<&'static str, usize>,
    /// Combinations that a host cannot bring about, as it may not say that of itself.
    unsayable: usize,
    rules: BTreeSet<&'static str>,
    /// One combination of each kind of failure, and how many there are.
    failures: BTreeMap<String, (String, usize)>,
}

/// The combinations of one method.
fn cases<'m>(models: &'m [Model; 2], method: &'m str, drafts: &[&'m str]) -> Vec<Case<'m>> {
    let mut all = Vec::new();
    let (one, two) = (Versions::only(1), Versions::only(2));
    for (model, versions) in
        [(&models[0], one), (&models[0], Versions::ALL), (&models[1], Versions::ALL), (&models[1], two)]
    {
        let row = model.methods.get(method);
        let own = row.and_then(|row| row["draft"].as_str());
        let sets = [Some(Vec::new()), Some(drafts.to_vec()), own.map(|own| vec![own])];
        for drafts in sets.into_iter().flatten() {
            for role in [Role::Client, Role::Agent] {
                for (sends, request) in [(true, true), (true, false), (false, true), (false, false)] {
                    for (stage, login) in stages(method) {
                        let mark = Mark::Absent;
                        let drafts = drafts.clone();
                        let case = Case { model, versions, method, role, sends, request, stage, drafts, mark, login };
                        all.extend(case.marks().iter().map(|&mark| Case { mark, ..case.clone() }));
                    }
                }
            }
        }
    }
    all
}

/// The stages, each with the logins that there may be then. Only `initialize` is told apart by whether anything else was
/// asked.
fn stages(method: &str) -> impl Iterator<Item = (Stage, Login)> + '_ {
    let stages = STAGES.iter().filter(move |stage| **stage != Stage::Agreed || method == "initialize");
    stages.flat_map(|&stage| {
        let logins = if stage == Stage::Ready { LOGINS } else { &[Login::Listed] };
        logins.iter().map(move |&login| (stage, login))
    })
}

impl Tally {
    fn run(&mut self, case: &Case<'_>) {
        let mut stand = match Stand::new(case) {
            Ok(stand) if case.is_sayable() => stand,
            Err(_) if !case.is_sayable() => return self.unsayable += 1,
            made => return self.fail(case, &format!("{} to say so", case.is_sayable()), &format!("{:?}", made.err())),
        };
        let told = stand.why_not(case.method).map(|misuse| (misuse.kind, misuse.rule.as_str()));
        if told != case.why_not() {
            self.fail(case, &format!("why_not {:?}", case.why_not()), &format!("{told:?}"));
        }
        let expected = case.expected();
        let name = match expected {
            Outcome::Accepted => "accepted",
            Outcome::Misuse(_, rule) => {
                self.rules.insert(rule);
                "misuse"
            }
            Outcome::Refused(_, rule) => {
                self.rules.insert(rule);
                "refused"
            }
            Outcome::Dropped(rule) => {
                self.rules.insert(rule);
                "dropped"
            }
            Outcome::Reported(rule) => {
                self.rules.insert(rule);
                "reported"
            }
            Outcome::Ignored => "ignored",
        };
        *self.counts.entry(name).or_default() += 1;
        let found = stand.run(case);
        if found.as_ref() != Ok(&expected) {
            self.fail(case, &format!("{expected:?}"), &format!("{found:?}"));
        }
    }

    fn fail(&mut self, case: &Case<'_>, expected: &str, found: &str) {
        let Case { model, versions, method, role, sends, request, stage, drafts, mark, login } = case;
        let version = format!("version {}{}", model.version, if *versions == Versions::ALL { " of 2" } else { "" });
        let does = match (sends, request) {
            (true, true) => "requests",
            (true, false) => "notifies",
            (false, true) => "is requested",
            (false, false) => "is notified",
        };
        let drafts = drafts.len();
        let one =
            format!("{} {does} {method}, {version}, {stage:?}, {login:?}, {mark:?}, {drafts} drafts", role.name());
        let kind = format!("expected {expected}, found {found}");
        self.failures.entry(kind).or_insert((one, 0)).1 += 1;
    }

    fn add(mut self, other: Tally) -> Tally {
        for (name, count) in other.counts {
            *self.counts.entry(name).or_default() += count;
        }
        self.unsayable += other.unsayable;
        self.rules.extend(other.rules);
        for (kind, (one, count)) in other.failures {
            self.failures.entry(kind).or_insert((one, 0)).1 += count;
        }
        self
    }
}

#[test]
fn every_combination_ends_as_the_catalogue_says() {
    let models = [Model::load(1), Model::load(2)];
    let rows = || models.iter().flat_map(|model| &model.methods);
    let methods: BTreeSet<&str> = rows().map(|(name, _)| name.as_str()).chain(OTHERS.iter().copied()).collect();
    let drafts: BTreeSet<&str> = rows().filter_map(|(_, row)| row["draft"].as_str()).collect();
    let drafts: Vec<&str> = drafts.into_iter().collect();
    let cases: Vec<Case<'_>> = methods.iter().flat_map(|method| cases(&models, method, &drafts)).collect();
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let tally = thread::scope(|scope| {
        let work = |first: usize| {
            let mut tally = Tally::default();
            cases.iter().skip(first).step_by(workers).for_each(|case| tally.run(case));
            tally
        };
        let running: Vec<_> = (0..workers).map(|first| scope.spawn(move || work(first))).collect();
        running.into_iter().map(|worker| worker.join().expect("a worker's end")).fold(Tally::default(), Tally::add)
    });
    let mut out = std::io::stdout();
    for (kind, (one, count)) in &tally.failures {
        writeln!(out, "{count} times: {one}: {kind}").unwrap();
    }
    let run = tally.counts.values().sum::<usize>();
    writeln!(out, "{run} combinations of {} methods: {:?}", methods.len(), tally.counts).unwrap();
    assert!(tally.failures.is_empty(), "{} kinds of combinations end otherwise", tally.failures.len());
    assert_eq!(run + tally.unsayable, cases.len());
    // What is never reached is not tested.
    for row in rows()
        .filter_map(|(_, row)| row["gate-rule"].as_str())
        .chain(["AUTH-16", "EXT-07", "INIT-09", "RPC-17", "RPC-18", "RPC-27"])
    {
        assert!(tally.rules.contains(row), "{row} is never met");
    }
}
