//! An execution as schedule and trace files hold it.

use std::collections::HashMap;
use std::sync::Arc;

use threadbare_report::{Interleaving, about_switch, record};
use threadbare_target::Execution;
use threadbare_trace::{Schedule, Switch, SwitchRecord, TraceFile};

use crate::names::ExecutionNames;

/// A run as a trace file has it. The schedule says which program it was.
pub fn recorded(run: &Execution, names: &ExecutionNames<'_>, schedule: &Schedule) -> TraceFile {
    let mut file = record(&interleaving_of(run, &[]), &run.contexts, names);
    file.program.clone_from(&schedule.program);
    file.args.clone_from(&schedule.args);
    file.binary.clone_from(&schedule.binary);
    file.shows.clone_from(&schedule.shows);
    file
}

/// A run as reports read it, with some of its events pointed out.
pub fn interleaving_of<'a>(run: &'a Execution, marked: &'a [usize]) -> Interleaving<'a> {
    Interleaving { events: &run.events, switches: &run.switches, outcome: &run.outcome, marked }
}

/// The switches of a run as a schedule file names them.
pub fn to_schedule(switches: &[SwitchRecord], names: &ExecutionNames<'_>) -> Vec<Switch> {
    // A long execution is stopped at the same few places again and again.
    let mut known: HashMap<(u64, u32, u64, u8), Arc<str>> = HashMap::new();
    let named = |switch: &SwitchRecord| {
        let place = (switch.pc, switch.context, switch.addr, switch.kind);
        let site = known.entry(place).or_insert_with(|| about_switch(switch, names).into()).clone();
        Switch { from: switch.from, op: switch.op, to: switch.to, site }
    };
    switches.iter().map(named).collect()
}

/// The switches of a schedule file as the runtime follows them.
pub fn from_schedule(schedule: &Schedule) -> Vec<SwitchRecord> {
    let record = |switch: &Switch| SwitchRecord {
        from: switch.from,
        op: switch.op,
        to: switch.to,
        ..SwitchRecord::default()
    };
    schedule.switches.iter().map(record).collect()
}
