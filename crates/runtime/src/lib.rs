//! The library that a tested program runs on.
//!
//! It supplies the functions that `-fsanitize=thread` code calls and takes the place of the C
//! library's thread functions. Outside of `threadbare` it does nothing but forward; inside, every
//! thread of the program is a fiber, and a policy decides which of them goes on at each visible
//! operation.
//!
//! Rules: one state, no locks, an allocator of its own, no thread-local variables, no call that
//! can come back into the runtime while it is at work.

mod access;
mod allocators;
mod annotations;
mod atomics;
mod calls;
mod cancel;
mod checkpoints;
mod context;
mod contexts;
mod deadlock;
mod descriptors;
mod engine;
mod entries;
mod entropy;
mod fiber;
mod guards;
mod hash;
mod heap;
mod identity;
mod interpose;
mod libraries;
mod memory;
mod outside;
mod process;
mod program;
mod quiet;
mod raise;
mod record;
mod regions;
mod repeat;
mod server;
mod shadow;
mod signals;
mod specific;
mod spin;
mod stand;
mod steered;
mod story;
mod sync;
mod sys;
mod threads;
mod time;
mod turns;
mod whole_code;
mod world;

/// Called by the loader before any constructor of the program.
extern "C" fn start() {
    server::connect();
}

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

/// Called by instrumented code; the loader has called the constructor before.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_init() {}
