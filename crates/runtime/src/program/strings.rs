//! Memory and string functions called by instrumented code: the linker sends those calls here
//! (`--wrap`), the C library's own are left alone. Newer compilers call the `__tsan_` ones themselves.

use std::ffi::{c_char, c_int, c_void};

use crate::access::{range, touch_range};
use crate::arch::caller;
use crate::engine::{engine, watched};
use crate::interpose::interpose_always;

unsafe extern "C" {
    fn memcpy(to: *mut c_void, from: *const c_void, bytes: usize) -> *mut c_void;
    fn memmove(to: *mut c_void, from: *const c_void, bytes: usize) -> *mut c_void;
    fn memset(to: *mut c_void, byte: c_int, bytes: usize) -> *mut c_void;
    fn memcmp(a: *const c_void, b: *const c_void, bytes: usize) -> c_int;
    fn memchr(place: *const c_void, byte: c_int, bytes: usize) -> *mut c_void;
    fn strlen(text: *const c_char) -> usize;
    fn strnlen(text: *const c_char, limit: usize) -> usize;
    fn strcpy(to: *mut c_char, from: *const c_char) -> *mut c_char;
    fn strncpy(to: *mut c_char, from: *const c_char, limit: usize) -> *mut c_char;
    fn strcat(to: *mut c_char, from: *const c_char) -> *mut c_char;
    fn strcmp(a: *const c_char, b: *const c_char) -> c_int;
    fn strncmp(a: *const c_char, b: *const c_char, limit: usize) -> c_int;
    fn strchr(text: *const c_char, byte: c_int) -> *mut c_char;
    fn strrchr(text: *const c_char, byte: c_int) -> *mut c_char;
    fn strdup(text: *const c_char) -> *mut c_char;
    fn __chk_fail() -> !;
}

/// Ends the program if it is about to write more than there is room for, as the C library does where `_FORTIFY_SOURCE` has it checked.
unsafe fn must_fit(bytes: usize, room: usize) {
    if bytes > room {
        // SAFETY: may be called at any time.
        unsafe { __chk_fail() }
    }
}

unsafe fn reads(place: *const c_void, bytes: usize, pc: u64) {
    // SAFETY: the program is about to make the access itself.
    unsafe { range(place as usize, bytes, false, pc) }
}

unsafe fn writes(place: *mut c_void, bytes: usize, pc: u64) {
    // SAFETY: the program is about to make the access itself.
    unsafe { range(place as usize, bytes, true, pc) }
}

unsafe fn reads_text(text: *const c_char, pc: u64) {
    if watching() {
        // SAFETY: the program is about to read the string itself.
        unsafe { reads(text.cast(), strlen(text) + 1, pc) }
    }
}

unsafe fn reads_text_up_to(text: *const c_char, limit: usize, pc: u64) {
    if watching() {
        // SAFETY: the program is about to read the string itself.
        unsafe { reads(text.cast(), (strnlen(text, limit) + 1).min(limit), pc) }
    }
}

/// Announces both sides of a copy. Each has a scheduling point, and what was there at the first may have
/// been freed before the second.
unsafe fn copies(to: *mut c_void, from: *const c_void, bytes: usize, pc: u64) {
    let Some(fiber) = watched().filter(|_| bytes != 0) else { return };
    let switches = engine().shared.control().switches;
    // SAFETY: the program is about to make the accesses itself.
    unsafe {
        reads(from, bytes, pc);
        writes(to, bytes, pc);
        if engine().shared.control().switches != switches {
            touch_range(fiber, from as usize, bytes, false);
        }
    }
}

fn watching() -> bool {
    watched().is_some()
}

interpose_always! {
    fn __wrap_memcpy(to: *mut c_void, from: *const c_void, bytes: usize) -> *mut c_void {
        let pc = caller();
        copies(to, from, bytes, pc);
        memcpy(to, from, bytes)
    }
    fn __tsan_memcpy(to: *mut c_void, from: *const c_void, bytes: usize) -> *mut c_void {
        let pc = caller();
        copies(to, from, bytes, pc);
        memcpy(to, from, bytes)
    }
    fn __wrap___memcpy_chk(to: *mut c_void, from: *const c_void, bytes: usize, room: usize) -> *mut c_void {
        let pc = caller();
        must_fit(bytes, room);
        copies(to, from, bytes, pc);
        memcpy(to, from, bytes)
    }
    fn __wrap___memmove_chk(to: *mut c_void, from: *const c_void, bytes: usize, room: usize) -> *mut c_void {
        let pc = caller();
        must_fit(bytes, room);
        copies(to, from, bytes, pc);
        memmove(to, from, bytes)
    }
    fn __wrap___memset_chk(to: *mut c_void, byte: c_int, bytes: usize, room: usize) -> *mut c_void {
        let pc = caller();
        must_fit(bytes, room);
        writes(to, bytes, pc);
        memset(to, byte, bytes)
    }
    fn __wrap_memmove(to: *mut c_void, from: *const c_void, bytes: usize) -> *mut c_void {
        let pc = caller();
        copies(to, from, bytes, pc);
        memmove(to, from, bytes)
    }
    fn __tsan_memmove(to: *mut c_void, from: *const c_void, bytes: usize) -> *mut c_void {
        let pc = caller();
        copies(to, from, bytes, pc);
        memmove(to, from, bytes)
    }
    fn __wrap_bcopy(from: *const c_void, to: *mut c_void, bytes: usize) {
        let pc = caller();
        copies(to, from, bytes, pc);
        memmove(to, from, bytes);
    }
    fn __wrap_memset(to: *mut c_void, byte: c_int, bytes: usize) -> *mut c_void {
        writes(to, bytes, caller());
        memset(to, byte, bytes)
    }
    fn __tsan_memset(to: *mut c_void, byte: c_int, bytes: usize) -> *mut c_void {
        writes(to, bytes, caller());
        memset(to, byte, bytes)
    }
    fn __wrap_bzero(to: *mut c_void, bytes: usize) {
        writes(to, bytes, caller());
        memset(to, 0, bytes);
    }
    fn __wrap_memcmp(a: *const c_void, b: *const c_void, bytes: usize) -> c_int {
        let pc = caller();
        reads(a, bytes, pc);
        reads(b, bytes, pc);
        memcmp(a, b, bytes)
    }
    fn __wrap_memchr(place: *const c_void, byte: c_int, bytes: usize) -> *mut c_void {
        let pc = caller();
        let found = memchr(place, byte, bytes);
        let touched = if found.is_null() { bytes } else { found as usize - place as usize + 1 };
        reads(place, touched, pc);
        memchr(place, byte, bytes)
    }
    fn __wrap_strlen(text: *const c_char) -> usize {
        reads_text(text, caller());
        strlen(text)
    }
    fn __wrap_strnlen(text: *const c_char, limit: usize) -> usize {
        reads_text_up_to(text, limit, caller());
        strnlen(text, limit)
    }
    fn __wrap_strcpy(to: *mut c_char, from: *const c_char) -> *mut c_char {
        let pc = caller();
        reads_text(from, pc);
        if watching() {
            writes(to.cast(), strlen(from) + 1, pc);
        }
        strcpy(to, from)
    }
    fn __wrap___strcpy_chk(to: *mut c_char, from: *const c_char, room: usize) -> *mut c_char {
        let pc = caller();
        reads_text(from, pc);
        must_fit(strlen(from) + 1, room);
        if watching() {
            writes(to.cast(), strlen(from) + 1, pc);
        }
        // What others have written meanwhile counts.
        must_fit(strlen(from) + 1, room);
        strcpy(to, from)
    }
    fn __wrap___strncpy_chk(to: *mut c_char, from: *const c_char, limit: usize, room: usize) -> *mut c_char {
        let pc = caller();
        must_fit(limit, room);
        reads_text_up_to(from, limit, pc);
        writes(to.cast(), limit, pc);
        strncpy(to, from, limit)
    }
    fn __wrap___strcat_chk(to: *mut c_char, from: *const c_char, room: usize) -> *mut c_char {
        let pc = caller();
        reads_text(from, pc);
        reads_text(to, pc);
        must_fit(strlen(to) + strlen(from) + 1, room);
        if watching() {
            writes(to.add(strlen(to)).cast(), strlen(from) + 1, pc);
        }
        must_fit(strlen(to) + strlen(from) + 1, room);
        strcat(to, from)
    }
    fn __wrap_strncpy(to: *mut c_char, from: *const c_char, limit: usize) -> *mut c_char {
        let pc = caller();
        reads_text_up_to(from, limit, pc);
        writes(to.cast(), limit, pc);
        strncpy(to, from, limit)
    }
    fn __wrap_strcat(to: *mut c_char, from: *const c_char) -> *mut c_char {
        let pc = caller();
        reads_text(from, pc);
        reads_text(to, pc);
        if watching() {
            writes(to.add(strlen(to)).cast(), strlen(from) + 1, pc);
        }
        strcat(to, from)
    }
    fn __wrap_strcmp(a: *const c_char, b: *const c_char) -> c_int {
        let pc = caller();
        reads_text(a, pc);
        reads_text(b, pc);
        strcmp(a, b)
    }
    fn __wrap_strncmp(a: *const c_char, b: *const c_char, limit: usize) -> c_int {
        let pc = caller();
        reads_text_up_to(a, limit, pc);
        reads_text_up_to(b, limit, pc);
        strncmp(a, b, limit)
    }
    fn __wrap_strchr(text: *const c_char, byte: c_int) -> *mut c_char {
        reads_text(text, caller());
        strchr(text, byte)
    }
    fn __wrap_strrchr(text: *const c_char, byte: c_int) -> *mut c_char {
        reads_text(text, caller());
        strrchr(text, byte)
    }
    fn __wrap_strdup(text: *const c_char) -> *mut c_char {
        reads_text(text, caller());
        strdup(text)
    }
}
