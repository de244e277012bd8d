//! The library that a tested program runs on.
//!
//! It supplies the functions that `-fsanitize=thread` code calls and takes the place of the C
//! library's thread functions. Outside of `threadbare` it does nothing but forward; inside, every
//! thread of the program is a fiber, and a policy decides which of them runs at each visible
//! operation.
//!
//! Rules: one state, no locks, an allocator of its own, no thread-local variables, no call that
//! can come back into the runtime while it is at work.
//!
//! A test build exports nothing and starts nothing, so that the test harness keeps its own C library: unit tests are for what
//! needs no controlled process. All else is tested from outside, with programs.

#![cfg_attr(test, allow(dead_code, non_snake_case, reason = "nothing is exported from a test build"))]

mod access;
mod address_hash;
mod annotations;
mod arch;
mod atomics;
mod call_contexts;
mod call_profile;
mod cancel;
mod checkpoints;
mod deadlock;
mod dependences;
mod descriptors;
mod engine;
mod entropy;
mod exceptions;
mod exclusive;
mod external_waits;
mod fiber;
mod files;
mod function_hooks;
mod guarding_locks;
mod heap;
mod hidden_objects;
mod interpose;
mod libraries;
mod library_calls;
mod malloc;
mod own_allocator;
mod process;
mod process_identity;
mod processor_clock;
mod processors;
mod program;
mod raw_system_calls;
mod shared_memory;
mod uninstrument;
mod untried;

mod indivisible_code;
mod recorder;
mod repeat;
mod scheduler;
mod server;
mod shadow;
mod signals;
mod spin;
mod steered;
mod sync;
mod sys;
mod thread_specific;
mod thread_state_hash;
mod thread_table;
mod threads;
mod time;
mod world;

use std::sync::atomic::{AtomicBool, Ordering};

/// Called by the loader before any constructor of the program.
extern "C" fn start() {
    begin_early();
}

static HAS_BEGUN: AtomicBool = AtomicBool::new(false);

/// Takes control now, if that is to be done and was not done before; says whether it was done by this call.
#[cold]
fn begin_early() -> bool {
    if HAS_BEGUN.swap(true, Ordering::Relaxed) {
        return false;
    }
    server::connect();
    interpose::controlled()
}

#[used]
#[cfg_attr(not(test), unsafe(link_section = ".init_array"))]
static START: extern "C" fn() = start;

/// Called by instrumented code; the loader has called the constructor before.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn __tsan_init() {}
