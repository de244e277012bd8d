//! The calls by which the compiler's instrumentation announces what the program does.

use crate::{Call, Callee, Code, CodeFunction};

/// What is announced.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Announcement {
    /// A function was entered.
    Entrance,
    /// It is about to be left.
    Exit,
    /// Memory is about to be read or written. The call does nothing else.
    Access,
    /// An operation that the call itself makes: an atomic one, a copy of memory.
    Operation,
}

impl Announcement {
    /// What a call announces, if anything.
    pub fn of(callee: &Callee) -> Option<Announcement> {
        let Callee::Import(name) = callee else { return None };
        let what = name.strip_prefix("__tsan_")?;
        let is_access = ["read", "write", "unaligned_", "volatile_", "vptr_"];
        Some(match what {
            "func_entry" => Announcement::Entrance,
            "func_exit" => Announcement::Exit,
            _ if is_access.iter().any(|prefix| what.starts_with(prefix)) => Announcement::Access,
            _ => Announcement::Operation,
        })
    }
}

impl CodeFunction {
    /// Its calls that announce something, with what they announce.
    pub fn announcements(&self) -> impl Iterator<Item = (&Call, Announcement)> {
        self.calls.iter().filter_map(|call| Some((call, Announcement::of(&call.to)?)))
    }

    /// Whether the compiler's instrumentation announces its entrances.
    pub fn is_announced(&self) -> bool {
        self.announcements().any(|(_, what)| what == Announcement::Entrance)
    }
}

/// Library functions that neither read nor write memory that they are given, as far as a program can observe.
const PURE: &[&str] = &[
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "exp2", "log",
    "log2", "log10", "pow", "sqrt", "cbrt", "fabs", "floor", "ceil", "round", "trunc", "fmod", "hypot",
    "abs", "labs",
];

impl Code {
    /// Whether a function touches nothing but its own stack: no access is announced in it, and it hands no memory to a library.
    pub fn touches_only_its_stack(&self, function: &CodeFunction) -> bool {
        let is_harmless = |call: &Call| match (&call.to, Announcement::of(&call.to)) {
            (_, Some(what)) => matches!(what, Announcement::Entrance | Announcement::Exit),
            (Callee::Import(name), None) => {
                PURE.contains(&name.trim_end_matches(['f', 'l']))
                    || PURE.contains(&name.as_str())
                    || call.to.never_returns()
            }
            (Callee::Function(_), None) => true,
            (Callee::Unknown, None) => false,
        };
        let parts = self.functions().iter().filter(|it| it.part_of == Some(function.start));
        std::iter::once(function).chain(parts).all(|part| part.calls.iter().all(is_harmless))
    }
}
