//! How the runtime reaches its state, which is one for the whole process.
//!
//! Everything is shared: [`engine`](crate::engine::engine) hands out `&'static Engine`, the tables hand out `&'static`
//! fibers and synchronization objects, and nobody has a `&mut` to any of them. What changes is either a
//! [`Cell`], which is read and written as a whole, or an [`Exclusive`], which lends its content to one borrower at a time.
//!
//! The invariants that all of this rests on, in one place:
//!
//! 1. **One OS thread at a time runs runtime code**, and it holds control until it passes it on: threads of the program are fibers
//!    of one OS thread, or pass a baton. So nothing here needs an atomic operation or a lock.
//! 2. **No borrow survives a switch of fibers or a call of the program's code** (a routine, a handler, a destructor, an unwinding): either may
//!    come back into the runtime and ask for anything. A borrow is for the statement it stands in, or for a few that
//!    call nothing but what belongs to the borrowed value.
//! 3. **Nothing that has an address is moved or dropped while somebody may have it**: synchronization objects and borrowed pthreads live as
//!    long as the process. Fibers do too, except that all but the main one are dropped between two repetitions of a closure,
//!    when the main thread alone is left and looks at no other.
//! 4. **What a blocked thread waits for outlives the wait**: it is one of those objects, or lies on the waiting thread's own stack.
//!
//! A build with the feature `borrow-checks` checks the second one: a second borrow, and a borrow that is there at a switch or where the
//! program's code is called, end the process with the source lines. Without it there is neither flag nor check: a borrow is a pointer.

#[cfg(any(test, feature = "borrow-checks"))]
use std::cell::Cell;
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
#[cfg(any(test, feature = "borrow-checks"))]
use std::panic::Location;
#[cfg(any(test, feature = "borrow-checks"))]
use std::sync::atomic::{AtomicUsize, Ordering};

/// A value that is lent to one borrower at a time.
#[derive(Default)]
pub struct Exclusive<T> {
    value: UnsafeCell<T>,
    #[cfg(any(test, feature = "borrow-checks"))]
    borrowed_at: Cell<Option<&'static Location<'static>>>,
}

/// How many borrows there are.
#[cfg(any(test, feature = "borrow-checks"))]
static BORROWS: AtomicUsize = AtomicUsize::new(0);

impl<T> Exclusive<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Exclusive<T> {
        Exclusive {
            value: UnsafeCell::new(value),
            #[cfg(any(test, feature = "borrow-checks"))]
            borrowed_at: Cell::new(None),
        }
    }

    /// Borrows the value. Nobody else may have it, and the borrow has to end before the next switch.
    #[inline(always)]
    #[cfg_attr(any(test, feature = "borrow-checks"), track_caller)]
    pub fn borrow_mut(&self) -> Borrow<'_, T> {
        #[cfg(any(test, feature = "borrow-checks"))]
        {
            let here = Location::caller();
            if let Some(other) = self.borrowed_at.replace(Some(here)) {
                stop(&format!("borrowed at {here} while it is borrowed at {other}"));
            }
            BORROWS.fetch_add(1, Ordering::Relaxed);
        }
        Borrow { place: self }
    }

    /// Looks at the value without a borrow.
    ///
    /// # Safety
    /// Nobody may change the value as long as the reference is used.
    #[inline(always)]
    pub unsafe fn peek(&self) -> &T {
        // SAFETY: as the caller vouches.
        unsafe { &*self.value.get() }
    }

    /// Replaces the value; returns what it was.
    #[inline(always)]
    #[cfg_attr(any(test, feature = "borrow-checks"), track_caller)]
    pub fn replace(&self, value: T) -> T {
        std::mem::replace(&mut *self.borrow_mut(), value)
    }

    /// Replaces the value.
    #[inline(always)]
    #[cfg_attr(any(test, feature = "borrow-checks"), track_caller)]
    pub fn set(&self, value: T) {
        *self.borrow_mut() = value;
    }

    /// Takes the value and leaves an empty one.
    #[inline(always)]
    #[cfg_attr(any(test, feature = "borrow-checks"), track_caller)]
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.replace(T::default())
    }
}

/// Exclusive access to a value, for a moment.
pub struct Borrow<'a, T> {
    place: &'a Exclusive<T>,
}

impl<T> Deref for Borrow<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: by the invariants above this is the only borrow.
        unsafe { &*self.place.value.get() }
    }
}

impl<T> DerefMut for Borrow<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`.
        unsafe { &mut *self.place.value.get() }
    }
}

#[cfg(any(test, feature = "borrow-checks"))]
impl<T> Drop for Borrow<'_, T> {
    fn drop(&mut self) {
        self.place.borrowed_at.set(None);
        BORROWS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Another fiber or the program's own code is about to run: nothing may be borrowed.
#[inline(always)]
#[cfg_attr(any(test, feature = "borrow-checks"), track_caller)]
pub fn nothing_is_borrowed() {
    #[cfg(any(test, feature = "borrow-checks"))]
    if BORROWS.load(Ordering::Relaxed) != 0 {
        stop(&format!("something is still borrowed at {}", Location::caller()));
    }
}

/// A unit test sees a panic; a tested program ends at once, since unwinding out of the runtime would be one more entrance.
#[cfg(any(test, feature = "borrow-checks"))]
fn stop(reason: &str) -> ! {
    if cfg!(test) {
        panic!("{reason}");
    }
    crate::sys::die(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_borrow_ends_with_its_statement() {
        let list = Exclusive::new(vec![1]);
        list.borrow_mut().push(2);
        list.borrow_mut().push(3);
        assert_eq!(list.take(), [1, 2, 3]);
        assert!(list.borrow_mut().is_empty());
        list.set(vec![4]);
        assert_eq!(list.replace(Vec::new()), [4]);
    }

    #[test]
    #[cfg(any(test, feature = "borrow-checks"))]
    #[should_panic(expected = "while it is borrowed at")]
    fn a_second_borrow_is_an_error() {
        let list = Exclusive::new(vec![1]);
        let first = list.borrow_mut();
        list.borrow_mut().push(first[0]);
    }
}
