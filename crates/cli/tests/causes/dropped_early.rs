// The owner drops the buffer before the helper is done with it.
// cause: - 9 16
use std::thread;

struct Shared(*mut u64);
unsafe impl Send for Shared {}
fn read(from: Shared) -> u64 {
    let place = from.0;
    unsafe { *place }
}
fn main() {
    let buffer = Box::into_raw(Box::new(7u64));
    let shared = Shared(buffer);
    let helper = thread::spawn(move || read(shared));
    // The join belongs here.
    drop(unsafe { Box::from_raw(buffer) });
    let _ = helper.join();
}
