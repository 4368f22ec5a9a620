//! Room for large texts: answers of many megabytes come and go, and should leave nothing behind.

/// Less is not worth a thought.
const LARGE: usize = 1 << 20;
/// Blocks of up to 32 MiB may stay with the thread's allocator in glibc when they are freed, and small ones that are put
/// into their place keep the next large one out of it. A larger block is given back to the system.
const KEPT: usize = 32 << 20;
const GIVES_BACK: bool = cfg!(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"));

/// A text with room for so many bytes.
pub(crate) fn text(size: usize) -> String {
    let mut out = String::with_capacity(if size > LARGE { 0 } else { size });
    make(&mut out, size);
    out
}

/// Makes room for so many bytes more. What is reserved and not used takes no memory.
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
