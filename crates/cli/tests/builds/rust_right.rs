//! What Rust programs are made of: shared counts, locks, channels, conditions, atomics, scopes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, RwLock, mpsc};
use std::thread;

static ENDED: AtomicUsize = AtomicUsize::new(0);
static NAME: OnceLock<String> = OnceLock::new();

#[derive(Clone)]
struct Parcel {
    content: [u64; 16],
    label: String,
}

fn main() {
    let total = Arc::new((Mutex::new(0), Condvar::new()));
    let (sender, receiver) = mpsc::channel();
    let workers: Vec<_> = (0..2u64)
        .map(|number| {
            let (total, sender) = (total.clone(), sender.clone());
            thread::spawn(move || {
                let parcel = Parcel { content: [number; 16], label: format!("parcel {number}") };
                sender.send(parcel.clone()).unwrap();
                *total.0.lock().unwrap() += number + 1;
                total.1.notify_all();
                ENDED.fetch_add(1, Ordering::SeqCst);
                NAME.get_or_init(|| "name".to_string()).len()
            })
        })
        .collect();
    drop(sender);
    let mut sum = total.0.lock().unwrap();
    while *sum != 3 {
        sum = total.1.wait(sum).unwrap();
    }
    drop(sum);
    let mut parcels: Vec<Parcel> = receiver.iter().collect();
    parcels.sort_by_key(|parcel| parcel.content[15]);
    assert_eq!(parcels[1].label, "parcel 1");
    for worker in workers {
        assert_eq!(worker.join().unwrap(), 4);
    }
    assert_eq!(ENDED.load(Ordering::SeqCst), 2);
    let both = RwLock::new(0);
    thread::scope(|scope| {
        scope.spawn(|| *both.write().unwrap() += 1);
        scope.spawn(|| *both.write().unwrap() += 1);
    });
    assert_eq!(*both.read().unwrap(), 2);
}
