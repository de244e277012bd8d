//! Jumps through tables, as compilers make them of `switch`.

use crate::image::Image;
use crate::isa::{Address, Instruction, Operand, Operation, Pointer, Register, Semantics};

/// How far a table is read at most.
const MOST: u64 = 4096;

/// A function's instructions.
pub struct Listing<'a> {
    pub image: &'a Image<'a>,
    pub instructions: &'a [Instruction],
    pub semantics: &'a [Semantics],
}

impl Listing<'_> {
    /// Where the jump at this place may lead, if it goes through a table that can be found. `inside` says whether an address is
    /// one where an instruction of the function begins.
    pub fn jump_targets(
        &self,
        jump: usize,
        through: Pointer,
        inside: impl Fn(u64) -> bool,
    ) -> Option<Vec<u64>> {
        let target = match through {
            Pointer::Slot(_) => return None,
            Pointer::Memory(address) => return self.whole(address, &inside),
            Pointer::Register(target) => target,
        };
        let (load, address, size) = self.load_before(jump, target)?;
        if size == 8 {
            return self.whole(address, &inside);
        }
        if size != 4 {
            return None;
        }
        let bases = [address.base, address.index.map(|(index, _)| index)];
        let base = bases.into_iter().flatten().find_map(|base| self.constant_before(load, base))?;
        let places = 0..self.instructions.len();
        let other_tables = places.filter_map(|place| self.address_taken(place)).filter(|it| *it > base);
        let end = other_tables.min().unwrap_or(u64::MAX).min(base + 4 * MOST);
        let entry = |address: u64| {
            let bytes = self.image.constant(address)?.first_chunk::<4>()?;
            Some(base.wrapping_add_signed(i64::from(i32::from_le_bytes(*bytes))))
        };
        collect((base..end).step_by(4).map_while(entry), &inside)
    }

    /// A table of addresses, indexed by eight times a register.
    fn whole(&self, table: Address, inside: &impl Fn(u64) -> bool) -> Option<Vec<u64>> {
        let Address { base: None, index: Some((_, 8)), plus, .. } = table else { return None };
        let base = plus as u64;
        let entry =
            |address: u64| Some(u64::from_le_bytes(*self.image.constant(address)?.first_chunk::<8>()?));
        collect((base..base + 8 * MOST).step_by(8).map_while(entry), inside)
    }

    /// The instruction that loads a table's entry into the register, some way before a jump to it: its place, and the
    /// entry's address and size.
    fn load_before(&self, jump: usize, target: Register) -> Option<(usize, Address, u32)> {
        const NEAR: usize = 12;
        let near = jump.saturating_sub(NEAR)..jump;
        near.rev().find_map(|place| {
            let (Operation::Copy { to, from } | Operation::SignExtend { to, from, .. }) =
                self.semantics[place].operation
            else {
                return None;
            };
            let (Operand::Register(to, _), Operand::Memory(address, size)) = (to, from) else { return None };
            (address.index.is_some() && (to == target || size == 4)).then_some((place, address, size))
        })
    }

    /// The constant data whose address a register was given last.
    fn constant_before(&self, place: usize, base: Register) -> Option<u64> {
        let gives = |place: &usize| match self.semantics[*place].operation {
            Operation::AddressOf { to: Operand::Register(to, _), .. } => to == base,
            _ => false,
        };
        (0..place).rev().filter(gives).find_map(|place| self.address_taken(place))
    }

    /// The constant data whose address an instruction computes.
    fn address_taken(&self, place: usize) -> Option<u64> {
        let Operation::AddressOf { .. } = self.semantics[place].operation else { return None };
        self.instructions[place].names.filter(|address| self.image.constant(*address).is_some())
    }
}

fn collect(entries: impl Iterator<Item = u64>, inside: &impl Fn(u64) -> bool) -> Option<Vec<u64>> {
    let mut found: Vec<u64> = entries.take_while(|target| inside(*target)).collect();
    found.sort_unstable();
    found.dedup();
    (!found.is_empty()).then_some(found)
}
