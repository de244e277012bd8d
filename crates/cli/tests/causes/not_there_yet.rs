// The address is looked up before it is published.
// cause: not_there_yet::ADDRESS 9 17
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

static ADDRESS: AtomicUsize = AtomicUsize::new(0);

fn connect() {
    let address = ADDRESS.load(Ordering::SeqCst);
    assert!(address != 0, "no address");
}

fn main() {
    let client = thread::spawn(connect);
    let busy: usize = (1..10).sum();
    // The client should have waited for this.
    ADDRESS.store(busy, Ordering::SeqCst);
    client.join().unwrap();
}
