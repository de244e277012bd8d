//! Waits that the world outside may end: descriptors and child processes.

use crate::engine::Engine;
use crate::sys;

/// Whether a descriptor is ready for these poll events.
pub fn is_ready(fd: i32, events: i16) -> bool {
    let mut poll = libc::pollfd { fd, events, revents: 0 };
    poll_raw(std::slice::from_mut(&mut poll), 0) != 0
}

/// Polls; the time is in milliseconds, negative for as long as it takes.
pub fn poll_raw(polls: &mut [libc::pollfd], milliseconds: i32) -> isize {
    let milliseconds = i64::from(milliseconds);
    let length = libc::timespec { tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000 };
    let length = if milliseconds < 0 { std::ptr::null() } else { &raw const length };
    // SAFETY: the slice and the time are valid for the call.
    unsafe {
        sys::call(libc::SYS_ppoll, [polls.as_mut_ptr() as usize, polls.len(), length as usize, 0, 8, 0])
    }
}

/// Sleeps until something outside may have happened. False if nothing outside can.
pub fn wait_for_any(engine: &Engine) -> bool {
    let mut polls = Vec::new();
    let mut blind = false;
    for wait in engine.threads.live().filter_map(|fiber| fiber.waits_for()) {
        blind |= wait.outside();
        for (fd, events) in wait.descriptors() {
            if engine.world.forked.get() || !engine.world.descriptors.borrow_mut().is_inner(fd) {
                polls.push(libc::pollfd { fd, events, revents: 0 });
            }
        }
    }
    if polls.is_empty() && !blind {
        return false;
    }
    // The driver's guard ends the run if nothing ever happens.
    poll_raw(&mut polls, if blind { 1 } else { -1 });
    true
}
