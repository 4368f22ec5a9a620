//! DTERM: terminals that an agent runs and a client shows, in version 2. Shapes are in the model.

use super::catalogue::{rule, E, R};
use super::{Area, Level, Severity};
use Level::{Must, MustNot, Should};
use Severity::{Error, Warning};

pub(super) static AREA: Area =
    Area { name: "DTERM", title: "Display-only terminals (v2)", rules: RULES, checks: &[], trackers: &[] };

pub(super) static RULES: &[super::Rule] = &[
    rule("DTERM-01", MustNot, Error, E | R, "A terminal update names its terminal."),
    rule("DTERM-04", Must, Warning, E | R, "The command in a terminal update is a string, or null to clear it."),
    rule("DTERM-05", Must, Warning, E | R, "The working directory of a terminal is an absolute path."),
    rule("DTERM-06", MustNot, Error, E | R, "A snapshot of the output has all of its bytes, or is null."),
    rule("DTERM-07", Must, Error, E | R, "The bytes of a terminal are base64."),
    rule("DTERM-10", Must, Warning, E | R, "An exit status is an object, or null while the command runs."),
    rule("DTERM-11", Should, Warning, E | R, "The command of a terminal and the signal that ended it are strings."),
];
