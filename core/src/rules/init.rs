//! INIT: the handshake.

use super::Area;

pub(super) static AREA: Area =
    Area { name: "INIT", title: "Initialize and version negotiation", rules: &[], checks: &[], trackers: &[] };
