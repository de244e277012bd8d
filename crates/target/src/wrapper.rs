//! `threadbare cc` and `threadbare c++`: the user's compiler, instrumenting and linking.
//!
//! The compiler's thread sanitizer inserts the calls; what it would link for them is left out,
//! and the runtime library is linked in its place.

mod arguments;
mod response_file;

use std::convert::Infallible;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::runtime_library::{RuntimeLibrary, UnpackError};
use arguments::{Arguments, Stage};

/// The language of a compiler driver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// `threadbare cc`.
    C,
    /// `threadbare c++`.
    Cxx,
}

impl Language {
    /// The environment variable that names the real compiler.
    pub fn variable(self) -> &'static str {
        match self {
            Language::C => "THREADBARE_CC",
            Language::Cxx => "THREADBARE_CXX",
        }
    }

    fn default_compiler(self) -> &'static str {
        match self {
            Language::C => "cc",
            Language::Cxx => "c++",
        }
    }
}

/// Why a compiler could not be run for an instrumented build.
#[derive(Debug, thiserror::Error)]
pub enum WrapperError {
    /// A fully static executable was asked for.
    #[error(
        "`{0}` cannot be used: the runtime is a shared library and has to take part in the link; \
         build without `{0}`"
    )]
    Static(&'static str),
    /// Another sanitizer was asked for.
    #[error("`-fsanitize={0}` cannot be combined with threadbare's instrumentation; build without it")]
    Sanitizer(String),
    /// Compiling preprocessed code and linking in one go.
    #[error(
        "preprocessed code cannot be compiled and linked in one step with gcc; \
         compile with `-c` first and link the object"
    )]
    Preprocessed,
    /// The compiler is not there.
    #[error("the compiler `{compiler}` could not be started: {source}; install it, or set {variable}")]
    Compiler {
        /// The compiler as configured.
        compiler: String,
        /// The variable that names another.
        variable: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The configured compiler is this wrapper.
    #[error("{0} names threadbare itself; set it to the real compiler, such as `gcc`")]
    Circular(&'static str),
    /// The runtime library is not available.
    #[error(transparent)]
    Runtime(#[from] UnpackError),
}

/// The two families of compiler drivers, which hand options to their compilers differently.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Family {
    Gcc,
    Clang,
}

/// Becomes the compiler: returns only if that fails.
pub fn become_compiler(language: Language, args: &[OsString]) -> Result<Infallible, WrapperError> {
    let mut command = compiler_command(language, args)?;
    let source = command.exec();
    Err(not_started(language, &command, source))
}

/// The compiler with the arguments of an instrumented build.
pub fn compiler_command(language: Language, args: &[OsString]) -> Result<Command, WrapperError> {
    let configured = std::env::var(language.variable()).ok().filter(|name| !name.trim().is_empty());
    let configured = configured.unwrap_or_else(|| language.default_compiler().to_string());
    // As with CC in makefiles, the value may hold a launcher and options: `ccache gcc -m64`.
    let words: Vec<&str> = configured.split_whitespace().collect();
    if words.iter().any(|word| Path::new(word).file_name().is_some_and(|name| name == "threadbare")) {
        return Err(WrapperError::Circular(language.variable()));
    }
    let mut command = Command::new(words[0]);
    command.args(&words[1..]);
    let arguments = arguments::read(args)?;
    if arguments.stage == Stage::Inform {
        command.args(args);
        return Ok(command);
    }
    let family = family(&words).map_err(|source| not_started(language, &command, source))?;
    command.args(instrumented(&arguments, family, &RuntimeLibrary::unpack()?)?);
    Ok(command)
}

pub(crate) fn not_started(language: Language, command: &Command, source: io::Error) -> WrapperError {
    WrapperError::Compiler {
        compiler: command.get_program().to_string_lossy().into_owned(),
        variable: language.variable(),
        source,
    }
}

/// The user's arguments with those of the instrumentation around them.
fn instrumented(
    arguments: &Arguments,
    family: Family,
    library: &RuntimeLibrary,
) -> Result<Vec<OsString>, WrapperError> {
    let links = arguments.stage == Stage::Link;
    let mut words: Vec<OsString> = Vec::new();
    if arguments.instrument {
        match family {
            // The driver must not see the option when it links, or it would add its own runtime.
            Family::Gcc if links && arguments.split => return Err(WrapperError::Preprocessed),
            Family::Gcc if links => words.push("-Wp,-fsanitize=thread".into()),
            Family::Gcc => words.push("-fsanitize=thread".into()),
            Family::Clang => words.extend(["-Xclang".into(), "-fsanitize=thread".into()]),
        }
        // What is volatile is announced as such: between a thread and its signal handlers that matters.
        match family {
            Family::Gcc => words.push("--param=tsan-distinguish-volatile=1".into()),
            Family::Clang => words.extend(["-mllvm".into(), "-tsan-distinguish-volatile=1".into()]),
        }
        // Compilers would put short copies and comparisons into the code, and announce nothing of them.
        words.extend(threadbare_library::wrapped().map(|name| format!("-fno-builtin-{name}").into()));
    }
    if links {
        words.extend(link_arguments(library));
    }
    words.extend(arguments.words.iter().cloned());
    if links && family == Family::Gcc && arguments.words.iter().any(|word| word == "-fopenmp") {
        // The runtime has functions of the same names, and the linker would take the library for one that is not needed.
        words.extend(["-Wl,--push-state,--no-as-needed", "-lgomp", "-Wl,--pop-state"].map(OsString::from));
    }
    if arguments.instrument {
        // The header of tests for objects; a file of the user's own comes first.
        words.extend(["-idirafter".into(), library.include().into()]);
        words.extend(CHECKED.map(checked));
        if arguments.lto {
            // Code would be generated at link time, where nobody asks for instrumentation.
            words.push("-fno-lto".into());
        }
    }
    Ok(words)
}

/// Functions that headers call by a built-in with a check of how much room there is, where `_FORTIFY_SOURCE` is defined: their names, and the
/// types and names of all arguments but the last.
const CHECKED: [(&str, &str, &str, &str); 6] = [
    ("memcpy", "void *", "void *, const void *, __SIZE_TYPE__", "a, b, c"),
    ("memmove", "void *", "void *, const void *, __SIZE_TYPE__", "a, b, c"),
    ("memset", "void *", "void *, int, __SIZE_TYPE__", "a, b, c"),
    ("strcpy", "char *", "char *, const char *", "a, b"),
    ("strncpy", "char *", "char *, const char *, __SIZE_TYPE__", "a, b, c"),
    ("strcat", "char *", "char *, const char *", "a, b"),
];

/// Makes such a built-in the call of a function. A compiler would put the copy itself into the code where it is sure that there is room,
/// and announce nothing of it.
fn checked((name, result, types, arguments): (&str, &str, &str, &str)) -> OsString {
    format!(
        "-D__builtin___{name}_chk({arguments}, d)=__extension__({{ extern {result}__threadbare_{name}_chk({types}, __SIZE_TYPE__) \
         __asm__(\"__{name}_chk\"); __threadbare_{name}_chk({arguments}, d); }})"
    )
    .into()
}

/// What makes a link use the runtime. It comes before the user's arguments, so that the loader
/// looks into the runtime before the C library.
fn link_arguments(library: &RuntimeLibrary) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec!["-Wl,--push-state,--no-as-needed".into()];
    words.push(library.path().into());
    words.push("-Wl,--pop-state".into());
    // `-Xlinker` rather than `-Wl,`: the folder's name may hold a comma.
    words.extend(["-Xlinker".into(), "-rpath".into(), "-Xlinker".into(), library.folder().into()]);
    words.extend(threadbare_library::wrapped().map(|name| format!("-Wl,--wrap={name}").into()));
    words.push("-pthread".into());
    words
}

/// The family of most compilers is known by the name of the file behind all links; others are asked.
fn family(words: &[&str]) -> io::Result<Family> {
    let by_name = |file: &Path| {
        let name = file.file_name()?.to_str()?;
        if name.contains("clang") {
            Some(Family::Clang)
        } else if name.contains("gcc") || name.contains("g++") {
            Some(Family::Gcc)
        } else {
            None
        }
    };
    let found = match words {
        [compiler] => find_in_path(compiler).and_then(|path| by_name(&path.canonicalize().unwrap_or(path))),
        _ => None,
    };
    if let Some(family) = found {
        return Ok(family);
    }
    let answer = Command::new(words[0]).args(&words[1..]).arg("--version").output()?;
    let clang = String::from_utf8_lossy(&answer.stdout).contains("clang");
    Ok(if clang { Family::Clang } else { Family::Gcc })
}

fn find_in_path(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program));
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instrument(line: &str, family: Family) -> Vec<String> {
        let given: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let library = RuntimeLibrary::unpack().unwrap();
        let words = instrumented(&arguments::read(&given).unwrap(), family, &library).unwrap();
        words.into_iter().map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn the_linking_driver_never_sees_the_sanitizer_option() {
        let words = instrument("-fsanitize=thread a.c b.o -o p", Family::Gcc);
        assert!(words.contains(&"-Wp,-fsanitize=thread".to_string()));
        assert!(!words.contains(&"-fsanitize=thread".to_string()));
        let words = instrument("a.c", Family::Clang);
        assert!(words.windows(2).any(|pair| pair == ["-Xclang", "-fsanitize=thread"]));
    }

    #[test]
    fn the_runtime_comes_before_everything_the_user_links() {
        let words = instrument("a.o -lc -o p", Family::Gcc);
        let place = |ending: &str| words.iter().position(|word| word.ends_with(ending)).unwrap();
        assert!(place("libthreadbare_rt.so") < place("a.o"));
        assert!(words.contains(&"-Wl,--wrap=memcpy".to_string()));
        assert!(!words.iter().any(|word| word.contains("sanitize")), "nothing is compiled");
    }

    #[test]
    fn the_library_for_openmp_is_needed_although_the_runtime_has_functions_of_the_same_names() {
        let words = instrument("-fopenmp a.o -o p", Family::Gcc).join(" ");
        assert!(words.contains("a.o -o p -Wl,--push-state,--no-as-needed -lgomp -Wl,--pop-state"), "{words}");
        assert!(!instrument("-fopenmp -c a.c", Family::Gcc).contains(&"-lgomp".to_string()));
    }

    #[test]
    fn the_linker_wraps_what_the_table_of_library_functions_says() {
        let words = instrument("a.o -o p", Family::Gcc);
        let given: Vec<&str> = words.iter().filter_map(|word| word.strip_prefix("-Wl,--wrap=")).collect();
        assert_eq!(given, threadbare_library::wrapped().collect::<Vec<_>>());
        assert!(given.contains(&"memcpy"));
    }

    #[test]
    fn nothing_is_linked_into_objects() {
        for line in ["-c a.c", "-r a.o b.o -o c.o", "-E a.c"] {
            let words = instrument(line, Family::Gcc);
            assert!(!words.iter().any(|word| word.contains("threadbare_rt")), "{line}: {words:?}");
        }
    }

    #[test]
    fn link_time_optimization_does_not_lose_the_instrumentation() {
        assert_eq!(instrument("-flto -c a.c", Family::Gcc).last().unwrap(), "-fno-lto");
    }
}
