//! Everything the runtime knows of the program besides its threads.

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use threadbare_trace::ThreadId;

use crate::address_hash::AddressHasher;
use crate::exclusive::Exclusive;
use crate::heap::Heap;
use crate::libraries::Libraries;
use crate::sync::barrier::Barrier;
use crate::sync::cond::Cond;
use crate::sync::futex::Futexes;
use crate::sync::mutex::Mutex;
use crate::sync::once::Once;
use crate::sync::rwlock::RwLock;
use crate::sync::semaphore::{Named, Semaphore};
use crate::thread_specific::Keys;
use crate::threads::Slot;

/// Synchronization objects by address. They live as long as the process, so that a waiting thread may point to one.
pub struct Table<T: 'static> {
    entries: Exclusive<HashMap<usize, &'static T, BuildHasherDefault<AddressHasher>>>,
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table { entries: Exclusive::default() }
    }
}

impl<T> Table<T> {
    /// The object at an address, if one is known.
    pub fn get(&self, address: usize) -> Option<&'static T> {
        self.entries.borrow_mut().get(&address).copied()
    }

    /// The object at an address; a new one if none is known.
    pub fn at(&self, address: usize, new: impl FnOnce() -> T) -> &'static T {
        self.get(address).unwrap_or_else(|| {
            let object = Box::leak(Box::new(new()));
            self.entries.borrow_mut().insert(address, object);
            object
        })
    }

    /// The addresses of known objects in a range.
    pub fn within(&self, range: std::ops::Range<usize>) -> Vec<usize> {
        let mut found: Vec<usize> =
            self.entries.borrow_mut().keys().copied().filter(|address| range.contains(address)).collect();
        found.sort_unstable();
        found
    }
}

/// The runtime's knowledge of the program.
#[derive(Default)]
pub struct World {
    /// Borrowed pthreads.
    pub slots: Exclusive<Vec<&'static Slot>>,
    /// The size of stacks of which nobody says how large they shall be; 0 until somebody asks.
    pub usual_stack: Cell<Option<crate::threads::Stack>>,
    /// The program has set attributes for threads that are created without any.
    pub default_attributes: Cell<bool>,
    /// The lowest and the highest address of any thread's stack.
    pub stacks: Exclusive<std::ops::Range<usize>>,
    /// Which thread has initialised an object, until others use it.
    pub initialised: Exclusive<HashMap<usize, ThreadId, BuildHasherDefault<AddressHasher>>>,
    /// The heap.
    pub heap: Exclusive<Heap>,
    /// Where blocks of the heap come from, in executions that are reasoned about as a whole.
    pub regions: Exclusive<crate::heap::thread_regions::Regions>,
    /// Call contexts.
    pub contexts: Exclusive<crate::call_contexts::Contexts>,
    /// What is measured of calls.
    pub calls: Exclusive<crate::call_profile::Calls>,
    /// The state of threads.
    pub state_hashes: Exclusive<crate::thread_state_hash::StateHashes>,
    /// Whose code is whose.
    libraries: OnceCell<Libraries>,
    /// Thread-specific data keys.
    pub keys: Exclusive<Keys>,
    /// Mutexes and spin locks.
    pub mutexes: Table<Mutex>,
    /// Read-write locks.
    pub rwlocks: Table<RwLock>,
    /// Condition variables.
    pub conds: Table<Cond>,
    /// Barriers.
    pub barriers: Table<Barrier>,
    /// Semaphores.
    pub semaphores: Table<Semaphore>,
    /// Named semaphores.
    pub named: Exclusive<Vec<Named>>,
    /// Once-controls.
    pub onces: Table<Once>,
    /// Futex waiters.
    pub futexes: Futexes,
    /// What the execution has been seen to depend on.
    pub dependences: Exclusive<crate::dependences::Notes>,
    /// The virtual clock, in nanoseconds.
    pub clock: Exclusive<crate::time::Clock>,
    /// Seeded randomness for the program.
    pub entropy: Exclusive<crate::entropy::Entropy>,
    /// Signals on their way, and timers that send them.
    pub signals: crate::signals::Signals,
    /// For how many nanoseconds nobody outside has come, while all threads waited.
    pub idle_for: Cell<u64>,
    /// System calls that the program makes by instructions.
    pub raw_system_calls: crate::raw_system_calls::RawSystemCalls,
    /// Who the process is to the program.
    pub identity: crate::process_identity::Identity,
    /// Descriptors that the program has made for itself.
    pub descriptors: Exclusive<crate::descriptors::Descriptors>,
    /// What race detectors are asked to ignore.
    pub ignored: crate::annotations::Ignored,
    /// Timers that are descriptors.
    pub timer_descriptors: Exclusive<crate::program::timer_descriptors::Timers>,
    /// Streams, as far as the program can see again what goes into them.
    pub streams: Exclusive<crate::program::streams::Streams>,
    /// Files that are mapped so that others see what is written, by device and number.
    pub mapped_files: Exclusive<Vec<(u64, u64)>>,
    /// Files that are known to have been changed.
    pub files: Exclusive<crate::files::Known>,
    /// A synchronization object was made to be shared between processes.
    pub process_shared: Cell<bool>,
    /// One of them is of a kind that a copy of the process could not use.
    pub not_shareable: Cell<Option<&'static str>>,
    /// Words that may hold a token for a thread that parks.
    pub tokens: Exclusive<Vec<usize>>,
    /// Not all that decides who may go, or which lock guards what, shows in events: a thread was kept back because it waits in a loop, or a lock
    /// that guards memory was given back by another thread than had taken it.
    pub irregular: Cell<bool>,
    /// How many blocks were handed out from regions.
    pub allocated: Cell<u32>,
    /// How many blocks were given back while there were regions.
    pub freed: Cell<u32>,
    /// How many times Rust's standard library did something that is not recorded, in functions that come by our stubs.
    pub unseen_in_std: Cell<u32>,
    /// The standard library's functions come by our stubs.
    pub has_stubs: Cell<bool>,
    /// The program's first thread was refused, as the driver wanted.
    pub refused_first: Cell<bool>,
    /// The program has made processes of its own.
    pub forked: Cell<bool>,
    /// The program's `main`.
    pub main: Cell<Option<crate::process::Main>>,
    /// The thread that ends the process in order.
    pub exits: Cell<Option<ThreadId>>,
    /// The thread that ended after all others, and runs the functions of the end.
    pub ends_last: Cell<Option<ThreadId>>,
    /// Some thread wants to end the process with a status that is a failure.
    pub ends_badly: Cell<bool>,
    /// A thread has given up, and the program's handler for that runs.
    pub giving_up: Exclusive<Option<crate::process::GivingUp>>,
    /// The runtime is inside the C library on business of its own.
    pub detour: Cell<bool>,
    /// What copies of the process would share.
    pub outward: Exclusive<crate::steered::Outward>,
    /// Where copies are left behind.
    pub checkpoints: Exclusive<crate::checkpoints::Checkpoints>,
    /// Where a steered copy takes its orders.
    pub order_slot: Cell<u32>,
    /// Learned records already taken in.
    pub learned: Cell<u64>,
    /// The locks of shared memory.
    pub guarding_locks: crate::guarding_locks::GuardingLocks,
    /// Code that is taken in one piece.
    pub whole_code: Exclusive<crate::indivisible_code::WholeCode>,
    /// What the closure that is repeated writes.
    pub writes: Exclusive<crate::repeat::Writes>,
    /// Announcements already taken out of the program's code.
    pub uninstrumented: Cell<u64>,
}

impl World {
    /// Whose code is whose. Looked up once, when the program starts.
    pub fn libraries(&self) -> &Libraries {
        self.libraries.get_or_init(Libraries::look)
    }
}
