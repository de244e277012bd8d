//! RUSTSEC-2021-0124: a oneshot channel that is closed while a value is sent touches the value from both sides.

#![cfg(test)]

use tokio::sync::oneshot;

#[test]
fn a_value_is_received_or_given_back() {
    let (sender, mut receiver) = oneshot::channel::<Box<u32>>();
    let sending = std::thread::spawn(move || sender.send(Box::new(7)).err());
    receiver.close();
    let received = receiver.try_recv().ok();
    let given_back = sending.join().unwrap();
    assert!(received.is_none() || given_back.is_none());
}
