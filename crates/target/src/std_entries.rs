//! Points at which threads may be switched in front of what Rust's standard library does by itself.
//!
//! The library comes compiled, without instrumentation. Its locks and condition variables go to sleep in a system
//! call that the runtime serves, but they look at their words before, unseen, as part of whatever the program did
//! last. A notification can then never come in between. So the linker puts a stub in front of each of these
//! functions, which lets the runtime decide who goes on.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::read::archive::ArchiveFile;
use object::{Object as _, ObjectSymbol as _};
use sha2::{Digest as _, Sha256};

use crate::fingerprint::short_hex;

/// What the runtime calls the functions that stubs call, before the library's function and after it.
const ENTRY: &str = "__threadbare_std_entry";
const LEAVE: &str = "__threadbare_std_leave";

/// What a function does, as far as the runtime has to know. The numbers are those that it is told.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Deed {
    /// Looks at the word that its first argument points to, and may change it.
    Looks = 0,
    /// Changes it, which orders nothing.
    Changes = 1,
    /// Takes it as a lock.
    Locks = 2,
    /// Looks at it, gives back the lock that its second argument points to, sleeps, and takes the lock again.
    Waits = 3,
    /// Takes it as a lock that others may take as well.
    Shares = 4,
    /// Takes one from it, before it may wake whoever waits for it to be zero.
    Releases = 5,
    /// Looks at what its first argument points to, after all others have come as well.
    Meets = 6,
    /// Sleeps until it finds a token; its arguments do not say where.
    Parks = 7,
    /// Makes room in a scope for the thread that its caller is about to create.
    Admits = 8,
}

/// Parts of the names of such functions, as the compiler writes them: of the module, and at the end.
const ENTRIES: [(&str, &str, Deed); 20] = [
    ("5mutex5futex", "5Mutex14lock_contended", Deed::Locks),
    ("6rwlock5futex", "6RwLock14read_contended", Deed::Shares),
    ("6rwlock5futex", "6RwLock15write_contended", Deed::Locks),
    ("6rwlock5futex", "6RwLock22wake_writer_or_readers", Deed::Looks),
    ("7condvar5futex", "7Condvar4wait", Deed::Waits),
    ("7condvar5futex", "7Condvar12wait_timeout", Deed::Waits),
    ("7condvar", "7Condvar10notify_one", Deed::Changes),
    ("7condvar", "7Condvar10notify_all", Deed::Changes),
    ("7barrier", "7Barrier4wait", Deed::Meets),
    ("4once5futex", "4Once4call", Deed::Looks),
    ("4once", "4Once4wait", Deed::Looks),
    ("4once", "4Once10wait_force", Deed::Looks),
    ("6scoped", "9ScopeData29increment_num_running_threads", Deed::Admits),
    ("6scoped", "9ScopeData29decrement_num_running_threads", Deed::Releases),
    ("6thread", "6thread4park", Deed::Parks),
    ("6thread", "6thread12park_timeout", Deed::Parks),
    ("6thread", "9functions4park", Deed::Parks),
    ("6thread", "9functions12park_timeout", Deed::Parks),
    ("6thread", "6Thread4park", Deed::Parks),
    ("6thread", "6Thread12park_timeout", Deed::Parks),
];

/// The flags that make the linker put the stubs in; none if there is no such library, or no assembler for them.
pub(crate) fn flags(compiler: &str, target: &str, folder: &Path) -> Vec<OsString> {
    let Some((library, entries)) = library(compiler, target) else { return Vec::new() };
    let Some(stubs) = assemble(&entries, folder) else { return Vec::new() };
    let wraps = entries.iter().map(|(name, _)| OsString::from(format!("-Clink-arg=-Wl,--wrap={name}")));
    // A linker that reads archives once has to come by the library again after the stubs.
    let files = [stubs, library].map(|path| {
        let mut flag = OsString::from("-Clink-arg=");
        flag.push(path);
        flag
    });
    wraps.chain(files).collect()
}

/// The standard library's archive, and the functions in it that get a stub.
fn library(compiler: &str, target: &str) -> Option<(PathBuf, Vec<(String, Deed)>)> {
    let output =
        Command::new(compiler).args(["--print", "target-libdir", "--target", target]).output().ok()?;
    let folder = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    let is_std = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("libstd-") && name.ends_with(".rlib")
    };
    let archive = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).find(is_std)?;
    let bytes = std::fs::read(&archive).ok()?;
    let mut entries = functions(&bytes);
    entries.sort();
    entries.dedup();
    (!entries.is_empty()).then_some((archive, entries))
}

fn functions(archive: &[u8]) -> Vec<(String, Deed)> {
    let mut entries = Vec::new();
    let Ok(file) = ArchiveFile::parse(archive) else { return entries };
    for member in file.members().flatten() {
        let Ok(data) = member.data(archive) else { continue };
        let Ok(object) = object::File::parse(data) else { continue };
        for symbol in object.symbols().filter(|symbol| symbol.is_definition() && symbol.is_global()) {
            let Ok(name) = symbol.name() else { continue };
            entries.extend(deed_of(name).map(|deed| (name.to_string(), deed)));
        }
    }
    entries
}

/// What the function with this symbol does, if it gets a stub.
fn deed_of(symbol: &str) -> Option<Deed> {
    let name = without_hash(symbol);
    let is = |module: &str, end: &str| name.contains("3std") && name.contains(module) && name.ends_with(end);
    ENTRIES.iter().find(|(module, end, _)| is(module, end)).map(|(.., deed)| *deed)
}

/// The name without the hash that older compilers put behind it: `17h`, sixteen digits, `E`.
fn without_hash(symbol: &str) -> &str {
    const DIGITS: usize = 16;
    let hashed = symbol.strip_prefix("_ZN").and_then(|_| symbol.strip_suffix('E'));
    hashed
        .and_then(|name| name.split_at_checked(name.len().checked_sub(DIGITS)?))
        .filter(|(_, hash)| hash.bytes().all(|digit| digit.is_ascii_hexdigit()))
        .and_then(|(name, _)| name.strip_suffix("17h"))
        .unwrap_or(symbol)
}

/// A stub keeps the arguments, tells the runtime who called with what, and goes on in the function. Nearly all come
/// back to say what has become of the word.
fn assembly(entries: &[(String, Deed)]) -> String {
    const ARGUMENTS: [&str; 6] = ["rdi", "rsi", "rdx", "rcx", "r8", "r9"];
    let push = |register: &str| format!("push {register}\n.cfi_adjust_cfa_offset 8\n");
    let pop = |register: &str| format!("pop {register}\n.cfi_adjust_cfa_offset -8\n");
    let mut text = ".intel_syntax noprefix\n.text\n".to_string();
    for (name, deed) in entries {
        let _ = write!(
            text,
            ".globl __wrap_{name}\n.type __wrap_{name}, @function\n__wrap_{name}:\n.cfi_startproc\n{}\
             mov rcx, rsi\nmov rdx, [rsp + 48]\nmov esi, {}\nsub rsp, 8\n.cfi_adjust_cfa_offset 8\n\
             call {ENTRY}@PLT\nadd rsp, 8\n.cfi_adjust_cfa_offset -8\n{}",
            ARGUMENTS.iter().copied().map(push).collect::<String>(),
            *deed as u8,
            ARGUMENTS.iter().rev().copied().map(pop).collect::<String>(),
        );
        let word = if *deed == Deed::Waits { "rsi" } else { "rdi" };
        let _ = match deed {
            Deed::Changes | Deed::Releases | Deed::Admits => writeln!(text, "jmp __real_{name}"),
            // What the runtime gave and the word are kept for it, in registers that the function keeps.
            _ => writeln!(
                text,
                "{}.cfi_rel_offset rbx, 0\n{}.cfi_rel_offset r12, 0\n{}mov rbx, {word}\nmov r12, rax\n\
                 call __real_{name}\n\
                 {}{}mov rdi, rbx\nmov rsi, r12\nmov rdx, [rsp + 40]\nmov ecx, {}\ncall {LEAVE}@PLT\n\
                 {}{}{}{}.cfi_restore r12\n{}.cfi_restore rbx\nret",
                push("rbx"),
                push("r12"),
                push("r13"),
                push("rax"),
                push("rdx"),
                *deed as u8,
                pop("rdx"),
                pop("rax"),
                pop("r13"),
                pop("r12"),
                pop("rbx"),
            ),
        };
        text.push_str(".cfi_endproc\n");
    }
    text.push_str(".section .note.GNU-stack,\"\",@progbits\n");
    text
}

/// Assembles the stubs, unless that was done before.
fn assemble(entries: &[(String, Deed)], folder: &Path) -> Option<PathBuf> {
    let text = assembly(entries);
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

    #[test]
    fn functions_are_known_by_the_names_of_old_and_new_compilers() {
        let names = [
            (
                "_RNvMNtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync5mutex5futexNtB2_5Mutex14lock_contended",
                Some(Deed::Locks),
            ),
            ("_ZN3std3sys4sync5mutex5futex5Mutex14lock_contended17h0123456789abcdefE", Some(Deed::Locks)),
            ("_ZN3std6thread4park17h0123456789abcdefE", Some(Deed::Parks)),
            ("_ZN3std3sys4sync5mutex5futex5Mutex14lock_contended17h01234567E", None),
            ("_ZN5other5mutex5futex5Mutex14lock_contended17h0123456789abcdefE", None),
            ("_ZN3std6thread7unparkE", None),
            ("memcpy", None),
        ];
        for (name, deed) in names {
            assert_eq!(deed_of(name), deed, "{name}");
        }
    }

    #[test]
    fn the_compiler_in_use_has_what_locks_waits_and_parks() {
        let (_, entries) = library("rustc", "x86_64-unknown-linux-gnu").expect("a standard library");
        let (locks, others) = ([Deed::Locks, Deed::Waits, Deed::Changes], [Deed::Meets, Deed::Parks]);
        for deed in [&locks[..], &[Deed::Admits, Deed::Releases], &others].concat() {
            assert!(entries.iter().any(|(_, known)| *known == deed), "{deed:?} of {entries:?}");
        }
    }
}
