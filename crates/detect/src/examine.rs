//! All detectors on one trace.

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
        undisciplined.retain(|finding| {
            !set.iter().any(|race| race.kind == FindingKind::Race && is_covered_by(finding, race))
        });
        undisciplined.into_iter().for_each(|finding| set.add_same(finding));
        set.into_sorted()
    }
}

fn is_covered_by(finding: &Finding, race: &Finding) -> bool {
    race.object == finding.object
        || finding.accesses.iter().all(|access| race.accesses.iter().any(|racing| racing.pc == access.pc))
}
