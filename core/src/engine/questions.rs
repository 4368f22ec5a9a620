//! Requests that ask the client's user, and how each ends if the user can no longer answer it.
//!
//! The specification defines the result for each of [`QUESTIONS`]. Another such method needs another row.

use crate::rules::RuleId;

/// A method that asks the client's user.
#[derive(Debug)]
pub(crate) struct Question {
    method: &'static str,
    /// The result if the user did not answer.
    pub(crate) auto_answer: &'static str,
    /// The rule that requires the result, by [`AutoAnswerReason`].
    pub(crate) rules: [RuleId; 6],
    /// The rule that is broken by the error for cancelled requests instead of that result, if any.
    pub(crate) no_error: Option<RuleId>,
    /// The rule by which that error is read as that result.
    pub(crate) given_up: RuleId,
}

/// Why the connection answers a question on the host's behalf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AutoAnswerReason {
    /// The session's work is being cancelled.
    Cancel,
    /// The request came after the cancellation.
    Late,
    /// The request `session/prompt` is being cancelled.
    Prompt,
    /// The session is being closed.
    SessionEnd,
    /// The connection is being closed.
    End,
    /// The agent has withdrawn the request (version 2).
    Withdrawn,
}

impl AutoAnswerReason {
    /// Whether background work ends as well.
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
