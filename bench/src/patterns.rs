//! How fast patterns are found, and how cheap it is to keep a matcher for every sub-trace.

use std::time::Instant;

use threadbare_patterns::{AccessType, Matcher, MemoryAccess, ObjectId, SiteId};
use threadbare_sched::Rng;
use threadbare_trace::ThreadId;

use crate::figure::Figure;

const ACCESSES: usize = 1_000_000;
const THREADS: u64 = 8;
/// Copies that are made and each extended by one access.
const COPIES: usize = 100_000;

/// Threads that access some variables again and again, each variable from a few sites.
fn accesses(objects: u64) -> impl Iterator<Item = MemoryAccess> {
    let mut rng = Rng::new(1);
    (0..).map(move |event| {
        let object = rng.below(objects);
        let manner = AccessType::of(rng.below(3) == 0);
        MemoryAccess {
            event,
            thread: ThreadId(rng.below(THREADS) as u16),
            site: SiteId(10 * object + 2 * rng.below(2) + u64::from(manner == AccessType::Writes)),
            object: ObjectId(object),
            manner,
        }
    })
}

/// The figures, on generated accesses of eight threads.
pub fn measure() -> Vec<Figure> {
    let mut figures = Vec::new();
    for objects in [4, 16, 4096] {
        let mut matcher = Matcher::default();
        let mut found = Vec::new();
        let begin = Instant::now();
        for access in accesses(objects).take(ACCESSES) {
            matcher.observe(&access, &mut found);
            found.clear();
        }
        let seconds = begin.elapsed().as_secs_f64();
        let of = format!("patterns: {THREADS} threads, {objects} variables");
        let patterns = matcher.patterns().len() as f64;
        figures.push(Figure::plain(&of, ACCESSES as f64 / seconds, "accesses/s"));
        figures.push(Figure::plain(format!("{of}, found in {ACCESSES} accesses"), patterns, "patterns"));
        let begin = Instant::now();
        for access in accesses(objects).take(COPIES) {
            let mut copy = matcher.clone();
            copy.observe(&MemoryAccess { event: ACCESSES + access.event, ..access }, &mut found);
            found.clear();
        }
        let micros = begin.elapsed().as_secs_f64() * 1e6 / COPIES as f64;
        figures.push(Figure::plain(format!("{of}: a copy, extended by one access"), micros, "µs"));
    }
    figures
}
