//! Fixtures, compiled.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use iced_x86::{Decoder, DecoderOptions, FlowControl};
use object::{Object, ObjectSection, ObjectSymbol};
use threadbare_code::Code;

/// A compiled fixture.
pub struct Built {
    /// Its code.
    pub code: Code,
    /// Where it branches.
    pub jumps: Vec<u64>,
    loader: addr2line::Loader,
    _folder: tempfile::TempDir,
}

/// What the linker sends to the library that records.
const WRAPPED: &[&str] = &["memcpy", "memmove", "memset", "strcmp", "strlen", "memcmp", "strcpy"];

/// Whether a compiler can be used here.
pub fn is_there(compiler: &str) -> bool {
    Command::new(compiler).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn run(folder: &Path, program: &str, args: &[&str]) {
    let output = Command::new(program).current_dir(folder).args(args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {args:?}: {said}");
}

/// Compiles a fixture, and links it with a library that has all it lacks.
pub fn build(source: &str, compiler: &str, optimization: &str) -> Built {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    std::fs::write(path("program.c"), source).unwrap();
    let compile = ["-g", "-w", optimization, "-fsanitize=thread", "-c", "-o", "program.o", "program.c"];
    run(folder.path(), compiler, &compile);
    let wraps: Vec<String> = WRAPPED.iter().map(|name| format!("-Wl,--wrap={name}")).collect();
    let mut stubs = String::from("int sink;\n");
    for name in lacking(&path("program.o")) {
        stubs += &format!("void {name}(void) {{}}\n");
    }
    std::fs::write(path("stubs.c"), stubs).unwrap();
    run(folder.path(), "gcc", &["-w", "-fno-builtin", "-shared", "-fPIC", "-o", "libstubs.so", "stubs.c"]);
    let mut link = vec!["-pthread", "-o", "program", "program.o", "./libstubs.so", "-lm"];
    link.extend(wraps.iter().map(String::as_str));
    run(folder.path(), "gcc", &link);
    let jumps = jumps(&std::fs::read(path("program")).unwrap());
    let loader = addr2line::Loader::new(path("program")).unwrap();
    Built { code: Code::read(&path("program")).unwrap(), jumps, loader, _folder: folder }
}

fn jumps(program: &[u8]) -> Vec<u64> {
    let file = object::File::parse(program).unwrap();
    let text = file.section_by_name(".text").unwrap();
    let mut decoder = Decoder::with_ip(64, text.data().unwrap(), text.address(), DecoderOptions::NONE);
    let chooses = [FlowControl::ConditionalBranch, FlowControl::IndirectBranch];
    decoder.iter().filter(|it| chooses.contains(&it.flow_control())).map(|it| it.ip()).collect()
}

/// The functions that only stand-ins provide.
fn lacking(file: &Path) -> BTreeSet<String> {
    let bytes = std::fs::read(file).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let names = file.symbols().filter(|symbol| symbol.is_undefined()).filter_map(|symbol| symbol.name().ok());
    let own = |name: &&str| name.starts_with("__tsan_");
    let mut lacking: BTreeSet<String> = names.filter(own).map(str::to_string).collect();
    lacking.extend(WRAPPED.iter().map(|name| format!("__wrap_{name}")));
    lacking
}

impl Built {
    /// The line that an address belongs to.
    pub fn line(&self, address: u64) -> Option<u32> {
        self.loader.find_location(address).ok()??.line
    }
}
