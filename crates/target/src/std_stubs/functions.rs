//! The functions of Rust's standard library that get a stub, by their paths in the versions of the library.
//!
//! A symbol's name is mangled in one of two ways, which depends on the compiler. Demangled it is a path that a person can
//! look up in the library's sources, and a new version that moves a function is one more path in its row.

use threadbare_wire::StdOp;

/// A function that blocks or wakes.
pub(super) struct StdFunction {
    /// The part of the public interface that is built on it, which is what people know.
    pub known_as: &'static str,
    /// What it does.
    pub op: StdOp,
    /// Where it is, or was, in versions of the library. Several may exist at once, and then all get the stub.
    pub paths: &'static [&'static str],
}

const fn row(known_as: &'static str, op: StdOp, paths: &'static [&'static str]) -> StdFunction {
    StdFunction { known_as, op, paths }
}

/// All of them. Every path was found in the library of some compiler: of 1.63, which Debian 12 has, or from 1.78 to 1.97.
/// Compilers before 1.82 have `Once` without a function of its own that could get a stub.
pub(super) const FUNCTIONS: &[StdFunction] = &[
    row(
        "Mutex::lock",
        StdOp::Lock,
        &[
            "std::sys::sync::mutex::futex::Mutex::lock_contended",
            "std::sys::unix::locks::futex::Mutex::lock_contended",
        ],
    ),
    row(
        "RwLock::read",
        StdOp::LockShared,
        &[
            "std::sys::sync::rwlock::futex::RwLock::read_contended",
            "std::sys::unix::locks::futex_rwlock::RwLock::read_contended",
        ],
    ),
    row(
        "RwLock::write",
        StdOp::Lock,
        &[
            "std::sys::sync::rwlock::futex::RwLock::write_contended",
            "std::sys::unix::locks::futex_rwlock::RwLock::write_contended",
        ],
    ),
    row(
        "unlocking an RwLock",
        StdOp::Observe,
        &[
            "std::sys::sync::rwlock::futex::RwLock::wake_writer_or_readers",
            "std::sys::unix::locks::futex_rwlock::RwLock::wake_writer_or_readers",
        ],
    ),
    row(
        "Condvar::wait",
        StdOp::CondvarWait,
        &["std::sys::sync::condvar::futex::Condvar::wait", "std::sys::unix::locks::futex::Condvar::wait"],
    ),
    row(
        "Condvar::wait_timeout",
        StdOp::CondvarWait,
        &[
            "std::sys::sync::condvar::futex::Condvar::wait_timeout",
            "std::sys::unix::locks::futex::Condvar::wait_timeout",
        ],
    ),
    row(
        "Condvar::notify_one",
        StdOp::Notify,
        &[
            "std::sync::condvar::Condvar::notify_one",
            "std::sync::poison::condvar::Condvar::notify_one",
            "std::sync::nonpoison::condvar::Condvar::notify_one",
        ],
    ),
    row(
        "Condvar::notify_all",
        StdOp::Notify,
        &[
            "std::sync::condvar::Condvar::notify_all",
            "std::sync::poison::condvar::Condvar::notify_all",
            "std::sync::nonpoison::condvar::Condvar::notify_all",
        ],
    ),
    row("Barrier::wait", StdOp::BarrierWait, &["std::sync::barrier::Barrier::wait"]),
    row("Once::call_once", StdOp::Observe, &["std::sys::sync::once::futex::Once::call"]),
    row(
        "Once::wait",
        StdOp::Observe,
        &["std::sync::once::Once::wait", "std::sync::poison::once::Once::wait"],
    ),
    row(
        "Once::wait_force",
        StdOp::Observe,
        &["std::sync::once::Once::wait_force", "std::sync::poison::once::Once::wait_force"],
    ),
    row(
        "starting a thread of a scope",
        StdOp::EnterScope,
        &["std::thread::scoped::ScopeData::increment_num_running_threads"],
    ),
    row(
        "the end of a thread of a scope",
        StdOp::LeaveScope,
        &["std::thread::scoped::ScopeData::decrement_num_running_threads"],
    ),
    row(
        "thread::park",
        StdOp::Park,
        &[
            "std::thread::park",
            "std::thread::functions::park",
            "std::thread::Thread::park",
            "std::thread::thread::Thread::park",
        ],
    ),
    row(
        "thread::park_timeout",
        StdOp::Park,
        &[
            "std::thread::park_timeout",
            "std::thread::functions::park_timeout",
            "std::thread::Thread::park_timeout",
            "std::thread::thread::Thread::park_timeout",
        ],
    ),
];

/// The function that a symbol names, if it is one of these.
pub(super) fn named(symbol: &str) -> Option<&'static StdFunction> {
    let path = path_of(symbol)?;
    FUNCTIONS.iter().find(|function| function.paths.contains(&path.as_str()))
}

/// The path of a Rust function, without hashes and without the brackets that the newer mangling has around a method's
/// type. A trait's method is of no type alone, and has none.
pub(crate) fn path_of(symbol: &str) -> Option<String> {
    let shown = format!("{:#}", rustc_demangle::try_demangle(symbol).ok()?);
    let Some(rest) = shown.strip_prefix('<') else { return Some(shown) };
    let (of_type, method) = rest.rsplit_once(">::")?;
    (!of_type.contains(" as ")).then(|| format!("{of_type}::{method}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_by_both_manglings_and_by_nothing_less_than_their_path() {
        let names = [
            (
                "_RNvMNtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync5mutex5futexNtB2_5Mutex14lock_contended",
                Some(StdOp::Lock),
            ),
            ("_ZN3std3sys4sync5mutex5futex5Mutex14lock_contended17h0123456789abcdefE", Some(StdOp::Lock)),
            ("_ZN3std6thread4park17h0123456789abcdefE", Some(StdOp::Park)),
            ("_ZN5other3sys4sync5mutex5futex5Mutex14lock_contended17h0123456789abcdefE", None),
            ("_ZN3std6thread7unpark17h0123456789abcdefE", None),
            ("memcpy", None),
        ];
        for (name, op) in names {
            assert_eq!(named(name).map(|function| function.op), op, "{name} is {:?}", path_of(name));
        }
    }

    #[test]
    fn no_path_is_in_two_rows() {
        let mut paths: Vec<_> = FUNCTIONS.iter().flat_map(|function| function.paths).collect();
        let all = paths.len();
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), all);
    }

    #[test]
    fn every_operation_that_the_runtime_knows_has_a_function() {
        for op in StdOp::ALL {
            assert!(FUNCTIONS.iter().any(|function| function.op == op), "{op:?}");
        }
    }
}
