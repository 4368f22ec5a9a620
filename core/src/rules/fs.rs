//! FS: files that the client reads and writes for the agent.
//!
//! FS-01 and FS-02 are gates, FS-03 to FS-08 types in the model, and version 2 has no such methods. That files are
//! inside of the session's roots is SESS-33.

use super::catalogue::{rule, E, R};
use super::scene::{Action, Check, Objection, On, Scene};
use super::{Area, Level, Severity};
use Level::{Must, MustNot};
use Severity::{Error, Warning};

/// Members of a proposal that never became the specification's.
const OTHER_RANGES: &[&str] = &["/startLine", "/endLine"];

pub(super) static AREA: Area = Area {
    name: "FS",
    title: "Files read and written by the client (v1)",
    rules: RULES,
    checks: &[Check::new(id!("FS-11"), On::Call, &["fs/read_text_file"], other_range)
        .send(Action::Pass)
        .receive(Action::Report)],
    trackers: &[],
};

pub(super) static RULES: &[super::Rule] = &[
    rule("FS-01", MustNot, Error, E | R, "Files are read only through clients that advertise it."),
    rule("FS-02", MustNot, Error, E | R, "Files are written only through clients that advertise it."),
    rule("FS-03", Must, Error, E | R, "The path of a file is absolute."),
    rule("FS-04", Must, Error, E | R, "Lines count from 1, and a limit counts lines; both are whole numbers."),
    rule("FS-05", Must, Error, E | R, "File calls name an open session."),
    rule("FS-08", Must, Error, E | R, "A read is answered with text, a write with an empty object."),
    rule("FS-10", MustNot, Error, E | R, "Version 2 has no file methods.").reported_as(&["EXT-07", "RPC-17"]),
    rule(
        "FS-11",
        Must,
        Warning,
        R,
        "A range is given by line and limit; other members would silently mean the whole file.",
    ),
];

fn other_range(scene: &Scene<'_>) -> Option<Objection> {
    let pointer = OTHER_RANGES.iter().find(|pointer| scene.message.get(pointer).is_some())?;
    Some(Objection::new(*pointer, "not a member of this call, so the whole file is read; a range is line and limit"))
}
