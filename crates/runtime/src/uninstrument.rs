//! Takes announcements out of the program's code that nobody wants: an access in a function that is not looked at costs nothing then.

use std::ffi::{c_int, c_void};
use std::ops::Range;

use threadbare_wire::CodeRange;

use crate::shared_memory::{Shared, lost_control};
use crate::{access, arch};

/// Replaces the calls that the driver has named since so many were replaced; returns how many are now. Called where none of them is in progress:
/// before any code of the program runs, and at the snapshot.
pub fn apply(shared: &Shared, done: u64) -> u64 {
    let count = shared.control().uninstrument;
    if count <= done {
        return done;
    }
    let program = Program::look();
    let code = program.code.clone();
    protect(&code, libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC);
    for place in (done..count).filter_map(|index| shared.uninstrument(index)) {
        let address = program.bias + place as usize;
        if code.contains(&address) && code.contains(&(address + arch::LONGEST_CALL)) {
            // SAFETY: within the program's code, which is writable now and not running yet.
            unsafe { arch::remove_call(address as *mut u8) };
        }
    }
    protect(&code, libc::PROT_READ | libc::PROT_EXEC);
    count
}

/// Takes all announcements of plain accesses out of these stretches of the program's code. Called where none of them is in progress.
///
/// The code is not disassembled: five bytes that call, through the loader's table, exactly one of these functions are taken for a call.
pub fn apply_to(ranges: &[CodeRange]) {
    let program = Program::look();
    let code = program.code.clone();
    let mut calls = Vec::new();
    for range in ranges {
        let range =
            (range.start as usize).max(code.start)..(range.end as usize).min(code.end - arch::LONGEST_CALL);
        for place in range {
            // SAFETY: within the program's code, with room for an instruction behind.
            if unsafe { arch::call_through_table(place, &code) }.is_some_and(access::announces) {
                calls.push(place);
            }
        }
    }
    if !calls.is_empty() {
        protect(&code, libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC);
        for place in calls {
            // SAFETY: a call in the program's code, which is writable now and not running.
            unsafe { arch::remove_call(place as *mut u8) };
        }
        protect(&code, libc::PROT_READ | libc::PROT_EXEC);
    }
}

/// What is added to the addresses in the executable's file.
pub fn bias() -> usize {
    Program::look().bias
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
