//! Which code of the program is the standard library's own way to start, end and join threads.
//!
//! It is generic and so compiled with the program, instrumented like everything else, and most of the steps of a
//! small test are made in it. It keeps the promises of the library, and nobody looks for a bug in it. Where a closure
//! is repeated hundreds of thousands of times it is taken in one piece, as the library's compiled code always is.

use std::ops::Range;
use std::path::Path;

use addr2line::gimli;
use object::Endianness;
use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use threadbare_wire::{CodeRange, RUNTIME_LIBRARY};

use crate::modules::Modules;
use crate::own_code::Sources;
use crate::symbols::is_of_system;
use crate::types::reading::{Dwarf, Entry, Unit, debug_information};

/// Where the sources of such code are.
const FOLDERS: [&str; 2] = ["/library/std/src/thread/", "/library/std/src/sys/thread/"];

/// What is in the names of functions that are instances for the library's own types.
const TYPES: &str = "std::thread::";

/// The stretches of such code in what is loaded in a program, in order of address and apart.
pub(crate) fn of(modules: &Modules) -> Vec<CodeRange> {
    let modules = modules.all().iter().filter(|module| module.name != RUNTIME_LIBRARY);
    let mut ranges: Vec<CodeRange> = modules
        .flat_map(|module| {
            let moved = |range: Range<u64>| CodeRange {
                start: range.start.wrapping_add(module.bias),
                end: range.end.wrapping_add(module.bias),
            };
            in_file(&module.path).into_iter().map(moved)
        })
        .collect();
    ranges.sort_unstable();
    ranges
}

fn in_file(path: &Path) -> Vec<Range<u64>> {
    let content = std::fs::read(path).unwrap_or_default();
    let mut painted = Painted::default();
    if let Ok(elf) = ElfFile::<FileHeader64<Endianness>>::parse(&*content)
        && let Ok(dwarf) = debug_information(&elf)
        && read(&dwarf, &mut painted).is_err()
    {
        // What is damaged may say anything.
        return Vec::new();
    }
    painted.library()
}

/// Functions come before those that are inlined into them, so the last that was said of an address counts.
fn read(dwarf: &Dwarf<'_>, painted: &mut Painted) -> gimli::Result<()> {
    let mut headers = dwarf.units();
    while let Some(header) = headers.next()? {
        let unit = dwarf.unit(header)?;
        let mut sources = Sources::new(dwarf, &unit);
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            let inlined = entry.tag() == gimli::DW_TAG_inlined_subroutine;
            if !inlined && entry.tag() != gimli::DW_TAG_subprogram {
                continue;
            }
            let mut ranges = dwarf.die_ranges(&unit, entry)?;
            let mut owner = None;
            while let Some(range) = ranges.next()? {
                if range.begin == 0 || range.begin >= range.end {
                    continue;
                }
                if owner.is_none() {
                    owner = Some(owner_of(dwarf, &unit, &mut sources, entry, inlined)?);
                }
                match owner {
                    Some(Owner::Library) => painted.paint(range.begin..range.end, true),
                    Some(Owner::Program) => painted.paint(range.begin..range.end, false),
                    _ => {}
                }
            }
        }
    }
    Ok(())
}

/// Whose code a function is.
#[derive(Clone, Copy)]
enum Owner {
    Program,
    Library,
    /// That of whoever it is inlined into.
    Caller,
}

fn owner_of(
    dwarf: &Dwarf<'_>,
    unit: &Unit<'_>,
    sources: &mut Sources<'_, '_>,
    entry: &Entry<'_>,
    inlined: bool,
) -> gimli::Result<Owner> {
    let Some(path) = sources.path_of_function(entry)? else { return Ok(Owner::Caller) };
    if FOLDERS.iter().any(|folder| path.contains(folder)) {
        return Ok(Owner::Library);
    }
    if !is_of_system(&path) && !path.contains("/library/") {
        return Ok(Owner::Program);
    }
    let name = entry.attr_value(gimli::DW_AT_name).and_then(|name| dwarf.attr_string(unit, name).ok());
    let name = match (name, sources.original(entry)?) {
        (Some(name), _) => Some(name),
        (None, Some(original)) => {
            original.attr_value(gimli::DW_AT_name).and_then(|name| dwarf.attr_string(unit, name).ok())
        }
        (None, None) => None,
    };
    let is_instance = name.is_some_and(|name| name.to_string_lossy().contains(TYPES));
    Ok(if is_instance && !inlined { Owner::Library } else { Owner::Caller })
}

/// Addresses, each with the last that was said of it.
#[derive(Default)]
struct Painted {
    strokes: Vec<(Range<u64>, bool)>,
}

impl Painted {
    fn paint(&mut self, range: Range<u64>, library: bool) {
        self.strokes.push((range, library));
    }

    /// What is the library's in the end, in order.
    fn library(self) -> Vec<Range<u64>> {
        let Some(start) = self.strokes.iter().map(|(range, _)| range.start).min() else { return Vec::new() };
        let end = self.strokes.iter().map(|(range, _)| range.end).max().unwrap_or(start);
        const LARGEST: u64 = 1 << 30;
        if end - start > LARGEST {
            return Vec::new();
        }
        let mut is_library = vec![false; (end - start) as usize];
        for (range, library) in self.strokes {
            is_library[(range.start - start) as usize..(range.end - start) as usize].fill(library);
        }
        let mut found = Vec::new();
        let mut address = 0;
        for stretch in is_library.chunk_by(|one, other| one == other) {
            let next = address + stretch.len() as u64;
            if stretch[0] {
                found.push(start + address..start + next);
            }
            address = next;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_inlined_counts_before_what_it_is_inlined_into() {
        let mut painted = Painted::default();
        painted.paint(100..200, true);
        painted.paint(120..150, false);
        painted.paint(130..140, true);
        painted.paint(300..310, false);
        assert_eq!(painted.library(), [100..120, 130..140, 150..200]);
    }

    #[test]
    fn nothing_is_found_where_nothing_was_said() {
        assert_eq!(Painted::default().library(), []);
    }
}
