//! AUTH: ways to log in, and being logged in.

use super::Area;

pub(super) static AREA: Area = Area { name: "AUTH", title: "Authentication", rules: &[], checks: &[], trackers: &[] };
