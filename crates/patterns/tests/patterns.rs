//! The incremental matcher against one that tries every tuple of accesses.

use std::collections::BTreeSet;

use proptest::prelude::*;
use threadbare_patterns::{
    AccessType, Limits, Matcher, MemoryAccess, ObjectId, Occurrence, PATTERNS, Pattern, PatternKey,
    PatternRole, SiteId, Variable,
};
use threadbare_trace::ThreadId;

/// A pattern by what identifies it.
type Identity = (u8, Vec<SiteId>, Vec<ObjectId>);

fn identity(pattern: u8, accesses: &[MemoryAccess]) -> Identity {
    (pattern, accesses.iter().map(|it| it.site).collect(), accesses.iter().map(|it| it.object).collect())
}

/// Whether these accesses of the trace, by their places, are an occurrence of the pattern.
fn is_occurrence(trace: &[MemoryAccess], pattern: &Pattern, places: &[usize]) -> bool {
    let at = |place: usize| &trace[places[place]];
    let fits = |place: usize| {
        let (role, manner, variable) = pattern.steps[place];
        at(place).manner == manner
            && (0..place).all(|before| {
                let (other_role, _, other_variable) = pattern.steps[before];
                (role == other_role) == (at(place).thread == at(before).thread)
                    && (variable == other_variable) == (at(place).object == at(before).object)
            })
    };
    let steps_over_no_write = || {
        [Variable::X, Variable::Y].iter().all(|variable| {
            let on: Vec<usize> =
                (0..places.len()).filter(|place| pattern.steps[*place].2 == *variable).collect();
            on.windows(2).all(|two| {
                let object = at(two[0]).object;
                let between = &trace[places[two[0]] + 1..places[two[1]]];
                !between.iter().any(|it| it.object == object && it.manner == AccessType::Writes)
            })
        })
    };
    places.windows(2).all(|two| two[0] < two[1]) && (0..places.len()).all(fits) && steps_over_no_write()
}

/// Every pattern of a trace, from the definition.
fn brute_force(trace: &[MemoryAccess]) -> BTreeSet<Identity> {
    fn extend(
        trace: &[MemoryAccess],
        pattern: &Pattern,
        places: &mut Vec<usize>,
        found: &mut BTreeSet<Identity>,
    ) {
        if places.len() == pattern.steps.len() {
            if is_occurrence(trace, pattern, places) {
                let accesses: Vec<MemoryAccess> = places.iter().map(|place| trace[*place]).collect();
                found.insert(identity(pattern.id, &accesses));
            }
            return;
        }
        let first = places.last().map_or(0, |place| place + 1);
        for place in first..trace.len() {
            places.push(place);
            extend(trace, pattern, places, found);
            places.pop();
        }
    }
    let mut found = BTreeSet::new();
    for pattern in &PATTERNS {
        extend(trace, pattern, &mut Vec::new(), &mut found);
    }
    found
}

fn run(matcher: &mut Matcher, trace: &[MemoryAccess]) -> Vec<Occurrence> {
    let mut found = Vec::new();
    trace.iter().for_each(|access| matcher.observe(access, &mut found));
    found
}

fn identities(found: &[Occurrence]) -> BTreeSet<Identity> {
    found.iter().map(|it| identity(it.pattern, it.accesses())).collect()
}

prop_compose! {
    fn traces()(threads in 2u16..=4, objects in 1u64..=4, sites in 1u64..=3, length in 1usize..=25)
        (steps in prop::collection::vec((0..threads, 0..objects, 0..sites, any::<bool>()), length))
        -> Vec<MemoryAccess>
    {
        let access = |(event, (thread, object, site, writes))| MemoryAccess {
            event,
            thread: ThreadId(thread),
            site: SiteId(site),
            object: ObjectId(object),
            manner: AccessType::of(writes),
        };
        steps.into_iter().enumerate().map(access).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_matcher_finds_exactly_the_patterns_of_the_definition(trace in traces()) {
        let mut matcher = Matcher::default();
        let found = run(&mut matcher, &trace);
        prop_assert_eq!(identities(&found), brute_force(&trace));
        prop_assert_eq!(found.len(), matcher.patterns().len(), "each is reported once");
        prop_assert!(found.iter().all(|it| matcher.patterns().contains(it.key)));
        prop_assert_eq!(matcher.dropped().total(), 0);
        for occurrence in &found {
            let places: Vec<usize> = occurrence.accesses().iter().map(|it| it.event).collect();
            let pattern = Pattern::with_id(occurrence.pattern).expect("a number of the table");
            prop_assert!(is_occurrence(&trace, &pattern, &places), "{:?}", occurrence);
            let steps: Vec<_> = occurrence.accesses().iter().map(|it| (it.site, it.object)).collect();
            prop_assert_eq!(PatternKey::of(&pattern, &steps), Some(occurrence.key));
            prop_assert!(places.iter().zip(occurrence.accesses()).all(|(place, it)| trace[*place] == *it));
        }
    }

    #[test]
    fn a_copy_continues_as_if_it_had_seen_everything_itself(trace in traces(), other in traces(), at in 0usize..25) {
        let (start, end) = trace.split_at(at.min(trace.len()));
        let mut original = Matcher::default();
        let begun = run(&mut original, start);
        let mut copy = original.clone();
        // The original goes another way first: nothing of it may show in the copy.
        let elsewhere: Vec<MemoryAccess> =
            other.iter().map(|it| MemoryAccess { event: it.event + start.len(), ..*it }).collect();
        run(&mut original, &elsewhere);
        let mut found = begun.clone();
        found.extend(run(&mut copy, end));
        prop_assert_eq!(identities(&found), brute_force(&trace));
    }

    #[test]
    fn bounds_lose_patterns_but_never_invent_any_and_say_so(trace in traces()) {
        let limits = Limits { partners: 1, readers: 1, recent: 1, crossings: 1, patterns: 9, words: 1 };
        let mut matcher = Matcher::new(limits);
        let found = identities(&run(&mut matcher, &trace));
        let all = brute_force(&trace);
        prop_assert!(found.is_subset(&all));
        prop_assert!(found == all || matcher.dropped().total() > 0);
    }
}

fn trace(text: &str) -> Vec<MemoryAccess> {
    let access = |(event, word): (usize, &str)| {
        let mut letters = word.chars();
        let mut next = || letters.next().expect("thread, manner, variable, site");
        let (thread, manner, object) = (next(), next(), next());
        let number = |c: char| u64::from(u32::from(c) - u32::from('0'));
        MemoryAccess {
            event,
            thread: ThreadId(number(thread) as u16),
            manner: AccessType::of(manner == 'w'),
            object: ObjectId(u64::from(u32::from(object))),
            site: SiteId(letters.as_str().parse().expect("a site")),
        }
    };
    text.split(' ').enumerate().map(access).collect()
}

/// §III of the paper: its first trace has two patterns, and the sub-traces of its third iteration one each.
#[test]
fn the_motivating_example_has_the_patterns_of_the_paper() {
    let passed = run(&mut Matcher::default(), &trace("1ra9 1wa10 2ra9 2wa10"));
    let reported: Vec<(u8, Vec<u64>)> =
        passed.iter().map(|it| (it.pattern, it.accesses().iter().map(|it| it.site.0).collect())).collect();
    assert_eq!(reported, [(2, vec![10, 9]), (3, vec![10, 10])]);
    for (text, expected) in [("1ra9 2ra9 1wa10", 1), ("1ra9 2ra9 2wa10", 1), ("2ra9 2wa10 1ra9", 1)] {
        assert_eq!(run(&mut Matcher::default(), &trace(text)).len(), expected, "{text}");
    }
}

#[test]
fn threads_are_roles_but_variables_and_sites_count() {
    let patterns = |text: &str| {
        let mut matcher = Matcher::default();
        run(&mut matcher, &trace(text));
        matcher.patterns().clone()
    };
    let one = patterns("1wa1 2ra2 2rb3 1wb4");
    assert_eq!(one.count_beyond(&patterns("5wa1 3ra2 3rb3 5wb4")), 0);
    assert_ne!(one.count_beyond(&patterns("1wa1 2ra2 2rb3 1wb5")), 0);
    assert_ne!(one.count_beyond(&patterns("1wa1 2ra2 2rc3 1wc4")), 0);
}

#[test]
fn each_of_the_seventeen_is_found() {
    for pattern in PATTERNS {
        let access =
            |(event, (role, manner, variable)): (usize, &(PatternRole, AccessType, Variable))| MemoryAccess {
                event,
                thread: ThreadId(u16::from(*role == PatternRole::B)),
                site: SiteId(event as u64),
                object: ObjectId(u64::from(*variable == Variable::Y)),
                manner: *manner,
            };
        let trace: Vec<MemoryAccess> = pattern.steps.iter().enumerate().map(access).collect();
        let found = run(&mut Matcher::default(), &trace);
        assert!(found.iter().any(|it| it.pattern == pattern.id && it.accesses() == trace), "{pattern}");
    }
}

/// Eight threads that update a dozen variables again and again, from the two or three sites that each variable
/// has, and now and then one of some thousand elements of an array.
fn long_trace(length: usize) -> impl Iterator<Item = MemoryAccess> {
    let mut state = 7u64;
    (0..length).map(move |event| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let draw = |shift: u32, below: u64| (state >> shift) % below;
        let in_array = draw(20, 16) == 0;
        let object = if in_array { 100 + draw(45, 4000) } else { draw(45, 12) };
        let manner = AccessType::of(draw(60, 3) == 0);
        let site = if in_array { 0 } else { 10 * object + draw(40, 2) }
            + 1000 * u64::from(manner == AccessType::Writes);
        MemoryAccess {
            event,
            thread: ThreadId(draw(33, 8) as u16),
            site: SiteId(site),
            object: ObjectId(object),
            manner,
        }
    })
}

/// What a step costs depends on the variables, not on the length. Time is not compared, since other programs on
/// the machine change it, but how many remembered things were looked at.
#[test]
fn a_step_costs_the_same_however_long_the_trace_is() {
    const LENGTH: usize = 1_000_000;
    let mut matcher = Matcher::default();
    let mut found = Vec::new();
    let mut work = Vec::new();
    for access in long_trace(LENGTH) {
        matcher.observe(&access, &mut found);
        found.clear();
        if (access.event + 1) % (LENGTH / 10) == 0 {
            work.push(matcher.work());
        }
    }
    let parts: Vec<u64> = work.windows(2).map(|two| two[1] - two[0]).collect();
    // Until all elements have been seen, every step can be paired with more of them.
    let known = &parts[parts.len() / 2..];
    let (least, most) = (known.iter().min().unwrap(), known.iter().max().unwrap());
    assert!(most * 100 <= least * 105, "{parts:?}");
    assert!(matcher.objects() <= 4012);
}
