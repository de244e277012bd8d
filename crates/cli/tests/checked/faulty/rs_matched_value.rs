// finds: race rs_matched_value::NUMBER+8 24 33
// finds: race rs_matched_value::WHOLE 29 37
// finds: race rs_matched_value::COPIED 30 40
// finds: race rs_matched_value::COPIED+4 30 40
//! What is behind a tag is looked at while another thread writes it, and the tag itself is written.

use std::cell::UnsafeCell;
use std::thread;

struct Shared<T>(UnsafeCell<T>);

// SAFETY: it is not; that is the bug.
unsafe impl<T> Sync for Shared<T> {}

static NUMBER: Shared<Option<u64>> = Shared(UnsafeCell::new(Some(1)));
static WHOLE: Shared<Option<u64>> = Shared(UnsafeCell::new(Some(1)));
static COPIED: Shared<Option<u32>> = Shared(UnsafeCell::new(Some(1)));

fn main() {
    // SAFETY: it is not.
    unsafe {
        let writer = thread::spawn(|| {
            if let Some(number) = &mut *NUMBER.0.get() {
                *number = 2;
            }
            other();
        });
        unsafe fn other() {
            *WHOLE.0.get() = None;
            *COPIED.0.get() = Some(3);
        }
        // The tag is only read by both, what is behind it is not.
        if let Some(number) = *NUMBER.0.get() {
            assert!(number > 0);
        }
        // Only the tag.
        if let None = *WHOLE.0.get() {
            println!("none");
        }
        let copy = *COPIED.0.get();
        assert!(copy.is_some());
        writer.join().unwrap();
    }
}
