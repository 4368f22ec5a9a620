//! MODE: session modes.

use super::Area;

pub(super) static AREA: Area =
    Area { name: "MODE", title: "Session modes (v1)", rules: &[], checks: &[], trackers: &[] };
