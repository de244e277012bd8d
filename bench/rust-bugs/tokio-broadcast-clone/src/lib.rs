//! RUSTSEC-2025-0023: a broadcast channel clones a value in several threads at once, although it need not be `Sync`.

#![cfg(test)]

use std::cell::Cell;

use tokio::sync::broadcast;

/// May be sent to another thread, but not be used by two at once.
struct Counted(Cell<u32>);

impl Clone for Counted {
    fn clone(&self) -> Counted {
        self.0.set(self.0.get() + 1);
        Counted(Cell::new(self.0.get()))
    }
}

#[test]
fn receivers_clone_one_after_the_other() {
    let (sender, first) = broadcast::channel::<Counted>(4);
    let second = sender.subscribe();
    assert!(sender.send(Counted(Cell::new(0))).is_ok());
    let receivers = [first, second].map(|mut receiver| {
        std::thread::spawn(move || receiver.blocking_recv().map(|counted| counted.0.get()).unwrap())
    });
    let mut seen: Vec<u32> = receivers.into_iter().map(|receiver| receiver.join().unwrap()).collect();
    seen.sort();
    assert_eq!(seen, [1, 2]);
}
