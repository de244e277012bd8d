//! The file: where code is, what it is called, and what its calls through tables lead to.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use object::read::elf::ElfFile64;
use object::{
    Object, ObjectKind, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SectionFlags,
    SectionKind, SymbolKind, elf,
};

use crate::function::Callee;
use crate::isa::{self, InstructionSet};

/// A named piece of code.
pub struct Named {
    pub start: u64,
    pub end: u64,
    pub name: String,
}

/// Why the code of a file cannot be read.
pub enum Refusal {
    /// It is no ELF file, or not a whole one.
    NotElf(object::Error),
    /// Its instructions are not known.
    OtherProcessor,
}

impl From<object::Error> for Refusal {
    fn from(cause: object::Error) -> Refusal {
        Refusal::NotElf(cause)
    }
}

/// What is needed of a file.
pub struct Image<'a> {
    /// How its code is read.
    pub instruction_set: &'static dyn InstructionSet,
    sections: Vec<(u64, &'a [u8])>,
    /// Data that does not change while the program runs: it may only be read, or only the loader writes it.
    constants: Vec<(u64, &'a [u8])>,
    pub named: Vec<Named>,
    /// What the loader writes to places in memory that nobody changes afterwards.
    slots: HashMap<u64, Callee>,
    /// Functions whose address is in data.
    pub pointed_to: Vec<u64>,
    /// Whether it is loaded at the addresses that are written in the file.
    pub is_fixed: bool,
    /// Whether some of its functions do something when an exception passes through.
    pub handles_exceptions: bool,
    /// From where to where its addresses are.
    extent: Range<u64>,
}

impl<'a> Image<'a> {
    pub fn parse(bytes: &'a [u8]) -> Result<Image<'a>, Refusal> {
        let file: ElfFile64<'a> = ElfFile64::parse(bytes)?;
        let instruction_set = isa::of(file.architecture()).ok_or(Refusal::OtherProcessor)?;
        let is_code = |kind| kind == SectionKind::Text;
        let mut sections = Vec::new();
        for section in file.sections().filter(|section| is_code(section.kind())) {
            sections.push((section.address(), section.data()?));
        }
        let mut constants = Vec::new();
        let mut extent = Range { start: u64::MAX, end: 0 };
        for section in file.sections() {
            let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
            let has = |flag: elf::SectionFlags| sh_flags.contains(flag);
            let name = section.name().unwrap_or_default();
            let is_settled = name.starts_with(".got") || name.starts_with(".data.rel.ro");
            if has(elf::SHF_ALLOC) && !has(elf::SHF_TLS) && section.address() > 0 {
                extent.start = extent.start.min(section.address());
                extent.end = extent.end.max(section.address() + section.size());
            }
            if !has(elf::SHF_ALLOC) || has(elf::SHF_EXECINSTR) || has(elf::SHF_TLS) {
                continue;
            }
            if has(elf::SHF_WRITE) && !is_settled {
                continue;
            }
            constants.push((section.address(), section.data()?));
        }
        let named = named(&file);
        let (mut slots, pointed_to) = slots(&file, instruction_set);
        // What the loader writes elsewhere is only what is there first: the program may put another pointer there.
        let is_constant = |address: &u64| {
            let holds = |(start, data): &(u64, &[u8])| (*start..start + data.len() as u64).contains(address);
            constants.iter().any(holds)
        };
        slots.retain(|address, _| is_constant(address));
        let is_fixed = file.kind() == ObjectKind::Executable;
        let handles_exceptions =
            file.section_by_name(".gcc_except_table").is_some_and(|section| section.size() > 0);
        Ok(Image {
            instruction_set,
            sections,
            constants,
            named,
            slots,
            pointed_to,
            is_fixed,
            handles_exceptions,
            extent,
        })
    }

    /// Whether an address is one of the file's.
    pub fn holds(&self, address: u64) -> bool {
        self.extent.contains(&address)
    }

    /// Data that never changes, from an address to the end of its section.
    pub fn constant(&self, address: u64) -> Option<&'a [u8]> {
        let inside = |(start, data): &&(u64, &[u8])| (*start..*start + data.len() as u64).contains(&address);
        let (start, data) = self.constants.iter().find(inside)?;
        data.get((address - start) as usize..)
    }

    /// The code between two addresses.
    pub fn code(&self, start: u64, end: u64) -> Option<&'a [u8]> {
        let inside =
            |(address, data): &&(u64, &[u8])| *address <= start && end <= *address + data.len() as u64;
        let (address, data) = self.sections.iter().find(inside)?;
        data.get((start - address) as usize..(end - address) as usize)
    }

    /// What a place in memory leads to.
    pub fn slot(&self, address: u64) -> Option<&Callee> {
        self.slots.get(&address)
    }

    /// What a call of this address comes to: a linkage stub leads on.
    pub fn behind(&self, address: u64) -> Option<&Callee> {
        let code = self.code(address, address + self.instruction_set.stub_length())?;
        self.slot(self.instruction_set.linkage_slot(code, address)?)
    }
}

fn named(file: &ElfFile64<'_>) -> Vec<Named> {
    let mut found: BTreeMap<u64, Named> = BTreeMap::new();
    for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text) {
        let (start, size) = (symbol.address(), symbol.size());
        let Ok(name) = symbol.name() else { continue };
        if size > 0 && symbol.is_definition() {
            let named = || Named { start, end: start + size, name: name.to_string() };
            found.entry(start).or_insert_with(named);
        }
    }
    let mut all: Vec<Named> = found.into_values().collect();
    // Aliases may overlap; the code up to the next function belongs to the first.
    for place in 1..all.len() {
        let next = all[place].start;
        all[place - 1].end = all[place - 1].end.min(next);
    }
    all
}

fn slots(file: &ElfFile64<'_>, instruction_set: &dyn InstructionSet) -> (HashMap<u64, Callee>, Vec<u64>) {
    let (mut slots, mut pointed_to) = (HashMap::new(), Vec::new());
    let symbols = file.dynamic_symbol_table();
    for (address, relocation) in file.dynamic_relocations().into_iter().flatten() {
        let kind = match relocation.flags() {
            RelocationFlags::Elf { r_type } => r_type,
            _ => continue,
        };
        let symbol = match relocation.target() {
            RelocationTarget::Symbol(index) => {
                symbols.as_ref().and_then(|it| object::ObjectSymbolTable::symbol_by_index(it, index).ok())
            }
            _ => None,
        };
        let callee = match (symbol, kind) {
            (Some(symbol), _) if symbol.is_definition() => Callee::Function(symbol.address()),
            (Some(symbol), _) => Callee::Import(symbol.name().unwrap_or_default().to_string()),
            (None, kind) if instruction_set.is_relative(kind) => Callee::Function(relocation.addend() as u64),
            _ => continue,
        };
        if let Callee::Function(start) = callee {
            pointed_to.push(start);
        }
        slots.insert(address, callee);
    }
    pointed_to.sort_unstable();
    pointed_to.dedup();
    (slots, pointed_to)
}
