//! What a policy is specified by, and how that travels to the target.
//!
//! The parameters of a policy are encoded here into plain words, so that the shared memory needs to know no policy: it
//! holds a number, a seed and words. What does not decode is an error; a policy that nobody asked for is never run.

use std::fmt;

use threadbare_trace::ThreadId;

use crate::policy::Policy;
use crate::{AnyPolicy, Parameters};

/// The parameters of one policy.
pub trait Specification: Sized {
    /// The running policy that they specify.
    type Policy: Policy;

    /// What people call the policy with these parameters, such as `pct (depth 3)`.
    fn name(&self) -> String;

    /// Appends the parameters, as [`Specification::decode`] reads them.
    fn encode(&self, words: &mut Vec<u64>);

    /// Reads what [`Specification::encode`] wrote.
    fn decode(words: &mut Words<'_>) -> Result<Self, Malformed>;

    /// The policy, before its first decision.
    fn start(self, seed: u64) -> Self::Policy;

    /// The parameters alone, as words.
    fn to_words(&self) -> Vec<u64> {
        let mut words = Vec::new();
        self.encode(&mut words);
        words
    }

    /// Back from words, none of which may be left over.
    fn from_words(words: &[u64]) -> Result<Self, Malformed> {
        let mut words = Words::new(words);
        let specification = Self::decode(&mut words)?;
        if words.left.is_empty() { Ok(specification) } else { Err(Malformed) }
    }
}

/// A policy with its parameters and its seed: who decides in one execution.
#[derive(Clone, PartialEq, Debug)]
pub struct PolicySpec {
    /// Decides every random choice.
    pub seed: u64,
    /// Which policy, with its own parameters.
    pub parameters: Parameters,
}

impl PolicySpec {
    /// A policy with this seed.
    pub fn new(parameters: impl Into<Parameters>, seed: u64) -> PolicySpec {
        PolicySpec { seed, parameters: parameters.into() }
    }

    /// The policy, before its first decision.
    pub fn start(self) -> AnyPolicy {
        self.parameters.start(self.seed)
    }

    /// Back from what travelled: [`Parameters::number`], the seed, and [`Parameters::to_words`].
    pub fn decode(number: u32, seed: u64, words: &[u64]) -> Result<PolicySpec, SpecError> {
        Ok(PolicySpec { seed, parameters: Parameters::decode(number, words)? })
    }
}

/// Words that are not the parameters of the policy that they were sent for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Malformed;

/// Why a specification cannot be run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpecError {
    /// No policy has this number.
    UnknownPolicy(u32),
    /// The policy with this name has no such parameters.
    Malformed(&'static str),
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecError::UnknownPolicy(number) => {
                write!(f, "there is no scheduling policy with number {number}")
            }
            SpecError::Malformed(policy) => {
                write!(f, "the parameters of the scheduling policy {policy} are malformed")
            }
        }
    }
}

impl std::error::Error for SpecError {}

/// The words of a specification that have not been read yet.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    left: &'a [u64],
}

impl<'a> Words<'a> {
    /// All of these.
    pub fn new(words: &'a [u64]) -> Words<'a> {
        Words { left: words }
    }

    /// The next so many.
    pub fn take(&mut self, count: u64) -> Result<&'a [u64], Malformed> {
        let count = usize::try_from(count).map_err(|_| Malformed)?;
        let (taken, left) = self.left.split_at_checked(count).ok_or(Malformed)?;
        self.left = left;
        Ok(taken)
    }

    /// The next one.
    pub fn word(&mut self) -> Result<u64, Malformed> {
        let (word, left) = self.left.split_first().ok_or(Malformed)?;
        self.left = left;
        Ok(*word)
    }

    /// The next one, as a number that has to fit.
    pub fn number<N: TryFrom<u64>>(&mut self) -> Result<N, Malformed> {
        N::try_from(self.word()?).map_err(|_| Malformed)
    }

    /// The next one, as a thread.
    pub fn thread(&mut self) -> Result<ThreadId, Malformed> {
        self.number().map(ThreadId)
    }

    /// The next one, as a yes or no.
    pub fn flag(&mut self) -> Result<bool, Malformed> {
        match self.word()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed),
        }
    }

    /// The next one, as a probability.
    pub fn probability(&mut self) -> Result<f64, Malformed> {
        let probability = f64::from_bits(self.word()?);
        if (0.0..=1.0).contains(&probability) { Ok(probability) } else { Err(Malformed) }
    }

    /// A list: its length, and each of these.
    pub fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut Words<'a>) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let length = self.word()?;
        // A length that is wrong meets the end of the words.
        let mut list = Vec::new();
        for _ in 0..length {
            list.push(read(self)?);
        }
        Ok(list)
    }
}
