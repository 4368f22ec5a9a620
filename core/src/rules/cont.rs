//! CONT: content blocks, and which of them a prompt may hold.

use super::Area;

pub(super) static AREA: Area =
    Area { name: "CONT", title: "Content blocks and prompt capabilities", rules: &[], checks: &[], trackers: &[] };
