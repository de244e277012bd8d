//! What strategies may claim when they have come to their end.

/// What a strategy may claim when nothing is left to run and nothing was left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// Nothing: other interleavings may be left, whatever ended it.
    Nothing,
    /// Every interleaving was run, up to the bound on preemptions if there is one.
    EveryInterleaving,
    /// Every order of accesses was run that makes a difference to some thread.
    EveryObservableOrder,
    /// No read returns a value in some interleaving that it has not returned.
    EveryReadValue,
    /// Every state that the program can be in was reached.
    EveryState,
    /// No thread takes a path in some interleaving that it has not taken.
    EveryPath,
}

impl Claim {
    /// What holds, as a clause of a sentence. The bound is the number of preemptions beyond which interleavings were left out.
    pub fn clause(self, bound: Option<u32>) -> String {
        match (self, bound) {
            (Claim::Nothing, _) => "other interleavings may be left".to_string(),
            (Claim::EveryInterleaving, None) => "every interleaving was run".to_string(),
            (Claim::EveryInterleaving, Some(bound)) => {
                let plural = if bound == 1 { "" } else { "s" };
                format!("every interleaving with at most {bound} preemption{plural} was run")
            }
            (Claim::EveryObservableOrder, _) => "every observable order of accesses was run".to_string(),
            (Claim::EveryReadValue, _) => {
                "whatever the interleaving, no read returns any other value".to_string()
            }
            (Claim::EveryState, _) => "every state that threads can reach was reached".to_string(),
            (Claim::EveryPath, _) => "whatever the interleaving, no thread takes any other path".to_string(),
        }
    }

    /// The same as a sentence.
    pub fn sentence(self, bound: Option<u32>) -> String {
        let end = match (self, bound) {
            (Claim::Nothing, _) => "",
            (_, None) => ": exhausted",
            (_, Some(_)) => ": exhausted within that bound",
        };
        let clause = self.clause(bound);
        let (first, rest) = clause.split_at(1);
        format!("{}{rest}{end}.", first.to_uppercase())
    }
}
