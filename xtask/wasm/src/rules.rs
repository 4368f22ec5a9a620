//! The rule catalogue as a script, for `libacp/rules`: what the rules say stays out of the module that everybody loads.

use libacp::json::Writer;
use libacp::rules::{Rule, AREAS};

/// The whole script.
pub(crate) fn script() -> String {
    let rules: Vec<String> = AREAS.iter().flat_map(|area| area.rules).map(row).collect();
    format!(
        "// Generated from the rule catalogue. Do not edit.\n\
         const rows = [\n{}];\n\
         const named = ([id, level, severity, send, receive, track, text]) =>\n  \
         Object.freeze({{ id, level, severity, send, receive, track, text }});\n\
         export const rules = Object.freeze(rows.map(named));\n\
         const byId = new Map(rules.map((rule) => [rule.id, rule]));\n\
         export const rule = (id) => byId.get(id);\n",
        rules.concat()
    )
}

fn row(rule: &Rule) -> String {
    let mut out = Writer::new();
    out.begin_array().string(rule.id).string(rule.level.name()).string(rule.severity.name());
    out.boolean(rule.send).boolean(rule.receive).boolean(rule.track).string(rule.text).end_array();
    format!("  {},\n", out.finish().unwrap_or_default())
}
