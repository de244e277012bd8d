//! Which code is the programmer's own: where a lock is taken is the line that asks for it, not the one in
//! a library's header that all locks go through.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use addr2line::gimli::{self, AttributeValue, UnitOffset};
use object::Endianness;
use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use threadbare_wire::{CodeRange, ContextRecord, RUNTIME_LIBRARY, own_place};

use crate::modules::Modules;
use crate::symbols::{calls, is_of_system};
use crate::types::reading::{Dwarf, Entry, Unit, debug_information};

/// Padding between functions, at most.
const PADDING: u64 = 15;

/// The own code of one program. Debug information is read when first asked for.
///
/// Without debug information no code is known to be own, and every step is at its innermost call.
#[derive(Debug, Default)]
pub struct OwnCode {
    modules: Modules,
    ranges: OnceLock<Vec<CodeRange>>,
}

impl OwnCode {
    /// The own code in what is loaded in a program.
    pub fn of(modules: &Modules) -> OwnCode {
        OwnCode { modules: modules.clone(), ranges: OnceLock::new() }
    }

    /// The ranges of own code, in order of address and disjoint.
    pub fn ranges(&self) -> &[CodeRange] {
        self.ranges.get_or_init(|| {
            let modules = self.modules.all().iter().filter(|module| module.name != RUNTIME_LIBRARY);
            let moved = |range: Range<u64>, bias: u64| CodeRange {
                start: range.start.wrapping_add(bias),
                end: range.end.wrapping_add(bias),
            };
            let ranges = modules.flat_map(|module| {
                own_functions(&module.path).into_iter().map(|range| moved(range, module.bias))
            });
            in_order(ranges.collect())
        })
    }

    /// The place in the program's own code from which a step at `pc` was made, in this context of an execution's
    /// table of contexts.
    pub fn place(&self, pc: u64, context: u32, contexts: &[ContextRecord]) -> u64 {
        own_place(self.ranges(), calls(pc, context, contexts))
    }
}

/// Sorts ranges and puts those together that overlap or lie next to each other.
fn in_order(mut ranges: Vec<CodeRange>) -> Vec<CodeRange> {
    ranges.sort_unstable();
    let mut apart: Vec<CodeRange> = Vec::new();
    for range in ranges {
        match apart.last_mut() {
            Some(last) if range.start <= last.end + PADDING => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    apart
}

/// The code of all functions in a file that were written in the program's own sources, inlined or not.
fn own_functions(path: &Path) -> Vec<Range<u64>> {
    let content = std::fs::read(path).unwrap_or_default();
    let mut own = Vec::new();
    if let Ok(elf) = ElfFile::<FileHeader64<Endianness>>::parse(&*content)
        && let Ok(dwarf) = debug_information(&elf)
    {
        // Damaged debug information is as good as none from where it is damaged.
        let _ = read(&dwarf, &mut own);
    }
    own
}

fn read(dwarf: &Dwarf<'_>, own: &mut Vec<Range<u64>>) -> gimli::Result<()> {
    let mut headers = dwarf.units();
    while let Some(header) = headers.next()? {
        let unit = dwarf.unit(header)?;
        let mut sources = Sources::new(dwarf, &unit);
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            if matches!(entry.tag(), gimli::DW_TAG_subprogram | gimli::DW_TAG_inlined_subroutine) {
                let mut ranges = dwarf.die_ranges(&unit, entry)?;
                while let Some(range) = ranges.next()? {
                    if range.begin < range.end && range.begin != 0 && sources.is_own_function(entry)? {
                        own.push(range.begin..range.end);
                    }
                }
            }
        }
    }
    Ok(())
}

/// The source files of one unit.
pub(crate) struct Sources<'u, 'a> {
    dwarf: &'u Dwarf<'a>,
    unit: &'u Unit<'a>,
    is_own: HashMap<u64, bool>,
}

impl<'u, 'a> Sources<'u, 'a> {
    /// Those of this unit.
    pub(crate) fn new(dwarf: &'u Dwarf<'a>, unit: &'u Unit<'a>) -> Sources<'u, 'a> {
        Sources { dwarf, unit, is_own: HashMap::new() }
    }

    /// The path of the file that a function is written in.
    pub(crate) fn path_of_function(&self, entry: &Entry<'_>) -> gimli::Result<Option<String>> {
        Ok(self.file_of(entry)?.and_then(|file| self.path_of(file)))
    }

    /// The entry that one without a name of its own refers to.
    pub(crate) fn original(&self, entry: &Entry<'_>) -> gimli::Result<Option<Entry<'a>>> {
        referred_to(entry).map(|offset| self.unit.entry(offset)).transpose()
    }

    fn is_own_function(&mut self, entry: &Entry<'_>) -> gimli::Result<bool> {
        match self.file_of(entry)? {
            Some(file) => Ok(self.is_own_file(file)),
            None => Ok(false),
        }
    }

    /// The number of the file that a function is written in. A definition may leave that to a declaration, and an
    /// inlined copy to its original.
    fn file_of(&self, entry: &Entry<'_>) -> gimli::Result<Option<u64>> {
        if let Some(file) = own_file_number(entry) {
            return Ok(Some(file));
        }
        let mut next = referred_to(entry);
        while let Some(offset) = next {
            let entry = self.unit.entry(offset)?;
            if let Some(file) = own_file_number(&entry) {
                return Ok(Some(file));
            }
            next = referred_to(&entry);
        }
        Ok(None)
    }

    fn is_own_file(&mut self, number: u64) -> bool {
        if let Some(known) = self.is_own.get(&number) {
            return *known;
        }
        let is_own = self.path_of(number).is_some_and(|path| !is_of_system(&path));
        self.is_own.insert(number, is_own);
        is_own
    }

    fn path_of(&self, number: u64) -> Option<String> {
        let header = self.unit.line_program.as_ref()?.header();
        let file = header.file(number)?;
        let text = |value| self.dwarf.attr_string(self.unit, value).ok();
        let name = text(file.path_name())?.to_string_lossy().into_owned();
        let folder = file.directory(header).and_then(text);
        let folder = folder.map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
        let unit_folder = self.unit.comp_dir.map(|folder| folder.to_string_lossy().into_owned());
        let path = Path::new(&unit_folder.unwrap_or_default()).join(folder).join(name);
        Some(path.to_string_lossy().into_owned())
    }
}

fn own_file_number(entry: &Entry<'_>) -> Option<u64> {
    match entry.attr_value(gimli::DW_AT_decl_file)? {
        AttributeValue::FileIndex(number) => Some(number),
        other => other.udata_value(),
    }
}

fn referred_to(entry: &Entry<'_>) -> Option<UnitOffset> {
    let attributes = [gimli::DW_AT_abstract_origin, gimli::DW_AT_specification];
    attributes.into_iter().find_map(|attribute| match entry.attr_value(attribute) {
        Some(AttributeValue::UnitRef(offset)) => Some(offset),
        _ => None,
    })
}
