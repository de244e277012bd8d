//! Plain memory accesses: the hooks the compiler calls before each of them.

mod sharing;

use threadbare_sched::Op;
use threadbare_trace::EventKind;

pub use sharing::{expose, is_exposed, is_touched_by_others, must_be_allocated, touch_range, touch_word};
use sharing::{is_own, use_after_free};

use crate::engine::{engine, watched};
use crate::fiber::Fiber;
use crate::shadow::{self, Cell, FREED, GRAIN_BITS, MANY, OWNER, SHARED, WRITTEN};
use crate::thread_state_hash;

/// Reads up to eight bytes of program memory.
///
/// # Safety
/// The memory must be readable.
#[inline(always)]
pub unsafe fn load(addr: usize, size: u8) -> u64 {
    // SAFETY: as the caller vouches.
    unsafe {
        match size {
            1 => u64::from((addr as *const u8).read()),
            2 => u64::from((addr as *const u16).read_unaligned()),
            4 => u64::from((addr as *const u32).read_unaligned()),
            _ => (addr as *const u64).read_unaligned(),
        }
    }
}

/// Reads what the program is about to access; zero where it may not be read, and the program's own access says so.
fn load_if_there(addr: usize, size: u8) -> u64 {
    crate::signals::guarded_load(addr, size).unwrap_or(0)
}

/// Whether there is no memory for what the program is about to access, and a handler of the program for that.
fn faults_for_handler(addr: usize, size: u8) -> bool {
    let is_handled = engine().world.signals.handles_faults.get();
    is_handled && crate::signals::guarded_load(addr, size).is_none()
}

/// Whether an aligned access stays with the thread that owns the place (or only reads what
/// everybody only reads). This is the path that a million private accesses take.
#[inline(always)]
unsafe fn is_private<const SIZE: usize, const WRITE: bool>(cell: *const Cell, tag: Cell) -> bool {
    #[inline(always)]
    fn one<const WRITE: bool>(cell: Cell, tag: Cell) -> bool {
        if WRITE {
            cell & (OWNER | WRITTEN | MANY | SHARED | FREED) == tag | WRITTEN
        } else {
            cell & (OWNER | MANY | SHARED | FREED) == tag || cell & (WRITTEN | MANY | SHARED | FREED) == MANY
        }
    }
    // SAFETY: an access covers SIZE / 4 cells.
    unsafe { (0..SIZE.div_ceil(1 << GRAIN_BITS)).all(|index| one::<WRITE>(*cell.add(index), tag)) }
}

/// Goes on where the hooks' short way ends: the place is not simply the thread's own.
unsafe fn plain<const SIZE: usize, const WRITE: bool, const VOLATILE: bool>(addr: usize, pc: u64) {
    let Some(fiber) = watched() else { return };
    // SAFETY: as the hook vouches.
    unsafe {
        if !fiber.is_stop_due() && is_private::<SIZE, WRITE>(shadow::cell(addr), fiber.tag) {
            if engine().world.state_hashes.borrow_mut().are_wanted() {
                thread_state_hash::touch(engine(), addr, SIZE, WRITE, pc);
            }
            return;
        }
        fiber.volatile_access.set(VOLATILE);
        serve_watched(fiber, addr, SIZE, WRITE, pc);
        fiber.volatile_access.set(false);
    }
}

/// The slow path: somebody else may have touched the place.
#[cold]
#[inline(never)]
unsafe fn serve_watched(fiber: &'static Fiber, addr: usize, size: usize, write: bool, pc: u64) {
    // SAFETY: the runtime is up.
    let (shared, index, due) = unsafe {
        fiber.set_site(pc);
        // What a handler has on the stack of its thread lies where the thread had other things.
        if (fiber.own_stack.get().0..fiber.own_stack.get().1).contains(&addr) && !fiber.is_stop_due() {
            return;
        }
        let is_guarded = engine().brief.get()
            && engine().world.guarding_locks.is_plainly_guarded(fiber, addr, size, write);
        if is_guarded || engine().passes_over(pc) {
            return;
        }
        (touch_range(fiber, addr, size, write), fiber.ops.get(), fiber.is_stop_due())
    };
    let engine = engine();
    if !shared && engine.world.state_hashes.borrow_mut().are_wanted() {
        thread_state_hash::touch(engine, addr, size, write, pc);
    }
    if !shared && !due {
        return;
    }
    if shared
        && engine.brief.get()
        && (engine.is_alone() || engine.world.guarding_locks.is_guarded(fiber, addr, size))
        && !due
    {
        return;
    }
    let in_stretch = !shared && engine.is_in_private_stretch();
    let whole = size <= 8;
    let kind = match (whole, write) {
        (true, false) => EventKind::Read,
        (true, true) => EventKind::Write,
        (false, false) => EventKind::ReadRange,
        (false, true) => EventKind::WriteRange,
    };
    let op = Op { kind, object: addr as u64, size: size as u32, site: pc, index, place: 0 };
    if in_stretch {
        if !engine.yield_to_others(op) {
            return;
        }
    } else {
        engine.point(op, None, None);
        if shared && fiber.volatile_access.get() && engine.running.get() {
            crate::dependences::note_weak_order(pc);
        }
        if !shared {
            fiber.was_a_look();
        } else if kind == EventKind::Write {
            crate::dependences::note_plain_write(pc);
        }
    }
    // SAFETY: the notes may have changed while others ran; the program is about to make the
    // access itself, so the memory is there or the program is about to crash on its own.
    unsafe {
        if *shadow::cell(addr) & FREED != 0 {
            // The fatal access belongs to the story.
            let (size, value) =
                if whole { (size as u8, load_if_there(addr, size as u8)) } else { (0, size as u64) };
            engine.recorder.note(kind, addr, size, value, value);
            use_after_free(addr, write);
        }
        if whole && faults_for_handler(addr, size as u8) {
            // Nothing is accessed if the program's handler jumps out. If it has memory put there, nobody is told what was accessed.
            crate::dependences::note_unrecorded(kind, pc);
            return;
        }
        match (whole, write) {
            (true, false) => {
                let value = load_if_there(addr, size as u8);
                engine.recorder.note(kind, addr, size as u8, value, value);
                fiber.saw(pc, addr as u64, value);
            }
            (true, true) => engine.recorder.begin_write(addr, size as u8, load_if_there(addr, size as u8)),
            (false, _) => {
                engine.recorder.note(kind, addr, 0, size as u64, 0);
                if write {
                    engine.changed();
                }
            }
        }
    }
}

/// Whether a function of this address announces plain accesses of a few bytes, and does nothing else.
pub fn announces(function: usize) -> bool {
    let functions: [unsafe extern "C-unwind" fn(usize); 16] = [
        __tsan_read1,
        __tsan_read2,
        __tsan_read4,
        __tsan_read8,
        __tsan_read16,
        __tsan_write1,
        __tsan_write2,
        __tsan_write4,
        __tsan_write8,
        __tsan_write16,
        __tsan_unaligned_read2,
        __tsan_unaligned_read4,
        __tsan_unaligned_read8,
        __tsan_unaligned_write2,
        __tsan_unaligned_write4,
        __tsan_unaligned_write8,
    ];
    functions.iter().any(|known| *known as usize == function)
}

/// An access to a whole range, as one step.
///
/// # Safety
/// As the access itself.
pub unsafe fn range(addr: usize, size: usize, write: bool, pc: u64) {
    let Some(fiber) = watched().filter(|_| size != 0) else { return };
    // SAFETY: as the caller vouches.
    unsafe {
        fiber.count_operation();
        let due = fiber.is_stop_due();
        if !due && is_own(fiber, addr, size, write) && !engine().world.state_hashes.borrow_mut().are_wanted()
        {
            return;
        }
        fiber.volatile_access.set(false);
        serve_watched(fiber, addr, size, write, pc);
    }
}

/// The hooks of aligned accesses: by which cells, which of their bits, and which tag of the fiber a private one is known.
macro_rules! hooks {
    ($($name:ident, $size:literal, $write:literal, $volatile:literal, $cells:ident, $mask:expr, $tag:ident;)*) => {$(
        /// Announces an access of the size and kind in its name.
        ///
        /// # Safety
        /// Called by instrumented code with the address it is about to access.
        #[unsafe(naked)]
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub unsafe extern "C-unwind" fn $name(_addr: usize) {
            unsafe extern "C-unwind" fn serve(addr: usize, pc: u64) {
                // SAFETY: the stub passes the program's own address.
                unsafe { plain::<$size, $write, $volatile>(addr, pc) }
            }
            crate::arch::enter_unless_private!(serve, $cells, $mask, $tag)
        }
    )*};
}

/// What a read compares with the owner: whether the place was written does not matter.
const READ: i32 = (OWNER | MANY | SHARED | FREED) as i32;
/// The same for two cells at once.
const READ_BOTH: i32 = READ | READ << 16;
/// A write compares everything.
const WRITE: i32 = 0xffff;
const WRITE_BOTH: i32 = -1;

hooks! {
    __tsan_read1, 1, false, false, one, READ, owns;
    __tsan_write1, 1, true, false, one, WRITE, owns_written;
    __tsan_read2, 2, false, false, one, READ, owns;
    __tsan_write2, 2, true, false, one, WRITE, owns_written;
    __tsan_read4, 4, false, false, one, READ, owns;
    __tsan_write4, 4, true, false, one, WRITE, owns_written;
    __tsan_read8, 8, false, false, two, READ_BOTH, owns_both;
    __tsan_write8, 8, true, false, two, WRITE_BOTH, owns_both_written;
    __tsan_volatile_read1, 1, false, true, one, READ, owns;
    __tsan_volatile_write1, 1, true, true, one, WRITE, owns_written;
    __tsan_volatile_read2, 2, false, true, one, READ, owns;
    __tsan_volatile_write2, 2, true, true, one, WRITE, owns_written;
    __tsan_volatile_read4, 4, false, true, one, READ, owns;
    __tsan_volatile_write4, 4, true, true, one, WRITE, owns_written;
    __tsan_volatile_read8, 8, false, true, two, READ_BOTH, owns_both;
    __tsan_volatile_write8, 8, true, true, two, WRITE_BOTH, owns_both_written;
    __tsan_vptr_read, 8, false, false, two, READ_BOTH, owns_both;
}

macro_rules! unaligned_hooks {
    ($($name:ident, $size:literal, $write:literal;)*) => {$(
        /// Announces an access that may straddle words.
        ///
        /// # Safety
        /// Called by instrumented code with the address it is about to access.
        #[unsafe(naked)]
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub unsafe extern "C-unwind" fn $name(_addr: usize) {
            unsafe extern "C-unwind" fn serve(addr: usize, pc: u64) {
                // SAFETY: the stub passes the program's own address.
                unsafe { range(addr, $size, $write, pc) }
            }
            crate::arch::enter_with_caller!(serve, 1)
        }
    )*};
}

unaligned_hooks! {
    __tsan_read16, 16, false; __tsan_write16, 16, true;
    __tsan_volatile_read16, 16, false; __tsan_volatile_write16, 16, true;
    __tsan_unaligned_read2, 2, false; __tsan_unaligned_read4, 4, false;
    __tsan_unaligned_read8, 8, false; __tsan_unaligned_read16, 16, false;
    __tsan_unaligned_write2, 2, true; __tsan_unaligned_write4, 4, true;
    __tsan_unaligned_write8, 8, true; __tsan_unaligned_write16, 16, true;
    __tsan_unaligned_volatile_read2, 2, false; __tsan_unaligned_volatile_read4, 4, false;
    __tsan_unaligned_volatile_read8, 8, false; __tsan_unaligned_volatile_read16, 16, false;
    __tsan_unaligned_volatile_write2, 2, true; __tsan_unaligned_volatile_write4, 4, true;
    __tsan_unaligned_volatile_write8, 8, true; __tsan_unaligned_volatile_write16, 16, true;
}

macro_rules! paired_hooks {
    ($($name:ident, $size:literal;)*) => {$(
        /// Announces a read and a write of the same place (clang's compound form).
        ///
        /// # Safety
        /// Called by instrumented code with the address it is about to access.
        #[unsafe(naked)]
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub unsafe extern "C-unwind" fn $name(_addr: usize) {
            unsafe extern "C-unwind" fn serve(addr: usize, pc: u64) {
                // SAFETY: the stub passes the program's own address.
                unsafe {
                    range(addr, $size, false, pc);
                    range(addr, $size, true, pc);
                }
            }
            crate::arch::enter_with_caller!(serve, 1)
        }
    )*};
}

paired_hooks! {
    __tsan_read_write1, 1; __tsan_read_write2, 2; __tsan_read_write4, 4; __tsan_read_write8, 8;
    __tsan_read_write16, 16; __tsan_unaligned_read_write2, 2; __tsan_unaligned_read_write4, 4;
    __tsan_unaligned_read_write8, 8; __tsan_unaligned_read_write16, 16;
}

macro_rules! range_hooks {
    ($($name:ident, $write:literal;)*) => {$(
        /// Announces an access to a whole range (for a virtual table pointer: its new value).
        ///
        /// # Safety
        /// Called by instrumented code with the range it is about to access.
        #[unsafe(naked)]
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub unsafe extern "C-unwind" fn $name(_addr: usize, _size: usize) {
            unsafe extern "C-unwind" fn serve(addr: usize, size: usize, pc: u64) {
                // SAFETY: the stub passes the program's own range.
                unsafe { range(addr, size, $write, pc) }
            }
            crate::arch::enter_with_caller!(serve, 2)
        }
    )*};
}

range_hooks! { __tsan_read_range, false; __tsan_write_range, true; }

/// Announces the write of a virtual table pointer.
///
/// # Safety
/// Called by instrumented code.
#[unsafe(naked)]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C-unwind" fn __tsan_vptr_update(_place: usize, _value: usize) {
    unsafe extern "C-unwind" fn serve(place: usize, value: usize, pc: u64) {
        // SAFETY: the stub passes the program's own address. A pointer that does not change
        // cannot be seen to change.
        unsafe {
            if *(place as *const usize) != value {
                range(place, 8, true, pc);
            }
        }
    }
    crate::arch::enter_with_caller!(serve, 2)
}
