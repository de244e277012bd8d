//! Building a program given as one source file.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use sha2::{Digest as _, Sha256};

use crate::fingerprint::short_hex;
use crate::runtime_library::{RuntimeLibrary, UnpackError};
use crate::std_stubs;
use crate::wrapper::{Language, WrapperError, compiler_command, not_started};

/// The only target whose instrumentation is known to work.
pub const RUST_TARGET: &str = "x86_64-unknown-linux-gnu";

/// Why a source file did not become a program.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The compiler refused the source; its message follows.
    #[error(
        "`{}` cannot be built; fix what the compiler says, or pass flags with --cflags:\n{message}",
        source_file.display()
    )]
    Rejected {
        /// The source.
        source_file: PathBuf,
        /// What the compiler wrote.
        message: String,
    },
    /// The file's extension is that of no language that is built.
    #[error("`{}` is not a source file that threadbare builds (.c .cc .cpp .cxx .rs)", .0.display())]
    Language(PathBuf),
    /// The flags cannot be used, or there is no compiler.
    #[error(transparent)]
    Wrapper(#[from] WrapperError),
    /// There is no Rust compiler.
    #[error("`{compiler}` could not be started: {source}; install Rust, or set RUSTC")]
    NoRust {
        /// The compiler that was tried.
        compiler: String,
        /// What the system said.
        source: io::Error,
    },
    /// The runtime library is not available.
    #[error(transparent)]
    Runtime(#[from] UnpackError),
    /// The folder for the result cannot be used.
    #[error("cannot write to {}: {source}; choose another folder with --out", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// The languages a source file may be in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SourceLanguage {
    /// `.c`
    C,
    /// `.cc`, `.cpp`, `.cxx`
    Cxx,
    /// `.rs`
    Rust,
}

impl SourceLanguage {
    /// The language that a file's extension is for.
    pub fn of(file: &Path) -> Option<SourceLanguage> {
        match file.extension()?.to_str()? {
            "c" => Some(SourceLanguage::C),
            "cc" | "cpp" | "cxx" => Some(SourceLanguage::Cxx),
            "rs" => Some(SourceLanguage::Rust),
            _ => None,
        }
    }
}

/// Compiles one source file into an instrumented program below `out_dir` and returns its path.
///
/// The compiler optimizes before it instruments, so accesses would be lost: `-O0 -g` is the
/// default, and `cflags` come later so that they win. It always compiles: headers may have
/// changed.
pub fn compile(source: &Path, cflags: &[String], out_dir: &Path) -> Result<PathBuf, BuildError> {
    compile_in(Path::new("."), source, cflags, out_dir)
}

/// The same as if the compiler had been started in another folder: names of files in `source` and `cflags` begin there,
/// and so do those that the compiler writes into the program.
pub(crate) fn compile_in(
    start: &Path,
    source: &Path,
    cflags: &[String],
    out_dir: &Path,
) -> Result<PathBuf, BuildError> {
    let language = SourceLanguage::of(source).ok_or_else(|| BuildError::Language(source.to_path_buf()))?;
    let folder = out_dir.join("build");
    let no_folder = |source: io::Error| BuildError::Folder { folder: folder.clone(), source };
    std::fs::create_dir_all(&folder).map_err(no_folder)?;
    let name = program_name(source, cflags);
    let program = folder.join(&name);
    // Two builds of one source may run at once, and a running program cannot be overwritten.
    static BUILDS: AtomicU32 = AtomicU32::new(0);
    let build = BUILDS.fetch_add(1, Ordering::Relaxed);
    let partial = folder.join(format!("{name}.{}-{build}.partial", std::process::id()));
    remove_stale(&folder);
    let scratch = partial.with_extension(SCRATCH);
    std::fs::create_dir_all(&scratch).map_err(no_folder)?;
    let scratch_path = std::path::absolute(&scratch).map_err(no_folder)?;
    let result = std::path::absolute(&partial).map_err(no_folder)?;
    let output = match language {
        SourceLanguage::C => run_c(Language::C, start, source, cflags, &result, &scratch_path),
        SourceLanguage::Cxx => run_c(Language::Cxx, start, source, cflags, &result, &scratch_path),
        SourceLanguage::Rust => run_rust(start, source, cflags, &result, &scratch_path),
    };
    let _ = std::fs::remove_dir_all(&scratch);
    let output = output?;
    if !output.status.success() {
        let _ = std::fs::remove_file(&partial);
        let mut message = String::from_utf8_lossy(&output.stderr).into_owned();
        message.push_str(&String::from_utf8_lossy(&output.stdout));
        let message = message.trim_end().to_string();
        return Err(BuildError::Rejected { source_file: source.to_path_buf(), message });
    }
    std::fs::rename(&partial, &program).map_err(no_folder)?;
    Ok(program)
}

fn run_c(
    language: Language,
    start: &Path,
    source: &Path,
    cflags: &[String],
    program: &Path,
    scratch: &Path,
) -> Result<Output, BuildError> {
    // Libraries among the flags only count after the source that needs them.
    let mut words: Vec<OsString> = vec!["-O0".into(), "-g".into(), source.into()];
    words.extend(cflags.iter().map(OsString::from));
    words.extend(["-o".into(), program.into()]);
    let mut command = compiler_command(language, &words)?;
    command.current_dir(start).env("TMPDIR", scratch);
    end_with_us(&mut command);
    command.output().map_err(|source| not_started(language, &command, source).into())
}

fn run_rust(
    start: &Path,
    source: &Path,
    flags: &[String],
    program: &Path,
    scratch: &Path,
) -> Result<Output, BuildError> {
    let compiler = rust_compiler();
    let library = RuntimeLibrary::unpack()?;
    let mut command = Command::new(&compiler);
    // An option of this name may be given once only.
    if !flags.iter().any(|flag| flag.starts_with("--edition")) {
        command.args(["--edition", newest_edition(&compiler)]);
    }
    command
        .args(["-g", "-Copt-level=0", "--target", RUST_TARGET])
        .args(rust_flags(&library).flags)
        .arg(source)
        .arg("-o")
        .arg(program)
        .args(flags)
        .current_dir(start)
        .env("TMPDIR", scratch);
    end_with_us(&mut command);
    command.output().map_err(|source| BuildError::NoRust { compiler, source })
}

/// What the names of folders end in that a compiler keeps its own temporary files in.
const SCRATCH: &str = "partial-files";

/// A compiler ends when the tool does, however that ends.
fn end_with_us(command: &mut Command) {
    // SAFETY: a system call on numbers between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
}

/// Removes what builds have left that were killed: files and folders that carry the number of a process which is no more.
fn remove_stale(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let Some((stem, ending)) = name.rsplit_once('.') else { continue };
        let is_partial = ["partial", SCRATCH].contains(&ending);
        let owner = stem.rsplit_once('.').and_then(|(_, number)| number.split_once('-'));
        let owner: Option<u32> = owner.and_then(|(process, _)| process.parse().ok());
        let is_gone = |process: u32| !Path::new("/proc").join(process.to_string()).exists();
        if is_partial && owner.is_some_and(is_gone) {
            // Another build may do the same.
            let _ = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        }
    }
}

/// The newest edition of Rust that a compiler has: that of 2024 came with 1.85.
fn newest_edition(compiler: &str) -> &'static str {
    match std_stubs::minor_version(compiler) {
        Some(..85) => "2021",
        _ => "2024",
    }
}

/// How Rust code is compiled for us.
pub struct RustFlags {
    /// What the compiler is given besides. It has to be given [`RUST_TARGET`] as well, which keeps build scripts and
    /// procedural macros out of it.
    pub flags: Vec<OsString>,
    /// Where the flags begin that are about the compiled standard library.
    own: usize,
}

impl RustFlags {
    /// Leaves out what is about the compiled standard library, for a program that brings one compiled with these flags.
    pub fn instrument_std(&mut self, library: &RuntimeLibrary) {
        self.flags.truncate(self.own);
        self.flags.extend(std_stubs::instrumented_flags(library.folder()));
    }
}

/// The flags that make a stable Rust compiler instrument a crate and link the runtime.
pub fn rust_flags(library: &RuntimeLibrary) -> RustFlags {
    let mut search = OsString::from("native=");
    search.push(library.folder());
    let mut run_path = OsString::from("-Clink-arg=-Wl,-rpath,");
    run_path.push(library.folder());
    let mut flags: Vec<OsString> = [
        "-Cpasses=forceattrs",
        "-Cpasses=tsan-module",
        // To look at an enum's tag, unoptimised code may load what is behind it as well and throw it away. What nobody uses is
        // no access of the program: it is in neither the source nor an optimised program.
        "-Cpasses=dce",
        "-Cpasses=tsan",
        "-Cllvm-args=-force-attribute=sanitize_thread",
        // That crate, on which async-io and others are built, then goes through the C library, where its waits can be seen.
        "--cfg=rustix_use_libc",
        // As a library of the crate, not as a link argument: those come after the C library.
        "-ldylib=threadbare_rt",
        "-L",
    ]
    .map(OsString::from)
    .to_vec();
    flags.extend([search, run_path]);
    let own = flags.len();
    flags.extend(std_stubs::flags(&rust_compiler(), RUST_TARGET, library.folder()));
    RustFlags { flags, own }
}

/// The Rust compiler, by the name that cargo takes it by.
fn rust_compiler() -> String {
    std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_string())
}

/// Flags and folder are part of the name, so that builds do not overwrite each other.
fn program_name(source: &Path, cflags: &[String]) -> String {
    let stem = source.file_stem().map_or("program".into(), |stem| stem.to_string_lossy());
    let mut hash = Sha256::new();
    hash.update(
        source.canonicalize().unwrap_or_else(|_| source.to_path_buf()).as_os_str().as_encoded_bytes(),
    );
    for flag in cflags {
        hash.update([0]);
        hash.update(flag);
    }
    format!("{stem}-{}", short_hex(&hash.finalize(), 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_build_has_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let own = std::process::id();
        // No process has a number that large.
        let gone = 1 << 30;
        let stale = [format!("bank-12ab.{gone}-0.partial"), format!("bank-12ab.{gone}-0.{SCRATCH}")];
        let kept = [format!("bank-12ab.{own}-0.partial"), "bank-12ab".into(), "a.b.partial".into()];
        std::fs::create_dir(folder.path().join(&stale[1])).unwrap();
        std::fs::write(folder.path().join(&stale[1]).join("cc1.s"), "").unwrap();
        for name in stale[..1].iter().chain(&kept) {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        remove_stale(folder.path());
        let mut left: Vec<String> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        let mut expected = kept.to_vec();
        expected.sort();
        assert_eq!(left, expected);
    }
}
