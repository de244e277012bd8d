//! What the calls of the compiler's instrumentation announce or do.

use crate::Callee;

/// An atomic operation that a call makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Atomic {
    /// Reads.
    Load,
    /// Writes its operand.
    Store,
    /// Reads, and writes its operand.
    Exchange,
    /// Reads, and writes what it makes of that and its operand.
    Update,
    /// Compares, and perhaps writes; says whether it did, and leaves what was there where the expected value was.
    CompareInto,
    /// Compares, and perhaps writes; says what was there.
    CompareValue,
}

/// What a call announces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Announces {
    /// An access that follows.
    Access {
        /// It reads.
        reads: bool,
        /// It writes.
        writes: bool,
        /// So many bytes; 0: the second argument says how many.
        size: i64,
    },
    /// The call makes an atomic operation on so many bytes.
    Makes(Atomic, i64),
    /// Nothing that touches memory.
    Nothing,
}

impl Announces {
    /// What a call announces. None if it has nothing to do with instrumentation, or does what a library function does.
    pub fn of(callee: &Callee) -> Option<Announces> {
        let Callee::Import(name) = callee else { return None };
        let what = name.strip_prefix("__tsan_")?;
        if let Some(atomic) = what.strip_prefix("atomic") {
            return Some(Announces::atomic(atomic).unwrap_or(Announces::Nothing));
        }
        if matches!(what, "memcpy" | "memmove" | "memset") {
            return None;
        }
        let what = what.trim_start_matches("unaligned_").trim_start_matches("volatile_");
        let access = |reads, writes, size| Some(Announces::Access { reads, writes, size });
        match what {
            "vptr_read" => return access(true, false, 8),
            "vptr_update" => return access(false, true, 8),
            "read_range" => return access(true, false, 0),
            "write_range" => return access(false, true, 0),
            _ => {}
        }
        let size_after = |prefix: &str| what.strip_prefix(prefix)?.parse::<i64>().ok();
        if let Some(size) = size_after("read_write") {
            return access(true, true, size);
        }
        if let Some(size) = size_after("read") {
            return access(true, false, size);
        }
        if let Some(size) = size_after("write") {
            return access(false, true, size);
        }
        Some(Announces::Nothing)
    }

    fn atomic(name: &str) -> Option<Announces> {
        let (bits, operation) = name.split_once('_')?;
        let size = bits.parse::<i64>().ok()? / 8;
        let atomic = match operation {
            "load" => Atomic::Load,
            "store" => Atomic::Store,
            "exchange" => Atomic::Exchange,
            "compare_exchange_strong" | "compare_exchange_weak" => Atomic::CompareInto,
            "compare_exchange_val" => Atomic::CompareValue,
            _ if operation.starts_with("fetch_") => Atomic::Update,
            _ => return None,
        };
        Some(Announces::Makes(atomic, size))
    }
}

impl Atomic {
    /// Whether it reads memory.
    pub fn reads(self) -> bool {
        self != Atomic::Store
    }

    /// Whether it may write memory.
    pub fn writes(self) -> bool {
        self != Atomic::Load
    }
}
