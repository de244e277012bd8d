//! What is read out of real executables.

use std::path::{Path, PathBuf};
use std::process::Command;

use threadbare_code::{Announcement, Callee, Code, CodeFunction};

/// Stands in for the library that instrumented programs are linked with.
const STUBS: &str = "
    void __tsan_init(void) {}
    void __tsan_func_entry(void *pc) { (void)pc; }
    void __tsan_func_exit(void) {}
    void __tsan_read4(void *at) { (void)at; }
    void __tsan_write4(void *at) { (void)at; }
    void __tsan_read8(void *at) { (void)at; }
    void __tsan_write8(void *at) { (void)at; }
    int __tsan_atomic32_fetch_add(int *at, int by, int order) { (void)order; return *at += by; }
";

fn cc(folder: &Path, args: &[&str]) {
    let status = Command::new("gcc").current_dir(folder).args(args).status().unwrap();
    assert!(status.success(), "gcc {args:?}");
}

/// The code of a C program that was compiled with this optimization.
fn compiled(source: &str, optimization: &str) -> Code {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    std::fs::write(path("stubs.c"), STUBS).unwrap();
    std::fs::write(path("program.c"), source).unwrap();
    cc(folder.path(), &["-shared", "-fPIC", "-o", "libstubs.so", "stubs.c"]);
    cc(folder.path(), &[optimization, "-fsanitize=thread", "-c", "-o", "program.o", "program.c"]);
    cc(folder.path(), &["-pthread", "-o", "program", "program.o", "./libstubs.so"]);
    Code::read(&path("program")).unwrap()
}

fn named<'a>(code: &'a Code, name: &str) -> &'a CodeFunction {
    code.functions().iter().find(|function| function.name == name).unwrap_or_else(|| panic!("no {name}"))
}

/// Whether `callee` inherits from exactly these callers; none: it does not inherit.
fn callers(code: &Code, callee: &str) -> Option<Vec<String>> {
    let callers = code.inheritance().get(&named(code, callee).start)?.clone();
    Some(callers.iter().map(|start| code.function_from(*start).unwrap().name.clone()).collect())
}

const LU: &str = "
    #include <pthread.h>
    extern void end(void) __attribute__((noreturn));
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    int shared, limit;
    __attribute__((noinline)) void daxpy(int by) { shared += by; }
    __attribute__((noinline)) void sometimes(int by) { shared -= by; }
    __attribute__((noinline)) void in_a_branch(int by) { shared ^= by; }
    __attribute__((noinline)) void after_a_lock(int by) { shared |= by; }
    __attribute__((noinline)) void pointed(int by) { shared &= by; }
    void (*volatile pointer)(int) = pointed;
    __attribute__((noinline)) void lu0(int n) {
        for (int k = 0; k < n; k++)
            for (int j = k + 1; j < n; j++)
                daxpy(j);
    }
    __attribute__((noinline)) void choose(int n) { if (n > limit) sometimes(n); shared++; }
    __attribute__((noinline)) void round_trip(int n) {
        do { if (n & 1) in_a_branch(n); shared++; } while (--n > limit);
    }
    __attribute__((noinline)) void locked(int n) {
        pthread_mutex_lock(&lock); shared += n; pthread_mutex_unlock(&lock);
        after_a_lock(n);
    }
    __attribute__((noinline)) void through(int n) { pointed(n); shared++; }
    __attribute__((noinline)) int only_stack(int n) { int own = n; own += 3; return own * n; }
    __attribute__((noinline)) int leaf_caller(int n) { return only_stack(n) + 1; }
    void *worker(void *n) {
        lu0(limit); choose(limit); round_trip(limit); locked(limit); through(limit);
        shared += leaf_caller(limit);
        return n;
    }
    int main(void) {
        pthread_t thread;
        pthread_create(&thread, 0, worker, 0);
        pthread_join(thread, 0);
        return 0;
    }
";

#[test]
fn a_callee_inherits_if_it_is_surely_called_and_nothing_beside_synchronizes() {
    for optimization in ["-O0", "-O1", "-O2"] {
        let code = compiled(LU, optimization);
        assert_eq!(callers(&code, "daxpy"), Some(vec!["lu0".to_string()]), "{optimization}");
        for other in ["sometimes", "in_a_branch", "after_a_lock", "pointed", "worker", "main"] {
            assert_eq!(callers(&code, other), None, "{other} at {optimization}");
        }
    }
}

#[test]
fn functions_without_accesses_touch_only_their_stack() {
    let code = compiled(LU, "-O0");
    let touches_only_its_stack = |name: &str| code.touches_only_its_stack(named(&code, name));
    assert!(touches_only_its_stack("only_stack") && touches_only_its_stack("leaf_caller"));
    assert!(!touches_only_its_stack("daxpy") && !touches_only_its_stack("worker"));
}

#[test]
fn calls_are_known_by_whom_they_reach() {
    for optimization in ["-O0", "-O1", "-O2"] {
        let code = compiled(LU, optimization);
        let locked = named(&code, "locked");
        let imports: Vec<&str> = (locked.calls.iter())
            .filter_map(|call| match &call.to {
                Callee::Import(name) if !name.starts_with("__tsan") => Some(name.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(imports, ["pthread_mutex_lock", "pthread_mutex_unlock"], "{optimization}");
        let announced = |what| locked.announcements().filter(|(_, it)| *it == what).count();
        assert_eq!(announced(Announcement::Entrance), 1, "{optimization}");
        assert!(announced(Announcement::Exit) >= 1, "{optimization}");
        assert_eq!(announced(Announcement::Access), 2, "{optimization}");
        let inside = code.function_at(locked.start + 1).unwrap();
        assert_eq!(inside.name, "locked");
        assert!(named(&code, "pointed").is_pointed_to && !named(&code, "daxpy").is_pointed_to);
    }
}

#[test]
fn a_file_without_code_is_refused_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text");
    std::fs::write(&path, "hello").unwrap();
    let error = Code::read(&path).unwrap_err().to_string();
    assert!(error.contains("x86-64"), "{error}");
    assert!(Code::read(&folder.path().join("nothing")).unwrap_err().to_string().contains("cannot read"));
}

#[test]
fn code_for_another_processor_is_refused_in_a_sentence() {
    const MACHINE: std::ops::Range<usize> = 18..20;
    const AARCH64: u16 = 183;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("program");
    std::fs::write(folder.path().join("program.c"), "int main(void) { return 0; }").unwrap();
    cc(folder.path(), &["-o", "program", "program.c"]);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[MACHINE].copy_from_slice(&AARCH64.to_le_bytes());
    std::fs::write(&path, bytes).unwrap();
    let error = Code::read(&path).unwrap_err().to_string();
    assert!(error.contains("another processor") && error.contains("x86-64"), "{error}");
}

#[test]
fn instructions_that_ask_the_processor_or_the_system_are_found() {
    let source = "
        int shared;
        unsigned long long ticks(void) { return __builtin_ia32_rdtsc(); }
        long past_all(void) {
            long number = 39;
            __asm__ volatile(\"syscall\" : \"+a\"(number) : : \"rcx\", \"r11\", \"memory\");
            return number;
        }
        int harmless(int by) { return by + 0x310f; }
        int main(void) { shared = harmless(1); return ticks() == (unsigned long long)past_all(); }
    ";
    let code = compiled(source, "-O0");
    let found = code.hidden_inputs(|_| true);
    let within = |name: &str| {
        let function = named(&code, name);
        let mine = found.iter().filter(|it| function.start < it.after && it.after <= function.end);
        mine.map(|it| it.name).collect::<Vec<_>>()
    };
    assert_eq!(within("ticks"), ["rdtsc"]);
    assert_eq!(within("past_all"), ["syscall"]);
    assert!(within("harmless").is_empty() && within("main").is_empty());
    assert!(code.hidden_inputs(|function| function.name == "harmless").is_empty());
    assert!(named(&code, "main").is_instrumented());
}
