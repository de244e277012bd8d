//! Which code is the programmer's own, so that both sides agree on where a lock is taken.

/// A stretch of the program's own code: functions written in its own source files.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
#[repr(C)]
pub struct CodeRange {
    /// The first address.
    pub start: u64,
    /// The address behind the last.
    pub end: u64,
}

/// The place in the program's own code from which a step was made: the innermost of its calls, each given by where
/// it returns to, that lies in one of `own`, which are in order and apart. A step that is made by nobody's own
/// code is at its innermost call.
pub fn own_place(own: &[CodeRange], calls: impl IntoIterator<Item = u64>) -> u64 {
    let mut innermost = 0;
    for pc in calls.into_iter().filter(|pc| *pc != 0) {
        // What follows a call may be another function.
        let address = pc - 1;
        let after = own.partition_point(|range| range.start <= address);
        if after > 0 && address < own[after - 1].end {
            return pc;
        }
        if innermost == 0 {
            innermost = pc;
        }
    }
    innermost
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: [CodeRange; 2] = [CodeRange { start: 100, end: 200 }, CodeRange { start: 300, end: 400 }];

    #[test]
    fn the_innermost_call_in_own_code_counts() {
        assert_eq!(own_place(&OWN, [150, 350]), 150);
        assert_eq!(own_place(&OWN, [250, 0, 350, 150]), 350);
    }

    #[test]
    fn a_call_at_the_end_of_a_function_returns_behind_it() {
        assert_eq!(own_place(&OWN, [200, 150]), 200);
        assert_eq!(own_place(&OWN, [100, 150]), 150);
    }

    #[test]
    fn without_own_code_the_innermost_call_counts() {
        assert_eq!(own_place(&OWN, [250, 450]), 250);
        assert_eq!(own_place(&[], [150]), 150);
        assert_eq!(own_place(&OWN, []), 0);
    }
}
