//! Executions made up from a seed.
#![allow(dead_code, reason = "each test file uses its own part")]

use threadbare_trace::{
    ContextRecord, Event, EventKind, EventNames, Failure, FailureKind, Outcome, ShownFinding, SiteName,
    SwitchRecord, ThreadId, TraceFile,
};

/// A small generator of numbers (xorshift).
pub struct Numbers(u64);

impl Numbers {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Numbers {
        Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 11) % bound
    }

    /// Whether a coin fell on its head.
    pub fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    /// A number of any length.
    pub fn any(&mut self) -> u64 {
        let bits = self.below(64);
        self.next() >> bits
    }

    /// A text, now and then empty or with letters of more than one byte.
    pub fn text(&mut self) -> String {
        let letters: Vec<char> = "ab→.\n\t|(9é".chars().collect();
        (0..self.below(9)).map(|_| letters[self.below(letters.len() as u64) as usize]).collect()
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Numbers) -> T) -> Option<T> {
        if self.coin() { Some(make(self)) } else { None }
    }
}

/// An execution that no program could make, with every kind of field in it.
pub fn made_up(seed: u64) -> TraceFile {
    let numbers = &mut Numbers::new(seed);
    let mut file = TraceFile::default();
    (file.program, file.binary) = (numbers.text(), numbers.text());
    file.shows = numbers.maybe(|numbers| ShownFinding {
        kind: "race".into(),
        pattern: Some(numbers.below(17) as u8),
        steps: vec![(ThreadId(1), numbers.below(99) as u32), (ThreadId(2), 7)],
        sentence: numbers.text(),
        is_cause: numbers.coin(),
    });
    file.args = (0..numbers.below(4)).map(|_| numbers.text()).collect();
    file.outcome = match numbers.below(4) {
        0 => None,
        1 => Some(Outcome::Passed),
        2 => Some(Outcome::Uncontrolled(numbers.text())),
        _ => Some(Outcome::Failed(Failure {
            kind: FailureKind::ALL[numbers.below(FailureKind::ALL.len() as u64) as usize],
            message: numbers.text(),
            thread: ThreadId(numbers.any() as u16),
            stack: (0..numbers.below(4)).map(|_| numbers.any()).collect(),
        })),
    };
    for _ in 0..numbers.below(3) {
        let (address, name) = (numbers.any(), numbers.text());
        file.name_routine(address, &name);
    }
    for _ in 0..numbers.below(20) {
        match numbers.below(4) {
            0 => {
                file.push_context(ContextRecord { pc: numbers.any(), parent: numbers.any() as u32, spare: 0 })
            }
            1 => {
                let switch = SwitchRecord {
                    pc: numbers.below(4),
                    op: numbers.any() as u32,
                    from: ThreadId(numbers.below(3) as u16),
                    to: ThreadId(numbers.below(3) as u16),
                    addr: numbers.below(4),
                    kind: numbers.any() as u8,
                    reason: numbers.any() as u8,
                    spare: 0,
                    context: numbers.below(3) as u32,
                };
                let name = numbers.maybe(Numbers::text);
                file.push_switch(switch, name.as_deref());
            }
            _ => push_event(&mut file, numbers),
        }
    }
    file
}

fn push_event(file: &mut TraceFile, numbers: &mut Numbers) {
    let event = Event {
        pc: numbers.below(4),
        addr: numbers.below(4),
        value: numbers.any(),
        old: numbers.any(),
        op: numbers.any() as u32,
        thread: ThreadId(numbers.below(3) as u16),
        kind: numbers.any() as u8,
        size: numbers.any() as u8,
        context: numbers.below(3) as u32,
        flags: 0,
    };
    let name = SiteName {
        label: numbers.text(),
        function: numbers.maybe(Numbers::text),
        file: numbers.maybe(Numbers::text),
        line: numbers.maybe(|numbers| numbers.any() as u32),
        column: numbers.maybe(|numbers| numbers.any() as u32),
        in_system: numbers.coin(),
        library_operation: numbers.maybe(Numbers::text),
        source: numbers.maybe(Numbers::text),
    };
    let name = numbers.maybe(|_| name);
    file.name_site(event.pc, event.context, || name);
    let names = EventNames {
        object: numbers.maybe(Numbers::text),
        value: numbers.maybe(Numbers::text),
        old: numbers.maybe(Numbers::text),
    };
    file.push_event(event, &names);
}

/// A step at line `pc` of `bank.c`, about the object with this name.
pub fn push(file: &mut TraceFile, thread: u16, kind: EventKind, addr: u64, name: &str, value: u64) {
    let pc = 5 + file.events().len() as u64 % 3;
    let event =
        Event { pc, addr, value, thread: ThreadId(thread), kind: kind as u8, size: 4, ..Event::default() };
    file.name_site(pc, 0, || {
        Some(SiteName {
            label: format!("bank.c:{pc}"),
            function: Some("deposit".into()),
            file: Some("src/bank.c".into()),
            line: Some(pc as u32),
            column: Some(3),
            in_system: false,
            library_operation: None,
            source: None,
        })
    });
    let object = (!name.is_empty()).then(|| name.to_string());
    file.push_event(event, &EventNames { object, ..EventNames::default() });
}
