//! Whether a campaign had the program under control.
//!
//! A campaign in which nothing was decided has seen nothing, and says neither "clean" nor "exhausted": it ends with an error,
//! in every command.

use threadbare_trace::Outcome;

use crate::error::ExploreError;

/// After how many executions, none of them under control, there is no point in continuing.
const HOPELESS: u64 = 4;

/// Executions that say nothing of how the program ends: they could not be kept under control, or reached a limit.
#[derive(Clone, Default, Debug)]
pub(crate) struct Unfinished {
    pub(crate) uncontrolled: u64,
    pub(crate) cut: u64,
    /// Why the first of each could not.
    why_uncontrolled: Option<String>,
    why_cut: Option<String>,
}

impl Unfinished {
    /// Takes the end of an execution in.
    pub(crate) fn enter(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Uncontrolled(why) => {
                self.uncontrolled += 1;
                self.why_uncontrolled.get_or_insert_with(|| why.clone());
            }
            Outcome::Cut(why) => {
                self.cut += 1;
                self.why_cut.get_or_insert_with(|| why.clone());
            }
            Outcome::Passed | Outcome::Failed(_) => {}
        }
    }

    /// Whether so many executions were made, and none to its end under control, that none will be.
    pub(crate) fn is_hopeless(&self, executions: u64) -> bool {
        executions >= HOPELESS && self.uncontrolled + self.cut == executions
    }
}

/// What a campaign has made, as far as it says whether anything was under control.
pub(crate) struct Control<'a> {
    pub(crate) executions: u64,
    pub(crate) unfinished: &'a Unfinished,
    pub(crate) steps: u64,
    pub(crate) threads: u32,
    /// An execution failed, or a signal ended the campaign: there is something to report all the same.
    pub(crate) has_result: bool,
}

impl Control<'_> {
    /// An error if nothing was under control or ended, and warnings if not everything was and did.
    pub(crate) fn judge(self) -> Result<Vec<String>, ExploreError> {
        let Control { executions, unfinished, steps, threads, has_result } = self;
        let Unfinished { uncontrolled, cut, why_uncontrolled, why_cut } = unfinished;
        match (why_uncontrolled, why_cut) {
            (Some(why), _) if *uncontrolled == executions => {
                return Err(ExploreError::Uncontrolled(why.clone()));
            }
            (_, Some(why)) if uncontrolled + cut == executions && !has_result => {
                return Err(ExploreError::AllCut { cut: *cut, why: why.clone() });
            }
            _ if executions > 0 && steps == 0 && !has_result => {
                return Err(ExploreError::NoSchedulingPoint { threads });
            }
            _ => {}
        }
        let lost = why_uncontrolled.as_ref().map(|why| {
            format!("{uncontrolled} of {executions} executions could not be kept under control: {why}")
        });
        let ended = why_cut.as_ref().map(|why| {
            format!(
                "{cut} of {executions} executions were cut, so how they would have ended is not known: {why}"
            )
        });
        Ok(lost.into_iter().chain(ended).collect())
    }
}
