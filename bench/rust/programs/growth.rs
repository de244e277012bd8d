// The programs of ../programs/growth, written once more. Whoever includes this file says what `Arc`, `Mutex`, `thread` and the others are.

/// A program by the name of its family and its size: threads or pairs of threads, and rounds or items.
pub fn growing(family: &str, threads: usize, rounds: usize) -> Option<Box<dyn Fn() + Send + Sync>> {
    Some(match family {
        "account" => Box::new(move || account(threads, rounds)),
        "bounded_queue" => Box::new(move || bounded_queue(threads, rounds)),
        "readers_writer" => Box::new(move || readers_writer(threads)),
        "vyukov_queue" => Box::new(move || vyukov_queue(threads)),
        "philosophers" => Box::new(move || dinner(threads)),
        _ => return None,
    })
}

/// Threads draw from a balance while there is enough.
fn account(threads: usize, rounds: usize) {
    let account = Arc::new(Mutex::new((100i64, 0usize)));
    let drawing = (1..=threads as i64).map(|amount| {
        let account = Arc::clone(&account);
        thread::spawn(move || {
            for _ in 0..rounds {
                let mut account = account.lock().unwrap();
                if account.0 > 10 {
                    account.0 -= amount;
                }
                account.1 += 1;
            }
        })
    });
    all(drawing.collect());
    assert_eq!(account.lock().unwrap().1, threads * rounds);
}

/// Producers and as many consumers pass items through a queue of two places.
fn bounded_queue(pairs: usize, each: usize) {
    const ROOM: usize = 2;
    struct State {
        items: [usize; ROOM],
        first: usize,
        count: usize,
        produced: usize,
        consumed: usize,
    }
    struct Queue {
        state: Mutex<State>,
        not_full: Condvar,
        not_empty: Condvar,
    }
    let state = State { items: [0; ROOM], first: 0, count: 0, produced: 0, consumed: 0 };
    let (not_full, not_empty) = (Condvar::new(), Condvar::new());
    let queue = Arc::new(Queue { state: Mutex::new(state), not_full, not_empty });
    let mut threads = Vec::new();
    for _ in 0..pairs {
        let source = Arc::clone(&queue);
        threads.push(thread::spawn(move || {
            for _ in 0..each {
                let mut state = source.state.lock().unwrap();
                while state.count == ROOM {
                    state = source.not_full.wait(state).unwrap();
                }
                let place = (state.first + state.count) % ROOM;
                state.items[place] = 1;
                state.count += 1;
                state.produced += 1;
                source.not_empty.notify_one();
            }
        }));
        let drain = Arc::clone(&queue);
        threads.push(thread::spawn(move || {
            for _ in 0..each {
                let mut state = drain.state.lock().unwrap();
                while state.count == 0 {
                    state = drain.not_empty.wait(state).unwrap();
                }
                state.consumed += state.items[state.first];
                state.first = (state.first + 1) % ROOM;
                state.count -= 1;
                drain.not_full.notify_one();
            }
        }));
    }
    all(threads);
    let state = queue.state.lock().unwrap();
    assert!(state.produced == pairs * each && state.consumed == state.produced && state.count == 0);
}

/// Every other thread writes, twice, and the others read.
fn readers_writer(count: usize) {
    let both = Arc::new(RwLock::new((0usize, 0usize)));
    let threads = (0..count).map(|number| {
        let both = Arc::clone(&both);
        thread::spawn(move || {
            for _ in 0..2 {
                if number % 2 == 1 {
                    let mut both = both.write().unwrap();
                    both.0 += 1;
                    both.1 += 1;
                } else {
                    let both = both.read().unwrap();
                    assert_eq!(both.0, both.1);
                }
            }
        })
    });
    all(threads.collect());
    assert_eq!(both.read().unwrap().0, count / 2 * 2);
}

/// Vyukov's bounded queue: the last thread dequeues what the others enqueue, an item each.
fn vyukov_queue(count: usize) {
    const ROOM: usize = 2;
    struct Queue {
        cells: [(AtomicUsize, AtomicUsize); ROOM],
        tail: AtomicUsize,
        head: AtomicUsize,
    }
    impl Queue {
        fn enqueue(&self, item: usize) -> bool {
            let mut position = self.tail.load(Ordering::SeqCst);
            loop {
                let (sequence, place) = &self.cells[position % ROOM];
                let ahead = sequence.load(Ordering::SeqCst) as isize - position as isize;
                if ahead < 0 {
                    return false;
                }
                if ahead > 0 {
                    position = self.tail.load(Ordering::SeqCst);
                    continue;
                }
                let next = position + 1;
                match self.tail.compare_exchange(position, next, Ordering::SeqCst, Ordering::SeqCst) {
                    Ok(_) => {
                        place.store(item, Ordering::Relaxed);
                        sequence.store(next, Ordering::SeqCst);
                        return true;
                    }
                    Err(seen) => position = seen,
                }
            }
        }

        fn dequeue(&self) -> Option<usize> {
            let mut position = self.head.load(Ordering::SeqCst);
            loop {
                let (sequence, place) = &self.cells[position % ROOM];
                let ahead = sequence.load(Ordering::SeqCst) as isize - (position + 1) as isize;
                if ahead < 0 {
                    return None;
                }
                if ahead > 0 {
                    position = self.head.load(Ordering::SeqCst);
                    continue;
                }
                let next = position + 1;
                match self.head.compare_exchange(position, next, Ordering::SeqCst, Ordering::SeqCst) {
                    Ok(_) => {
                        let item = place.load(Ordering::Relaxed);
                        sequence.store(position + ROOM, Ordering::SeqCst);
                        return Some(item);
                    }
                    Err(seen) => position = seen,
                }
            }
        }
    }
    let cell = |number| (AtomicUsize::new(number), AtomicUsize::new(0));
    let cells = std::array::from_fn(cell);
    let queue = Arc::new(Queue { cells, tail: AtomicUsize::new(0), head: AtomicUsize::new(0) });
    let producers: Vec<_> = (1..count)
        .map(|_| {
            let queue = Arc::clone(&queue);
            thread::spawn(move || usize::from(queue.enqueue(1)))
        })
        .collect();
    let drain = Arc::clone(&queue);
    let consumer =
        thread::spawn(move || (1..count).filter_map(|_| drain.dequeue()).sum::<usize>());
    let sent: usize = producers.into_iter().map(|thread| thread.join().unwrap()).sum();
    let mut received = consumer.join().unwrap();
    while let Some(item) = queue.dequeue() {
        received += item;
    }
    assert_eq!(received, sent);
}

/// Philosophers, one of whom takes the forks the other way round, eat once each.
fn dinner(count: usize) {
    let forks: Arc<Vec<Mutex<()>>> = Arc::new((0..count).map(|_| Mutex::new(())).collect());
    let meals = Arc::new((0..count).map(|_| AtomicUsize::new(0)).collect::<Vec<_>>());
    let threads = (0..count).map(|seat| {
        let (forks, meals) = (Arc::clone(&forks), Arc::clone(&meals));
        thread::spawn(move || {
            let (left, right) = (seat, (seat + 1) % count);
            let _near = forks[left.min(right)].lock().unwrap();
            let _far = forks[left.max(right)].lock().unwrap();
            meals[seat].fetch_add(1, Ordering::Relaxed);
        })
    });
    all(threads.collect());
    assert!(meals.iter().all(|meals| meals.load(Ordering::Relaxed) == 1));
}
