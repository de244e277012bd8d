//! Atomic operations: the compiler's calls stand *for* the operation, so it is made here.
//!
//! Exploration is sequentially consistent: every operation is made as if its order were the strongest. Events say which
//! order it asked for, so that races are found that only a weaker one lets happen.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence};

use threadbare_sched::Op;
use threadbare_trace::{Event, EventKind};

use crate::access;
use crate::arch::{self, caller};
use crate::engine::{engine, watched};
use crate::guarding_locks;
use crate::interpose::controlled;
use crate::sync::rust_std;

const SC: Ordering = Ordering::SeqCst;

/// The order argument that stands for it.
const SEQUENTIALLY_CONSISTENT: i32 = 5;

/// What an operation with this order argument does not order, as an event says it. A consuming one counts as acquiring,
/// as all compilers take it.
fn weakness(order: i32) -> u32 {
    const RELAXED: i32 = 0;
    const ACQUIRES: std::ops::RangeInclusive<i32> = 1..=2;
    const RELEASES: i32 = 3;
    match order {
        RELAXED => Event::ACQUIRES_NOT | Event::RELEASES_NOT,
        RELEASES => Event::ACQUIRES_NOT,
        order if ACQUIRES.contains(&order) => Event::RELEASES_NOT,
        _ => 0,
    }
}

/// An integer that the machine can exchange atomically.
pub trait Word: Copy + PartialEq {
    /// The low eight bytes, for the trace.
    fn low(self) -> u64;
    /// Replaces the value if it is `expected`; returns the value found.
    unsafe fn compare_exchange(addr: usize, expected: Self, new: Self) -> Self;
    /// Reads the value.
    unsafe fn load(addr: usize) -> Self;
    /// Writes the value.
    unsafe fn store(addr: usize, value: Self);
}

macro_rules! words {
    ($($type:ty, $atomic:ty;)*) => {$(
        impl Word for $type {
            fn low(self) -> u64 {
                u64::from(self)
            }
            unsafe fn compare_exchange(addr: usize, expected: Self, new: Self) -> Self {
                // SAFETY: the program's own aligned atomic.
                match unsafe { (*(addr as *const $atomic)).compare_exchange(expected, new, SC, SC) } {
                    Ok(found) | Err(found) => found,
                }
            }
            unsafe fn load(addr: usize) -> Self {
                // SAFETY: as above.
                unsafe { (*(addr as *const $atomic)).load(SC) }
            }
            unsafe fn store(addr: usize, value: Self) {
                // SAFETY: as above.
                unsafe { (*(addr as *const $atomic)).store(value, SC) }
            }
        }
    )*};
}

words! { u8, AtomicU8; u16, AtomicU16; u32, AtomicU32; u64, AtomicU64; }

impl Word for u128 {
    fn low(self) -> u64 {
        self as u64
    }

    unsafe fn compare_exchange(addr: usize, expected: u128, new: u128) -> u128 {
        // SAFETY: the program's own aligned sixteen bytes.
        unsafe { arch::compare_exchange_16(addr, expected, new) }
    }

    unsafe fn load(addr: usize) -> u128 {
        // SAFETY: as above; exchanging zero for zero changes nothing.
        unsafe { Self::compare_exchange(addr, 0, 0) }
    }

    unsafe fn store(addr: usize, value: u128) {
        // SAFETY: as above.
        unsafe { exchange_with(addr, |_| value) };
    }
}

/// Replaces the value by a function of it; returns the value found.
unsafe fn exchange_with<T: Word>(addr: usize, change: impl Fn(T) -> T) -> T {
    // SAFETY: as the callers of `Word` vouch.
    unsafe {
        let mut seen = T::load(addr);
        loop {
            let found = T::compare_exchange(addr, seen, change(seen));
            if found == seen {
                return found;
            }
            seen = found;
        }
    }
}

/// What became of the announcement of an atomic operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Announced {
    /// Nobody watches.
    Unwatched,
    /// It is in code that is passed over, at this place, and only recorded.
    PassedOver(u64),
    /// It is no step, since no other thread touches the place.
    Private,
    /// It is part of the step before: it gives back a lock at which others look only to take it.
    Unseen,
    /// It is a step, and its thread has been scheduled.
    Step,
}

/// Announces an atomic operation and waits until its thread is scheduled. It may give back a lock if it leaves a zero behind.
#[inline(always)]
unsafe fn announce<T: Word>(kind: EventKind, addr: usize, leaves_zero: bool) -> Announced {
    // SAFETY: as the caller vouches.
    unsafe { announce_at::<T>(kind, addr, leaves_zero, caller()) }
}

/// The same for an operation at this place.
#[inline(always)]
unsafe fn announce_at<T: Word>(kind: EventKind, addr: usize, leaves_zero: bool, pc: u64) -> Announced {
    let Some(fiber) = watched() else { return Announced::Unwatched };
    // SAFETY: the runtime is up.
    unsafe {
        fiber.count_operation();
        if engine().passes_over(pc) {
            return if engine().recorder.takes_all.get() {
                Announced::PassedOver(pc)
            } else {
                Announced::Unwatched
            };
        }
        fiber.set_site(pc);
        guarding_locks::does_not_wait(fiber);
        let shared = access::touch_word(fiber, addr, size_of::<T>(), kind.writes());
        if !shared && engine().world.state_hashes.borrow_mut().are_wanted() {
            crate::thread_state_hash::touch(engine(), addr, size_of::<T>(), kind.writes(), pc);
        }
        if !shared && engine().brief.get() && !fiber.is_stop_due() {
            return Announced::Private;
        }
        if shared && crate::thread_state_hash::are_merged() {
            engine().world.guarding_locks.accessed_atomically(fiber, addr, size_of::<T>());
        }
        if leaves_zero && engine().world.guarding_locks.gives_back_unseen(fiber, addr) {
            return Announced::Unseen;
        }
        // It may take a lock that is nothing but a word.
        let place = if kind == EventKind::AtomicUpdate { engine().lock_place(pc) } else { 0 };
        let op = Op {
            kind,
            object: addr as u64,
            size: size_of::<T>() as u32,
            site: pc,
            index: fiber.ops.get(),
            place,
        };
        let switches = engine().shared.control().switches;
        engine().point(op, None, None);
        if !shared && engine().brief.get() {
            fiber.was_a_look();
        }
        // The place may have been freed while others ran.
        if engine().shared.control().switches != switches {
            access::touch_word(fiber, addr, size_of::<T>(), kind.writes());
        }
    }
    Announced::Step
}

/// Notes what an atomic operation did.
fn done<T: Word>(announced: Announced, kind: EventKind, addr: usize, value: T, old: T, order: i32) {
    let engine = engine();
    match announced {
        Announced::Unwatched => return,
        Announced::PassedOver(pc) => {
            let pending = engine.current().replace_site(pc);
            engine.current().weakness.set(weakness(order));
            engine.recorder.note(kind, addr, size_of::<T>() as u8, value.low(), old.low());
            engine.current().weakness.set(0);
            engine.current().set_site(pending);
            return;
        }
        Announced::Private => {
            if value != old {
                guarding_locks::word_changed(engine, addr, old.low(), value.low());
            }
            return;
        }
        Announced::Unseen | Announced::Step => {}
    }
    if order != SEQUENTIALLY_CONSISTENT && engine.running.get() {
        crate::dependences::note_weak_order(engine.current().site());
    }
    engine.current().weakness.set(weakness(order));
    engine.recorder.note(kind, addr, size_of::<T>() as u8, value.low(), old.low());
    let fiber = engine.current();
    fiber.weakness.set(0);
    if value != old {
        engine.changed();
        guarding_locks::word_changed(engine, addr, old.low(), value.low());
        if kind == EventKind::AtomicUpdate && old.low() == 0 {
            engine.took_lock();
        }
    } else {
        fiber.saw(fiber.site(), addr as u64, value.low());
        guarding_locks::looked_at_word(engine, addr, kind == EventKind::AtomicFailed);
    }
}

unsafe fn load<T: Word>(addr: usize, order: i32) -> T {
    // SAFETY: the program's own atomic, here and below.
    unsafe {
        let announced = announce::<T>(EventKind::AtomicRead, addr, false);
        let value = T::load(addr);
        done(announced, EventKind::AtomicRead, addr, value, value, order);
        value
    }
}

/// Makes an atomic store.
///
/// # Safety
/// The address must be that of an aligned atomic of this size.
pub unsafe fn store<T: Word>(addr: usize, value: T, order: i32) {
    // SAFETY: as in `load`.
    unsafe {
        let announced = announce::<T>(EventKind::AtomicWrite, addr, false);
        let old = T::load(addr);
        T::store(addr, value);
        done(announced, EventKind::AtomicWrite, addr, value, old, order);
    }
}

/// Stores a byte that a library's function stores, which was called at `pc`.
///
/// # Safety
/// The byte must be writable.
pub unsafe fn store_for_library(addr: usize, value: u8, pc: u64) {
    // SAFETY: as the caller vouches.
    unsafe {
        let announced = announce_at::<u8>(EventKind::AtomicWrite, addr, false, pc);
        let old = u8::load(addr);
        u8::store(addr, value);
        done(announced, EventKind::AtomicWrite, addr, value, old, SEQUENTIALLY_CONSISTENT);
    }
}

/// Announces that a library's function, which was called at `pc`, is about to add to a counter: it does so before anything else.
///
/// # Safety
/// The counter must be readable.
pub unsafe fn before_library_adds(addr: usize, number: i32, pc: u64) {
    // SAFETY: as the caller vouches.
    unsafe {
        let announced = announce_at::<u32>(EventKind::AtomicUpdate, addr, false, pc);
        let old = u32::load(addr);
        let value = old.wrapping_add_signed(number);
        done(announced, EventKind::AtomicUpdate, addr, value, old, SEQUENTIALLY_CONSISTENT);
    }
}

unsafe fn update<T: Word>(addr: usize, change: impl Fn(T) -> T, order: i32) -> T {
    // SAFETY: as in `load`.
    unsafe { replace(addr, change, order, false) }
}

unsafe fn replace<T: Word>(addr: usize, change: impl Fn(T) -> T, order: i32, leaves_zero: bool) -> T {
    // SAFETY: as in `load`.
    unsafe {
        let announced = announce::<T>(EventKind::AtomicUpdate, addr, leaves_zero);
        let old = exchange_with(addr, &change);
        done(announced, EventKind::AtomicUpdate, addr, change(old), old, order);
        if size_of::<T>() == size_of::<usize>() && old.low() == 1 && change(old).low() == 0 && controlled() {
            engine().current().last_zeroed.set(addr);
        }
        old
    }
}

unsafe fn exchange<T: Word>(addr: usize, value: T, order: i32) -> T {
    // SAFETY: as in `load`.
    let old = unsafe { replace(addr, |_| value, order, value.low() == 0) };
    if size_of::<T>() == size_of::<u32>() && value.low() == rust_std::TOKEN && controlled() {
        rust_std::gave_token(addr);
    }
    old
}

unsafe fn compare<T: Word>(addr: usize, expected: T, new: T, order: i32, failure: i32) -> T {
    // SAFETY: as in `load`.
    unsafe {
        let announced = announce::<T>(EventKind::AtomicUpdate, addr, false);
        let found = T::compare_exchange(addr, expected, new);
        if found == expected {
            done(announced, EventKind::AtomicUpdate, addr, new, found, order);
        } else {
            done(announced, EventKind::AtomicFailed, addr, found, found, failure);
        }
        found
    }
}

unsafe fn compare_into<T: Word>(addr: usize, expected: *mut T, new: T, order: i32, failure: i32) -> i32 {
    // SAFETY: as in `load`; `expected` is a local of the program.
    unsafe {
        let wanted = expected.read_unaligned();
        let found = compare(addr, wanted, new, order, failure);
        if found != wanted {
            expected.write_unaligned(found);
        }
        i32::from(found == wanted)
    }
}

/// Exports functions that note their return address and continue in generic code.
macro_rules! stubs {
    ($(fn $name:ident($($arg:ident: $type:ty),*) $(-> $ret:ty)? $body:block)*) => {$(
        /// Makes the atomic operation in its name.
        ///
        /// # Safety
        /// Called by instrumented code with valid addresses.
        #[unsafe(naked)]
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub unsafe extern "C-unwind" fn $name($($arg: $type),*) $(-> $ret)? {
            #[allow(unused_variables, unused_unsafe)]
            unsafe extern "C-unwind" fn serve($($arg: $type),*) $(-> $ret)? {
                // What is to be stored need not be anywhere else.
                let is_kept = watched().is_some() && crate::thread_state_hash::are_merged();
                if is_kept {
                    $(crate::thread_state_hash::gives(&$arg);)*
                }
                // SAFETY: the program's own addresses.
                let result = unsafe { $body };
                if is_kept {
                    engine().current().given.set(0);
                }
                result
            }
            arch::enter!(serve)
        }
    )*};
}

macro_rules! family {
    ($type:ty; $load:ident, $store:ident, $exchange:ident, $add:ident, $sub:ident, $and:ident, $or:ident,
     $xor:ident, $nand:ident, $strong:ident, $weak:ident, $val:ident) => {
        stubs! {
            fn $load(addr: usize, order: i32) -> $type { load(addr, order) }
            fn $store(addr: usize, value: $type, order: i32) { store(addr, value, order) }
            fn $exchange(addr: usize, value: $type, order: i32) -> $type { exchange(addr, value, order) }
            fn $add(addr: usize, value: $type, order: i32) -> $type {
                update(addr, |x: $type| x.wrapping_add(value), order)
            }
            fn $sub(addr: usize, value: $type, order: i32) -> $type {
                update(addr, |x: $type| x.wrapping_sub(value), order)
            }
            fn $and(addr: usize, value: $type, order: i32) -> $type {
                update(addr, |x: $type| x & value, order)
            }
            fn $or(addr: usize, value: $type, order: i32) -> $type {
                update(addr, |x: $type| x | value, order)
            }
            fn $xor(addr: usize, value: $type, order: i32) -> $type {
                update(addr, |x: $type| x ^ value, order)
            }
            fn $nand(addr: usize, value: $type, order: i32) -> $type {
                update(addr, |x: $type| !(x & value), order)
            }
            fn $strong(addr: usize, expected: *mut $type, new: $type, order: i32, failure: i32) -> i32 {
                compare_into(addr, expected, new, order, failure)
            }
            fn $weak(addr: usize, expected: *mut $type, new: $type, order: i32, failure: i32) -> i32 {
                compare_into(addr, expected, new, order, failure)
            }
            fn $val(addr: usize, expected: $type, new: $type, order: i32, failure: i32) -> $type {
                compare(addr, expected, new, order, failure)
            }
        }
    };
}

family!(u8; __tsan_atomic8_load, __tsan_atomic8_store, __tsan_atomic8_exchange, __tsan_atomic8_fetch_add,
    __tsan_atomic8_fetch_sub, __tsan_atomic8_fetch_and, __tsan_atomic8_fetch_or, __tsan_atomic8_fetch_xor,
    __tsan_atomic8_fetch_nand, __tsan_atomic8_compare_exchange_strong, __tsan_atomic8_compare_exchange_weak,
    __tsan_atomic8_compare_exchange_val);
family!(u16; __tsan_atomic16_load, __tsan_atomic16_store, __tsan_atomic16_exchange, __tsan_atomic16_fetch_add,
    __tsan_atomic16_fetch_sub, __tsan_atomic16_fetch_and, __tsan_atomic16_fetch_or, __tsan_atomic16_fetch_xor,
    __tsan_atomic16_fetch_nand, __tsan_atomic16_compare_exchange_strong, __tsan_atomic16_compare_exchange_weak,
    __tsan_atomic16_compare_exchange_val);
family!(u32; __tsan_atomic32_load, __tsan_atomic32_store, __tsan_atomic32_exchange, __tsan_atomic32_fetch_add,
    __tsan_atomic32_fetch_sub, __tsan_atomic32_fetch_and, __tsan_atomic32_fetch_or, __tsan_atomic32_fetch_xor,
    __tsan_atomic32_fetch_nand, __tsan_atomic32_compare_exchange_strong, __tsan_atomic32_compare_exchange_weak,
    __tsan_atomic32_compare_exchange_val);
family!(u64; __tsan_atomic64_load, __tsan_atomic64_store, __tsan_atomic64_exchange, __tsan_atomic64_fetch_add,
    __tsan_atomic64_fetch_sub, __tsan_atomic64_fetch_and, __tsan_atomic64_fetch_or, __tsan_atomic64_fetch_xor,
    __tsan_atomic64_fetch_nand, __tsan_atomic64_compare_exchange_strong, __tsan_atomic64_compare_exchange_weak,
    __tsan_atomic64_compare_exchange_val);
family!(u128; __tsan_atomic128_load, __tsan_atomic128_store, __tsan_atomic128_exchange, __tsan_atomic128_fetch_add,
    __tsan_atomic128_fetch_sub, __tsan_atomic128_fetch_and, __tsan_atomic128_fetch_or, __tsan_atomic128_fetch_xor,
    __tsan_atomic128_fetch_nand, __tsan_atomic128_compare_exchange_strong,
    __tsan_atomic128_compare_exchange_weak, __tsan_atomic128_compare_exchange_val);

stubs! {
    fn __tsan_atomic_thread_fence(order: i32) {
        if let Some(fiber) = watched() {
            fiber.count_operation();
            // All that others see of a thread is in order anyway.
            let is_step = !engine().brief.get() || fiber.is_stop_due();
            if !is_step && !engine().recorder.takes_all.get() {
                fence(SC);
                return;
            }
            if is_step {
                let site = caller();
                let op = Op { kind: EventKind::Fence, object: 0, size: 0, site, index: fiber.ops.get(), place: 0 };
                engine().point(op, None, None);
            }
            fiber.weakness.set(weakness(order));
            engine().recorder.note(EventKind::Fence, 0, 0, 0, 0);
            fiber.weakness.set(0);
        }
        fence(SC);
    }
    fn __tsan_atomic_signal_fence(order: i32) { std::sync::atomic::compiler_fence(SC) }
}
