//! Scheduling points in front of what Rust's standard library does by itself.
//!
//! The library comes compiled, without instrumentation. Its locks and condition variables go to sleep in a system
//! call that the runtime serves, but they read their words before, unseen, as part of whatever the program did
//! last. A notification can then never come in between. So the linker puts a stub in front of each of these
//! functions (`functions.rs` lists them), which lets the runtime decide which thread runs next.
//!
//! Where a compiler's library does not have a function under a known path, the executable says so in a note
//! (`note.rs`), and whoever runs it warns and claims nothing.

mod functions;
mod note;
mod x86_64;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::read::archive::ArchiveFile;
use object::{Object as _, ObjectSymbol as _};
use sha2::{Digest as _, Sha256};
use threadbare_wire::StdOp;

use crate::fingerprint::short_hex;
use functions::FUNCTIONS;
pub(crate) use functions::path_of;
pub(crate) use note::StdNote;

/// A function of the library that gets a stub.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Stubbed {
    symbol: String,
    op: StdOp,
}

/// What a compiler's standard library has of [`FUNCTIONS`].
struct Library {
    archive: PathBuf,
    found: Vec<Stubbed>,
    /// What was not found, as people know it.
    missing: Vec<&'static str>,
}

/// The flags that make the linker put the stubs in, with a note about what has none. No flags if there is no such
/// library, or no assembler: an executable without a note is taken for one without stubs.
pub(crate) fn flags(compiler: &str, target: &str, folder: &Path) -> Vec<OsString> {
    let Some(library) = Library::of(compiler, target) else { return Vec::new() };
    let note = StdNote::Stubbed {
        compiler: version(compiler),
        missing: library.missing.iter().map(ToString::to_string).collect(),
    };
    let Some(stubs) = assemble(&library.found, &note, folder) else { return Vec::new() };
    let wraps =
        library.found.iter().map(|stub| OsString::from(format!("-Clink-arg=-Wl,--wrap={}", stub.symbol)));
    // A linker that reads archives once has to come by the library again after the stubs.
    wraps.chain([link_argument(&stubs), link_argument(&library.archive)]).collect()
}

/// The flags for a program that brings a standard library compiled with instrumentation: a note that says so.
pub(crate) fn instrumented_flags(folder: &Path) -> Vec<OsString> {
    let note = assemble(&[], &StdNote::Instrumented, folder);
    note.map(|file| link_argument(&file)).into_iter().collect()
}

fn link_argument(file: &Path) -> OsString {
    let mut flag = OsString::from("-Clink-arg=");
    flag.push(file);
    flag
}

/// Which minor version of Rust 1 a compiler is, if it says so.
pub(crate) fn minor_version(compiler: &str) -> Option<u32> {
    version(compiler).split('.').nth(1)?.parse().ok()
}

/// The compiler's own words for its version.
fn version(compiler: &str) -> String {
    let output = Command::new(compiler).arg("--version").output();
    let text = output.ok().and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    let line = text.lines().next().unwrap_or_default().trim();
    if line.is_empty() { compiler.to_string() } else { line.to_string() }
}

impl Library {
    fn of(compiler: &str, target: &str) -> Option<Library> {
        let output =
            Command::new(compiler).args(["--print", "target-libdir", "--target", target]).output().ok()?;
        let folder = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
        let is_std = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with("libstd-") && name.ends_with(".rlib")
        };
        let archive = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).find(is_std)?;
        let symbols = global_symbols(&std::fs::read(&archive).ok()?);
        let is_defined = |known_as: &str| {
            symbols.iter().any(|symbol| functions::named(symbol).is_some_and(|it| it.known_as == known_as))
        };
        let missing =
            FUNCTIONS.iter().map(|it| it.known_as).filter(|known_as| !is_defined(known_as)).collect();
        let stub =
            |symbol: &String| Some(Stubbed { symbol: symbol.clone(), op: functions::named(symbol)?.op });
        let mut found: Vec<Stubbed> = symbols.iter().filter_map(stub).collect();
        found.sort();
        found.dedup();
        Some(Library { archive, found, missing })
    }
}

/// The symbols that an archive's objects define for others.
fn global_symbols(archive: &[u8]) -> Vec<String> {
    let mut symbols = Vec::new();
    let Ok(file) = ArchiveFile::parse(archive) else { return symbols };
    for member in file.members().flatten() {
        let Ok(data) = member.data(archive) else { continue };
        let Ok(object) = object::File::parse(data) else { continue };
        let defined = object.symbols().filter(|symbol| symbol.is_definition() && symbol.is_global());
        symbols.extend(defined.filter_map(|symbol| symbol.name().ok().map(String::from)));
    }
    symbols
}

/// Assembles the stubs, unless that was done before.
fn assemble(functions: &[Stubbed], note: &StdNote, folder: &Path) -> Option<PathBuf> {
    let mut text = x86_64::stubs(functions);
    text.push_str(&note.assembly());
    text.push_str(".section .note.GNU-stack,\"\",@progbits\n");
    let path = folder.join(format!("std-{}.o", short_hex(&Sha256::digest(&text), 8)));
    if path.exists() {
        return Some(path);
    }
    // Others may do the same at the same time: each writes files of its own, and the last rename wins.
    let scratch = tempfile::tempdir_in(folder).ok()?;
    let (source, made) = (scratch.path().join("std.s"), scratch.path().join("std.o"));
    std::fs::write(&source, text).ok()?;
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_string());
    let output = Command::new(compiler).arg("-c").arg(&source).arg("-o").arg(&made).output().ok()?;
    (output.status.success() && std::fs::rename(&made, &path).is_ok()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::RUST_TARGET;

    /// The first minor version of Rust 1 whose library has all functions.
    const FIRST_COMPLETE: u32 = 82;

    /// All compilers of this machine: the one in use, those that rustup manages, and the system's.
    fn compilers() -> Vec<String> {
        let mut found = vec![std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_string())];
        let rustup = std::env::var_os("RUSTUP_HOME")
            .map(PathBuf::from)
            .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".rustup")));
        let toolchains = rustup.and_then(|home| std::fs::read_dir(home.join("toolchains")).ok());
        let others = toolchains.into_iter().flatten().flatten().map(|entry| entry.path().join("bin/rustc"));
        let system = PathBuf::from("/usr/bin/rustc");
        found.extend(
            others.chain([system]).filter(|path| path.exists()).map(|path| path.display().to_string()),
        );
        found
    }

    #[test]
    fn every_compiler_of_this_machine_has_all_functions() {
        let mut compared = 0;
        for compiler in compilers() {
            let version = version(&compiler);
            let Some(library) = Library::of(&compiler, RUST_TARGET) else {
                println!("{version} ({compiler}): no standard library for {RUST_TARGET}");
                continue;
            };
            let (found, missing) = (library.found.len(), &library.missing);
            println!("{version} ({compiler}): {found} functions, missing: {missing:?}");
            let minor = minor_version(&compiler).unwrap_or_else(|| panic!("the version of {version}"));
            assert!(missing.is_empty() || minor < FIRST_COMPLETE, "{version} lacks {missing:?}");
            compared += 1;
        }
        assert!(compared > 0, "no compiler has a standard library");
    }
}
