// Two mutexes in opposite orders, far apart.
// finds: deadlock Mutex<i32> 16 17 20 21
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let a = Arc::new(Mutex::new(0));
    let b = Arc::new(Mutex::new(0));
    let busy = Arc::new(AtomicUsize::new(0));
    let (a2, b2, busy2) = (a.clone(), b.clone(), busy.clone());
    let t = thread::spawn(move || {
        for _ in 0..40 {
            busy2.fetch_add(1, Ordering::SeqCst);
        }
        let _x = b2.lock().unwrap();
        let _y = a2.lock().unwrap();
    });
    {
        let _x = a.lock().unwrap();
        let _y = b.lock().unwrap();
    }
    t.join().unwrap();
}
