//! Runs one pair: the client starts the agent, and afterwards everything that both claim is checked.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, Context, Result};
use serde_json::Value;

use super::deviations::{Declared, Deviation};
use super::hosts::{self, Host};
use super::trace::{self, Record};
use super::violations::{self, Known, Told};

/// Where what a pair leaves behind lies.
const FOLDER: &str = "target/demo";
/// How long a pair may go on after the script's deadline, at which a client gives up and says what it waits for.
const GRACE: Duration = Duration::from_secs(2);
/// Between two looks at whether a pair is done.
const PAUSE: Duration = Duration::from_millis(2);
/// Bytes of what a host printed that are shown.
const SHOWN: usize = 4000;
/// Runs the agent with a file of its own for what it says, and notes how it ended.
const AGENT: &str = r#"said=$1 ended=$2; shift 2; "$@" 2>"$said"; status=$?; echo $status >"$ended"; exit $status"#;

/// A client and an agent.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub(super) client: &'static Host,
    pub(super) agent: &'static Host,
}

/// What a pair that is right has done.
pub(super) struct Figures {
    pub(super) messages: u64,
    pub(super) bytes: u64,
    pub(super) ms: u128,
}

/// How a pair ended.
pub(super) enum Outcome {
    Right(Figures),
    /// Where one side is known to deviate.
    Deviates(Vec<Deviation>),
    /// What there is to say about it.
    Wrong(String),
}

impl Outcome {
    pub(super) fn deviations(&self) -> impl Iterator<Item = &Deviation> {
        let Outcome::Deviates(all) = self else { return [].iter() };
        all.iter()
    }

    pub(super) fn wrong(&self) -> Option<&String> {
        if let Outcome::Wrong(report) = self {
            Some(report)
        } else {
            None
        }
    }
}

/// How a pair ended; what passed between the two, and what each has told of the other.
pub(super) struct Ended {
    pub(super) outcome: Outcome,
    pub(super) records: Vec<Record>,
    pub(super) told: Vec<Told>,
}

/// A conversation: its own account of what must come out, and when a pair is given up.
struct Script {
    value: Value,
    limit: Duration,
}

/// All conversations, and the rules that are known to be broken.
pub(super) struct Expected {
    scripts: BTreeMap<&'static str, Script>,
    known: Known,
    declared: Declared,
}

impl Expected {
    pub(super) fn load() -> Result<Self> {
        let mut scripts = BTreeMap::new();
        for host in hosts::all() {
            if !scripts.contains_key(host.script) {
                scripts.insert(host.script, Script::load(host.script).context(host.script)?);
            }
        }
        Ok(Expected { scripts, known: Known::load()?, declared: Declared::load()? })
    }
}

impl Script {
    fn load(path: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(&fs::read_to_string(path)?)?;
        let deadline = value["deadlineMs"].as_u64().context("the script has no deadline")?;
        Ok(Script { value, limit: Duration::from_millis(deadline) + GRACE })
    }
}

/// How both processes ended, and what they said.
struct Report {
    client: Option<ExitStatus>,
    ms: u128,
    /// The client's line of JSON.
    summary: Option<Value>,
    client_said: String,
    agent_status: Option<i32>,
    agent_said: String,
}

impl Pair {
    /// As on the command line.
    pub(super) fn name(self) -> String {
        format!("{}:{}", self.client.name, self.agent.name)
    }

    /// Whether the two can play: one of them tells the violations of the other, both have their role, and they know the
    /// same conversation.
    pub(super) fn plays(self) -> bool {
        let Pair { client, agent } = self;
        let same = client.script == agent.script || client.ours || agent.ours;
        let roles = !client.client.is_empty() && !agent.agent.is_empty();
        client.version == agent.version && same && roles && (client.ours || agent.ours)
    }

    /// The conversation: that of the side which has but one.
    fn script(self) -> &'static str {
        if self.client.ours {
            self.agent.script
        } else {
            self.client.script
        }
    }

    /// Runs it and checks it.
    pub(super) fn run(self, expected: &Expected) -> Result<Ended> {
        let root = std::env::current_dir()?;
        let folder = root.join(FOLDER).join(format!("{}-{}", self.client.name, self.agent.name));
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
        }
        let work = folder.join("work");
        fs::create_dir_all(&work).with_context(|| work.display().to_string())?;
        let script = expected.scripts.get(self.script()).context("a host without a script")?;
        let report = self.converse(&root, &folder, &work, script.limit)?;
        let trace = folder.join("trace.jsonl");
        let (records, traced) = match trace::read(&trace) {
            Ok(records) => (records, Ok(())),
            Err(error) => (Vec::new(), Err(error)),
        };
        let mut told = violations::read(&report.client_said, self.agent, "agent");
        told.extend(violations::read(&report.agent_said, self.client, "client"));
        let checked = report.verdict().and_then(|figures| {
            traced?;
            check(&figures, &report, &records, &script.value, &work)?;
            self.check_exact(&records)?;
            expected
                .known
                .check(&told, &[(self.client, "client", self.agent.ours), (self.agent, "agent", self.client.ours)])?;
            Ok(figures)
        });
        let outcome = report.outcome(checked, expected.declared.of(self), self);
        Ok(Ended { outcome, records, told })
    }

    fn converse(self, root: &Path, folder: &Path, work: &Path, limit: Duration) -> Result<Report> {
        let file = |name: &str| folder.join(name);
        let (client_out, client_err) = (file("client.stdout"), file("client.stderr"));
        let (agent_err, agent_end) = (file("agent.stderr"), file("agent.status"));
        let (program, arguments) = self.client.client.split_first().context("a host without a client")?;
        let mut command = Command::new(program);
        command.args(arguments).args(["--script", self.script(), "--work"]).arg(work).arg("--cwd").arg(root);
        command.arg("--trace").arg(file("trace.jsonl"));
        command.args(["--", "sh", "-c", AGENT, "agent"]).arg(&agent_err).arg(&agent_end);
        command.args(self.agent.agent).args(["--script", self.script()]);
        command.stdin(Stdio::null()).stdout(File::create(&client_out)?).stderr(File::create(&client_err)?);
        // A group of their own, so that both can be ended together.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let start = Instant::now();
        let mut child = command.spawn().with_context(|| (*program).to_owned())?;
        let client = wait(&mut child, start + limit)?;
        let ms = start.elapsed().as_millis();
        end_group(&mut child)?;
        let last = text(&client_out).lines().last().and_then(|line| serde_json::from_str(line).ok());
        Ok(Report {
            client,
            ms,
            summary: last,
            client_said: text(&client_err),
            agent_status: text(&agent_end).trim().parse().ok(),
            agent_said: text(&agent_err),
        })
    }

    /// Between two hosts that have it, a number that no double holds goes there and back.
    fn check_exact(self, records: &[Record]) -> Result<()> {
        const EXACT: &str = "\"libacp.dev/exact\":9007199254740993";
        let hello =
            |to_agent| records.iter().find(|record| record.to_agent == to_agent).map_or("", |record| &record.line);
        let sent = |to_agent| hello(to_agent).contains(EXACT);
        if self.client.exact && self.agent.exact && !(sent(true) && sent(false)) {
            let silent = if sent(true) { "agent" } else { "client" };
            bail!("the {silent}'s initialize lacks {EXACT}");
        }
        Ok(())
    }
}

impl Report {
    /// What the two processes themselves say.
    fn verdict(&self) -> Result<Figures> {
        let Some(status) = self.client else { bail!("not done within {} ms", self.ms) };
        let Some(summary) = &self.summary else { bail!("the client ended with {status} and without a line of JSON") };
        if summary["ok"] != true {
            bail!("the client says: {}", summary["error"].as_str().unwrap_or("nothing"));
        }
        if !status.success() {
            bail!("the client ended with {status}");
        }
        if self.agent_status != Some(0) {
            bail!("the client is content with an agent that did not end with 0");
        }
        let number = |name: &str| summary[name].as_u64().with_context(|| format!("the client's line lacks {name}"));
        let messages = number("messages_sent")? + number("messages_received")?;
        Ok(Figures { messages, bytes: number("bytes_sent")? + number("bytes_received")?, ms: self.ms })
    }

    /// Holds the end of the pair against what is declared of it.
    fn outcome(&self, checked: Result<Figures>, declared: Vec<Deviation>, pair: Pair) -> Outcome {
        let wrong = |error: &anyhow::Error| Outcome::Wrong(self.explain(error, pair));
        let error = match (checked, declared.first()) {
            (Ok(figures), None) => return Outcome::Right(figures),
            (Ok(_), Some(gone)) => return wrong(&anyhow!(gone.gone())),
            (Err(error), None) => return wrong(&error),
            (Err(error), Some(_)) => error,
        };
        let client_said = self.summary.as_ref().and_then(|summary| summary["error"].as_str()).unwrap_or_default();
        let said = |one: &Deviation| if one.side == "agent" { client_said } else { &self.agent_said };
        match declared.iter().try_for_each(|one| one.check(said(one))) {
            Ok(()) => Outcome::Deviates(declared),
            Err(elsewhere) => wrong(&error.context(elsewhere)),
        }
    }

    /// All there is to say about a pair that is wrong, and which side it was.
    fn explain(&self, error: &anyhow::Error, pair: Pair) -> String {
        let mut lines = vec![format!("{} is wrong: {error:#}", pair.name())];
        match self.agent_status {
            Some(0) => {}
            Some(status) => lines.push(format!("the agent ({}) ended with {status}", pair.agent.name)),
            None => lines.push(format!("the agent ({}) did not end by itself", pair.agent.name)),
        }
        for (side, host, said) in
            [("client", pair.client.name, &self.client_said), ("agent", pair.agent.name, &self.agent_said)]
        {
            if !said.is_empty() {
                let start = said.ceil_char_boundary(said.len().saturating_sub(SHOWN));
                lines.push(format!(
                    "the {side} ({host}) wrote:\n    {}",
                    said[start..].trim_end().replace('\n', "\n    ")
                ));
            }
        }
        lines.join("\n  ")
    }
}

/// Checks what the client claims against the script, the trace and the disk.
fn check(figures: &Figures, report: &Report, records: &[Record], expected: &Value, work: &Path) -> Result<()> {
    let summary = report.summary.as_ref().unwrap_or(&Value::Null);
    let claims = [
        ("messages_sent", &expected["lines"]["fromClient"]),
        ("messages_received", &expected["lines"]["fromAgent"]),
        ("updates", &expected["totals"]["updates"]),
    ];
    for (name, wanted) in claims {
        if summary[name] != *wanted {
            bail!("{name}: expected {wanted}, the client says {}", summary[name]);
        }
    }
    let passed: u64 = records.iter().map(|record| record.line.len() as u64 + 1).sum();
    if (records.len() as u64, passed) != (figures.messages, figures.bytes) {
        let count = records.len();
        bail!(
            "the trace has {count} lines with {passed} bytes, the client says {}, {}",
            figures.messages,
            figures.bytes
        );
    }
    let written = expected["written"].as_object().context("the script writes nothing")?;
    for (name, wanted) in written {
        let content = fs::read(work.join(name)).with_context(|| format!("{name} is not in the work folder"))?;
        let (length, hash) = (content.len(), format!("{:08x}", fnv1a32(&content)));
        if wanted["bytes"] != length || wanted["fnv1a32"] != hash {
            bail!("{name}: expected {wanted}, found {length} bytes with the checksum {hash}");
        }
    }
    Ok(())
}

fn fnv1a32(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash: u32, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

pub(super) fn wait(child: &mut Child, deadline: Instant) -> Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        thread::sleep(PAUSE);
    }
}

/// Ends whatever is left of a pair: agents outlive clients that were killed.
pub(super) fn end_group(child: &mut Child) -> Result<()> {
    // The group may be empty, which is no failure; the child is waited for all the same.
    let group = format!("-{}", child.id());
    Command::new("sh").args(["-c", "kill -s KILL -- \"$1\" 2>/dev/null", "kill", &group]).status()?;
    child.wait()?;
    Ok(())
}

/// What a file has, nothing where there is none.
pub(super) fn text(path: &Path) -> String {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn report(summary: Option<Value>, code: i32, agent_status: Option<i32>) -> Report {
        use std::os::unix::process::ExitStatusExt;
        let client = Some(ExitStatus::from_raw(code << 8));
        Report { client, ms: 5, summary, client_said: String::new(), agent_status, agent_said: "oh\nno\n".to_owned() }
    }

    fn summary() -> Value {
        json!({
            "ok": true, "messages_sent": 1, "messages_received": 1, "bytes_sent": 3, "bytes_received": 4, "updates": 2,
        })
    }

    #[test]
    fn only_what_both_sides_call_right_is_right() {
        assert!(report(Some(summary()), 0, Some(0)).verdict().is_ok());
        let refused = json!({"ok": false, "error": "/steps/0: x"});
        let wrong = [
            (report(Some(refused), 1, Some(0)), "the client says: /steps/0: x"),
            (report(Some(summary()), 1, Some(0)), "the client ended with exit status: 1"),
            (report(Some(summary()), 0, Some(1)), "the client is content with"),
            (report(Some(summary()), 0, None), "the client is content with"),
            (report(Some(json!({"ok": true})), 0, Some(0)), "the client's line lacks messages_sent"),
            (report(None, 0, Some(0)), "the client ended with exit status: 0 and without a line"),
            (Report { client: None, ..report(None, 0, None) }, "not done within 5 ms"),
        ];
        let pair = Pair { client: Host::find("rust").unwrap(), agent: Host::find("c").unwrap() };
        for (report, message) in wrong {
            let Err(error) = report.verdict() else { panic!("{message}") };
            assert!(error.to_string().starts_with(message), "{error}");
            let told = report.explain(&error, pair);
            assert!(told.contains(message) && told.contains("the agent (c) wrote:\n    oh\n    no"), "{told}");
        }
    }

    #[test]
    fn hosts_meet_those_that_know_their_conversation() {
        let pair = |client, agent| Pair { client: Host::find(client).unwrap(), agent: Host::find(agent).unwrap() };
        for (client, agent, script) in [
            ("rust", "ts-sdk", "tests/interop/script.json"),
            ("c-2", "ts-sdk-2", "tests/interop/version-2/tour.json"),
            ("js-2", "rs-echo-2", "tests/interop/version-2/echo.json"),
            ("rs-once-2", "python-2", "tests/interop/version-2/one-shot.json"),
            ("c-2", "ts-both-1", "tests/interop/version-2/router-1.json"),
        ] {
            assert!(pair(client, agent).plays(), "{client}:{agent}");
            assert_eq!(pair(client, agent).script(), script);
        }
        for (client, agent) in [
            ("rust", "c-2"),
            ("ts-sdk-2", "ts-sdk-2"),
            ("rs-once-2", "rs-echo-2"),
            ("rs-echo-2", "c-2"),
            ("c-2", "rs-once-2"),
        ] {
            assert!(!pair(client, agent).plays(), "{client}:{agent}");
        }
    }

    #[test]
    fn a_pair_that_deviates_has_to_end_where_it_is_declared() {
        let pair = Pair { client: Host::find("c").unwrap(), agent: Host::find("go-sdk").unwrap() };
        let entry = json!({"place": "/steps/2", "why": "w"});
        let declared = || Declared::read(&json!({"go-sdk": {"agent": [entry.clone()]}})).unwrap().of(pair);
        let ended = |summary: Value, code: i32, declared| {
            let report = report(Some(summary), code, Some(0));
            match report.outcome(report.verdict(), declared, pair) {
                Outcome::Right(_) => "right".to_owned(),
                Outcome::Deviates(all) => all[0].shown(pair),
                Outcome::Wrong(told) => told,
            }
        };
        let at = |place: &str| json!({"ok": false, "error": format!("{place}: expected 1, got 2")});
        assert_eq!(ended(summary(), 0, Vec::new()), "right");
        assert!(ended(at("/steps/2"), 1, declared()).ends_with("the agent (go-sdk) deviates at /steps/2: w"));
        for (told, expected) in [
            (ended(summary(), 0, declared()), "the agent (go-sdk) no longer deviates at /steps/2"),
            (ended(at("/steps/3"), 1, declared()), "the agent (go-sdk) does not deviate at /steps/2"),
            (ended(at("/steps/3"), 1, declared()), "the client says: /steps/3: expected 1, got 2"),
            (ended(at("/steps/2"), 1, Vec::new()), "the client says: /steps/2: expected 1, got 2"),
        ] {
            assert!(told.starts_with("c:go-sdk is wrong: ") && told.contains(expected), "{told}");
        }
    }

    #[test]
    fn claims_are_checked_against_script_trace_and_disk() {
        let work = std::env::temp_dir().join(format!("libacp-pair-{}", std::process::id()));
        fs::create_dir_all(&work).unwrap();
        let expected = json!({
            "lines": {"fromClient": 1, "fromAgent": 1},
            "totals": {"updates": 2},
            "written": {"f": {"bytes": 6, "fnv1a32": "bf9cf968"}},
        });
        let records = ["{}", "[1]"].map(|line| Record { to_agent: true, ms: 0.0, line: line.to_owned() });
        let outcome = |summary: Value, records: &[Record], content: &str| {
            fs::write(work.join("f"), content).unwrap();
            let report = report(Some(summary), 0, Some(0));
            check(&report.verdict().unwrap(), &report, records, &expected, &work).map_err(|error| error.to_string())
        };
        assert_eq!(outcome(summary(), &records, "foobar"), Ok(()));
        let claim = |name: &str| {
            let mut changed = summary();
            changed[name] = json!(9);
            outcome(changed, &records, "foobar").unwrap_err()
        };
        assert_eq!(claim("updates"), "updates: expected 2, the client says 9");
        assert_eq!(claim("messages_sent"), "messages_sent: expected 1, the client says 9");
        assert_eq!(claim("bytes_sent"), "the trace has 2 lines with 7 bytes, the client says 2, 13");
        assert!(outcome(summary(), &records[..1], "foobar").unwrap_err().starts_with("the trace has 1 lines"));
        assert!(outcome(summary(), &records, "foobaz").unwrap_err().starts_with("f: expected"));
        fs::remove_dir_all(&work).unwrap();
    }
}
