//! What is done before `main`.
//!
//! Rust's own start, and every lock, end the process without a word where a sandbox refuses them a system call. So it is looked at first whether
//! they can work, and said where they cannot. And a file that grows beyond the user's limit has to be an error of writing, which is
//! reported, rather than the end.

use std::ptr;

/// A call that is looked at: its name, and whether it is refused.
type Look = (&'static str, fn() -> bool);

const LOOKS: [Look; 3] =
    [("futex", refuses_futex), ("poll", refuses_poll), ("rt_sigaction", refuses_sigaction)];

// SAFETY: the section holds pointers to such functions, which the loader calls once, when the C library is ready.
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = before_main;

extern "C" fn before_main() {
    for (name, is_refused) in LOOKS {
        if is_refused() {
            say(&[
                "threadbare: the system refuses the call ",
                name,
                ", without which nothing works; let the sandbox allow it\n",
            ]);
            // SAFETY: ends the process, in which nothing has begun.
            unsafe { libc::_exit(i32::from(crate::UNABLE)) };
        }
    }
    // SAFETY: the structure is ours and valid when zeroed; the handler does nothing. Programs that are started do not inherit it.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = ignore as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGXFSZ, &raw const action, ptr::null_mut());
    }
}

extern "C" fn ignore(_signal: libc::c_int) {}

fn refuses_futex() -> bool {
    let word = 0_u32;
    // SAFETY: wakes nobody who waits for a word of ours.
    unsafe {
        libc::syscall(libc::SYS_futex, &raw const word, libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1) < 0
    }
}

fn refuses_poll() -> bool {
    // SAFETY: asks about no descriptor.
    unsafe { libc::poll(ptr::null_mut(), 0, 0) < 0 }
}

fn refuses_sigaction() -> bool {
    // SAFETY: asks for what holds, into a structure of ours.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGPIPE, ptr::null(), &raw mut action) < 0
    }
}

/// Says it with system calls alone.
fn say(parts: &[&str]) {
    for part in parts {
        // SAFETY: the bytes are those of the text.
        unsafe { libc::write(libc::STDERR_FILENO, part.as_ptr().cast(), part.len()) };
    }
}
