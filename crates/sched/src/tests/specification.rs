//! Specifications come out of words as they went in, and nothing else does.

use std::sync::Arc;

use threadbare_trace::ThreadId;

use super::free_policies;
use crate::{
    Between, Directed, DirectedGoal, InOrder, Instance, Journaled, OpId, OrderedOp, Parameters, PolicySpec,
    Prefix, Replay, Requirements, SpecError, StepInstance, SwitchPoint, Tsa, Turn, Turns,
};

/// At least one of each policy, with parameters that use all that they can hold.
fn every_policy() -> Vec<Parameters> {
    let thread = ThreadId(700);
    let id = OpId { thread, op: 70_000 };
    let switch = SwitchPoint { from: thread, op: u32::MAX, to: ThreadId(1) };
    let step = StepInstance { thread, site: u64::MAX, number: 9, gate: 1 << 40 };
    let requirements = Arc::new(Requirements::new([(1 << 50, 2), (2, 2)]));
    let instance = Instance { site: 1 << 40, object: u64::MAX, number: 70_000 };
    let mut all = free_policies().to_vec();
    all.extend([
        crate::Surw { object: Some(u64::MAX), weights: vec![3, 0, u32::MAX] }.into(),
        Prefix { choices: vec![thread, ThreadId(0)] }.into(),
        Replay { switches: vec![switch, switch], main_last: true }.into(),
        Directed::new(DirectedGoal::Between, vec![1, u64::MAX, 3]).unwrap().into(),
        InOrder::new(vec![OrderedOp { thread, site: 1 << 40, gate: 5 }; 3]).unwrap().into(),
        Tsa { third_rule: false, stay_probability: 1.0, requirements }.into(),
        crate::Guidance { variation: 5, wanted: vec![(step, Some(step)), (step, None)], lead: vec![switch] }
            .into(),
        Between { held: id, other: OpId { thread: ThreadId(0), op: 1 } }.into(),
        Journaled.into(),
        Turns::new(vec![Turn { thread, operation: instance, gate: instance, makes: true }; 3], thread)
            .unwrap()
            .into(),
    ]);
    all
}

#[test]
fn every_specification_survives_being_handed_over() {
    for parameters in every_policy() {
        let spec = PolicySpec::new(parameters.clone(), 77);
        assert_eq!(PolicySpec::decode(parameters.number(), 77, &parameters.to_words()), Ok(spec));
    }
}

#[test]
fn no_number_is_left_out_here() {
    let unknown = |number: &u32| matches!(Parameters::decode(*number, &[]), Err(SpecError::UnknownPolicy(_)));
    let shown = |number: &u32| every_policy().iter().any(|policy| policy.number() == *number);
    let left_out: Vec<u32> = (0..1000).filter(|number| !unknown(number) && !shown(number)).collect();
    assert_eq!(left_out, []);
}

#[test]
fn an_unknown_number_is_an_error() {
    let error = PolicySpec::decode(999, 1, &[]).unwrap_err();
    assert_eq!(error, SpecError::UnknownPolicy(999));
    assert_eq!(error.to_string(), "there is no scheduling policy with number 999");
    assert_eq!(PolicySpec::decode(0, 1, &[]), Err(SpecError::UnknownPolicy(0)));
}

#[test]
fn words_that_are_no_parameters_are_an_error() {
    for parameters in every_policy() {
        let (number, words) = (parameters.number(), parameters.to_words());
        for cut in 0..words.len() {
            assert!(Parameters::decode(number, &words[..cut]).is_err(), "{cut} words of {parameters:?}");
        }
        let longer = [&words[..], &[u64::MAX]].concat();
        assert!(Parameters::decode(number, &longer).is_err(), "{parameters:?}");
    }
    let delay = Parameters::from(crate::Delay { longest_micros: 1, probability: f64::NAN });
    let error = Parameters::decode(delay.number(), &delay.to_words()).unwrap_err();
    assert_eq!(error.to_string(), "the parameters of the scheduling policy Delay are malformed");
}
