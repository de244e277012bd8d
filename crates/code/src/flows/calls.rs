//! Follows values through calls.

use super::announces::{Announces, Atomic};
use super::graph::{CLEAN, Name, Node};
use super::instructions::Wiring;
use super::places::{REGISTERS, each};
use super::pointers::{ANYWHERE, pointed, shifted};
use super::program::is_constant;
use super::value::{Position, Value};
use crate::Callee;
use crate::isa::{ALL_ARGUMENTS, ARGUMENTS, Control, Pointer};
use threadbare_library::{Role, function, role};

impl Wiring<'_> {
    /// Follows values into a call and out of it. A jump that leaves the function is a call whose results are the function's own.
    pub(super) fn call(&mut self, place: usize, callee: &Callee) {
        let it = &self.known.body.code[place];
        let is_jump = !it.is_call();
        match (Announces::of(callee), callee) {
            // What a jump announces is recorded at the caller's place.
            (Some(Announces::Access { .. } | Announces::Makes(..)), _) if is_jump => self.lost(place),
            (None, Callee::Import(name)) if is_jump && role(name).is_recorded() => self.lost(place),
            (Some(announces), _) => self.announce(place, announces),
            (None, Callee::Import(name)) => self.library(place, name),
            (None, _) => match self.program.callee(callee) {
                Some(callee) => self.own(place, callee, is_jump),
                None => self.indirect(place),
            },
        }
        if is_jump && !matches!(it.control, Control::Branch(_)) {
            self.flow_to_returned();
        }
    }

    /// The function returns.
    pub(super) fn flow_to_returned(&mut self) {
        for place in each(self.convention.returned & self.known.overwrites) {
            let node = self.read(place);
            self.graph.flow_to(node, Name::Returned(self.number, place));
        }
    }

    /// After a call out of the file nothing is left in the registers that it may overwrite.
    fn clear(&mut self) {
        for place in each(self.convention.volatile) {
            self.write(place, CLEAN);
        }
    }

    fn lost(&mut self, place: usize) {
        self.unknown(place);
        self.clear();
    }

    fn result(&mut self, node: Node) {
        for place in each(self.convention.result) {
            self.write(place, node);
        }
    }

    fn argument(&mut self, number: usize) -> Vec<Node> {
        self.registers(self.convention.argument(number))
    }

    fn joined(&mut self, arguments: &[usize]) -> Node {
        let mut from: Vec<Node> = arguments.iter().flat_map(|it| self.argument(*it)).collect();
        self.graph.join(&mut from)
    }

    fn announce(&mut self, place: usize, announces: Announces) {
        let site = self.known.body.code[place].next();
        match announces {
            Announces::Nothing => self.clear(),
            Announces::Access { reads, size, .. } => {
                let arguments: &[usize] = if size == 0 { &[0, 1] } else { &[0] };
                let steers = self.joined(arguments);
                self.graph.flow_to(steers, Name::Steer);
                if reads {
                    self.graph.named(Name::Read(site));
                }
                self.clear();
            }
            Announces::Makes(atomic, size) => self.atomic(place, atomic, size),
        }
    }

    fn atomic(&mut self, place: usize, atomic: Atomic, size: i64) {
        let site = self.known.body.code[place].next();
        let wide = size == 16;
        let address = self.joined(&[0]);
        self.graph.flow_to(address, Name::Steer);
        let found = if atomic.reads() { self.graph.named(Name::Read(site)) } else { CLEAN };
        let mut result = found;
        match atomic {
            Atomic::Load => {}
            Atomic::Store | Atomic::Exchange | Atomic::Update => {
                let operand = self.joined(if wide { &[1, 2] } else { &[1] });
                self.graph.flow_to(operand, Name::Write(site));
                if atomic == Atomic::Update {
                    self.graph.flow_to(found, Name::Write(site));
                }
            }
            Atomic::CompareInto | Atomic::CompareValue => {
                let (expected, new): (&[usize], &[usize]) = match (atomic, wide) {
                    (Atomic::CompareInto, false) => (&[], &[2]),
                    (Atomic::CompareInto, true) => (&[], &[2, 3]),
                    (_, false) => (&[1], &[2]),
                    (_, true) => (&[1, 2], &[3, 4]),
                };
                let mut compared = vec![self.joined(expected), found];
                let new = self.joined(new);
                if atomic == Atomic::CompareInto {
                    let pointer = self.joined(&[1]);
                    self.graph.flow_to(pointer, Name::Steer);
                    compared.extend(self.behind(place, 1, (0, size)));
                }
                let compared = self.graph.join(&mut compared);
                self.graph.flow_to(new, Name::Write(site));
                self.graph.flow_to(compared, Name::Write(site));
                if atomic == Atomic::CompareInto {
                    self.leave(place, 1, (0, size), compared);
                    self.lost_unless_own(place, 1, compared);
                    result = compared;
                }
            }
        }
        self.clear();
        self.result(result);
        if wide {
            for place in each(self.convention.upper_result) {
                self.write(place, result);
            }
        }
    }

    /// What is left where an argument points to is lost unless that is in a frame.
    fn lost_unless_own(&mut self, place: usize, argument: usize, node: Node) {
        if !self.is_own(self.facts.arguments[&place][argument]) {
            self.graph.flow_to(node, Name::Unknown);
        }
    }

    fn is_own(&self, pointer: Value) -> bool {
        matches!(self.facts.values.position(pointer), Some(Position::At(_) | Position::Somewhere))
    }

    /// What lies behind a pointer that is an argument of a call, as far as it is a frame's.
    fn behind(&mut self, place: usize, argument: usize, range: (i64, i64)) -> Vec<Node> {
        let pointer = self.facts.arguments[&place][argument];
        if let Some((mine, offset)) = pointed(self.facts, pointer) {
            let (offset, size) = shifted(range, offset);
            return vec![self.graph.named(Name::Behind(self.number, mine as u8, offset, size))];
        }
        match self.facts.values.position(pointer) {
            Some(Position::At(start)) if range != ANYWHERE && range.1 < i64::MAX => {
                self.read_slots(self.known.slots.within(start + range.0, range.1))
            }
            Some(Position::At(start)) => self.read_somewhere(self.known.slots.from(start)),
            Some(_) => self.read_somewhere(self.known.slots.all()),
            None => Vec::new(),
        }
    }

    /// Leaves something behind a pointer that is an argument of a call, as far as it is a frame's.
    fn leave(&mut self, place: usize, argument: usize, range: (i64, i64), node: Node) {
        let pointer = self.facts.arguments[&place][argument];
        if let Some((mine, offset)) = pointed(self.facts, pointer) {
            let (offset, size) = shifted(range, offset);
            return self.graph.flow_to(node, Name::Left(self.number, mine as u8, offset, size));
        }
        match self.facts.values.position(pointer) {
            Some(Position::At(start)) if range != ANYWHERE && range.1 < i64::MAX => {
                let slots = self.known.slots.within(start + range.0, range.1);
                slots.for_each(|slot| self.blend(slot, node));
                if let Some((stored, _)) = self.wide {
                    self.graph.flow(node, stored);
                }
            }
            Some(Position::At(start)) => self.write_somewhere(self.known.slots.from(start), node),
            Some(_) => self.write_somewhere(self.known.slots.all(), node),
            None => {}
        }
    }

    fn library(&mut self, place: usize, name: &str) {
        let site = self.known.body.code[place].next();
        let role = role(name);
        let mut result = CLEAN;
        match role {
            Role::Unknown => self.unknown(place),
            _ if role.is_recorded() => result = self.memory(place, site, role),
            _ => result = self.described(place, name, role),
        }
        self.clear();
        self.result(result);
        if function(name).is_some_and(|row| row.returns_pair) {
            for place in each(self.convention.upper_result) {
                self.write(place, result);
            }
        }
        if role == Role::Pure {
            for place in each(self.convention.float_result) {
                self.write(place, result);
            }
        }
    }

    /// A function whose row says what it does with what it is given. Whatever it leaves behind may come from all of that: its result, the error
    /// number, the memory that it writes.
    fn described(&mut self, place: usize, name: &str, role: Role) -> Node {
        let row = function(name);
        let takes = row.and_then(|row| row.takes);
        let numbers: Vec<usize> = ALL_ARGUMENTS[..takes.map_or(ARGUMENTS, usize::from)].to_vec();
        let mut from = vec![self.joined(&numbers)];
        let is_silent = matches!(role, Role::Silent | Role::Streams);
        if role == Role::Pure || is_silent && takes.is_none() {
            from.extend(self.registers(self.convention.float_arguments));
            from.extend(self.stack(place));
        }
        let values = self.graph.join(&mut from);
        let (reads, writes) = self.program.touched(self.known, place);
        let mut from = vec![values];
        for (argument, range) in reads {
            from.extend(self.behind(place, argument, range));
            // What is accessed by itself has a place among the events; what is not, nobody sees.
            let is_seen = row.is_some_and(|row| row.takes.is_some());
            if is_silent && !is_seen && !self.is_own_or_constant(place, argument) {
                from.push(self.graph.named(Name::Seen(self.number, place)));
            }
        }
        let given = self.graph.join(&mut from);
        match role {
            Role::Steers | Role::Waits | Role::Parses => self.graph.flow_to(given, Name::Steer),
            _ => {}
        }
        let is_lost = match role {
            Role::Keeps => true,
            Role::Parses => !self.program.is_given_from_outside(self.known, place),
            Role::Streams => self.program.has_streams_of_its_own,
            _ => false,
        };
        if is_lost {
            self.graph.flow_to(given, Name::Unknown);
        }
        let keeps_errno =
            row.is_some_and(|row| row.keeps_errno) || self.program.prints_plainly(self.known, place);
        if self.program.asks_for_errno && !keeps_errno {
            self.graph.flow_to(values, Name::Unknown);
        }
        if is_silent {
            for (argument, range) in writes {
                self.leave(place, argument, range, given);
                self.lost_unless_own(place, argument, given);
            }
        }
        match role {
            Role::Silent | Role::Pure => given,
            Role::Streams => self.joined(&[0]),
            _ => CLEAN,
        }
    }

    /// Whether what an argument points to is followed, as part of a frame, or never changes.
    fn is_own_or_constant(&self, place: usize, argument: usize) -> bool {
        let pointer = self.facts.arguments[&place][argument];
        self.is_own(pointer)
            || self.facts.values.as_constant(pointer).is_some()
            || is_constant(self.program.image, self.facts, pointer)
    }

    /// What may be an argument on the stack.
    fn stack(&mut self, place: usize) -> Vec<Node> {
        const WORDS: i64 = 8;
        match self.facts.tops.get(&place) {
            Some(Some(top)) => self.read_slots(self.known.slots.within(*top, 8 * WORDS)),
            _ => Vec::new(),
        }
    }

    /// A function of memory that is recorded.
    fn memory(&mut self, place: usize, site: u64, role: Role) -> Node {
        let all = self.joined(&[0, 1, 2]);
        let length = self.program.length(self.known, place);
        let (first, others) = (self.joined(&[0]), self.joined(&[1, 2]));
        if role != Role::Fills {
            self.graph.flow_to(all, Name::Steer);
        }
        match role {
            Role::Copies(to, from) => {
                let mut found = self.behind(place, from, (0, length));
                found.push(self.graph.named(Name::Read(site)));
                let found = self.graph.join(&mut found);
                self.graph.flow_to(found, Name::Write(site));
                if !self.program.has_length(self.known, place) {
                    self.graph.flow_to(found, Name::Steer);
                }
                self.leave(place, to, (0, length), found);
                first
            }
            Role::Appends => {
                let mut found = self.behind(place, 0, ANYWHERE);
                found.extend(self.behind(place, 1, ANYWHERE));
                found.push(self.graph.named(Name::Read(site)));
                let found = self.graph.join(&mut found);
                self.graph.flow_to(found, Name::Write(site));
                self.graph.flow_to(found, Name::Steer);
                self.leave(place, 0, ANYWHERE, found);
                first
            }
            Role::Fills => {
                let (byte, count) = (self.joined(&[1]), self.joined(&[2]));
                self.graph.flow_to(first, Name::Steer);
                self.graph.flow_to(count, Name::Steer);
                self.graph.flow_to(byte, Name::Write(site));
                self.leave(place, 0, (0, length), byte);
                first
            }
            _ => {
                let count = if role == Role::Looks(2) { 2 } else { 1 };
                let mut found = vec![self.graph.named(Name::Read(site)), first, others];
                for argument in 0..count {
                    found.extend(self.behind(place, argument, ANYWHERE));
                }
                let found = self.graph.join(&mut found);
                if role == Role::Duplicates {
                    self.graph.flow_to(found, Name::Unknown);
                }
                found
            }
        }
    }

    /// A function that nobody knows: everything that reaches its arguments is lost.
    fn unknown(&mut self, place: usize) {
        let mut given = self.registers(self.convention.passed & !self.convention.vector_count);
        for argument in ALL_ARGUMENTS {
            given.extend(self.behind(place, argument, ANYWHERE));
        }
        given.extend(self.stack(place));
        for node in given {
            self.graph.flow_to(node, Name::Unknown);
        }
    }

    /// A function of the program.
    fn own(&mut self, place: usize, callee: usize, is_jump: bool) {
        let other = &self.program.known[callee];
        for place in each(other.live & self.convention.passed) {
            let node = self.read(place);
            self.graph.flow_to(node, Name::Given(callee, place));
        }
        self.pass_on_stack(place, callee, is_jump);
        for argument in ALL_ARGUMENTS {
            for (offset, size) in &other.behind[argument].ranges {
                for node in self.behind(place, argument, (*offset, *size)) {
                    self.graph.flow_to(node, Name::Behind(callee, argument as u8, *offset, *size));
                }
            }
        }
        for argument in ALL_ARGUMENTS {
            for (offset, size) in &other.left[argument].ranges {
                let left = self.graph.named(Name::Left(callee, argument as u8, *offset, *size));
                self.leave(place, argument, (*offset, *size), left);
            }
        }
        for place in each(self.convention.volatile & other.overwrites) {
            if self.convention.returned >> place & 1 == 1 {
                let returned = self.graph.named(Name::Returned(callee, place));
                self.write(place, returned);
            } else {
                self.write(place, CLEAN);
            }
        }
    }

    fn pass_on_stack(&mut self, place: usize, callee: usize, is_jump: bool) {
        let Some(Some(top)) = self.facts.tops.get(&place) else { return };
        let first = if is_jump { *top } else { top - self.convention.return_address };
        for (start, end) in self.program.known[callee].slots.given(self.convention) {
            for node in self.read_slots(self.known.slots.within(first + start, end - start)) {
                self.graph.flow_to(node, Name::GivenOnStack(callee, start));
            }
        }
    }

    fn indirect(&mut self, place: usize) {
        let effect = &self.known.body.semantics[place].effect;
        let control = self.known.body.code[place].control;
        if let Control::CallThrough(Pointer::Register(register)) = control {
            for node in self.registers(self.convention.general(register)) {
                self.graph.flow_to(node, Name::Target);
            }
        }
        for (number, memory) in effect.memory.iter().enumerate().filter(|(_, memory)| memory.read) {
            for node in self.load((place, number), memory, self.facts.addresses[place][number]) {
                self.graph.flow_to(node, Name::Target);
            }
        }
        for node in self.stack(place) {
            self.graph.flow_to(node, Name::GivenToAny(REGISTERS));
        }
        self.call_any();
    }

    /// Any function that is pointed to may be the one that is called.
    pub(super) fn call_any(&mut self) {
        for place in each(self.convention.passed) {
            let node = self.read(place);
            self.graph.flow_to(node, Name::GivenToAny(place));
        }
        for place in each(self.convention.volatile) {
            let is_result = self.convention.returned >> place & 1 == 1;
            let node = if is_result { self.graph.named(Name::ReturnedByAny(place)) } else { CLEAN };
            self.write(place, node);
        }
    }
}
