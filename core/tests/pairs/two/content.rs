//! What messages and tool calls are made of.

use serde_json::{json, Value};

use crate::choices::Choices;

pub(super) fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Any block, also of a kind that nobody knows.
pub(super) fn block(choices: &mut Choices) -> Value {
    match choices.below(8) {
        1 => json!({"type": "image", "data": "QQ==", "mimeType": "image/png"}),
        2 => json!({"type": "audio", "data": "QQ==", "mimeType": "audio/wav"}),
        3 => link(),
        4 => json!({"type": "resource", "resource": {"uri": "file:///x", "text": "x"}}),
        5 => json!({"type": "_chart", "points": [1, 2]}),
        _ => text("some text é"),
    }
}

pub(super) fn link() -> Value {
    json!({"type": "resource_link", "uri": "file:///work/x", "name": "x"})
}

pub(super) fn blocks(choices: &mut Choices) -> Vec<Value> {
    (0..choices.below(3)).map(|_| block(choices)).collect()
}

/// A change of files, mostly with a patch that says the same.
fn diff(choices: &mut Choices) -> Value {
    let (change, patch) = match choices.below(5) {
        0 => (
            json!({"operation": "modify", "path": "/work/a b", "fileType": "text"}),
            "diff --git \"/work/a b\" \"/work/a b\"\n--- \"/work/a b\"\n+++ \"/work/a b\"\n@@ -1 +1 @@\n-x\n+y\n",
        ),
        1 => (
            json!({"operation": "add", "path": "/work/n"}),
            "diff --git /work/n /work/n\nnew file mode 100644\n--- /dev/null\n+++ /work/n\n@@ -0,0 +1 @@\n+y\n",
        ),
        2 => (
            json!({"operation": "delete", "path": "/work/n", "mimeType": "text/plain"}),
            "diff --git /work/n /work/n\ndeleted file mode 100644\n--- /work/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n",
        ),
        3 => (
            json!({"operation": "move", "oldPath": "/work/a", "path": "/work/b"}),
            "diff --git /work/a /work/b\nsimilarity index 100%\nrename from /work/a\nrename to /work/b\n",
        ),
        _ => (
            json!({"operation": "copy", "oldPath": "/work/a", "path": "/work/b"}),
            "diff --git /work/a /work/b\nsimilarity index 100%\ncopy from /work/a\ncopy to /work/b\n",
        ),
    };
    let mut changes = vec![change];
    if choices.one_in(4) {
        changes.push(json!({"operation": "_chmod", "path": "/work/a"}));
    }
    let mut diff = json!({"type": "diff", "changes": changes});
    if !choices.one_in(3) {
        diff["patch"] = json!({"format": "git_patch", "text": patch});
    }
    diff
}

/// An item of a tool call in a session, which may show one of these terminals or one that is still to come.
pub(super) fn item(session: &str, terminals: &[String], choices: &mut Choices) -> Value {
    match choices.below(6) {
        0 => json!({"type": "content", "content": block(choices)}),
        1 | 2 => diff(choices),
        3 => json!({"type": "terminal", "terminalId": choices.pick(terminals).map_or("to come", |id| id)}),
        4 => json!({"type": "session", "sessionId": session}),
        _ => json!({"type": "_table", "rows": [[1]]}),
    }
}
