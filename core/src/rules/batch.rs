//! BATCH: several messages in one frame, which version 2 allows. The connection takes them apart (`incoming`).

use super::catalogue::{rule, R};
use super::{Area, Level, Severity};
use Level::Must;
use Severity::Error;

pub(super) static AREA: Area =
    Area { name: "BATCH", title: "JSON-RPC batches (v2)", rules: RULES, checks: &[], trackers: &[] };

pub(super) static RULES: &[super::Rule] = &[
    rule("BATCH-03", Must, Error, R, "An empty batch is answered with one invalid-request error."),
    rule(
        "BATCH-08",
        Must,
        Error,
        R,
        "An entry of a batch that is not an object is answered by itself; the others are processed.",
    ),
    rule("BATCH-12", Must, Error, R, "A batch holds no batches."),
];
