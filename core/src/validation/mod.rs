//! Checks JSON against the model in one streaming pass, without building a tree.
//!
//! [`table`] is the shape of the generated tables; `validator` goes through a value with them; [`Problem`] says what does
//! not fit. What happens then is the [`Mode`]'s business: sending is strict; receiving is strict or tolerant, and
//! tolerant means the official rules: a bad optional member reads as absent, a bad item of a lenient list is left out,
//! each is reported, and the host gets JSON that does fit.

mod choose;
mod field_index;
mod problem;
mod semantic;
mod slots;
#[doc(hidden)]
pub mod table;
mod validator;
mod words;

pub(crate) use field_index::{FieldIndex, StoredIndex};
pub use problem::Problem;
pub(crate) use problem::{Segment, LONGER, OF_A_DRAFT};
pub(crate) use semantic::is_absolute;
pub(crate) use slots::Slots;
pub(crate) use validator::names::TWICE;
pub(crate) use validator::scalar::{is_plain, ROOM};
pub(crate) use validator::{Fail, Validator};

use crate::json::{Scanner, SyntaxError};
use std::borrow::Cow;
use std::ops::Range;
use table::{Tables, TypeId};

/// How strictly a value is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Our own host's: everything must fit, extension values start with `_`.
    Send,
    /// The peer's, and the host wants no repairs.
    Strict,
    /// The peer's, repaired where the specification's tolerance rules say how.
    Tolerant,
    /// The peer's, repaired where the rule that it breaks has one of these severities: notes, warnings, errors.
    Mixed([bool; 3]),
}

/// What a value is part of: a request that does not fit can be refused, the rest can only be dropped or repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Params of a request.
    Request,
    /// Params of a notification.
    Notification,
    /// Result of a response.
    Response,
}

/// Which drafts are switched on: bit `n` is draft `n` of [`crate::schema::drafts::DRAFTS`], counting from 1.
pub type DraftSet = u32;

/// A value that fits its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked<'a> {
    /// The value: the text itself, or a repaired copy.
    pub json: Cow<'a, str>,
    /// What was repaired or let through.
    pub problems: Vec<Problem>,
}

/// Why a value was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// It is not JSON.
    #[error("{0}")]
    Syntax(#[from] SyntaxError),
    /// It does not fit its type.
    #[error("{0}")]
    Invalid(Box<Problem>),
}

/// Checks one whole JSON text against one type.
///
/// # Errors
/// [`Rejected`] when the text is not JSON or cannot be made to fit.
pub fn check<'a>(
    tables: &'static Tables,
    drafts: DraftSet,
    ty: TypeId,
    json: &'a str,
    mode: Mode,
    part: Part,
) -> Result<Checked<'a>, Rejected> {
    validate(Validator::new(tables, drafts, mode, part), ty, json).map(|validated| validated.checked)
}

/// A value that is valid, and what validation found out about it.
pub(crate) struct Validated<'a> {
    pub(crate) checked: Checked<'a>,
    /// Where the outermost `sessionId` stands.
    pub(crate) session: Option<Range<usize>>,
    /// The tag of the outermost union.
    pub(crate) variant: Option<&'static str>,
    pub(crate) field_index: FieldIndex,
    /// What the validator was given to record slots in.
    pub(crate) slots: Option<Slots>,
}

/// As [`check`], with a validator of the caller's.
pub(crate) fn validate(mut validator: Validator, ty: TypeId, json: &str) -> Result<Validated<'_>, Rejected> {
    let mut scanner = Scanner::new(json, crate::json::MAX_DEPTH);
    let mark = scanner.checkpoint();
    let outcome = validator.value(&mut scanner, ty);
    match outcome {
        Ok(()) => scanner.end()?,
        Err(Fail::Invalid(problem)) if !problem.rule.is_on(validator.way()) => {
            scanner.rewind(mark);
            scanner.skip()?;
        }
        Err(Fail::Syntax(error)) => return Err(error.into()),
        Err(Fail::Invalid(problem)) => return Err(Rejected::Invalid(problem)),
    }
    let (session, variant, slots) = (validator.session(), validator.variant(), validator.slots.take());
    let (edits, problems, field_index) = validator.finish(&scanner)?;
    let json = match edits {
        Some(edits) => Cow::Owned(edits.apply(json, 0..json.len())),
        None => Cow::Borrowed(json),
    };
    Ok(Validated { checked: Checked { json, problems }, session, variant, field_index, slots })
}
