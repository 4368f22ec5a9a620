//! libacp: the Agent Client Protocol as a state machine without I/O.
#![forbid(unsafe_code)]

pub mod schema;
pub mod validation;
