//! Tags of enums that never change are looked at while another thread writes what is behind them. Unoptimised code loads
//! both where both are numbers, as in crossbeam-utils' `issue_833`.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::Mutex;
use std::thread;

/// As `AtomicCell`: its niches are hidden, and whoever uses it takes a lock.
struct Cell<T>(UnsafeCell<MaybeUninit<T>>);

// SAFETY: users take the lock.
unsafe impl<T> Sync for Cell<T> {}

impl<T> Cell<T> {
    const fn new(value: T) -> Cell<T> {
        Cell(UnsafeCell::new(MaybeUninit::new(value)))
    }
}

#[allow(dead_code)]
enum Wide {
    Never,
    Cell(Cell<u128>),
}

#[allow(dead_code)]
enum Narrow {
    Never,
    Also(u8),
    Cell(Cell<u8>),
}

static LOCK: Mutex<()> = Mutex::new(());
static WIDE: Wide = Wide::Cell(Cell::new(1));
static NARROW: Narrow = Narrow::Cell(Cell::new(1));
static OPTION: Option<Cell<u64>> = Some(Cell::new(1));
static RESULT: Result<Cell<u32>, u32> = Ok(Cell::new(1));
static PAIR: (u8, Option<Cell<i64>>) = (7, Some(Cell::new(1)));

fn put<T>(cell: &Cell<T>, value: T) {
    let _held = LOCK.lock().unwrap();
    // SAFETY: the lock is held.
    unsafe { *cell.0.get() = MaybeUninit::new(value) };
}

fn main() {
    let writer = thread::spawn(|| {
        if let Wide::Cell(cell) = &WIDE {
            put(cell, 2);
        }
        if let Narrow::Cell(cell) = &NARROW {
            put(cell, 2);
        }
        put(OPTION.as_ref().unwrap(), 2);
        if let Ok(cell) = &RESULT {
            put(cell, 2);
        }
        if let (_, Some(cell)) = &PAIR {
            put(cell, 2);
        }
    });
    if let Wide::Never = WIDE {
        unreachable!();
    }
    assert!(matches!(NARROW, Narrow::Cell(_)));
    let there = match OPTION {
        Some(_) => 1,
        None => 0,
    };
    assert_eq!(there, 1);
    assert!(RESULT.is_ok() && !matches!(RESULT, Err(_)));
    if let (7, None) = PAIR {
        unreachable!();
    }
    writer.join().unwrap();
}
