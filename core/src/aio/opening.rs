//! Opening sessions on the agent's side: the session has a name before the response that opens it, and what is stored
//! with it takes effect with that response.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use super::error::{Failure, RequestError};
use super::handlers::{Handlers, Incoming};
use super::name::{about, Name};
use crate::json;

/// Handles all requests that open a session. They differ in which side chooses the id.
pub(super) async fn open<H: Handlers>(handlers: &H, mut incoming: Incoming) -> Result<String, Failure> {
    let method = incoming.method().to_owned();
    let named_by_agent = matches!(&*method, "session/new" | "session/fork");
    let there = handlers.has(&method, true);
    if !there && method != "session/new" {
        return Err(RequestError::not_found(&method).into());
    }
    let asked = incoming.session().filter(|_| !named_by_agent).cloned();
    let name = Name::opened_by(incoming.serial(), incoming.json(), asked.unwrap_or_else(new_id));
    incoming.shared.with(|state| {
        if let Some(job) = state.jobs.get_mut(&incoming.serial()) {
            job.opening = Some(Arc::clone(&name));
        }
    });
    let id = Arc::clone(name.id());
    let answer = if there {
        incoming.opening = Some(name);
        handlers.call(incoming).await?
    } else {
        "{}".to_owned()
    };
    Ok(if named_by_agent { named(answer, &id) } else { answer })
}

/// The response that opens a session, with the generated id if the handler did not set one.
fn named(answer: String, id: &str) -> String {
    let given = json::pointer(&answer, "/sessionId").is_some_and(|given| given != "\"\"");
    // A response that is not an object is left as it is, to be refused.
    if given || !answer.starts_with('{') {
        answer
    } else {
        about(id, &answer)
    }
}

/// An id that no other session of this program has, nor one of another program if the platform has randomness.
fn new_id() -> Arc<str> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let half = || {
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u64(number);
        hasher.finish()
    };
    format!("{:016x}{:016x}-{number}", half(), half()).into()
}
