//! Calls of functions for which the runtime has no stand-in: the loader's tables are made to lead to stubs that note them.
//!
//! Whoever calls a function of another module, or takes its address, gets it from a slot that the loader has filled. Before the program runs, the
//! slots of the executable and of instrumented libraries are changed, for all functions that are unknown or whose row says that a
//! call is worth a look. What comes through function pointers is seen because the pointers come from such slots, too: there
//! is one stub for each function, so that pointers to it stay equal. Functions of the runtime, and of instrumented
//! modules, keep their places.
//!
//! What a stub does is in `arch`; what is noted in [`crate::dependences`].

use std::cell::UnsafeCell;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::hash::BuildHasherDefault;
use std::ops::Range;

use threadbare_library::{Dependence, Dependences, Effect, OF_STREAMS, Provision, effect};
use threadbare_trace::EventKind;

use crate::address_hash::AddressHasher;
use crate::arch::{CALL_STUB_BYTES, REGISTER_ARGUMENTS, call_stub, init_call_stubs, note_call_and_pass_on};
use crate::dependences::{self, Called};
use crate::engine::engine;
use crate::{cancel, interpose, libraries, sys};

/// Room for stubs. Programs import some hundred functions; what does not fit is noted as unseen.
const MOST_STUBS: usize = 1 << 14;

/// A function that has a stub.
struct Stub {
    called: Called,
    /// Where the function is.
    function: usize,
    /// Where its library is loaded.
    library: usize,
}

/// All stubs. The list is never moved and never shortened.
struct Stubs {
    list: Vec<Stub>,
    by_function: HashMap<usize, usize, BuildHasherDefault<AddressHasher>>,
    /// Where their code lies: one word with the address of `pass_on`, and then the stubs. Empty where the system allows no such code.
    code: Range<usize>,
    /// The code of libraries in which nothing is seen, with where they are loaded.
    unseen: Vec<(Range<usize>, usize)>,
}

struct Place(UnsafeCell<Option<Stubs>>);

// SAFETY: one thread at a time runs runtime code.
unsafe impl Sync for Place {}

static STUBS: Place = Place(UnsafeCell::new(None));

/// What all stubs lead to.
#[unsafe(naked)]
unsafe extern "C-unwind" fn pass_on() {
    unsafe extern "C-unwind" fn note(
        number: u32,
        arguments: *const [usize; REGISTER_ARGUMENTS],
        stack: usize,
    ) -> usize {
        // SAFETY: a stub exists only once the list does, and has its number in it.
        let stub = unsafe {
            let stubs = (*STUBS.0.get()).as_ref().unwrap_unchecked();
            stubs.list.get_unchecked(number as usize)
        };
        if interpose::controlled() {
            // SAFETY: `pass_on` has put the arguments there; the return address lies at the stack pointer.
            let (arguments, pc) = unsafe { (&*arguments, *(stack as *const u64)) };
            let site = || interpose::site_of(pc, stack);
            dependences::left_alone_call(&stub.called, arguments, site);
            engine().calls_library(site);
            let row = stub.called.row;
            if row.is_some_and(|row| row.is_cancellation_point) && cancel::is_due(engine().current()) {
                return cancel::end_here as extern "C-unwind" fn() as usize;
            }
            if stub.called.kinds.has(Dependence::UninstrumentedCode) {
                note_entry(stub.function, stub.library, false);
            }
        }
        stub.function
    }
    note_call_and_pass_on!(note)
}

/// Has calls of library functions come by stubs, as far as code is loaded now. May be called again when there is more.
pub fn watch() {
    let modules = Module::all();
    // SAFETY: one thread runs, and no stub is being made elsewhere.
    let stubs = unsafe { (*STUBS.0.get()).get_or_insert_with(Stubs::new) };
    for module in modules.iter().filter(|module| module.is_executable || module.is_instrumented) {
        stubs.watch(module, &modules);
    }
    stubs.unseen = modules.iter().filter(|module| module.is_unseen()).flat_map(Module::code_ranges).collect();
    stubs.finish();
}

/// Notes that the running thread enters a library in which nothing is seen; for ever, if its routine is there. Only those who examine
/// traces ask for it.
fn note_entry(function: usize, library: usize, for_ever: bool) {
    let recorder = &engine().recorder;
    if recorder.takes_all.get() {
        recorder.note(EventKind::LibraryCall, function, 0, library as u64, u64::from(for_ever));
    }
}

/// Notes that the routine of the running thread is in a library in which nothing is seen, if that is so.
pub fn note_routine(routine: usize) {
    // SAFETY: one thread at a time runs runtime code.
    let stubs = unsafe { (*STUBS.0.get()).as_ref() };
    let mut libraries = stubs.into_iter().flat_map(|stubs| &stubs.unseen);
    if let Some((_, library)) = libraries.find(|(code, _)| code.contains(&routine)) {
        note_entry(routine, *library, true);
    }
}

/// Whether calls of a function that the program looks up by name are seen, or nothing needs to be.
///
/// # Safety
/// The handle must be one for `dlsym`.
pub unsafe fn is_seen_by_name(handle: usize, name: &CStr) -> bool {
    let Ok(text) = name.to_str() else { return false };
    let looks_past = handle == libc::RTLD_NEXT as usize;
    match effect(text) {
        Some((_, Some(row))) if row.provision == Provision::Interposed => !looks_past,
        Some((_, Some(row))) => {
            let is_doubted = row.dependences().iter().any(Dependence::is_doubt);
            !is_doubted && !row.touches_memory() && !row.touches_hidden_objects()
        }
        Some((_, None)) => true,
        None => {
            // SAFETY: only looks for it, where every module looks.
            let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as usize;
            let is_seen = |module: &Module| module.is_runtime || module.is_instrumented;
            found == 0 || Module::all().iter().any(|module| module.contains(found) && is_seen(module))
        }
    }
}

impl Stubs {
    fn new() -> Stubs {
        init_call_stubs();
        let bytes = size_of::<usize>() + MOST_STUBS * CALL_STUB_BYTES;
        let start = sys::map(bytes) as usize;
        // SAFETY: the memory has just been mapped for this.
        unsafe { *(start as *mut usize) = pass_on as unsafe extern "C-unwind" fn() as usize };
        let code = start..start + bytes;
        let is_allowed = protect(&code, libc::PROT_READ | libc::PROT_EXEC);
        // Stubs look into the list while another one may be made.
        let list = Vec::with_capacity(MOST_STUBS);
        let code = if is_allowed { code } else { 0..0 };
        Stubs { list, by_function: HashMap::default(), code, unseen: Vec::new() }
    }

    /// Changes the slots of one module.
    fn watch(&mut self, module: &Module, modules: &[Module]) {
        const WRITABLE: c_int = libc::PROT_READ | libc::PROT_WRITE;
        let protected = module.read_only.clone();
        let is_writable = protected.is_empty() || protect(&protected, WRITABLE);
        if !is_writable || self.code.is_empty() || !protect(&self.code, WRITABLE) {
            return dependences::note_unseen("functions of libraries");
        }
        for slot in module.slots() {
            // SAFETY: the slot is the module's, and writable now.
            let target = unsafe { slot.place.read() };
            if target == 0 || self.code.contains(&target) || module.contains(slot.place as usize) {
                continue;
            }
            let target = if slot.is_lazy(target, module) { resolve(&slot) } else { Some(target) };
            let Some(target) = target else {
                // Who calls it ends the program; but we may have looked in the wrong place.
                if needs_stub(slot.name, false).is_some() {
                    dependences::note_unseen(slot.name);
                }
                continue;
            };
            // What is no code is a variable of which the table does not say so.
            let Some(holder) = modules.iter().find(|module| module.contains(target)) else { continue };
            if holder.is_runtime || holder.is_instrumented {
                continue;
            }
            let Some(called) = needs_stub(slot.name, holder.is_system) else { continue };
            // Where the linker wraps, only Rust's standard library calls such a function past the wrapper. It has no instrumentation, which is
            // said of all of it.
            let is_wrapped = called.row.is_some_and(|row| row.provision == Provision::Wrapped);
            if is_wrapped && module.has_rust_std {
                continue;
            }
            match self.stub(called, target, holder.bias) {
                // SAFETY: as above.
                Some(stub) => unsafe { slot.place.write(stub) },
                None => dependences::note_unseen(slot.name),
            }
        }
        if !protected.is_empty() {
            protect(&protected, libc::PROT_READ);
        }
    }

    /// The stub of a function.
    fn stub(&mut self, called: Called, function: usize, library: usize) -> Option<usize> {
        let at = |number: usize| self.code.start + size_of::<usize>() * 2 + number * CALL_STUB_BYTES;
        if let Some(number) = self.by_function.get(&function) {
            return Some(at(*number));
        }
        let number = self.list.len();
        let place = at(number);
        if number == self.list.capacity() || place + CALL_STUB_BYTES > self.code.end {
            return None;
        }
        let code = call_stub(number as u32, place, self.code.start);
        // SAFETY: within the memory for stubs, which is writable now; nobody runs this one yet.
        unsafe { (place as *mut [u8; CALL_STUB_BYTES]).write(code) };
        // The module that the name comes from may be gone one day.
        let name = Box::leak(Box::<str>::from(called.name));
        self.list.push(Stub { called: Called { name, ..called }, function, library });
        self.by_function.insert(function, number);
        Some(place)
    }

    /// The stubs may be run from now on.
    fn finish(&self) {
        if !self.code.is_empty() && !protect(&self.code, libc::PROT_READ | libc::PROT_EXEC) {
            sys::die("the system does not allow code to be made for watching calls of libraries");
        }
    }
}

/// What is to be noted of calls of an imported function; none if nothing is. One of a library that is not the system's has no
/// instrumentation.
fn needs_stub(name: &'static str, is_system: bool) -> Option<Called> {
    let (kind, row) = match effect(name) {
        Some((_, Some(row))) => {
            // One that the runtime stands in for, and that is found elsewhere, escapes it.
            let escapes = row.provision == Provision::Interposed;
            let kinds = row.dependences().with(Dependence::UnknownCall, escapes);
            let called = Called { name, kinds, row: Some(row) };
            return called.is_worth_a_look().then_some(called);
        }
        Some((Effect::Streams, None)) => {
            return Some(Called { name, kinds: Dependences::NONE, row: Some(&OF_STREAMS) });
        }
        Some((Effect::Opaque, None)) => (Dependence::UnknownCall, None),
        Some((_, None)) => return None,
        None if is_system => (Dependence::UnknownCall, None),
        None => (Dependence::UninstrumentedCode, None),
    };
    Some(Called { name, kinds: Dependences::NONE.with(kind, true), row })
}

/// Changes what may be done with the pages of a range; says whether the system let us.
fn protect(range: &Range<usize>, protection: c_int) -> bool {
    let (start, end) = (range.start & !4095, range.end.next_multiple_of(4096));
    // SAFETY: pages of the program's tables, or of the stubs.
    unsafe { sys::call(libc::SYS_mprotect, [start, end - start, protection as usize, 0, 0, 0]) == 0 }
}

/// A slot that the loader fills with the address of a function.
struct Slot {
    place: *mut usize,
    name: &'static str,
    version: Option<&'static CStr>,
    /// It is filled when the function is first called.
    may_be_lazy: bool,
}

impl Slot {
    /// Whether it still leads to the loader, by way of the module's own code.
    fn is_lazy(&self, target: usize, module: &Module) -> bool {
        self.may_be_lazy && module.contains(target)
    }
}

/// Where the loader would find the function of a slot.
fn resolve(slot: &Slot) -> Option<usize> {
    let name = slot.name.as_ptr().cast::<c_char>();
    // SAFETY: the name comes from a table of texts that end with a zero byte; both look-ups only read.
    let found = unsafe {
        match slot.version {
            Some(version) => libc::dlvsym(libc::RTLD_DEFAULT, name, version.as_ptr()),
            None => libc::dlsym(libc::RTLD_DEFAULT, name),
        }
    };
    (!found.is_null()).then_some(found as usize)
}

/// A loaded file.
#[derive(Default)]
struct Module {
    bias: usize,
    code: Vec<Range<usize>>,
    /// What the loader has made read-only after it had filled it.
    read_only: Range<usize>,
    dynamic: usize,
    is_executable: bool,
    is_runtime: bool,
    is_system: bool,
    is_instrumented: bool,
    /// The table knows by which functions its threads are ordered.
    orders_as_said: bool,
    /// It has Rust's standard library in it.
    has_rust_std: bool,
}

impl Module {
    fn all() -> Vec<Module> {
        unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _size: usize, into: *mut c_void) -> c_int {
            // SAFETY: the loader passes valid records; `into` is the list below.
            unsafe {
                let modules = &mut *into.cast::<Vec<Module>>();
                // The loader names the executable first.
                let is_executable = modules.is_empty();
                modules.push(Module::of(&*info, is_executable));
            }
            0
        }
        let mut modules: Vec<Module> = Vec::new();
        // SAFETY: the callback gets this very place back while the call lasts.
        unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut modules).cast()) };
        modules
    }

    /// # Safety
    /// The record must be the loader's.
    unsafe fn of(info: &libc::dl_phdr_info, is_executable: bool) -> Module {
        let mut module = Module { bias: info.dlpi_addr as usize, is_executable, ..Module::default() };
        // SAFETY: as the caller vouches.
        let (name, headers) = unsafe {
            let headers = std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize);
            (CStr::from_ptr(info.dlpi_name).to_string_lossy(), headers)
        };
        module.is_system = libraries::is_of_system(&name);
        module.is_runtime = libraries::is_runtime(&name);
        let file = name.rsplit('/').next().unwrap_or_default();
        module.orders_as_said = threadbare_library::ORDERING.iter().any(|start| file.starts_with(start));
        for header in headers {
            let start = module.bias + header.p_vaddr as usize;
            let end = start + header.p_memsz as usize;
            match header.p_type {
                libc::PT_LOAD if header.p_flags & libc::PF_X != 0 => module.code.push(start..end),
                // The loader protects whole pages only.
                libc::PT_GNU_RELRO => module.read_only = start & !4095..end & !4095,
                libc::PT_DYNAMIC => module.dynamic = start,
                _ => {}
            }
        }
        let calls = |prefix: &str| module.slots().any(|slot| slot.name.starts_with(prefix));
        let (announces, has_rust_std) = (calls("__tsan_"), calls("__threadbare_std"));
        module.is_instrumented = !module.is_runtime && announces;
        module.has_rust_std = has_rust_std;
        module
    }

    /// Whether it is a library without instrumentation of which the table knows nothing.
    fn is_unseen(&self) -> bool {
        let is_seen = self.is_executable || self.is_runtime || self.is_instrumented;
        !(is_seen || self.is_system || self.orders_as_said)
    }

    fn code_ranges(&self) -> impl Iterator<Item = (Range<usize>, usize)> {
        self.code.iter().map(|range| (range.clone(), self.bias))
    }

    fn contains(&self, address: usize) -> bool {
        self.code.iter().any(|range| range.contains(&address))
    }

    /// The slots for functions of other modules.
    fn slots(&self) -> impl Iterator<Item = Slot> {
        let tables = Tables::of(self);
        let bias = self.bias;
        tables.relocations().filter_map(move |relocation| tables.slot(relocation, bias))
    }
}

/// A relocation with an addend, as the file has it.
#[derive(Clone, Copy)]
#[repr(C)]
struct Relocation {
    offset: u64,
    info: u64,
    addend: i64,
}

impl Relocation {
    const ADDRESS: u32 = 1;
    const GLOBAL: u32 = 6;
    const JUMP: u32 = 7;

    fn kind(self) -> u32 {
        self.info as u32
    }

    fn symbol(self) -> usize {
        (self.info >> 32) as usize
    }
}

/// Where the tables of a module lie that the loader works with; 0 for what it does not have.
#[derive(Clone, Copy, Default)]
struct Tables {
    symbols: usize,
    texts: usize,
    relocations: (usize, usize),
    jumps: (usize, usize),
    versions: usize,
    needed_versions: (usize, usize),
}

impl Tables {
    fn of(module: &Module) -> Tables {
        const PLTRELSZ: i64 = 2;
        const STRTAB: i64 = 5;
        const SYMTAB: i64 = 6;
        const RELA: i64 = 7;
        const RELASZ: i64 = 8;
        const JMPREL: i64 = 23;
        const VERSYM: i64 = 0x6fff_fff0;
        const VERNEED: i64 = 0x6fff_fffe;
        const VERNEEDNUM: i64 = 0x6fff_ffff;
        let mut tables = Tables::default();
        if module.dynamic == 0 {
            return tables;
        }
        // The loader has moved some of the addresses to where the module is, and others not.
        let moved = |value: usize| if value < module.bias { module.bias.wrapping_add(value) } else { value };
        let mut entry = module.dynamic as *const [usize; 2];
        loop {
            // SAFETY: the table is the module's, and ends with an entry of kind 0.
            let [kind, value] = unsafe { *entry };
            match kind as i64 {
                0 => return tables,
                STRTAB => tables.texts = moved(value),
                SYMTAB => tables.symbols = moved(value),
                RELA => tables.relocations.0 = moved(value),
                RELASZ => tables.relocations.1 = value,
                JMPREL => tables.jumps.0 = moved(value),
                PLTRELSZ => tables.jumps.1 = value,
                VERSYM => tables.versions = moved(value),
                VERNEED => tables.needed_versions.0 = moved(value),
                VERNEEDNUM => tables.needed_versions.1 = value,
                _ => {}
            }
            // SAFETY: as above.
            entry = unsafe { entry.add(1) };
        }
    }

    fn relocations(self) -> impl Iterator<Item = Relocation> {
        let list = |(start, bytes): (usize, usize)| {
            let count = if start == 0 { 0 } else { bytes / size_of::<Relocation>() };
            // SAFETY: the module says that so many bytes of relocations lie there.
            (0..count).map(move |index| unsafe { *(start as *const Relocation).add(index) })
        };
        list(self.relocations).chain(list(self.jumps))
    }

    /// The slot that a relocation fills, if it is one for a function of another module.
    fn slot(self, relocation: Relocation, bias: usize) -> Option<Slot> {
        const OBJECT: u8 = 1;
        const THREAD_LOCAL: u8 = 6;
        let kind = relocation.kind();
        let may_be_lazy = kind == Relocation::JUMP;
        let is_address = kind == Relocation::ADDRESS && relocation.addend == 0;
        if !(may_be_lazy || kind == Relocation::GLOBAL || is_address) || relocation.symbol() == 0 {
            return None;
        }
        // SAFETY: the relocation names a symbol of the module's table.
        let symbol = unsafe { &*(self.symbols as *const libc::Elf64_Sym).add(relocation.symbol()) };
        if symbol.st_shndx != 0 || matches!(symbol.st_info & 15, OBJECT | THREAD_LOCAL) {
            return None;
        }
        // SAFETY: the symbol's name lies in the module's table of texts, which is there while the module is looked at.
        let name = unsafe { CStr::from_ptr((self.texts + symbol.st_name as usize) as *const c_char) };
        let place = bias.wrapping_add(relocation.offset as usize) as *mut usize;
        let version = if may_be_lazy { self.version(relocation.symbol()) } else { None };
        Some(Slot { place, name: name.to_str().ok()?, version, may_be_lazy })
    }

    /// The version of a symbol that the module was linked with.
    fn version(self, symbol: usize) -> Option<&'static CStr> {
        if self.versions == 0 || self.needed_versions.0 == 0 {
            return None;
        }
        // SAFETY: the tables are the module's; each says how far it is to the next record.
        unsafe {
            let wanted = *(self.versions as *const u16).add(symbol) & 0x7fff;
            let mut file = self.needed_versions.0;
            for _ in 0..self.needed_versions.1 {
                let (count, first) = (*((file + 2) as *const u16), *((file + 8) as *const u32));
                let mut needed = file + first as usize;
                for _ in 0..count {
                    if *((needed + 6) as *const u16) & 0x7fff == wanted {
                        let name = self.texts + *((needed + 8) as *const u32) as usize;
                        return Some(CStr::from_ptr(name as *const c_char));
                    }
                    needed += *((needed + 12) as *const u32) as usize;
                }
                file += *((file + 12) as *const u32) as usize;
            }
        }
        None
    }
}
