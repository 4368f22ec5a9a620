//! FRAME: what framing and the connection do with bytes.

use super::Area;

pub(super) static AREA: Area =
    Area { name: "FRAME", title: "Framing and stdio transport", rules: &[], checks: &[], trackers: &[] };
