//! Turns: executions of programs that change files, or take names that only one process can have, run one at a time.
//!
//! Servers of this process run side by side, and executions of most programs do not meet anywhere. What a program changes outside of itself is
//! seen when it happens, and put back afterwards; from then on its executions run alone. What a program changes *before* its first thread has to
//! be there for all executions of that server, and for no other server: it is put aside while another one has its turn.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use threadbare_wire::FileChange;

use crate::files;
use crate::program::Program;

/// The right to run an execution.
pub(crate) enum Turn {
    /// Beside others.
    Shared { _guard: RwLockReadGuard<'static, ()> },
    /// Alone.
    Alone { _guard: RwLockWriteGuard<'static, ()> },
}

impl Turn {
    pub fn is_alone(&self) -> bool {
        matches!(self, Turn::Alone { .. })
    }
}

/// What a server changed in files before its snapshot.
#[derive(Default)]
struct World {
    /// What was there before.
    before: Vec<FileChange>,
    /// What the program wants there, while others have their turn.
    aside: Option<Vec<FileChange>>,
}

#[derive(Default)]
struct Worlds {
    /// Programs that are known to change something outside of themselves.
    known: BTreeSet<u64>,
    /// Servers that live.
    worlds: BTreeMap<u64, World>,
    next: u64,
}

static TURNS: RwLock<()> = RwLock::new(());
static WORLDS: Mutex<Worlds> =
    Mutex::new(Worlds { known: BTreeSet::new(), worlds: BTreeMap::new(), next: 0 });

fn worlds() -> MutexGuard<'static, Worlds> {
    WORLDS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A server's place among those that take turns.
pub(crate) struct Place {
    number: u64,
    program: u64,
}

impl Place {
    /// A place for a server of this program, which has not been started yet.
    pub fn new(program: &Program) -> Place {
        let mut hasher = DefaultHasher::new();
        let Program { executable, args, stdin, env, folder, .. } = program;
        (executable, args, stdin, env, folder).hash(&mut hasher);
        let mut worlds = worlds();
        worlds.next += 1;
        let number = worlds.next;
        worlds.worlds.insert(number, World::default());
        Place { number, program: hasher.finish() }
    }

    /// Whether executions of the program have to run alone.
    pub fn is_known(&self) -> bool {
        worlds().known.contains(&self.program)
    }

    /// From now on they have to.
    pub fn becomes_known(&self) {
        worlds().known.insert(self.program);
    }

    /// Whether there are other servers, which this one could disturb.
    pub fn has_company(&self) -> bool {
        worlds().worlds.len() > 1
    }

    /// Waits for the server's turn. The files are then as its program wants them.
    pub fn take_turn(&self) -> Turn {
        if !self.is_known() {
            return Turn::Shared { _guard: TURNS.read().unwrap_or_else(PoisonError::into_inner) };
        }
        let guard = TURNS.write().unwrap_or_else(PoisonError::into_inner);
        let mut worlds = worlds();
        for (number, world) in &mut worlds.worlds {
            if *number != self.number && world.aside.is_none() && !world.before.is_empty() {
                // Outer folders come first, and are needed first.
                world.aside = Some(world.before.iter().rev().map(files::now).collect());
                files::put_back(&world.before);
            }
        }
        let wanted = worlds.worlds.get_mut(&self.number).and_then(|world| world.aside.take());
        files::put_back(&wanted.unwrap_or_default());
        Turn::Alone { _guard: guard }
    }

    /// What the program changed before its snapshot.
    pub fn note_start(&self, before: Vec<FileChange>) {
        if let Some(world) = worlds().worlds.get_mut(&self.number) {
            world.before = before;
        }
    }
}

impl Drop for Place {
    /// The server has ended: what it changed before its snapshot is undone.
    fn drop(&mut self) {
        let is_needed = worlds().worlds.get(&self.number).is_some_and(|world| !world.before.is_empty());
        let _turn = is_needed.then(|| TURNS.write().unwrap_or_else(PoisonError::into_inner));
        let world = worlds().worlds.remove(&self.number);
        if let Some(World { before, aside: None }) = world {
            files::put_back(&before);
        }
    }
}
