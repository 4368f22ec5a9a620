//! Files for agents in C. `include/acp_files.h` is made from this crate; its top, and that of `include/acp.h`, say what
//! callers promise and may rely on.
//!
//! As in `ffi`, each exported function is one line of border and one line of what is behind it. The border is that of `ffi`,
//! the same source: the two libraries are separate, and neither needs the other.

#[allow(dead_code, reason = "not all that `ffi` needs is needed here")]
#[path = "../../ffi/src/border.rs"]
mod border;

pub mod files;
