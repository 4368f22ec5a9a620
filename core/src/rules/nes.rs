//! NES: suggestions for the next edit, and the documents that they are about (draft). Gates and shapes are in the model.

use super::catalogue::{rule, E, R};
use super::{Area, Level, Severity};
use Level::{Must, Should};
use Severity::Error;

pub(super) static AREA: Area = Area {
    name: "NES",
    title: "Next edit suggestions and documents (draft)",
    rules: RULES,
    checks: &[],
    trackers: &[],
};

pub(super) static RULES: &[super::Rule] = &[
    rule(
        "NES-01",
        Must,
        Error,
        E | R,
        "Suggestions are asked for, and documents reported, only if the agent advertises it.",
    ),
    rule("NES-04", Must, Error, E | R, "Each event of a document is sent only if the agent asked for it."),
    rule(
        "NES-05",
        Must,
        Error,
        E | R,
        "A change of a document is a list of texts, each with a range or for the whole.",
    ),
    rule(
        "NES-06",
        Must,
        Error,
        E | R,
        "The context of a request for suggestions has the form that the draft gives it.",
    ),
    rule("NES-07", Must, Error, E | R, "Suggestions are a list, each of a kind that the draft has."),
    rule("NES-08", Must, Error, E | R, "A suggestion that is accepted or rejected is named by its id."),
    rule("NES-09", Must, Error, E | R, "Positions are counted in an encoding that the draft has."),
    rule("NES-10", Must, Error, E | R, "Lines and characters of positions are counted from 0."),
    rule("NES-11", Should, Error, E | R, "The version of a document is a whole number."),
    rule("NES-14", Must, Error, E | R, "Suggestions have the form of the agreed version."),
];
