//! ENUM: values that the model does not list.

use super::Area;

pub(super) static AREA: Area =
    Area { name: "ENUM", title: "Enums, unions, lenient decoding", rules: &[], checks: &[], trackers: &[] };
