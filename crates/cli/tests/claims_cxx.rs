//! What threads do to each other inside the C++ library, of which it was once said that nothing is left to try although some interleaving
//! fails.

mod support;

use support::Desk;
use support::claims::run;

/// What is asked here: who works from traces, and who merges states. Each runs few executions of these programs.
const ASKED: [&[&str]; 2] = [&["hunt", "--strategy", "states"], &["verify"]];

/// Some interleaving of the program fails, and it is found.
fn is_found(desk: &Desk, file: &str, asked: &[&[&str]]) {
    for command in asked {
        let report = match command {
            ["verify"] => desk.run(&["verify", file, "--json", "-", "--quiet", "--jobs", "1"]).json(),
            _ => run(desk, &[command, &[file][..]].concat()),
        };
        assert_eq!(report["verdict"], "failure", "{file}, {command:?}: {report:#}");
    }
}

/// Programs whose verdict depends on who initialises a local variable, and what the others find.
#[test]
fn the_first_to_come_initialises_a_local_variable() {
    let desk = Desk::new();
    for (name, rest) in [
        (
            "who",
            "static int get(int who) { static int first = who; return first; }
int main() { std::thread a([] { get(1); }), b([] { get(2); }); a.join(); b.join(); assert(get(3) == 1); }",
        ),
        (
            "singleton",
            "struct Log { std::mutex m; int id; explicit Log(int id) : id(id) {} void write() { std::lock_guard hold(m); } };
static Log &log(int id) { static Log log(id); return log; }
int main() { std::thread a([] { log(1).write(); }), b([] { log(2).write(); }); a.join(); b.join(); assert(log(0).id == 1); }",
        ),
        (
            "thrown",
            "static int tries, result;
static int init() { if (tries++ == 0) throw 1; return 7; }
static int get() { static int value = init(); return value; }
int main() {
    std::thread a([] { try { get(); } catch (int) { result = -1; } }), b([] { try { get(); } catch (int) {} });
    a.join(); b.join(); assert(result == -1);
}",
        ),
        (
            "cycle",
            "static std::mutex m;
static int init() { std::lock_guard hold(m); return 1; }
static int get() { static int value = init(); return value; }
int main() { std::thread a([] { get(); }), b([] { std::lock_guard hold(m); get(); }); a.join(); b.join(); }",
        ),
    ] {
        let file = format!("{name}.cpp");
        desk.file(&file, format!("#include <cassert>\n#include <mutex>\n#include <thread>\n{rest}\n"));
        is_found(&desk, &file, &ASKED);
    }
}

#[test]
fn a_local_variable_is_initialised_once() {
    let desk = Desk::new();
    desk.file(
        "once.cpp",
        "#include <cassert>
#include <thread>
static int made;
static int init() { return ++made; }
static int get() { static int value = init(); return value; }
int main() {
    int one = 0, other = 0;
    std::thread a([&] { one = get(); }), b([&] { other = get(); });
    a.join(); b.join();
    assert(one == 1 && other == 1 && made == 1);
}
",
    );
    for command in ASKED {
        let report =
            desk.run(&[command, &["once.cpp", "--json", "-", "--quiet", "--jobs", "1"]].concat()).json();
        assert_eq!(report["verdict"], "exhausted", "{command:?}: {report:#}");
    }
}

/// The last one that lets go of an exception has it destroyed.
#[test]
fn who_destroys_an_exception_is_a_matter_of_order() {
    const HEAD: &str = "#include <atomic>
#include <cassert>
#include <exception>
#include <future>
#include <thread>
static thread_local int me;
static std::atomic<int> last;
struct Error { Error() {} Error(const Error &) {} ~Error() { last = me; } };
";
    let desk = Desk::new();
    for (name, rest) in [
        (
            "released",
            "int main() {
    std::exception_ptr mine = std::make_exception_ptr(Error());
    std::thread a([given = mine]() mutable { me = 1; given = nullptr; });
    mine = nullptr; a.join(); assert(last == 0);
}",
        ),
        (
            "rethrown",
            "static void rethrow(std::exception_ptr given) { me = 1; try { std::rethrow_exception(std::move(given)); } catch (Error &) {} }
int main() {
    std::exception_ptr mine;
    try { throw Error(); } catch (...) { mine = std::current_exception(); }
    std::thread a(rethrow, mine);
    mine = nullptr; a.join(); assert(last == 0);
}",
        ),
        (
            "promised",
            "static void fail(std::promise<void> given) { me = 1; try { throw Error(); } catch (...) { given.set_exception(std::current_exception()); } }
int main() {
    std::promise<void> promise;
    std::future<void> future = promise.get_future();
    std::thread a(fail, std::move(promise));
    try { future.get(); } catch (Error &) {}
    future = std::future<void>(); a.join(); assert(last == 0);
}",
        ),
    ] {
        let file = format!("{name}.cpp");
        desk.file(&file, format!("{HEAD}{rest}\n"));
        is_found(&desk, &file, &[ASKED[0], ASKED[1], &["hunt", "--strategy", "dfs"]]);
    }
}
