//! ENUM: values that the model does not list, and what becomes of a message with a wrong one.
//!
//! All of it is the validation's (`walk`), with the marks that members have in the model. What a peer's notification or
//! answer says in a value of its own is passed on as it is and reported, since peers may be newer than the model; in a
//! request it is refused. A rule that the model names for a member goes before these.

use super::catalogue::{rule, E, R, T};
use super::{Area, Level, Severity};
use Level::{Must, MustNot, Should};
use Severity::{Error, Note, Warning};

pub(super) static AREA: Area =
    Area { name: "ENUM", title: "Enums, unions, lenient decoding", rules: RULES, checks: &[], trackers: &[] };

pub(super) static RULES: &[super::Rule] = &[
    rule("ENUM-07", Must, Warning, E | R, "Version 1 has no values but its own, save where it says so."),
    rule("ENUM-01", MustNot, Warning, E, "Values of a host's own begin with an underscore."),
    rule("ENUM-08", Must, Warning, R, "A wrong value of a member that has a default is read as absent."),
    rule("ENUM-09", Must, Warning, R, "Wrong items of a list that may do without them are left out, and the rest is kept."),
    rule("ENUM-10", Must, Error, E | R, "Without a member that is required, or with a wrong one, a request is refused, a notification dropped, and a response fails its request."),
    rule("ENUM-13", Must, Note, T, "Members that the model does not have are no mistake of the peer's, as long as one name says one thing."),
    rule("ENUM-14", Should, Note, E | R, "Ids, names and titles are not empty."),
];
