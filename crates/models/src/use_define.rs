//! Use-defines (§3.13): whose value each read sees, and whose it could have seen.

use std::collections::{BTreeMap, BTreeSet};

use threadbare_trace::{Event, ThreadId};

use super::operation::Location;
use super::potential_use_defines::Potential;
use super::variables::Variables;

/// A variable that is read somewhere.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Use {
    /// The variable, by its first byte.
    pub variable: u64,
    /// Where it is read.
    pub at: Location,
}

/// `ud(variable, use, define)`: a read somewhere sees the value that is written somewhere.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct UseDefine {
    /// The read.
    pub used: Use,
    /// Where the value is written; none if it was there before all writes.
    pub defined: Option<Location>,
}

/// A use-define by the very events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InstanceUse {
    /// The variable, by its first byte.
    pub variable: u64,
    /// The event that reads it.
    pub used: usize,
    /// The event that wrote what it sees; none if it was there before all writes.
    pub defined: Option<usize>,
}

/// The use-defines of an execution.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UseDefines {
    /// `setUD(V)`: what was seen.
    pub actual: BTreeSet<UseDefine>,
    /// What another order of the same steps could have shown instead.
    pub potential: BTreeSet<UseDefine>,
    /// What was seen, event by event, in the order of the reads.
    pub instances: Vec<InstanceUse>,
    /// The variables that more than one thread touches.
    shared: BTreeSet<u64>,
    locations: Vec<Location>,
}

impl UseDefines {
    /// Those of an execution, potential ones included.
    pub fn of(events: &[Event]) -> UseDefines {
        let variables = Variables::of(events);
        let mut found = UseDefines::seen(events, &variables);
        let potential = Potential::of(events, &variables).found();
        found.potential = potential.difference(&found.actual).copied().collect();
        found
    }

    /// Only what was seen.
    pub fn actual_of(events: &[Event]) -> UseDefines {
        UseDefines::seen(events, &Variables::of(events))
    }

    fn seen(events: &[Event], variables: &Variables) -> UseDefines {
        let mut defines: Vec<Option<usize>> = vec![None; variables.addresses.len()];
        let mut owners: BTreeMap<u64, ThreadId> = BTreeMap::new();
        let mut found =
            UseDefines { locations: events.iter().map(Location::of).collect(), ..UseDefines::default() };
        for (index, touched) in variables.touched.iter().enumerate() {
            let Some((touch, pieces)) = touched else { continue };
            for piece in pieces {
                let variable = variables.addresses[*piece];
                let thread = events[index].thread;
                if *owners.entry(variable).or_insert(thread) != thread {
                    found.shared.insert(variable);
                }
                if touch.reads {
                    found.add(InstanceUse { variable, used: index, defined: defines[*piece] });
                }
                if touch.writes {
                    defines[*piece] = Some(index);
                }
            }
        }
        found
    }

    fn add(&mut self, instance: InstanceUse) {
        self.actual.insert(self.by_location(&instance));
        self.instances.push(instance);
    }

    /// A use-define of events as one of locations.
    pub fn by_location(&self, instance: &InstanceUse) -> UseDefine {
        let at = self.locations[instance.used];
        let used = Use { variable: instance.variable, at };
        UseDefine { used, defined: instance.defined.map(|event| self.locations[event]) }
    }

    /// Where an event happened.
    pub fn location(&self, event: usize) -> Location {
        self.locations[event]
    }

    /// `define_set(variable, use)`: everything that the read can see. None stands for what was there before all writes.
    pub fn define_set(&self, used: Use) -> BTreeSet<Option<Location>> {
        // None comes before all others.
        let first = UseDefine { used, defined: None };
        let of = |set: &BTreeSet<UseDefine>| {
            let its = set.range(first..).take_while(|it| it.used == used);
            its.map(|it| it.defined).collect::<Vec<_>>()
        };
        of(&self.actual).into_iter().chain(of(&self.potential)).collect()
    }

    /// The variables that are read at a location.
    pub fn uses_at(&self, at: Location) -> BTreeSet<Use> {
        self.actual.iter().map(|it| it.used).filter(|used| used.at == at).collect()
    }

    /// Whether more than one thread touches a variable.
    pub fn is_shared(&self, variable: u64) -> bool {
        self.shared.contains(&variable)
    }
}
