//! Taking the place of C library functions, and reaching the originals.

use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Where the interposed call being served will return to. Read first thing by whoever needs it;
/// only one thread of a controlled program runs at a time, so one word is enough.
pub static CALLER: AtomicUsize = AtomicUsize::new(0);

/// How many registers a function keeps for its caller, the stack pointer included.
pub const KEPT: usize = 7;

/// What they held when the program last came into the runtime. The first is the stack pointer: the return
/// address lies there. With the memory they are all that the program goes on with.
pub static REGISTERS: [AtomicUsize; KEPT] = [const { AtomicUsize::new(0) }; KEPT];

/// The registers that the program goes on with.
pub fn registers() -> [usize; KEPT] {
    std::array::from_fn(|index| REGISTERS[index].load(Ordering::Relaxed))
}

/// Puts back what the program goes on with: it has been in the runtime otherwise since.
pub fn set_registers(registers: [usize; KEPT]) {
    for (place, value) in REGISTERS.iter().zip(registers) {
        place.store(value, Ordering::Relaxed);
    }
}

/// The instructions that note the registers; `{registers}` has to be [`REGISTERS`].
macro_rules! note_registers {
    () => {
        "mov [rip + {registers}], rsp\n\
         mov [rip + {registers} + 8], rbx\n\
         mov [rip + {registers} + 16], rbp\n\
         mov [rip + {registers} + 24], r12\n\
         mov [rip + {registers} + 32], r13\n\
         mov [rip + {registers} + 40], r14\n\
         mov [rip + {registers} + 48], r15"
    };
}

/// Whether this process is under control. If not, every interposer is a plain forwarder.
static CONTROLLED: AtomicBool = AtomicBool::new(false);

/// Whether this process is under control.
#[inline(always)]
pub fn controlled() -> bool {
    CONTROLLED.load(Ordering::Relaxed)
}

/// Takes control, or lets it go for good.
pub fn set_controlled(on: bool) {
    CONTROLLED.store(on, Ordering::Relaxed);
}

/// The code address that called the interposed function being served.
#[inline(always)]
pub fn caller() -> u64 {
    CALLER.load(Ordering::Relaxed) as u64
}

/// The place in the program's own code from which the interposed function was reached: where the
/// call came through a system library, the nearest return address above it on the stack.
pub fn site() -> u64 {
    let (pc, stack) = (caller(), REGISTERS[0].load(Ordering::Relaxed));
    let libraries = &crate::engine::engine().world.libraries;
    if !libraries.is_system(pc) {
        return pc;
    }
    const WORDS: usize = 96;
    (1..WORDS)
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
    let called = engine.current().called_out_at(REGISTERS[0].load(Ordering::Relaxed)).next();
    called.filter(|pc| engine.world.libraries.is_program_return(*pc)).unwrap_or_else(site)
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
        crate::sys::die(&format!("the C library has no {}", name.to_string_lossy()));
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
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($arg: $type),*) $(-> $ret)? {
            #[allow(unused_variables)]
            unsafe extern "C-unwind" fn serve($($arg: $type),*) $(-> $ret)? {
                if !crate::interpose::controlled() {
                    // SAFETY: the same arguments go to the same function.
                    return unsafe { crate::interpose::real!($name as unsafe extern "C-unwind" fn($($type),*) $(-> $ret)?)($($arg),*) };
                }
                crate::spin::called();
                #[allow(unused_unsafe)]
                // SAFETY: the body relies on what the C function demands of its caller.
                unsafe { $body }
            }
            crate::interpose::note_caller_and_jump!(serve)
        }
    )*};
}

/// The body of an exported stub: note the return address, go on in `$serve`.
macro_rules! note_caller_and_jump {
    ($serve:ident) => {
        std::arch::naked_asm!(
            "mov r11, [rsp]",
            "mov [rip + {caller}], r11",
            crate::interpose::note_registers!(),
            "jmp {serve}",
            caller = sym crate::interpose::CALLER,
            registers = sym crate::interpose::REGISTERS,
            serve = sym $serve,
        )
    };
}

pub(crate) use interpose;
pub(crate) use note_caller_and_jump;
pub(crate) use note_registers;
pub(crate) use real;
