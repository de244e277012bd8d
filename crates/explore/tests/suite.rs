//! Concurrent function pairs of real programs.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use threadbare_code::Code;
use threadbare_coverage::cfp::FunctionPair;
use threadbare_explore::suite::{
    Detected, Detection, Measured, Optimizations, RunLimits, Watch, detect, measure,
};
use threadbare_target::{Program, resolve};

struct Built {
    program: Program,
    _folder: tempfile::TempDir,
}

fn build(source: &str) -> Built {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("program.c");
    std::fs::write(&path, source).unwrap();
    Built { program: resolve(&path, &[], folder.path()).unwrap(), _folder: folder }
}

fn limits() -> RunLimits {
    RunLimits { stall: Duration::from_secs(2), ..RunLimits::default() }
}

fn watch(built: &Built, optimizations: Optimizations) -> Watch {
    Watch::new(Code::read(&built.program.executable).unwrap(), optimizations)
}

fn measured(built: &Built, watch: &Watch) -> Measured {
    measure(watch, &built.program, &limits(), &Arc::default()).unwrap()
}

/// The pairs by name, the alphabetically first name of each first.
fn names(watch: &Watch, measured: &Measured) -> BTreeSet<String> {
    let name = |start: u64| watch.code().function_from(start).unwrap().name.clone();
    let pair = |functions: [u64; 2]| {
        let mut both = functions.map(name);
        both.sort();
        both.join("+")
    };
    measured.pairs.iter().map(|it| pair(it.functions())).collect()
}

const PROGRAM: &str = r#"
    #include <pthread.h>
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static pthread_barrier_t meet;
    int shared, before, after, done;
    void inner(int by) { shared += by; }
    void apart(int by) { pthread_mutex_lock(&lock); for (int i = 0; i < 20; i++) inner(by); pthread_mutex_unlock(&lock); }
    void early(void) { before++; }
    void late(void) { after++; }
    int stack_only(int n) { int own = n; own += 3; return own; }
    int calls_stack_only(int n) { return stack_only(n); }
    void set_up(void) { done = 0; }
    void *worker(void *arg) {
        early();
        pthread_barrier_wait(&meet);
        apart(calls_stack_only(1));
        late();
        return arg;
    }
    void tear_down(void) { done = 1; }
    int main(void) {
        pthread_t one, two;
        pthread_barrier_init(&meet, 0, 2);
        set_up();
        pthread_create(&one, 0, worker, 0);
        pthread_create(&two, 0, worker, 0);
        pthread_join(one, 0);
        pthread_join(two, 0);
        tear_down();
        return 0;
    }
"#;

fn expected() -> BTreeSet<String> {
    let pairs = [
        "main+worker",
        "early+main",
        "apart+main",
        "late+main",
        "inner+main",
        "worker+worker",
        "early+worker",
        "apart+worker",
        "late+worker",
        "inner+worker",
        "early+early",
        "apart+apart",
        "apart+late",
        "inner+late",
        "late+late",
        "apart+inner",
    ];
    pairs
        .iter()
        .map(|pair| {
            let mut both: Vec<&str> = pair.split('+').collect();
            both.sort_unstable();
            both.join("+")
        })
        .collect()
}

#[test]
fn pairs_of_a_program_are_those_that_locks_joins_and_barriers_allow() {
    let built = build(PROGRAM);
    let plain = Optimizations { skip_stack_only: false, skip_inherited: false };
    let all = watch(&built, plain);
    let everything = names(&all, &measured(&built, &all));
    let with_stack: BTreeSet<String> =
        everything.iter().filter(|pair| !pair.contains("calls_stack_only")).cloned().collect();
    assert_eq!(with_stack, expected());
    assert!(everything.contains("calls_stack_only+calls_stack_only"), "{everything:?}");
}

#[test]
fn what_is_not_watched_is_known_all_the_same() {
    let part = "void part(int by) { shared += by; }
        void other_part(int by) { shared -= by; }
        void whole(int by) { for (int i = 0; i < by; i++) part(i); other_part(by); }
        void *worker(void *arg) { whole(3);";
    let built = build(&PROGRAM.replace("void *worker(void *arg) {", part));
    let all = watch(&built, Optimizations { skip_stack_only: true, skip_inherited: false });
    let few = watch(&built, Optimizations::default());
    let (full, cheap) = (measured(&built, &all), measured(&built, &few));
    assert!(few.inherited() > 0);
    assert!(cheap.kinds < full.kinds, "{} of {} kinds of calls", cheap.kinds, full.kinds);
    let missing: Vec<String> = names(&all, &full).difference(&names(&few, &cheap)).cloned().collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!(full.executed, cheap.executed);
}

#[test]
fn a_program_that_spins_on_memory_is_measured_with_its_accesses() {
    let built = build(
        r#"
        #include <pthread.h>
        volatile int ready;
        void tell(void) { ready = 1; }
        pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        void *worker(void *arg) {
            pthread_mutex_lock(&lock);
            pthread_mutex_unlock(&lock);
            tell();
            return arg;
        }
        void look(void) { while (!ready) {} }
        int main(void) {
            pthread_t one;
            pthread_create(&one, 0, worker, 0);
            look();
            pthread_join(one, 0);
            return 0;
        }
        "#,
    );
    let watch = watch(&built, Optimizations::default());
    let measured = measured(&built, &watch);
    assert!(measured.with_accesses);
    assert!(names(&watch, &measured).contains("look+tell"));
}

#[test]
fn a_program_without_threads_has_no_pairs() {
    let built = build("int main(void) { return 0; }");
    let watch = watch(&built, Optimizations::default());
    assert!(measured(&built, &watch).pairs.is_empty());
}

/// Two functions race on one variable; a third is called as often and shares memory only with itself.
const APART: &str = r#"
    #include <pthread.h>
    int total, other, busy[64];
    void add(void) { total++; }
    void look(void) { other = total; }
    void work(int at) { for (int i = 0; i < 200; i++) busy[(at + i) % 64]++; }
    void *adds(void *arg) { work(1); add(); work(2); return arg; }
    void *looks(void *arg) { work(3); look(); work(4); return arg; }
    int main(void) {
        pthread_t one, two;
        pthread_create(&one, 0, adds, 0);
        pthread_create(&two, 0, looks, 0);
        pthread_join(one, 0);
        pthread_join(two, 0);
        return 0;
    }
"#;

fn detected(built: &Built, watch: &Watch, pairs: Option<&[[&str; 2]]>, runs: u64) -> Detected {
    let start =
        |name: &str| watch.code().functions().iter().find(|function| function.name == name).unwrap().start;
    let pairs: Option<BTreeSet<FunctionPair>> = pairs
        .map(|pairs| pairs.iter().map(|[one, other]| FunctionPair::of(start(one), start(other))).collect());
    let detection = Detection { atomicity: false, runs, limits: limits(), ..Detection::default() };
    detect(watch, &built.program, pairs.as_ref(), &detection, &Arc::default()).unwrap()
}

fn identities(detected: &Detected) -> BTreeSet<&str> {
    detected.sightings.iter().map(|it| it.identity.as_str()).collect()
}

#[test]
fn races_of_selected_pairs_are_found_without_the_accesses_that_are_left_out() {
    let built = build(APART);
    let watch = watch(&built, Optimizations::default());
    let full = detected(&built, &watch, None, 4);
    let of_pair = detected(&built, &watch, Some(&[["add", "look"]]), 4);
    let all: BTreeSet<&str> = identities(&full);
    assert!(!of_pair.sightings.is_empty());
    assert!(identities(&of_pair).is_subset(&all) && of_pair.sightings.len() < full.sightings.len());
    assert!(of_pair.events * 10 < full.events, "{} of {} events", of_pair.events, full.events);
}

#[test]
fn accesses_that_are_concurrent_with_none_of_their_pair_are_left_out_after_the_first_execution() {
    let built = build(APART);
    let watch = watch(&built, Optimizations::default());
    // All three functions are examined, but `work` is concurrent with neither of the others.
    let pairs = [["add", "look"], ["add", "work"], ["look", "work"]];
    let once = detected(&built, &watch, Some(&pairs), 1);
    let often = detected(&built, &watch, Some(&pairs), 5);
    assert_eq!(identities(&once), identities(&often));
    assert!(often.events < 2 * once.events, "{} events, then {}", once.events, often.events);
}

#[test]
fn an_input_in_which_no_pair_is_concurrent_is_examined_once() {
    let built = build(APART);
    let watch = watch(&built, Optimizations::default());
    let apart = detected(&built, &watch, Some(&[["add", "work"]]), 10);
    let meets = detected(&built, &watch, Some(&[["add", "look"]]), 10);
    assert!(apart.executions < 5, "{} executions", apart.executions);
    assert!(meets.executions >= 10);
}
