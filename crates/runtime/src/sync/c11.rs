//! C11 threads. The C library builds them on inner functions that cannot be interposed, so each
//! is served here; the objects are those of pthreads underneath.

use std::ffi::{c_int, c_void};

use libc::timespec;

use super::{Limit, cond, mutex, once};
use crate::interpose::{interpose, site};
use crate::{program, thread_specific, time};

const SUCCESS: c_int = 0;
const BUSY: c_int = 1;
const ERROR: c_int = 2;
const NOMEM: c_int = 3;
const TIMEDOUT: c_int = 4;

/// The mutex types of `mtx_init`.
const MTX_RECURSIVE: c_int = 1;

fn result(error: c_int) -> c_int {
    match error {
        0 => SUCCESS,
        libc::EBUSY => BUSY,
        libc::ETIMEDOUT => TIMEDOUT,
        libc::ENOMEM | libc::EAGAIN => NOMEM,
        _ => ERROR,
    }
}

type Start = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;

/// What a C11 thread has to run, on its way to the new thread.
struct Call {
    start: Start,
    argument: *mut c_void,
}

unsafe extern "C-unwind" fn run(call: *mut c_void) -> *mut c_void {
    // SAFETY: made by `thrd_create` for this thread alone.
    let call = unsafe { *Box::from_raw(call.cast::<Call>()) };
    // SAFETY: the program gave the routine and its argument.
    unsafe { (call.start)(call.argument) as isize as *mut c_void }
}

interpose! {
    /// Creates a thread.
    fn thrd_create(thread: *mut libc::pthread_t, start: Start, argument: *mut c_void) -> c_int {
        let pc = site();
        let given = (start as usize).rotate_left(usize::BITS / 2) ^ argument as usize;
        let call = Box::into_raw(Box::new(Call { start, argument }));
        result(program::pthreads::create(thread, std::ptr::null(), run, call.cast(), given, pc))
    }
    /// Waits for a thread's end.
    fn thrd_join(thread: libc::pthread_t, code: *mut c_int) -> c_int {
        let pc = site();
        let mut value: *mut c_void = std::ptr::null_mut();
        let error = program::pthreads::join(thread, &mut value, Limit::Forever, pc);
        if error == 0 && !code.is_null() {
            *code = value as isize as c_int;
        }
        result(error)
    }
    /// Lets a thread go.
    fn thrd_detach(thread: libc::pthread_t) -> c_int {
        let pc = site();
        result(program::pthreads::detach(thread, &CALLED, pc))
    }
    /// Ends the thread.
    fn thrd_exit(code: c_int) {
        crate::cancel::exit_thread(code as isize as *mut c_void)
    }
    /// Yields.
    fn thrd_yield() {
        time::give_way(site());
    }
    /// Sleeps in virtual time.
    fn thrd_sleep(length: *const timespec, left: *mut timespec) -> c_int {
        let pc = site();
        match time::nanoseconds(length) {
            Some(nanoseconds) => {
                time::sleep_virtually(nanoseconds, pc);
                0
            }
            None => -2,
        }
    }
    /// Initialises a mutex.
    fn mtx_init(mutex: *mut libc::pthread_mutex_t, kind: c_int) -> c_int {
        let pc = site();
        mutex::init_plain(mutex as usize, kind & MTX_RECURSIVE != 0, pc);
        SUCCESS
    }
    /// Destroys a mutex.
    fn mtx_destroy(mutex: *mut libc::pthread_mutex_t) {
        mutex::destroy(mutex as usize, true, site());
    }
    /// Locks a mutex.
    fn mtx_lock(mutex: *mut libc::pthread_mutex_t) -> c_int {
        let pc = site();
        result(mutex::lock(mutex::at(mutex as usize), Limit::Forever, pc))
    }
    /// Locks a mutex if it is free.
    fn mtx_trylock(mutex: *mut libc::pthread_mutex_t) -> c_int {
        let pc = site();
        result(mutex::lock(mutex::at(mutex as usize), Limit::Try, pc))
    }
    /// Locks a mutex before a time.
    fn mtx_timedlock(mutex: *mut libc::pthread_mutex_t, until: *const timespec) -> c_int {
        let pc = site();
        match time::deadline(until) {
            Ok(limit) => result(mutex::lock(mutex::at(mutex as usize), limit, pc)),
            Err(_) => ERROR,
        }
    }
    /// Unlocks a mutex.
    fn mtx_unlock(mutex: *mut libc::pthread_mutex_t) -> c_int {
        let pc = site();
        result(mutex::unlock(mutex::at(mutex as usize), pc))
    }
    /// Initialises a condition variable.
    fn cnd_init(cond: *mut libc::pthread_cond_t) -> c_int {
        cond::init(cond as usize, site());
        SUCCESS
    }
    /// Destroys a condition variable.
    fn cnd_destroy(cond: *mut libc::pthread_cond_t) {
        cond::destroy(cond as usize, site());
    }
    /// Waits for a signal.
    fn cnd_wait(cond: *mut libc::pthread_cond_t, mutex: *mut libc::pthread_mutex_t) -> c_int {
        let pc = site();
        result(cond::wait(cond as usize, mutex::at(mutex as usize), Limit::Forever, pc))
    }
    /// Waits for a signal until a time.
    fn cnd_timedwait(cond: *mut libc::pthread_cond_t, mutex: *mut libc::pthread_mutex_t, until: *const timespec) -> c_int {
        let pc = site();
        match time::deadline(until) {
            Ok(limit) => result(cond::wait(cond as usize, mutex::at(mutex as usize), limit, pc)),
            Err(_) => ERROR,
        }
    }
    /// Wakes one waiter.
    fn cnd_signal(cond: *mut libc::pthread_cond_t) -> c_int {
        let pc = site();
        result(cond::signal(cond as usize, false, pc))
    }
    /// Wakes all waiters.
    fn cnd_broadcast(cond: *mut libc::pthread_cond_t) -> c_int {
        let pc = site();
        result(cond::signal(cond as usize, true, pc))
    }
    /// Runs a routine once.
    fn call_once(control: *mut c_int, routine: unsafe extern "C-unwind" fn()) {
        let pc = site();
        once::run(control, || routine(), pc);
    }
    /// Creates a key for thread-specific data.
    fn tss_create(key: *mut libc::pthread_key_t, destructor: Option<unsafe extern "C-unwind" fn(*mut c_void)>) -> c_int {
        result(thread_specific::create_key(key, destructor))
    }
    /// Deletes a key.
    fn tss_delete(key: libc::pthread_key_t) {
        thread_specific::delete_key(key);
    }
}
