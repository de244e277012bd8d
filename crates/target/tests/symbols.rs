//! Names found in a small program, with and without debug information.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use threadbare_target::{Modules, ObjectNames, Part, Symbols};

/// Prints the addresses to be looked up, then waits to be looked at.
const SOURCE: &str = r#"#include <cstdio>
#include <unistd.h>
namespace bank { int account; struct Pair { long a, b; } table[4]; }
static void *here(void) {
    static int calls;
    int local = 0;
    printf("%p %p %p %p ", (void *)&bank::account, (void *)&bank::table[1],
           (void *)&calls, (void *)&local);
    return __builtin_return_address(0);
}
void caller(int) {
    void *pc = here();
    printf("%p\n", pc);
}
int main() { caller(1); fflush(stdout); pause(); }
"#;

struct Running(std::process::Child, Vec<u64>);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn build(folder: &Path, flags: &[&str]) {
    std::fs::write(folder.join("names.cpp"), SOURCE).unwrap();
    let mut compiler = Command::new("c++");
    compiler.args(flags).args(["names.cpp", "-o", "names"]).current_dir(folder);
    assert!(compiler.status().unwrap().success());
}

fn run(folder: &Path, padding: usize) -> Running {
    let mut program = Command::new(folder.join("names"));
    program.env("PADDING", "x".repeat(padding)).stdout(Stdio::piped());
    let mut child = program.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let number = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).unwrap();
    Running(child, line.split_whitespace().map(number).collect())
}

fn start(folder: &Path, flags: &[&str]) -> Running {
    build(folder, flags);
    run(folder, 0)
}

#[test]
fn code_and_data_have_the_names_of_the_source() {
    for pie in ["-pie", "-no-pie"] {
        let folder = tempfile::tempdir().unwrap();
        let running = start(folder.path(), &["-g", "-O0", pie]);
        let [account, table, calls, local, pc] = running.1[..] else { panic!("{:?}", running.1) };
        let symbols = Symbols::new(&Modules::of_process(running.0.id()).unwrap());
        assert_eq!(symbols.data(account, Part::Innermost).unwrap().to_string(), "bank::account");
        let name = |address, part| symbols.data(address, part).unwrap().to_string();
        assert_eq!(name(table, Part::Innermost), "bank::table[1].a");
        assert_eq!(name(table + 8, Part::Innermost), "bank::table[1].b");
        assert_eq!(name(table, Part::Whole), "bank::table[1]");
        assert_eq!(symbols.data(calls, Part::Innermost).unwrap().to_string(), "here()::calls");
        assert_eq!(symbols.data(local, Part::Innermost), None);
        let site = symbols.site(pc);
        assert_eq!(site.to_string(), "names.cpp:12");
        assert_eq!(site.function.as_deref(), Some("caller(int)"));
        assert_eq!(site.module, "names");
        assert!(std::fs::exists(site.file.as_deref().unwrap()).unwrap());
        let names = ObjectNames::new(&symbols, &[]);
        assert!(names.name(local).starts_with("stack of T0-"), "{}", names.name(local));
    }
}

#[test]
fn a_stripped_program_still_has_stable_places() {
    let folder = tempfile::tempdir().unwrap();
    let running = start(folder.path(), &["-O0", "-s"]);
    let symbols = Symbols::new(&Modules::of_process(running.0.id()).unwrap());
    let [account, .., pc] = running.1[..] else { panic!("{:?}", running.1) };
    let site = symbols.site(pc);
    assert!(site.to_string().starts_with("names+0x"), "{site}");
    assert_eq!(symbols.data(account, Part::Innermost), None);
    assert!(ObjectNames::new(&symbols, &[]).name(account).starts_with("names+0x"));
}

#[test]
fn a_program_without_debug_information_has_functions() {
    let folder = tempfile::tempdir().unwrap();
    let running = start(folder.path(), &["-O0"]);
    let symbols = Symbols::new(&Modules::of_process(running.0.id()).unwrap());
    let site = symbols.site(*running.1.last().unwrap());
    assert!(site.to_string().starts_with("caller(int)+0x"), "{site}");
}

#[test]
fn the_size_of_the_environment_does_not_show_in_the_names_of_locals() {
    let folder = tempfile::tempdir().unwrap();
    build(folder.path(), &["-O0"]);
    let (small, large) = (run(folder.path(), 0), run(folder.path(), 5000));
    let name = |running: &Running| {
        let symbols = Symbols::new(&Modules::of_process(running.0.id()).unwrap());
        ObjectNames::new(&symbols, &[]).name(running.1[3])
    };
    assert_ne!(small.1[3], large.1[3]);
    assert_eq!(name(&small), name(&large));
}
