//! Which bytes are accessed together, and what is in them.

use std::collections::{HashMap, HashSet};

use super::{Ix, Model, ModelStep, Touch, Value};
use crate::action::{Action, MemoryRange};
use crate::doubt::Doubt;

/// More than this would take too much memory.
const MOST_TOUCHES: usize = 4_000_000;

/// Memory cut at every place where an access begins or ends within another one. Without overlaps each accessed
/// extent is one segment.
#[derive(Default)]
pub struct Segments {
    pub list: Vec<MemoryRange>,
    pub overlap: bool,
}

impl Segments {
    pub fn of(mut extents: Vec<MemoryRange>) -> Segments {
        extents.sort_unstable();
        extents.dedup();
        let mut segments = Segments::default();
        let mut rest = extents.as_slice();
        while let Some(first) = rest.first() {
            let mut end = first.end();
            let mut count = 1;
            while count < rest.len() && rest[count].addr < end {
                end = end.max(rest[count].end());
                count += 1;
            }
            segments.cut(&rest[..count]);
            rest = &rest[count..];
        }
        segments
    }

    /// Cuts extents that hang together.
    fn cut(&mut self, extents: &[MemoryRange]) {
        self.overlap |= extents.len() > 1;
        let mut cuts: Vec<u64> = extents.iter().flat_map(|extent| [extent.addr, extent.end()]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        self.list.extend(cuts.windows(2).map(|cut| MemoryRange { addr: cut[0], len: cut[1] - cut[0] }));
    }

    /// The segments that an extent overlaps.
    pub fn covering(&self, extent: MemoryRange) -> std::ops::Range<usize> {
        let start = self.list.partition_point(|segment| segment.end() <= extent.addr);
        let end = self.list.partition_point(|segment| segment.addr < extent.end());
        start..end.max(start)
    }
}

/// The part of a value that lies in a segment.
fn part(extent: MemoryRange, value: u64, segment: MemoryRange) -> u64 {
    let shift = 8 * segment.addr.saturating_sub(extent.addr);
    let bits = 8 * segment.len;
    let moved = value.checked_shr(shift as u32).unwrap_or(0);
    if bits >= 64 { moved } else { moved & ((1 << bits) - 1) }
}

/// What everybody does to memory, in recorded order.
pub struct Account<'a> {
    segments: &'a Segments,
    /// Synchronization objects that are initialised or destroyed count as memory too.
    objects: HashMap<u64, u32>,
    now: Vec<Value>,
    writers: Vec<Option<Ix>>,
    epochs: Vec<u32>,
    /// What an unknown value turned out to be.
    revealed: HashMap<(Ix, u32), u64>,
    /// Steps after which the content of the memory they freed is unknown.
    frees: HashSet<Ix>,
    /// Segments that changed although nobody wrote them.
    pub changed_by_themselves: Vec<u32>,
}

impl<'a> Account<'a> {
    pub fn new(segments: &'a Segments, objects: HashMap<u64, u32>, initial: &[Value]) -> Account<'a> {
        let count = segments.list.len() + objects.len();
        let mut now = initial.to_vec();
        now.resize(count, Value::UNKNOWN);
        Account {
            segments,
            objects,
            now,
            writers: vec![None; count],
            epochs: vec![0; count],
            revealed: HashMap::new(),
            frees: HashSet::new(),
            changed_by_themselves: Vec::new(),
        }
    }

    /// Notes what a step does; says whether there was room.
    pub fn enter(&mut self, at: Ix, actions: &[Action], touches: &mut Vec<Touch>) -> bool {
        let begin = touches.len();
        for action in actions {
            if let Action::Free(extent) = action {
                self.free(at, *extent, touches);
            } else if let Some((extent, seen)) = action.read() {
                let written = action.write().map(|(_, value)| value);
                self.access(at, extent, Some(seen), written, touches);
            } else if let Some((extent, value)) = action.write() {
                self.access(at, extent, None, Some(value), touches);
            } else if let Some(segment) = action.object().and_then(|object| self.objects.get(&object)) {
                let renews = matches!(action, Action::Renew { .. });
                let epoch = self.epochs[*segment as usize];
                self.epochs[*segment as usize] += u32::from(renews);
                let segment = *segment;
                touches.push(Touch { segment, reads: None, source: None, writes: None, epoch, renews });
            }
        }
        // One touch of a segment is enough, unless it writes or makes anew.
        let mut kept = begin;
        for index in begin..touches.len() {
            let touch = touches[index];
            let matters = touch.reads.is_some() || touch.writes.is_some() || touch.renews;
            if matters || !touches[begin..kept].iter().any(|other| other.segment == touch.segment) {
                touches[kept] = touch;
                kept += 1;
            }
        }
        touches.truncate(kept);
        touches.len() <= MOST_TOUCHES
    }

    fn access(
        &mut self,
        at: Ix,
        extent: MemoryRange,
        seen: Option<Option<u64>>,
        written: Option<Option<u64>>,
        touches: &mut Vec<Touch>,
    ) {
        for index in self.segments.covering(extent) {
            let segment = self.segments.list[index];
            let reads = seen.map(|seen| match seen {
                Some(value) => self.see(index, part(extent, value, segment)),
                None => self.now[index],
            });
            let writes = written.map(|value| match value {
                Some(value) => Value::Known(part(extent, value, segment)),
                None => Value::Of(at),
            });
            let source = self.writers[index].filter(|_| reads.is_some());
            if let Some(value) = writes {
                self.now[index] = value;
                self.writers[index] = Some(at);
            }
            let (segment, epoch) = (index as u32, self.epochs[index]);
            touches.push(Touch { segment, reads, source, writes, epoch, renews: false });
        }
    }

    fn see(&mut self, index: usize, value: u64) -> Value {
        match self.now[index] {
            Value::Known(known) if known == value => {}
            // What was there before may still be there, so this is not what freeing leaves behind.
            Value::Of(writer) if self.frees.contains(&writer) => return Value::Of(writer),
            Value::Of(writer) if !self.revealed.contains_key(&(writer, index as u32)) => {
                self.revealed.insert((writer, index as u32), value);
            }
            _ => self.changed_by_themselves.push(index as u32),
        }
        self.now[index] = Value::Known(value);
        Value::Known(value)
    }

    fn free(&mut self, at: Ix, extent: MemoryRange, touches: &mut Vec<Touch>) {
        let objects = self.objects.iter().filter(|(object, _)| (extent.addr..extent.end()).contains(*object));
        let mut gone: Vec<usize> = objects.map(|(_, segment)| *segment as usize).collect();
        gone.sort_unstable();
        self.frees.insert(at);
        for index in self.segments.covering(extent).chain(gone) {
            let is_memory = index < self.segments.list.len();
            let writes = is_memory.then_some(Value::Of(at));
            if is_memory {
                self.now[index] = Value::Of(at);
                self.writers[index] = Some(at);
            }
            touches.push(Touch {
                segment: index as u32,
                reads: None,
                source: None,
                writes,
                epoch: self.epochs[index],
                renews: true,
            });
            self.epochs[index] += 1;
        }
    }

    /// Replaces what turned out to be known.
    pub fn settle(&self, touches: &mut [Touch], initial: &mut [Value]) {
        let settled = |value: Value, segment: u32| match value {
            Value::Of(writer) => match self.revealed.get(&(writer, segment)) {
                Some(known) => Value::Known(*known),
                None => value,
            },
            known => known,
        };
        for touch in touches {
            let segment = touch.segment;
            touch.reads = touch.reads.map(|value| settled(value, segment));
            touch.writes = touch.writes.map(|value| settled(value, segment));
        }
        for (segment, value) in initial.iter_mut().enumerate() {
            *value = settled(*value, segment as u32);
        }
    }
}

impl Model {
    /// Sets up what is in memory before the first step, from what the first accesses showed.
    pub(super) fn set_initial(&mut self, segments: &Segments, known: &HashMap<MemoryRange, u64>) {
        self.initial = vec![Value::UNKNOWN; segments.list.len()];
        for (extent, value) in known {
            for index in segments.covering(*extent) {
                self.initial[index] = Value::Known(part(*extent, *value, segments.list[index]));
            }
        }
    }

    /// Who writes what, by segment.
    pub(super) fn index_memory(&mut self) {
        let count = self.initial.len();
        self.writers = vec![Vec::new(); count];
        self.renewals = vec![Vec::new(); count];
        for (at, ModelStep { touches, .. }) in self.steps.iter().enumerate() {
            for touch in &self.touches[touches.start as usize..touches.end as usize] {
                if let Some(value) = touch.writes {
                    self.writers[touch.segment as usize].push((at as Ix, value));
                }
                if touch.renews {
                    self.renewals[touch.segment as usize].push(at as Ix);
                    self.doubts.insert(Doubt::Lifetime);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(addr: u64, len: u64) -> MemoryRange {
        MemoryRange { addr, len }
    }

    #[test]
    fn accesses_that_do_not_overlap_keep_their_extents() {
        let segments = Segments::of(vec![extent(8, 4), extent(0, 8), extent(8, 4), extent(16, 8)]);
        assert_eq!(segments.list, [extent(0, 8), extent(8, 4), extent(16, 8)]);
        assert!(!segments.overlap);
        assert_eq!(segments.covering(extent(8, 4)), 1..2);
        assert_eq!(segments.covering(extent(12, 4)), 2..2);
    }

    #[test]
    fn overlapping_accesses_are_cut_where_they_begin_and_end() {
        let segments = Segments::of(vec![extent(0, 8), extent(2, 2), extent(6, 4)]);
        let expected = [extent(0, 2), extent(2, 2), extent(4, 2), extent(6, 2), extent(8, 2)];
        assert_eq!(segments.list, expected);
        assert!(segments.overlap);
        assert_eq!(part(extent(0, 8), 0x8877_6655_4433_2211, extent(2, 2)), 0x4433);
        assert_eq!(part(extent(0, 8), u64::MAX, extent(0, 8)), u64::MAX);
    }

    /// A write of many bytes is known where somebody read them afterwards.
    #[test]
    fn what_a_long_write_left_is_shown_by_whoever_reads_it() {
        let segments = Segments::of(vec![extent(0, 16), extent(8, 4)]);
        let initial = vec![Value::UNKNOWN; segments.list.len()];
        let mut account = Account::new(&segments, HashMap::new(), &initial);
        let mut touches = Vec::new();
        account.enter(0, &[Action::Write(extent(0, 16), None)], &mut touches);
        account.enter(1, &[Action::Read(extent(8, 4), Some(5))], &mut touches);
        account.enter(2, &[Action::Read(extent(0, 16), None)], &mut touches);
        account.settle(&mut touches, &mut []);
        let written: Vec<Option<Value>> = touches[..3].iter().map(|touch| touch.writes).collect();
        assert_eq!(written, [Some(Value::Of(0)), Some(Value::Known(5)), Some(Value::Of(0))]);
        let read: Vec<Option<Value>> = touches[4..].iter().map(|touch| touch.reads).collect();
        assert_eq!(read, written);
        assert!(account.changed_by_themselves.is_empty());
    }

    #[test]
    fn memory_that_changes_by_itself_is_noticed() {
        let segments = Segments::of(vec![extent(0, 4)]);
        let mut account = Account::new(&segments, HashMap::new(), &[Value::Known(1)]);
        let mut touches = Vec::new();
        account.enter(0, &[Action::Read(extent(0, 4), Some(1))], &mut touches);
        account.enter(1, &[Action::Read(extent(0, 4), Some(2))], &mut touches);
        assert_eq!(account.changed_by_themselves, [0]);
    }
}
