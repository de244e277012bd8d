//! The choices that lead to traces.

use threadbare_trace::ThreadId;

/// The choices that lead to each trace, as a tree that shares beginnings.
pub(in crate::strategies) struct Paths {
    /// The choice, the place of the one before it, and the number of choices. The first entry stands for
    /// no choice.
    choices: Vec<(usize, ThreadId, u64)>,
}

impl Paths {
    /// The place of the empty path.
    pub const START: usize = 0;

    pub fn new() -> Paths {
        Paths { choices: vec![(0, ThreadId::MAIN, 0)] }
    }

    /// The path that continues with this choice.
    pub fn extend(&mut self, path: usize, thread: ThreadId) -> usize {
        self.choices.push((path, thread, self.depth(path) + 1));
        self.choices.len() - 1
    }

    /// The path before its last choice, and that choice.
    pub fn last(&self, path: usize) -> (usize, ThreadId) {
        let (before, thread, _) = self.choices[path];
        (before, thread)
    }

    /// How many choices a path has.
    pub fn depth(&self, path: usize) -> u64 {
        self.choices[path].2
    }

    /// All choices of a path, in order.
    pub fn choices(&self, path: usize) -> Vec<ThreadId> {
        let mut choices = Vec::new();
        let mut place = path;
        while place != Paths::START {
            let (before, thread) = self.last(place);
            choices.push(thread);
            place = before;
        }
        choices.reverse();
        choices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_share_beginnings_and_remember_their_choices() {
        let mut paths = Paths::new();
        let one = paths.extend(Paths::START, ThreadId(1));
        let two = paths.extend(one, ThreadId(2));
        let other = paths.extend(one, ThreadId(3));
        assert_eq!(paths.choices(two), [ThreadId(1), ThreadId(2)]);
        assert_eq!(paths.choices(other), [ThreadId(1), ThreadId(3)]);
        assert_eq!((paths.last(other), paths.depth(other)), ((one, ThreadId(3)), 2));
        assert!(paths.choices(Paths::START).is_empty());
    }
}
