//! Closures to be repeated, by name.

#[path = "../../src/lib.rs"]
mod threadbare;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;

use threadbare::{Hunt, HuntStrategy, hunt};

static CALLS: AtomicUsize = AtomicUsize::new(0);

fn add(counter: &Arc<AtomicUsize>, atomically: bool) -> thread::JoinHandle<()> {
    let counter = Arc::clone(counter);
    thread::spawn(move || {
        if atomically {
            counter.fetch_add(1, Ordering::SeqCst);
        } else {
            let seen = counter.load(Ordering::SeqCst);
            counter.store(seen + 1, Ordering::SeqCst);
        }
    })
}

fn count(atomically: bool) {
    let counter = Arc::new(AtomicUsize::new(0));
    let threads: Vec<_> = (0..2).map(|_| add(&counter, atomically)).collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(counter.load(Ordering::SeqCst), 2);
}

/// Locks, a condition, a channel and scoped threads, all used as they should be.
fn everything_right() {
    let (sender, receiver) = mpsc::channel();
    let place = Arc::new((Mutex::new(None), Condvar::new()));
    let theirs = Arc::clone(&place);
    let taker = thread::spawn(move || {
        let mut item = theirs.0.lock().unwrap();
        while item.is_none() {
            item = theirs.1.wait(item).unwrap();
        }
        sender.send(item.take().unwrap()).unwrap();
    });
    thread::scope(|scope| {
        scope.spawn(|| {
            *place.0.lock().unwrap() = Some(7);
            place.1.notify_one();
        });
    });
    assert_eq!(receiver.recv(), Ok(7));
    taker.join().unwrap();
}

fn forks_crosswise() {
    let forks = [Arc::new(Mutex::new(())), Arc::new(Mutex::new(()))];
    let take = |first: usize| {
        let (one, other) = (Arc::clone(&forks[first]), Arc::clone(&forks[1 - first]));
        thread::spawn(move || {
            let _one = one.lock().unwrap();
            let _other = other.lock().unwrap();
        })
    };
    let threads = [take(0), take(1)];
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Whoever only tries must be ready to find the lock taken.
fn insists_on_trying() {
    let lock = Arc::new(Mutex::new(0));
    let theirs = Arc::clone(&lock);
    let adder = thread::spawn(move || *theirs.lock().unwrap() += 1);
    *lock.try_lock().expect("the lock was taken") += 1;
    adder.join().unwrap();
}

/// Two scoped threads do something to what is on the stack; nobody joins them but the scope.
fn scoped(does: impl Fn(&AtomicUsize, usize) + Sync) {
    let (sum, mut plain) = (AtomicUsize::new(0), 0u32);
    let address = &raw mut plain as usize;
    thread::scope(|scope| {
        scope.spawn(|| does(&sum, address));
        scope.spawn(|| does(&sum, address));
    });
    assert!(sum.into_inner() < 3 && plain < 3);
}

/// A thread leaves its handle to whoever wakes it, and that is the last one.
fn wakes_those_who_wait() {
    let (waiting, come) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            waiting.lock().unwrap().push(thread::current());
            while come.load(Ordering::SeqCst) == 0 {
                thread::park();
            }
        });
        scope.spawn(|| {
            come.store(1, Ordering::SeqCst);
            waiting.lock().unwrap().drain(..).for_each(|thread| thread.unpark());
        });
    });
}

/// It fails from its third call on, and only because of what the calls before have left behind.
fn counts_its_calls() {
    count(true);
    assert!(CALLS.fetch_add(1, Ordering::SeqCst) < 2);
}

/// The thread waits for something that never comes.
fn leaves_a_thread() {
    let (sender, receiver) = mpsc::channel::<()>();
    thread::spawn(move || receiver.recv());
    count(true);
    std::mem::forget(sender);
}

fn main() {
    match std::env::args().nth(1).unwrap_or_default().as_str() {
        "lost update" => hunt(|| count(false)),
        "right" => hunt(everything_right),
        "deadlock" => hunt(forks_crosswise),
        "try-lock" => hunt(insists_on_trying),
        "counts its calls" => hunt(counts_its_calls),
        "leaves a thread" => hunt(leaves_a_thread),
        "wishes" => Hunt::new().executions(123).seed(5).strategy(HuntStrategy::Random).run(|| count(true)),
        "no threads" => hunt(|| assert_eq!(2 + 2, 4)),
        "fails afterwards" => {
            hunt(|| count(true));
            panic!("after the closure");
        }
        "second closure" => {
            hunt(|| count(true));
            hunt(|| count(false));
        }
        "scope" => hunt(|| scoped(|sum, _| drop(sum.fetch_add(1, Ordering::SeqCst)))),
        "race in a scope" => hunt(|| scoped(|_, plain| unsafe { *(plain as *mut u32) += 1 })),
        "waiters" => hunt(wakes_those_who_wait),
        name => panic!("there is no closure {name}"),
    }
}
