//! Whom the process belongs to. The C library tells every kernel thread by a signal; here one kernel thread runs all threads, and the parked
//! ones, which run no program code, would never answer.

use std::ffi::{c_char, c_int};

use libc::{gid_t, uid_t};

use crate::interpose::{interpose, real};
use crate::sync::or_errno;
use crate::sys;

fn set(number: i64, ids: &[u32]) -> c_int {
    let mut args = [0; 6];
    for (arg, id) in args.iter_mut().zip(ids) {
        *arg = *id as usize;
    }
    // SAFETY: a system call on numbers.
    or_errno(-unsafe { sys::call(number, args) } as c_int)
}

/// Whether a system call changes the identity of the one kernel thread that makes it: the C library's functions change that of all.
pub fn changes_one_thread(number: i64) -> bool {
    matches!(
        number,
        libc::SYS_setuid
            | libc::SYS_setgid
            | libc::SYS_setreuid
            | libc::SYS_setregid
            | libc::SYS_setresuid
            | libc::SYS_setresgid
            | libc::SYS_setgroups
            | libc::SYS_setfsuid
            | libc::SYS_setfsgid
    )
}

/// The identity stays as it is.
const SAME: u32 = u32::MAX;

interpose! {
    /// Sets the user.
    fn setuid(user: uid_t) -> c_int { set(libc::SYS_setuid, &[user]) }
    /// Sets the group.
    fn setgid(group: gid_t) -> c_int { set(libc::SYS_setgid, &[group]) }
    /// Sets the user in whose name the process acts.
    fn seteuid(user: uid_t) -> c_int { set(libc::SYS_setresuid, &[SAME, user, SAME]) }
    /// Sets the group in whose name the process acts.
    fn setegid(group: gid_t) -> c_int { set(libc::SYS_setresgid, &[SAME, group, SAME]) }
    /// Sets two kinds of users.
    fn setreuid(real: uid_t, effective: uid_t) -> c_int { set(libc::SYS_setreuid, &[real, effective]) }
    /// Sets two kinds of groups.
    fn setregid(real: gid_t, effective: gid_t) -> c_int { set(libc::SYS_setregid, &[real, effective]) }
    /// Sets three kinds of users.
    fn setresuid(real: uid_t, effective: uid_t, saved: uid_t) -> c_int {
        set(libc::SYS_setresuid, &[real, effective, saved])
    }
    /// Sets three kinds of groups.
    fn setresgid(real: gid_t, effective: gid_t, saved: gid_t) -> c_int {
        set(libc::SYS_setresgid, &[real, effective, saved])
    }
    /// Sets the other groups.
    fn setgroups(count: usize, groups: *const gid_t) -> c_int {
        or_errno(-sys::call(libc::SYS_setgroups, [count, groups as usize, 0, 0, 0, 0]) as c_int)
    }
    /// Sets the other groups to those of a user.
    fn initgroups(user: *const c_char, group: gid_t) -> c_int {
        if crate::engine::engine().running.get() {
            crate::shared_memory::unsupported("initgroups() with threads running");
        }
        real!(initgroups as unsafe extern "C-unwind" fn(*const c_char, gid_t) -> c_int)(user, group)
    }
}
