//! Memory for hosts of the plain WebAssembly module, which can pass only pointers into the module's own memory. Not
//! part of `acp.h`.

use std::alloc::{alloc, dealloc, Layout};

const ALIGN: usize = 8;

fn layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size.max(1), ALIGN).ok()
}

/// Allocates `size` bytes at an address that is a multiple of 8. Returns 0 if there is no memory.
#[no_mangle]
pub extern "C" fn acp_alloc(size: usize) -> *mut u8 {
    // SAFETY: the layout is not of size zero.
    layout(size).map_or(std::ptr::null_mut(), |layout| unsafe { alloc(layout) })
}

/// Frees memory that `acp_alloc` returned for the same `size`. 0 is ignored.
#[no_mangle]
pub unsafe extern "C" fn acp_free(pointer: *mut u8, size: usize) {
    if let (false, Some(layout)) = (pointer.is_null(), layout(size)) {
        // SAFETY: the caller says that it comes from `acp_alloc` with this size.
        unsafe { dealloc(pointer, layout) }
    }
}
