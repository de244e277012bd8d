// Which slot is free is read and written back in two steps.
// cause: Slots.next 13 15
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;

struct Slots {
    next: AtomicUsize,
    slots: [AtomicUsize; 4],
}

fn claim(s: &Slots, who: usize) {
    let i = s.next.load(Ordering::SeqCst);
    s.slots[i].store(who, Ordering::SeqCst);
    s.next.store(i + 1, Ordering::SeqCst);
}

fn main() {
    let s = Arc::new(Slots { next: AtomicUsize::new(0), slots: Default::default() });
    let t: Vec<_> = (1..=2)
        .map(|who| {
            let s = s.clone();
            thread::spawn(move || claim(&s, who))
        })
        .collect();
    for t in t {
        t.join().unwrap();
    }
    let used = s.slots.iter().filter(|x| x.load(Ordering::SeqCst) != 0).count();
    assert_eq!(used, 2, "a slot was taken twice");
}
