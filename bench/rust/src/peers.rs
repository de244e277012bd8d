//! The programs on shuttle and on loom.

/// On shuttle's types.
pub mod shuttle {
    use shuttle::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use shuttle::sync::{Arc, Condvar, Mutex};
    use shuttle::thread;

    include!("../programs/all.rs");
}

/// On loom's types.
pub mod loom {
    use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use loom::sync::{Arc, Condvar, Mutex, RwLock};
    use loom::thread;

    include!("../programs/all.rs");
    include!("../programs/growth.rs");
}
