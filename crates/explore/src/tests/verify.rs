//! Verification against running every interleaving, on generated programs.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use threadbare_models::Checks;
use threadbare_sched::Rng;
use threadbare_target::{Execution, Program, resolve};
use threadbare_trace::FailureKind;
use threadbare_wire::flags;

use crate::campaign::Phase;
use crate::campaign::observer::{Observed, Observer, Unexamined};
use crate::check::Check;
use crate::drive::{examine, servers};
use crate::error::ExploreError;
use crate::history::History;
use crate::options::Options;
use crate::strategies::by_name;
use crate::strategy::{Plan, Strategy};
use crate::verify::{Verification, races, verify};

/// How many programs are generated.
pub(super) const PROGRAMS: u64 = 24;

/// What programs use besides variables, locks, branches and loops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Extra {
    Nothing,
    /// Heap blocks that are allocated, handed over and freed.
    Heap,
    /// A routine that runs once, and locks that are destroyed in the end.
    Once,
}

/// Writes programs with two threads, or three that do less, as one source file.
struct Writer {
    text: String,
    random: Rng,
    extra: Extra,
    /// How many more operations the thread may make.
    room: u32,
}

impl Writer {
    fn any<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.random.below(words.len() as u64) as usize]
    }

    fn statement(&mut self, depth: u32) {
        if self.room == 0 {
            return;
        }
        self.room -= 1;
        if self.extra != Extra::Nothing && self.random.below(3) == 0 {
            return self.extra_statement();
        }
        let v = self.any(&["x", "y", "z"]);
        let c = self.any(&["0", "1", "2"]);
        match self.random.below(if depth > 1 { 5 } else { 12 }) {
            0 => writeln!(self.text, "    {v} = {c};").unwrap(),
            1 => {
                self.room = self.room.saturating_sub(1);
                writeln!(self.text, "    {v} = {v} + {c};").unwrap();
            }
            2 => writeln!(self.text, "    l = {v};").unwrap(),
            3 => writeln!(self.text, "    {v} = l;").unwrap(),
            4 => {
                self.room = self.room.saturating_sub(1);
                writeln!(self.text, "    table[{v} & 1] = {c};").unwrap();
            }
            5..=7 => self.block(&format!("if ({v} == {c})"), "", depth),
            8 => self.block("if (l)", "", depth),
            9 => {
                self.room = self.room.saturating_sub(1);
                let outer = self.any(&["a", "b"]);
                self.block(&format!("lock({outer});"), &format!("unlock({outer});"), depth);
            }
            10 => {
                let (outer, inner) = *[("a", "b"), ("b", "a")].get(self.random.below(2) as usize).unwrap();
                let begin = format!("lock({outer}); lock({inner});");
                self.block(&begin, &format!("unlock({inner}); unlock({outer});"), depth);
            }
            _ => self.block(&format!("for (int i = 0; i < 2; i++) if ({v})"), "", depth),
        }
    }

    fn extra_statement(&mut self) {
        let v = self.any(&["x", "y", "z"]);
        let c = self.any(&["1", "2"]);
        let statement = match (self.extra, self.random.below(5)) {
            (Extra::Once, _) => "pthread_once(&once, first);".to_string(),
            (_, 0) => format!("if (!h) h = make({c});"),
            (_, 1) => format!("if (h) {v} = *h;"),
            (_, 2) => format!("{{ int *q = h; if (q) *q = {c}; }}"),
            (_, 3) => "lock(a); if (h) { free(h); h = 0; } unlock(a);".to_string(),
            _ => "{ int *q = h; h = 0; free(q); }".to_string(),
        };
        self.room = self.room.saturating_sub(1);
        writeln!(self.text, "    {statement}").unwrap();
    }

    fn block(&mut self, begin: &str, end: &str, depth: u32) {
        writeln!(self.text, "    {begin} {{").unwrap();
        self.statement(depth + 1);
        self.statement(depth + 1);
        writeln!(self.text, "    }} {end}").unwrap();
    }

    fn program(&mut self, number: u64) {
        let threads = 2 + self.random.below(2);
        for thread in 0..threads {
            self.room = if threads == 2 { 6 } else { 3 };
            writeln!(self.text, "static void *p{number}_{thread}(void *unused) {{\n    int l = 0;").unwrap();
            while self.room > 0 {
                self.statement(0);
            }
            writeln!(self.text, "    return (void *)(long)(l != l);\n}}").unwrap();
        }
        writeln!(self.text, "static void p{number}(void) {{").unwrap();
        if self.extra == Extra::Heap {
            writeln!(self.text, "    h = make(1);").unwrap();
        }
        for thread in 0..threads {
            writeln!(self.text, "    begin({thread}, p{number}_{thread});").unwrap();
        }
        let (first, second) = (self.any(&["0", "1", "2"]), self.any(&["0", "1", "2", "3"]));
        let last = if self.extra == Extra::Once { "    destroy();\n" } else { "" };
        writeln!(self.text, "    end({threads});\n{last}    assert(!(x == {first} && y == {second}));\n}}")
            .unwrap();
    }
}

const HEAD: &str = "\
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int x, y, z, table[2];
static pthread_t threads[3];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int *h;
static int *make(int n) { int *p = malloc(sizeof *p); *p = n; return p; }
static void first(void) { z = z + 1; if (x == 1) y = 2; }
#define lock(m) pthread_mutex_lock(&m)
#define unlock(m) pthread_mutex_unlock(&m)
static void begin(int n, void *(*routine)(void *)) { pthread_create(&threads[n], 0, routine, 0); }
static void end(int n) { for (int i = 0; i < n; i++) pthread_join(threads[i], 0); }
static void destroy(void) { pthread_mutex_destroy(&a); pthread_mutex_destroy(&b); }
";

pub(super) fn source(seed: u64, extra: Extra) -> String {
    let mut writer = Writer { text: HEAD.to_string(), random: Rng::new(seed), extra, room: 0 };
    (0..PROGRAMS).for_each(|number| writer.program(number));
    let mut text = writer.text;
    text.push_str("int main(int argc, char **argv) {\n    switch (atoi(argv[1])) {\n");
    for number in 0..PROGRAMS {
        writeln!(text, "    case {number}: p{number}(); break;").unwrap();
    }
    text + "    }\n    return 0;\n}\n"
}

/// Everything that can go wrong, by running all interleavings; none if there are too many.
fn everything(program: &Program) -> Option<BTreeSet<String>> {
    const MOST: u64 = 3_000;
    let options = Options { strategy: "dfs".to_string(), executions: MOST, ..Options::default() };
    let stop = Arc::default();
    let mut strategy = WithThreadStates(by_name(&options).unwrap());
    let mut wrong = Wrong::default();
    let phase = Phase { executions: MOST, largest_batch: 1, examiner: Arc::new(Unexamined) };
    let launch = servers(program, &options, &stop);
    let all =
        examine(&launch, &options, &|_| {}, &stop, |drive| drive.follow(&mut strategy, &phase, &mut wrong));
    wrong.all.extend(failures(&all.unwrap().0));
    strategy.exhausted().then_some(wrong.all)
}

/// The heap has to be the one that `verify` has.
struct WithThreadStates(Box<dyn Strategy>);

impl Strategy for WithThreadStates {
    fn plan(&mut self, first: u64, count: usize, history: &History) -> Vec<Plan> {
        let with = |plan: Plan| Plan {
            trace: true,
            flags: plan.flags | flags::THREAD_STATES | flags::THREAD_HEAPS,
            ..plan
        };
        self.0.plan(first, count, history).into_iter().map(with).collect()
    }

    fn learn(
        &mut self,
        runs: &[(&Plan, &Execution)],
        sharing_grew: bool,
        is_over: &dyn Fn() -> bool,
    ) -> Result<(), ExploreError> {
        self.0.learn(runs, sharing_grew, is_over)
    }

    fn exhausted(&self) -> bool {
        self.0.exhausted()
    }
}

/// The races that happened.
#[derive(Default)]
struct Wrong {
    checks: Checks,
    all: BTreeSet<String>,
}

impl Observer for Wrong {
    fn observe(&mut self, seen: &Observed<'_>) -> ControlFlow<()> {
        if !seen.sharing_grew {
            let found = races(seen.run);
            let cleared = !self.checks.need_a_look(&seen.run.events);
            assert!(!cleared || found.is_empty(), "cleared of races, and has one: {found:?}");
            self.all.extend(found.iter().map(|race| format!("{:?}", race.key())));
        }
        ControlFlow::Continue(())
    }
}

fn failures(check: &Check) -> impl Iterator<Item = String> + '_ {
    check.failures.iter().filter_map(|met| met.run.outcome.failure()).map(|failure| {
        let place = failure.stack.first().copied().unwrap_or(0);
        // A bad access shows where it is announced or where it is made, whichever comes first.
        let is_placed = failure.waiting().is_empty() && failure.kind != FailureKind::Segfault;
        format!("{:?} {:x}", failure.kind, if is_placed { place } else { 0 })
    })
}

fn agree(seed: u64, level: &str, extra: Extra) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("generated.c");
    let text = source(seed, extra);
    std::fs::write(&file, &text).unwrap();
    let built = resolve(&file, &[level.to_string()], folder.path()).unwrap();
    let (mut compared, mut claimed, mut cases, mut wrong) = (0, 0u32, 0, 0);
    let (mut gone, mut unclaimable) = (0, 0);
    for number in 0..PROGRAMS {
        let program = Program { args: vec![number.to_string()], ..built.clone() };
        let Some(all) = everything(&program) else { continue };
        let options = Options { time: Some(Duration::from_secs(60)), ..Options::default() };
        let result = verify(&program, &options, &|_| {}, &Arc::default()).unwrap();
        let races = result.check.findings.iter().map(|found| format!("{:?}", found.finding.key()));
        let found: BTreeSet<String> = races.chain(failures(&result.check)).collect();
        let which = format!("program {number} of seed {seed}, {level}:\n{}", listing(&text, number));
        // Random executions have a heap that hands out addresses again, and may show more.
        let found = match result.sampled {
            0 => found,
            _ => found.intersection(&all).cloned().collect(),
        };
        assert_eq!(found, all, "{which}: {:?}", result.check.warnings);
        let again = Options { checkpoint_gap: Some(2), ..options };
        let again = verify(&program, &again, &|_| {}, &Arc::default()).unwrap();
        assert_eq!(account(&again), account(&result), "{which}: checkpoints make a difference");
        let uses_what_is_gone = all.iter().any(|wrong| wrong.starts_with("UseAfterFree"));
        gone += u32::from(uses_what_is_gone);
        unclaimable += u32::from(uses_what_is_gone && !result.exhausted);
        if !result.exhausted {
            println!("{which}: {:?}, {} left", result.check.warnings, result.left);
        }
        compared += 1;
        claimed += u32::from(result.exhausted);
        cases += result.test_cases;
        wrong += all.len();
    }
    println!(
        "{level}, {extra:?}: {compared} programs, {claimed} exhausted, {gone} use what is gone, {cases} test cases, {wrong} things wrong"
    );
    assert!(
        compared >= PROGRAMS as usize / 2 && 2 * wrong >= compared,
        "{compared} programs, {wrong} things wrong"
    );
    // What follows a use after free cannot be examined.
    let claimable = compared - unclaimable as usize;
    assert_eq!(claimed as usize, claimable, "nothing in these programs is beyond what can be claimed");
    assert!(extra != Extra::Heap || gone > 0, "no block is used after it is gone");
}

/// One program of a source file.
fn listing(text: &str, number: u64) -> &str {
    let begin = text.find(&format!("static void *p{number}_0")).unwrap_or(0);
    let end = text.find(&format!("static void *p{}_0", number + 1)).unwrap_or(text.len());
    &text[begin..end]
}

/// What must not depend on checkpoints.
fn account(result: &Verification) -> impl PartialEq + std::fmt::Debug {
    let races = result.check.findings.iter().map(|found| format!("{:?}", found.finding.key()));
    let found: Vec<String> = races.chain(failures(&result.check)).collect();
    (found, result.test_cases, result.groups, result.exhausted, result.check.executions, result.check.steps)
}

/// Another seed can be tried by hand.
fn seed(usual: u64) -> u64 {
    std::env::var("THREADBARE_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(usual)
}

#[test]
fn verify_finds_what_running_all_interleavings_finds_and_nothing_else() {
    agree(seed(1), "-O0", Extra::Nothing);
}

#[test]
fn so_it_does_in_optimized_programs() {
    agree(seed(2), "-O1", Extra::Nothing);
}

#[test]
fn so_it_does_where_threads_share_heap_blocks() {
    agree(seed(4), "-O0", Extra::Heap);
}

#[test]
fn so_it_does_where_a_routine_runs_once() {
    agree(seed(5), "-O0", Extra::Once);
}
