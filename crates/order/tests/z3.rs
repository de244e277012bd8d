//! A second opinion: the same questions, written down in full as a formula for Z3. Traces may be longer here than
//! trying all orders allows. Compiled with the feature `z3` only.

#![cfg(feature = "z3")]

mod support;

use support::program::{Flavour, Program};
use support::run::trace;
use support::{Traced, extent, reads, seen, writes};
use threadbare_order::{Answer, Goal, Model, Solver, StepId};
use threadbare_sched::Rng;
use threadbare_trace::{Event, EventKind};
use z3::ast::{Ast as _, Bool, Int};
use z3::{Config, Context, SatResult};

/// A trace as a formula: each step has a time, and is made or not.
struct Formula<'a> {
    context: &'a Context,
    traced: &'a Traced,
    times: Vec<Int<'a>>,
    made: Vec<Bool<'a>>,
    /// The step goes as it was recorded.
    recorded: Vec<Bool<'a>>,
    /// The step before and after each in its thread.
    before: Vec<Option<usize>>,
    after: Vec<Option<usize>>,
    /// Accesses to memory by step.
    accesses: Vec<Option<Event>>,
}

impl<'a> Formula<'a> {
    fn new(context: &'a Context, traced: &'a Traced) -> Formula<'a> {
        let count = traced.path.steps.len();
        let (mut before, mut after) = (vec![None; count], vec![None; count]);
        for (place, id) in traced.path.steps.iter().enumerate() {
            let parent = traced.forest.step(*id).parent;
            before[place] = parent.and_then(|parent| traced.path.steps.iter().position(|id| *id == parent));
            if let Some(parent) = before[place] {
                after[parent] = Some(place);
            }
        }
        let mut accesses = vec![None; count];
        for (index, event) in traced.events.iter().enumerate() {
            if reads(event) || writes(event) {
                accesses[traced.path.of_event[index] as usize] = Some(*event);
            }
        }
        Formula {
            context,
            traced,
            times: (0..count).map(|n| Int::new_const(context, format!("time {n}"))).collect(),
            made: (0..count).map(|n| Bool::new_const(context, format!("made {n}"))).collect(),
            recorded: (0..count).map(|n| Bool::new_const(context, format!("recorded {n}"))).collect(),
            before,
            after,
            accesses,
        }
    }

    fn place(&self, id: StepId) -> usize {
        self.traced.path.steps.iter().position(|other| *other == id).expect("a step of the trace")
    }

    fn all(&self, parts: &[Bool<'a>]) -> Bool<'a> {
        Bool::and(self.context, &parts.iter().collect::<Vec<_>>())
    }

    fn any(&self, parts: &[Bool<'a>]) -> Bool<'a> {
        Bool::or(self.context, &parts.iter().collect::<Vec<_>>())
    }

    fn earlier(&self, a: usize, b: usize) -> Bool<'a> {
        self.times[a].lt(&self.times[b])
    }

    /// The steps that write a variable.
    fn writers(&self, addr: u64) -> Vec<usize> {
        let is_one = |n: &usize| self.accesses[*n].is_some_and(|e| writes(&e) && e.addr == addr);
        (0..self.times.len()).filter(is_one).collect()
    }

    /// The step finds this value in its variable.
    fn finds(&self, step: usize, value: u64) -> Bool<'a> {
        let addr = self.accesses[step].expect("an access").addr;
        let first = self.traced.events.iter().find(|e| (reads(e) || writes(e)) && e.addr == addr);
        let initial = first.map_or(0, |event| if reads(event) { seen(event) } else { event.old });
        let writers: Vec<usize> = self.writers(addr).into_iter().filter(|other| *other != step).collect();
        let mut ways = Vec::new();
        for &source in &writers {
            let access = self.accesses[source].expect("an access");
            if access.value != value {
                continue;
            }
            let mut parts = vec![self.made[source].clone(), self.earlier(source, step)];
            if reads(&access) {
                parts.push(self.recorded[source].clone());
            }
            for &other in writers.iter().filter(|other| **other != source) {
                let apart = [self.made[other].not(), self.earlier(other, source), self.earlier(step, other)];
                parts.push(self.any(&apart));
            }
            ways.push(self.all(&parts));
        }
        if initial == value {
            let none: Vec<Bool<'a>> = (writers.iter())
                .map(|other| self.any(&[self.made[*other].not(), self.earlier(step, *other)]))
                .collect();
            ways.push(self.all(&none));
        }
        self.any(&ways)
    }

    /// What binds the steps.
    fn world(&self) -> Vec<Bool<'a>> {
        let mut parts = vec![Int::distinct(self.context, &self.times.iter().collect::<Vec<_>>())];
        for step in 0..self.times.len() {
            if let Some(before) = self.before[step] {
                parts.push(self.made[step].implies(&self.made[before]));
                parts.push(self.earlier(before, step));
            }
            if let Some(access) = self.accesses[step].filter(reads) {
                parts.push(self.recorded[step].implies(&self.finds(step, seen(&access))));
                if let Some(after) = self.after[step] {
                    parts.push(self.made[after].implies(&self.recorded[step]));
                }
            }
        }
        self.follow(EventKind::Create, EventKind::Start, &mut parts);
        self.follow(EventKind::Exit, EventKind::Join, &mut parts);
        self.exclude(&mut parts);
        parts
    }

    /// Creation comes before the start, the end before the join.
    fn follow(&self, cause: EventKind, effect: EventKind, parts: &mut Vec<Bool<'a>>) {
        let events = &self.traced.events;
        let about = |event: &Event| match event.kind() {
            Some(EventKind::Create | EventKind::Join) => event.value,
            _ => u64::from(event.thread.0),
        };
        for (index, event) in events.iter().enumerate().filter(|(_, e)| e.kind() == Some(effect)) {
            let is_cause = |e: &&Event| e.kind() == Some(cause) && about(e) == about(event);
            if let Some(first) = events.iter().position(|e| is_cause(&e)) {
                let [first, second] = [first, index].map(|index| self.traced.path.of_event[index] as usize);
                parts.push(self.made[second].implies(&self.made[first]));
                parts.push(self.made[second].implies(&self.earlier(first, second)));
            }
        }
    }

    /// Critical sections of one lock do not overlap.
    fn exclude(&self, parts: &mut Vec<Bool<'a>>) {
        let events = &self.traced.events;
        let mut sections: Vec<(u64, usize, Option<usize>)> = Vec::new();
        for (index, event) in events.iter().enumerate() {
            let step = self.traced.path.of_event[index] as usize;
            match event.kind() {
                Some(EventKind::Lock) => sections.push((event.addr, step, None)),
                Some(EventKind::Unlock) => {
                    let thread = |step: usize| self.traced.forest.step(self.traced.path.steps[step]).thread;
                    let open = |s: &&mut (u64, usize, Option<usize>)| {
                        s.0 == event.addr && s.2.is_none() && thread(s.1) == event.thread
                    };
                    if let Some(section) = sections.iter_mut().find(open) {
                        section.2 = Some(step);
                    }
                }
                _ => {}
            }
        }
        for (place, a) in sections.iter().enumerate() {
            for b in sections[place + 1..].iter().filter(|b| b.0 == a.0) {
                let ends_before = |end: Option<usize>, begin: usize| match end {
                    Some(end) => self.all(&[self.made[end].clone(), self.earlier(end, begin)]),
                    None => Bool::from_bool(self.context, false),
                };
                let apart = self.any(&[ends_before(a.2, b.1), ends_before(b.2, a.1)]);
                parts.push(self.all(&[self.made[a.1].clone(), self.made[b.1].clone()]).implies(&apart));
            }
        }
    }

    fn sees(&self, id: StepId, value: u64) -> Vec<Bool<'a>> {
        let step = self.place(id);
        let mut parts = vec![self.made[step].clone(), self.finds(step, value)];
        parts.extend(self.after[step].map(|after| self.made[after].not()));
        parts
    }

    fn pattern(&self, ids: &[StepId]) -> Vec<Bool<'a>> {
        let steps: Vec<usize> = ids.iter().map(|id| self.place(*id)).collect();
        let mut parts: Vec<Bool<'a>> = steps.iter().map(|step| self.made[*step].clone()).collect();
        parts.extend(steps.windows(2).map(|two| self.earlier(two[0], two[1])));
        let addr = |step: usize| self.accesses[step].map(|access| access.addr);
        for (place, &first) in steps.iter().enumerate() {
            let next = steps[place + 1..].iter().copied().find(|step| addr(*step) == addr(first));
            let Some((second, addr)) = next.zip(addr(first)) else { continue };
            for other in self.writers(addr).into_iter().filter(|other| ![first, second].contains(other)) {
                let apart = [self.made[other].not(), self.earlier(other, first), self.earlier(second, other)];
                parts.push(self.any(&apart));
            }
        }
        parts
    }
}

#[test]
fn both_solvers_agree() {
    let flavours = [
        Flavour::default(),
        Flavour { atomics: true, ..Flavour::default() },
        Flavour { locks: true, creation: true, ..Flavour::default() },
        Flavour { atomics: true, locks: true, creation: true, ..Flavour::default() },
    ];
    let (mut possible, mut impossible) = (0, 0);
    for seed in 0..120 {
        let mut rng = Rng::new(seed);
        let flavour = flavours[seed as usize % flavours.len()];
        let threads = 2 + rng.below(3) as usize;
        let program = Program::random(&mut rng, flavour, threads, 8);
        let traced = Traced::new(trace(&program, &mut rng));
        let context = Context::new(&Config::new());
        let formula = Formula::new(&context, &traced);
        let world = z3::Solver::new(&context);
        formula.world().iter().for_each(|part| world.assert(part));
        let mut solver = Solver::new(Model::of(&traced.forest, &traced.path));
        let accesses: Vec<usize> = (0..traced.events.len())
            .filter(|index| reads(&traced.events[*index]) || writes(&traced.events[*index]))
            .collect();
        for _ in 0..25 {
            let pick = |rng: &mut Rng| accesses[rng.below(accesses.len() as u64) as usize];
            let first = pick(&mut rng);
            let event = traced.events[first];
            let step = |index: usize| traced.path.step_of(index).expect("a step");
            let (goal, wish) = if reads(&event) && rng.below(2) == 0 {
                let value = rng.below(4);
                (Goal::sees(step(first), extent(&event), value), formula.sees(step(first), value))
            } else {
                let mut steps = vec![step(first)];
                for _ in 0..1 + rng.below(3) {
                    let other = step(pick(&mut rng));
                    if !steps.contains(&other) {
                        steps.push(other);
                    }
                }
                (Goal::pattern(&steps), formula.pattern(&steps))
            };
            world.push();
            wish.iter().for_each(|part| world.assert(part));
            let second_opinion = world.check();
            world.pop(1);
            let answer = solver.solve(&goal);
            match (&answer, second_opinion) {
                (Answer::Schedule(_), SatResult::Sat) => possible += 1,
                (Answer::Impossible, SatResult::Unsat) => impossible += 1,
                _ => panic!("seed {seed}: {goal:?}: {answer:?}, but Z3 says {second_opinion:?}"),
            }
        }
    }
    println!("{possible} possible, {impossible} impossible");
    assert!(possible > 300 && impossible > 300);
}
