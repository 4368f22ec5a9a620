//! What is generated from the model of the protocol in `core/protocol/`.

pub mod drafts;
pub mod tables;
