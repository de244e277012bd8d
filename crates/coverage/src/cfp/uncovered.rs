//! Pairs of functions that no input shows at the same time.

use std::collections::BTreeSet;

use super::{FunctionPair, functions_of};

/// The pairs of functions each of which runs while another thread is in some function, and which were not shown to run at the same time as
/// each other. Functions that run only while no other thread does, such as what starts the program, are in none.
///
/// There are at most as many as pairs of functions; what is not possible among them is not known.
pub fn uncovered(shown: &BTreeSet<FunctionPair>) -> BTreeSet<FunctionPair> {
    let functions = functions_of(shown);
    let pairs = functions.iter().flat_map(|one| {
        let others = functions.range(one..);
        others.map(|other| FunctionPair::of(*one, *other))
    });
    pairs.filter(|pair| !shown.contains(pair)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of section 4.2: six pairs of five functions, of which there are fifteen.
    #[test]
    fn what_is_shown_and_what_is_not_is_all_there_is() {
        let pairs = |list: &[(u64, u64)]| -> BTreeSet<FunctionPair> {
            list.iter().map(|(one, other)| FunctionPair::of(*one, *other)).collect()
        };
        let shown = pairs(&[(1, 2), (2, 3), (2, 4), (4, 5), (3, 4), (3, 5)]);
        let expected = pairs(&[(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (1, 3), (1, 4), (1, 5), (2, 5)]);
        assert_eq!(uncovered(&shown), expected);
        assert_eq!(uncovered(&pairs(&[(7, 7)])), BTreeSet::new());
    }
}
