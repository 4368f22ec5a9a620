//! Agents and clients of `libacp::aio` with each other and with peers that are written by hand, all on one thread.

mod agents;
mod clients;
mod flow;
mod hosts;
mod kept;
mod pipe;
mod refused;
mod together;
mod verbs;
mod versions;
mod viewed;
