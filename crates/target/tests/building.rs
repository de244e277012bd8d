//! What the wrappers make of sources: instrumented, linked with the runtime, and nothing else.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use object::elf::{DT_NEEDED, FileHeader64};
use object::read::elf::ElfFile;
use object::{Endianness, Object as _, ObjectSymbol as _};
use tempfile::TempDir;
use threadbare_target::{BuildError, Language, compile, compiler_command, resolve};

const PROGRAM: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
int shared; char text[32];
static void *work(void *input) { shared++; memcpy(text, input, 8); return NULL; }
int main(int argc, char **argv) {
    pthread_t thread;
    char *copy = calloc(1, 64);
    memcpy(copy, argv[0], strlen(argv[0]) < 60 ? strlen(argv[0]) : 60);
    pthread_create(&thread, NULL, work, copy);
    shared += argc;
    pthread_join(thread, NULL);
    return 0;
}
"#;

struct Binary {
    undefined: Vec<String>,
    needed: Vec<String>,
}

fn inspect(path: &Path) -> Binary {
    let content = fs::read(path).unwrap();
    let elf = ElfFile::<FileHeader64<Endianness>>::parse(&*content).unwrap();
    let names = elf.symbols().chain(elf.dynamic_symbols()).filter(|symbol| symbol.is_undefined());
    let undefined = names.map(|symbol| symbol.name().unwrap().to_string()).collect();
    let table = elf.elf_dynamic_table().unwrap_or_default();
    let libraries = table.iter().filter(|entry| entry.tag == DT_NEEDED);
    let needed =
        libraries.map(|entry| String::from_utf8_lossy(table.string(entry).unwrap()).into_owned()).collect();
    Binary { undefined, needed }
}

impl Binary {
    fn calls(&self, name: &str) -> bool {
        self.undefined.iter().any(|symbol| symbol == name)
    }

    fn assert_ours(&self) {
        assert!(self.undefined.iter().any(|name| name.starts_with("__tsan_")), "{:?}", self.undefined);
        assert_eq!(self.needed[0], "libthreadbare_rt.so", "the runtime has to precede the C library");
        assert!(!self.needed.iter().any(|name| name.contains("tsan")), "{:?}", self.needed);
    }
}

fn folder_with(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

/// Runs the wrapper in a folder and panics with the compiler's message if it fails.
fn wrap(language: Language, folder: &TempDir, line: &str) -> PathBuf {
    let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    let output = compiler_command(language, &words).unwrap().current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{line}:\n{}", String::from_utf8_lossy(&output.stderr));
    let name = words.iter().position(|word| word == "-o").map_or("a.out".into(), |at| words[at + 1].clone());
    folder.path().join(name)
}

#[test]
fn a_c_source_becomes_an_instrumented_program() {
    let folder = folder_with(&[("p.c", PROGRAM)]);
    let program = compile(&folder.path().join("p.c"), &[], folder.path()).unwrap();
    let binary = inspect(&program);
    binary.assert_ours();
    for name in ["__tsan_read4", "__tsan_write4", "__tsan_func_entry", "__wrap_memcpy", "__wrap_strlen"] {
        assert!(binary.calls(name), "{name} is not called: {:?}", binary.undefined);
    }
    let again = resolve(&program, &[], folder.path()).unwrap();
    assert_eq!(again.executable, program.canonicalize().unwrap());
}

#[test]
fn the_users_flags_come_last_and_libraries_still_count() {
    let source = "#include <math.h>\nint main(int c, char **v) { (void)v; return cos(c * X) > 2; }\n";
    let folder = folder_with(&[("p.c", source)]);
    let flags = ["-DX=1.5".to_string(), "-lm".to_string(), "-O1".to_string()];
    let program = compile(&folder.path().join("p.c"), &flags, folder.path()).unwrap();
    assert!(inspect(&program).calls("cos"));
}

#[test]
fn a_cxx_source_becomes_an_instrumented_program() {
    let source = "#include <thread>\nint n;\nint main() { std::thread t([] { n++; }); n++; t.join(); }\n";
    for name in ["p.cc", "p.cpp", "p.cxx"] {
        let folder = folder_with(&[(name, source)]);
        inspect(&compile(&folder.path().join(name), &[], folder.path()).unwrap()).assert_ours();
    }
}

#[test]
fn a_rust_source_becomes_an_instrumented_program() {
    let source = "use std::sync::atomic::{AtomicU32, Ordering::SeqCst};\nstatic N: AtomicU32 = AtomicU32::new(0);\n\
        static mut PLAIN: u32 = 0;\n\
        fn main() { let t = std::thread::spawn(|| unsafe { PLAIN += N.fetch_add(1, SeqCst) }); \
        unsafe { PLAIN += 1 }; t.join().unwrap(); }\n";
    let folder = folder_with(&[("p.rs", source)]);
    let binary = inspect(&compile(&folder.path().join("p.rs"), &[], folder.path()).unwrap());
    assert!(binary.calls("__tsan_atomic32_fetch_add"), "{:?}", binary.undefined);
    assert!(binary.calls("__tsan_write4"), "{:?}", binary.undefined);
    let place = |start: &str| binary.needed.iter().position(|name| name.starts_with(start)).unwrap();
    assert!(place("libthreadbare_rt") < place("libc."), "{:?}", binary.needed);
}

#[test]
fn code_that_does_not_compile_shows_the_compilers_message() {
    let folder =
        folder_with(&[("bad.c", "int main() { return undeclared; }\n"), ("bad.rs", "fn main( {}\n")]);
    for (name, words) in [("bad.c", "undeclared"), ("bad.rs", "error")] {
        let error = compile(&folder.path().join(name), &[], folder.path()).unwrap_err();
        assert!(matches!(error, BuildError::Rejected { .. }));
        assert!(error.to_string().contains(words), "{error}");
    }
    assert_eq!(fs::read_dir(folder.path().join("build")).unwrap().count(), 0);
}

#[test]
fn objects_archives_shared_libraries_and_two_languages_link() {
    let folder = folder_with(&[
        ("a.c", "int a; int f(void) { return ++a; }\n"),
        ("b.c", "int b; int g(void) { return ++b; }\n"),
        (
            "c.cpp",
            "extern \"C\" int f(); extern \"C\" int g(); extern \"C\" int h();\n\
                   int main() { return f() + g() + h() == 3 ? 0 : 1; }\n",
        ),
        ("d.c", "int d; int h(void) { return ++d; }\n"),
        ("empty.S", "#define X\n.text\n.section .note.GNU-stack,\"\",@progbits\n"),
        ("words", "'c.o' b.o -L. -la\n-ld -fsanitize=thread"),
    ]);
    for line in ["-c a.c", "-c b.c -O2 -D_FORTIFY_SOURCE=2", "-c -fPIC d.c", "-c empty.S"] {
        wrap(Language::C, &folder, line);
    }
    assert!(inspect(&folder.path().join("b.o")).calls("__tsan_write4"));
    wrap(Language::Cxx, &folder, "-c c.cpp -save-temps");
    assert!(inspect(&folder.path().join("c.o")).calls("__tsan_func_entry"));
    wrap(Language::C, &folder, "-shared -Wl,-z,defs -Wl,--no-undefined d.o -o libd.so");
    let archived =
        std::process::Command::new("ar").args(["rcs", "liba.a", "a.o"]).current_dir(folder.path()).status();
    assert!(archived.unwrap().success());
    wrap(Language::C, &folder, "-r a.o b.o -o merged.o");
    let words = folder.path().join("words");
    let line = format!("-o p @{} empty.o -Wl,-rpath,$ORIGIN", words.display());
    inspect(&wrap(Language::Cxx, &folder, &line)).assert_ours();
}

#[test]
fn informing_options_reach_the_compiler_unchanged() {
    for option in ["--version", "-dumpmachine", "-print-search-dirs"] {
        let command = compiler_command(Language::C, &[option.into()]).unwrap();
        assert_eq!(command.get_args().collect::<Vec<_>>(), [option]);
    }
}

#[test]
fn each_kind_of_wrong_program_gets_its_own_sentence() {
    let folder = folder_with(&[
        ("plain.c", "int main(void) { return 0; }\n"),
        ("script", "#!/bin/sh\nexit 0\n"),
        ("notes.txt", "hello\n"),
        ("empty", ""),
        ("cut", "\x7fELF"),
    ]);
    let path = folder.path();
    let cc = |args: &[&str]| {
        assert!(std::process::Command::new("cc").args(args).current_dir(path).status().unwrap().success());
    };
    cc(&["plain.c", "-o", "plain"]);
    cc(&["-c", "plain.c"]);
    cc(&["-static", "plain.c", "-o", "fixed"]);
    wrap(Language::C, &folder, "plain.c -o ours");
    fs::set_permissions(path.join("ours"), std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let cases = [
        ("missing.c", "there is no file"),
        ("missing", "there is no file"),
        (".", "is a folder"),
        ("script", "is a script"),
        ("notes.txt", "neither an executable nor a source file"),
        ("empty", "neither an executable nor a source file"),
        ("cut", "not a 64-bit x86 Linux executable"),
        ("plain", "is not instrumented; build it with `threadbare cc`"),
        ("plain.o", "is an object file"),
        ("fixed", "statically linked"),
        ("ours", "chmod +x"),
    ];
    for (name, words) in cases {
        let error = resolve(&path.join(name), &[], path).unwrap_err().to_string();
        assert!(error.contains(words), "{name}: {error}");
    }
}
