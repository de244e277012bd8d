//! Which code of the program is the standard library's own way to start, end and join threads, and to count who holds
//! an `Arc`.
//!
//! It is generic and so compiled with the program, instrumented like everything else, and most of the steps of a
//! small test are made in it. It keeps the promises of the library, and nobody looks for a bug in it. Where a closure
//! is repeated hundreds of thousands of times it runs without scheduling points, as the library's compiled code always does.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use addr2line::gimli;
use object::Endianness;
use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use threadbare_wire::{CodeRange, RUNTIME_LIBRARY};

use crate::modules::Modules;
use crate::own_code::Sources;
use crate::symbols::is_of_system;
use crate::types::reading::{Dwarf, Entry, Unit, debug_information};

/// Where the sources of such code are. What a thread waits with at a channel, it keeps for the next time.
const FOLDERS: [&str; 3] =
    ["/library/std/src/thread/", "/library/std/src/sys/thread/", "/library/std/src/sync/mpmc/context.rs"];

/// What is in the names of functions that are instances for the library's own types.
const TYPES: &str = "std::thread::";

/// Where `Arc` is written, and its functions that only count: whoever wants to see a count calls another one.
const COUNTING: (&str, [&str; 3]) = ("/library/alloc/src/sync.rs", ["clone", "drop", "drop_slow"]);

/// Whose code is whose in what is loaded in a program, as far as it is anybody's: in order of address and disjoint.
#[derive(Clone, Default)]
pub(crate) struct ThreadCode {
    /// The library's around threads.
    pub library: Vec<CodeRange>,
    /// The program's own.
    pub program: Vec<CodeRange>,
}

impl ThreadCode {
    pub(crate) fn of(modules: &Modules) -> ThreadCode {
        let mut code = ThreadCode::default();
        for module in modules.all().iter().filter(|module| module.name != RUNTIME_LIBRARY) {
            let moved = |range: &CodeRange| CodeRange {
                start: range.start.wrapping_add(module.bias),
                end: range.end.wrapping_add(module.bias),
            };
            let found = in_file(&module.path);
            code.library.extend(found.library.iter().map(moved));
            code.program.extend(found.program.iter().map(moved));
        }
        code.library.sort_unstable();
        code.program.sort_unstable();
        code
    }
}

/// Every server of a program asks the same.
fn in_file(path: &Path) -> ThreadCode {
    type Key = (PathBuf, Option<SystemTime>);
    static KNOWN: Mutex<Vec<(Key, ThreadCode)>> = Mutex::new(Vec::new());
    const MOST: usize = 64;
    let changed = std::fs::metadata(path).and_then(|file| file.modified()).ok();
    let key = (path.to_path_buf(), changed);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, code)) = known.iter().find(|(known, _)| *known == key) {
        return code.clone();
    }
    let code = read_file(path);
    known.truncate(MOST - 1);
    known.insert(0, (key, code.clone()));
    code
}

fn read_file(path: &Path) -> ThreadCode {
    let content = std::fs::read(path).unwrap_or_default();
    let mut painted = Painted::default();
    if let Ok(elf) = ElfFile::<FileHeader64<Endianness>>::parse(&*content)
        && let Ok(dwarf) = debug_information(&elf)
        && read(&dwarf, &mut painted).is_err()
    {
        // What is damaged may say anything.
        return ThreadCode::default();
    }
    painted.code()
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
                    Some(Owner::Caller) | None => {}
                    Some(owner) => painted.paint(range.begin..range.end, owner),
                }
            }
        }
    }
    Ok(())
}

/// Whose code a function is.
#[derive(Clone, Copy, PartialEq, Eq)]
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
    let name_of = |entry: &Entry<'_>| {
        let name = entry.attr_value(gimli::DW_AT_name)?;
        Some(dwarf.attr_string(unit, name).ok()?.to_string_lossy().into_owned())
    };
    let original = sources.original(entry)?;
    let name = name_of(entry).or_else(|| name_of(original.as_ref()?)).unwrap_or_default();
    let counts =
        path.ends_with(COUNTING.0) && COUNTING.1.contains(&name.split('<').next().unwrap_or_default());
    let is_instance = !inlined && name.contains(TYPES);
    Ok(if counts || is_instance { Owner::Library } else { Owner::Caller })
}

/// Addresses, each with the last that was said of it.
#[derive(Default)]
struct Painted {
    strokes: Vec<(Range<u64>, Owner)>,
}

impl Painted {
    fn paint(&mut self, range: Range<u64>, owner: Owner) {
        self.strokes.push((range, owner));
    }

    /// What is whose in the end.
    fn code(self) -> ThreadCode {
        const LARGEST: u64 = 1 << 28;
        let mut code = ThreadCode::default();
        let Some(start) = self.strokes.iter().map(|(range, _)| range.start).min() else { return code };
        let end = self.strokes.iter().map(|(range, _)| range.end).max().unwrap_or(start);
        if end - start > LARGEST {
            return code;
        }
        let mut owners = vec![Owner::Caller; (end - start) as usize];
        for (range, owner) in self.strokes {
            owners[(range.start - start) as usize..(range.end - start) as usize].fill(owner);
        }
        let mut address = start;
        for stretch in owners.chunk_by(|one, other| one == other) {
            let range = CodeRange { start: address, end: address + stretch.len() as u64 };
            match stretch[0] {
                Owner::Library => code.library.push(range),
                Owner::Program => code.program.push(range),
                Owner::Caller => {}
            }
            address = range.end;
        }
        code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(ranges: &[CodeRange]) -> Vec<Range<u64>> {
        ranges.iter().map(|range| range.start..range.end).collect()
    }

    #[test]
    fn what_is_inlined_counts_before_what_it_is_inlined_into() {
        let mut painted = Painted::default();
        painted.paint(100..200, Owner::Library);
        painted.paint(120..150, Owner::Program);
        painted.paint(130..140, Owner::Library);
        painted.paint(300..310, Owner::Program);
        let code = painted.code();
        assert_eq!(ranges(&code.library), [100..120, 130..140, 150..200]);
        assert_eq!(ranges(&code.program), [120..130, 140..150, 300..310]);
    }

    #[test]
    fn nothing_is_found_where_nothing_was_said() {
        assert_eq!(ranges(&Painted::default().code().library), []);
    }
}
