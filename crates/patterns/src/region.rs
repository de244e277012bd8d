//! A heap block, a stack or the rest of memory, with the pieces that are accessed in it.

use std::hash::BuildHasherDefault;
use std::ops::Range;

use rpds::HashTrieMapSync;

use threadbare_happens_before::NumberHasher;

use super::key::{ObjectId, mix};
use super::objects::{ModuleRange, VariableChange};
use super::word::{WORD, WORD_BITS, Word};
use super::{AccessType, MemoryAccess};

const HEAP: u64 = 1;
const STACK: u64 = 2;
const IMAGE: u64 = 3;
const ELSEWHERE: u64 = 4;

/// The stable name of a place in a module.
pub(super) fn in_image(images: &[ModuleRange], address: u64) -> Option<u64> {
    let image = images.iter().find(|image| image.range.contains(&address))?;
    Some(mix(mix(IMAGE, image.name), address - image.range.start))
}

/// An access to memory whose variables are not known yet: the object and manner of `access` are to be filled in.
pub(super) struct Touched<'a> {
    pub access: MemoryAccess,
    pub reads: bool,
    pub writes: bool,
    pub images: &'a [ModuleRange],
}

impl Touched<'_> {
    fn manners(&self) -> impl Iterator<Item = AccessType> {
        let reads = self.reads.then_some(AccessType::Reads);
        reads.into_iter().chain(self.writes.then_some(AccessType::Writes))
    }
}

/// A part of memory that has a name.
#[derive(Clone)]
pub(super) struct Region {
    pub range: Range<u64>,
    name: u64,
    /// From where offsets are counted.
    anchor: u64,
    words: HashTrieMapSync<u64, Word, BuildHasherDefault<NumberHasher>>,
}

impl Region {
    fn new(range: Range<u64>, name: u64, anchor: u64) -> Region {
        let words = HashTrieMapSync::new_with_hasher_and_ptr_kind(BuildHasherDefault::default());
        Region { range, name, anchor, words }
    }

    /// A heap block, by what distinguishes it from all others.
    pub fn heap(range: Range<u64>, site: u64, thread: u16, ordinal: u64) -> Region {
        let name = [site, u64::from(thread), ordinal].into_iter().fold(HEAP, mix);
        let start = range.start;
        Region::new(range, name, start)
    }

    /// The stack of a thread, which grows down.
    pub fn stack(range: Range<u64>, thread: u16) -> Region {
        let end = range.end;
        Region::new(range, mix(STACK, u64::from(thread)), end)
    }

    /// What is neither.
    pub fn elsewhere() -> Region {
        Region::new(0..u64::MAX, ELSEWHERE, 0)
    }

    fn object(&self, address: u64, images: &[ModuleRange]) -> ObjectId {
        let module = if self.name == ELSEWHERE { in_image(images, address) } else { None };
        ObjectId(module.unwrap_or_else(|| mix(self.name, address.wrapping_sub(self.anchor))))
    }

    /// The words from `first` to `last` that have been accessed, in order.
    fn known_words(&self, first: u64, last: u64) -> Vec<u64> {
        if (self.words.size() as u64) < last - first {
            let known = self.words.keys().copied().filter(|word| (first..=last).contains(word));
            let mut known: Vec<u64> = known.collect();
            known.sort_unstable();
            known
        } else {
            (first..=last).filter(|word| self.words.contains_key(word)).collect()
        }
    }

    /// Forgets the words from `first` to `last`.
    pub fn forget(
        &mut self,
        first: u64,
        last: u64,
        images: &[ModuleRange],
        changes: &mut Vec<VariableChange>,
    ) {
        for word in self.known_words(first, last) {
            let base = word << WORD_BITS;
            let pieces = self.words.get(&word).into_iter().flat_map(|word| word.pieces(0, WORD));
            changes.extend(pieces.map(|byte| VariableChange::Forget(self.object(base + byte, images))));
            self.words.remove_mut(&word);
        }
    }

    /// Forgets everything.
    pub fn forget_all(mut self, images: &[ModuleRange], changes: &mut Vec<VariableChange>) {
        self.forget(0, u64::MAX >> WORD_BITS, images, changes);
    }

    /// Accesses those of the bytes from `first` to `last` that lie in the word.
    pub fn touch(
        &mut self,
        word: u64,
        first: u64,
        last: u64,
        by: &Touched<'_>,
        changes: &mut Vec<VariableChange>,
    ) {
        let base = word << WORD_BITS;
        let (start, end) = (first.max(base) - base, (last - base).min(WORD - 1) + 1);
        let known = self.words.get(&word).copied().unwrap_or_default();
        let mut cut = known;
        let object = |byte| self.object(base + byte, by.images);
        cut.touch(start, end, |whole, part| {
            changes.push(VariableChange::Split { whole: object(whole), part: object(part) });
        });
        for byte in cut.pieces(start, end) {
            let access = MemoryAccess { object: object(byte), ..by.access };
            changes
                .extend(by.manners().map(|manner| VariableChange::Access(MemoryAccess { manner, ..access })));
        }
        if cut != known {
            self.words.insert_mut(word, cut);
        }
    }
}
