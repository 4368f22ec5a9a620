//! TOOL: tool calls and their updates.

use super::Area;

pub(super) static AREA: Area = Area { name: "TOOL", title: "Tool calls", rules: &[], checks: &[], trackers: &[] };
