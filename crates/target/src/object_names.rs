//! Stable names for memory: the same in every execution, whatever the addresses are.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use threadbare_library::HiddenObject;
use threadbare_trace::{Event, EventKind, SignalMask, ThreadId, kinds};
use threadbare_wire::ContextRecord;

use crate::symbols::Symbols;
use crate::types::Part;

const PAGE: u64 = 4096;

struct Block {
    size: u64,
    site: u64,
    context: u32,
    thread: ThreadId,
    ordinal: u64,
}

/// Names addresses, given the events so far: what was allocated where, and whose stacks are where.
pub struct ObjectNames<'a> {
    symbols: &'a Symbols,
    contexts: &'a [ContextRecord],
    blocks: BTreeMap<u64, Block>,
    stacks: Vec<(Range<u64>, ThreadId)>,
    /// Calls in progress by the lowest address of their variables: the highest, and a place in the
    /// code.
    frames: BTreeMap<u64, (u64, u64)>,
    /// Pages nobody knows, numbered as they come up.
    unknown: RefCell<HashMap<u64, usize>>,
}

impl<'a> ObjectNames<'a> {
    /// Names as of the snapshot.
    pub fn new(symbols: &'a Symbols, contexts: &'a [ContextRecord]) -> ObjectNames<'a> {
        ObjectNames {
            symbols,
            contexts,
            blocks: BTreeMap::new(),
            stacks: Vec::new(),
            frames: BTreeMap::new(),
            unknown: RefCell::default(),
        }
    }

    /// Names as of the end of an execution.
    pub fn after(symbols: &'a Symbols, contexts: &'a [ContextRecord], events: &[Event]) -> ObjectNames<'a> {
        let mut names = ObjectNames::new(symbols, contexts);
        events.iter().for_each(|event| names.observe(event));
        names
    }

    /// Whether an event changes any name.
    pub fn change_with(event: &Event) -> bool {
        use EventKind::*;
        matches!(event.kind(), Some(Alloc | Start | Frame))
    }

    /// Takes note of an event. Freed blocks keep their name until the memory is used again.
    pub fn observe(&mut self, event: &Event) {
        use EventKind::*;
        let Some(kind) = event.kind().filter(|_| ObjectNames::change_with(event)) else { return };
        match kind {
            Alloc => {
                let end = event.addr.saturating_add(event.value.max(1));
                self.forget_blocks(event.addr..end);
                let block = Block {
                    size: event.value,
                    site: event.pc,
                    context: event.context,
                    thread: event.thread,
                    ordinal: event.old,
                };
                self.blocks.insert(event.addr, block);
            }
            Start => {
                let range = event.addr..event.value;
                if !range.is_empty() {
                    self.stacks.retain(|(other, _)| other.end <= range.start || range.end <= other.start);
                    self.stacks.push((range, event.thread));
                }
            }
            Frame => {
                let (low, high) = (event.value, event.addr);
                self.frames.retain(|start, (end, _)| *end <= low || high <= *start);
                self.frames.insert(low, (high, event.pc));
            }
            // These say nothing new about memory.
            Create | Exit | Join | Detach | JoinFailed | Cancel => {}
            Free | Fence | Signal | kinds!(plain | atomic | lock | condition | barrier | semaphore) => {}
            kinds!(once | futex | object | pause | outside) => {}
        }
    }

    /// The name of the object an event is about; none for events that are about no memory.
    pub fn of_event(&self, event: &Event) -> Option<String> {
        use EventKind::*;
        let of_memory = || (event.addr != 0).then(|| self.name(event.addr));
        match event.kind()? {
            Io => Some(format!("descriptor {}", event.addr)),
            Create | Start | Frame => None,
            kinds!(plain | atomic | heap) => of_memory(),
            kinds!(lock | condition | barrier | semaphore | once | futex | object) => of_memory(),
            // Most of these have no address.
            Exit | Join | Detach | JoinFailed | Cancel => of_memory(),
            Fence | Signal | Process | End | LibraryCall | kinds!(pause) => of_memory(),
        }
    }

    /// The name of an address: a variable, a heap block by where it was allocated, a stack.
    pub fn name(&self, address: u64) -> String {
        self.known(address).unwrap_or_else(|| {
            let page = address / PAGE;
            let mut unknown = self.unknown.borrow_mut();
            let next = unknown.len() + 1;
            let number = *unknown.entry(page).or_insert(next);
            format!("page{number}+{:#x}", address % PAGE)
        })
    }

    /// The name of an address that lies in memory of the program known to be in use.
    pub fn known(&self, address: u64) -> Option<String> {
        self.find(address, Part::Innermost)
    }

    /// What an address that is a value points to, if it lies in memory known to be in use.
    pub fn pointee(&self, address: u64) -> Option<String> {
        self.find(address, Part::Whole)
    }

    fn find(&self, address: u64, part: Part) -> Option<String> {
        if let Some(mask) = SignalMask::at(address) {
            return Some(mask.to_string());
        }
        if let Some(object) = HiddenObject::at(address) {
            return Some(object.name().to_string());
        }
        if let Some(name) = self.symbols.data(address, part) {
            return Some(name.to_string());
        }
        if let Some(name) = self.in_block(address, part) {
            return Some(name);
        }
        if let Some((_, (high, pc))) = self.frames.range(..=address).next_back()
            && address < *high
            && let Some(name) = self.symbols.local(*pc, address as i64 - *high as i64, part)
        {
            return Some(name);
        }
        if let Some((range, thread)) = self.stacks.iter().find(|(range, _)| range.contains(&address)) {
            return Some(format!("stack of {thread}-{}", range.end - address));
        }
        let modules = self.symbols.modules();
        if let Some((index, offset)) = modules.find(address) {
            return Some(format!("{}+{offset:#x}", modules.all()[index].name));
        }
        let region = modules.region(address)?;
        match modules.stack_start() {
            Some(top) if region.range.contains(&top) && address <= top => {
                Some(format!("stack of {}-{}", ThreadId::MAIN, top - address))
            }
            _ => Some(format!("{}+{:#x}", region.name, address - region.range.start)),
        }
    }

    /// What a value points to, if that is a heap block.
    pub fn pointee_block(&self, address: u64) -> Option<String> {
        self.in_block(address, Part::Whole)
    }

    /// The name of an address in a heap block, by where the block was allocated.
    fn in_block(&self, address: u64, part: Part) -> Option<String> {
        let (start, block) = self.block(address)?;
        let offset = address - start;
        let site = self.symbols.own_site(block.site, block.context, self.contexts);
        let which = format!("{site} {}#{}", block.thread, block.ordinal);
        let rust = self.symbols.rust_allocated(block.site, block.context, self.contexts, offset, part);
        Some(match rust.or_else(|| self.symbols.allocated(&site, offset, part)) {
            Some((name, path)) => format!("{name} (heap, {which}){path}"),
            None => with_offset(format!("heap {which}"), offset),
        })
    }

    fn block(&self, address: u64) -> Option<(u64, &Block)> {
        let (start, block) = self.blocks.range(..=address).next_back()?;
        (address - start < block.size.max(1)).then_some((*start, block))
    }

    fn forget_blocks(&mut self, range: Range<u64>) {
        if let Some((start, _)) = self.block(range.start) {
            self.blocks.remove(&start);
        }
        let inside: Vec<u64> = self.blocks.range(range).map(|(start, _)| *start).collect();
        for start in inside {
            self.blocks.remove(&start);
        }
    }
}

fn with_offset(name: String, offset: u64) -> String {
    if offset == 0 { name } else { format!("{name}+{offset}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::Modules;

    fn event(kind: EventKind, thread: u16, addr: u64, value: u64, old: u64) -> Event {
        Event { kind: kind as u8, thread: ThreadId(thread), addr, value, old, pc: 0x11, ..Event::default() }
    }

    #[test]
    fn blocks_are_named_by_their_allocation_until_the_memory_is_used_again() {
        let symbols = Symbols::new(&Modules::default());
        let mut names = ObjectNames::new(&symbols, &[]);
        names.observe(&event(EventKind::Alloc, 1, 0x1000, 32, 2));
        assert_eq!(names.name(0x1000), "heap 0x11 T1#2");
        assert_eq!(names.name(0x1008), "heap 0x11 T1#2+8");
        names.observe(&event(EventKind::Free, 2, 0x1000, 0, 0));
        assert_eq!(names.name(0x101f), "heap 0x11 T1#2+31");
        names.observe(&event(EventKind::Alloc, 2, 0x1010, 64, 1));
        assert_eq!(names.name(0x1018), "heap 0x11 T2#1+8");
        assert_eq!(names.known(0x1000), None, "the old block was overwritten");
        names.observe(&event(EventKind::Alloc, 3, 0xff0, 0x200, 1));
        assert_eq!(names.name(0x1018), "heap 0x11 T3#1+40");
    }

    #[test]
    fn stacks_and_unknown_pages_do_not_show_addresses() {
        let symbols = Symbols::new(&Modules::default());
        let mut names = ObjectNames::new(&symbols, &[]);
        names.observe(&event(EventKind::Start, 1, 0x8000, 0x9000, 0));
        assert_eq!(names.name(0x8ff0), "stack of T1-16");
        names.observe(&event(EventKind::Start, 2, 0x8000, 0x9000, 0));
        assert_eq!(names.name(0x8ff0), "stack of T2-16");
        assert_eq!(names.name(0x7f00_1234), "page1+0x234");
        assert_eq!(names.name(0x7e00_1000), "page2+0x0");
        assert_eq!(names.name(0x7f00_1238), "page1+0x238");
        assert_eq!(names.of_event(&event(EventKind::Io, 1, 5, 0, 0)).unwrap(), "descriptor 5");
    }
}
