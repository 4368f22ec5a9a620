//! Which library is linked.

use std::os::raw::c_char;

use crate::border::ACP_ABI_VERSION;

/// The version of the binary interface of the library that is linked.
#[no_mangle]
pub extern "C" fn acp_abi_version() -> u32 {
    ACP_ABI_VERSION
}

/// The version of the library that is linked, as a C string that is always there.
#[no_mangle]
pub extern "C" fn acp_library_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
