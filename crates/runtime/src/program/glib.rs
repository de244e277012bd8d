//! GLib's locks, conditions and queues, as programs call them.
//!
//! GLib makes them of words of its own, which it changes by instructions that nobody sees before it makes a system call. What only the program
//! uses (locks, conditions, what is run once) is served here as the C library's are. A queue is the library's own: calls of one
//! queue are ordered as if each held a lock.

use std::ffi::{c_char, c_int, c_void};

use crate::annotations::{acquire, release};
use crate::atomics;
use crate::interpose::{interpose, real, site};
use crate::sync::{Limit, cond, mutex, once, rwlock, step};
use crate::time;
use threadbare_trace::EventKind;

type Routine = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;
type Compare = unsafe extern "C-unwind" fn(*const c_void, *const c_void, *mut c_void) -> c_int;

/// The order of an atomic store that others may rely on.
const RELEASE: c_int = 3;

/// GLib's `gboolean`.
fn truth(is_so: bool) -> c_int {
    c_int::from(is_so)
}

/// `GOnce`.
#[repr(C)]
pub struct Once {
    status: c_int,
    result: *mut c_void,
}

/// A time of GLib's monotonic clock, in microseconds.
fn until(microseconds: i64) -> Limit {
    let microseconds = microseconds.max(0);
    let time = libc::timespec { tv_sec: microseconds / 1_000_000, tv_nsec: microseconds % 1_000_000 * 1000 };
    time::deadline_on(libc::CLOCK_MONOTONIC, &time).unwrap_or(Limit::Forever)
}

/// A call of a queue's function: it comes after all earlier calls of the same queue.
macro_rules! of_queue {
    ($name:ident($queue:ident $(, $argument:ident: $type:ty)*) $(-> $ret:ty)?) => {{
        step(EventKind::OnceEnd, $queue as usize, site());
        release($queue as usize);
        let result = real!($name as unsafe extern "C-unwind" fn(*mut c_void $(, $type)*) $(-> $ret)?)($queue $(, $argument)*);
        acquire($queue as usize);
        result
    }};
}

interpose! {
    /// Initialises a mutex.
    fn g_mutex_init(lock: *mut c_char) { mutex::begin_plain(lock as usize, site()) }
    /// Destroys a mutex.
    fn g_mutex_clear(lock: *mut c_char) { mutex::end_life(lock as usize, false, site()) }
    /// Takes a mutex.
    fn g_mutex_lock(lock: *mut c_char) {
        let pc = site();
        mutex::lock(mutex::plain_at(lock as usize), Limit::Forever, pc);
    }
    /// Takes a mutex if it is free.
    fn g_mutex_trylock(lock: *mut c_char) -> c_int {
        let pc = site();
        truth(mutex::lock(mutex::plain_at(lock as usize), Limit::Try, pc) == 0)
    }
    /// Gives a mutex back.
    fn g_mutex_unlock(lock: *mut c_char) {
        let pc = site();
        mutex::unlock(mutex::plain_at(lock as usize), pc);
    }
    /// Initialises a mutex that its owner may take again.
    fn g_rec_mutex_init(lock: *mut c_char) { mutex::begin_recursive(lock as usize, site()) }
    /// Destroys it.
    fn g_rec_mutex_clear(lock: *mut c_char) { mutex::end_life(lock as usize, false, site()) }
    /// Takes it.
    fn g_rec_mutex_lock(lock: *mut c_char) {
        let pc = site();
        mutex::lock(mutex::recursive_at(lock as usize), Limit::Forever, pc);
    }
    /// Takes it if nobody else has it.
    fn g_rec_mutex_trylock(lock: *mut c_char) -> c_int {
        let pc = site();
        truth(mutex::lock(mutex::recursive_at(lock as usize), Limit::Try, pc) == 0)
    }
    /// Gives it back.
    fn g_rec_mutex_unlock(lock: *mut c_char) {
        let pc = site();
        mutex::unlock(mutex::recursive_at(lock as usize), pc);
    }
    /// Initialises a read-write lock.
    fn g_rw_lock_init(lock: *mut c_char) { rwlock::init(rwlock::plain(lock as usize), site()) }
    /// Destroys a read-write lock.
    fn g_rw_lock_clear(lock: *mut c_char) { rwlock::destroy(lock as usize, site()); }
    /// Locks for writing.
    fn g_rw_lock_writer_lock(lock: *mut c_char) {
        let pc = site();
        rwlock::acquire(rwlock::plain(lock as usize), true, Limit::Forever, pc);
    }
    /// Locks for writing if that is possible at once.
    fn g_rw_lock_writer_trylock(lock: *mut c_char) -> c_int {
        let pc = site();
        truth(rwlock::acquire(rwlock::plain(lock as usize), true, Limit::Try, pc) == 0)
    }
    /// Ends writing.
    fn g_rw_lock_writer_unlock(lock: *mut c_char) {
        let pc = site();
        rwlock::release(lock as usize, pc);
    }
    /// Locks for reading.
    fn g_rw_lock_reader_lock(lock: *mut c_char) {
        let pc = site();
        rwlock::acquire(rwlock::plain(lock as usize), false, Limit::Forever, pc);
    }
    /// Locks for reading if that is possible at once.
    fn g_rw_lock_reader_trylock(lock: *mut c_char) -> c_int {
        let pc = site();
        truth(rwlock::acquire(rwlock::plain(lock as usize), false, Limit::Try, pc) == 0)
    }
    /// Ends reading.
    fn g_rw_lock_reader_unlock(lock: *mut c_char) {
        let pc = site();
        rwlock::release(lock as usize, pc);
    }
    /// Initialises a condition.
    fn g_cond_init(condition: *mut c_char) { cond::init(condition as usize, site()) }
    /// Destroys a condition.
    fn g_cond_clear(condition: *mut c_char) { cond::destroy(condition as usize, site()); }
    /// Waits for a signal.
    fn g_cond_wait(condition: *mut c_char, lock: *mut c_char) {
        let pc = site();
        cond::wait(condition as usize, mutex::plain_at(lock as usize), Limit::Forever, pc);
    }
    /// Waits for a signal until a time; says whether one came.
    fn g_cond_wait_until(condition: *mut c_char, lock: *mut c_char, end: i64) -> c_int {
        let pc = site();
        truth(cond::wait(condition as usize, mutex::plain_at(lock as usize), until(end), pc) == 0)
    }
    /// Wakes one waiter.
    fn g_cond_signal(condition: *mut c_char) {
        let pc = site();
        cond::signal(condition as usize, false, pc);
    }
    /// Wakes all waiters.
    fn g_cond_broadcast(condition: *mut c_char) {
        let pc = site();
        cond::signal(condition as usize, true, pc);
    }
    /// Runs a routine once, and gives its result. Programs look at the status first.
    fn g_once_impl(control: *mut Once, routine: Routine, argument: *mut c_void) -> *mut c_void {
        const READY: u32 = 2;
        let pc = site();
        once::run(&raw mut (*control).status, || {
            (*control).result = routine(argument);
            atomics::store(&raw mut (*control).status as usize, READY, RELEASE);
        }, pc);
        (*control).result
    }
    /// Says whether the caller is to make what the word stands for; others wait until it has.
    fn g_once_init_enter(word: *mut usize) -> c_int {
        let pc = site();
        truth(once::begin(word as usize, || *word != 0, pc))
    }
    /// It is made.
    fn g_once_init_leave(word: *mut usize, value: usize) {
        let pc = site();
        atomics::store(word as usize, value as u64, RELEASE);
        once::end(word as usize, true, pc);
    }
    /// The same as `g_once_init_enter`.
    fn g_once_init_enter_pointer(word: *mut usize) -> c_int {
        let pc = site();
        truth(once::begin(word as usize, || *word != 0, pc))
    }
    /// The same as `g_once_init_leave`.
    fn g_once_init_leave_pointer(word: *mut usize, value: usize) {
        let pc = site();
        atomics::store(word as usize, value as u64, RELEASE);
        once::end(word as usize, true, pc);
    }
    /// Appends to a queue.
    fn g_async_queue_push(queue: *mut c_void, item: *mut c_void) {
        of_queue!(g_async_queue_push(queue, item: *mut c_void))
    }
    /// The same, by who holds its lock.
    fn g_async_queue_push_unlocked(queue: *mut c_void, item: *mut c_void) {
        of_queue!(g_async_queue_push_unlocked(queue, item: *mut c_void))
    }
    /// Puts something where a queue begins.
    fn g_async_queue_push_front(queue: *mut c_void, item: *mut c_void) {
        of_queue!(g_async_queue_push_front(queue, item: *mut c_void))
    }
    /// The same, by who holds its lock.
    fn g_async_queue_push_front_unlocked(queue: *mut c_void, item: *mut c_void) {
        of_queue!(g_async_queue_push_front_unlocked(queue, item: *mut c_void))
    }
    /// Puts something where it belongs.
    fn g_async_queue_push_sorted(queue: *mut c_void, item: *mut c_void, compare: Compare, data: *mut c_void) {
        of_queue!(g_async_queue_push_sorted(queue, item: *mut c_void, compare: Compare, data: *mut c_void))
    }
    /// The same, by who holds its lock.
    fn g_async_queue_push_sorted_unlocked(queue: *mut c_void, item: *mut c_void, compare: Compare, data: *mut c_void) {
        of_queue!(g_async_queue_push_sorted_unlocked(queue, item: *mut c_void, compare: Compare, data: *mut c_void))
    }
    /// Takes the first, once there is one.
    fn g_async_queue_pop(queue: *mut c_void) -> *mut c_void {
        of_queue!(g_async_queue_pop(queue) -> *mut c_void)
    }
    /// The same, by who holds its lock.
    fn g_async_queue_pop_unlocked(queue: *mut c_void) -> *mut c_void {
        of_queue!(g_async_queue_pop_unlocked(queue) -> *mut c_void)
    }
    /// Takes the first, if there is one.
    fn g_async_queue_try_pop(queue: *mut c_void) -> *mut c_void {
        of_queue!(g_async_queue_try_pop(queue) -> *mut c_void)
    }
    /// The same, by who holds its lock.
    fn g_async_queue_try_pop_unlocked(queue: *mut c_void) -> *mut c_void {
        of_queue!(g_async_queue_try_pop_unlocked(queue) -> *mut c_void)
    }
    /// Takes the first, if there is one before a time has passed.
    fn g_async_queue_timeout_pop(queue: *mut c_void, microseconds: u64) -> *mut c_void {
        of_queue!(g_async_queue_timeout_pop(queue, microseconds: u64) -> *mut c_void)
    }
    /// The same, by who holds its lock.
    fn g_async_queue_timeout_pop_unlocked(queue: *mut c_void, microseconds: u64) -> *mut c_void {
        of_queue!(g_async_queue_timeout_pop_unlocked(queue, microseconds: u64) -> *mut c_void)
    }
    /// How long a queue is, less those who wait.
    fn g_async_queue_length(queue: *mut c_void) -> c_int {
        of_queue!(g_async_queue_length(queue) -> c_int)
    }
    /// The same, by who holds its lock.
    fn g_async_queue_length_unlocked(queue: *mut c_void) -> c_int {
        of_queue!(g_async_queue_length_unlocked(queue) -> c_int)
    }
    /// Takes a queue's lock.
    fn g_async_queue_lock(queue: *mut c_void) { of_queue!(g_async_queue_lock(queue)) }
    /// Gives it back.
    fn g_async_queue_unlock(queue: *mut c_void) { of_queue!(g_async_queue_unlock(queue)) }
}
