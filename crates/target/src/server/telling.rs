//! What a server is given before an execution.

use std::io::{Seek as _, SeekFrom};

use threadbare_sched::PolicySpec;
use threadbare_wire::{DecisionRecord, Plan};

use super::Server;
use crate::execution::Script;
use crate::server_error::RunError;

impl Server {
    /// Writes the plan of an execution, and resets what the one before has left.
    pub(crate) fn prepare(
        &mut self,
        policy: PolicySpec,
        script: &Script,
        flags: u32,
    ) -> Result<(), RunError> {
        let script_len = self.write_script(script)?;
        if matches!(script, Script::Requirements(_)) {
            self.write_own_code();
        }
        let control = self.memory.control_mut();
        self.baseline.restore(control);
        control.plan = Plan { policy, max_steps: self.options.max_steps, script_len, flags, pool: self.pool };
        if self.has_output {
            self.output.cut(self.baseline.output.len() as u64)?;
        }
        if let Some((file, position)) = &mut self.stdin {
            file.seek(SeekFrom::Start(*position))?;
        }
        Ok(())
    }

    /// Gives the runtime the ranges of the programmer's own code, once.
    fn write_own_code(&mut self) {
        if self.memory.control().own_code == 0 {
            let area = self.memory.layout().own_code;
            let own = self.own_code.ranges();
            let own = &own[..own.len().min(area.capacity as usize)];
            // SAFETY: the area holds code ranges.
            unsafe { self.memory.write(area, 0, own) };
            self.memory.control_mut().own_code = own.len() as u64;
        }
    }

    /// Puts a script where the runtime reads it; returns its length.
    pub(crate) fn write_script(&mut self, script: &Script) -> Result<u64, RunError> {
        let area = self.memory.layout().script;
        // SAFETY: the script area is laid out for switches, the largest of the record types.
        let (fits, len) = unsafe {
            match script {
                Script::None => (true, 0),
                Script::Replay(switches) => (self.memory.write(area, 0, switches), switches.len()),
                Script::Prefix(threads) => {
                    let chosen = |thread: &_| DecisionRecord { chosen: *thread, ..DecisionRecord::default() };
                    let records: Vec<DecisionRecord> = threads.iter().map(chosen).collect();
                    (self.memory.write(area, 0, &records), records.len())
                }
                Script::Guidance(guidance) => {
                    let words = guidance.to_words();
                    (self.memory.write(area, 0, &words), words.len())
                }
                Script::Requirements(requirements) => {
                    let words = requirements.to_words();
                    (self.memory.write(area, 0, &words), words.len())
                }
            }
        };
        if fits { Ok(len as u64) } else { Err(RunError::ScriptTooLong { len, capacity: area.capacity }) }
    }
}
