//! Functions that were not watched because they can do what their callers can.

use std::collections::{BTreeMap, BTreeSet};

use super::{FunctionAddress, FunctionPair};

/// Adds the pairs of functions that were not watched. `callers` names for each of them the functions that surely call it,
/// without any synchronization beside; it is concurrent with whatever one of these is concurrent with. A caller may itself be one that was not watched.
pub fn inherit(
    pairs: &mut BTreeSet<FunctionPair>,
    callers: &BTreeMap<FunctionAddress, BTreeSet<FunctionAddress>>,
) {
    // A pair makes further ones by either of its functions.
    let mut callees: BTreeMap<FunctionAddress, Vec<FunctionAddress>> = BTreeMap::new();
    for (callee, callers) in callers {
        for caller in callers {
            callees.entry(*caller).or_default().push(*callee);
        }
    }
    let mut new: Vec<FunctionPair> = pairs.iter().copied().collect();
    while let Some(pair) = new.pop() {
        let [one, other] = pair.functions();
        for (caller, partner) in [(one, other), (other, one)] {
            for callee in callees.get(&caller).into_iter().flatten() {
                let pair = FunctionPair::of(*callee, partner);
                if pairs.insert(pair) {
                    new.push(pair);
                }
            }
        }
    }
}
