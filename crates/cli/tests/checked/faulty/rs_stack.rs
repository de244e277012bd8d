// A vector on the stack of `main` is pushed to by two threads.
// finds: race v.len 13
use std::thread;

struct Place(*mut Vec<u32>);
// SAFETY: there is none, which is the point.
unsafe impl Send for Place {}

fn main() {
    let mut v = Vec::with_capacity(8);
    let pushing: Vec<_> = [Place(&mut v), Place(&mut v)]
        .into_iter()
        .map(|place| thread::spawn(move || unsafe { (*{ place }.0).push(1) }))
        .collect();
    for thread in pushing {
        thread.join().unwrap();
    }
    assert_eq!(v.len(), 2);
}
