//! Few inputs that together show every pair, and the functions to look at under each.

use std::collections::BTreeSet;

use super::{FunctionAddress, FunctionPair};

/// An input that was selected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selected {
    /// Its place in the list of inputs.
    pub input: usize,
    /// The pairs that no input selected before it shows, and what else it shows among their functions: another input may come another way
    /// through them.
    pub pairs: BTreeSet<FunctionPair>,
}

impl Selected {
    /// The functions of these pairs: the ones to look at under this input.
    pub fn functions(&self) -> BTreeSet<FunctionAddress> {
        functions_of(&self.pairs)
    }
}

/// The functions of pairs.
pub fn functions_of(pairs: &BTreeSet<FunctionPair>) -> BTreeSet<FunctionAddress> {
    pairs.iter().flat_map(|pair| pair.functions()).collect()
}

/// Takes the input with the most pairs, then again and again the one with the most pairs that are still missing (the first of equals), until
/// none is missing. To find the smallest set of inputs is NP-hard; this comes close.
pub fn select(pairs_of_inputs: &[BTreeSet<FunctionPair>]) -> Vec<Selected> {
    let mut missing: BTreeSet<FunctionPair> = pairs_of_inputs.iter().flatten().copied().collect();
    let mut selected = Vec::new();
    while !missing.is_empty() {
        let adds = |(input, pairs): (usize, &BTreeSet<FunctionPair>)| {
            (pairs.intersection(&missing).count(), std::cmp::Reverse(input))
        };
        let best = pairs_of_inputs.iter().enumerate().map(adds).max();
        let Some((_, std::cmp::Reverse(input))) = best else { break };
        let news: BTreeSet<FunctionPair> = pairs_of_inputs[input].intersection(&missing).copied().collect();
        missing.retain(|pair| !news.contains(pair));
        let functions = functions_of(&news);
        let is_among = |pair: &&FunctionPair| pair.functions().iter().all(|it| functions.contains(it));
        let pairs = pairs_of_inputs[input].iter().filter(is_among).copied().collect();
        selected.push(Selected { input, pairs });
    }
    selected
}
