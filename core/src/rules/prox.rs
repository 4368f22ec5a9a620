//! PROX: proxies between a client and an agent (draft). Shapes are in the model.

use super::catalogue::{rule, E, R};
use super::{Area, Level, Severity};
use Level::Must;
use Severity::Error;

pub(super) static AREA: Area =
    Area { name: "PROX", title: "Proxy chains (draft)", rules: RULES, checks: &[], trackers: &[] };

pub(super) static RULES: &[super::Rule] = &[rule(
    "PROX-05",
    Must,
    Error,
    E | R,
    "A message for the next in the chain names its method and carries its params beside it.",
)];
