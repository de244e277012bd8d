// Values through a channel, parts of a vector to scoped threads.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

fn main() {
    let (sender, receiver) = mpsc::channel();
    let senders: Vec<_> = (1..3)
        .map(|number| {
            let sender = sender.clone();
            thread::spawn(move || sender.send(number).unwrap())
        })
        .collect();
    drop(sender);
    assert_eq!(receiver.iter().sum::<i32>(), 3);
    senders.into_iter().for_each(|thread| thread.join().unwrap());

    let total = AtomicUsize::new(0);
    let mut numbers = vec![1, 2, 3, 4];
    thread::scope(|scope| {
        for part in numbers.chunks_mut(2) {
            let total = &total;
            scope.spawn(move || {
                for number in part {
                    *number *= 2;
                    total.fetch_add(*number, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!((total.load(Ordering::Relaxed), numbers), (20, vec![2, 4, 6, 8]));
}
