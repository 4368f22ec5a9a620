//! The steps about sessions as such.

use futures::future::try_join;
use libacp_interop_rust::steps::checks::{same, Checked, Trouble};
use serde_json::{json, Value};

use super::{refused, wrong, Lab};

impl Lab {
    pub(super) async fn sessions(&self, id: &str, step: &Value) -> Checked {
        let (agent, folder) = (self.agent()?, format!("{}/listed", self.work));
        match id {
            "session.new" => {
                let (one, other) = (self.session().await?, self.session().await?);
                if one.is_empty() || one == other {
                    return Err(Trouble::Wrong(format!("ids: expected two, got {one} and {other}")));
                }
                same("", &json!({"mode": "ask", "options": {"model": "small", "web": false}}), &self.seen(&one)?)
            }
            "session.list" => {
                let one = self.open("session/new", json!({"cwd": folder})).await.map_err(wrong)?;
                let other = self.session().await?;
                same("all sessions", &json!({&one: folder, other: self.work}), &self.listed(json!({})).await?)?;
                same("sessions of a folder", &json!({one: folder}), &self.listed(json!({"cwd": folder})).await?)
            }
            "session.load.replay" => {
                let session = self.closed().await?;
                let before = self.seen(&session)?;
                agent.heard.fold(&session, |fold| *fold = Default::default());
                self.load(&session).await.map_err(wrong)?;
                let again = self.seen(&session)?;
                same("", &step["see"], &again)?;
                same("before", &before["transcript"], &again["transcript"])?;
                self.says(&session, id, "Remembered.").await
            }
            "session.load.unknown" => refused("the load", -32002, self.load("nobody").await.map(Value::from)),
            "session.resume" => {
                let session = self.closed().await?;
                agent.heard.fold(&session, |fold| *fold = Default::default());
                self.open("session/resume", json!({"sessionId": session})).await.map_err(wrong)?;
                same("", &json!({"transcript": [], "options": {"model": "small"}}), &self.seen(&session)?)?;
                self.says(&session, id, "Remembered.").await
            }
            "session.close" => self.during(id, true).await.map(drop),
            "session.delete" => {
                let session = self.closed().await?;
                agent.ask("session/delete", json!({"sessionId": session})).await.map_err(wrong)?;
                let still = self.listed(json!({})).await?.get(&session).is_some();
                same("still listed", &json!(false), &json!(still))
            }
            "session.multi" => {
                let (one, other) = (self.session().await?, self.session().await?);
                let counted = |id: &str| (0..20).map(|number| format!("{id} {number};")).collect::<String>();
                let said = [counted(&one), counted(&other)];
                try_join(self.says(&one, id, &said[0]), self.says(&other, id, &said[1])).await.map(drop)
            }
            _ => {
                let more = json!({"additionalDirectories": [folder]});
                let session = self.open("session/new", more).await.map_err(wrong)?;
                self.says(&session, id, &folder).await
            }
        }
    }
}
