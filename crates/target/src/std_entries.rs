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

/// What the runtime calls the functions that stubs call: before the function, and after one that has taken a lock.
const ENTRY: &str = "__threadbare_std_entry";
const LOCKED: &str = "__threadbare_std_locked";

/// What a function does, as far as the runtime has to know. The numbers are those that it is told.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Deed {
    /// Looks at the word that its first argument points to.
    Looks = 0,
    /// Changes it.
    Changes = 1,
    /// Takes it as a lock.
    Locks = 2,
    /// Looks at it, gives back the lock that its second argument points to, sleeps, and takes the lock again.
    Waits = 3,
}

/// The ends of the names of such functions, as the compiler writes them.
const ENTRIES: [(&str, Deed); 12] = [
    ("5mutex5futexNtB2_5Mutex14lock_contended", Deed::Locks),
    ("6rwlock5futexNtB2_6RwLock14read_contended", Deed::Looks),
    ("6rwlock5futexNtB2_6RwLock15write_contended", Deed::Looks),
    ("6rwlock5futexNtB2_6RwLock22wake_writer_or_readers", Deed::Looks),
    ("7condvar5futexNtB2_7Condvar4wait", Deed::Waits),
    ("7condvar5futexNtB2_7Condvar12wait_timeout", Deed::Waits),
    ("7condvarNtB2_7Condvar10notify_one", Deed::Changes),
    ("7condvarNtB2_7Condvar10notify_all", Deed::Changes),
    ("14thread_parking5futexNtB2_6Parker4park", Deed::Looks),
    ("14thread_parking5futexNtB2_6Parker6unpark", Deed::Changes),
    ("7barrierNtB2_7Barrier4wait", Deed::Looks),
    ("4once5futexNtB5_4Once4call", Deed::Looks),
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
            let known = ENTRIES.iter().find(|(end, _)| name.ends_with(end) && name.contains("3std"));
            entries.extend(known.map(|(_, deed)| (name.to_string(), *deed)));
        }
    }
    entries
}

/// A stub keeps the arguments, tells the runtime who called with what, and goes on in the function. Where the
/// function takes a lock, the stub comes back to say so.
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
        let lock = match deed {
            Deed::Locks => Some("rdi"),
            Deed::Waits => Some("rsi"),
            Deed::Looks | Deed::Changes => None,
        };
        let _ = match lock {
            None => writeln!(text, "jmp __real_{name}"),
            Some(lock) => writeln!(
                text,
                "{}mov rbx, {lock}\ncall __real_{name}\n{}{}mov rdi, rbx\nmov rsi, [rsp + 24]\n\
                 call {LOCKED}@PLT\n{}{}{}ret",
                push("rbx"),
                push("rax"),
                push("rdx"),
                pop("rdx"),
                pop("rax"),
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
