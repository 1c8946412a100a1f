//! Asking the processor for memory ahead of its use.

/// Starts to load the cache line of `item`. Nothing waits for it, and nothing but time depends on it.
#[inline(always)]
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "the instruction takes a pointer; it reads nothing and cannot fail")]
pub(super) fn prefetch<T>(item: &T) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch has no effect on memory or registers, for any address; this one is that of a reference.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) }
}

/// Other processors look ahead by themselves.
#[inline(always)]
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn prefetch<T>(_item: &T) {}
