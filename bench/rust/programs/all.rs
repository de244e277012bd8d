// The programs, written once. Whoever includes this file says what `Arc`, `Mutex`, `thread` and the others are.

/// A program by its name.
pub fn program(name: &str) -> Option<fn()> {
    let (_, body) = PROGRAMS.iter().find(|(known, _)| *known == name)?;
    Some(*body)
}

/// All of them.
pub const PROGRAMS: &[(&str, fn())] = &[
    ("counter", counter),
    ("bounded buffer", bounded_buffer),
    ("lock operations", lock_operations),
    ("lost update", lost_update),
    ("reorder-4", || reorder(4)),
    ("reorder-9", || reorder(9)),
    ("two-stage-1", || two_stage(1)),
    ("two-stage-15", || two_stage(15)),
    ("philosophers-4", || philosophers(4)),
    ("philosophers-7", || philosophers(7)),
    ("missed signal", missed_signal),
    ("double-checked", double_checked),
    ("ABA stack", aba_stack),
];

fn all<T: Send + 'static>(threads: Vec<thread::JoinHandle<T>>) {
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Two threads, two increments each.
fn counter() {
    let counter = Arc::new(AtomicUsize::new(0));
    let threads = (0..2).map(|_| {
        let counter = Arc::clone(&counter);
        thread::spawn(move || {
            for _ in 0..2 {
                counter.fetch_add(1, Ordering::SeqCst);
            }
        })
    });
    all(threads.collect());
    assert_eq!(counter.load(Ordering::SeqCst), 4);
}

/// Two producers and a consumer share a buffer with room for two.
fn bounded_buffer() {
    struct Buffer {
        items: Mutex<Vec<u32>>,
        not_full: Condvar,
        not_empty: Condvar,
    }
    const ROOM: usize = 2;
    const EACH: u32 = 2;
    let buffer = Arc::new(Buffer {
        items: Mutex::new(Vec::new()),
        not_full: Condvar::new(),
        not_empty: Condvar::new(),
    });
    let producers = (0..2u32).map(|producer| {
        let buffer = Arc::clone(&buffer);
        thread::spawn(move || {
            for item in 0..EACH {
                let mut items = buffer.items.lock().unwrap();
                while items.len() == ROOM {
                    items = buffer.not_full.wait(items).unwrap();
                }
                items.push(producer * EACH + item);
                buffer.not_empty.notify_one();
            }
        })
    });
    let mut threads: Vec<_> = producers.collect();
    let taken = Arc::new(AtomicUsize::new(0));
    let (source, sum) = (Arc::clone(&buffer), Arc::clone(&taken));
    threads.push(thread::spawn(move || {
        for _ in 0..2 * EACH {
            let mut items = source.items.lock().unwrap();
            while items.is_empty() {
                items = source.not_empty.wait(items).unwrap();
            }
            let item = items.remove(0);
            source.not_full.notify_all();
            drop(items);
            sum.fetch_add(item as usize, Ordering::SeqCst);
        }
    }));
    all(threads);
    assert_eq!(taken.load(Ordering::SeqCst), 6);
}

/// Five threads take a lock two hundred times each.
fn lock_operations() {
    let sum = Arc::new(Mutex::new(0usize));
    let threads = (0..5).map(|_| {
        let sum = Arc::clone(&sum);
        thread::spawn(move || {
            for _ in 0..200 {
                *sum.lock().unwrap() += 1;
            }
        })
    });
    all(threads.collect());
    assert_eq!(*sum.lock().unwrap(), 1000);
}

/// Both read, both add, both write.
fn lost_update() {
    let counter = Arc::new(AtomicUsize::new(0));
    let threads = (0..2).map(|_| {
        let counter = Arc::clone(&counter);
        thread::spawn(move || {
            let seen = counter.load(Ordering::SeqCst);
            counter.store(seen + 1, Ordering::SeqCst);
        })
    });
    all(threads.collect());
    assert_eq!(counter.load(Ordering::SeqCst), 2);
}

/// Setters set one, then the other; a checker must not come in between.
fn reorder(setters: usize) {
    let a = Arc::new(AtomicUsize::new(0));
    let b = Arc::new(AtomicUsize::new(0));
    let set = |_| {
        let (a, b) = (Arc::clone(&a), Arc::clone(&b));
        thread::spawn(move || {
            a.store(1, Ordering::SeqCst);
            b.store(1, Ordering::SeqCst);
        })
    };
    let mut threads: Vec<_> = (0..setters).map(set).collect();
    threads.push(thread::spawn(move || {
        let seen = a.load(Ordering::SeqCst);
        assert_eq!(seen, b.load(Ordering::SeqCst));
    }));
    all(threads);
}

/// Writers make a value under one lock and the next one under another; a reader must not see only the first.
fn two_stage(writers: usize) {
    let first = Arc::new(Mutex::new(0));
    let second = Arc::new(Mutex::new(0));
    let write = |_| {
        let (first, second) = (Arc::clone(&first), Arc::clone(&second));
        thread::spawn(move || {
            *first.lock().unwrap() = 1;
            let value = *first.lock().unwrap();
            *second.lock().unwrap() = value + 1;
        })
    };
    let mut threads: Vec<_> = (0..writers).map(write).collect();
    threads.push(thread::spawn(move || {
        let one = *first.lock().unwrap();
        if one != 0 {
            let two = *second.lock().unwrap();
            assert_eq!(two, one + 1);
        }
    }));
    all(threads);
}

/// Everybody takes the fork to the left, then the one to the right.
fn philosophers(count: usize) {
    let forks: Vec<_> = (0..count).map(|_| Arc::new(Mutex::new(()))).collect();
    let sit = |place: usize| {
        let (left, right) = (Arc::clone(&forks[place]), Arc::clone(&forks[(place + 1) % count]));
        thread::spawn(move || {
            let _left = left.lock().unwrap();
            let _right = right.lock().unwrap();
        })
    };
    all((0..count).map(sit).collect());
}

/// The waiter looks first and takes the lock afterwards, so the signal may come in between.
fn missed_signal() {
    let ready = Arc::new(AtomicBool::new(false));
    let bell = Arc::new((Mutex::new(()), Condvar::new()));
    let (seen, heard) = (Arc::clone(&ready), Arc::clone(&bell));
    let waiter = thread::spawn(move || {
        if !seen.load(Ordering::SeqCst) {
            let guard = heard.0.lock().unwrap();
            drop(heard.1.wait(guard).unwrap());
        }
    });
    ready.store(true, Ordering::SeqCst);
    bell.1.notify_one();
    waiter.join().unwrap();
}

/// The flag is raised before the value is there.
fn double_checked() {
    let made = Arc::new((AtomicBool::new(false), Mutex::new(()), AtomicUsize::new(0)));
    let threads = (0..2).map(|_| {
        let made = Arc::clone(&made);
        thread::spawn(move || {
            if !made.0.load(Ordering::SeqCst) {
                let _guard = made.1.lock().unwrap();
                if !made.0.load(Ordering::SeqCst) {
                    made.0.store(true, Ordering::SeqCst);
                    made.2.store(42, Ordering::SeqCst);
                }
            }
            assert_eq!(made.2.load(Ordering::SeqCst), 42);
        })
    });
    all(threads.collect());
}

/// A stack of numbered nodes: whoever pops must not find the top back where it was with another one below.
fn aba_stack() {
    const NONE: usize = 0;
    struct Stack {
        top: AtomicUsize,
        below: [AtomicUsize; 4],
        taken: [AtomicUsize; 4],
    }
    impl Stack {
        fn push(&self, node: usize) {
            loop {
                let top = self.top.load(Ordering::SeqCst);
                self.below[node].store(top, Ordering::SeqCst);
                if self.top.compare_exchange(top, node, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                    return;
                }
            }
        }

        fn pop(&self) -> usize {
            loop {
                let top = self.top.load(Ordering::SeqCst);
                if top == NONE {
                    return NONE;
                }
                let below = self.below[top].load(Ordering::SeqCst);
                if self.top.compare_exchange(top, below, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                    return top;
                }
            }
        }

        /// Pops and owns a node, which nobody else may own.
        fn take(&self) -> usize {
            let node = self.pop();
            if node != NONE {
                assert_eq!(self.taken[node].swap(1, Ordering::SeqCst), 0, "a node was popped twice");
            }
            node
        }

        fn give(&self, node: usize) {
            if node != NONE {
                self.taken[node].store(0, Ordering::SeqCst);
                self.push(node);
            }
        }
    }
    let word = |value| AtomicUsize::new(value);
    let stack = Arc::new(Stack {
        top: word(1),
        below: [word(NONE), word(2), word(3), word(NONE)],
        taken: [word(0), word(0), word(0), word(0)],
    });
    let other = Arc::clone(&stack);
    let one = thread::spawn(move || {
        let node = other.take();
        other.give(node);
        other.take();
    });
    let other = Arc::clone(&stack);
    let two = thread::spawn(move || {
        let first = other.take();
        other.take();
        other.give(first);
        other.take();
    });
    one.join().unwrap();
    two.join().unwrap();
}
