//! Registers that hold nothing which is still needed.
//!
//! Compilers leave old values in registers that a call preserves. Whoever compares states of threads need not look at
//! those that are overwritten on every path before they are read.

use std::collections::HashMap;

use crate::image::Image;
use crate::isa::{CallingConvention, Control, Instruction, Pointer, Registers, Semantics};
use crate::{Announcement, Call, Code, CodeFunction};

/// What is not needed any more while a call is in progress.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct DeadRegisters {
    /// Where the call returns to.
    pub after: u64,
    /// A bit for each general register that a call preserves and nobody reads before it is overwritten.
    pub registers: u16,
}

impl Code {
    /// The dead registers after each call where there are some, by address.
    ///
    /// What an exception leads to is not followed: in a file with handlers, all registers count as read wherever a call may throw.
    pub fn dead_registers(&self) -> Vec<DeadRegisters> {
        let Ok(image) = Image::parse(&self.bytes) else { return Vec::new() };
        let convention = image.instruction_set.convention();
        let handles_exceptions = image.handles_exceptions;
        let mut found = Vec::new();
        for function in self.functions() {
            let Some(bytes) = image.code(function.start, function.end) else { continue };
            let code = image.instruction_set.decode(bytes, function.start);
            let semantics = image.instruction_set.semantics(bytes, function.start);
            let flow = Flow { function, convention, handles_exceptions, code: &code, semantics: &semantics };
            found.extend(flow.dead());
        }
        found.sort_unstable();
        found.dedup_by_key(|it| it.after);
        found
    }
}

/// A function whose registers are looked at.
struct Flow<'a> {
    function: &'a CodeFunction,
    convention: &'static CallingConvention,
    handles_exceptions: bool,
    code: &'a [Instruction],
    semantics: &'a [Semantics],
}

impl Flow<'_> {
    fn dead(&self) -> Vec<DeadRegisters> {
        let places: HashMap<u64, usize> =
            self.code.iter().enumerate().map(|(at, it)| (it.address, at)).collect();
        // What is read from each instruction on. Backwards, since most jumps lead forwards.
        let mut live: Vec<Registers> = vec![0; self.code.len()];
        loop {
            let mut changed = false;
            for at in (0..self.code.len()).rev() {
                let new = self.before(at, self.behind(at, &live, &places));
                changed |= new != live[at];
                live[at] = new;
            }
            if !changed {
                break;
            }
        }
        let calls = (0..self.code.len()).filter(|at| self.code[*at].is_call());
        let dead = calls.map(|at| (self.code[at].next(), self.generals(!self.behind(at, &live, &places))));
        dead.filter(|(_, registers)| *registers != 0)
            .map(|(after, registers)| DeadRegisters { after, registers })
            .collect()
    }

    /// The registers that a call preserves, apart from the stack pointer.
    fn preserved(&self) -> Registers {
        let all = self.convention.general.iter().fold(0, |all, one| all | one);
        all & !self.convention.volatile & !self.convention.stack()
    }

    /// The preserved general registers all of whose parts are in a set.
    fn generals(&self, set: Registers) -> u16 {
        let preserved = set & self.preserved();
        let whole = self.convention.generals(preserved).filter(|register| {
            let all = self.convention.general(*register);
            preserved & all == all
        });
        whole.fold(0, |bits, register| bits | 1 << register)
    }

    /// What may be read before an instruction, if this may be read behind it.
    fn before(&self, at: usize, behind: Registers) -> Registers {
        let effect = &self.semantics[at].effect;
        let overwritten = effect.writes & !effect.keeps;
        let in_addresses = effect.memory.iter().fold(0, |all, memory| all | memory.registers);
        let through = match self.code[at].control {
            Control::JumpThrough(Pointer::Register(it)) | Control::CallThrough(Pointer::Register(it)) => {
                self.convention.general(it)
            }
            _ => 0,
        };
        (behind & !overwritten) | effect.reads | effect.keeps | in_addresses | through
    }

    /// What may be read behind an instruction.
    fn behind(&self, at: usize, live: &[Registers], places: &HashMap<u64, usize>) -> Registers {
        let all = self.preserved();
        let from = |address: u64| places.get(&address).map_or(all, |place| live[*place]);
        let it = &self.code[at];
        match it.control {
            Control::Next => from(it.next()),
            Control::Branch(target) => from(it.next()) | from(target),
            Control::Jump(target) => from(target),
            Control::Call(_) | Control::CallThrough(_) => {
                let call = self.call_at(it.address);
                let never_returns = call.is_some_and(|call| call.to.never_returns());
                let announces = call.is_some_and(|call| Announcement::of(&call.to).is_some());
                match () {
                    () if self.handles_exceptions && !announces => all,
                    () if never_returns => 0,
                    () => from(it.next()),
                }
            }
            // What the compiler takes to be unreachable. Instructions that are not known end like this, too.
            Control::Trap if it.is_padding => 0,
            Control::JumpThrough(_)
            | Control::CallSystem
            | Control::Return
            | Control::Trap
            | Control::Interrupt
            | Control::Transaction => all,
        }
    }

    fn call_at(&self, address: u64) -> Option<&Call> {
        let place = self.function.calls.binary_search_by_key(&address, |call| call.at).ok()?;
        Some(&self.function.calls[place])
    }
}

#[cfg(test)]
mod tests {
    use object::Architecture;

    use super::*;
    use crate::isa;

    const START: u64 = 0x1000;
    const RBX: u16 = 1 << 3;

    fn dead(bytes: &[u8], handles_exceptions: bool) -> Vec<DeadRegisters> {
        let set = isa::of(Architecture::X86_64).unwrap();
        let (code, semantics) = (set.decode(bytes, START), set.semantics(bytes, START));
        let function = CodeFunction {
            start: START,
            end: START + bytes.len() as u64,
            name: "f".to_string(),
            part_of: None,
            blocks: Vec::new(),
            calls: Vec::new(),
            is_clear: true,
            is_pointed_to: false,
        };
        let (function, code, semantics) = (&function, &code, &semantics);
        Flow { function, convention: set.convention(), handles_exceptions, code, semantics }.dead()
    }

    /// Calls, keeps the result in `rbx`, calls again, and returns what was kept.
    const KEEPS: &[u8] = &[
        0xe8, 0, 0, 0, 0, // call
        0x89, 0xc3, // mov ebx, eax
        0xe8, 0, 0, 0, 0, // call
        0x89, 0xd8, // mov eax, ebx
        0x5b, // pop rbx
        0xc3, // ret
    ];

    #[test]
    fn a_register_is_dead_until_it_is_written() {
        assert_eq!(dead(KEEPS, false), [DeadRegisters { after: START + 5, registers: RBX }]);
    }

    #[test]
    fn a_handler_of_exceptions_may_read_everything() {
        assert_eq!(dead(KEEPS, true), []);
    }

    #[test]
    fn what_one_branch_reads_is_not_dead() {
        let branches: &[u8] = &[
            0xe8, 0, 0, 0, 0, // call
            0x74, 0x02, // je over the next
            0x89, 0xc3, // mov ebx, eax
            0x89, 0xd8, // mov eax, ebx
            0x5b, // pop rbx
            0xc3, // ret
        ];
        assert_eq!(dead(branches, false), []);
    }

    #[test]
    fn a_part_that_is_kept_keeps_the_register_alive() {
        let low_byte: &[u8] = &[
            0xe8, 0, 0, 0, 0, // call
            0x88, 0xc3, // mov bl, al
            0x89, 0xd8, // mov eax, ebx
            0x5b, // pop rbx
            0xc3, // ret
        ];
        assert_eq!(dead(low_byte, false), []);
    }

    #[test]
    fn what_an_address_is_made_of_or_a_call_goes_through_is_read() {
        let load: &[u8] = &[0xe8, 0, 0, 0, 0, 0x8b, 0x03, 0x5b, 0xc3]; // call; mov eax, [rbx]; pop rbx; ret
        let call: &[u8] = &[0xe8, 0, 0, 0, 0, 0xff, 0xd3, 0x5b, 0xc3]; // call; call rbx; pop rbx; ret
        let after_the_second = DeadRegisters { after: START + 7, registers: RBX };
        assert_eq!(dead(load, false), []);
        assert_eq!(dead(call, false), [after_the_second]);
    }

    #[test]
    fn who_returns_gives_back_what_it_was_given() {
        assert_eq!(dead(&[0xe8, 0, 0, 0, 0, 0xc3], false), []);
    }
}
