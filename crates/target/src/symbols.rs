//! From addresses to what a person calls them.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::OnceLock;

use addr2line::Loader;

use threadbare_wire::{ContextRecord, RUNTIME_LIBRARY};

use crate::allocation::allocated_type;
use crate::data_symbols::DataSymbols;
use crate::modules::Modules;
use crate::rust_heap::{Held, held};
use crate::std_operations::{StdOperation, Within};
use crate::types::{Part, Types};

/// A place in the code.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Site {
    /// The executable or library, by its file name; empty if unknown.
    pub module: String,
    /// The address in that file; for an unknown module, the address in the process.
    pub offset: u64,
    /// The function, with C++ and Rust names in readable form.
    pub function: Option<String>,
    /// How far into the function's symbol, where the line is unknown.
    pub function_offset: u64,
    /// The source file, relative to the current folder if it lies in it.
    pub file: Option<String>,
    /// The line, counted from 1.
    pub line: Option<u32>,
    /// The column, counted from 1.
    pub column: Option<u32>,
}

impl Site {
    /// Whether the place is in the program's own source, not in a header of the system.
    pub fn is_own(&self) -> bool {
        self.module != RUNTIME_LIBRARY && self.file.as_deref().is_some_and(|file| !is_of_system(file))
    }

    /// The source file without its folders.
    pub fn file_name(&self) -> Option<&str> {
        self.file.as_deref().map(|file| file.rsplit('/').next().unwrap_or(file))
    }
}

impl fmt::Display for Site {
    /// `file.c:40`, or `function+0x12` without debug information, or `module+0x1234` without any.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.file_name(), self.line, &self.function) {
            (Some(file), Some(line), _) => write!(f, "{file}:{line}"),
            (_, _, Some(function)) => write!(f, "{function}+{:#x}", self.function_offset),
            _ if self.module.is_empty() => write!(f, "{:#x}", self.offset),
            _ => write!(f, "{}+{:#x}", self.module, self.offset),
        }
    }
}

/// A place in a global variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataName {
    /// The variable.
    pub symbol: String,
    /// Bytes from its start.
    pub offset: u64,
    /// The way to that part, such as `.head` or `[2]`, where the type is known.
    pub path: Option<String>,
}

impl fmt::Display for DataName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.path, self.offset) {
            (Some(path), _) => write!(f, "{}{path}", self.symbol),
            (None, 0) => write!(f, "{}", self.symbol),
            (None, offset) => write!(f, "{}+{offset}", self.symbol),
        }
    }
}

/// The name of a type that is allocated, and how many bytes of the library's own lie before it.
type TypeAndHeader = (String, u64);

/// One file's symbols. Most files are only asked about their code, and types take longest to read.
struct ModuleSymbols {
    path: PathBuf,
    code: OnceCell<Option<Loader>>,
    data: OnceCell<DataSymbols>,
    types: OnceCell<Types>,
}

impl ModuleSymbols {
    fn of(path: &Path) -> ModuleSymbols {
        ModuleSymbols {
            path: path.to_path_buf(),
            code: OnceCell::new(),
            data: OnceCell::new(),
            types: OnceCell::new(),
        }
    }

    fn code(&self) -> Option<&Loader> {
        self.code.get_or_init(|| Loader::new(&self.path).ok()).as_ref()
    }

    fn data(&self) -> &DataSymbols {
        self.data.get_or_init(|| DataSymbols::load(&self.path))
    }

    fn types(&self) -> &Types {
        self.types.get_or_init(|| Types::load(&self.path))
    }
}

/// Looks up code and data of one program. Files are read when first asked about.
pub struct Symbols {
    modules: Modules,
    files: Vec<ModuleSymbols>,
    sites: RefCell<HashMap<u64, Rc<Site>>>,
    /// The places in the program's own source that code of the system was inlined to, if any.
    own_frames: RefCell<HashMap<u64, Option<Rc<Site>>>>,
    /// What Rust's library does around code addresses.
    std_operations: RefCell<HashMap<u64, Within>>,
    /// The types allocated at places in the source.
    allocations: RefCell<HashMap<(String, u32), Option<TypeAndHeader>>>,
    /// What the functions around code addresses allocate, if they are Rust's.
    rust_allocations: RefCell<HashMap<u64, Option<Rc<Held>>>>,
}

impl Symbols {
    /// Symbols for what is loaded in a program.
    pub fn new(modules: &Modules) -> Symbols {
        let files = modules.all().iter().map(|module| ModuleSymbols::of(&module.path)).collect();
        Symbols {
            modules: modules.clone(),
            files,
            sites: RefCell::default(),
            own_frames: RefCell::default(),
            std_operations: RefCell::default(),
            allocations: RefCell::default(),
            rust_allocations: RefCell::default(),
        }
    }

    /// What is loaded where.
    pub fn modules(&self) -> &Modules {
        &self.modules
    }

    /// The place of the call that returns to `pc`.
    pub fn site(&self, pc: u64) -> Rc<Site> {
        if let Some(site) = self.sites.borrow().get(&pc) {
            return site.clone();
        }
        let site = Rc::new(self.frames(pc).swap_remove(0));
        self.sites.borrow_mut().insert(pc, site.clone());
        site
    }

    /// The place in the program's own source from which `pc` was reached: past the system's
    /// headers, whose lines mean little to the programmer, along the calls in progress.
    pub fn own_site(&self, pc: u64, context: u32, contexts: &[ContextRecord]) -> Rc<Site> {
        calls(pc, context, contexts).find_map(|pc| self.own_frame(pc)).unwrap_or_else(|| self.site(pc))
    }

    /// The place in the program's own source to which the code at `pc` belongs, be it that it was inlined there.
    pub fn own_frame(&self, pc: u64) -> Option<Rc<Site>> {
        let innermost = self.site(pc);
        if innermost.is_own() {
            return Some(innermost);
        }
        if let Some(known) = self.own_frames.borrow().get(&pc) {
            return known.clone();
        }
        let found = self.frames(pc).into_iter().find(Site::is_own).map(Rc::new);
        self.own_frames.borrow_mut().insert(pc, found.clone());
        found
    }

    /// What Rust's library does for the program where `pc` was reached, along the calls in progress.
    pub fn std_operation(&self, pc: u64, context: u32, contexts: &[ContextRecord]) -> Option<StdOperation> {
        let within = calls(pc, context, contexts).map(|pc| self.within(pc));
        match within.into_iter().find(|within| *within != Within::Other)? {
            Within::Operation(operation) => Some(operation),
            _ => None,
        }
    }

    fn within(&self, pc: u64) -> Within {
        *self.std_operations.borrow_mut().entry(pc).or_insert_with(|| {
            let frames = self.frames(pc).into_iter().map(|frame| match frame.is_own() {
                true => Within::Program,
                false => frame
                    .function
                    .as_deref()
                    .and_then(StdOperation::of)
                    .map_or(Within::Other, Within::Operation),
            });
            frames.into_iter().find(|within| *within != Within::Other).unwrap_or(Within::Other)
        })
    }

    /// The place of the call that returns to `pc`, and the places its function was inlined to,
    /// from the inside out; never empty.
    pub fn frames(&self, pc: u64) -> Vec<Site> {
        // The instruction after the call may belong to another line, or another function.
        let address = pc.wrapping_sub(1);
        let Some((index, offset)) = self.modules.find(address) else {
            return vec![Site { offset: pc, ..Site::default() }];
        };
        let bare = Site { module: self.modules.all()[index].name.clone(), offset, ..Site::default() };
        let Some(loader) = self.files[index].code() else { return vec![bare] };
        let mut frames = source_frames(loader, offset, &bare);
        let symbol = loader.find_symbol_info(offset);
        if frames.is_empty() {
            frames.push(bare);
        }
        if let (Some(symbol), Some(outermost)) = (symbol, frames.last_mut()) {
            outermost.function_offset = offset + 1 - symbol.address();
            if outermost.function.is_none() {
                outermost.function = Some(demangle(symbol.name()));
            }
        }
        frames
    }

    /// What a Rust library function on the way to `pc` allocates there, and the way to the part at an offset.
    pub(crate) fn rust_allocated(
        &self,
        pc: u64,
        context: u32,
        contexts: &[ContextRecord],
        offset: u64,
        part: Part,
    ) -> Option<(String, String)> {
        calls(pc, context, contexts).find_map(|pc| {
            let held = self.rust_held(pc)?;
            let types = self.files[self.modules.find(pc.wrapping_sub(1))?.0].types();
            let path = types.path(types.named(&held.structure)?, offset, part);
            let path = path.strip_prefix(held.member).unwrap_or(&path);
            Some((held.shown.clone(), path.to_string()))
        })
    }

    fn rust_held(&self, pc: u64) -> Option<Rc<Held>> {
        if let Some(known) = self.rust_allocations.borrow().get(&pc) {
            return known.clone();
        }
        let look_up = || {
            let (index, place) = self.modules.find(pc.wrapping_sub(1))?;
            held(self.site(pc).function.as_deref()?, self.files[index].types().function(place)?)
        };
        let found = look_up().map(Rc::new);
        self.rust_allocations.borrow_mut().insert(pc, found.clone());
        found
    }

    /// The type that is allocated at a place in the source, and the way to the part at an offset.
    pub(crate) fn allocated(&self, site: &Site, offset: u64, part: Part) -> Option<(String, String)> {
        let (name, header) = self.allocated_type(site)?;
        let offset = offset.checked_sub(header)?;
        let bare = name.rsplit("::").next().unwrap_or(&name);
        let files = self.modules.all().iter().zip(&self.files);
        let mut here = files.filter(|(module, _)| module.name == site.module);
        let path =
            here.find_map(|(_, file)| Some(file.types().path(file.types().named(bare)?, offset, part)))?;
        Some((bare.to_string(), path))
    }

    fn allocated_type(&self, site: &Site) -> Option<TypeAndHeader> {
        let (file, line) = (site.file.clone()?, site.line?);
        let mut types = self.allocations.borrow_mut();
        let known = types.entry((file.clone(), line)).or_insert_with(|| {
            let text = std::fs::read(&file).ok()?;
            let text = String::from_utf8_lossy(&text);
            allocated_type(text.lines().nth(line as usize - 1)?).map(|it| (it.name.to_string(), it.header))
        });
        known.clone()
    }

    /// The variable of a call, `offset` bytes from the start of its caller's frame, where `pc` is in
    /// the function called: `main: savings.balance`.
    pub(crate) fn local(&self, pc: u64, offset: i64, part: Part) -> Option<String> {
        let (index, place) = self.modules.find(pc.wrapping_sub(1))?;
        let variable = self.files[index].types().local(place, offset, part)?;
        let function = self.site(pc).function.clone().unwrap_or_default();
        // Without parameters and results, which say little here.
        let name = function.split('(').next().unwrap_or_default();
        let name = name.rsplit([' ', ':']).next().unwrap_or(name);
        Some(if name.is_empty() { variable } else { format!("{variable} (in {name})") })
    }

    /// The global variable at an address in the process.
    pub fn data(&self, address: u64, part: Part) -> Option<DataName> {
        let (index, offset) = self.modules.find(address)?;
        let file = &self.files[index];
        let mut name = file.data().find(offset)?;
        let of = file.types().of_variable(offset - name.offset);
        name.path = of.map(|of| file.types().path(of, name.offset, part));
        if let Some(path) = name.path.as_mut().filter(|_| name.symbol.contains("::")) {
            leave_out_private_fields(path);
        }
        Some(name)
    }
}

/// Whether a source file is a library's that comes with the compiler or the system, or ours.
pub(crate) fn is_of_system(file: &str) -> bool {
    const SYSTEM: [&str; 4] = ["/usr/include/", "/usr/lib/", "/usr/local/include/", "/rustc/"];
    /// Where the sources of the standard library lie, if they are installed; the compiler then names them by that place.
    const STANDARD: &str = "/lib/rustlib/src/rust/";
    SYSTEM.iter().any(|folder| file.starts_with(folder))
        || file.contains(STANDARD)
        || file.ends_with("/include/threadbare.h")
}

/// The calls in progress, from the inside out, each by where it returns to.
pub(crate) fn calls(pc: u64, context: u32, contexts: &[ContextRecord]) -> impl Iterator<Item = u64> {
    let call = |number: u32| contexts.get((number as usize).checked_sub(1)?);
    let callers = std::iter::successors(call(context), move |inner| call(inner.parent));
    std::iter::once(pc).chain(callers.map(|caller| caller.pc))
}

fn source_frames(loader: &Loader, offset: u64, bare: &Site) -> Vec<Site> {
    let mut sites = Vec::new();
    let Ok(mut frames) = loader.find_frames(offset) else { return sites };
    while let Ok(Some(frame)) = frames.next() {
        let mut site = bare.clone();
        site.function = frame.function.and_then(|name| name.demangle().ok().map(|name| name.into_owned()));
        if let Some(location) = frame.location {
            site.file = location.file.map(shorten);
            site.line = location.line.filter(|line| *line != 0);
            site.column = location.column.filter(|column| *column != 0);
        }
        if site.file.is_some() || site.function.is_some() {
            sites.push(site);
        }
    }
    sites
}

/// Debug information holds absolute paths; people think in paths from where they are. That is asked for once, since results may name
/// tens of thousands of places.
fn shorten(file: &str) -> String {
    static HERE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let here = HERE.get_or_init(|| std::env::current_dir().ok());
    here.as_ref().map_or_else(|| file.to_string(), |here| seen_from(file, here))
}

/// A library's file keeps its path wherever one is: by that it is told from the program's own.
fn seen_from(file: &str, here: &Path) -> String {
    let is_root = here.parent().is_none();
    let inside = Path::new(file).strip_prefix(here).ok().filter(|_| !is_root && !is_of_system(file));
    inside.map_or_else(|| file.to_string(), |inside| inside.display().to_string())
}

/// The readable form of a C++ or Rust symbol. A plain C name is left alone: `a` is a variable, though
/// as a mangled type it would read `signed char`.
pub fn demangle(name: &str) -> String {
    if !["_Z", "__Z", "_R"].iter().any(|start| name.starts_with(start)) {
        return name.to_string();
    }
    let whole = addr2line::demangle_auto(name.into(), None).into_owned();
    if whole != name { whole } else { demangle_beginning(name).unwrap_or(whole) }
}

/// What a name begins like that was cut because there was no room for all of it.
fn demangle_beginning(name: &str) -> Option<String> {
    // What is left of a name without its parameters, or in the middle of a path, is one that ends here.
    let ends = (4..name.len()).rev().filter(|end| name.is_char_boundary(*end));
    ends.flat_map(|end| ["v", "Ev"].map(|rest| format!("{}{rest}", &name[..end]))).find_map(|shorter| {
        let path = addr2line::demangle_auto(shorter.as_str().into(), None);
        let path = path.strip_suffix("()").filter(|_| path != shorter)?;
        Some(format!("{path}(…)"))
    })
}

/// Leaves out the private fields of which Rust's library makes atomics and locks.
fn leave_out_private_fields(path: &mut String) {
    for inside in [".v.value", ".inner.futex"] {
        if path.ends_with(inside) {
            path.truncate(path.len() - inside.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{demangle, is_of_system, seen_from};

    #[test]
    fn a_name_that_was_cut_is_read_as_far_as_it_goes() {
        let cut = "_ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EE";
        assert!(
            demangle(cut).starts_with("std::__atomic_futex_unsigned_base::_M_futex_wait_until("),
            "{}",
            demangle(cut)
        );
        assert_eq!(demangle("_Zno"), "_Zno");
    }

    #[test]
    fn a_library_stays_one_in_whichever_folder_the_tool_is_started() {
        for here in ["/", "/usr", "/usr/include", "/usr/include/c++", "/home/me"] {
            let seen = seen_from("/usr/include/c++/12/mutex", Path::new(here));
            assert!(is_of_system(&seen), "{seen} from {here}");
        }
        assert_eq!(seen_from("/home/me/bank/a.c", Path::new("/home/me/bank")), "a.c");
        assert_eq!(seen_from("/home/me/bank/a.c", Path::new("/")), "/home/me/bank/a.c");
    }

    #[test]
    fn the_standard_library_is_not_the_programs_own_wherever_its_sources_lie() {
        let library = "library/core/src/sync/atomic.rs";
        assert!(is_of_system(&format!("/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/{library}")));
        assert!(is_of_system(&format!("/home/me/.rustup/toolchains/stable/lib/rustlib/src/rust/{library}")));
        assert!(!is_of_system("/home/me/rust/library/src/lib.rs"));
    }

    #[test]
    fn only_mangled_names_are_made_readable() {
        assert_eq!(demangle("_ZN4bank7accountE"), "bank::account");
        for plain in ["a", "b", "i", "x", "v", "counter", "_start"] {
            assert_eq!(demangle(plain), plain);
        }
    }
}
