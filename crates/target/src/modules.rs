//! What is loaded where in a process: executables, libraries, stacks, heap.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use object::elf::{FileHeader64, PT_LOAD};
use object::read::ReadCache;
use object::read::elf::{FileHeader as _, ProgramHeader as _};
use object::{Endianness, ReadRef};

const PAGE: u64 = 4096;

/// One executable or library in a process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Module {
    /// Its file.
    pub path: PathBuf,
    /// The file's name without folders.
    pub name: String,
    /// What has to be added to an address in the file to get the address in the process.
    pub bias: u64,
    /// Where its segments lie in the process, memory beyond the file's content included.
    pub segments: Vec<Range<u64>>,
}

/// A piece of memory that belongs to no file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Region {
    /// Where it lies.
    pub range: Range<u64>,
    /// A name that is the same in every process of the program: `heap`, `stack`, or a number.
    pub name: String,
}

/// Everything loaded in a process at one moment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Modules {
    modules: Vec<Module>,
    regions: Vec<Region>,
    stack_start: Option<u64>,
}

impl Modules {
    /// What is loaded in a process now.
    pub fn of_process(id: u32) -> io::Result<Modules> {
        let maps = fs::read(format!("/proc/{id}/maps"))?;
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let mut modules = Modules { stack_start: stack_start(&stat), ..Modules::default() };
        for mapping in maps.split(|byte| *byte == b'\n').filter_map(Mapping::parse) {
            modules.add(&mapping);
        }
        Ok(modules)
    }

    /// An executable that no process runs: its addresses are those in the file. Without any if it cannot be read.
    pub fn of_file(path: &Path) -> Modules {
        let module = Module::load(path, None);
        Modules { modules: module.into_iter().collect(), ..Modules::default() }
    }

    /// The modules, the executable first.
    pub fn all(&self) -> &[Module] {
        &self.modules
    }

    /// The module an address lies in, by its place in [`Modules::all`], and the address in its file.
    pub fn find(&self, address: u64) -> Option<(usize, u64)> {
        let holds = |module: &Module| module.segments.iter().any(|segment| segment.contains(&address));
        let index = self.modules.iter().position(holds)?;
        Some((index, address.wrapping_sub(self.modules[index].bias)))
    }

    /// The piece of memory without a file that an address lies in.
    pub fn region(&self, address: u64) -> Option<&Region> {
        self.regions.iter().find(|region| region.range.contains(&address))
    }

    /// The top of the main thread's stack: below the arguments and the environment, whose size
    /// must not show in the names of variables.
    pub fn stack_start(&self) -> Option<u64> {
        self.stack_start
    }

    /// A process with one library in it.
    #[cfg(test)]
    pub(crate) fn with_one(name: &str, start: u64, size: u64) -> Modules {
        let segments = std::iter::once(start..start + size).collect();
        let module = Module { path: name.into(), name: name.to_string(), bias: start, segments };
        Modules { modules: vec![module], ..Modules::default() }
    }

    fn add(&mut self, mapping: &Mapping) {
        let path = &mapping.name;
        let is_file = path.is_absolute();
        if is_file && self.modules.iter().any(|module| module.path == *path) {
            return;
        }
        if is_file
            && mapping.offset == 0
            && let Some(module) = Module::load(path, Some(mapping.range.start))
        {
            self.modules.push(module);
        } else if self.find(mapping.range.start).is_none() {
            let name = match path.to_str() {
                Some("[heap]") => "heap".to_string(),
                Some("[stack]") => "stack".to_string(),
                _ => format!("memory{}", self.regions.len()),
            };
            self.regions.push(Region { range: mapping.range.clone(), name });
        }
    }
}

impl Module {
    /// A module that begins at an address, or where its file says.
    fn load(path: &Path, start: Option<u64>) -> Option<Module> {
        let file = ReadCache::new(fs::File::open(path).ok()?);
        let segments = load_segments(&file)?;
        let own_start = segments.first()?.start / PAGE * PAGE;
        let bias = start.unwrap_or(own_start).wrapping_sub(own_start);
        let place = |segment: Range<u64>| segment.start.wrapping_add(bias)..segment.end.wrapping_add(bias);
        Some(Module {
            path: path.to_path_buf(),
            name: path.file_name()?.to_string_lossy().into_owned(),
            bias,
            segments: segments.into_iter().map(place).collect(),
        })
    }
}

fn load_segments<'data, R: ReadRef<'data>>(file: R) -> Option<Vec<Range<u64>>> {
    let header = FileHeader64::<Endianness>::parse(file).ok()?;
    let endian = header.endian().ok()?;
    let loaded = header.program_headers(endian, file).ok()?.iter().filter(|it| it.p_type(endian) == PT_LOAD);
    Some(loaded.map(|it| it.p_vaddr(endian)..it.p_vaddr(endian) + it.p_memsz(endian)).collect())
}

/// One line of a process's memory map.
struct Mapping {
    range: Range<u64>,
    offset: u64,
    name: PathBuf,
}

impl Mapping {
    fn parse(line: &[u8]) -> Option<Mapping> {
        // start-end, access, offset, device, inode, name; names may hold spaces, and need not be text.
        let mut fields = line.splitn(6, |byte| *byte == b' ');
        let (start, end) = std::str::from_utf8(fields.next()?).ok()?.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        let range = number(start)?..number(end)?;
        let offset = number(std::str::from_utf8(fields.nth(1)?).ok()?)?;
        let name = fields.nth(2).unwrap_or_default().trim_ascii_start();
        Some(Mapping { range, offset, name: PathBuf::from(OsString::from_vec(with_line_ends(name))) })
    }
}

/// The kernel writes the end of a line, where it is part of a name, in digits.
fn with_line_ends(name: &[u8]) -> Vec<u8> {
    const WRITTEN: &[u8] = b"\\012";
    let mut whole = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some(first) = rest.first() {
        let (byte, length) = if rest.starts_with(WRITTEN) { (b'\n', WRITTEN.len()) } else { (*first, 1) };
        whole.push(byte);
        rest = &rest[length..];
    }
    whole
}

/// The 28th field of a process's `stat`, counted after the name in parentheses.
fn stack_start(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(25)?.parse().ok().filter(|start| *start != 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    static MARK: [u8; 8] = *b"modules!";

    #[test]
    fn this_process_is_found_in_its_own_map() {
        let modules = Modules::of_process(std::process::id()).unwrap();
        let (index, offset) = modules.find(MARK.as_ptr() as u64).unwrap();
        assert_eq!(modules.all()[index].path, std::env::current_exe().unwrap());
        let content = fs::read(&modules.all()[index].path).unwrap();
        // The first segment of an executable maps the file one to one up to its read-only data.
        assert_eq!(content[offset as usize..][..8], MARK);
        let (library, _) = modules.find(libc::getpid as *const () as u64).unwrap();
        assert!(modules.all()[library].name.starts_with("libc"));
    }

    #[test]
    fn names_are_bytes() {
        let line = b"7f00-7f10 r-xp 00002000 fd:00 42                 /a b/caf\xe9\\012.so";
        let mapping = Mapping::parse(line).unwrap();
        assert_eq!((mapping.range, mapping.offset), (0x7f00..0x7f10, 0x2000));
        assert_eq!(mapping.name.as_os_str().as_bytes(), b"/a b/caf\xe9\n.so");
    }

    #[test]
    fn the_main_stack_has_a_top() {
        let modules = Modules::of_process(std::process::id()).unwrap();
        let top = modules.stack_start().unwrap();
        assert_eq!(modules.region(top).unwrap().name, "stack");
    }
}
