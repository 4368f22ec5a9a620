//! Allocation of large texts: answers of many megabytes come and go, and should leave no memory behind.

/// Texts up to this size are allocated as usual.
const LARGE: usize = 1 << 20;
/// glibc may keep freed blocks of up to 32 MiB with the allocator of the thread, and small allocations in their place
/// can prevent the next large one from fitting. Larger blocks go back to the system.
const KEPT: usize = 32 << 20;
const GIVES_BACK: bool = cfg!(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"));

/// An empty text with this capacity.
pub(crate) fn text(size: usize) -> String {
    let mut out = String::with_capacity(if size > LARGE { 0 } else { size });
    make(&mut out, size);
    out
}

/// Reserves room for this many more bytes. Reserved memory that is not touched costs nothing.
#[inline]
pub(crate) fn make(out: &mut String, more: usize) {
    if out.capacity() - out.len() < more {
        grow(out, more);
    }
}

#[cold]
fn grow(out: &mut String, more: usize) {
    let needed = out.len() + more;
    let wanted = if GIVES_BACK && needed > LARGE { more.max(KEPT + LARGE) } else { more };
    if out.try_reserve(wanted).is_err() {
        out.reserve(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_large_texts_get_more_than_they_need() {
        let mut out = String::new();
        make(&mut out, 1000);
        assert!((1000..LARGE).contains(&out.capacity()));
        make(&mut out, LARGE + 1);
        assert_eq!(out.capacity() > KEPT, GIVES_BACK);
        assert!(out.capacity() > LARGE);
        let before = out.capacity();
        make(&mut out, LARGE);
        assert_eq!(out.capacity(), before);
    }
}
