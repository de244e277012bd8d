//! What events refer to, each thing once.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A place in the code, as a person knows it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SiteName {
    /// How it is written, such as `bank.c:9`, or `deposit+0x12` where no line is known.
    pub label: String,
    /// The function.
    pub function: Option<String>,
    /// The source file.
    pub file: Option<String>,
    /// The line, counted from 1.
    pub line: Option<u32>,
    /// The column, counted from 1.
    pub column: Option<u32>,
    /// It is in a header or library of the system.
    pub in_system: bool,
    /// What a library does there for the program with a word of memory: `lock`, `unlock`.
    pub library_operation: Option<String>,
    /// The text of the line, as it was when the trace was written.
    pub source: Option<String>,
}

/// A code address with the calls in progress, and its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Site {
    pub pc: u64,
    pub context: u32,
    pub name: Option<SiteName>,
}

/// All code addresses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Sites {
    rows: Vec<Site>,
    numbers: HashMap<(u64, u32), u32>,
}

impl Sites {
    /// The row of an address, which is made if there is none.
    pub fn row(&mut self, pc: u64, context: u32, name: impl FnOnce() -> Option<SiteName>) -> u32 {
        if let Some(number) = self.numbers.get(&(pc, context)) {
            return *number;
        }
        self.push(Site { pc, context, name: name() })
    }

    /// Adds a row. Of two rows for one address the first one is found.
    pub fn push(&mut self, site: Site) -> u32 {
        let number = self.rows.len() as u32;
        self.numbers.entry((site.pc, site.context)).or_insert(number);
        self.rows.push(site);
        number
    }

    /// The name of an address.
    pub fn find(&self, pc: u64, context: u32) -> Option<&SiteName> {
        let number = *self.numbers.get(&(pc, context))?;
        self.get(number)?.name.as_ref()
    }

    pub fn get(&self, number: u32) -> Option<&Site> {
        self.rows.get(number as usize)
    }

    pub fn rows(&self) -> &[Site] {
        &self.rows
    }
}

/// An address and what it was called. Memory that is used again is another object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Object {
    pub address: u64,
    pub name: Option<String>,
}

/// All objects.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Objects {
    rows: Vec<Object>,
    /// Rows by a hash of their content. One address can have had very many names.
    numbers: HashMap<u64, Vec<u32>>,
}

impl Objects {
    /// The row of an object, which is made if there is none.
    pub fn row(&mut self, address: u64, name: Option<&str>) -> u32 {
        let known = self.numbers.get(&content_hash(address, name)).map_or(&[][..], Vec::as_slice);
        let same = |number: &&u32| {
            let row = &self.rows[**number as usize];
            row.address == address && row.name.as_deref() == name
        };
        match known.iter().find(same) {
            Some(number) => *number,
            None => self.push(Object { address, name: name.map(str::to_string) }),
        }
    }

    /// Adds a row.
    pub fn push(&mut self, object: Object) -> u32 {
        let number = self.rows.len() as u32;
        let hash = content_hash(object.address, object.name.as_deref());
        self.numbers.entry(hash).or_default().push(number);
        self.rows.push(object);
        number
    }

    /// The name in a row.
    pub fn name(&self, number: u32) -> Option<&str> {
        self.get(number)?.name.as_deref()
    }

    pub fn get(&self, number: u32) -> Option<&Object> {
        self.rows.get(number as usize)
    }

    pub fn rows(&self) -> &[Object] {
        &self.rows
    }
}

fn content_hash(address: u64, name: Option<&str>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (address, name).hash(&mut hasher);
    hasher.finish()
}
