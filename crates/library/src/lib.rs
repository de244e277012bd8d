//! What the functions of the C and C++ libraries and of the system do, as far as testing threads has to know.
//!
//! One table ([`table`]) with a row for each function, read by the runtime (what to note of an execution), the compiler wrappers (what
//! the linker is to wrap), the analysis of machine code (where values go) and the strategies (what may be claimed). A function
//! without a row is *unknown*: nobody may assume anything of it.
//!
//! The crate has no dependencies and does not allocate, because it is part of the library that tested programs run on.

#![no_std]

mod dependence;
mod format;
mod function;
mod hidden_object;
mod name;
pub mod system_calls;
mod table;

pub use dependence::{Dependence, Dependences};
pub use format::{Format, Taken};
pub use function::{Effect, Extent, Function, Hidden, Provision, Range, Role, Stream};
pub use hidden_object::{HiddenObject, HiddenObjects};
pub use table::{FAMILIES, Family, OF_STREAMS, PREFIXES, Prefix};

/// How the names of libraries begin that make threads, have no instrumentation, and order them only by functions with a row.
pub const ORDERING: [&str; 2] = ["libglib-2.0.so", "libgomp.so"];

/// The row of the function with this name; none if it is unknown. Names of C++ functions are mangled.
pub const fn function(name: &str) -> Option<&'static Function> {
    let mut family = 0;
    while family < FAMILIES.len() {
        let rows = FAMILIES[family].functions;
        let mut row = 0;
        while row < rows.len() {
            if rows[row].is_called(name) {
                return Some(&rows[row]);
            }
            row += 1;
        }
        family += 1;
    }
    None
}

/// All rows.
pub fn functions() -> impl Iterator<Item = &'static Function> {
    FAMILIES.iter().flat_map(|family| family.functions)
}

/// The names of the functions whose calls the linker sends to the runtime's `__wrap_` functions.
pub fn wrapped() -> impl Iterator<Item = &'static str> {
    functions().filter(|row| row.provision == Provision::Wrapped).map(Function::name)
}

/// What the function of this name does with the values that it is given, as code calls it: a call that the linker wraps goes by
/// `__wrap_` and the name, one that the compiler has announced by `__tsan_` and the name.
pub fn role(called: &str) -> Role {
    if let Some(name) = called.strip_prefix("__wrap_").or_else(|| called.strip_prefix("__tsan_")) {
        let row = function(name).filter(|row| row.provision == Provision::Wrapped);
        return row.map_or(Role::Unknown, Function::role);
    }
    match effect(called) {
        // Called past the wrapper, it touches memory without announcing it.
        Some((_, Some(row))) if row.provision == Provision::Wrapped => Role::Unknown,
        Some((_, Some(row))) => row.role(),
        Some((effect, None)) => effect.role(),
        None => Role::Unknown,
    }
}

/// What a function does with what it is given, by its row or by the family that its mangled name begins like; none if it is unknown.
pub fn effect(name: &str) -> Option<(Effect, Option<&'static Function>)> {
    if let Some(row) = function(name) {
        return Some((row.effect, Some(row)));
    }
    PREFIXES.iter().find(|prefix| prefix.covers(name)).map(|prefix| (prefix.effect, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_function_has_two_rows() {
        for row in functions() {
            assert_eq!(functions().filter(|other| other.name() == row.name()).count(), 1, "{}", row.name());
        }
    }

    #[test]
    fn functions_of_numbers_have_forms_for_other_types() {
        assert_eq!((role("sin"), role("sinf"), role("sinl")), (Role::Pure, Role::Pure, Role::Pure));
        assert_eq!(role("sinx"), Role::Unknown);
        assert_eq!(role("absf"), Role::Unknown, "only where there are such");
    }

    #[test]
    fn what_is_wrapped_is_known_only_as_the_wrapper() {
        assert_eq!(role("__wrap_memcpy"), Role::Copies(0, 1));
        assert_eq!(role("__wrap_bcopy"), Role::Copies(1, 0));
        assert_eq!(role("__wrap_strcat"), Role::Appends);
        assert_eq!(role("__wrap_memset"), Role::Fills);
        assert_eq!(role("__wrap_strcmp"), Role::Looks(2));
        assert_eq!(role("__wrap_strlen"), Role::Looks(1));
        assert_eq!(role("__wrap_strdup"), Role::Duplicates);
        assert_eq!(role("memcpy"), Role::Unknown);
        assert_eq!(role("__wrap_printf"), Role::Unknown);
    }

    #[test]
    fn a_function_that_only_has_a_result_says_where_that_comes_from() {
        for row in functions().filter(|row| matches!(row.role(), Role::Silent | Role::Pure)) {
            let has_list = row.read_ranges().any(|range| range.extent == Extent::Rest);
            assert!(
                row.takes.is_some() || has_list,
                "{}: nobody has said how many arguments count",
                row.name()
            );
            let beyond =
                row.read_ranges().chain(row.written_ranges()).filter(|range| range.extent != Extent::Rest);
            for range in beyond {
                assert!(
                    row.takes.is_none_or(|takes| range.pointer < takes),
                    "{} has no such argument",
                    row.name()
                );
            }
        }
        let ends = ["err", "errx", "exit", "_exit", "quick_exit"];
        for name in ends {
            assert_eq!(role(name), Role::Steers, "{name}: the status is what it is given");
        }
    }

    #[test]
    fn an_unknown_function_has_no_row_and_no_role() {
        assert!(function("frobnicate").is_none() && effect("frobnicate").is_none());
        assert_eq!(role("frobnicate"), Role::Unknown);
    }

    #[test]
    fn a_wait_with_a_limit_depends_on_the_time_behind_its_pointer() {
        for name in ["pthread_cond_timedwait", "cnd_timedwait", "sem_timedwait", "nanosleep", "ppoll"] {
            assert_eq!(role(name), Role::Waits, "{name}");
        }
        assert_eq!(role("pthread_mutex_lock"), Role::Steers);
    }

    #[test]
    fn every_system_call_by_number_is_known_by_a_row() {
        for (_, name) in system_calls::BY_NUMBER {
            assert!(function(name).is_some(), "{name}");
        }
    }
}
