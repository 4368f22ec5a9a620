//! Plans with ids, which stand beside each other.

use serde_json::json;

use super::agent_session::AgentSession;
use super::call::Tell;
use crate::schema::v1;

/// One of the plans of a session. Made by [`AgentSession::plan`].
#[derive(Debug, Clone)]
pub struct SessionPlan {
    session: AgentSession,
    id: String,
}

impl AgentSession {
    /// The plan with this id. Nothing is sent before it is [set](SessionPlan::set). The plan of
    /// [`Turn::plan`](super::Turn::plan) has the id `main`.
    ///
    /// Version 1 has one plan: the client sees the one that was set last.
    pub fn plan(&self, id: impl Into<String>) -> SessionPlan {
        SessionPlan { session: self.clone(), id: id.into() }
    }
}

impl SessionPlan {
    /// The plan's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Sends the complete plan. A string stands for a pending step of medium priority.
    pub fn set<'a>(&self, entries: impl IntoIterator<Item = impl Into<v1::PlanEntry<'a>>>) -> Tell {
        let entries: Vec<v1::PlanEntry<'a>> = entries.into_iter().map(Into::into).collect();
        let plan = json!({"type": "items", "planId": self.id, "entries": entries});
        self.session.update_of_2("plan_update", &json!({"plan": plan}))
    }

    /// Takes the plan back. Where the version has no word for that, the plan is without steps.
    pub fn remove(&self) -> Tell {
        self.session.update_of_2("plan_removed", &json!({"planId": self.id}))
    }
}
