//! Which accesses can meet: what was seen to touch no memory in common with a function that it is paired with need not be looked at again.

use std::collections::{BTreeSet, HashMap, HashSet};

use threadbare_code::{Announcement, Code};
use threadbare_coverage::cfp::{FunctionAddress, FunctionPair};
use threadbare_trace::{Event, ThreadId};

/// Accesses to the same eight bytes count as accesses to the same memory.
const GRAIN_BITS: u32 = 3;
/// Bits for the number of an actor beside a grain.
const ACTOR_BITS: u32 = 16;

/// A place in the code, in one thread.
struct Actor {
    pc: u64,
    thread: ThreadId,
    function: Option<FunctionAddress>,
    /// It touches memory that another thread touches in a function that it is paired with.
    meets: bool,
}

/// What an execution shows of accesses that can meet.
pub(super) struct Meeting {
    /// Functions of a pair touched the same memory in different threads.
    pub any: bool,
    /// The announcements of accesses that were made, but to no memory that another thread touched in a function that theirs is paired with.
    pub apart: Vec<u64>,
}

/// Which accesses of an execution can meet. Addresses in events have the bias added, those in the code have not.
pub(super) fn meeting<'e>(
    events: impl Iterator<Item = &'e Event>,
    code: &Code,
    bias: u64,
    pairs: &BTreeSet<FunctionPair>,
) -> Meeting {
    let pairs: HashSet<FunctionPair> = pairs.iter().copied().collect();
    let mut actors: Vec<Actor> = Vec::new();
    let mut numbers: HashMap<(u64, ThreadId), u64> = HashMap::new();
    let mut touches: Vec<u64> = Vec::new();
    for event in events {
        let Some(kind) = event.kind().filter(|kind| kind.accesses_memory()) else { continue };
        let number = *numbers.entry((event.pc, event.thread)).or_insert_with(|| {
            let function = code.function_at(event.pc.wrapping_sub(1).wrapping_sub(bias)).map(|it| it.start);
            actors.push(Actor { pc: event.pc, thread: event.thread, function, meets: false });
            actors.len() as u64 - 1
        });
        let size = if kind.accesses_range() { event.value } else { u64::from(event.size) };
        let last = event.addr.saturating_add(size.max(1) - 1) >> GRAIN_BITS;
        touches.extend((event.addr >> GRAIN_BITS..=last).map(|grain| grain << ACTOR_BITS | number));
    }
    if actors.len() > 1 << ACTOR_BITS {
        return Meeting { any: true, apart: Vec::new() };
    }
    touches.sort_unstable();
    touches.dedup();
    for same in touches.chunk_by(|one, other| one >> ACTOR_BITS == other >> ACTOR_BITS) {
        meet(same, &mut actors, &pairs);
    }
    let met: HashSet<u64> = actors.iter().filter(|it| it.meets).map(|it| it.pc).collect();
    let alone: BTreeSet<u64> = actors.iter().map(|it| it.pc).filter(|pc| !met.contains(pc)).collect();
    let apart = alone.into_iter().filter_map(|pc| announcement(code, pc.wrapping_sub(bias))).collect();
    Meeting { any: !met.is_empty(), apart }
}

/// Notes which of those that touch the same memory are paired.
fn meet(same: &[u64], actors: &mut [Actor], pairs: &HashSet<FunctionPair>) {
    let number = |touch: u64| (touch & ((1 << ACTOR_BITS) - 1)) as usize;
    for (place, one) in same.iter().enumerate() {
        for other in &same[place + 1..] {
            let (one, other) = (number(*one), number(*other));
            let (a, b) = (&actors[one], &actors[other]);
            if a.thread == b.thread || a.meets && b.meets {
                continue;
            }
            let paired = match (a.function, b.function) {
                (Some(a), Some(b)) => pairs.contains(&FunctionPair::of(a, b)),
                // Nobody knows what code outside of the executable can meet.
                _ => true,
            };
            if paired {
                actors[one].meets = true;
                actors[other].meets = true;
            }
        }
    }
}

/// The call that announces an access and returns to this address.
fn announcement(code: &Code, returns_to: u64) -> Option<u64> {
    let mut calls = code.function_at(returns_to.checked_sub(1)?)?.announcements();
    let is_it = |at: u64, length: u8| at + u64::from(length) == returns_to;
    calls
        .find(|(call, what)| *what == Announcement::Access && !call.is_jump && is_it(call.at, call.length))
        .map(|(call, _)| call.at)
}
