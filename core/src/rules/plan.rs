//! PLAN: plans.

use super::Area;

pub(super) static AREA: Area = Area { name: "PLAN", title: "Plans", rules: &[], checks: &[], trackers: &[] };
