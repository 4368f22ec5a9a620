//! FS: files that the client reads and writes for the agent.
//!
//! FS-01 and FS-02 are gates, FS-03 to FS-08 types in the model. Version 2 has no such methods. SESS-33 checks that
//! files are inside the session's roots.

use crate::engine::{Action, Area, Check, Finding, MessageKind, RuleContext};

/// Members of a proposal that never became part of the specification.
const OTHER_RANGES: &[&str] = &["/startLine", "/endLine"];

pub(super) static AREA: Area = Area {
    checks: &[Check::new(id!("FS-11"), MessageKind::Call, &["fs/read_text_file"], other_range)
        .send(Action::Pass)
        .receive(Action::Report)],
    trackers: &[],
};

fn other_range(context: &RuleContext<'_>) -> Option<Finding> {
    let pointer = OTHER_RANGES.iter().find(|pointer| context.message.get(pointer).is_some())?;
    Some(Finding::new(*pointer, "not a member of this call, so the whole file is read; use line and limit for a range"))
}
