//! What is worth asking, the most promising first.
//!
//! Usually the first answer is a schedule, and then all else waits for what its execution shows. Only where one question
//! after the other turns out to be about something impossible, more and more of those that come next are asked at once,
//! side by side. Which ones depends on the answers alone, not on how many can be worked on at a time.

use std::collections::{BTreeMap, HashMap};

use threadbare_order::{Answer, Core, Goal, Model, Panel, Question};

use crate::search_effort::SearchEffort;
use crate::strategy::Plan;

/// The most questions that are asked at once.
const WIDEST: usize = 32;

/// How much further to look for them.
const REACH: usize = 4 * WIDEST;

/// The most answers that are kept until it is their turn.
const MOST_KEPT: usize = 256;

/// What to do about something that is wanted.
pub(crate) enum Triage<R> {
    /// It is not wanted any more.
    Skip,
    /// It is less promising than it was.
    Later(R),
    /// No need to ask: this is the answer.
    Known(Answer),
    /// The question to ask.
    Ask(Question),
}

/// Who wants to know.
pub(crate) trait Asking<R, W>: Sync {
    /// What to do about this.
    fn triage(&self, rank: &R, wanted: &W) -> Triage<R>;

    /// The model with this number.
    fn model(&self, about: usize) -> Model;

    /// A plan that the answer suggests, if it does.
    fn take(&mut self, rank: R, wanted: W, answer: Answer) -> Option<Plan>;

    /// Whether the goal is known to be impossible.
    fn is_refuted(&self, _goal: &Goal, _model: &Model) -> bool {
        false
    }

    /// Takes note of why something is impossible.
    fn note(&mut self, _core: Core) {}

    /// Where to count.
    fn effort(&mut self) -> &mut SearchEffort;
}

/// What is wanted, in order, and who answers.
pub(crate) struct QuestionQueue<R, W> {
    queue: BTreeMap<R, W>,
    panel: Panel,
    /// What was asked before it was its turn.
    ahead: HashMap<Question, Answer>,
}

impl<R: Ord, W> QuestionQueue<R, W> {
    pub(crate) fn new(panel: Panel) -> QuestionQueue<R, W> {
        QuestionQueue { queue: BTreeMap::new(), panel, ahead: HashMap::new() }
    }

    pub(crate) fn add(&mut self, rank: R, wanted: W) {
        self.queue.insert(rank, wanted);
    }

    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Everything, in order.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = &W> {
        self.queue.values()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The plan that comes first. There may be none because it is over; then something is left.
    pub(crate) fn next(
        &mut self,
        asking: &mut impl Asking<R, W>,
        is_over: &dyn Fn() -> bool,
    ) -> Option<Plan> {
        let mut width = 1;
        while !is_over()
            && let Some((rank, wanted)) = self.queue.pop_first()
        {
            let answer = match asking.triage(&rank, &wanted) {
                Triage::Skip => continue,
                Triage::Later(rank) => {
                    self.queue.insert(rank, wanted);
                    continue;
                }
                Triage::Known(answer) => answer,
                Triage::Ask(question) => match self.ahead.remove(&question) {
                    Some(answer) => answer,
                    None if self.is_refuted(&question, asking) => {
                        asking.effort().spared += 1;
                        Answer::Impossible
                    }
                    None => {
                        let answer = self.ask(question, width, asking);
                        width = (2 * width).min(WIDEST);
                        answer
                    }
                },
            };
            if let Some(plan) = asking.take(rank, wanted, answer) {
                return Some(plan);
            }
        }
        None
    }

    fn is_refuted(&mut self, question: &Question, asking: &impl Asking<R, W>) -> bool {
        let model = self.panel.model(question.about, || asking.model(question.about));
        asking.is_refuted(&question.goal, &model)
    }

    /// Asks this question and some that come after it; returns the first answer and keeps the others.
    fn ask(&mut self, first: Question, width: usize, asking: &mut impl Asking<R, W>) -> Answer {
        let mut questions = vec![first];
        for (rank, wanted) in self.queue.iter().take(REACH) {
            if questions.len() >= width {
                break;
            }
            let Triage::Ask(next) = asking.triage(rank, wanted) else { continue };
            let model = self.panel.model(next.about, || asking.model(next.about));
            let is_settled = self.ahead.contains_key(&next) || questions.contains(&next);
            if !is_settled && !asking.is_refuted(&next.goal, &model) {
                questions.push(next);
            }
        }
        if self.ahead.len() > MOST_KEPT {
            self.ahead.clear();
        }
        let replies = self.panel.ask(&questions, &|about| asking.model(about));
        asking.effort().questions += replies.len() as u64;
        let mut own = Answer::Unknown;
        for (place, (question, reply)) in questions.into_iter().zip(replies).enumerate() {
            reply.core.into_iter().for_each(|core| asking.note(core));
            if place == 0 {
                own = reply.answer;
            } else {
                self.ahead.insert(question, reply.answer);
            }
        }
        own
    }
}
