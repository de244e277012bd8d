// Mutex, condition variable, read-write lock, barrier, once-cell and thread-local together.
use std::cell::Cell;
use std::sync::{Arc, Barrier, Condvar, Mutex, OnceLock, RwLock};
use std::thread;

static STEP: OnceLock<u32> = OnceLock::new();
thread_local! {
    static OWN: Cell<u32> = const { Cell::new(0) };
}

fn main() {
    let total = Arc::new((Mutex::new(0), Condvar::new()));
    let version = Arc::new(RwLock::new(1));
    let barrier = Arc::new(Barrier::new(2));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let (total, version, barrier) = (total.clone(), version.clone(), barrier.clone());
            thread::spawn(move || {
                let step = *STEP.get_or_init(|| 5);
                OWN.with(|own| own.set(own.get() + step));
                assert!(*version.read().unwrap() >= 1);
                *version.write().unwrap() += 1;
                barrier.wait();
                let (sum, changed) = &*total;
                *sum.lock().unwrap() += OWN.with(Cell::get);
                changed.notify_all();
            })
        })
        .collect();
    {
        let (sum, changed) = &*total;
        let mut sum = sum.lock().unwrap();
        while *sum < 10 {
            sum = changed.wait(sum).unwrap();
        }
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*version.read().unwrap(), 3);
}
