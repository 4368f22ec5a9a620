//! Version numbers of the header and of the linked library.

use std::os::raw::c_char;

use crate::border::ACP_ABI_VERSION;

/// The library version that this header belongs to, first of three numbers: major.minor.patch.
pub const ACP_VERSION_MAJOR: u32 = 0;
/// The second number of the library version.
pub const ACP_VERSION_MINOR: u32 = 1;
/// The third number of the library version.
pub const ACP_VERSION_PATCH: u32 = 0;

/// Returns the version of the binary interface of the linked library. Compare it with `ACP_ABI_VERSION` at start-up if
/// the library is linked dynamically.
#[no_mangle]
pub extern "C" fn acp_abi_version() -> u32 {
    ACP_ABI_VERSION
}

/// Returns the version of the linked library, such as "0.1.0", as a static NUL-terminated string.
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
