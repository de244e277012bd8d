//! Where the values go that a program reads: into branches, into memory, into addresses.
//!
//! This is the static half of the use-define analysis of total replay (Algorithm 3): it follows values from
//! the access that reads them through registers and calls, but not through memory. What is written to memory
//! is read again at a place that announces it, and whoever watches the program run sees both addresses.
//!
//! Only explicit flows are followed. A value that decides a branch also decides what is assigned on its two sides; but such
//! a value has a branch in its [`Fate`], so whoever explores a program varies it anyway, and sees the paths differ.

mod announced_accesses;
mod announces;
mod body;
mod calls;
mod evaluate;
mod fates;
mod frame;
mod graph;
mod instructions;
mod places;
mod pointers;
mod program;
mod slots;
mod state;
mod tables;
mod unanalysable;
mod value;

use std::collections::{BTreeMap, BTreeSet};

use crate::Code;
use crate::image::Image;

/// What becomes of a value that is read at a place.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Fate {
    /// The jumps whose outcome may depend on it, by address: conditional ones and those through a table.
    pub branches: Vec<u64>,
    /// The places that announce a write whose value may depend on it.
    pub writes: Vec<u64>,
    /// It may decide which memory, lock or function is used, or how much of it.
    pub steers: bool,
    /// It goes where nobody can follow it: everything may depend on it.
    pub unknown: bool,
}

/// Where the values go that a program reads. A *site* is the address after the call that announces an access, as events have it.
#[derive(Clone, Default, Debug)]
pub struct Flows {
    fates: BTreeMap<u64, Fate>,
    deciders: BTreeMap<u64, Vec<u64>>,
    sees_all: Vec<String>,
    unannounced: Vec<String>,
    reading_writes: BTreeSet<u64>,
}

impl Flows {
    /// What becomes of the value read at a site. None: nothing is known to be read there.
    ///
    /// Where the compiler announces a read and a write of the same memory as a write only, that write's site has a fate too.
    pub fn fate(&self, site: u64) -> Option<&Fate> {
        self.fates.get(&site)
    }

    /// The sites that read a value which may decide the branch at this address. A value whose fate is
    /// unknown may decide every branch, and is not named here.
    pub fn deciders(&self, branch: u64) -> &[u64] {
        self.deciders.get(&branch).map_or(&[], Vec::as_slice)
    }

    /// The branches that values read at some site may decide.
    pub fn branches(&self) -> impl Iterator<Item = u64> {
        self.deciders.keys().copied()
    }

    /// The sites that read.
    pub fn sites(&self) -> impl Iterator<Item = u64> {
        self.fates.keys().copied()
    }

    /// The functions that may look at the program's memory without anybody seeing it: library functions that are not known, and
    /// functions of the program with a load that belongs to no announcement (compilers copy some things silently: gcc does not announce the
    /// read of a structure that is passed by value, nor what it makes of a short `memcpy`). If there are any, everything that is
    /// written may matter.
    pub fn sees_all(&self) -> Vec<String> {
        self.sees_all.clone()
    }

    /// The functions of the program with a load or a store that belongs to no announcement (inline assembly, and what compilers make of a `memset` or
    /// `strcpy`, have such stores). What library functions do is better seen when they are called.
    pub fn unannounced(&self) -> &[String] {
        &self.unannounced
    }

    /// The sites that announce a write and read the same memory, or may do so: gcc writes fields of some bits in this way, and LLVM does not announce a
    /// read that a write follows. Nobody can come between the two.
    pub fn reading_writes(&self) -> impl Iterator<Item = u64> {
        self.reading_writes.iter().copied()
    }
}

impl Code {
    /// Where the values go that the program reads.
    pub fn flows(&self) -> Flows {
        let Ok(image) = Image::parse(&self.bytes) else { return Flows::default() };
        let program = program::Program::read(self, &image);
        let mut graph = graph::Graph::default();
        for number in 0..program.known.len() {
            instructions::wire(&program, number, &mut graph);
        }
        program.connect(&mut graph);
        fates::flows(&program, &graph)
    }
}
