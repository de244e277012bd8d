//! Whether a campaign had the program under control.
//!
//! A campaign in which nothing was decided has seen nothing, and says neither "clean" nor "exhausted": it ends with an error,
//! in every command.

use threadbare_trace::Outcome;

use crate::error::ExploreError;

/// After how many executions, none of them under control, there is no point in continuing.
const HOPELESS: u64 = 4;

/// Executions that could not be kept under control.
#[derive(Clone, Default, Debug)]
pub(crate) struct Uncontrolled {
    pub(crate) count: u64,
    /// Why the first of them could not.
    why: Option<String>,
}

impl Uncontrolled {
    /// Takes the end of an execution in.
    pub(crate) fn enter(&mut self, outcome: &Outcome) {
        if let Outcome::Uncontrolled(why) = outcome {
            self.count += 1;
            self.why.get_or_insert_with(|| why.clone());
        }
    }

    /// Whether so many executions were made, and none under control, that none will be.
    pub(crate) fn is_hopeless(&self, executions: u64) -> bool {
        executions >= HOPELESS && self.count == executions
    }
}

/// What a campaign has made, as far as it says whether anything was under control.
pub(crate) struct Control<'a> {
    pub(crate) executions: u64,
    pub(crate) uncontrolled: &'a Uncontrolled,
    pub(crate) steps: u64,
    pub(crate) threads: u32,
    /// An execution failed, or a signal ended the campaign: there is something to report all the same.
    pub(crate) has_result: bool,
}

impl Control<'_> {
    /// An error if nothing was under control, and a warning if not everything was.
    pub(crate) fn judge(self) -> Result<Option<String>, ExploreError> {
        let Control { executions, uncontrolled: Uncontrolled { count, why }, steps, threads, .. } = self;
        match why {
            Some(why) if *count == executions => return Err(ExploreError::Uncontrolled(why.clone())),
            _ if executions > 0 && steps == 0 && !self.has_result => {
                return Err(ExploreError::NoSchedulingPoint { threads });
            }
            _ => {}
        }
        let warning =
            |why| format!("{count} of {executions} executions could not be kept under control: {why}");
        Ok(why.as_ref().map(warning))
    }
}
