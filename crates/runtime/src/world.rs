//! Everything the runtime knows of the program besides its threads.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use crate::address_hash::AddressHasher;
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

/// Synchronization objects by address. Entries are boxed and never dropped, so that a waiting
/// thread may point to one.
pub type Table<T> = HashMap<usize, Box<T>, BuildHasherDefault<AddressHasher>>;

/// The runtime's knowledge of the program.
#[derive(Default)]
pub struct World {
    /// Borrowed pthreads.
    #[allow(clippy::vec_box, reason = "a parked kernel thread sleeps on a word of its slot")]
    pub slots: Vec<Box<Slot>>,
    /// The size of stacks of which nobody says how large they shall be; 0 until somebody asks.
    pub usual_stack: usize,
    /// The lowest and the highest address of any thread's stack.
    pub stacks: std::ops::Range<usize>,
    /// The heap.
    pub heap: Heap,
    /// Where blocks of the heap come from, in executions that are reasoned about as a whole.
    pub regions: crate::heap::thread_regions::Regions,
    /// Call contexts.
    pub contexts: crate::call_contexts::Contexts,
    /// What is measured of calls.
    pub calls: crate::call_profile::Calls,
    /// Where threads stand.
    pub state_hashes: crate::thread_state_hash::StateHashes,
    /// Whose code is whose.
    pub libraries: Libraries,
    /// Thread-specific data keys.
    pub keys: Keys,
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
    pub named: Vec<Named>,
    /// Once-controls.
    pub onces: Table<Once>,
    /// Futex waiters.
    pub futexes: Futexes,
    /// The virtual clock, in nanoseconds.
    pub clock: crate::time::Clock,
    /// Seeded randomness for the program.
    pub entropy: crate::entropy::Entropy,
    /// Signals on their way, and timers that send them.
    pub signals: crate::signals::Signals,
    /// Who the process is to the program.
    pub identity: crate::process_identity::Identity,
    /// Descriptors that the program has made for itself.
    pub descriptors: crate::descriptors::Descriptors,
    /// A synchronization object was made to be shared between processes.
    pub process_shared: bool,
    /// Words that may hold a token for a thread that parks.
    pub tokens: Vec<usize>,
    /// The standard library's functions come by our stubs.
    pub has_stubs: bool,
    /// The program's first thread was refused, as the driver wanted.
    pub refused_first: bool,
    /// The program has made processes of its own.
    pub forked: bool,
    /// The runtime is inside the C library on business of its own.
    pub detour: bool,
    /// What copies of the process would share.
    pub outward: crate::steered::Outward,
    /// Where copies are left behind.
    pub checkpoints: crate::checkpoints::Checkpoints,
    /// Where a steered copy takes its orders.
    pub order_slot: u32,
    /// Learned records already taken in.
    pub learned: u64,
    /// The locks of shared memory.
    pub guards: crate::guarding_locks::Guards,
    /// Code that is taken in one piece.
    pub whole_code: crate::indivisible_code::WholeCode,
    /// What the closure that is repeated writes.
    pub writes: crate::repeat::Writes,
    /// Announcements already taken out of the program's code.
    pub uninstrumented: u64,
}
