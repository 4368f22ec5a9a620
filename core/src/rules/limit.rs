//! LIMIT: bounds that hold whatever a peer sends. They are not the specification's but the configuration's
//! ([`Limits`](crate::connection::Limits)); the connection and the validation enforce them.

use super::catalogue::{rule, E, R};
use super::{Area, Level, Severity};
use Level::Must;
use Severity::{Error, Warning};

pub(super) static AREA: Area =
    Area { name: "LIMIT", title: "Limits of the connection", rules: RULES, checks: &[], trackers: &[] };

pub(super) static RULES: &[super::Rule] = &[
    rule("LIMIT-01", Must, Error, E | R, "A frame has no more bytes than the configured limit."),
    rule("LIMIT-02", Must, Error, R, "Lists and objects are nested no deeper than the configured limit."),
    rule("LIMIT-03", Must, Error, E | R, "No more requests are open in one direction than the configured limit."),
    rule("LIMIT-04", Must, Error, E | R, "No more sessions are open than the configured limit."),
    rule("LIMIT-05", Must, Error, E | R, "No more terminals are open in a session than the configured limit."),
    rule("LIMIT-06", Must, Warning, R, "Of one message, at most 32 problems are reported one by one."),
    rule("LIMIT-07", Must, Error, E | R, "Ids and methods have at most 4,096 bytes."),
];
