//! Ordinary small programs, which use the C and C++ libraries as most do: of them `verify` can claim that nothing is left.

mod support;

use support::Desk;

fn is_claimed(desk: &Desk, file: &str, flags: &str) {
    let common = ["--json", "-", "--quiet", "--jobs", "1", "--executions", "3000"];
    let report = desk.run(&[&["verify", file, flags], &common[..]].concat()).json();
    assert_eq!(report["verdict"], "exhausted", "{file}: {report:#}");
}

#[test]
fn nothing_is_left_of_ordinary_cxx_programs() {
    let desk = Desk::new();
    for (name, includes, declarations, body) in [
        (
            "once",
            "mutex",
            "std::once_flag o; int n;",
            "auto f = [] { std::call_once(o, [] { n++; }); }; std::thread s(f), t(f); s.join(); t.join(); return n - 1;",
        ),
        (
            "shared_pointers",
            "memory",
            "std::shared_ptr<int> p = std::make_shared<int>(1);",
            "std::thread s([] { std::atomic_store(&p, std::make_shared<int>(2)); });
             auto q = std::atomic_load(&p); s.join(); return *q == 0;",
        ),
        (
            "of_threads",
            "mutex",
            "struct A { int n; ~A() { n = 0; } }; thread_local A a{1}; std::mutex m; int sum;",
            "auto f = [] { a.n++; std::lock_guard<std::mutex> g(m); sum += a.n; };
             std::thread s(f), t(f); s.join(); t.join(); return sum - 4;",
        ),
        (
            "casts",
            "memory functional",
            "struct B { virtual ~B() {} virtual int f() { return 1; } }; struct D : B { int f() override { return 2; } }; int n;",
            "std::unique_ptr<B> p(new D); std::function<int()> g = [&] { return p->f(); };
             std::thread s([&] { n = g(); }); s.join(); return !dynamic_cast<D *>(p.get()) || n != 2;",
        ),
        (
            "any_lock",
            "mutex shared_mutex condition_variable",
            "std::shared_mutex m; std::condition_variable_any c; bool ready;",
            "std::thread s([] { std::shared_lock<std::shared_mutex> g(m); c.wait(g, [] { return ready; }); });
             { std::lock_guard<std::shared_mutex> g(m); ready = true; } c.notify_all(); s.join();",
        ),
        (
            "text",
            "mutex string iostream",
            "std::mutex m; std::string text;",
            "auto f = [](const char *w) { std::lock_guard<std::mutex> g(m); text += w; };
             std::thread s(f, \"one two three four five six\"), t(f, \"b\"); s.join(); t.join();
             std::cout << text.size() << std::endl; return text.size() != 28 || std::stoi(\"12\") != 12;",
        ),
    ] {
        let file = format!("{name}.cc");
        let includes: String = includes.split(' ').map(|it| format!("#include <{it}>\n")).collect();
        desk.file(&file, format!("#include <thread>\n{includes}{declarations}\nint main() {{\n{body}\n}}\n"));
        is_claimed(&desk, &file, "--cflags=-std=c++20 -O1");
    }
}

#[test]
fn nothing_is_left_of_ordinary_c_programs() {
    let desk = Desk::new();
    for (name, includes, body) in [
        (
            "wide",
            "wchar.h",
            "wchar_t b[16]; char c[8]; wcscpy(b, L\"ab\"); int k = wcslen(b) + wcscmp(b, L\"ab\");
             mbstowcs(b, \"xy\", 16); wcstombs(c, b, 8); pthread_mutex_lock(&m); n += k; pthread_mutex_unlock(&m);",
        ),
        (
            "texts",
            "string.h",
            "char b[64]; strcpy(b, \"abc\"); char *d = strdup(b); int k = strcmp(b, d) + (strstr(b, \"c\") != 0); free(d);
             snprintf(b, 64, \"%d %s\", k, \"x\"); printf(\"%s\\n\", b); pthread_mutex_lock(&m); n += k; pthread_mutex_unlock(&m);",
        ),
    ] {
        let file = format!("{name}.c");
        desk.file(
            &file,
            format!(
                "#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <{includes}>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *w(void *u) {{ {body} return 0; }}
int main(void) {{
    pthread_t s, t;
    pthread_create(&s, 0, w, 0);
    pthread_create(&t, 0, w, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}}
"
            ),
        );
        is_claimed(&desk, &file, "--cflags=-O1");
    }
}
