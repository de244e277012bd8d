//! Jumps through tables, as compilers make them of `switch`.

use iced_x86::{Instruction, OpKind, Register};

use crate::image::{Image, goes_through_slot};

/// How far a table is read at most.
const MOST: u64 = 4096;

/// Where the jump at this place in a function's code may lead, if it goes through a table that can be found. `inside` says whether an address is
/// one where an instruction of the function begins.
pub fn targets(
    image: &Image<'_>,
    code: &[Instruction],
    jump: usize,
    inside: impl Fn(u64) -> bool,
) -> Option<Vec<u64>> {
    let it = &code[jump];
    if goes_through_slot(it) {
        return None;
    }
    if it.op0_kind() == OpKind::Memory {
        return whole(image, it, &inside);
    }
    let target = it.op0_register().full_register();
    let load = loads_before(code, jump, target)?;
    let it = &code[load];
    if it.memory_size().size() == 8 {
        return whole(image, it, &inside);
    }
    if it.memory_size().size() != 4 {
        return None;
    }
    let bases = [it.memory_base(), it.memory_index()];
    let base = bases.into_iter().find_map(|base| constant_before(image, code, load, base))?;
    let other_tables = code.iter().filter_map(|it| address_taken(image, it)).filter(|it| *it > base);
    let end = other_tables.min().unwrap_or(u64::MAX).min(base + 4 * MOST);
    let entry = |address: u64| {
        let bytes = image.constant(address)?.first_chunk::<4>()?;
        Some(base.wrapping_add_signed(i64::from(i32::from_le_bytes(*bytes))))
    };
    collect((base..end).step_by(4).map_while(entry), &inside)
}

/// A table of addresses, indexed by eight times a register.
fn whole(image: &Image<'_>, it: &Instruction, inside: &impl Fn(u64) -> bool) -> Option<Vec<u64>> {
    if it.memory_base() != Register::None || it.memory_index_scale() != 8 {
        return None;
    }
    let base = it.memory_displacement64();
    let entry = |address: u64| Some(u64::from_le_bytes(*image.constant(address)?.first_chunk::<8>()?));
    collect((base..base + 8 * MOST).step_by(8).map_while(entry), inside)
}

fn collect(entries: impl Iterator<Item = u64>, inside: &impl Fn(u64) -> bool) -> Option<Vec<u64>> {
    let mut found: Vec<u64> = entries.take_while(|target| inside(*target)).collect();
    found.sort_unstable();
    found.dedup();
    (!found.is_empty()).then_some(found)
}

/// The instruction that loads a table's entry into the register, some way before a jump to it.
fn loads_before(code: &[Instruction], jump: usize, target: Register) -> Option<usize> {
    const NEAR: usize = 12;
    let near = jump.saturating_sub(NEAR)..jump;
    near.rev().find(|place| {
        let it = &code[*place];
        let loads =
            it.op_count() == 2 && it.op1_kind() == OpKind::Memory && it.memory_base() != Register::RIP;
        let into = it.op0_kind() == OpKind::Register && it.op0_register().is_gpr();
        let indexed = it.memory_index() != Register::None;
        let fits = it.op0_register().full_register() == target || it.memory_size().size() == 4;
        loads && into && indexed && fits && it.mnemonic() != iced_x86::Mnemonic::Lea
    })
}

/// The constant data whose address a register was given last.
fn constant_before(image: &Image<'_>, code: &[Instruction], place: usize, base: Register) -> Option<u64> {
    if base == Register::None {
        return None;
    }
    let gives = |it: &&Instruction| {
        it.op0_kind() == OpKind::Register && it.op0_register().full_register() == base.full_register()
    };
    let earlier = code[..place].iter().rev().filter(gives);
    { earlier }.find_map(|it| address_taken(image, it))
}

fn address_taken(image: &Image<'_>, it: &Instruction) -> Option<u64> {
    let is_lea = it.mnemonic() == iced_x86::Mnemonic::Lea && it.memory_base() == Register::RIP;
    let address = it.ip_rel_memory_address();
    (is_lea && image.constant(address).is_some()).then_some(address)
}
