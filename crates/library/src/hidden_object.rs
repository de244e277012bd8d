//! State that the library or the system keeps for the whole process, where no access of the program shows.
//!
//! Which number `dup` returns depends on who called `close` before. A row of the table names such state as a *hidden object* that the
//! function looks at or changes. The runtime has a word of memory for each of them; a call accesses it, so that whoever orders accesses
//! to memory orders such calls as well.

use core::ops::Range;

/// Such state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum HiddenObject {
    /// Which descriptors are in use: a new one gets the lowest number that is free.
    Descriptors = 0,
    /// Which keys of thread-specific data there are.
    Keys = 1,
    /// How much the process may use.
    Limits = 2,
    /// The environment variables.
    Variables = 3,
    /// What is to be done on signals.
    Dispositions = 4,
    /// What is to be called when the process ends, in which order.
    ExitFunctions = 5,
    /// How many threads the system is advised to run at a time.
    Concurrency = 6,
    /// The names of threads.
    Names = 7,
    /// The processors that threads may run on.
    Processors = 8,
    /// The policies and priorities that threads are scheduled by.
    Priorities = 9,
    /// Whether somebody has turned to a thread with a signal, the wish that it ends, or the question whether it has. Who does that changes it; threads
    /// look at it where it matters what came before: when they end, block signals, or begin to wait in a way that signals break off.
    Calls = 10,
    /// Which threads are detached: nobody may begin to join those.
    Detached = 11,
    /// What a stream of `stdio` holds, and where it is. There is a word for each of them.
    Stream = 12,
}

/// How many words there are for streams: those that share one are taken for one.
const STREAM_WORDS: u64 = 256;

/// How long a word is.
const WORD_BYTES: u64 = 8;

impl HiddenObject {
    /// Where the runtime has the words: a page below the place at which position-independent programs are loaded unless places are drawn, since an
    /// execution, which is a fork, pays for the tables of pages far from all others. Drawn places are higher; a program whose alignment is that of a
    /// large page, 2 MiB, begins right behind this one.
    pub const PAGE: Range<u64> = 0x5555_553F_F000..0x5555_5540_0000;

    /// All of them.
    pub const ALL: [HiddenObject; 13] = [
        HiddenObject::Descriptors,
        HiddenObject::Keys,
        HiddenObject::Limits,
        HiddenObject::Variables,
        HiddenObject::Dispositions,
        HiddenObject::ExitFunctions,
        HiddenObject::Concurrency,
        HiddenObject::Names,
        HiddenObject::Processors,
        HiddenObject::Priorities,
        HiddenObject::Calls,
        HiddenObject::Detached,
        HiddenObject::Stream,
    ];

    /// Where the runtime has a word of memory for it.
    pub const fn address(self) -> u64 {
        HiddenObject::PAGE.start + self as u64 * WORD_BYTES
    }

    /// Where the word of a stream is.
    pub const fn of_stream(stream: u64) -> u64 {
        HiddenObject::Stream.address() + (stream >> 4 ^ stream >> 12) % STREAM_WORDS * WORD_BYTES
    }

    /// The one whose word is at this address.
    pub fn at(address: u64) -> Option<HiddenObject> {
        let number = address.checked_sub(HiddenObject::PAGE.start)? / WORD_BYTES;
        let streams = HiddenObject::Stream as u64;
        if (streams..streams + STREAM_WORDS).contains(&number) {
            return Some(HiddenObject::Stream);
        }
        HiddenObject::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// What people call it.
    pub const fn name(self) -> &'static str {
        match self {
            HiddenObject::Descriptors => "the numbers of descriptors",
            HiddenObject::Keys => "the keys of thread-specific data",
            HiddenObject::Limits => "the limits of the process",
            HiddenObject::Variables => "the environment variables",
            HiddenObject::Dispositions => "the handlers of signals",
            HiddenObject::ExitFunctions => "the functions called at the end",
            HiddenObject::Concurrency => "the level of concurrency",
            HiddenObject::Names => "the names of threads",
            HiddenObject::Processors => "the processors of threads",
            HiddenObject::Priorities => "the priorities of threads",
            HiddenObject::Calls => "the calls upon threads",
            HiddenObject::Detached => "the detached threads",
            HiddenObject::Stream => "a stream",
        }
    }

    /// Whether changes have no effect under control: what is found there afterwards is not what a program by itself would find.
    pub const fn is_left_as_it_was(self) -> bool {
        matches!(self, HiddenObject::Names | HiddenObject::Processors | HiddenObject::Priorities)
    }
}

/// A set of hidden objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HiddenObjects(u16);

impl HiddenObjects {
    /// None.
    pub const NONE: HiddenObjects = HiddenObjects(0);

    /// These and one more.
    #[must_use]
    pub const fn with(self, object: HiddenObject) -> HiddenObjects {
        HiddenObjects(self.0 | 1 << object as u16)
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether this is one of them.
    pub const fn has(self, object: HiddenObject) -> bool {
        self.0 & 1 << object as u16 != 0
    }

    /// They, in order.
    pub fn iter(self) -> impl Iterator<Item = HiddenObject> {
        HiddenObject::ALL.into_iter().filter(move |object| self.has(*object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_known_by_the_address_of_its_word() {
        for (place, object) in HiddenObject::ALL.into_iter().enumerate() {
            assert_eq!(object as usize, place);
            assert_eq!(HiddenObject::at(object.address()), Some(object));
            assert_eq!(HiddenObject::at(object.address() + WORD_BYTES - 1), Some(object));
        }
        assert_eq!(HiddenObject::at(HiddenObject::PAGE.start - 1), None);
        let end = HiddenObject::Stream.address() + WORD_BYTES * STREAM_WORDS;
        for stream in 0..10_000 {
            let word = HiddenObject::of_stream(stream);
            assert!(word < end && HiddenObject::at(word) == Some(HiddenObject::Stream));
        }
        assert_eq!(HiddenObject::at(end), None);
        assert!(end <= HiddenObject::PAGE.end);
    }
}
