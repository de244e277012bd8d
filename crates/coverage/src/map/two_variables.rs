//! Patterns of two variables (9 to 17) that may be possible.
//!
//! Each is made of two *links*, on either variable one, between the same two threads in opposite directions. So what can follow
//! what on one variable is asked first, and then whether each thread comes to its two accesses in the order of the pattern, and
//! gives up between them what the other one needs.

use std::collections::BTreeMap;

use threadbare_patterns::{AccessType, ObjectId, PATTERNS, Pattern, PatternRole, Variable as Which};
use threadbare_trace::ThreadId;

use super::access_order::{AccessOrders, Gap};
use super::accesses::Variable;
use super::uncovered::{Known, can_follow, is_turned};

/// How much is looked at, counted in pairs of links and in access orders of threads: beyond this, nobody waits for the answer.
const MOST_WORK: usize = 2_000_000;

/// An access to a variable.
pub(super) type Step<'a> = (ObjectId, Known<'a>);

/// Two accesses to one variable by different threads that can follow each other.
type Link<'a> = [Step<'a>; 2];

/// The links of all variables, by who makes them and how.
type Links<'a> = BTreeMap<([ThreadId; 2], [AccessType; 2]), Vec<Link<'a>>>;

/// Gives away the patterns that may be possible, until no more are wanted; says whether it came to the end.
pub(super) fn two_variables<'a>(
    variables: &'a BTreeMap<ObjectId, Variable>,
    access_orders: &AccessOrders,
    take: &mut dyn FnMut(&Pattern, &[Step<'a>; 4]) -> bool,
) -> bool {
    let links = links(variables);
    let mut work = 0;
    for pattern in PATTERNS.iter().filter(|it| it.has_two_variables()) {
        let [of_x, of_y] = [Which::X, Which::Y].map(|which| manners(pattern, which));
        for (([a, b], _), on_x) in links.iter().filter(|((_, manners), _)| *manners == of_x) {
            let Some(on_y) = links.get(&([*b, *a], of_y)) else { continue };
            for x in on_x {
                for y in on_y.iter().filter(|y| y[0].0 != x[0].0) {
                    work += 1;
                    if work > MOST_WORK {
                        return false;
                    }
                    let steps = in_order(pattern, x, y);
                    if is_possible(pattern, &steps, access_orders, &mut work) && !take(pattern, &steps) {
                        return false;
                    }
                }
            }
        }
    }
    true
}

fn links(variables: &BTreeMap<ObjectId, Variable>) -> Links<'_> {
    let mut links = Links::new();
    for (object, variable) in variables {
        for first in &variable.site_accesses {
            for second in variable.site_accesses.iter().filter(|second| can_follow(first, *second)) {
                let (threads, manners) =
                    ([first.0.thread, second.0.thread], [first.0.manner, second.0.manner]);
                links.entry((threads, manners)).or_default().push([(*object, first), (*object, second)]);
            }
        }
    }
    links
}

/// How a pattern accesses one of its variables, first and then.
fn manners(pattern: &Pattern, which: Which) -> [AccessType; 2] {
    let mut own = pattern.steps.iter().filter(|step| step.2 == which).map(|step| step.1);
    [own.next(), own.next()].map(|manner| manner.unwrap_or(AccessType::Reads))
}

fn in_order<'a>(pattern: &Pattern, x: &Link<'a>, y: &Link<'a>) -> [Step<'a>; 4] {
    let (mut x, mut y) = (x.iter(), y.iter());
    std::array::from_fn(|place| {
        let next = if pattern.steps[place].2 == Which::X { x.next() } else { y.next() };
        *next.expect("a pattern of two variables accesses each of them twice")
    })
}

/// Whether nothing that is known speaks against the steps in this order.
fn is_possible(
    pattern: &Pattern,
    steps: &[Step<'_>; 4],
    access_orders: &AccessOrders,
    work: &mut usize,
) -> bool {
    let role = |place: usize| pattern.steps[place].0;
    let of = |wanted: PatternRole| (0..4).filter(move |place| role(*place) == wanted);
    let mut is_kept = |wanted: PatternRole| {
        let mut own = of(wanted);
        let (Some(first), Some(last)) = (own.next(), own.next()) else { return false };
        let mut between = (first + 1..last).filter(|place| role(*place) != wanted);
        let gap = if between.clone().next().is_some() { Gap::Some } else { Gap::None };
        let at = |place: usize| (steps[place].0, *steps[place].1.0);
        let throughout = access_orders.held_between(at(first), at(last), gap, work);
        throughout.is_some_and(|locks| !between.any(|place| locks.exclude(&steps[place].1.1.locks)))
    };
    let is_in_order = || {
        let pairs = (0..4).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
        let mut of_both = pairs.filter(|(earlier, later)| role(*earlier) != role(*later));
        of_both.all(|(earlier, later)| !is_turned(steps[earlier].1, steps[later].1))
    };
    is_kept(PatternRole::A) && is_kept(PatternRole::B) && is_in_order()
}
