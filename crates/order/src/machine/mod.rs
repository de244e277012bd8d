//! Makes the steps of a model in a given order, and says which of them could not be made, or would not have done what
//! they did when they were recorded.
//!
//! The last step of a thread may see what it likes: nothing comes after it that depends on it.

mod sync;

use std::collections::HashMap;

use crate::goal::Target;
use crate::model::{Ix, Model, Value};
use sync::Sync;

/// Why an order is not one that can happen.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Violation {
    /// A read sees what that step (or nobody) wrote, which is something else than recorded.
    Reads {
        /// The step that reads.
        step: Ix,
        /// What it reads.
        segment: u32,
        /// Who wrote it.
        wrote: Option<Ix>,
    },
    /// A step uses something before it is there or after it is gone, by the doing or missing of that step.
    Lifetime {
        /// The step that uses it.
        step: Ix,
        /// The step that frees or initialises it.
        renewal: Ix,
    },
    /// A lock is taken while another section holds it.
    Locked {
        /// The section that begins.
        section: u32,
        /// The section that has not ended.
        holder: u32,
    },
    /// A lock is refused that nobody holds.
    NotRefused(Ix),
    /// A wait ends without a signal.
    NotWoken {
        /// The condition variable.
        condition: u32,
        /// The step that ends it.
        step: Ix,
    },
    /// A token is taken that is not there.
    NoToken {
        /// The semaphore.
        semaphore: u32,
        /// The step that takes it.
        step: Ix,
    },
    /// A round of a barrier goes differently.
    Round(u32),
    /// A thread is found to have ended, too early.
    NotEnded(Ix),
    /// A thread has ended before somebody saw that it had not.
    Ended {
        /// The step that saw it.
        step: Ix,
        /// The end.
        exit: Ix,
    },
    /// The steps of a chain are not in order.
    Chain(u32),
    /// Something that came before a watershed has not been done.
    Watershed(Ix),
    /// The goal's read sees what that step (or nobody) wrote.
    Goal {
        /// Who wrote it.
        wrote: Option<Ix>,
    },
    /// A write comes between two of the goal's steps.
    Broken {
        /// The number of the pair.
        pair: usize,
        /// The step that writes.
        writer: Ix,
    },
}

/// What became of an order.
#[derive(Default)]
pub struct Outcome {
    /// What is wrong with it.
    pub violations: Vec<Violation>,
    /// How many steps are needed to reach the goal.
    pub needed: usize,
    /// Some threads are enabled afterwards, although none should be.
    pub some_thread_is_enabled: bool,
}

/// The state of memory.
struct Memory {
    values: Vec<Value>,
    writers: Vec<Option<Ix>>,
    epochs: Vec<u32>,
}

/// Enough for one round: the first ones matter most, and repairing them often repairs the others.
const MOST_VIOLATIONS: usize = 64;

struct Run<'a> {
    model: &'a Model,
    memory: Memory,
    sync: Sync,
    violations: Vec<Violation>,
    /// Updates that saw something else than recorded, and who had written that.
    surprises: HashMap<(Ix, u32), Option<Ix>>,
    /// Steps that did not do all they did, because they saw something else. That may be what others miss.
    held_back: Vec<Violation>,
}

/// Makes the steps in order until the goal is reached.
pub fn run(model: &Model, order: &[Ix], target: &Target) -> Outcome {
    let segments = model.initial.len();
    let mut run = Run {
        model,
        memory: Memory {
            values: model.initial.clone(),
            writers: vec![None; segments],
            epochs: vec![0; segments],
        },
        sync: Sync::new(model),
        violations: Vec::new(),
        surprises: HashMap::new(),
        held_back: Vec::new(),
    };
    let mut left: Vec<u32> = Vec::new();
    for at in order {
        let thread = model.step(*at).thread.index();
        left.resize(left.len().max(thread + 1), 0);
        left[thread] += 1;
    }
    let mut watch = target.watch();
    let mut needed = order.len();
    for (place, &at) in order.iter().enumerate() {
        let thread = model.step(at).thread.index();
        left[thread] -= 1;
        let is_last = left[thread] == 0 && target.deadlock.is_none();
        if let Some((segment, wanted)) = target.read_at(at)
            && run.memory.values[segment as usize] != wanted
        {
            let wrote = run.memory.writers[segment as usize];
            run.violations.push(Violation::Goal { wrote });
            run.blame_update(segment, Some(wanted), wrote);
        }
        // What else is part of the step happens only if the thread has seen what it saw.
        let as_recorded = run.access(at, is_last);
        run.sync.enter(at, as_recorded, run.model, &mut run.violations);
        for pair in watch.broken_by(at, model) {
            run.violations.push(Violation::Broken { pair, writer: at });
        }
        if watch.reached(at) {
            needed = place + 1;
            break;
        }
        if run.violations.len() >= MOST_VIOLATIONS {
            break;
        }
    }
    if !run.violations.is_empty() {
        run.violations.append(&mut run.held_back);
    }
    let some_thread_is_enabled = target.deadlock.is_some() && run.sync.some_thread_is_enabled(model, order);
    Outcome { violations: run.violations, needed, some_thread_is_enabled }
}

impl Run<'_> {
    /// Accesses memory; says whether the step may continue as recorded.
    fn access(&mut self, at: Ix, is_last: bool) -> bool {
        for touch in self.model.touches_of(at) {
            let index = touch.segment as usize;
            let Memory { values, writers, epochs } = &mut self.memory;
            let epoch = epochs[index];
            let is_access = touch.reads.is_some() || touch.writes.is_some();
            let is_free_to_crash = is_last && is_access && !touch.renews && epoch > touch.epoch;
            if epoch != touch.epoch && !is_free_to_crash {
                // In recorded order the renewals of a segment are numbered by its epochs.
                let number = if epoch < touch.epoch { epoch } else { touch.epoch };
                let renewal = self.model.renewals[index][number as usize];
                self.violations.push(Violation::Lifetime { step: at, renewal });
            }
            let surprised = touch.reads.is_some_and(|expected| values[index] != expected);
            // An update is about to become the writer itself.
            let wrote = writers[index];
            if surprised && !is_last {
                self.violations.push(Violation::Reads { step: at, segment: touch.segment, wrote });
                self.blame_update(touch.segment, touch.reads, wrote);
            }
            let Memory { values, writers, epochs } = &mut self.memory;
            if let Some(value) = touch.writes {
                // What comes of an update of something else is not known.
                values[index] = if surprised && is_last { Value::Of(at) } else { value };
                if surprised {
                    self.surprises.insert((at, touch.segment), wrote);
                }
                writers[index] = Some(at);
            }
            epochs[index] += u32::from(touch.renews);
            if surprised && is_last {
                self.held_back.push(Violation::Reads { step: at, segment: touch.segment, wrote });
                return false;
            }
        }
        true
    }

    /// If the value would be right had an update only seen what it saw, then that is what is wrong; and so on
    /// with what that update saw.
    fn blame_update(&mut self, segment: u32, mut expected: Option<Value>, mut wrote: Option<Ix>) {
        while let Some(writer) = wrote
            && self.model.updates(writer, segment)
            && self.model.writes(writer, segment) == expected
            && let Some(saw) = self.surprises.get(&(writer, segment))
        {
            wrote = *saw;
            self.violations.push(Violation::Reads { step: writer, segment, wrote });
            let touches = self.model.touches_of(writer).iter().filter(|touch| touch.segment == segment);
            expected = touches.filter_map(|touch| touch.reads).next();
        }
    }
}
