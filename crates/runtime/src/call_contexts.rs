//! Call contexts: every distinct stack of calls gets a number, so that an event can carry it.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use crate::address_hash::AddressHasher;
use crate::shared_memory::Shared;

/// The contexts met so far.
#[derive(Default)]
pub struct Contexts {
    numbers: HashMap<(u32, u64), u32, BuildHasherDefault<AddressHasher>>,
}

impl Contexts {
    /// The context of a call that returns to `pc`, made in the context `parent`. When the table is
    /// full, inner calls count as their caller.
    pub fn inside(&mut self, parent: u32, pc: u64, shared: &Shared) -> u32 {
        if let Some(number) = self.numbers.get(&(parent, pc)) {
            return *number;
        }
        let Some(number) = shared.context(parent, pc) else { return parent };
        self.numbers.insert((parent, pc), number);
        number
    }
}
