//! LIFE: how prompts begin and end in version 2. Shapes are in the model; `turn` follows the state of a session.

use super::catalogue::{rule, E, R, T};
use super::{Area, Level, Severity};
use Level::{Must, MustNot};
use Severity::{Error, Note};

pub(super) static AREA: Area =
    Area { name: "LIFE", title: "Prompt lifecycle (v2)", rules: RULES, checks: &[], trackers: &[] };

pub(super) static RULES: &[super::Rule] = &[
    rule("LIFE-01", Must, Error, E | R, "The answer to a prompt names the message that the prompt became."),
    rule(
        "LIFE-02",
        MustNot,
        Note,
        T,
        "The answer to a prompt does not end the work; the session's own state update says when it is idle.",
    ),
    rule("LIFE-09", Must, Error, E | R, "Every message update carries the id of its message."),
    rule("LIFE-10", Must, Error, E | R, "The content in a message update is a list of blocks, or null to clear it."),
    rule("LIFE-20", Must, Note, E | R, "Unknown kinds of updates are delivered as they came."),
];
