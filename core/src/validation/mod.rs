//! Checking JSON against the model in one streaming pass, without building a tree.
//!
//! [`table`] defines the generated tables; `validator` checks a value against them; [`Problem`] says what does not fit. The
//! [`Mode`] decides what happens then. Sending is strict. Receiving is strict or tolerant; tolerant means the official
//! rules: an optional member that does not fit is read as absent, an item of a lenient list that does not fit is left
//! out, each is reported, and the host gets JSON that fits.

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
pub(crate) use semantic::{is_absolute, is_base64};
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
    /// A value of the host: everything must fit, and extension values must start with `_`.
    Send,
    /// A value of the peer, without repairs.
    Strict,
    /// A value of the peer, repaired where the specification's tolerance rules allow it.
    Tolerant,
    /// A value of the peer, repaired only if the broken rule has a severity whose flag is set: note, warning, error.
    Mixed([bool; 3]),
}

/// What a value is part of. A request that does not fit can be refused; anything else can only be dropped or repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The params of a request.
    Request,
    /// The params of a notification.
    Notification,
    /// The result of a response.
    Response,
}

/// The drafts that are enabled: bit `n` stands for draft `n` of [`crate::schema::drafts::DRAFTS`], counted from 1.
pub type DraftSet = u32;

/// A value that fits its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked<'a> {
    /// The value: the text itself, or a repaired copy.
    pub json: Cow<'a, str>,
    /// What was repaired or accepted although it does not fit.
    pub problems: Vec<Problem>,
}

/// Why a value was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// The text is not JSON.
    #[error("{0}")]
    Syntax(#[from] SyntaxError),
    /// The value does not fit its type.
    #[error("{0}")]
    Invalid(Box<Problem>),
}

/// Checks a JSON text against a type.
///
/// # Errors
/// [`Rejected`] if the text is not JSON, or does not fit and cannot be repaired.
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
    /// The position of the outermost `sessionId`.
    pub(crate) session: Option<Range<usize>>,
    /// The tag of the outermost union.
    pub(crate) variant: Option<&'static str>,
    pub(crate) field_index: FieldIndex,
    /// What the validator was given to record slots in.
    pub(crate) slots: Option<Slots>,
}

/// Like [`check`], with a given validator.
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
