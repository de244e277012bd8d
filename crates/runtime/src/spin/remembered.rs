//! Everything a program can remember: its writable memory, apart from the runtime's own.

use std::ops::Range;

use threadbare_trace::ThreadId;

use crate::engine::Engine;
use crate::fiber::Fiber;
use crate::{hidden_objects, shadow, sys};

/// Programs with more memory than this are not looked at.
const MOST_BYTES: usize = 64 << 20;

/// The writable memory of the program, seen from one of its threads.
pub struct Remembered {
    /// All but the thread's own stack.
    outside: Vec<Range<usize>>,
}

impl Remembered {
    /// Finds the program's memory. None if there is too much, or if it may change from outside.
    pub fn look(engine: &Engine, thread: ThreadId) -> Option<Remembered> {
        let mut stacks: Vec<Range<usize>> =
            engine.world.slots.borrow_mut().iter().map(|slot| slot.stack_range()).collect();
        stacks.push(engine.fiber(ThreadId::MAIN).stack_range());
        let mut alive = Vec::new();
        for fiber in engine.threads.live() {
            stacks.push(fiber.stack_range());
            if fiber.id != thread {
                alive.push(fiber.sp.get()..fiber.stack.get().1);
            }
        }
        let own = engine.world.libraries().own();
        let shared = engine.shared.address();
        let mut outside = Vec::new();
        for line in maps()?.lines() {
            let Some((range, manner)) = mapping(line) else { continue };
            let notes = [shadow::reserved(), hidden_objects::memory()];
            if !manner.starts_with("rw") || notes.iter().any(|note| note.contains(&range.start)) {
                continue;
            }
            if manner.ends_with('s') {
                if range.contains(&shared) {
                    continue;
                }
                return None;
            }
            let unwanted = stacks.iter().cloned().chain([own.clone(), sys::own_memory()]);
            outside.extend(unwanted.fold(vec![range], without));
        }
        outside.extend(alive);
        let bytes: usize = outside.iter().map(ExactSizeIterator::len).sum();
        (bytes <= MOST_BYTES).then_some(Remembered::of(outside))
    }

    /// These ranges, which have to be readable.
    pub(super) fn of(outside: Vec<Range<usize>>) -> Remembered {
        Remembered { outside }
    }

    /// One number for what the memory holds.
    pub fn digest(&self) -> u64 {
        self.outside.iter().fold(0, |sum, range| digest(sum, range.clone()))
    }
}

/// One number for what the stack of a thread holds from `sp` on.
pub fn stack(fiber: &Fiber, sp: usize) -> u64 {
    digest(0, sp..fiber.stack.get().1)
}

/// The same without the block of the thread at the end of its stack. What the C library and the system have there, such as the thread's number, differs from
/// one execution to the next for a thread that is not borrowed from those which were there at the snapshot, and nothing of it is
/// the program's: of specific data the runtime knows by itself.
pub fn frames(fiber: &Fiber, sp: usize) -> u64 {
    let (_, end) = fiber.stack.get();
    let block = fiber.thread_pointer.get();
    digest(0, sp..if (sp..end).contains(&block) { block } else { end })
}

/// What is left of ranges without another one.
fn without(ranges: Vec<Range<usize>>, out: Range<usize>) -> Vec<Range<usize>> {
    let parts = ranges.into_iter().flat_map(|range| {
        let before = range.start..range.end.min(out.start);
        let after = range.start.max(out.end)..range.end;
        if out.is_empty() { [range, 0..0] } else { [before, after] }
    });
    parts.filter(|part| part.start < part.end).collect()
}

/// The system's list of mappings.
fn maps() -> Option<String> {
    let mut text = Vec::new();
    // SAFETY: opens, reads into room that is there, and closes.
    unsafe {
        let name = c"/proc/self/maps".as_ptr() as usize;
        let fd = sys::call(
            libc::SYS_openat,
            [libc::AT_FDCWD as usize, name, (libc::O_RDONLY | libc::O_CLOEXEC) as usize, 0, 0, 0],
        );
        if fd < 0 {
            return None;
        }
        loop {
            let old = text.len();
            text.resize(old + 16_384, 0);
            let n =
                sys::call(libc::SYS_read, [fd as usize, text.as_mut_ptr() as usize + old, 16_384, 0, 0, 0]);
            text.truncate(old + n.max(0) as usize);
            if n <= 0 {
                break;
            }
        }
        sys::call(libc::SYS_close, [fd as usize, 0, 0, 0, 0, 0]);
    }
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// The range and the manner (`rw-p`) of a mapping.
fn mapping(line: &str) -> Option<(Range<usize>, &str)> {
    let mut words = line.split(' ');
    let (start, end) = words.next()?.split_once('-')?;
    let number = |digits| usize::from_str_radix(digits, 16).ok();
    Some((number(start)?..number(end)?, words.next()?))
}

/// One number for what a range holds: different contents as good as never have the same.
fn digest(sum: u64, range: Range<usize>) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut lanes = [sum, !sum, sum.rotate_left(32), ODD];
    let (start, end) = (range.start.next_multiple_of(8), range.end & !7);
    let mix = |lane: u64, word: u64| (lane.rotate_left(23) ^ word).wrapping_mul(ODD);
    let mut place = start;
    while place < end {
        for (index, lane) in lanes.iter_mut().enumerate() {
            let at = place + index * 8;
            if at < end {
                // SAFETY: inside a readable mapping of this process; only this thread runs.
                *lane = mix(*lane, unsafe { (at as *const u64).read_volatile() });
            }
        }
        place += 32;
    }
    lanes.into_iter().fold((end.wrapping_sub(start)) as u64, mix)
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "lists of ranges are what is tested")]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_out_of_a_range_leaves_both_sides() {
        assert_eq!(without(vec![10..20], 13..15), [10..13, 15..20]);
        assert_eq!(without(vec![10..20], 5..12), [12..20]);
        assert_eq!(without(vec![10..20, 30..40], 15..35), [10..15, 35..40]);
        assert_eq!(without(vec![10..20], 10..20), []);
        assert_eq!(without(vec![10..20], 0..0), [10..20]);
    }

    #[test]
    fn a_mapping_is_a_range_and_a_manner() {
        let line = "7f00-8f00 rw-p 00000000 00:00 0   [stack]";
        assert_eq!(mapping(line), Some((0x7f00..0x8f00, "rw-p")));
        assert_eq!(mapping("no mapping"), None);
    }

    #[test]
    fn a_digest_shows_one_changed_word_in_any_place() {
        let mut words = [0u64; 16];
        let memory =
            Remembered::of(vec![words.as_ptr() as usize..words.as_ptr() as usize + size_of_val(&words)]);
        let before = memory.digest();
        assert_eq!(memory.digest(), before);
        for index in 0..words.len() {
            words[index] = 1;
            std::hint::black_box(&words);
            assert_ne!(memory.digest(), before, "word {index}");
            words[index] = 0;
        }
        std::hint::black_box(&words);
        assert_eq!(memory.digest(), before);
    }
}
