//! Requests that ask the client's user, and how each ends when nobody will answer it any more.
//!
//! The specification says of each of [`QUESTIONS`] what the answer is then. A further method of that kind is a further row.

use crate::rules::RuleId;

/// A method that asks the client's user.
#[derive(Debug)]
pub(crate) struct Question {
    method: &'static str,
    /// The result that says that the user was not asked to the end.
    pub(crate) auto_answer: &'static str,
    /// The rule of the answer, by [`AutoAnswerReason`].
    pub(crate) rules: [RuleId; 6],
    /// The rule that the error for cancelled work breaks in place of that result, if it breaks one.
    pub(crate) no_error: Option<RuleId>,
    /// The rule by which that error means that result.
    pub(crate) given_up: RuleId,
}

/// Why the connection answers a question on the host's behalf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AutoAnswerReason {
    /// The session's work is being cancelled.
    Cancel,
    /// It was asked after that.
    Late,
    /// The prompt that the session works on is being cancelled by its request.
    Prompt,
    /// The session is being closed.
    SessionEnd,
    /// The connection is being closed.
    End,
    /// The agent has taken the question back (version 2).
    Withdrawn,
}

impl AutoAnswerReason {
    /// Whether the background ends as well.
    pub(crate) fn is_an_end(self) -> bool {
        matches!(self, AutoAnswerReason::SessionEnd | AutoAnswerReason::End)
    }
}

const QUESTIONS: &[Question] = &[
    Question {
        method: "session/request_permission",
        auto_answer: r#"{"outcome":{"outcome":"cancelled"}}"#,
        rules: [id!("CANCEL-03"), id!("CANCEL-04"), id!("PERM-05"), id!("SESS-22"), id!("PERM-19"), id!("PERM-21")],
        no_error: Some(id!("CANCEL-17")),
        given_up: id!("PERM-05"),
    },
    Question {
        method: "elicitation/create",
        auto_answer: r#"{"action":"cancel"}"#,
        rules: [id!("ELIC-29"), id!("ELIC-29"), id!("ELIC-29"), id!("ELIC-28"), id!("ELIC-28"), id!("ELIC-32")],
        no_error: None,
        given_up: id!("ELIC-19"),
    },
];

/// The row of a method, if it asks the user.
pub(crate) fn question(method: &str) -> Option<&'static Question> {
    QUESTIONS.iter().find(|question| question.method == method)
}
