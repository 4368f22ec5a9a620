//! NOTE: notices and compaction.

use super::Area;

pub(super) static AREA: Area =
    Area { name: "NOTE", title: "Session notices and compaction", rules: &[], checks: &[], trackers: &[] };
