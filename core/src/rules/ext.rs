//! EXT: extension methods and metadata.

use super::Area;

pub(super) static AREA: Area =
    Area { name: "EXT", title: "Extensibility, _meta, underscore names", rules: &[], checks: &[], trackers: &[] };
