// A scoped thread receives while main sends, and whoever comes last drops the channel.
use std::sync::mpsc;
use std::thread;

fn main() {
    let (sender, receiver) = mpsc::channel::<u32>();
    let sum = thread::scope(|scope| {
        let adds = scope.spawn(move || receiver.into_iter().sum::<u32>());
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        drop(sender);
        adds.join().unwrap()
    });
    assert_eq!(sum, 3);
    let (sender, receiver) = mpsc::sync_channel::<u32>(1);
    thread::scope(|scope| {
        scope.spawn(move || assert_eq!(receiver.recv(), Ok(7)));
        sender.send(7).unwrap();
    });
}
