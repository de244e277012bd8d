//! Names for one execution of one program.

use std::cell::RefCell;
use std::collections::HashMap;

use threadbare_report::{Names, SourcePlace, printable};
use threadbare_target::{Execution, ObjectNames, Site, Symbols};
use threadbare_trace::Event;
use threadbare_wire::ContextRecord;

/// Nothing is loaded below this address.
const LOWEST_ADDRESS: u64 = 0x10000;

/// What the events of one execution are about.
pub struct ExecutionNames<'a> {
    symbols: &'a Symbols,
    events: &'a [Event],
    contexts: &'a [ContextRecord],
    end: ObjectNames<'a>,
    /// The events that change what addresses mean, which are few.
    naming: Vec<usize>,
    /// Names as of an event, and how many of those they have seen. Reports ask nearly in order.
    on_the_way: RefCell<(usize, ObjectNames<'a>)>,
    /// The lines of source files; none for a file that cannot be read.
    files: RefCell<HashMap<String, Option<Vec<String>>>>,
}

impl<'a> ExecutionNames<'a> {
    /// Names for the events of this execution.
    pub fn new(symbols: &'a Symbols, execution: &'a Execution) -> ExecutionNames<'a> {
        ExecutionNames::known(symbols, &execution.events, &execution.contexts)
    }

    /// Names that hold in all executions, and these calls.
    pub fn of_the_program(symbols: &'a Symbols, contexts: &'a [ContextRecord]) -> ExecutionNames<'a> {
        ExecutionNames::known(symbols, &[], contexts)
    }

    fn known(symbols: &'a Symbols, events: &'a [Event], contexts: &'a [ContextRecord]) -> ExecutionNames<'a> {
        let naming: Vec<usize> =
            (0..events.len()).filter(|at| ObjectNames::change_with(&events[*at])).collect();
        let mut end = ObjectNames::new(symbols, contexts);
        naming.iter().for_each(|at| end.observe(&events[*at]));
        ExecutionNames {
            symbols,
            events,
            contexts,
            end,
            naming,
            on_the_way: RefCell::new((0, ObjectNames::new(symbols, contexts))),
            files: RefCell::default(),
        }
    }

    /// The events of the execution.
    pub fn events(&self) -> &'a [Event] {
        self.events
    }

    /// Brings `on_the_way` to the state just after an event.
    fn bring_up_to(&self, event: usize) {
        let (seen, names) = &mut *self.on_the_way.borrow_mut();
        let wanted = self.naming.partition_point(|at| *at <= event);
        if *seen > wanted {
            (*seen, *names) = (0, ObjectNames::new(self.symbols, self.contexts));
        }
        self.naming[*seen..wanted].iter().for_each(|at| names.observe(&self.events[*at]));
        *seen = wanted;
    }
}

/// A place as reports have it.
pub fn place_of(site: &Site) -> SourcePlace {
    SourcePlace {
        label: printable(&site.to_string()).into_owned(),
        function: site.function.clone(),
        file: site.file.clone(),
        line: site.line,
        column: site.column,
        in_system: !site.is_own(),
        library_operation: None,
    }
}

impl Names for ExecutionNames<'_> {
    fn place(&self, pc: u64, context: u32) -> Option<SourcePlace> {
        if pc == 0 {
            return None;
        }
        let site = self.symbols.own_site(pc, context, self.contexts);
        if site.module.is_empty() && site.function.is_none() {
            return None;
        }
        let library_operation = self
            .symbols
            .std_operation(pc, context, self.contexts)
            .map(|operation| operation.name().to_string());
        Some(SourcePlace { library_operation, ..place_of(&site) })
    }

    fn object(&self, addr: u64) -> Option<String> {
        (addr != 0).then(|| self.end.name(addr))
    }

    fn object_at(&self, event: usize, addr: u64) -> Option<String> {
        if addr == 0 {
            return None;
        }
        self.bring_up_to(event);
        Some(self.on_the_way.borrow().1.name(addr))
    }

    fn pointee_at(&self, event: usize, value: u64) -> Option<String> {
        if value < LOWEST_ADDRESS {
            return None;
        }
        self.bring_up_to(event);
        let then = self.on_the_way.borrow().1.pointee_block(value);
        // The pointer to a new block is written before the block itself shows in the trace.
        then.or_else(|| self.end.pointee(value))
    }

    fn routine(&self, addr: u64) -> Option<String> {
        // Places are looked up by the address a call returns to, which is past its own.
        let site = (addr != 0).then(|| self.symbols.site(addr + 1))?;
        // Where a library starts the thread, its function says nothing.
        site.function.clone().filter(|_| site.file.is_none() || site.is_own())
    }

    fn source(&self, place: &SourcePlace) -> Option<String> {
        let (file, line) = (place.file.as_ref()?, place.line?);
        let mut files = self.files.borrow_mut();
        let lines = files.entry(file.clone()).or_insert_with(|| {
            let bytes = std::fs::read(file).ok()?;
            Some(String::from_utf8_lossy(&bytes).lines().map(|line| line.replace('\t', " ")).collect())
        });
        lines.as_ref()?.get(line as usize - 1).cloned()
    }
}
