//! What the execution depends on besides its input and the order of its steps, noted as it happens.
//!
//! Every call that the runtime gets to see is looked up in the table of functions: calls of interposed functions (`interpose!` knows
//! the row when the runtime is compiled), system calls by number, and calls of functions that are left alone, which come by
//! the stubs of [`crate::library_calls`]. Each kind is noted once for each place. Before the snapshot only what another run of the program would be
//! told differently is noted, and what leads out of sight for good: order is no question there.
//!
//! Memory that a function is given is looked up in the notes on who touches what. Functions that are left alone are taken to touch the memory
//! that their rows name, so that memory which only they touch is found to be shared as well.

use std::collections::HashSet;
use std::ffi::{CStr, c_char, c_int};
use std::hash::BuildHasherDefault;

use threadbare_library::{
    Dependence, Dependences, Effect, Extent, Format, Function, HiddenObject, Provision, Range, Taken,
    system_calls,
};
use threadbare_trace::EventKind;
use threadbare_wire::{DependenceRecord, flags};

use crate::address_hash::AddressHasher;
use crate::arch::REGISTER_ARGUMENTS;
use crate::engine::{engine, running, watched};
use crate::fiber::Fiber;
use crate::hidden_objects;
use crate::library_calls;
use crate::program::streams;
use crate::shadow::{self, Cell, FREED, GRAIN_BITS, MANY, OWNER, SHARED, WRITTEN};
use crate::thread_state_hash::{self, mix};

/// The most bytes of one piece of memory that are looked at: what a function is given is hardly ever larger, and where it is, the beginning
/// of a buffer that threads share is shared as well.
const MOST_BYTES: usize = 1 << 16;

const PAGE: usize = 4096;

/// No memory of a program lies below.
const LOWEST: usize = 1 << 16;

/// What has been noted in this execution. It is kept here besides the shared memory because a copy that continues from a checkpoint has to
/// write it down again.
#[derive(Default)]
pub struct Notes {
    keys: HashSet<u64, BuildHasherDefault<AddressHasher>>,
    records: Vec<DependenceRecord>,
}

/// A function as the table has it.
#[derive(Clone, Copy)]
pub struct Called {
    /// Its name.
    pub name: &'static str,
    /// What a call of it makes the execution depend on, whatever it is given.
    pub kinds: Dependences,
    /// Its row, if it has one.
    pub row: Option<&'static Function>,
}

impl Called {
    /// A function that the runtime stands in for.
    pub const fn interposed(name: &'static str) -> Called {
        match threadbare_library::function(name) {
            Some(row) => Called { name, kinds: row.dependences(), row: Some(row) },
            None => panic!("an interposed function has no row in the table of library functions"),
        }
    }

    /// Whether calls of it are worth a look.
    pub const fn is_worth_a_look(&self) -> bool {
        let touches = match self.row {
            Some(row) => {
                row.touches_memory()
                    || row.touches_hidden_objects()
                    || row.is_cancellation_point
                    || row.stream.is_some()
            }
            None => false,
        };
        !self.kinds.is_empty() || touches
    }
}

/// The value of an argument, as a register holds it.
pub fn word<T>(argument: &T) -> usize {
    let mut bytes = [0; size_of::<usize>()];
    let used = size_of::<T>().min(bytes.len());
    // SAFETY: so many bytes of the argument are readable; arguments of C functions have no padding.
    unsafe { std::ptr::copy_nonoverlapping((&raw const *argument).cast::<u8>(), bytes.as_mut_ptr(), used) };
    usize::from_le_bytes(bytes)
}

/// An execution begins, or continues in a copy: writes down what has been noted so far.
pub fn write_again() {
    let shared = engine().shared;
    let notes = engine().world.dependences.borrow_mut();
    for (index, record) in notes.records.iter().enumerate() {
        shared.dependence(index as u64, *record);
    }
    shared.control().dependences = notes.records.len() as u64;
}

/// Notes something of these kinds, once for each place.
fn note(kinds: Dependences, name: &str, site: u64) {
    for kind in kinds.iter() {
        let mut notes = engine().world.dependences.borrow_mut();
        if notes.keys.insert(site ^ (kind as u64) << 56) {
            let record = DependenceRecord::new(kind as u8, name, site);
            let index = notes.records.len() as u64;
            notes.records.push(record);
            // What is noted before the snapshot is written down when an execution begins.
            if engine().running.get() {
                let shared = engine().shared;
                shared.dependence(index, record);
                shared.control().dependences = index + 1;
            }
        }
    }
}

/// What a call before the snapshot makes all executions depend on.
fn before_threads(called: &Called, arguments: &[usize]) -> Dependences {
    use Dependence::*;
    let Some(row) = called.row else { return Dependences::NONE };
    // Numbers that are computed from a seed are the same in every run.
    let is_drawn = row.provision == Provision::Interposed;
    let names_the_moment = row.read_ranges().filter(|range| range.extent == Extent::Text).any(|range| {
        Memory::of(range, false, arguments).is_some_and(|it| {
            // SAFETY: the program has the text read, up to the zero byte at its end.
            let path = unsafe { std::slice::from_raw_parts(it.start as *const u8, it.bytes) };
            path.starts_with(b"/proc/") || path.starts_with(b"/sys/")
        })
    });
    [
        (Clock, true),
        (Randomness, is_drawn),
        (Identity, true),
        (Processes, true),
        (UnseenCalls, true),
        (Files, names_the_moment),
    ]
    .into_iter()
    .filter(|(kind, counts)| *counts && called.kinds.has(*kind))
    .fold(Dependences::NONE, |kinds, (kind, _)| kinds.with(kind, true))
}

/// A thread has to let others go first, because it seems to wait for them.
pub fn note_yield(site: u64) {
    note(Dependences::NONE.with(Dependence::Yield, true), "", site);
}

/// Shared memory is accessed with an order weaker than sequentially consistent.
pub fn note_weak_order(site: u64) {
    note(Dependences::NONE.with(Dependence::WeakOrder, true), "", site);
}

/// A thread has made a step of which nothing was recorded.
pub fn note_unrecorded(kind: EventKind, site: u64) {
    note(Dependences::NONE.with(Dependence::UnrecordedStep, true), kind.word(), site);
}

/// Memory that threads share is written by a plain access. Whether the code reads there as well, without saying so, is looked up by who claims
/// something.
#[inline(always)]
pub fn note_plain_write(site: u64) {
    if engine().shared.control().plan.flags & flags::CLAIMS != 0 {
        note(Dependences::NONE.with(Dependence::PlainWrite, true), "", site);
    }
}

/// Where this block lies depends on the heap.
#[cold]
pub fn note_heap_address(site: u64) {
    note(Dependences::NONE.with(Dependence::HeapAddress, true), "", site);
}

/// The system has refused a thread, which depends on how many others there are.
pub fn note_refused_thread(site: u64) {
    note(Dependences::NONE.with(Dependence::Processes, true), "a thread that the system refused", site);
}

/// Random bytes are read from a file.
pub fn note_random_bytes(site: u64) {
    note(Dependences::NONE.with(Dependence::Randomness, true), "/dev/urandom", site);
}

/// The same memory is mapped at several addresses.
pub fn note_aliases(name: &str) {
    note(Dependences::NONE.with(Dependence::AliasedMemory, true), name, 0);
}

/// The process ends although other threads have steps to make. That is a choice if each of them could have been made first.
pub fn note_early_end(is_choice: bool) {
    let kind = if is_choice { Dependence::ChosenEnd } else { Dependence::EarlyEnd };
    note(Dependences::NONE.with(kind, true), "", crate::interpose::instrumented_site());
}

/// The process ends although another thread may leave the loop that it seems to wait in.
pub fn note_loop_at_end() {
    note(Dependences::NONE.with(Dependence::LoopAtEnd, true), "", crate::interpose::instrumented_site());
}

/// Calls of a function cannot be seen, which holds for every execution.
pub fn note_unseen(name: &str) {
    let mut notes = engine().world.dependences.borrow_mut();
    let is_new = notes.records.iter().all(|record| record.name() != name);
    if is_new {
        notes.records.push(DependenceRecord::new(Dependence::UnseenCalls as u8, name, 0));
    }
}

/// An interposed function was called.
#[cold]
pub fn interposed_call(called: &Called, arguments: &[usize]) {
    let site = crate::interpose::site();
    let mut kinds = match engine().running.get() {
        true => by_arguments(called, arguments, site, false),
        false => before_threads(called, arguments),
    };
    kinds = kinds.with(Dependence::AliasedMemory, writes_what_is_mapped(called, arguments));
    if called.row.is_some_and(|row| !row.comes_later) {
        kinds = kinds.and(by_hidden_objects(called, arguments, site));
    }
    note(kinds, called.name, site);
}

/// The function that the runtime stands in for has come to the hidden objects of its row.
pub fn hidden_objects(called: &Called, arguments: &[usize]) {
    let site = crate::interpose::site();
    note(by_hidden_objects(called, arguments, site), called.name, site);
}

/// A function that is left alone is about to be called: one with a row, or an unknown one.
pub fn left_alone_call(called: &Called, arguments: &[usize; REGISTER_ARGUMENTS], site: impl FnOnce() -> u64) {
    let site = site();
    // What the program has written is there now, and after this call the memory may not be.
    engine().recorder.complete_write();
    if called.row.is_some_and(|row| row.starts_program) {
        start_program(called.name);
    }
    if !engine().running.get() {
        by_hidden_objects(called, arguments, site);
        let kinds = before_threads(called, arguments)
            .with(Dependence::UnannouncedAccess, lends_a_buffer(called, arguments));
        return note(
            kinds.without(Dependence::UnseenCalls, finds_what_is_seen(called, arguments)),
            called.name,
            site,
        );
    }
    thread_state_hash::called(arguments);
    let mut kinds = by_arguments(called, arguments, site, true);
    kinds = kinds
        .without(Dependence::UnseenCalls, finds_what_is_seen(called, arguments))
        .with(
            Dependence::AliasedMemory,
            maps_what_others_may(called, arguments) || writes_what_is_mapped(called, arguments),
        )
        .with(Dependence::UnannouncedAccess, lends_a_buffer(called, arguments));
    if called.row.is_none() {
        let is_given_shared = arguments.iter().any(|argument| {
            is_address(*argument) && conflicts(Memory { start: *argument, bytes: 1, writes: true })
        });
        let plain = kinds.without(Dependence::UnknownCall, is_given_shared);
        kinds = plain.with(Dependence::UnknownCallWithSharedMemory, is_given_shared);
    }
    kinds = kinds.and(by_hidden_objects(called, arguments, site));
    note(kinds, called.name, site);
    if let Some(stream) = called.row.and_then(|row| row.stream) {
        streams::about_to_use(stream, called.name, arguments, site);
    }
}

/// The program starts another one.
fn start_program(function: &str) {
    crate::processor_clock::before_other_program();
    if engine().running.get() {
        engine().shared.warn(&format!(
            "the program starts other programs by {function}: what they change is not put back after an execution, so the next one may \
             find it, and the same seed may give other results"
        ));
    }
}

/// Whether it looks up a function by name whose calls are seen, or of which there is nothing to see.
fn finds_what_is_seen(called: &Called, arguments: &[usize; REGISTER_ARGUMENTS]) -> bool {
    let [handle, name, ..] = *arguments;
    // SAFETY: the program has the name looked up.
    called.name == "dlsym"
        && is_address(name)
        && unsafe { library_calls::is_seen_by_name(handle, CStr::from_ptr(name as *const c_char)) }
}

/// Whether it maps a file so that others see what is written, who may have mapped it, too.
fn maps_what_others_may(called: &Called, arguments: &[usize; REGISTER_ARGUMENTS]) -> bool {
    let flags = arguments[3] as c_int;
    matches!(called.name, "mmap" | "mmap64")
        && flags & libc::MAP_SHARED != 0
        && flags & libc::MAP_ANONYMOUS == 0
        || called.name == "shmat"
}

/// Whether it changes a file that is mapped, and with it memory.
fn writes_what_is_mapped(called: &Called, arguments: &[usize]) -> bool {
    let writes = ["write", "writev", "pwrite", "pwrite64", "ftruncate", "ftruncate64"].contains(&called.name);
    writes && crate::files::is_mapped(arguments[0] as c_int)
}

/// Whether it has a stream use memory of the program's, which nobody sees it do.
fn lends_a_buffer(called: &Called, arguments: &[usize; REGISTER_ARGUMENTS]) -> bool {
    match called.name {
        "setvbuf" | "setbuf" => arguments[1] != 0,
        "fmemopen" => arguments[0] != 0,
        _ => false,
    }
}

/// A system call is made by its number.
pub fn system_call(number: i64, arguments: &[usize; REGISTER_ARGUMENTS]) {
    let site = crate::interpose::site();
    if !engine().running.get() {
        let row = system_calls::by_number(number);
        let called = row.map(|row| Called { name: row.name(), kinds: row.dependences(), row: Some(row) });
        return called.into_iter().for_each(|it| note(before_threads(&it, arguments), it.name, site));
    }
    let Some(row) = system_calls::by_number(number) else {
        let kinds = Dependences::NONE.with(Dependence::UnknownSystemCall, true);
        return note(kinds, &format!("system call {number}"), site);
    };
    let kinds = match number {
        // It is a wait only for some of its operations, and has a limit only if it is given one.
        libc::SYS_futex => Dependences::NONE.with(Dependence::TimeOut, is_limited_wait(arguments)),
        _ => {
            let called = Called { name: row.name(), kinds: row.dependences(), row: Some(row) };
            by_arguments(&called, arguments, site, false)
                .with(Dependence::AliasedMemory, writes_what_is_mapped(&called, arguments))
                .and(by_hidden_objects(&called, arguments, site))
        }
    };
    note(kinds, row.name(), site);
}

/// Whether the arguments of `futex` ask for a wait that ends after a time.
fn is_limited_wait(arguments: &[usize; REGISTER_ARGUMENTS]) -> bool {
    let operation = arguments[1] as i32 & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME);
    let waits = [libc::FUTEX_WAIT, libc::FUTEX_WAIT_BITSET, libc::FUTEX_LOCK_PI, libc::FUTEX_WAIT_REQUEUE_PI];
    waits.contains(&operation) && arguments[3] != 0
}

/// Makes the access to the hidden objects of a row; says what the execution then depends on.
fn by_hidden_objects(called: &Called, arguments: &[usize], site: u64) -> Dependences {
    let none = Dependences::NONE;
    let Some(row) = called.row.filter(|row| row.touches_hidden_objects()) else { return none };
    let read = || {
        let memory = row.read_ranges().filter_map(|range| Memory::of(range, false, arguments));
        memory.fold(0, |sum, it| mix(sum, thread_state_hash::content(it.start, it.bytes)))
    };
    let given = thread_state_hash::of_call(engine().current(), read);
    let joins_the_end = row.changes.has(HiddenObject::ExitFunctions) && crate::process::is_ended_by_another();
    none.with(Dependence::LibraryState, hidden_objects::touch(row, given, site))
        .with(Dependence::UnrecordedStep, joins_the_end)
}

/// Whether closures are repeated, and no states are looked at.
pub fn are_repeated() -> bool {
    engine().brief.get() && !engine().world.state_hashes.borrow_mut().are_wanted()
}

/// What a call makes the execution depend on, by what it is given.
fn by_arguments(called: &Called, arguments: &[usize], site: u64, is_left_alone: bool) -> Dependences {
    let Some(row) = called.row else { return called.kinds };
    let kinds = called.kinds.without(Dependence::TimeOut, waits_for_ever(row, arguments));
    let Some(fiber) = watched().filter(|_| row.touches_memory()) else { return kinds };
    let mut is_shared = false;
    let ranges = row.read_ranges().map(|range| (range, false));
    for (range, writes) in ranges.chain(row.written_ranges().map(|range| (range, true))) {
        if range.extent == Extent::Rest {
            for memory in formatted(range.pointer.into(), writes, arguments) {
                is_shared |= touches(fiber, memory, row, site, range.extent);
            }
        } else if let Some(memory) = Memory::of(range, writes, arguments) {
            is_shared |= match (is_left_alone, is_announced(row, range, writes)) {
                (_, true) => {
                    // SAFETY: the function is about to make the access itself.
                    unsafe { crate::access::range(memory.start, memory.bytes, writes, site) };
                    false
                }
                (true, false) => touches(fiber, memory, row, site, range.extent),
                (false, false) => conflicts(memory),
            };
        }
    }
    kinds.with(Dependence::UnannouncedAccess, is_shared)
}

/// Whether it is known before the call what memory it touches, and that it does so at once: then the access is a step like any other. What
/// a function writes is often less than it may, and where it calls the program back, or waits first, it comes later.
fn is_announced(row: &Function, range: Range, writes: bool) -> bool {
    let is_exact = match range.extent {
        Extent::Bytes(_) | Extent::Time => true,
        Extent::Argument(_) | Extent::Product(..) | Extent::Text | Extent::TextUpTo(_) => !writes,
        Extent::Pages(_) | Extent::Unknown | Extent::Rest => false,
    };
    let comes_later = row.calls_back || (writes && row.blocks);
    // Where closures are repeated, small differences cost much, and nothing is claimed.
    is_exact && !are_repeated() && !comes_later
}

/// Whether a wait that could have a limit was given none.
fn waits_for_ever(row: &Function, arguments: &[usize]) -> bool {
    let argument = |place: u8| arguments.get(usize::from(place)).copied();
    let has_no_time = row
        .read_ranges()
        .filter(|range| range.extent == Extent::Time)
        .any(|range| argument(range.pointer) == Some(0));
    let is_negative = row.limit.and_then(argument).is_some_and(|limit| (limit as i32) < 0);
    has_no_time || is_negative
}

/// A piece of memory that a function touches.
#[derive(Clone, Copy)]
struct Memory {
    start: usize,
    bytes: usize,
    writes: bool,
}

impl Memory {
    /// The memory that a row means for these arguments. None if there is none.
    fn of(range: Range, writes: bool, arguments: &[usize]) -> Option<Memory> {
        let argument = |place: u8| arguments.get(usize::from(place)).copied();
        let start = argument(range.pointer).filter(|start| is_address(*start))?;
        let bytes = match range.extent {
            Extent::Bytes(bytes) => usize::from(bytes),
            Extent::Argument(place) => argument(place)?,
            Extent::Product(one, other) => argument(one)?.saturating_mul(argument(other)?),
            Extent::Text => text(start, MOST_BYTES),
            Extent::TextUpTo(place) => text(start, argument(place)?),
            Extent::Time => size_of::<libc::timespec>(),
            Extent::Pages(place) => argument(place)?.next_multiple_of(PAGE),
            Extent::Unknown | Extent::Rest => 1,
        };
        (bytes != 0).then_some(Memory { start, bytes: bytes.min(MOST_BYTES), writes })
    }

    fn grains(self) -> std::ops::RangeInclusive<usize> {
        self.start >> GRAIN_BITS..=(self.start + self.bytes - 1) >> GRAIN_BITS
    }
}

/// The memory that the variable arguments from this one on lead to, as far as they are in registers.
fn formatted(first: usize, writes: bool, arguments: &[usize]) -> impl Iterator<Item = Memory> {
    let start = first.checked_sub(1).and_then(|before| arguments.get(before)).copied();
    let format = start.filter(|start| is_address(*start)).map_or(&[][..], |start| {
        // SAFETY: the program has the format read.
        unsafe { std::slice::from_raw_parts(start as *const u8, text(start, MOST_BYTES)) }
    });
    // What a format of `printf` names is read, and what one of `scanf` names is written.
    let taken = Format::new(format, writes).zip(arguments.iter().skip(first));
    let pointers = taken.filter(|(taken, start)| *taken == Taken::Pointer && is_address(**start));
    pointers.map(move |(_, start)| Memory { start: *start, bytes: 1, writes })
}

fn is_address(value: usize) -> bool {
    (LOWEST..1 << shadow::ADDRESS_BITS).contains(&value)
}

/// How many bytes a text takes, with the zero byte at its end, within a limit.
fn text(start: usize, limit: usize) -> usize {
    let limit = limit.min(MOST_BYTES);
    // SAFETY: the program has the text read.
    let ends = |at: &usize| unsafe { *((start + at) as *const u8) } == 0;
    (0..limit).find(ends).map_or(limit, |at| at + 1)
}

/// Whether somebody else has touched some of the memory, so that it matters who comes first.
fn conflicts(memory: Memory) -> bool {
    let Some(fiber) = running().filter(|fiber| !is_on_own_stack(fiber, memory.start)) else { return false };
    let tag = fiber.tag;
    let matters = |cell: Cell| {
        let is_others = cell & MANY != 0 || (cell & OWNER != 0 && cell & OWNER != tag);
        cell & (SHARED | FREED) != 0 || (is_others && (memory.writes || cell & WRITTEN != 0))
    };
    // SAFETY: there is a note for every address.
    memory.grains().any(|grain| matters(unsafe { *shadow::cell(grain << GRAIN_BITS) }))
}

fn is_on_own_stack(fiber: &Fiber, address: usize) -> bool {
    let (low, high) = fiber.own_stack.get();
    (low..high).contains(&address)
}

/// Takes it that `fiber`, the running thread, touches the memory; says whether that matters to others.
fn touches(fiber: &Fiber, memory: Memory, row: &Function, site: u64, extent: Extent) -> bool {
    let looks_at_states = engine().world.state_hashes.borrow_mut().are_wanted();
    // Where closures are repeated, small differences cost much, and nothing is claimed.
    if are_repeated() {
        return conflicts(memory);
    }
    let Memory { start, bytes, writes } = memory;
    // SAFETY: there is a note for every address.
    let is_freed = memory.grains().any(|grain| unsafe { *shadow::cell(grain << GRAIN_BITS) } & FREED != 0);
    if is_freed || is_on_own_stack(fiber, start) {
        return is_freed;
    }
    // SAFETY: the running fiber.
    let is_shared = unsafe { crate::access::touch_range(fiber, start, bytes, writes) };
    if let Extent::Pages(_) = extent {
        thread_state_hash::pages_change(start..start + bytes);
        thread_state_hash::changes_unseen(fiber);
        return is_shared;
    }
    if is_shared {
        return true;
    }
    // What is only printed decides nothing.
    if looks_at_states && (writes || row.effect != Effect::Silent) {
        thread_state_hash::touch(engine(), start, bytes, writes, site);
    }
    if looks_at_states && writes && !matches!(extent, Extent::Bytes(_)) {
        thread_state_hash::changes_unseen(fiber);
    }
    false
}
