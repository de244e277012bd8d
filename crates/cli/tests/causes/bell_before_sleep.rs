// The flag is looked at before the lock is taken, so the bell may ring in between.
// cause: (Mutex<()>,@Condvar,@AtomicBool)@(heap,@bell_before_sleep.rs:8@T0#1).1 13 20
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

fn main() {
    let bell = Arc::new((Mutex::new(()), Condvar::new(), AtomicBool::new(false)));
    let theirs = bell.clone();
    let ringer = thread::spawn(move || {
        let (_, condvar, rung) = &*theirs;
        rung.store(true, Ordering::SeqCst);
        condvar.notify_one();
    });
    let (mutex, condvar, rung) = &*bell;
    if !rung.load(Ordering::SeqCst) {
        // It rings now.
        let guard = mutex.lock().unwrap();
        let mut again = Some(guard);
        again = condvar.wait(again.take().unwrap()).ok();
        drop(again);
    }
    ringer.join().unwrap();
}
