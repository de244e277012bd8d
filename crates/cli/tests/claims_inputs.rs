//! What decides how a program goes, besides the order of its steps, or past what is seen of them: nobody may claim anything then.

mod support;

use std::os::unix::process::CommandExt;

use serde_json::Value;
use support::Desk;
use support::claims::{CLAIMING, verdicts};

/// Where nothing was under control, no command passes a verdict.
#[test]
fn what_nobody_controls_is_an_error_in_every_command() {
    let desk = Desk::new();
    desk.file(
        "futex.c",
        "#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
static int word;
static void *w(void *u) { syscall(SYS_futex, &word, FUTEX_LOCK_PI, 0, 0, 0, 0); return u; }
int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); pthread_join(t, 0); return 0; }
",
    );
    let hunts = CLAIMING.iter().map(|strategy| vec!["hunt", "--strategy", strategy]);
    let others = [vec!["hunt"], vec!["check"], vec!["verify"], vec!["compare", "--strategies", "random"]];
    for command in others.into_iter().chain(hunts) {
        let answer = desk.run(&[&command[..], &["futex.c", "--quiet"]].concat());
        assert_eq!(answer.code, Some(2), "{command:?}: {}", answer.stderr);
        assert!(answer.stderr.contains("under control"), "{command:?}: {}", answer.stderr);
    }
}

/// Functions that the compiler was told to leave alone make steps that nobody sees.
#[test]
fn functions_without_instrumentation_are_a_doubt_for_every_strategy() {
    let desk = Desk::new();
    desk.file(
        "unseen.c",
        "#include <pthread.h>
#include <stdlib.h>
static int x;
__attribute__((no_sanitize_thread, noinline)) static void add(void) { x++; }
static void *w(void *u) { add(); return u; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    add();
    pthread_join(t, 0);
    if (x != 2) abort();
    return 0;
}
",
    );
    for (who, report) in verdicts(&desk, "unseen.c") {
        assert_eq!(report["verdict"], "clean", "{who}: {report:#}");
        let doubt = report["warnings"].as_array().expect("warnings").iter().any(|warning| {
            let words = warning.as_str().unwrap_or_default();
            words.contains("add accesses memory without announcing it") && words.contains("unseen.c:4")
        });
        assert!(doubt, "{who}: {report:#}");
    }
}

/// Who writes to memory by one address is not known to write what others read by another one.
#[test]
fn memory_that_is_mapped_twice_is_a_doubt() {
    let desk = Desk::new();
    desk.file(
        "twice.c",
        "#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
static int *p, *q;
static void *a(void *u) { int seen = *p; *p = seen + 1; return 0; }
static void *b(void *u) { int seen = *q; *q = seen + 1; return 0; }
int main(void) {
    pthread_t one, other;
    int file = memfd_create(\"twice\", 0);
    ftruncate(file, 4096);
    p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    q = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    pthread_create(&one, 0, a, 0);
    pthread_create(&other, 0, b, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    assert(*p == 2);
    return 0;
}
",
    );
    for (who, report) in verdicts(&desk, "twice.c") {
        let found = report["verdict"] == "failure";
        let doubt = report["warnings"].as_array().expect("warnings").iter().any(|warning| {
            warning.as_str().is_some_and(|words| words.contains("can be reached by several addresses"))
        });
        assert!(found || (doubt && report["verdict"] == "clean"), "{who}: {report:#}");
    }
}

/// Both threads may read 0 on any machine that buffers stores: what is claimed is claimed of sequential consistency.
#[test]
fn weaker_orders_are_named_with_their_lines() {
    let desk = Desk::new();
    for (name, kind, store, load) in [
        (
            "relaxed",
            "atomic_int",
            "atomic_store_explicit(&$, 1, memory_order_relaxed)",
            "atomic_load_explicit(&$, memory_order_relaxed)",
        ),
        ("volatile", "volatile int", "$ = 1", "$"),
        ("plain", "int", "$ = 1", "$"),
    ] {
        let put = |variable| store.replace('$', variable);
        let get = |variable| load.replace('$', variable);
        desk.file(
            &format!("{name}.c"),
            format!(
                "#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static {kind} x, y;
static int seen;
static void *w(void *u) {{ {}; seen = {}; return u; }}
int main(void) {{
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    {};
    int mine = {};
    pthread_join(t, 0);
    if (!mine && !seen) abort();
    return 0;
}}
",
                put("x"),
                get("y"),
                put("y"),
                get("x"),
            ),
        );
        for (who, report) in verdicts(&desk, &format!("{name}.c")) {
            assert_eq!(report["exhausted"], true, "{name}, {who}: {report:#}");
            let remark = report["warnings"].as_array().expect("warnings").iter().any(|warning| {
                let words = warning.as_str().unwrap_or_default();
                words.contains("under sequential consistency") && words.contains(&format!("{name}.c:6"))
            });
            assert!(remark, "{name}, {who}: {report:#}");
        }
    }
}

/// Containers may forbid to fix addresses, and then executions are not all there are.
#[test]
fn nothing_is_claimed_where_addresses_are_random() {
    let desk = Desk::new();
    desk.file(
        "address.c",
        "#include <pthread.h>
static int x;
static void *w(void *u) { x = 1; return u; }
int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); x = 2; pthread_join(t, 0); return 0; }
",
    );
    for way in [["hunt", "--strategy=dfs"], ["hunt", "--strategy=mcr"], ["verify", "--quiet"]] {
        for refused in [false, true] {
            let mut command =
                desk.command(&[&way[..], &["address.c", "--jobs", "1", "--json", "-"]].concat());
            if refused {
                // SAFETY: system calls on local structures, between fork and exec.
                unsafe { command.pre_exec(refuse_personality) };
            }
            let output = command.output().expect("the tool runs");
            let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
            let is_doubted = report["warnings"].to_string().contains("random addresses");
            assert_eq!(
                (&report["exhausted"], is_doubted),
                (&(!refused).into(), refused),
                "{way:?}: {report:#}"
            );
        }
    }
}

/// Has the system refuse `personality`, for this process and all that it starts.
fn refuse_personality() -> std::io::Result<()> {
    use libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W};
    let step = |code: u32, jump_if_not: u8, k: u32| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: jump_if_not,
        k,
    };
    let filter = [
        step(BPF_LD | BPF_W | BPF_ABS, 0, 0),
        step(BPF_JMP | BPF_JEQ | BPF_K, 1, libc::SYS_personality as u32),
        step(BPF_RET | BPF_K, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        step(BPF_RET | BPF_K, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    // SAFETY: the filter outlives the call.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    };
    if done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// What compilers and programmers write past the instrumentation is a doubt to everybody.
#[test]
fn stores_that_nobody_announces_are_doubted() {
    let desk = Desk::new();
    for (name, store) in [
        ("assembly", "__asm__ volatile(\"incl %0\" : \"+m\"(n));"),
        ("written_out", "__builtin_memset(&n, 1, 4);"),
    ] {
        let file = format!("{name}.c");
        desk.file(
            &file,
            format!(
                "#include <pthread.h>
#include <stdlib.h>
static int n;
static void *w(void *u) {{ {store} return 0; }}
int main(void) {{
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    if (n) abort();
    pthread_join(t, 0);
    return 0;
}}
"
            ),
        );
        for (who, report) in verdicts(&desk, &file) {
            assert_ne!(report["verdict"], "exhausted", "{name}, {who}: {report:#}");
        }
    }
}
