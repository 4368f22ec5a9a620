//! Compares versions of the model as JSON, member by member.

use serde_json::Value;

use crate::model::{write, Version};

/// The value at a path.
pub(super) fn get<'v>(value: &'v Value, path: &[impl AsRef<str>]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, name| value.get(name.as_ref()))
}

/// Puts a value to a path, or removes what is there.
pub(super) fn put(value: &mut Value, path: &[String], new: Option<Value>) {
    let Some((last, parents)) = path.split_last() else { return };
    let parent = parents.iter().try_fold(value, |value, name| value.get_mut(name));
    let Some(members) = parent.and_then(Value::as_object_mut) else { return };
    match new {
        Some(new) => drop(members.insert(last.clone(), new)),
        None => drop(members.shift_remove(last)),
    }
}

/// Where a path stands, for people: file, and names below it.
pub(super) fn place(version: &Version, path: &[String]) -> String {
    let draft = version.methods.get(&path[1]).is_some_and(|method| method.draft.is_some());
    let file = match version.area_of().get(path[1].as_str()) {
        Some(area) if path[0] == "types" => area,
        _ if draft => "methods_draft",
        _ => "methods",
    };
    format!("{}/{file}.json › {}", version.folder(), path[1..].join(" › "))
}

/// One line per difference between a value of the model and the same as the schemas have it. The order of members does
/// not count.
pub(super) fn differences(model: &Value, schemas: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    each(&mut Vec::new(), Some(model), Some(schemas), &mut |path, difference| {
        lines.push(format!("{}: {difference}", path.join(" › ")));
    });
    lines
}

/// The same for a whole version: what the model says, and what the schemas make of it.
pub(super) fn versions(model: &Version, schemas: &Version) -> Vec<String> {
    let (ours, theirs) = (write::value(model), write::value(schemas));
    let mut lines = Vec::new();
    each(&mut Vec::new(), Some(&ours), Some(&theirs), &mut |path, difference| {
        let version = if get(&ours, &path[..2]).is_some() { model } else { schemas };
        lines.push(format!("{}: {difference}", place(version, path)));
    });
    lines
}

/// Visits the innermost values that differ.
fn each(path: &mut Vec<String>, model: Option<&Value>, schemas: Option<&Value>, visit: &mut Visit<'_>) {
    match (model, schemas) {
        _ if model == schemas => {}
        (Some(Value::Object(ours)), Some(Value::Object(theirs))) => {
            for name in ours.keys().chain(theirs.keys().filter(|name| !ours.contains_key(*name))) {
                path.push(name.clone());
                each(path, ours.get(name), theirs.get(name), visit);
                path.pop();
            }
        }
        (Some(ours), Some(theirs)) => visit(path, &format!("{ours} in the model, {theirs} in the schemas")),
        (Some(_), None) => visit(path, "not in the schemas"),
        (None, _) => visit(path, "not in the model"),
    }
}

/// Called with a path, and with how what stands there differs.
type Visit<'v> = dyn FnMut(&[String], &str) + 'v;
