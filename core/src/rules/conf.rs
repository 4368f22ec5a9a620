//! CONF: config options and their values.

use super::Area;

pub(super) static AREA: Area =
    Area { name: "CONF", title: "Session config options", rules: &[], checks: &[], trackers: &[] };
