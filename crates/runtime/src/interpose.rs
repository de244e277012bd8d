//! Taking the place of C library functions, and reaching the originals.

use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::arch::{caller, entry_stack_pointer};

/// Whether this process is under control. If not, every interposer is a plain forwarder.
static CONTROLLED: AtomicBool = AtomicBool::new(false);

/// What the constructors of libraries ask for that must be the same in every run. The loader calls them before ours, if we do not need those
/// libraries: then control begins with the first such call.
const OF_CONSTRUCTORS: [&str; 10] = [
    "arc4random",
    "arc4random_buf",
    "arc4random_uniform",
    "clock_gettime",
    "getentropy",
    "getrandom",
    "gettimeofday",
    "syscall",
    "time",
    "_ZNSt13random_device9_M_getvalEv",
];

/// Whether control begins with a call of this function, if it has not begun.
pub const fn begins_control(name: &str) -> bool {
    let mut place = 0;
    while place < OF_CONSTRUCTORS.len() {
        if is_same(OF_CONSTRUCTORS[place].as_bytes(), name.as_bytes()) {
            return true;
        }
        place += 1;
    }
    false
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut place = 0;
    while place < one.len() && place < other.len() && one[place] == other[place] {
        place += 1;
    }
    place == one.len() && place == other.len()
}

/// Whether this process is under control.
#[inline(always)]
pub fn controlled() -> bool {
    CONTROLLED.load(Ordering::Relaxed)
}

/// Takes control, or lets it go for good.
pub fn set_controlled(on: bool) {
    CONTROLLED.store(on, Ordering::Relaxed);
}

/// The place in the program's own code from which the interposed function was reached: where the
/// call came through a system library, the nearest return address above it on the stack.
pub fn site() -> u64 {
    site_of(caller(), entry_stack_pointer())
}

/// The same for a call that returns to `pc`; the return address lies at the top of the stack.
pub fn site_of(pc: u64, stack: usize) -> u64 {
    let libraries = crate::engine::engine().world.libraries();
    if !libraries.is_system(pc) {
        return pc;
    }
    const WORDS: usize = 96;
    const PAGE: usize = 4096;
    // A handler's stack of its own may end anywhere.
    let is_usual = crate::engine::engine().host().stack_range().contains(&stack);
    let words = if is_usual { WORDS } else { WORDS.min((PAGE - stack % PAGE) / 8) };
    (1..words)
        // SAFETY: the stack above an active call is readable for at least its callers' frames;
        // a thread's block lies above the outermost one.
        .map(|word| unsafe { *((stack + word * 8) as *const u64) })
        .find(|address| libraries.is_program_return(*address))
        .unwrap_or(pc)
}

/// The place in instrumented code from which the interposed function was reached: what lies in between, such as
/// Rust's compiled standard library, means less to the programmer.
pub fn instrumented_site() -> u64 {
    let engine = crate::engine::engine();
    let called = engine.current().called_out_at(entry_stack_pointer()).next();
    called.filter(|pc| engine.world.libraries().is_program_return(*pc)).unwrap_or_else(site)
}

/// The address of the function that this library hides.
pub fn resolve(cell: &AtomicUsize, name: &CStr) -> usize {
    let known = cell.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    // Condition variables have an old version beside the current one, and plain look-ups may
    // find the old.
    let versioned = name.to_bytes().starts_with(b"pthread_cond_");
    // SAFETY: both look-ups take a C string and only read.
    let found = unsafe {
        let exact = if versioned {
            libc::dlvsym(libc::RTLD_NEXT, name.as_ptr(), c"GLIBC_2.3.2".as_ptr())
        } else {
            std::ptr::null_mut()
        };
        if exact.is_null() { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) } else { exact }
    };
    if found.is_null() {
        let name = name.to_string_lossy();
        crate::sys::die(&format!(
            "no library that is loaded has {name}; link the program with -Wl,--no-as-needed in front of the library"
        ));
    }
    cell.store(found as usize, Ordering::Relaxed);
    found as usize
}

/// The original of an interposed function, as a function pointer of the given type.
macro_rules! real {
    ($name:ident as $type:ty) => {{
        static CELL: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        const NAME: &std::ffi::CStr =
            match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("names have no zero byte"),
            };
        // SAFETY: the type written at the use is that of the C declaration.
        #[allow(unused_unsafe)]
        unsafe {
            std::mem::transmute::<usize, $type>(crate::interpose::resolve(&CELL, NAME))
        }
    }};
}

/// Declares exported functions that stand in for the C library's.
///
/// The exported symbol notes its return address and jumps to the body; an uncontrolled process
/// goes straight to the original.
macro_rules! interpose {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)? $body:block)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// As the C function of the same name.
        #[unsafe(naked)]
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub unsafe extern "C-unwind" fn $name($($arg: $type),*) $(-> $ret)? {
            #[allow(unused_variables)]
            unsafe extern "C-unwind" fn serve($($arg: $type),*) $(-> $ret)? {
                const BEGINS: bool = crate::interpose::begins_control(stringify!($name));
                if !crate::interpose::controlled() && !(BEGINS && crate::begin_early()) {
                    // SAFETY: the same arguments go to the same function.
                    return unsafe { crate::interpose::real!($name as unsafe extern "C-unwind" fn($($type),*) $(-> $ret)?)($($arg),*) };
                }
                // What the program has written is there now, and after this call the memory may not be.
                crate::engine::engine().recorder.complete_write();
                crate::spin::called();
                crate::thread_state_hash::called(&[$(crate::dependences::word(&$arg)),*]);
                const CALLED: crate::dependences::Called =
                    crate::dependences::Called::interposed(stringify!($name));
                if const { CALLED.is_worth_a_look() } {
                    crate::dependences::interposed_call(&CALLED, &[$(crate::dependences::word(&$arg)),*]);
                }
                #[allow(unused_unsafe)]
                // SAFETY: the body relies on what the C function demands of its caller.
                unsafe { $body }
            }
            crate::arch::enter!(serve)
        }
    )*};
}

/// Declares exported functions whose bodies serve processes that are not controlled as well: they know themselves when there is
/// nothing to do but what the C library does.
macro_rules! interpose_always {
    ($(fn $name:ident($($arg:ident: $type:ty),*) $(-> $ret:ty)? $body:block)*) => {$(
        /// Stands in for the C library's function, or wraps it.
        ///
        /// # Safety
        /// As the C function.
        #[unsafe(naked)]
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub unsafe extern "C-unwind" fn $name($($arg: $type),*) $(-> $ret)? {
            unsafe extern "C-unwind" fn serve($($arg: $type),*) $(-> $ret)? {
                // SAFETY: as the C function demands of its caller.
                unsafe { $body }
            }
            crate::arch::enter!(serve)
        }
    )*};
}

pub(crate) use interpose;
pub(crate) use interpose_always;
pub(crate) use real;
