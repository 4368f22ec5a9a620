//! CAP: capabilities and the gates that the tables hold.

use super::Area;

pub(super) static AREA: Area =
    Area { name: "CAP", title: "Capabilities in general", rules: &[], checks: &[], trackers: &[] };
