//! Checks JSON against the model.
pub mod table;
