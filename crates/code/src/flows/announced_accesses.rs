//! Which announcement belongs to which access.
//!
//! An announcement is followed by the access it announces, so a load belongs to the last announcement of its address if no other load
//! has taken that, and no real call lies in between. Two habits of compilers need more. LLVM does not announce a read that a write
//! of the same address follows without a call in between: the load then comes *before* the write's announcement.
//! And common ends of branches are merged, so that an announcement may lie in an earlier piece, its address in a register that
//! holds another one on each way.

use rustc_hash::{FxHashMap, FxHashSet};

use super::announces::Announces;
use super::body::Body;
use super::evaluate::Facts;
use super::value::{Rooted, Value};
use crate::Callee;

/// An announcement.
pub struct Announced {
    /// The number of the instruction that calls.
    pub place: usize,
    /// The address after the call.
    pub site: u64,
    /// It announces a write.
    pub writes: bool,
    /// It announces a read.
    pub reads: bool,
    /// What is announced.
    address: Rooted,
    /// How much; `i64::MAX` if nobody knows.
    size: i64,
    /// Whether a load was taken for the one announced.
    taken: bool,
    /// Whether a store was.
    stored: bool,
}

/// Which announcements an access belongs to.
#[derive(Clone, Default, Debug)]
pub struct Bound {
    /// Their numbers in the list.
    pub to: Vec<usize>,
    /// Those of them after which the place was stored to, before it is read here.
    pub stored: Vec<usize>,
    /// Whether they are all; if not, nobody knows what else is accessed.
    pub is_sure: bool,
}

/// The announcements of a function, and the accesses that belong to them.
#[derive(Default)]
pub struct Bindings {
    /// The announcements.
    pub announced: Vec<Announced>,
    /// For each load by instruction and number of memory operand.
    pub loads: FxHashMap<(usize, usize), Bound>,
    /// For each store.
    pub stores: FxHashMap<(usize, usize), Bound>,
}

struct Access {
    key: (usize, usize),
    piece: usize,
    address: Value,
    size: i64,
}

/// Binds the accesses of a function to its announcements. `is_free` says of an address that what it holds needs no announcement to be known.
pub fn bind(body: &Body<'_>, facts: &mut Facts, is_free: impl Fn(&Facts, Value) -> bool) -> Bindings {
    let mut found = Bindings::default();
    let mut by_piece = Vec::new();
    for piece in &body.pieces {
        let first = found.announced.len();
        for place in piece.code.clone() {
            found.announced.extend(announcement(body, facts, place));
        }
        by_piece.push(first..found.announced.len());
    }
    let mut binder = Binder { body, facts, by_piece, found };
    let mut unowned = Vec::new();
    for piece in 0..body.pieces.len() {
        if binder.facts.ends[piece].is_some() {
            binder.within(piece, &is_free, &mut unowned);
        }
    }
    for access in unowned {
        binder.across(access);
    }
    binder.found
}

fn announcement(body: &Body<'_>, facts: &mut Facts, place: usize) -> Option<Announced> {
    let callee = body.calls.get(&place)?;
    let arguments = *facts.arguments.get(&place)?;
    let (reads, writes, size) = match Announces::of(callee)? {
        Announces::Access { reads, writes, size } => (reads, writes, size),
        Announces::Makes(atomic, size) => (atomic.reads(), atomic.writes(), size),
        Announces::Nothing => return None,
    };
    let size = match size {
        0 => facts.values.as_constant(arguments[1]).unwrap_or(i64::MAX),
        _ => size,
    };
    let address = facts.values.rooted(arguments[0]);
    let site = body.code[place].next();
    Some(Announced { place, site, writes, reads, address, size, taken: false, stored: false })
}

impl Announced {
    fn covers(&self, address: Rooted, size: i64) -> bool {
        let (root, plus) = address;
        let end = self.address.1.saturating_add(self.size);
        root == self.address.0 && plus < end && plus.saturating_add(size) > self.address.1
    }
}

struct Binder<'a> {
    body: &'a Body<'a>,
    facts: &'a mut Facts,
    /// The announcements of each piece.
    by_piece: Vec<std::ops::Range<usize>>,
    found: Bindings,
}

impl Binder<'_> {
    /// Binds what belongs to an announcement of the same piece beyond doubt.
    fn within(&mut self, piece: usize, is_free: &impl Fn(&Facts, Value) -> bool, unowned: &mut Vec<Access>) {
        let mut next = self.by_piece[piece].start;
        // Announcements since the last call that does more than announce.
        let mut recent = next;
        for place in self.body.pieces[piece].code.clone() {
            let callee = self.body.calls.get(&place);
            if callee.is_some()
                && next < self.by_piece[piece].end
                && self.found.announced[next].place == place
            {
                next += 1;
                continue;
            }
            // Which function is called may be read from memory by the call itself.
            if callee.is_none_or(|callee| **callee == Callee::Unknown) {
                self.accesses(place, piece, recent..next, is_free, unowned);
            }
            if callee.is_some_and(|callee| Announces::of(callee).is_none()) {
                recent = next;
            }
        }
    }

    /// Binds what one instruction reads and writes.
    fn accesses(
        &mut self,
        place: usize,
        piece: usize,
        recent: std::ops::Range<usize>,
        is_free: &impl Fn(&Facts, Value) -> bool,
        unowned: &mut Vec<Access>,
    ) {
        for (number, memory) in self.body.semantics[place].effect.memory.iter().enumerate() {
            let address = self.facts.addresses[place][number];
            let rooted = self.facts.values.rooted(address);
            let size = if memory.size == 0 { i64::MAX } else { i64::from(memory.size) };
            let key = (place, number);
            // What needs no announcement may have one: others have the address of a local variable.
            let counts = !is_free(self.facts, address)
                || self.found.announced.iter().any(|announced| announced.covers(rooted, size));
            if memory.read && counts {
                let access = Access { key, piece, address, size };
                if !self.owned_load(recent.clone(), rooted, &access) {
                    unowned.push(access);
                }
            }
            if memory.written && counts {
                self.store(key, piece, address, size, recent.end);
            }
        }
    }

    fn owned_load(&mut self, recent: std::ops::Range<usize>, address: Rooted, access: &Access) -> bool {
        let covering = |announced: &&mut Announced| announced.covers(address, access.size);
        let mut to = Vec::new();
        for (back, announced) in self.found.announced[recent.clone()].iter_mut().rev().enumerate() {
            let Some(announced) = Some(announced).filter(covering) else { continue };
            // A range is announced once for many loads.
            let many = announced.size > 8;
            if announced.taken && !many {
                break;
            }
            if announced.stored {
                break;
            }
            announced.taken = true;
            to.push(recent.end - 1 - back);
            if announced.reads {
                break;
            }
        }
        if to.is_empty() {
            return false;
        }
        self.found.loads.insert(access.key, Bound { to, stored: Vec::new(), is_sure: true });
        true
    }

    fn store(&mut self, key: (usize, usize), piece: usize, address: Value, size: i64, next: usize) {
        let rooted = self.facts.values.rooted(address);
        let here = self.by_piece[piece].start..next;
        let latest = here.rev().find(|it| {
            let announced = &self.found.announced[*it];
            announced.writes && announced.covers(rooted, size)
        });
        let bound = match latest {
            Some(latest) => {
                self.found.announced[latest].stored = true;
                Bound { to: vec![latest], stored: Vec::new(), is_sure: true }
            }
            None => self.backwards(piece, address, size, true),
        };
        self.found.stores.insert(key, bound);
    }

    /// Binds a load to what was or will be announced elsewhere.
    fn across(&mut self, access: Access) {
        let Access { key, piece, address, size } = access;
        let rooted = self.facts.values.rooted(address);
        let covers = |it: &usize| self.found.announced[*it].covers(rooted, size);
        let is_before = |it: &usize| self.found.announced[*it].place < key.0;
        let latest = self.by_piece[piece].clone().rev().filter(is_before).find(covers);
        let is_real =
            |place: usize| self.body.calls.get(&place).is_some_and(|callee| Announces::of(callee).is_none());
        let end = (key.0..self.body.pieces[piece].code.end).find(|place| is_real(*place));
        let end = end.unwrap_or(self.body.pieces[piece].code.end);
        let write = self.by_piece[piece].clone().find(|it| {
            let announced = &self.found.announced[*it];
            announced.writes && announced.covers(rooted, size) && (key.0..end).contains(&announced.place)
        });
        let mut bound = match latest {
            Some(latest) => Bound { to: vec![latest], stored: Vec::new(), is_sure: true },
            None => self.backwards(piece, address, size, false),
        };
        let is_fresh = |it: &usize| !self.found.announced[*it].taken && !self.found.announced[*it].stored;
        if let Some(write) = write {
            if latest.is_none() && !(bound.is_sure && bound.to.iter().all(is_fresh)) {
                bound.to.clear();
            }
            if !bound.to.iter().all(is_fresh) || bound.to.is_empty() {
                bound.to.push(write);
            }
            bound.is_sure = true;
        }
        bound.to.sort_unstable();
        bound.to.dedup();
        bound.is_sure &= !bound.to.is_empty();
        let stored = |it: &&usize| self.found.announced[**it].stored && Some(**it) != write;
        bound.stored = bound.to.iter().filter(stored).copied().collect();
        self.found.loads.insert(key, bound);
    }

    /// The last announcements of an address on all ways to a piece.
    fn backwards(&mut self, piece: usize, address: Value, size: i64, of_write: bool) -> Bound {
        let mut bound = Bound { is_sure: true, ..Bound::default() };
        if self.found.announced.is_empty() {
            return Bound::default();
        }
        let mut seen: FxHashMap<usize, FxHashSet<Value>> = FxHashMap::default();
        let mut left = vec![(piece, address)];
        while let Some((piece, address)) = left.pop() {
            // Around a loop, an address that is counted up is another one each time.
            const MOST: usize = 4;
            let addresses = seen.entry(piece).or_default();
            if addresses.len() > MOST {
                bound.is_sure = false;
                continue;
            }
            if !addresses.insert(address) {
                continue;
            }
            if piece == self.body.entrance {
                bound.is_sure = false;
            }
            for before in self.body.pieces[piece].before.clone() {
                let Some(end) = &self.facts.ends[before] else { continue };
                let find = |keeper| end.kept(keeper);
                let Some(address) = self.facts.values.before_join(address, piece as u32, &find) else {
                    bound.is_sure = false;
                    continue;
                };
                let code = self.body.pieces[before].code.clone();
                let (made, _) = self.facts.values.origins(address);
                let made = made.into_iter().map(|by| by as usize).filter(|by| code.contains(by)).max();
                let rooted = self.facts.values.rooted(address);
                let fits = |it: &usize| {
                    let announced = &self.found.announced[*it];
                    (announced.writes || !of_write)
                        && announced.covers(rooted, size)
                        && made.is_none_or(|made| announced.place > made)
                };
                match self.by_piece[before].clone().rev().find(fits) {
                    Some(found) => bound.to.push(found),
                    None if made.is_some() => bound.is_sure = false,
                    None => left.push((before, address)),
                }
            }
        }
        bound.to.sort_unstable();
        bound.to.dedup();
        bound.is_sure &= !bound.to.is_empty();
        bound
    }
}
