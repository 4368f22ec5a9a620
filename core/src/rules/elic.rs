//! ELIC: elicitation.

use super::Area;

pub(super) static AREA: Area = Area { name: "ELIC", title: "Elicitation", rules: &[], checks: &[], trackers: &[] };
