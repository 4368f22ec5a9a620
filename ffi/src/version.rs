//! Which library is linked.

use std::os::raw::c_char;

use crate::border::ACP_ABI_VERSION;

/// The version of the library that this header is of: major.minor.patch.
pub const ACP_VERSION_MAJOR: u32 = 0;
/// The second number of the version.
pub const ACP_VERSION_MINOR: u32 = 1;
/// The third number of the version.
pub const ACP_VERSION_PATCH: u32 = 0;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_the_crates() {
        let version = format!("{ACP_VERSION_MAJOR}.{ACP_VERSION_MINOR}.{ACP_VERSION_PATCH}");
        assert_eq!(version, env!("CARGO_PKG_VERSION"));
    }
}
