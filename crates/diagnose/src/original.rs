//! The execution as it was found, before its schedule was made shorter.

use threadbare_target::{Execution, Symbols};
use threadbare_trace::{Schedule, Switch, SwitchRecord, TraceFile};

use crate::names::ExecutionNames;
use crate::recording::{recorded, to_schedule};

/// The longest execution whose trace is kept beside that of the shortened one.
const LONGEST: usize = 20_000;

/// What is kept of it.
pub enum Original {
    /// All.
    Whole(Box<Execution>),
    /// How to run it again, as its trace would be too long.
    Long {
        /// How many events it has.
        events: u64,
        /// The switches as the runtime has them.
        switches: Vec<SwitchRecord>,
        /// The same for a schedule file.
        named: Vec<Switch>,
    },
}

impl Original {
    /// Of an execution that is about to be made shorter.
    pub fn of(run: &Execution, symbols: &Symbols) -> Original {
        if run.events.len() <= LONGEST {
            return Original::Whole(Box::new(run.clone()));
        }
        Original::Long {
            events: run.events.len() as u64,
            switches: run.switches.clone(),
            named: to_schedule(&run.switches, &ExecutionNames::new(symbols, run)),
        }
    }

    /// Whether it is another one than that with these switches.
    pub fn differs_from(&self, shortest: &[SwitchRecord]) -> bool {
        match self {
            Original::Whole(run) => run.switches != shortest,
            Original::Long { switches, .. } => switches != shortest,
        }
    }

    /// How many events it has, if that is too many.
    pub fn long_events(&self) -> Option<u64> {
        match self {
            Original::Whole(_) => None,
            Original::Long { events, .. } => Some(*events),
        }
    }

    /// The files to be kept: a trace, or else a schedule, which is about the same failure as another one.
    pub fn files(self, symbols: &Symbols, schedule: &Schedule) -> (Option<TraceFile>, Option<Schedule>) {
        let about = Schedule { shows: None, switches: Vec::new(), ..schedule.clone() };
        match self {
            Original::Whole(run) => (Some(recorded(&run, &ExecutionNames::new(symbols, &run), &about)), None),
            Original::Long { named, .. } => (None, Some(Schedule { switches: named, ..about })),
        }
    }
}

#[cfg(test)]
mod tests {
    use threadbare_target::Modules;
    use threadbare_trace::{Event, Failure, FailureKind, ThreadId};

    use super::*;

    fn run(events: usize) -> Execution {
        let (kind, thread) = (FailureKind::Abort, ThreadId::MAIN);
        let failure = Failure { kind, message: "over".into(), thread, stack: Vec::new() };
        let switch = SwitchRecord { to: ThreadId(1), op: 7, ..SwitchRecord::default() };
        Execution {
            events: vec![Event::default(); events],
            switches: vec![switch],
            ..Execution::before_threads(failure, String::new())
        }
    }

    #[test]
    fn of_a_long_execution_the_schedule_is_kept_and_of_others_the_trace() {
        let symbols = Symbols::new(&Modules::default());
        let schedule = Schedule { program: "bank.c".into(), seed: 3, ..Schedule::default() };
        let short = Original::of(&run(LONGEST), &symbols);
        assert!(!short.differs_from(&run(1).switches) && short.differs_from(&[]));
        assert_eq!(short.long_events(), None);
        let (trace, kept) = short.files(&symbols, &schedule);
        assert_eq!((trace.map(|it| it.program), kept), (Some("bank.c".to_string()), None));

        let long = Original::of(&run(LONGEST + 1), &symbols);
        assert!(!long.differs_from(&run(1).switches) && long.differs_from(&[]));
        assert_eq!(long.long_events(), Some(LONGEST as u64 + 1));
        let (trace, kept) = long.files(&symbols, &schedule);
        let kept = kept.expect("a schedule");
        assert_eq!((trace, kept.seed, kept.switches.len()), (None, 3, 1));
        assert_eq!((kept.switches[0].to, kept.switches[0].op), (ThreadId(1), 7));
    }
}
