//! FS: files that the client reads and writes for the agent.

use super::Area;

pub(super) static AREA: Area = Area { name: "FS", title: "File system (v1)", rules: &[], checks: &[], trackers: &[] };
