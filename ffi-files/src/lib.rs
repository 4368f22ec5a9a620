//! Files for agents, for C. `include/acp_files.h` is generated from this crate; the conventions at its top and at the
//! top of `include/acp.h` say what callers must guarantee and what they may rely on.
//!
//! As in `ffi`, each exported function is a thin wrapper. The module `border` is the source file of `ffi`: the two
//! libraries are separate, and neither needs the other.

#[allow(dead_code, reason = "not all that `ffi` needs is needed here")]
#[path = "../../ffi/src/border.rs"]
mod border;

pub mod files;
