//! FRAME: what framing and the connection do with bytes.
//!
//! `framing` cuts the bytes, `connection/incoming` says what is wrong with them; no host can write bytes of its own.
//! Where this library does not do what the specification would allow: a last message without its line end is read all
//! the same (FRAME-11), since peers that end at once after writing mean it, and a peer that changes its framing is read
//! on, too (FRAME-14), since both forms can be told apart.

use super::catalogue::{rule, E, R, T};
use super::{Area, Level, Severity};
use Level::{May, Must, MustNot};
use Severity::{Error, Note, Warning};

pub(super) static AREA: Area =
    Area { name: "FRAME", title: "Framing and stdio transport", rules: RULES, checks: &[], trackers: &[] };

pub(super) static RULES: &[super::Rule] = &[
    rule(
        "FRAME-01",
        Must,
        Error,
        E | R,
        "Messages are UTF-8; half a surrogate pair is never sent, and replaced where it comes in.",
    ),
    rule(
        "FRAME-02",
        Must,
        Error,
        E | R,
        "A message stands on one line, which ends with a line feed and with nothing else.",
    )
    .reported_as(&["RPC-21", "FRAME-04", "FRAME-05"]),
    rule("FRAME-03", Must, Error, R, "A line of version 1 holds one message, never a list of them."),
    rule("FRAME-04", MustNot, Error, R, "Agents write nothing but messages; other lines are shown and not answered."),
    rule(
        "FRAME-05",
        MustNot,
        Error,
        R,
        "Clients write nothing but messages; other lines are answered with a parse error.",
    ),
    rule(
        "FRAME-07",
        Must,
        Note,
        T,
        "The end of the stream ends every open request, and tells what was never answered.",
    ),
    rule(
        "FRAME-11",
        Must,
        Warning,
        R,
        "The last message has its line end too; one without is reported, and read if it is whole.",
    ),
    rule(
        "FRAME-12",
        May,
        Note,
        R,
        "White space around messages does no harm: carriage returns, empty lines, one byte order mark.",
    ),
    rule(
        "FRAME-13",
        Must,
        Warning,
        R,
        "Messages stand on lines, without headers; those of a peer that writes headers are reported once, and read.",
    ),
    rule(
        "FRAME-14",
        Must,
        Warning,
        R,
        "A peer keeps to one framing; the first change is reported, and both forms are read.",
    ),
];
