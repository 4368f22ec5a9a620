//! The questions of the agent, and by which id the host knows each.
//!
//! A host may answer a question after its connection was lost. The agent of the next connection counts its ids from the
//! beginning again, so a late answer could be taken for one to another question: a "yes" to something else. So the ids of
//! lost questions are kept until the host answers them, and a new question that has one of them is given another id
//! before the host sees it. What the host then says of it has the agent's own id on the wire.
//!
//! `receive` asks what becomes of a question that comes, `Client::send` of an answer.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::Name;
use crate::json::Edits;
use crate::Id;

/// Ids that are given here begin so. Those of an agent that do are replaced, so that no agent can choose what another
/// question is called.
const PREFIX: &str = "libacp-q";

/// An open question.
#[derive(Debug)]
struct Question {
    session: Name,
    /// The id that the agent gave it, if the host knows it by another one.
    own: Option<Id>,
}

/// Why a question is not handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// Another one of this connection has the same id.
    InUse,
    /// Too many are open.
    TooMany,
}

#[derive(Debug, Default)]
pub(super) struct Questions {
    /// By the id that the host knows.
    open: BTreeMap<Id, Question>,
    /// Those that the host knows by another id than the agent's: by the agent's, the host's.
    renamed: BTreeMap<Id, Id>,
    /// Those that were lost, and that the host has not answered.
    lost: BTreeSet<Id>,
    /// More were lost than are kept, so that any id may be that of one: each question is given another id.
    forgot: bool,
    /// How many ids were given.
    given: u64,
}

impl Questions {
    /// A question comes. Returns the id by which the host is to know it, if that is not the agent's own.
    pub(super) fn ask(&mut self, id: Id, session: Name, most: usize) -> Result<Option<Id>, Refused> {
        if self.is_open(&id) {
            return Err(Refused::InUse);
        }
        if self.open.len() >= most {
            return Err(Refused::TooMany);
        }
        let taken =
            self.forgot || self.lost.contains(&id) || matches!(&id, Id::String(text) if text.starts_with(PREFIX));
        if !taken {
            self.open.insert(id, Question { session, own: None });
            return Ok(None);
        }
        // None of these is given twice, so whatever was lost, it had another one.
        self.given += 1;
        let name = Id::String(format!("{PREFIX}{}", self.given).into());
        self.renamed.insert(id.clone(), name.clone());
        self.open.insert(name.clone(), Question { session, own: Some(id) });
        Ok(Some(name))
    }

    /// The session of an open question, by the id that the host knows.
    pub(super) fn session(&self, id: &Id) -> Option<&Name> {
        self.open.get(id).map(|question| &question.session)
    }

    /// Whether a question with this id of the agent's is open.
    pub(super) fn is_open(&self, own: &Id) -> bool {
        self.renamed.contains_key(own) || self.open.get(own).is_some_and(|question| question.own.is_none())
    }

    /// The host answers a question. Returns the agent's own id, if the host knows another one.
    pub(super) fn answered(&mut self, id: &Id) -> Option<Id> {
        let own = self.open.remove(id).and_then(|question| question.own)?;
        self.renamed.remove(&own);
        Some(own)
    }

    /// The host answers a question that was lost, if it is one. Its id is free then.
    pub(super) fn answered_late(&mut self, id: &Id) {
        self.lost.remove(id);
    }

    /// The agent takes back a question: by which id the host knows it. `None` if the agent means none that is open, and the
    /// host would take it for another one.
    pub(super) fn known<'a>(&'a self, id: &'a Id) -> Option<&'a Id> {
        match self.renamed.get(id) {
            Some(known) => Some(known),
            None => Some(id).filter(|id| self.open.get(id).is_none_or(|question| question.own.is_none())),
        }
    }

    /// Questions of these sessions were lost. Returns their ids as the host knows them, in order; `most` are kept.
    pub(super) fn lose(&mut self, most: usize, is_lost: impl Fn(&Name) -> bool) -> Vec<Id> {
        let ids: Vec<Id> = self.open.iter().filter(|(_, it)| is_lost(&it.session)).map(|(id, _)| id.clone()).collect();
        for id in &ids {
            // An id that was given here is never given again.
            if self.answered(id).is_none() && !self.forgot {
                self.lost.insert(id.clone());
            }
        }
        if self.lost.len() > most {
            self.lost.clear();
            self.forgot = true;
        }
        ids
    }
}

/// A message with another id at this place.
pub(super) fn renamed(json: &str, place: Range<usize>, id: &Id) -> String {
    let mut edits = Edits::default();
    edits.push(place, id.to_json());
    edits.apply(json, 0..json.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::route::Summary;

    const ALL: fn(&Name) -> bool = |_| true;

    #[test]
    fn only_the_id_of_a_message_changes() {
        for (json, id, expected) in [
            (
                r#"{"params":{"id":9,"x":{"id":9}},"id": 9 ,"method":"m","extra":[{"id":9}]}"#,
                Id::from("libacp-q1"),
                r#"{"params":{"id":9,"x":{"id":9}},"id": "libacp-q1" ,"method":"m","extra":[{"id":9}]}"#,
            ),
            (r#" {"\u0069d":"a\"\u00e9","method":"m"} "#, 7.into(), r#" {"\u0069d":7,"method":"m"} "#),
            (r#"{"id":null,"result":{"id":null}}"#, "q\"".into(), r#"{"id":"q\"","result":{"id":null}}"#),
            (r#"{"error":{"code":1},"id":"é"}"#, Id::Null, r#"{"error":{"code":1},"id":null}"#),
        ] {
            assert_eq!(renamed(json, Summary::read(json).unwrap().id_place, &id), expected);
        }
        let cancel =
            "{\"method\":\"$/cancel_request\",\"params\":{\"_meta\":{\"requestId\":9},\"request\\u0049d\" :\n9}}";
        let summary = Summary::read(cancel).unwrap();
        assert_eq!(summary.cancels, Some(9.into()));
        let expected = cancel.replace("\n9", "\n\"libacp-q1\"");
        assert_eq!(renamed(cancel, summary.cancels_place, &"libacp-q1".into()), expected);
    }

    #[test]
    fn an_id_is_given_once() {
        let mut questions = Questions::default();
        let mut seen = BTreeSet::new();
        for _ in 0..5 {
            for id in [Id::Null, 1.into(), "1".into(), "libacp-q3".into()] {
                let known = questions.ask(id.clone(), None, 9).unwrap().unwrap_or(id);
                assert!(seen.insert(known), "{seen:?}");
            }
            assert_eq!(questions.lose(9, ALL).len(), 4);
        }
        assert_eq!(questions.lost.len(), 3, "those that the host knows by another id are not kept");
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut questions = Questions::default();
        for round in 0..100 {
            let ids = [round * 2, round * 2 + 1].map(Id::from);
            let known = ids.clone().map(|id| questions.ask(id, None, 2).unwrap());
            assert!(known.iter().all(|known| known.is_some() == (round > 1)), "{round}: {known:?}");
            assert_eq!(questions.ask(Id::Null, None, 2), Err(Refused::TooMany));
            assert_eq!(questions.ask(ids[0].clone(), None, 2), Err(Refused::InUse));
            assert_eq!(questions.lose(2, ALL).len(), 2);
            assert!(questions.lost.len() <= 2 && questions.open.is_empty() && questions.renamed.is_empty());
        }
    }

    #[test]
    fn the_questions_of_one_session_can_be_lost() {
        let mut questions = Questions::default();
        let name = |name: &str| Some(name.to_owned());
        questions.ask(1.into(), name("a"), 9).unwrap();
        questions.ask(2.into(), name("b"), 9).unwrap();
        assert_eq!(questions.lose(9, |of| *of == name("a")), [Id::from(1)]);
        assert_eq!((questions.session(&1.into()), questions.session(&2.into())), (None, Some(&name("b"))));
        let known = questions.ask(1.into(), name("a"), 9).unwrap().unwrap();
        assert_eq!(questions.known(&1.into()), Some(&known));
        assert_eq!(questions.known(&known), None);
        assert_eq!(questions.answered(&known), Some(1.into()));
        assert_eq!(questions.known(&1.into()), Some(&1.into()));
        questions.answered_late(&1.into());
        assert_eq!(questions.ask(1.into(), None, 9), Ok(None));
    }
}
