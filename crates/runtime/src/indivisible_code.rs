//! Code that is taken in one piece in a program that has a closure repeated: in it no thread is switched, and nobody
//! takes note of what it touches. The driver says which it is.

use threadbare_wire::CodeRange;

use crate::shared_memory::Shared;

/// Whose code is at an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Owner {
    /// Nobody's, and so its caller's.
    Caller = 0,
    /// It is taken in one piece.
    Library = 1,
    /// The program's own.
    Program = 2,
}

/// What is known of the program's code; nothing as long as everything is looked at.
#[derive(Default)]
pub struct WholeCode {
    start: u64,
    owners: Vec<u8>,
}

impl WholeCode {
    /// Takes in what the driver has given, once. Called at the snapshot, where none of that code runs.
    pub fn take_in(&mut self, shared: &Shared) {
        let (library, program) = shared.whole_code();
        if self.owners.is_empty() && !library.is_empty() {
            *self = WholeCode::of(library, program);
            crate::uninstrument::apply_to(library);
        }
    }

    fn of(library: &[CodeRange], program: &[CodeRange]) -> WholeCode {
        const LARGEST: u64 = 1 << 28;
        let both = || library.iter().chain(program);
        let start = both().map(|range| range.start).min().unwrap_or(0);
        // What is far behind, in another library, is left out.
        let within = |range: &&CodeRange| range.end - start <= LARGEST;
        let end = both().filter(within).map(|range| range.end).max().unwrap_or(start);
        let mut owners = vec![Owner::Caller as u8; (end - start) as usize];
        for (ranges, owner) in [(library, Owner::Library), (program, Owner::Program)] {
            for range in ranges.iter().filter(within) {
                owners[(range.start - start) as usize..(range.end - start) as usize].fill(owner as u8);
            }
        }
        WholeCode { start, owners }
    }

    /// Whether any code is taken in one piece.
    #[inline(always)]
    pub fn is_known(&self) -> bool {
        !self.owners.is_empty()
    }

    /// Whether it is such code that has made these calls, innermost first.
    pub fn made(&self, calls: impl Iterator<Item = u64>) -> bool {
        self.owner_of(calls) == Some(Owner::Library)
    }

    /// Whose code it is that has made these calls, innermost first.
    fn owner_of(&self, calls: impl Iterator<Item = u64>) -> Option<Owner> {
        calls.map(|pc| self.owner(pc)).find(|owner| *owner != Owner::Caller)
    }

    /// Whose the call is that returns to `pc`.
    #[inline(always)]
    fn owner(&self, pc: u64) -> Owner {
        match self.owners.get(pc.wrapping_sub(1).wrapping_sub(self.start) as usize) {
            Some(1) => Owner::Library,
            Some(2) => Owner::Program,
            _ => Owner::Caller,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_belongs_to_the_code_that_it_is_in_and_not_to_what_it_returns_to() {
        let library = [CodeRange { start: 1000, end: 1010 }, CodeRange { start: 1100, end: 1200 }];
        let program = [CodeRange { start: 1010, end: 1020 }];
        let code = WholeCode::of(&library, &program);
        let found = |owner| (900..1300).filter(|pc| code.owner(*pc) == owner).collect::<Vec<u64>>();
        assert_eq!(found(Owner::Library), (1001..=1010).chain(1101..=1200).collect::<Vec<u64>>());
        assert_eq!(found(Owner::Program), (1011..=1020).collect::<Vec<u64>>());
    }

    #[test]
    fn of_nothing_nothing_is_known() {
        assert_eq!(WholeCode::default().owner(0), Owner::Caller);
        assert_eq!(WholeCode::of(&[], &[]).owner(1), Owner::Caller);
    }
}
