//! RUSTSEC-2025-0024: dropping the receiver of an unbounded channel while senders make its first block frees it twice.

#[test]
fn senders_may_meet_the_end_of_the_receiver() {
    let (first, receiver) = crossbeam_channel::unbounded();
    let second = first.clone();
    let senders = [first, second].map(|sender| {
        std::thread::spawn(move || {
            let _ = sender.send(Box::new(7));
        })
    });
    drop(receiver);
    senders.into_iter().for_each(|sender| sender.join().unwrap());
}
