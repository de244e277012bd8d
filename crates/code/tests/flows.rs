//! Where values go in real executables, compared with what their source code says.

#[path = "flows/built.rs"]
mod built;
#[path = "flows/generated.rs"]
mod generated;
#[path = "flows/truth.rs"]
mod truth;

use std::collections::BTreeSet;

use built::{Built, build, is_there};
use threadbare_code::{Callee, Fate};
use truth::{Statements, Truth, statements};

const FIXTURES: &[(&str, &str)] = &[
    ("arithmetic", include_str!("flows/arithmetic.c")),
    ("calls", include_str!("flows/calls.c")),
    ("memory", include_str!("flows/memory.c")),
    ("atomics", include_str!("flows/atomics.c")),
    ("compiled", include_str!("flows/compiled.c")),
];
/// The seeds of generated programs.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=4;
const OPTIMIZATIONS: [&str; 3] = ["-O0", "-O1", "-O2"];

/// How slices compare with the truth.
#[derive(Default)]
struct Score {
    sites: usize,
    exact: usize,
    missed: Vec<String>,
    extra: Vec<String>,
}

/// The lines where the code has conditional jumps, and where it announces writes.
fn lines(built: &Built, statements: &Statements, mark: &str) -> BTreeSet<u32> {
    let is_branch = mark.starts_with("b_");
    let mut lines = BTreeSet::new();
    if is_branch {
        lines.extend(built.jumps.iter().filter_map(|at| built.line(*at)));
    } else {
        let calls = built.code.functions().iter().flat_map(|function| &function.calls);
        lines.extend(calls.filter(|call| is_write(&call.to)).filter_map(|call| built.line(call.at)));
    }
    let marked = statements.marks.get(mark).unwrap_or_else(|| panic!("no line is marked {mark}"));
    lines.intersection(marked).copied().collect()
}

fn is_write(callee: &Callee) -> bool {
    let Callee::Import(name) = callee else { return false };
    let writes = ["write", "store", "fetch", "exchange", "memcpy", "memset", "memmove"];
    (name.starts_with("__tsan") || name.starts_with("__wrap")) && writes.iter().any(|it| name.contains(it))
}

fn compare(built: &Built, statements: &Statements, truth: &Truth, fate: &Fate) -> (Vec<String>, Vec<String>) {
    let branches: BTreeSet<u32> = fate.branches.iter().filter_map(|at| built.line(*at)).collect();
    let writes: BTreeSet<u32> = fate.writes.iter().filter_map(|site| built.line(site - 1)).collect();
    let reached = |mark: &str| if mark.starts_with("b_") { &branches } else { &writes };
    let (mut missed, mut extra) = (Vec::new(), Vec::new());
    let mut is_anything_left = false;
    for mark in &truth.reaches {
        let there = lines(built, statements, mark);
        is_anything_left |= !there.is_empty();
        if !there.is_empty() && reached(mark).is_disjoint(&there) {
            missed.push(mark.clone());
        }
    }
    // Where a branch was turned into a choice between values, these depend on the read instead.
    let options: Vec<&String> =
        truth.may_reach.iter().filter(|mark| !lines(built, statements, mark).is_empty()).collect();
    if !truth.reaches.is_empty() && !is_anything_left && !options.is_empty() {
        let any = options.iter().any(|mark| !reached(mark).is_disjoint(&statements.marks[*mark]));
        if !any {
            missed.push(format!("{options:?}"));
        }
    }
    if truth.steers && !fate.steers {
        missed.push("steers".into());
    }
    if truth.unknown && !fate.unknown {
        missed.push("unknown".into());
    }
    if fate.unknown {
        missed.clear();
    }
    let stated = |first: &str| -> BTreeSet<u32> {
        let marks = truth.reaches.iter().chain(&truth.may_reach).filter(|mark| mark.starts_with(first));
        marks.flat_map(|mark| &statements.marks[mark]).copied().collect()
    };
    extra.extend(branches.difference(&stated("b_")).map(|line| format!("branch on {line}")));
    extra.extend(writes.difference(&stated("w_")).map(|line| format!("write on {line}")));
    if fate.steers && !truth.steers {
        extra.push("steers".into());
    }
    if fate.unknown && !truth.unknown {
        extra.push("unknown".into());
    }
    (missed, extra)
}

fn is_generated(name: &str) -> bool {
    name.starts_with("seed")
}

fn score(name: &str, source: &str, compiler: &str, optimization: &str, score: &mut Score) {
    let built = build(source, compiler, optimization);
    let statements = statements(source);
    let flows = built.code.flows();
    for site in flows.sites() {
        let Some(line) = built.line(site - 1) else { continue };
        let fate = flows.fate(site).unwrap();
        let at = format!("{compiler} {optimization} {name}.c:{line} ({site:#x})");
        let truth = statements.reads.get(&line).cloned();
        let Some(truth) = truth else {
            // Of a local variable with very many uses clang no longer knows that nobody else has its address.
            if !is_generated(name) {
                score.missed.push(format!("{at} reads, and nothing is stated: {fate:?}"));
            }
            continue;
        };
        let (missed, extra) = compare(&built, &statements, &truth, fate);
        score.sites += 1;
        score.exact += usize::from(missed.is_empty() && extra.is_empty());
        score.missed.extend((!missed.is_empty()).then(|| format!("{at}: {missed:?}")));
        score.extra.extend((!extra.is_empty()).then(|| format!("{at}: {extra:?}")));
    }
}

/// Compares with the truth for all compilers and levels. Says for each how many reads are exactly as stated, and of how many.
fn compared(fixtures: &[(String, String)], shows_extra: bool) -> Vec<(String, usize, usize)> {
    let (mut missed, mut exact) = (Vec::new(), Vec::new());
    for compiler in ["gcc", "clang"] {
        if !is_there(compiler) {
            println!("{compiler} is not there: nothing was compared for it");
            continue;
        }
        for optimization in OPTIMIZATIONS {
            let mut total = Score::default();
            for (name, source) in fixtures {
                score(name, source, compiler, optimization, &mut total);
            }
            println!("{compiler} {optimization}: {} of {} reads exact", total.exact, total.sites);
            for line in total.extra.iter().filter(|_| shows_extra) {
                println!("    more than stated: {line}");
            }
            missed.append(&mut total.missed);
            exact.push((format!("{compiler} {optimization}"), total.exact, total.sites));
        }
    }
    assert!(missed.is_empty(), "missed:\n{}", missed.join("\n"));
    exact
}

#[test]
fn no_flow_is_missed_and_few_are_invented() {
    let fixtures: Vec<(String, String)> =
        FIXTURES.iter().map(|(name, source)| (name.to_string(), source.to_string())).collect();
    for (setting, exact, sites) in compared(&fixtures, true) {
        assert!(exact * 100 >= sites * 97, "{setting}: only {exact} of {sites} are exact");
    }
}

#[test]
fn no_flow_of_generated_programs_is_missed() {
    let fixtures: Vec<(String, String)> =
        SEEDS.map(|seed| (format!("seed-{seed}"), generated::program(seed, 40))).collect();
    for (setting, exact, sites) in compared(&fixtures, false) {
        assert!(exact * 100 >= sites * 20, "{setting}: only {exact} of {sites} are exact");
    }
}

#[test]
fn who_looks_at_memory_unseen_is_named() {
    let silent = build(
        "struct s { long a, b; } *shared;\nlong __attribute__((noinline)) sum(struct s x) { return x.a + x.b; }\nint main(void) { return sum(*shared) > 3; }\n",
        "gcc",
        "-O0",
    );
    assert_eq!(silent.code.flows().sees_all(), ["main"], "gcc does not announce what is passed by value");
    let (_, calls) = FIXTURES[1];
    let calling = build(calls, "gcc", "-O0").code.flows();
    assert_eq!(calling.sees_all(), ["qsort"]);
    assert!(calling.unannounced().is_empty(), "a library's function is seen when it is called");
    assert_eq!(silent.code.flows().unannounced(), ["main"]);
    let stores = "#include <string.h>\nchar text[8];\nint n;\nvoid fill(void) { __builtin_memset(text, 2, 4); }\nvoid add(void) { __asm__ volatile(\"incl %0\" : \"+m\"(n)); }\nint main(void) { int own[2] = { 1, 2 }; fill(); add(); n = own[0]; return n; }\n";
    for level in ["-O0", "-O1", "-O2"] {
        let stores = build(stores, "gcc", level).code.flows();
        assert!(stores.unannounced().contains(&"add".to_string()), "{level}: {:?}", stores.unannounced());
        assert!(level == "-O0" || stores.unannounced().contains(&"fill".to_string()), "{level}");
    }
    let (_, plain) = FIXTURES[0];
    for level in ["-O0", "-O1", "-O2"] {
        assert!(build(plain, "gcc", level).code.flows().unannounced().is_empty(), "{level}");
    }
    let (_, arithmetic) = FIXTURES[0];
    assert!(build(arithmetic, "gcc", "-O0").code.flows().sees_all().is_empty());
}

#[test]
fn branches_and_their_deciders_are_the_inverse_of_fates() {
    let (_, source) = FIXTURES[0];
    let flows = build(source, "gcc", "-O1").code.flows();
    assert!(flows.branches().next().is_some());
    for branch in flows.branches() {
        for site in flows.deciders(branch) {
            assert!(flows.fate(*site).unwrap().branches.contains(&branch));
        }
    }
    for site in flows.sites() {
        assert!(
            flows.fate(site).unwrap().branches.iter().all(|branch| flows.deciders(*branch).contains(&site))
        );
    }
    assert!(flows.fate(1).is_none() && flows.deciders(1).is_empty());
}
