//! From what the user names to a program that can be run.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use object::elf::{DT_NEEDED, EM_X86_64, FileHeader64};
use object::read::elf::{ElfFile, FileHeader as _};
use object::{Endianness, Object as _, ObjectSection as _, ObjectSymbol as _};
use threadbare_wire::{DeadRegistersRecord, RUNTIME_LIBRARY};

use crate::compiler::{BuildError, SourceLanguage, compile_in};
use crate::std_stubs::{StdNote, path_of};

/// A program with its input.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// The instrumented executable.
    pub executable: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// The program as the user named it.
    pub name: String,
    /// The file it reads as standard input; none is an empty one.
    pub stdin: Option<PathBuf>,
    /// What it finds in its environment besides what is there.
    pub env: Vec<(String, String)>,
    /// The folder it runs in; none is the current one.
    pub folder: Option<PathBuf>,
    /// Announcements in its code that are not wanted, by their addresses in the executable file.
    pub uninstrument: Arc<Vec<u64>>,
    /// Registers that are dead while a call is in progress, by address; states of threads that differ only there are the same.
    pub dead_registers: Arc<Vec<DeadRegistersRecord>>,
    /// It runs one test of Rust's test harness, which is to do so on the main thread: the first thread is then the
    /// test's own.
    pub is_test: bool,
    /// Where threads panic because the test wants them to: file, line and column.
    pub wanted_panics: Vec<String>,
    /// How long its start-up code may take before the first thread; none is a minute, or for a test as long as it may
    /// go without a step.
    pub start_limit: Option<Duration>,
    /// An execution is at its end, and has passed, when all threads wait for the outside and nobody has come for so long; none is never.
    pub until_idle: Option<Duration>,
}

impl Program {
    /// Whether the executable holds the standard library of Rust, which comes compiled and not instrumented.
    pub fn holds_rust_std(&self) -> bool {
        self.defines(|name| name == "rust_eh_personality")
    }

    /// What of Rust's standard library in the executable has no scheduling points of its own, in whole sentences for
    /// people; none if all of it has them, or there is none. Whatever is explored, interleavings are then left out.
    pub fn unexplored_std(&self) -> Option<String> {
        const MEANING: &str = "They are one step each and are interrupted only where they sleep, so a failure that needs \
             another thread in between is not found, and nothing is claimed to be exhausted; another version of Rust, or \
             `cargo threadbare test --build-std`, explores them";
        let content = std::fs::read(&self.executable).unwrap_or_default();
        let elf = ElfFile::<FileHeader64<Endianness>>::parse(&*content).ok()?;
        match StdNote::of(&elf) {
            Some(StdNote::Instrumented) => None,
            Some(StdNote::Stubbed { missing, .. }) if missing.is_empty() => None,
            Some(StdNote::Stubbed { compiler, missing }) => Some(format!(
                "the standard library of {compiler} does not have all functions under the names that threadbare knows; \
                 missing: {}. {MEANING}",
                missing.join(", ")
            )),
            None if self.holds_rust_std() => Some(format!(
                "the locks and condition variables of Rust's standard library could not be given scheduling points: \
                 the program was linked without them, or there is no `cc` to assemble them. {MEANING}"
            )),
            None => None,
        }
    }

    /// Whether the executable's `main` is that of Rust's own test harness, and not one that a crate brings itself.
    pub fn holds_test_harness(&self) -> bool {
        const FUNCTION: &str = "test_main_static";
        // Most symbols need not be demangled.
        let is_it = |name: &str| path_of(name).is_some_and(|path| path == format!("test::{FUNCTION}"));
        self.defines(|name| name.contains(FUNCTION) && is_it(name))
    }

    /// Whether the executable may offer a closure that can be repeated: it has to know the name of the function.
    pub fn offers_closure(&self) -> bool {
        const NAME: &[u8] = b"threadbare_repeat";
        self.shows(|elf| {
            let constants = elf.section_by_name(".rodata").and_then(|section| section.data().ok());
            constants.is_some_and(|constants| constants.windows(NAME.len()).any(|bytes| bytes == NAME))
        })
    }

    /// Whether the executable defines a symbol with such a name.
    fn defines(&self, is_it: impl Fn(&str) -> bool) -> bool {
        self.shows(|elf| {
            elf.symbols().any(|symbol| symbol.is_definition() && symbol.name().is_ok_and(&is_it))
        })
    }

    /// Whether the executable can be read, and shows something.
    fn shows(&self, what: impl Fn(&ElfFile<'_, FileHeader64<Endianness>>) -> bool) -> bool {
        let content = std::fs::read(&self.executable).unwrap_or_default();
        ElfFile::parse(&*content).is_ok_and(|elf| what(&elf))
    }
}

/// Why there is no program to run.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// There is no such file.
    #[error("there is no file `{0}`; check the path")]
    Missing(String),
    /// It is a folder.
    #[error("`{0}` is a folder; name a source file or an executable in it")]
    Folder(String),
    /// It cannot be read.
    #[error("`{name}` cannot be read: {source}; check its permissions")]
    Unreadable {
        /// The program.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// A script runs in an interpreter.
    #[error(
        "`{0}` is a script, and a script's interpreter is not instrumented; \
         name the executable that the script starts"
    )]
    Script(String),
    /// It is neither a source file of a known language nor an executable.
    #[error(
        "`{0}` is neither an executable nor a source file that threadbare builds \
         (.c .cc .cpp .cxx .rs); build it with `threadbare cc` or `threadbare c++` first"
    )]
    UnknownKind(String),
    /// It is built for something else.
    #[error("`{0}` is not a 64-bit x86 Linux executable; build it for this machine with `threadbare cc`")]
    ForeignMachine(String),
    /// It is an object file.
    #[error("`{0}` is an object file; link it with `threadbare cc` first")]
    ObjectFile(String),
    /// It may not be executed.
    #[error("`{0}` is not executable; allow it with `chmod +x {0}`")]
    NotExecutable(String),
    /// It has no dynamic section, so the runtime cannot be loaded.
    #[error("`{0}` is statically linked, so the runtime cannot take part; link it without `-static`")]
    Static(String),
    /// It brings the compiler's own runtime.
    #[error(
        "`{0}` is linked with the compiler's own sanitizer runtime; \
         build it with `threadbare cc` instead of `-fsanitize=…`"
    )]
    ForeignRuntime(String),
    /// It makes no calls that announce its accesses.
    #[error("`{0}` is not instrumented; build it with `threadbare cc` or `threadbare c++`")]
    NotInstrumented(String),
    /// The source does not build.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// Finds the program the user named, and builds it if it is a source file.
///
/// Arguments and standard input are left empty for the caller to fill in.
pub fn resolve(given: &Path, cflags: &[String], out_dir: &Path) -> Result<Program, ProgramError> {
    resolve_in(Path::new("."), given, cflags, out_dir)
}

/// The same for a program that was named, and is to be built, in the folder `start`.
pub fn resolve_in(
    start: &Path,
    given: &Path,
    cflags: &[String],
    out_dir: &Path,
) -> Result<Program, ProgramError> {
    let name = given.display().to_string();
    let place = start.join(given);
    let meta = std::fs::metadata(&place).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ProgramError::Missing(name.clone()),
        _ => ProgramError::Unreadable { name: name.clone(), source },
    })?;
    if meta.is_dir() {
        return Err(ProgramError::Folder(name));
    }
    let executable = match SourceLanguage::of(given) {
        Some(_) => compile_in(start, given, cflags, out_dir)?,
        None => {
            check_executable(&place, &name, meta.permissions().mode())?;
            // Without a slash the name would be looked up in the search path.
            place.canonicalize().map_err(|source| ProgramError::Unreadable { name: name.clone(), source })?
        }
    };
    let executable = std::path::absolute(&executable).unwrap_or(executable);
    Ok(Program { executable, name, ..Program::default() })
}

fn check_executable(path: &Path, name: &str, mode: u32) -> Result<(), ProgramError> {
    let unreadable = |source| ProgramError::Unreadable { name: name.to_string(), source };
    let named = |error: fn(String) -> ProgramError| Err(error(name.to_string()));
    let mut start = Vec::new();
    File::open(path).and_then(|file| file.take(4).read_to_end(&mut start)).map_err(unreadable)?;
    if start.starts_with(b"#!") {
        return named(ProgramError::Script);
    }
    if start != b"\x7fELF" {
        return named(ProgramError::UnknownKind);
    }
    let content = std::fs::read(path).map_err(unreadable)?;
    let Ok(elf) = ElfFile::<FileHeader64<Endianness>>::parse(&*content) else {
        return named(ProgramError::ForeignMachine);
    };
    let endian = elf.endian();
    if elf.elf_header().e_machine(endian) != EM_X86_64 {
        return named(ProgramError::ForeignMachine);
    }
    if elf.elf_header().e_type(endian) == object::elf::ET_REL {
        return named(ProgramError::ObjectFile);
    }
    if mode & 0o111 == 0 {
        return named(ProgramError::NotExecutable);
    }
    let needed = needed_libraries(&elf);
    if needed.is_empty() {
        return named(ProgramError::Static);
    }
    let needs = |prefix: &str| needed.iter().any(|library| library.starts_with(prefix));
    if needs("libtsan.") || needs("libasan.") {
        return named(ProgramError::ForeignRuntime);
    }
    let announces = elf
        .dynamic_symbols()
        .any(|symbol| symbol.is_undefined() && symbol.name().is_ok_and(|name| name.starts_with("__tsan_")));
    if !announces && !needs(RUNTIME_LIBRARY) {
        return named(ProgramError::NotInstrumented);
    }
    Ok(())
}

fn needed_libraries(elf: &ElfFile<'_, FileHeader64<Endianness>>) -> Vec<String> {
    let Ok(table) = elf.elf_dynamic_table() else { return Vec::new() };
    table
        .iter()
        .filter(|entry| entry.tag == DT_NEEDED)
        .filter_map(|entry| table.string(entry).ok())
        .map(|library| String::from_utf8_lossy(library).into_owned())
        .collect()
}
