//! The steps about sessions as such.

use libacp::aio::ClientSession;
use libacp::schema::v1;
use serde_json::{json, Value};

use super::{refused, Lab};
use crate::checks::{same, Checked, Trouble};
use crate::seen::seen;

impl Lab<'_> {
    pub(super) async fn sessions(&self, id: &str, step: &Value) -> Checked {
        let (agent, listed) = (self.agent()?, format!("{}/listed", self.work));
        match id {
            "session.new" => {
                let (one, other) = (self.session().await?, self.session().await?);
                if one.id().is_empty() || one.id() == other.id() {
                    return Err(Trouble::Wrong(format!("ids: expected two, got {} and {}", one.id(), other.id())));
                }
                same("", &json!({"mode": "ask", "options": {"model": "small", "web": false}}), &seen(&one)?)
            }
            "session.list" => {
                let (one, other) = (agent.new_session(&listed).await?, self.session().await?);
                let all = json!({one.id(): listed, other.id(): self.work});
                same("all sessions", &all, &json!(self.listed(None).await?))?;
                let found = self.listed(Some(&listed)).await?;
                same("sessions of a folder", &json!([one.id()]), &json!(found.into_keys().collect::<Vec<_>>()))
            }
            "session.load.replay" => {
                let session = self.remembered().await?;
                let before = seen(&session)?;
                session.close().await?;
                let again = agent.load_session(session.id(), self.work).session().await?;
                same("", &step["see"], &seen(&again)?)?;
                same("before", &before["transcript"], &seen(&again)?["transcript"])?;
                self.says(&again, "session.load.replay", "Remembered.").await
            }
            "session.load.unknown" => {
                refused("session/load", -32002, agent.load_session("nobody", self.work).session().await)
            }
            "session.resume" => {
                let session = self.remembered().await?;
                session.close().await?;
                let again = agent.resume_session(session.id(), self.work).await?;
                same("options", &json!("small"), &seen(&again)?["options"]["model"])?;
                self.says(&again, "session.resume", "Remembered.").await
            }
            "session.close" => self.during(id, true).await.map(drop),
            "session.delete" => {
                let session = self.remembered().await?;
                session.close().await?;
                agent.delete_session(session.id()).await?;
                let still = self.listed(None).await?.contains_key(session.id());
                same("still listed", &json!(false), &json!(still))
            }
            "session.multi" => {
                let sessions = [self.session().await?, self.session().await?];
                let said =
                    |session: &ClientSession| (0..20).map(|number| format!("{} {number};", session.id())).collect();
                let [one, other]: [String; 2] = [said(&sessions[0]), said(&sessions[1])];
                let both = (self.says(&sessions[0], id, &one), self.says(&sessions[1], id, &other));
                futures::future::try_join(both.0, both.1).await.map(drop)
            }
            _ => {
                let further = vec![listed.as_str().into()];
                let request = v1::NewSessionRequest::new(self.work, vec![]).additional_directories(further);
                self.says(&agent.new_session_with(&request).await?, id, &listed).await
            }
        }
    }
}
