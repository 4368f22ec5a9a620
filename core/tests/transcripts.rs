//! What a view makes of each recording is what a transcript says that was written by hand: `tests/recordings/transcripts`,
//! in the format of the README there.

#[path = "support/base64.rs"]
mod base64;
#[path = "support/recording.rs"]
mod recording;
#[path = "support/transcript.rs"]
mod transcript;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use libacp::connection::{Observer, Versions};
use libacp::view::{Entry, View};
use libacp::{Config, Role};
use transcript::{quoted, session, story};

/// What is seen of a session while a recording goes on.
#[derive(Default)]
struct Seen {
    /// What it was before each replay.
    before: Vec<String>,
    replays: bool,
    /// The questions in the order in which they were asked: the method, and the tool call.
    asked: Vec<String>,
    serials: BTreeSet<u64>,
}

impl Seen {
    fn look(&mut self, id: &str, view: &View) {
        let begins = view.is_replaying() && !self.replays;
        self.replays = view.is_replaying();
        if begins && view.entries().next().is_some() {
            let lines = story(view).join("\n");
            self.before.push(format!("session {}, before it is replayed\n\n{lines}", quoted(id)));
        }
        for question in view.questions().iter().filter(|question| self.serials.insert(question.serial())) {
            let tool = question.tool().and_then(|tool| view.tool(tool));
            assert_eq!(tool.map(Entry::permission), tool.map(|_| Some(question.serial())));
            let about = question.tool().map(|tool| format!(" about {}", quoted(tool))).unwrap_or_default();
            self.asked.push(format!("{}{about}", question.method()));
        }
    }
}

/// What the views of an observer are while it sees a recording, and once it has seen all of it.
fn seen(path: &Path) -> String {
    let mut config = Config::client();
    (config.view, config.versions) = (true, Versions::ALL);
    let mut observer = Observer::new(config);
    let mut all: BTreeMap<String, Seen> = BTreeMap::new();
    for (direction, bytes) in recording::records(path) {
        let from = match direction {
            '>' => Role::Client,
            '<' => Role::Agent,
            _ => continue,
        };
        observer.receive(from, &bytes);
        while observer.poll_event().is_some() {}
        observer.views().for_each(|(id, view)| all.entry(id.to_string()).or_default().look(id, view));
    }
    let views: BTreeMap<String, &View> = observer.views().map(|(id, view)| (id.to_string(), view)).collect();
    let mut sessions = Vec::new();
    for (id, view) in views {
        let Seen { before, asked, .. } = all.remove(&id).unwrap();
        sessions.extend(before);
        sessions.push(session(&id, view, &asked));
    }
    sessions.join("\n\n") + "\n"
}

/// Recordings whose views are not what the specification says, in the lines that are marked in their transcripts.
const KNOWN: &[(&str, &str)] =
    &[("agent-mistral-vibe-3.0.2", "an update before the answer that names its session is lost")];

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/recordings/transcripts").join(format!("{name}.txt"))
}

/// All transcripts that there are, by the name of their recording.
fn written() -> BTreeSet<String> {
    let folder = file("x").parent().unwrap().to_owned();
    let names = |folder: PathBuf, before: &str| -> Vec<String> {
        let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        paths.map(|path| format!("{before}{}", path.file_name().unwrap().to_str().unwrap())).collect()
    };
    let all = names(folder.clone(), "").into_iter().chain(names(folder.join("version-2"), "version-2/"));
    all.map(|name| name.strip_suffix(".txt").unwrap_or(&name).to_owned()).collect()
}

/// The first line that is different.
fn difference(expected: &str, found: &str) -> Option<String> {
    let (mut expected, mut found) = (expected.lines(), found.lines());
    for number in 1.. {
        match (expected.next(), found.next()) {
            (None, None) => return None,
            (wanted, there) if wanted == there => {}
            (wanted, there) => {
                let shown = |line: Option<&str>| line.unwrap_or("the end").trim_start().to_owned();
                return Some(format!("line {number}: expected\n  {}\nfound\n  {}", shown(wanted), shown(there)));
            }
        }
    }
    None
}

/// What a transcript says of a view as it is by now: lines that begin with `+` stand for those with `-`, and `#` says why.
fn by_now(transcript: &str) -> String {
    let lines = transcript.lines().filter(|line| !line.starts_with(['-', '#']));
    lines.map(|line| line.strip_prefix('+').unwrap_or(line).to_owned() + "\n").collect()
}

#[test]
fn each_recording_gives_the_view_of_its_transcript() {
    let (mut wrong, mut names) = (Vec::new(), BTreeSet::new());
    for path in recording::all() {
        let name = recording::name(&path);
        match fs::read_to_string(file(&name)) {
            Err(error) => wrong.push(format!("{name}: {error}")),
            Ok(written) => {
                let expected = by_now(&written);
                if (expected != written) != KNOWN.iter().any(|(known, _)| *known == name) {
                    wrong.push(format!("{name}: either it has marks or it is none of the known ones"));
                }
                wrong.extend(difference(&expected, &seen(&path)).map(|why| format!("{name}: {why}")));
            }
        }
        names.insert(name);
    }
    let surplus: Vec<String> = written().difference(&names).cloned().collect();
    assert!(surplus.is_empty(), "transcripts of nothing: {surplus:?}");
    assert!(names.len() >= 18 && wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
