//! CMD: slash commands.

use super::Area;

pub(super) static AREA: Area = Area { name: "CMD", title: "Slash commands", rules: &[], checks: &[], trackers: &[] };
