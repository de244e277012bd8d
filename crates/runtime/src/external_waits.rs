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
    poll_for(polls, u64::try_from(milliseconds).ok().map(|milliseconds| milliseconds * 1_000_000))
}

/// Polls for so many nanoseconds, or for as long as it takes.
fn poll_for(polls: &mut [libc::pollfd], nanoseconds: Option<u64>) -> isize {
    let length = nanoseconds.map(crate::time::to_timespec);
    let length = length.as_ref().map_or(0, |length| std::ptr::from_ref(length) as usize);
    // SAFETY: the slice and the time are valid for the call.
    unsafe { sys::call(libc::SYS_ppoll, [polls.as_mut_ptr() as usize, polls.len(), length, 0, 8, 0]) }
}

/// How long what one thread has sent to another may be on its way, in milliseconds: nearly always it is there at once.
const ON_ITS_WAY: i32 = 50;

/// What threads wait for.
#[derive(Default)]
struct Awaited {
    /// Descriptors that only this process can make ready.
    inner: Vec<libc::pollfd>,
    /// All others.
    outer: Vec<libc::pollfd>,
    /// Something outside that has no descriptor.
    blind: bool,
}

impl Awaited {
    fn now(engine: &Engine) -> Awaited {
        let mut awaited = Awaited::default();
        for wait in engine.threads.live().filter_map(|fiber| fiber.waits_for()) {
            awaited.blind |= wait.outside();
            for (fd, events) in wait.descriptors() {
                let stays_within = !engine.world.forked.get() && inside::can_only_we_make_ready(fd);
                let list = if stays_within { &mut awaited.inner } else { &mut awaited.outer };
                list.push(libc::pollfd { fd, events, revents: 0 });
            }
        }
        awaited
    }
}

/// Sleeps until something outside may have happened. False if nothing outside can.
pub fn wait_for_any(engine: &Engine) -> bool {
    let Awaited { mut inner, mut outer, blind } = Awaited::now(engine);
    if outer.is_empty() && !blind {
        return inner.iter().any(|poll| inside::takes_time(poll.fd)) && poll_raw(&mut inner, ON_ITS_WAY) > 0;
    }
    outer.append(&mut inner);
    // The driver's guard ends the run if nothing ever happens.
    poll_raw(&mut outer, if blind { 1 } else { -1 });
    true
}

/// Where the driver wants executions to end once nobody comes, and no thread is runnable: waits in earnest until somebody comes, which it says,
/// or time ends a wait of the program, or the execution has come to its end.
pub fn has_somebody_come(engine: &Engine, to_next_deadline: impl FnOnce() -> Option<u64>) -> bool {
    let limit = engine.shared.control().plan.idle;
    if limit == 0 {
        return false;
    }
    let Awaited { mut inner, mut outer, blind } = Awaited::now(engine);
    if outer.is_empty() || blind {
        return false;
    }
    outer.append(&mut inner);
    let idle_for = &engine.world.idle_for;
    let left = limit - idle_for.get().min(limit);
    let length = to_next_deadline().unwrap_or(u64::MAX).min(left);
    if poll_for(&mut outer, Some(length)) > 0 {
        idle_for.set(0);
        return true;
    }
    idle_for.set(idle_for.get() + length);
    if idle_for.get() >= limit {
        crate::process::end_of_waiting();
    }
    false
}
