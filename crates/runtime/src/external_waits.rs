//! Waits that the world outside may end: descriptors and child processes.

mod inside;

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

/// How long what one thread has sent to another may be on its way, in milliseconds: nearly always it is there at once.
const ON_ITS_WAY: i32 = 50;

/// Sleeps until something outside may have happened. False if nothing outside can.
pub fn wait_for_any(engine: &Engine) -> bool {
    let (mut inner, mut outer) = (Vec::new(), Vec::new());
    let mut blind = false;
    for wait in engine.threads.live().filter_map(|fiber| fiber.waits_for()) {
        blind |= wait.outside();
        for (fd, events) in wait.descriptors() {
            let stays_within = !engine.world.forked.get() && inside::can_only_we_make_ready(fd);
            if stays_within { &mut inner } else { &mut outer }.push(libc::pollfd { fd, events, revents: 0 });
        }
    }
    if outer.is_empty() && !blind {
        return inner.iter().any(|poll| inside::takes_time(poll.fd)) && poll_raw(&mut inner, ON_ITS_WAY) > 0;
    }
    outer.append(&mut inner);
    // The driver's guard ends the run if nothing ever happens.
    poll_raw(&mut outer, if blind { 1 } else { -1 });
    true
}
