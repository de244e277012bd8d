// The stock is looked at and lowered in two critical sections.
// finds: atomicity Mutex<i32>.data 12 14
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let stock = Arc::new(Mutex::new(1i32));
    let buyers: Vec<_> = (0..2)
        .map(|_| {
            let stock = stock.clone();
            thread::spawn(move || {
                let left = *stock.lock().unwrap();
                if left > 0 {
                    *stock.lock().unwrap() -= 1;
                }
            })
        })
        .collect();
    for buyer in buyers {
        buyer.join().unwrap();
    }
    assert!(*stock.lock().unwrap() >= 0, "sold twice");
}
