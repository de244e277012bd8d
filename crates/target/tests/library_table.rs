//! The table of library functions against what the runtime library really exports.

use std::collections::BTreeSet;

use object::{Object as _, ObjectSymbol as _};
use threadbare_library::{Provision, functions};
use threadbare_target::RuntimeLibrary;

/// What the compilers' instrumentation and our own linker stubs call: no functions of any library.
const OURS: [&str; 3] = ["__tsan_", "__sanitizer_", "__threadbare_"];

#[test]
fn the_runtime_exports_what_the_table_says_and_nothing_else() {
    let library = RuntimeLibrary::unpack().unwrap();
    let bytes = std::fs::read(library.path()).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let exported: BTreeSet<&str> = file
        .dynamic_symbols()
        .filter(|symbol| symbol.is_definition() && symbol.is_global())
        .filter_map(|symbol| symbol.name().ok())
        .filter(|name| !OURS.iter().any(|prefix| name.starts_with(prefix)))
        .collect();
    let names: Vec<String> = functions()
        .filter_map(|row| match row.provision {
            Provision::Interposed => Some(row.name().to_string()),
            Provision::Wrapped => Some(format!("__wrap_{}", row.name())),
            Provision::LeftAlone | Provision::ByNumber => None,
        })
        .collect();
    let listed: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let without_row: Vec<&&str> = exported.difference(&listed).collect();
    let without_function: Vec<&&str> = listed.difference(&exported).collect();
    assert!(without_row.is_empty(), "exported, but without a row that says so: {without_row:?}");
    assert!(without_function.is_empty(), "said to be provided, but not exported: {without_function:?}");
    assert!(listed.len() > 200, "{} functions", listed.len());
}
