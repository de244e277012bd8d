//! Where names for code and memory come from.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::printable;

/// A place in the code.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SourcePlace {
    /// How it is written, such as `bank.c:9`, or `deposit+0x12` where no line is known.
    pub label: String,
    /// The function.
    pub function: Option<String>,
    /// The source file, as a path that can be opened from here.
    pub file: Option<String>,
    /// The line, counted from 1.
    pub line: Option<u32>,
    /// The column, counted from 1.
    pub column: Option<u32>,
    /// It is in a header or library of the system.
    pub in_system: bool,
    /// What a library does there for the program with a word of memory: `lock`, `unlock`.
    #[serde(default, alias = "deed", skip_serializing_if = "Option::is_none")]
    pub library_operation: Option<String>,
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }
}

/// Looks up what a person calls an address.
pub trait Names {
    /// The place of the call that returns to `pc`, with the calls in progress there (0: unknown).
    fn place(&self, pc: u64, context: u32) -> Option<SourcePlace>;

    /// The stable name of a memory location or synchronization object, as of the end.
    fn object(&self, addr: u64) -> Option<String>;

    /// The same as of an event, counted from 0: memory may have been used for something else since.
    fn object_at(&self, _event: usize, addr: u64) -> Option<String> {
        self.object(addr)
    }

    /// What a value points to as of an event, if it is known to be an address of the program's.
    fn pointee_at(&self, _event: usize, _value: u64) -> Option<String> {
        None
    }

    /// The function that begins at an address.
    fn routine(&self, addr: u64) -> Option<String>;

    /// The text of a source line, where the file can be read.
    fn source(&self, place: &SourcePlace) -> Option<String>;
}

/// Names from outside that do no harm where they are printed.
pub(crate) struct PrintableNames<'a>(pub(crate) &'a dyn Names);

fn harmless(text: String) -> String {
    printable(&text).into_owned()
}

impl Names for PrintableNames<'_> {
    fn place(&self, pc: u64, context: u32) -> Option<SourcePlace> {
        let place = self.0.place(pc, context)?;
        let (function, library_operation) =
            (place.function.map(harmless), place.library_operation.map(harmless));
        Some(SourcePlace { label: harmless(place.label), function, library_operation, ..place })
    }

    fn object(&self, addr: u64) -> Option<String> {
        self.0.object(addr).map(harmless)
    }

    fn object_at(&self, event: usize, addr: u64) -> Option<String> {
        self.0.object_at(event, addr).map(harmless)
    }

    fn pointee_at(&self, event: usize, value: u64) -> Option<String> {
        self.0.pointee_at(event, value).map(harmless)
    }

    fn routine(&self, addr: u64) -> Option<String> {
        self.0.routine(addr).map(harmless)
    }

    fn source(&self, place: &SourcePlace) -> Option<String> {
        self.0.source(place).map(harmless)
    }
}
