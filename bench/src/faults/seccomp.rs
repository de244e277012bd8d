//! Has the system refuse one call to a process and all that it starts.

use std::io;

/// One instruction of the filter.
const fn op(code: u32, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt, jf, k }
}

/// From now on this call fails with this error. System calls only: it may be used between fork and exec.
pub fn refuse(call: u32, error: i32) -> io::Result<()> {
    const RETURN_ERROR: u32 = 0x0005_0000;
    const ALLOW: u32 = 0x7fff_0000;
    // The number of the call is the first word of what the filter sees.
    let filter = [
        op(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        op(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, call),
        op(libc::BPF_RET | libc::BPF_K, 0, 0, RETURN_ERROR | error as u32),
        op(libc::BPF_RET | libc::BPF_K, 0, 0, ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    // SAFETY: plain system calls; the filter lives until they return.
    unsafe {
        if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) != 0
        {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
