//! All detectors on one trace.

use std::collections::{BTreeSet, HashMap, HashSet};

use threadbare_trace::Event;

use crate::{
    Atomicity, Deadlock, Detector, Finding, FindingKind, FindingSet, HappensBefore, Hybrid, Interrupts,
    LockDiscipline, MultiVariable, WordDeadlock,
};

/// One of each detector.
pub fn detectors() -> Vec<Box<dyn Detector>> {
    vec![
        Box::<HappensBefore>::default(),
        Box::<Hybrid>::default(),
        Box::<LockDiscipline>::default(),
        Box::<Atomicity>::default(),
        Box::<MultiVariable>::default(),
        Box::<Deadlock>::default(),
        Box::<WordDeadlock>::default(),
    ]
}

/// Shows one trace to all detectors and puts together what they find.
pub struct Examination {
    detectors: Vec<Box<dyn Detector>>,
    seen: usize,
}

impl Default for Examination {
    fn default() -> Self {
        Examination { detectors: detectors(), seen: 0 }
    }
}

impl Examination {
    /// What all detectors find in a whole trace.
    pub fn of(events: &[Event]) -> Vec<Finding> {
        let mut examination = Examination::default();
        if events.iter().any(|event| event.interrupts().is_some()) {
            examination.detectors.push(Box::<Interrupts>::default());
        }
        events.iter().for_each(|event| examination.observe(event));
        examination.findings()
    }

    /// Takes in the next step of the trace.
    pub fn observe(&mut self, event: &Event) {
        for detector in &mut self.detectors {
            detector.observe(self.seen, event);
        }
        self.seen += 1;
    }

    /// Everything found, surest first. What two detectors found is there once, and an unprotected variable is
    /// not reported again where its race is.
    pub fn findings(self) -> Vec<Finding> {
        let mut set = FindingSet::default();
        let mut undisciplined = Vec::new();
        for detector in self.detectors {
            for finding in detector.findings() {
                match finding.kind {
                    FindingKind::LockDiscipline => undisciplined.push(finding),
                    FindingKind::Race
                    | FindingKind::Atomicity
                    | FindingKind::Order
                    | FindingKind::Deadlock => set.add_same(finding),
                }
            }
        }
        let races = Races::of(set.iter().filter(|finding| finding.kind == FindingKind::Race));
        undisciplined.retain(|finding| !races.cover(finding));
        undisciplined.into_iter().for_each(|finding| set.add_same(finding));
        set.into_sorted()
    }
}

/// The races of a trace, by what they are about: there may be thousands.
struct Races {
    objects: HashSet<u64>,
    /// The numbers of the races in which code takes part.
    by_site: HashMap<u64, BTreeSet<usize>>,
}

impl Races {
    fn of<'a>(races: impl Iterator<Item = &'a Finding>) -> Races {
        let mut known = Races { objects: HashSet::new(), by_site: HashMap::new() };
        for (number, race) in races.enumerate() {
            known.objects.insert(race.object);
            for access in &race.accesses {
                known.by_site.entry(access.pc).or_default().insert(number);
            }
        }
        known
    }

    /// Whether a race is about the same memory, or all the code of a finding takes part in one.
    fn cover(&self, finding: &Finding) -> bool {
        if self.objects.contains(&finding.object) {
            return true;
        }
        let mut of_sites = finding.accesses.iter().map(|access| self.by_site.get(&access.pc));
        let Some(first) = of_sites.next() else { return !self.by_site.is_empty() };
        let mut common = first.cloned().unwrap_or_default();
        for others in of_sites {
            common.retain(|race| others.is_some_and(|others| others.contains(race)));
        }
        !common.is_empty()
    }
}
