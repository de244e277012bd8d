//! What functions of the library leave behind, check and share: results, error numbers, memory, streams, files, blocks of the heap.

mod support;

use support::Desk;
use support::claims::{nobody_claims_and_failures_are_found, run, verdicts};

const HEAD: &str = "#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
";

/// A program in which main does something with what another thread makes of `x`.
fn with_value(first: &str, then: &str, globals: &str, body: &str) -> String {
    format!(
        "{HEAD}
static _Atomic int x = {first};
{globals}
static void *other(void *unused) {{ x = {then}; x = {first}; return unused; }}
int main(void) {{
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    int v = x;
    {body}
    pthread_join(thread, 0);
    return 0;
}}
"
    )
}

/// A program in which two threads do something one after the other, in either order.
fn in_either_order(globals: &str, begins: &str, first: &str, second: &str, ends: &str) -> String {
    format!(
        "{HEAD}
{globals}
static void *one(void *unused) {{ {first} return unused; }}
static void *two(void *unused) {{ {second} return unused; }}
int main(void) {{
    pthread_t a, b;
    {begins}
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    {ends}
    return 0;
}}
"
    )
}

fn nobody_claims(desk: &Desk, file: &str) {
    for (who, report) in verdicts(desk, file) {
        assert_ne!(report["verdict"], "exhausted", "{file}, {who}: {report:#}");
    }
}

/// `verify` finds the failure; what every strategy says that tries all orders is another test's matter.
fn verify_finds(desk: &Desk, file: &str) {
    let report = desk.run(&["verify", file, "--json", "-", "--quiet", "--jobs", "1"]).json();
    assert_eq!(report["verdict"], "failure", "{file}: {report:#}");
}

/// What a call is given shows in its result, in the memory it writes, in the error number, or in how the process ends.
#[test]
fn values_go_through_calls_of_the_library() {
    const LOG: &str = "static int log_all(const char *format, ...) {
    va_list rest; va_start(rest, format); int n = vprintf(format, rest); va_end(rest); return n;
}";
    let desk = Desk::new();
    for (name, first, then, globals, body) in [
        ("printed", "1", "10", "", "if (printf(\"%d\\n\", v) == 3) abort();"),
        (
            "printed_on_stack",
            "1",
            "10",
            "",
            "if (printf(\"%d%d%d%d%d%d%d\\n\", 1, 2, 3, 4, 5, 6, v) == 9) abort();",
        ),
        ("printed_fraction", "1", "10", "", "if (printf(\"%g\\n\", v * 1.0) == 3) abort();"),
        ("printed_list", "1", "10", LOG, "if (log_all(\"%d\\n\", v) == 3) abort();"),
        ("counted", "1", "10", "", "int n = 0; printf(\"%d%n\\n\", v, &n); if (n == 2) abort();"),
        ("counted_elsewhere", "1", "10", "static int n;", "printf(\"%d%n\\n\", v, &n); if (n == 2) abort();"),
        ("put", "97", "98", "", "if (putchar(v) == 98) abort();"),
        ("described", "1", "2", "", "if (strerror(v)[0] == 'N') abort();"),
        ("configured", "_SC_OPEN_MAX", "_SC_PAGESIZE", "", "if (sysconf(v) == 4096) abort();"),
        ("rest", "7", "8", "", "if (ldiv(v, 4).rem == 0) abort();"),
        (
            "errno",
            "1",
            "-1",
            "",
            "errno = 0; volatile double d = sqrt((double)v); (void)d; if (errno) abort();",
        ),
        ("long_double", "1", "4", "", "if (sqrtl((long double)v) == 2.0L) abort();"),
        ("ended", "0", "1", "", "err(v, \"bye\");"),
        ("written", "1", "2", "", "if (write(1, \"ab\", v) == 2) abort();"),
        (
            "divided",
            "1",
            "0",
            "static volatile double s;",
            "unsigned c = 0x1d80; __asm__ volatile(\"ldmxcsr %0\" :: \"m\"(c)); s = 1.0 / v;",
        ),
    ] {
        let file = format!("{name}.c");
        desk.file(&file, with_value(first, then, globals, body));
        let report =
            desk.run(&["verify", &file, "--cflags=-lm", "--json", "-", "--quiet", "--jobs", "1"]).json();
        assert_ne!(report["verdict"], "exhausted", "{name}: {report:#}");
        assert!(name == "divided" || report["verdict"] == "failure", "{name}: {report:#}");
    }
}

/// What is only printed decides nothing.
#[test]
fn values_that_are_only_printed_do_not_matter() {
    let desk = Desk::new();
    desk.file(
        "printed.c",
        with_value("1", "10", "", "printf(\"%d\\n\", v); puts(\"done\"); fprintf(stderr, \"%d\", v);"),
    );
    let report = desk.run(&["verify", "printed.c", "--json", "-", "--quiet", "--jobs", "1"]).json();
    assert_eq!(report["verdict"], "exhausted", "{report:#}");
    assert!(report["executions"].as_u64().is_some_and(|count| count <= 3), "{report:#}");
}

/// A pointer that is given back has to lead to a block of the heap.
#[test]
fn what_is_no_block_must_not_be_given_back() {
    let desk = Desk::new();
    for (name, globals, body) in [
        ("inside", "", "char *b = malloc(64); free(b + 8 * v);"),
        ("inside_aligned", "", "char *b = malloc(64); memset(b, 0, 64); free(b + 16 * v);"),
        ("stack", "", "char b[64]; char *own = malloc(8); __asm__(\"\" : : \"r\"(b)); free(v ? b : own);"),
        ("static", "static char b[64];", "char *own = malloc(8); free(v ? b : own);"),
        ("moved", "", "char *b = malloc(64); b = realloc(b + 16 * v, 128); free(b);"),
        ("aligned", "", "char *b = aligned_alloc(64, 128); free(b + 64 * v);"),
        (
            "before",
            "static char *b; __attribute__((constructor)) static void make(void) { b = malloc(64); }",
            "free(b + 16 * v);",
        ),
    ] {
        let file = format!("{name}.c");
        desk.file(&file, with_value("0", "1", globals, body));
        nobody_claims_and_failures_are_found(&desk, &file);
        let report = run(&desk, &["hunt", &file, "--strategy", "random"]);
        assert_eq!(report["verdict"], "failure", "{name}, random: {report:#}");
    }
    desk.file(
        "base.cpp",
        "#include <atomic>
#include <thread>
struct A { int a; virtual ~A() {} };
struct P { int x; };
struct Q : A, P {};
static std::atomic<P *> g;
int main() { g = new P; std::thread t([] { Q *q = new Q; g = q; }); delete g.load(); t.join(); }
",
    );
    nobody_claims_and_failures_are_found(&desk, "base.cpp");
}

/// All ways to get a block and to give it back that are right.
#[test]
fn blocks_may_come_from_anywhere() {
    let desk = Desk::new();
    desk.file(
        "right.cpp",
        "#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <wchar.h>
static char *early = strdup(\"early\");
struct alignas(64) Wide { int n[16]; };
static void all() {
    void *b = nullptr;
    if (posix_memalign(&b, 64, 100)) abort();
    free(b);
    free(aligned_alloc(64, 128));
    free(memalign(128, 10));
    free(valloc(100));
    free(pvalloc(100));
    free(reallocarray(nullptr, 4, 16));
    free(reallocarray(calloc(3, 5), 400, 16));
    free(realloc(malloc(10), 100000));
    free(realloc(valloc(10), 1000));
    free(strndup(\"text\", 2));
    free(wcsdup(L\"wide\"));
    char *made = nullptr;
    if (asprintf(&made, \"%d\", 3) < 0) abort();
    free(made);
    free(nullptr);
    delete new Wide;
    delete[] new Wide[3];
    delete[] new std::string[3];
    ::operator delete(::operator new(10), std::size_t(10));
    ::operator delete(::operator new(10, std::align_val_t(64)), std::align_val_t(64));
    free(malloc(1 << 20));
    auto shared = std::make_shared<int>(3);
    size_t length;
    FILE *sheet = open_memstream(&made, &length);
    fputs(\"text\", sheet);
    fclose(sheet);
    free(made);
    made = nullptr;
    free(realpath(\"/\", nullptr));
}
int main() {
    all();
    std::thread t(all);
    free(early);
    t.join();
    all();
}
",
    );
    for strategy in ["random", "dfs"] {
        let args =
            ["hunt", "right.cpp", "--strategy", strategy, "--executions", "30", "--json", "-", "--quiet"];
        let report = desk.run(&args).json();
        assert_ne!(report["verdict"], "failure", "{strategy}: {report:#}");
    }
}

/// What `_FORTIFY_SOURCE` has checked is checked.
#[test]
fn writes_beyond_a_buffer_are_found_where_they_are_checked() {
    let desk = Desk::new();
    for (name, globals, body) in [
        ("copied", "static char to[8], from[64];", "memcpy(to, from, 9 * v + 1);"),
        ("set", "static char to[8];", "memset(to, 1, 9 * v + 1);"),
        ("text", "static char to[8];", "strcpy(to, v ? \"much too long\" : \"short\");"),
        ("appended", "static char to[8] = \"abc\";", "strcat(to, v ? \"defgh\" : \"def\");"),
        ("printed", "static char to[4];", "sprintf(to, \"%d\", v ? 1000 : 1);"),
        (
            "bit",
            "#include <sys/select.h>",
            "fd_set s; FD_ZERO(&s); FD_SET(v ? 2000 : 3, &s); __asm__(\"\" : : \"r\"(&s));",
        ),
    ] {
        let file = format!("{name}.c");
        desk.file(&file, with_value("0", "1", globals, body));
        let flags = ["--cflags=-O2 -D_FORTIFY_SOURCE=2", "--json", "-", "--quiet", "--jobs", "1"];
        for command in [&["verify", &file][..], &["hunt", &file, "--strategy", "dfs"]] {
            let report = desk.run(&[command, &flags[..]].concat()).json();
            assert_eq!(report["verdict"], "failure", "{name}, {command:?}: {report:#}");
            assert_eq!(report["failures"][0]["kind"], "abort", "{name}, {command:?}: {report:#}");
        }
    }
    desk.file(
        "fits.c",
        with_value("0", "1", "static char to[8], from[8];", "memcpy(to, from, 7 * v + 1); memset(to, 0, 8);"),
    );
    let report =
        desk.run(&["verify", "fits.c", "--cflags=-O2 -D_FORTIFY_SOURCE=2", "--json", "-", "--quiet"]).json();
    assert_eq!(report["verdict"], "exhausted", "{report:#}");
}

/// Who writes first to a stream whose content the program sees again.
#[test]
fn the_order_of_output_is_varied_where_the_program_sees_it() {
    const SHEET: &str = "static FILE *o; static char *content; static size_t length;";
    const OPEN: &str = "o = open_memstream(&content, &length);";
    let desk = Desk::new();
    for (name, first, second, bad) in [
        (
            "texts",
            "fputs(\"a\", o); fputs(\"a\", o);",
            "fputs(\"b\", o); fputs(\"b\", o);",
            "content[0] != content[1]",
        ),
        ("formatted", "fprintf(o, \"%d\", 1);", "fprintf(o, \"%d\", 2);", "content[0] == '2'"),
        ("characters", "putc('a', o); putc('a', o);", "fputc('b', o);", "content[1] == 'b'"),
        ("records", "fwrite(\"a\", 1, 1, o);", "fwrite(\"b\", 1, 1, o);", "content[0] == 'b'"),
        (
            "locked",
            "flockfile(o); fputs(\"a\", o); fputs(\"a\", o); funlockfile(o);",
            "fputs(\"b\", o);",
            "content[0] == 'b'",
        ),
    ] {
        let file = format!("{name}.c");
        desk.file(
            &file,
            in_either_order(SHEET, OPEN, first, second, &format!("fclose(o); if ({bad}) abort();")),
        );
        nobody_claims_and_failures_are_found(&desk, &file);
    }
    let locked = "flockfile(o); fputs(\"a\", o); fputs(\"a\", o); funlockfile(o);";
    let ends = "fclose(o); if (content[1] == 'b') abort();";
    desk.file("whole.c", in_either_order(SHEET, OPEN, locked, "fputs(\"b\", o);", ends));
    desk.file("out.c", in_either_order("", "", "puts(\"a\"); puts(\"a\");", "puts(\"b\"); puts(\"b\");", ""));
    for (file, most) in [("whole.c", 3000), ("out.c", 10)] {
        for strategy in ["dfs", "states"] {
            let report = run(&desk, &["hunt", file, "--strategy", strategy]);
            assert_eq!(report["verdict"], "exhausted", "{file}, {strategy}: {report:#}");
            assert!(
                report["executions"].as_u64().is_some_and(|count| count <= most),
                "{file}, {strategy}: {report:#}"
            );
        }
    }
    desk.file(
        "locked.cpp",
        "#include <cstdlib>
#include <mutex>
#include <sstream>
#include <thread>
static std::mutex m;
static std::ostringstream o;
static void put(int n) { std::lock_guard<std::mutex> own(m); o << n; }
int main() {
    std::thread a(put, 1), b(put, 2);
    a.join(); b.join();
    if (o.str() == \"21\") abort();
}
",
    );
    verify_finds(&desk, "locked.cpp");
}

/// Files that are mapped are memory, and the library has numbers of its own.
#[test]
fn memory_that_is_changed_past_everybody_is_a_doubt() {
    let desk = Desk::new();
    for (name, change) in [
        ("at", "int n = 1, o = 0; pwrite(fd, &n, 4, 0); pwrite(fd, &o, 4, 0);"),
        ("here", "int n = 1, o = 0; write(fd, &n, 4); lseek(fd, 0, 0); write(fd, &o, 4);"),
    ] {
        let file = format!("{name}.c");
        let globals = "static int fd; static _Atomic int *map;";
        let begins = "fd = memfd_create(\"m\", 0); if (ftruncate(fd, 4096)) return 2; map = mmap(0, 4096, 3, MAP_SHARED, fd, 0);";
        desk.file(&file, in_either_order(globals, begins, change, "if (*map == 1) abort();", ""));
        nobody_claims(&desk, &file);
    }
    desk.file(
        "numbers.cpp",
        "#include <cassert>
#include <ios>
#include <thread>
static int a;
int main() {
    int first = std::ios_base::xalloc();
    std::thread t([] { a = std::ios_base::xalloc(); }), u([] { std::ios_base::xalloc(); });
    t.join(); u.join();
    assert(a == first + 1);
}
",
    );
    nobody_claims(&desk, "numbers.cpp");
}
