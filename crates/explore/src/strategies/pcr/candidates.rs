//! Pattern candidates of a trace (Algorithm 3, lines 3 to 30): any accesses that could make a pattern, were they made in
//! another order.

use super::accesses::{Access, Accesses};

/// The most candidates that are looked at for one trace.
const MOST: usize = 200_000;

/// Accesses in the order in which they would make a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Candidate {
    length: u8,
    places: [u32; 4],
}

impl Candidate {
    pub(super) fn new(places: &[usize]) -> Candidate {
        let mut candidate = Candidate { length: places.len() as u8, places: [0; 4] };
        for (own, place) in candidate.places.iter_mut().zip(places) {
            *own = *place as u32;
        }
        candidate
    }

    pub(super) fn len(&self) -> usize {
        usize::from(self.length)
    }

    /// The accesses in order.
    pub(super) fn of<'a>(&self, accesses: &'a Accesses) -> Vec<&'a Access> {
        self.places[..self.len()].iter().map(|place| accesses.get(*place as usize)).collect()
    }
}

/// Calls `take` with every candidate, until it has been called very often; says whether that was all.
pub(super) fn each(accesses: &Accesses, take: &mut dyn FnMut(Candidate)) -> bool {
    let mut left = MOST;
    let mut take = |places: &[usize]| {
        if left > 0 {
            left -= 1;
            take(Candidate::new(places));
        }
        left > 0
    };
    let links: Vec<Vec<[usize; 2]>> = accesses.shared().map(|on| links(accesses, on)).collect();
    links.iter().flatten().all(|link| take(link))
        && links.iter().all(|on| triples(accesses, on, &mut take))
        && links.iter().enumerate().all(|(x, on_x)| {
            let mut others = links.iter().enumerate().filter(|(y, _)| *y != x);
            others.all(|(_, on_y)| quadruples(accesses, on_x, on_y, &mut take))
        })
}

/// Two accesses to a variable by different threads, one of which writes, in either order: length 2.
fn links(accesses: &Accesses, places: &[usize]) -> Vec<[usize; 2]> {
    let mut links = Vec::new();
    for &first in places {
        for &second in places {
            let (one, other) = (accesses.get(first), accesses.get(second));
            if one.thread != other.thread && (one.writes() || other.writes()) {
                links.push([first, second]);
            }
        }
    }
    links
}

/// Two links of which the second begins with what the first ends with, back in the thread of the first: length 3.
fn triples(accesses: &Accesses, links: &[[usize; 2]], take: &mut dyn FnMut(&[usize]) -> bool) -> bool {
    links.iter().all(|&[first, second]| {
        let back = links.iter().filter(|[from, to]| {
            *from == second && *to != first && accesses.get(*to).thread == accesses.get(first).thread
        });
        back.into_iter().all(|&[_, third]| take(&[first, second, third]))
    })
}

/// Two links on different variables, between the same threads in opposite directions: length 4.
fn quadruples(
    accesses: &Accesses,
    on_x: &[[usize; 2]],
    on_y: &[[usize; 2]],
    take: &mut dyn FnMut(&[usize]) -> bool,
) -> bool {
    let thread = |place: usize| accesses.get(place).thread;
    on_x.iter().all(|&[x1, x2]| {
        let mut reversed =
            on_y.iter().filter(|[y1, y2]| thread(x1) == thread(*y2) && thread(x2) == thread(*y1));
        reversed
            .all(|&[y1, y2]| take(&[x1, x2, y1, y2]) && take(&[x1, y1, x2, y2]) && take(&[x1, y1, y2, x2]))
    })
}
