//! Takes announcements out of the program's code that nobody wants: an access in a function that is not looked at costs nothing then.

use std::ffi::{c_int, c_void};
use std::ops::Range;

use crate::record::{Shared, lost_control};

/// A call and a jump by a distance, and a call through a table.
const CALL: u8 = 0xe8;
const JUMP: u8 = 0xe9;
const CALL_THROUGH: [u8; 2] = [0xff, 0x15];

/// Replaces the calls that the driver has named since so many were replaced; returns how many are now. Called where none of them is in progress:
/// before any code of the program runs, and at the snapshot.
pub fn apply(shared: &Shared, done: u64) -> u64 {
    let count = shared.control().quiet;
    if count <= done {
        return done;
    }
    let program = Program::look();
    let code = program.code.clone();
    protect(&code, libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC);
    for place in (done..count).filter_map(|index| shared.quiet(index)) {
        let address = program.bias + place as usize;
        if code.contains(&address) && code.contains(&(address + 6)) {
            // SAFETY: within the program's code, which is writable now and not running yet.
            unsafe { silence(address as *mut u8) };
        }
    }
    protect(&code, libc::PROT_READ | libc::PROT_EXEC);
    count
}

/// # Safety
/// The place must be code that nobody runs.
unsafe fn silence(place: *mut u8) {
    // SAFETY: as the caller vouches.
    let opcode = unsafe { [*place, *place.add(1)] };
    let nothing: &[u8] = match opcode {
        [CALL, _] => &[0x0f, 0x1f, 0x44, 0x00, 0x00],
        // The last thing a function does: it returns instead.
        [JUMP, _] => &[0xc3],
        CALL_THROUGH => &[0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
        _ => return,
    };
    // SAFETY: as the caller vouches; no longer than the instruction that stood there.
    unsafe { std::ptr::copy_nonoverlapping(nothing.as_ptr(), place, nothing.len()) };
}

fn protect(code: &Range<usize>, protection: c_int) {
    let start = code.start & !4095;
    // SAFETY: whole pages of the program's own code, whose contents stay.
    if unsafe { libc::mprotect(start as *mut c_void, code.end - start, protection) } != 0 {
        lost_control("the system does not allow threadbare to change the program's code in memory");
    }
}

/// Where the executable is in memory.
struct Program {
    /// What is added to the addresses in its file.
    bias: usize,
    code: Range<usize>,
}

impl Program {
    fn look() -> Program {
        let mut program = Program { bias: 0, code: 0..0 };
        // SAFETY: the callback gets this very place back while the call lasts.
        unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut program).cast()) };
        program
    }
}

/// The loader names the executable first.
unsafe extern "C" fn first(info: *mut libc::dl_phdr_info, _size: usize, into: *mut c_void) -> c_int {
    // SAFETY: the loader passes valid records; `into` is the caller's `Program`.
    unsafe {
        let (info, program) = (&*info, &mut *into.cast::<Program>());
        program.bias = info.dlpi_addr as usize;
        for header in std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize) {
            if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0 {
                let start = program.bias + header.p_vaddr as usize;
                program.code = start..start + header.p_memsz as usize;
            }
        }
    }
    1
}
