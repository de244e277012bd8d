//! Making a failing test shorter.

use super::Test;

/// Leaves out calls and threads as long as the test still fails; `fails` runs one. No single call of the result can
/// be left out.
pub fn reduce(test: Test, fails: &mut dyn FnMut(&Test) -> bool) -> Test {
    let mut test = test;
    loop {
        let shorter = without_one(&test).into_iter().find(|shorter| fails(shorter));
        match shorter {
            Some(shorter) => test = shorter,
            None => return test,
        }
    }
}

/// The tests with one thread or one call less. With less than two threads there is nothing to interleave.
fn without_one(test: &Test) -> Vec<Test> {
    let threads = (0..test.suffixes.len()).filter(|_| test.suffixes.len() > 2).map(|thread| {
        let mut shorter = test.clone();
        shorter.suffixes.remove(thread);
        shorter
    });
    let prefix = (0..test.prefix.len()).map(|call| {
        let mut shorter = test.clone();
        shorter.prefix.remove(call);
        shorter
    });
    let suffixes = test.suffixes.iter().enumerate().flat_map(|(thread, suffix)| {
        (0..suffix.len()).filter(|_| suffix.len() > 1).map(move |call| {
            let mut shorter = test.clone();
            shorter.suffixes[thread].remove(call);
            shorter
        })
    });
    threads.chain(prefix).chain(suffixes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::OperationCall;

    fn calls(names: &str) -> Vec<OperationCall> {
        names
            .chars()
            .map(|name| OperationCall { operation: name.to_string(), arguments: Vec::new() })
            .collect()
    }

    #[test]
    fn what_the_failure_does_not_need_goes() {
        let test = Test { prefix: calls("axb"), suffixes: vec![calls("cd"), calls("pop"), calls("ye")] };
        let mut runs = 0;
        let reduced = reduce(test, &mut |test| {
            runs += 1;
            let has = |calls: &[OperationCall], name: &str| calls.iter().any(|call| call.operation == name);
            has(&test.prefix, "x") && test.suffixes.iter().any(|suffix| has(suffix, "y"))
        });
        assert_eq!(reduced.prefix, calls("x"));
        assert_eq!(reduced.suffixes.len(), 2);
        assert!(reduced.suffixes.contains(&calls("y")) && reduced.suffixes.iter().all(|it| it.len() == 1));
        assert!(runs < 40, "{runs}");
    }
}
