//! An update is lost where `unsafe` hides the sharing, and a thread panics about it.

use std::thread;

static mut COUNT: u32 = 0;

fn count() -> u32 {
    let place = &raw mut COUNT;
    // Not safe at all: that is the point.
    unsafe {
        let before = *place;
        *place = before + 1;
        before
    }
}

fn main() {
    let one = thread::spawn(count);
    let other = thread::spawn(move || assert_ne!(count(), one.join().unwrap(), "an update was lost"));
    other.join().unwrap();
}
