//! Small programs with threads, drawn by a seed.
//!
//! A program has two or three threads that make a few operations each, and one *check* of what came out: three values, of two bits each. The
//! same program is written in two ways. One reports the values as its exit status, so that all outcomes can be counted. The other
//! fails if they are certain values, so that somebody has to find the interleaving.

use std::fmt::Write as _;

use threadbare_sched::Rng;

use super::features::{FEATURES, Feature, LOADS, PLAIN, STORES, UPDATES};

/// The exit status that reports the smallest outcome; below it are those that programs have for other reasons.
pub const FIRST_STATUS: u32 = 64;
/// How many outcomes can be told apart.
pub const OUTCOMES: u32 = 64;

/// One program in so many is C++, which takes ten times as long to compile.
const CXX: u64 = 48;

/// What a program does when it comes to its check.
#[derive(Clone, Copy)]
pub enum Check {
    /// Reports the outcome.
    Report,
    /// Fails if it is this one.
    Forbid(u32),
}

/// A program, except for its check.
pub struct Program {
    /// What it is drawn over.
    pub features: Vec<String>,
    /// Whether it is C++.
    pub is_cxx: bool,
    /// How the compiler is called.
    pub flags: Vec<String>,
    /// The source of a library that it uses, which is compiled without instrumentation; empty if there is none.
    pub library: String,
    text: String,
    values: [String; 3],
    /// How it fails.
    failing: &'static str,
    /// What that is called.
    pub failure: &'static str,
}

/// Where the check is to be.
const MARK: &str = "@CHECK@";

const HEAD: &str = "\
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
";

/// How the check fails, each as often as it is listed, and what that is called: `IT` stands for the condition.
const FAILING: &[(&str, &str)] = &[
    ("assert(!(IT));", CHECK_FAILS),
    ("assert(!(IT));", CHECK_FAILS),
    ("assert(!(IT));", CHECK_FAILS),
    ("if (IT) abort();", "abort"),
    ("if (IT) _exit(1);", "exit"),
    ("if (IT) *(volatile int *)0 = 1;", "segfault"),
];

/// What a failed assertion is called that is the check.
pub const CHECK_FAILS: &str = "failed check";

impl Program {
    /// The program with this number; over these features only, if there are any.
    pub fn draw(seed: u64, number: u64, over: &[String]) -> Program {
        Draft::new(Rng::new(Rng::derive(seed, number)), over).program()
    }

    /// The ending of its file's name.
    pub fn extension(&self) -> &'static str {
        if self.is_cxx { "cc" } else { "c" }
    }

    /// Its source.
    pub fn source(&self, check: Check) -> String {
        let [p, q, r] = &self.values;
        let outcome = format!("((({p}) & 3) | (({q}) & 3) << 2 | (({r}) & 3) << 4)");
        let check = match check {
            Check::Report => format!("_exit({FIRST_STATUS} + {outcome});"),
            // Together, or one value after the other with branches in between.
            Check::Forbid(value) if value % 2 == 0 => {
                self.failing.replace("IT", &format!("{outcome} == {value}"))
            }
            Check::Forbid(value) => {
                let [a, b, c] = [value & 3, value >> 2 & 3, value >> 4];
                let each = format!("(({p}) & 3) == {a} && (({q}) & 3) == {b} && (({r}) & 3) == {c}");
                self.failing.replace("IT", &each)
            }
        };
        // Nothing that the compiler remembers, or else the two ways could come to different values.
        self.text.replace(MARK, &format!("__asm__ volatile(\"\" : : : \"memory\"); {check}"))
    }
}

/// Where the check is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Main,
    LastThread,
    Exit,
    QuickExit,
}

/// How threads come and go.
struct Course {
    threads: usize,
    /// By the functions of C11.
    c11: bool,
    /// The first thread starts the last one.
    nested: bool,
    /// Nobody joins the last thread.
    left: bool,
    detached: bool,
    /// How main ends.
    main_end: &'static str,
    /// How the last thread ends the whole program, if it does.
    thread_end: Option<&'static str>,
    check: Place,
}

/// A program that is being written.
struct Draft {
    random: Rng,
    features: Vec<Feature>,
    course: Course,
    names: Vec<String>,
}

impl Draft {
    fn new(mut random: Rng, over: &[String]) -> Draft {
        let is_asked = |it: &&Feature| over.is_empty() || over.iter().any(|name| name == it.name);
        let asked: Vec<Feature> = FEATURES.iter().filter(is_asked).copied().collect();
        let has = |is_cxx: bool| asked.iter().any(|it| it.is_cxx == is_cxx);
        let is_cxx = has(true) && (!has(false) || random.below(CXX) == 0);
        let fitting: Vec<Feature> = asked.iter().filter(|it| it.is_cxx == is_cxx).copied().collect();
        let mut features = vec![fitting[random.below(fitting.len() as u64) as usize]];
        let course = Course::draw(&mut random, is_cxx);
        // Three threads have many interleavings, and are to make few operations.
        if course.threads == 2 && random.below(3) == 0 {
            let second = fitting[random.below(fitting.len() as u64) as usize];
            // Two of a family would declare the same names.
            let clash = |one: &Feature| {
                one.declarations.lines().any(|line| declares_again(line, second.declarations))
            };
            if !features.iter().any(|one| one.name == second.name || clash(one)) {
                features.push(second);
            }
        }
        let mut names: Vec<String> = features.iter().map(|it| it.name.to_string()).collect();
        names.extend(course.names());
        Draft { random, features, course, names }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound as u64) as usize
    }

    fn any<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    /// A statement with everything filled in.
    fn fill(&mut self, template: &str, thread: usize, depth: u32) -> String {
        let (v, w) = if self.below(2) == 0 { ("x", "y") } else { ("y", "x") };
        let (k, n) = (1 + self.below(3), 1 + self.below(3));
        let mut text = String::new();
        let mut characters = template.chars();
        while let Some(character) = characters.next() {
            if character != '$' {
                text.push(character);
                continue;
            }
            match characters.next() {
                Some('v') => text.push_str(v),
                Some('w') => text.push_str(w),
                Some('k') => write!(text, "{k}").unwrap_or_default(),
                Some('n') => write!(text, "{n}").unwrap_or_default(),
                Some('z') => write!(text, "{}", self.below(2)).unwrap_or_default(),
                Some('i') => write!(text, "{}", self.below(4)).unwrap_or_default(),
                Some('L') => text.push_str(self.any(LOADS)),
                Some('O') => text.push_str(self.any(STORES)),
                Some('M') => text.push_str(self.any(UPDATES)),
                Some('T') => write!(text, "{}", self.course.threads).unwrap_or_default(),
                Some('S') => text.push_str(&self.nested(thread, depth)),
                Some(other) => text.push(other),
                None => {}
            }
        }
        text
    }

    /// A statement inside another one.
    fn nested(&mut self, thread: usize, depth: u32) -> String {
        if depth == 0 && self.features.len() > 1 && self.below(4) == 0 {
            return self.of_feature(1, thread, depth + 1);
        }
        self.plain(thread, depth + 1)
    }

    fn plain(&mut self, thread: usize, depth: u32) -> String {
        let fitting: Vec<&str> =
            PLAIN.iter().filter(|it| depth == 0 || !it.contains("$S")).copied().collect();
        let template = self.any(&fitting);
        self.fill(template, thread, depth)
    }

    fn of_feature(&mut self, place: usize, thread: usize, depth: u32) -> String {
        let roles = self.features[place].roles;
        let template = self.any(roles[thread % roles.len()]);
        self.fill(template, thread, depth)
    }

    /// What a thread does: something with each feature, and a few plain accesses around it.
    fn statements(&mut self, thread: usize, most_plain: usize) -> Vec<String> {
        let mut all: Vec<String> =
            (0..self.features.len()).map(|place| self.of_feature(place, thread, 0)).collect();
        for _ in 0..self.below(most_plain + 1) {
            let statement = self.plain(thread, 0);
            let place = self.below(all.len() + 1);
            all.insert(place, statement);
        }
        all
    }

    fn program(mut self) -> Program {
        let is_cxx = self.features[0].is_cxx;
        let flags = self.flags(is_cxx);
        let mut body = String::new();
        for thread in (0..self.course.threads).rev() {
            self.thread(thread, &mut body);
        }
        let uses_first = body.contains("h0");
        let values = self.main(uses_first, &mut body);
        let (failing, failure) = FAILING[self.below(FAILING.len())];
        let values = values.map(|value| value.to_string());
        let text = self.declarations(&body) + &body;
        let library = self.features.iter().map(|it| it.library).collect();
        Program { features: self.names, is_cxx, flags, library, text, values, failing, failure }
    }

    fn flags(&mut self, is_cxx: bool) -> Vec<String> {
        let level = self.any(&["-O1", "-O1", "-O1", "-O0", "-O2"]);
        self.names.push(level.to_string());
        let mut flags = vec![level.to_string(), "-w".to_string()];
        if is_cxx {
            flags.push("-std=c++20".to_string());
        }
        flags
    }

    fn declarations(&mut self, body: &str) -> String {
        let mut text = HEAD.to_string();
        let all: Vec<&str> = self.features.iter().map(|it| it.declarations).collect();
        let (includes, others): (Vec<&str>, Vec<&str>) =
            all.iter().flat_map(|it| it.lines()).partition(|line| line.starts_with('#'));
        if self.course.c11 {
            text.push_str("#include <threads.h>\n");
        }
        for line in includes {
            writeln!(text, "{line}").unwrap_or_default();
        }
        text.push_str("static int x, y;\n");
        for line in others {
            let line = self.fill(line, 0, 0);
            writeln!(text, "{line}").unwrap_or_default();
        }
        let handle = if self.course.c11 { "thrd_t" } else { "pthread_t" };
        let handles: Vec<String> = (0..self.course.threads).map(|thread| format!("h{thread}")).collect();
        writeln!(text, "static {handle} {};", handles.join(", ")).unwrap_or_default();
        if body.contains("joined(") {
            text.push_str(match self.course.c11 {
                true => "static long joined(thrd_t thread) { int result; thrd_join(thread, &result); return result; }\n",
                false => "static long joined(pthread_t thread) { void *result; pthread_join(thread, &result); return (long)result; }\n",
            });
        }
        text
    }

    fn create(&self, thread: usize) -> String {
        match self.course.c11 {
            true => format!("thrd_create(&h{thread}, t{thread}, 0);"),
            false => format!("pthread_create(&h{thread}, 0, t{thread}, 0);"),
        }
    }

    fn detach(&self, handle: &str) -> String {
        format!("{}({handle});", if self.course.c11 { "thrd_detach" } else { "pthread_detach" })
    }

    fn thread(&mut self, thread: usize, text: &mut String) {
        let last = self.course.threads - 1;
        let result = if self.course.c11 { "int " } else { "void *" };
        writeln!(text, "static {result}t{thread}(void *unused) {{\n    long l = 0;").unwrap_or_default();
        let most_plain = if self.course.threads == 2 && self.features.len() == 1 { 2 } else { 0 };
        let mut statements = self.statements(thread, most_plain);
        if self.course.nested && thread == 0 {
            statements.insert(0, self.create(last));
            if !self.course.left {
                statements.push(format!("l += joined(h{last});"));
            }
        }
        if thread == last && self.course.detached && self.below(2) == 0 {
            let own = if self.course.c11 { "thrd_current()" } else { "pthread_self()" };
            statements.insert(0, self.detach(own));
            self.course.detached = false;
        }
        if thread == last && self.course.check == Place::LastThread {
            statements.push(MARK.to_string());
        }
        if let (true, Some(end)) = (thread == last, self.course.thread_end) {
            statements.push(end.to_string());
        }
        for statement in statements {
            writeln!(text, "    {statement}").unwrap_or_default();
        }
        let end = match (self.course.c11, self.below(8)) {
            (true, 0) => "thrd_exit((int)l);",
            (true, _) => "return (int)l;",
            (false, 0) => "pthread_exit((void *)l);",
            (false, _) => "return (void *)l;",
        };
        writeln!(text, "    {end}\n}}").unwrap_or_default();
    }

    /// Writes the main function, and says which values the check is about.
    fn main(&mut self, uses_first: bool, text: &mut String) -> [&'static str; 3] {
        const RESULTS: [&str; 3] = ["r0", "r1", "r2"];
        let last = self.course.threads - 1;
        let mut main = Vec::new();
        let own = if self.course.threads == 2 && self.below(4) == 0 {
            self.statements_of_main()
        } else {
            Vec::new()
        };
        if !own.is_empty() {
            main.push("long l = 0;".to_string());
        }
        for place in 0..self.features.len() {
            let setup = self.features[place].setup;
            if !setup.is_empty() {
                main.push(self.fill(setup, 0, 0));
            }
        }
        match self.course.check {
            Place::Exit => main.push("atexit(check);".to_string()),
            Place::QuickExit => main.push("at_quick_exit(check);".to_string()),
            Place::Main | Place::LastThread => {}
        }
        let by_main = self.course.threads - usize::from(self.course.nested);
        (0..by_main).for_each(|thread| main.push(self.create(thread)));
        if self.course.detached && !self.course.nested {
            main.push(self.detach(&format!("h{last}")));
        }
        let has_own = !own.is_empty();
        main.extend(own);
        let mut joined: Vec<usize> =
            (0..by_main).filter(|thread| !(self.course.left && *thread == last)).collect();
        // A thread that others send something to has to be there until they have ended.
        if uses_first || self.below(2) == 0 {
            joined.reverse();
        }
        for thread in &joined {
            main.push(format!("long r{thread} = joined(h{thread});"));
        }
        if self.course.check == Place::Main {
            main.push(MARK.to_string());
        }
        main.push(self.course.main_end.to_string());
        let mut values: Vec<&'static str> = vec!["x", "y"];
        values.extend(self.features.iter().flat_map(|it| it.shows).copied());
        match self.course.check {
            Place::Main => {
                values.extend(joined.iter().map(|thread| RESULTS[*thread]));
                values.extend(has_own.then_some("l"));
            }
            Place::LastThread => values.push("l"),
            Place::Exit | Place::QuickExit => {
                writeln!(text, "static void check(void) {{\n    {MARK}\n}}").unwrap_or_default();
            }
        }
        self.random.shuffle(&mut values);
        values.resize(values.len().max(3), "0");
        writeln!(text, "int main(void) {{").unwrap_or_default();
        for statement in main {
            writeln!(text, "    {statement}").unwrap_or_default();
        }
        writeln!(text, "}}").unwrap_or_default();
        [values[0], values[1], values[2]]
    }

    /// Main takes part as one more thread, but does only plain things: waiting would often be for ever.
    fn statements_of_main(&mut self) -> Vec<String> {
        vec![self.plain(self.course.threads, 0)]
    }
}

/// Whether a line declares a name that the others declare as well.
fn declares_again(line: &str, others: &str) -> bool {
    !line.starts_with('#')
        && others.lines().any(|other| {
            !other.starts_with('#') && names(line).iter().any(|name| names(other).contains(name))
        })
}

/// The words of a declaration that can be names of its own.
fn names(line: &str) -> Vec<&str> {
    const COMMON: &[&str] = &[
        "static",
        "int",
        "void",
        "volatile",
        "unsigned",
        "char",
        "struct",
        "return",
        "const",
        "x",
        "y",
        "unused",
        "which",
        "if",
        "std",
        "pthread_mutex_t",
        "PTHREAD_MUTEX_INITIALIZER",
        "pthread_cond_t",
        "_Atomic",
        "sig_atomic_t",
        "noinline",
        "no_sanitize_thread",
        "__attribute__",
        "long",
        "short",
        "n",
        "result",
        "mtx_t",
        "sem_t",
        "sigset_t",
    ];
    let is_word = |word: &&str| {
        !word.is_empty() && !word.starts_with(|first: char| first.is_ascii_digit()) && !COMMON.contains(word)
    };
    line.split(|character: char| !character.is_ascii_alphanumeric() && character != '_')
        .filter(is_word)
        .collect()
}

impl Course {
    fn draw(random: &mut Rng, is_cxx: bool) -> Course {
        let mut below = |bound: u64| random.below(bound);
        let mut course = Course {
            threads: if below(6) == 0 { 3 } else { 2 },
            c11: !is_cxx && below(10) == 0,
            nested: below(8) == 0,
            left: false,
            detached: false,
            main_end: "return 0;",
            thread_end: None,
            check: Place::Main,
        };
        if below(5) < 3 {
            return course;
        }
        // One thread is still running when main has come to its end.
        course.left = true;
        course.detached = below(3) == 0;
        let leave = if course.c11 { "thrd_exit(0);" } else { "pthread_exit(0);" };
        let ends = ["return 0;", "exit(0);", "_exit(0);", "quick_exit(0);", leave];
        course.main_end = ends[below(5) as usize];
        if below(4) == 0 {
            course.thread_end = Some(["exit(0);", "_exit(0);", "quick_exit(0);"][below(3) as usize]);
        }
        let ends = [Some(course.main_end), course.thread_end];
        let by = |way: &str| ends.contains(&Some(way));
        let mut places = vec![Place::LastThread, Place::Main];
        if by("return 0;") || by("exit(0);") {
            places.extend([Place::Exit; 2]);
        }
        if by("quick_exit(0);") {
            places.extend([Place::QuickExit; 2]);
        }
        course.check = places[below(places.len() as u64) as usize];
        course
    }

    /// What there is to say about it in tables.
    fn names(&self) -> Vec<String> {
        let mut names = vec![format!("{} threads", self.threads)];
        let mut add = |is_so: bool, name: &str| names.extend(is_so.then(|| name.to_string()));
        add(self.c11, "C11 threads");
        add(self.nested, "thread started by a thread");
        add(!self.left, "all threads joined");
        add(self.left && !self.detached, "thread not joined");
        add(self.detached, "thread detached");
        add(self.left, &format!("main ends by {}", self.main_end.trim_end_matches(';')));
        add(
            self.thread_end.is_some(),
            &format!("thread ends by {}", self.thread_end.unwrap_or_default().trim_end_matches(';')),
        );
        add(matches!(self.check, Place::Exit | Place::QuickExit), "check in a handler of exit");
        names
    }
}
