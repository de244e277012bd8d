//! What a server is given before an execution.

use std::io::{Seek as _, SeekFrom};

use threadbare_sched::PolicySpec;
use threadbare_wire::PlanRecord;

use super::Server;
use crate::server_error::RunError;

impl Server {
    /// Writes the plan of an execution, and resets what the one before has left.
    pub(crate) fn prepare(&mut self, policy: &PolicySpec, flags: u32) -> Result<(), RunError> {
        if policy.parameters.needs_lock_places() {
            self.write_own_code();
        }
        self.put_files_back();
        let control = self.memory.control_mut();
        self.baseline.restore(control);
        control.plan = PlanRecord {
            policy: policy.parameters.number(),
            flags,
            seed: policy.seed,
            policy_words: 0,
            max_steps: self.max_steps,
            pool: self.pool,
            idle: self.idle,
        };
        self.write_parameters(&policy.parameters.to_words())?;
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

    /// Puts the parameters of the plan's policy where the runtime reads them.
    pub(crate) fn write_parameters(&mut self, words: &[u64]) -> Result<(), RunError> {
        let area = self.memory.layout().policy;
        // SAFETY: the policy area holds words.
        if !unsafe { self.memory.write(area, 0, words) } {
            return Err(RunError::ScheduleTooLong { len: words.len(), capacity: area.capacity });
        }
        self.memory.control_mut().plan.policy_words = words.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use threadbare_sched::{PolicySpec, Random};
    use threadbare_trace::Outcome;
    use threadbare_wire::Request;

    use super::*;
    use crate::{ServerOptions, resolve};

    const PROGRAM: &str = "#include <pthread.h>\nstatic void *nothing(void *p) { return p; }\n\
        int main(void) { pthread_t t; pthread_create(&t, NULL, nothing, NULL); return pthread_join(t, NULL); }\n";

    /// Runs a plan that is changed after it was written.
    fn run(server: &mut Server, change: impl Fn(&mut PlanRecord)) -> Result<Outcome, RunError> {
        server.prepare(&PolicySpec::new(Random, 1), 0)?;
        change(&mut server.memory.control_mut().plan);
        server.request(Request::Run)?;
        let report = server.await_report()?;
        server.collect(0, &report).map(|run| run.outcome)
    }

    #[test]
    fn a_plan_that_the_runtime_does_not_understand_is_refused_with_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("p.c");
        fs::write(&source, PROGRAM).unwrap();
        let program = resolve(&source, &[], folder.path()).unwrap();
        let stall = Duration::from_millis(500);
        let options = ServerOptions {
            max_steps: 10_000,
            most_events: u64::MAX,
            flags: 0,
            stall,
            stop: Default::default(),
        };
        let mut server = Server::start(&program, &options).unwrap();
        let refused = |outcome: Result<Outcome, RunError>| outcome.unwrap_err().to_string();
        assert_eq!(
            refused(run(&mut server, |plan| plan.policy = 999)),
            "the runtime inside the program refused the plan of an execution: \
             there is no scheduling policy with number 999"
        );
        assert_eq!(
            refused(run(&mut server, |plan| plan.policy_words = 1)),
            "the runtime inside the program refused the plan of an execution: \
             the parameters of the scheduling policy Random are malformed"
        );
        assert_eq!(run(&mut server, |_| {}).unwrap(), Outcome::Passed, "the server is as good as before");
    }
}
