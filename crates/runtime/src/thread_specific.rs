//! Thread-specific data and thread-exit functions, whose destructors run under control.

use std::ffi::{c_int, c_void};

use libc::pthread_key_t;

use crate::engine::engine;
use crate::exclusive::nothing_is_borrowed;
use crate::interpose::{interpose, real};
use threadbare_trace::ThreadId;

type Destructor = unsafe extern "C-unwind" fn(*mut c_void);

/// Keys with a destructor.
#[derive(Default)]
pub struct Keys {
    destructors: Vec<(pthread_key_t, Destructor)>,
    /// All keys there are.
    all: Vec<pthread_key_t>,
}

impl Keys {
    /// What the calling thread has under each key.
    pub fn values(&self) -> impl Iterator<Item = usize> {
        // SAFETY: the keys are valid.
        self.all.iter().map(|key| unsafe { libc::pthread_getspecific(*key) } as usize)
    }
}

type CreateFn = unsafe extern "C-unwind" fn(*mut pthread_key_t, Option<Destructor>) -> c_int;
type DeleteFn = unsafe extern "C-unwind" fn(pthread_key_t) -> c_int;

/// Creates a key whose destructor the C library does not know of.
///
/// # Safety
/// `key` must be a place for the key.
pub unsafe fn create_key(key: *mut pthread_key_t, destructor: Option<Destructor>) -> c_int {
    // SAFETY: as the caller vouches.
    unsafe {
        let error = real!(pthread_key_create as CreateFn)(key, None);
        if error == 0 {
            engine().world.keys.borrow_mut().all.push(*key);
        }
        if error == 0
            && let Some(destructor) = destructor
        {
            engine().world.keys.borrow_mut().destructors.push((*key, destructor));
        }
        error
    }
}

/// Deletes a key.
pub fn delete_key(key: pthread_key_t) -> c_int {
    engine().world.keys.borrow_mut().destructors.retain(|(known, _)| *known != key);
    engine().world.keys.borrow_mut().all.retain(|known| *known != key);
    // SAFETY: deleting an unknown key is an error, not a fault.
    unsafe { real!(pthread_key_delete as DeleteFn)(key) }
}

/// Runs what the ending thread has registered: language-level destructors, then key destructors.
pub fn run_exit_functions() {
    let next = || engine().current().at_exit.borrow_mut().pop();
    while let Some((function, argument)) = next() {
        nothing_is_borrowed();
        // SAFETY: registered by the program's language runtime for this thread.
        unsafe { function(argument) };
    }
    const ROUNDS: usize = 4; // PTHREAD_DESTRUCTOR_ITERATIONS
    for _ in 0..ROUNDS {
        let mut found = false;
        for index in 0.. {
            let Some(&(key, destructor)) = engine().world.keys.borrow_mut().destructors.get(index) else {
                break;
            };
            // SAFETY: the key is valid; the destructor is the program's.
            unsafe {
                let value = libc::pthread_getspecific(key);
                if !value.is_null() {
                    found = true;
                    libc::pthread_setspecific(key, std::ptr::null());
                    nothing_is_borrowed();
                    destructor(value);
                }
            }
        }
        if !found {
            break;
        }
    }
}

interpose! {
    /// Creates a key.
    fn pthread_key_create(key: *mut pthread_key_t, destructor: Option<Destructor>) -> c_int {
        create_key(key, destructor)
    }
    /// Deletes a key.
    fn pthread_key_delete(key: pthread_key_t) -> c_int {
        delete_key(key)
    }
    /// Registers a destructor of a thread-local object.
    fn __cxa_thread_atexit_impl(function: Destructor, argument: *mut c_void, library: *mut c_void) -> c_int {
        let fiber = engine().current();
        if fiber.id == ThreadId::MAIN {
            // The C library runs the main thread's when the process ends.
            return real!(__cxa_thread_atexit_impl
                as unsafe extern "C-unwind" fn(Destructor, *mut c_void, *mut c_void) -> c_int)(function, argument, library);
        }
        fiber.at_exit.borrow_mut().push((function, argument));
        0
    }
}
