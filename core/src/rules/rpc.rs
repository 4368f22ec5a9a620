//! RPC: what the envelope reader and the connection do.

use super::Area;

pub(super) static AREA: Area =
    Area { name: "RPC", title: "JSON-RPC 2.0 envelope", rules: &[], checks: &[], trackers: &[] };
