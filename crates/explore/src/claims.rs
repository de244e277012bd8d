//! Whether it may be claimed that nothing is left to try.
//!
//! A search that comes to its end has tried every order of the steps that it has seen, for the input given. That is all there is only if nothing else
//! decides how the program goes, and if no step went unseen. What executions depended on is noted by the runtime while they run; what no
//! runtime can notice (instructions that ask the processor or the system, accesses that no instrumentation announces) is looked up in
//! the code. Each such dependence is a doubt, and with a doubt nothing is claimed. Every strategy that can end asks here.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use threadbare_code::{Code, CodeFunction};
use threadbare_detect::{Detector as _, HappensBefore};
use threadbare_library::Dependence;
use threadbare_target::{Execution, Module, Modules, OwnCode, Symbols, demangle};

/// How many doubts are listed, and for each of them how many places.
const MOST_DOUBTS: usize = 6;
const MOST_PLACES: usize = 3;

/// What speaks against a claim, by kind and by function or instruction, with the places it comes from.
type Doubts = BTreeMap<(Dependence, String), BTreeSet<u64>>;

/// How a sentence on it begins.
const NO_CLAIM: &str = "nothing is claimed to be complete";

/// Something that speaks against a claim, or that it rests on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Doubt {
    /// What kind of thing it is.
    pub what: Dependence,
    /// The first place in the source that it comes from.
    pub site: Option<String>,
    /// What it means, in a sentence with all places.
    pub message: String,
}

/// See the module's description.
#[derive(Default)]
pub(crate) struct Claims {
    noted: Doubts,
    /// A kind of doubt that is passed over, to see what it is good for.
    overlooked: Option<Dependence>,
    /// Every order of the steps is run.
    runs_all: bool,
    /// Loops that threads wait in are followed until they can only come round.
    follows_loops: bool,
    /// It is found out if plain accesses race, and then the search begins anew without this.
    excludes_races: bool,
    /// Code that synchronizes ran in one piece, as a warning of the execution says.
    left_out: bool,
    /// Where orders are asked for that are weaker than sequentially consistent.
    weak_orders: BTreeSet<u64>,
    /// Where memory that threads share was written by a plain access.
    plain_writes: BTreeSet<u64>,
    program: Option<(Arc<Modules>, Arc<OwnCode>)>,
    /// What is in the code, once somebody wants to claim something.
    in_code: OnceCell<InCode>,
}

/// What the code does past everybody.
#[derive(Default)]
struct InCode {
    doubts: Doubts,
    /// Places that are announced as a write and read as well: another thread's write in between is in no execution.
    reading_writes: BTreeSet<u64>,
}

impl Claims {
    /// Those of a search that runs every order of the steps, instead of working out which are possible.
    pub(crate) fn of_all_orders() -> Claims {
        Claims { runs_all: true, ..Claims::default() }
    }

    /// Loops that threads wait in are, or are not, followed until they can only come round.
    pub(crate) fn following_loops(self, follows_loops: bool) -> Claims {
        Claims { follows_loops, ..self }
    }

    /// Passes over doubts of this kind.
    pub(crate) fn overlook(&mut self, kind: Option<Dependence>) {
        self.overlooked = kind;
    }

    /// From now on it is, or is not, found out if plain accesses race. Where none do, nobody can come between the parts of a plain access.
    pub(crate) fn exclude_races(&mut self, are_excluded: bool) {
        self.excludes_races = are_excluded;
    }

    /// Takes an execution in.
    pub(crate) fn take_in(&mut self, run: &Execution) {
        if self.program.is_none() && !run.modules.all().is_empty() {
            self.program = Some((Arc::clone(&run.modules), Arc::clone(&run.own_code)));
        }
        self.left_out |= run.leaves_code_unexplored;
        let weak = run.depended_on.iter().filter(|dependency| dependency.kind == Dependence::WeakOrder);
        self.weak_orders.extend(weak.map(|dependency| dependency.site));
        if !self.excludes_races {
            self.weak_orders.extend(racing_sites(run));
        }
        let writes = run.depended_on.iter().filter(|dependency| dependency.kind == Dependence::PlainWrite);
        self.plain_writes.extend(writes.map(|dependency| dependency.site));
        let Claims { runs_all, follows_loops, overlooked, .. } = *self;
        let is_settled = |kind: Dependence| {
            runs_all && kind.is_settled_by_running_all() || follows_loops && kind == Dependence::LoopAtEnd
        };
        let is_doubt = |kind: Dependence| kind.is_doubt() && !is_settled(kind) && Some(kind) != overlooked;
        for dependency in run.depended_on.iter().filter(|dependency| is_doubt(dependency.kind)) {
            let key = (dependency.kind, dependency.function.clone());
            self.noted.entry(key).or_default().insert(dependency.site);
        }
    }

    /// Whether the claim may be made.
    pub(crate) fn may_be_made(&self) -> bool {
        !self.left_out && self.noted.is_empty() && self.in_code().doubts.is_empty() && self.only_writes()
    }

    /// Whether it may turn out that it may be made, for who runs every order of the steps.
    pub(crate) fn may_be_made_of_all_orders(&self) -> bool {
        let is_settled = |(kind, _): &(Dependence, String)| kind.is_settled_by_running_all();
        let is_settled = self.noted.keys().all(is_settled);
        !self.left_out && is_settled && self.in_code().doubts.is_empty()
    }

    /// What has to be said of a search that is through: what speaks against the claim, or what it rests on.
    pub(crate) fn remarks(&self) -> Vec<Doubt> {
        let symbols = self.program.as_ref().map(|(modules, _)| Symbols::new(modules));
        if !self.may_be_made() {
            return self.doubts(symbols.as_ref());
        }
        let is_weak = !self.weak_orders.is_empty();
        let remark = is_weak.then(|| {
            let because = "this holds under sequential consistency, and the program uses weaker orders";
            Doubt::of(Dependence::WeakOrder, because, &self.weak_orders, symbols.as_ref())
        });
        remark.into_iter().collect()
    }

    /// What speaks against it, with the lines of the source.
    fn doubts(&self, symbols: Option<&Symbols>) -> Vec<Doubt> {
        let mut noted = self.noted.clone();
        if !self.only_writes() {
            let reading = self.plain_writes.intersection(&self.in_code().reading_writes).copied().collect();
            noted.insert((Dependence::PlainWrite, String::new()), reading);
        }
        let all: Vec<_> = noted.iter().chain(&self.in_code().doubts).collect();
        let shown = all.iter().take(MOST_DOUBTS).map(|((kind, name), sites)| {
            let because = format!("{NO_CLAIM}, because {}", describe(*kind, &demangle(name)));
            Doubt::of(*kind, &because, sites, symbols)
        });
        let more = all.len().saturating_sub(MOST_DOUBTS);
        let rest = (more > 0).then(|| {
            let message = format!("{NO_CLAIM} for {more} more such reasons");
            Doubt { what: Dependence::Overflow, site: None, message }
        });
        shown.chain(rest).collect()
    }

    /// Whether everything that was announced as a write of shared memory only writes, as far as anybody could notice.
    fn only_writes(&self) -> bool {
        self.excludes_races || self.plain_writes.is_disjoint(&self.in_code().reading_writes)
    }

    fn in_code(&self) -> &InCode {
        self.in_code.get_or_init(|| {
            let Some((modules, own_code)) = &self.program else { return InCode::default() };
            let mut found = out_of_sight(modules, own_code);
            found.doubts.retain(|(kind, _), _| Some(*kind) != self.overlooked);
            found
        })
    }
}

/// The places of accesses that race in a trace. Where an execution shows no trace, the runtime notes those that were possible at once.
fn racing_sites(run: &Execution) -> impl Iterator<Item = u64> {
    let mut detector = Box::new(HappensBefore::default());
    run.events.iter().enumerate().for_each(|(index, event)| detector.observe(index, event));
    detector.findings().into_iter().flat_map(|race| race.accesses.into_iter().map(|access| access.pc))
}

impl Doubt {
    /// Whether no claim is made because of it.
    fn speaks_against(&self) -> bool {
        self.what != Dependence::WeakOrder
    }

    fn of(what: Dependence, because: &str, sites: &BTreeSet<u64>, symbols: Option<&Symbols>) -> Doubt {
        let places = places(sites, symbols);
        let shown: Vec<&str> = places.iter().take(MOST_PLACES).map(String::as_str).collect();
        let message = match (shown.is_empty(), places.len().saturating_sub(MOST_PLACES)) {
            (true, _) => because.to_string(),
            (false, 0) => format!("{because} ({})", shown.join(", ")),
            (false, more) => format!("{because} ({} and {more} more)", shown.join(", ")),
        };
        Doubt { what, site: places.into_iter().next(), message }
    }
}

/// The doubts of a search whose executions were made again with one heap for all threads. Where that speaks against its claim, it is of no
/// interest what the claim would rest on.
pub(crate) fn with_those_of_one_heap(of_search: Vec<Doubt>, of_one_heap: Vec<Doubt>) -> Vec<Doubt> {
    let is_claimed = of_one_heap.is_empty();
    let of_search = of_search.into_iter().filter(|doubt| is_claimed || doubt.speaks_against());
    of_search.chain(of_one_heap).collect()
}

/// The places in the source.
fn places(sites: &BTreeSet<u64>, symbols: Option<&Symbols>) -> BTreeSet<String> {
    let Some(symbols) = symbols else { return BTreeSet::new() };
    let place = |site: &u64| symbols.own_frame(*site).unwrap_or_else(|| symbols.site(*site)).to_string();
    sites.iter().filter(|site| **site != 0).map(place).collect()
}

fn describe(kind: Dependence, name: &str) -> String {
    match kind {
        Dependence::Clock => format!("{name} reads a clock"),
        Dependence::Randomness => format!("{name} draws random numbers"),
        Dependence::Environment => format!("{name} asks for the environment"),
        Dependence::Files => format!("{name} depends on files or descriptors"),
        Dependence::Processes => format!("{name} depends on other processes"),
        Dependence::Identity => format!("{name} asks for the number of a process or thread"),
        Dependence::LibraryState => format!("{name} uses variables of its own that calls share"),
        Dependence::TimeOut => format!("the wait of {name} may end at another time"),
        Dependence::Refusal => {
            format!("{name} is answered by how things are at the moment, and may be refused")
        }
        Dependence::UnannouncedAccess => format!("{name} touches memory that threads share, unseen"),
        Dependence::UnknownCall => format!("it is not known what {name} does"),
        Dependence::UnknownCallWithSharedMemory => {
            format!("it is not known what {name} does with memory that threads share")
        }
        Dependence::UninstrumentedCode => format!("{name} is not instrumented, and what it does is not seen"),
        Dependence::UnknownSystemCall => format!("it is not known what {name} does"),
        Dependence::UnseenCalls => format!("what is called through {name} is not seen"),
        Dependence::Instruction => format!("the code has the instruction {name}"),
        Dependence::EarlyEnd => "the process ended while other threads still had steps to make".to_string(),
        Dependence::LoopAtEnd => {
            "the process ended while another thread seemed to wait in a loop".to_string()
        }
        Dependence::ChosenEnd => {
            "the process ended while other threads slept, or were about to end it".to_string()
        }
        Dependence::WeakOrder => {
            "orders are asked for that are weaker than sequentially consistent".to_string()
        }
        Dependence::RandomAddresses => {
            "the system loads the program at random addresses and does not let that be changed (personality)"
                .to_string()
        }
        Dependence::SilentAccess => format!("{name} accesses memory without announcing it"),
        Dependence::UnrecordedStep => format!("traces do not show every step ({name})"),
        Dependence::AliasedMemory => format!("{name} can be reached by several addresses"),
        Dependence::PlainWrite => {
            "what is announced as a write of memory that threads share reads as well".to_string()
        }
        Dependence::HeapAddress => "it is not known what other addresses of the heap come to".to_string(),
        Dependence::Yield => "a loop that waits was followed a few times round only".to_string(),
        Dependence::Overflow => "executions depend on more than could be noted".to_string(),
    }
}

/// What the program's own code asks or accesses past everybody.
fn out_of_sight(modules: &Modules, own_code: &OwnCode) -> InCode {
    let ranges = own_code.ranges();
    let InCode { mut doubts, mut reading_writes } = InCode::default();
    for (number, module) in modules.all().iter().enumerate() {
        let own = |address: u64| {
            let after = ranges.partition_point(|range| range.start <= address);
            after.checked_sub(1).is_some_and(|at| address < ranges[at].end)
        };
        let has_own = ranges.iter().any(|range| contains(module, range.start));
        if number != 0 && !has_own {
            continue;
        }
        match Code::read(&module.path) {
            Ok(code) => {
                let is_own =
                    |it: &CodeFunction| it.is_instrumented() || own(it.start.wrapping_add(module.bias));
                for found in code.hidden_inputs(is_own) {
                    let key = (Dependence::Instruction, found.name.to_string());
                    doubts.entry(key).or_default().insert(found.after.wrapping_add(module.bias));
                }
                // Rust's standard library is not instrumented, and what matters of it is known by name: `leaves_code_unexplored`
                // says if it is not.
                let has_std = code.functions().iter().any(|it| it.name == "rust_eh_personality");
                let flows = code.flows();
                reading_writes.extend(flows.reading_writes().map(|site| site.wrapping_add(module.bias)));
                let is_unseen = |it: &&CodeFunction| {
                    (it.is_instrumented() || !has_std) && flows.unannounced().contains(&it.name)
                };
                for function in code.functions().iter().filter(is_unseen) {
                    let key = (Dependence::SilentAccess, function.name.clone());
                    // A site is the address after an instruction.
                    doubts.entry(key).or_default().insert(function.start.wrapping_add(module.bias + 1));
                }
            }
            Err(error) => drop(doubts.insert((Dependence::UnseenCalls, error.to_string()), BTreeSet::new())),
        }
    }
    InCode { doubts, reading_writes }
}

fn contains(module: &Module, address: u64) -> bool {
    module.segments.iter().any(|segment| segment.contains(&address))
}

#[cfg(test)]
mod tests {
    use threadbare_target::Dependency;
    use threadbare_trace::{Failure, FailureKind};

    use super::*;

    fn run(depended_on: &[(Dependence, &str)]) -> Execution {
        let failure = Failure {
            kind: FailureKind::Exit,
            thread: threadbare_trace::ThreadId::MAIN,
            message: String::new(),
            stack: Vec::new(),
        };
        let depended_on = depended_on
            .iter()
            .map(|(kind, function)| Dependency { kind: *kind, function: function.to_string(), site: 0 })
            .collect();
        Execution { depended_on, ..Execution::before_threads(failure, String::new()) }
    }

    #[test]
    fn without_doubts_a_claim_may_be_made() {
        let mut claims = Claims::default();
        claims.take_in(&run(&[(Dependence::Environment, "getenv")]));
        assert!(claims.may_be_made() && claims.remarks().is_empty());
    }

    #[test]
    fn one_doubt_of_one_execution_is_enough_and_is_said_once() {
        for kind in Dependence::ALL.into_iter().filter(|kind| kind.is_doubt()) {
            let mut claims = Claims::default();
            claims.take_in(&run(&[]));
            claims.take_in(&run(&[(kind, "_ZN3foo3barEv")]));
            claims.take_in(&run(&[(kind, "_ZN3foo3barEv")]));
            assert!(!claims.may_be_made(), "{kind:?}");
            let doubts = claims.remarks();
            assert_eq!(doubts.len(), 1, "{kind:?}");
            let is_nobodys = matches!(
                kind,
                Dependence::Overflow
                    | Dependence::EarlyEnd
                    | Dependence::LoopAtEnd
                    | Dependence::ChosenEnd
                    | Dependence::RandomAddresses
            );
            assert!(is_nobodys || doubts[0].message.contains("foo::bar"), "{doubts:?}");
        }
    }

    #[test]
    fn a_kind_that_is_passed_over_is_no_doubt_and_others_are() {
        let mut claims = Claims::default();
        claims.overlook(Some(Dependence::Clock));
        claims.take_in(&run(&[(Dependence::Clock, "time")]));
        assert!(claims.may_be_made());
        claims.take_in(&run(&[(Dependence::Randomness, "rand")]));
        assert!(!claims.may_be_made());
    }

    #[test]
    fn what_is_too_much_to_list_is_counted() {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let mut claims = Claims::default();
        claims.take_in(&run(&names.map(|name| (Dependence::UnknownCall, name))));
        let doubts = claims.remarks();
        assert_eq!(doubts.len(), MOST_DOUBTS + 1);
        assert!(doubts[MOST_DOUBTS].message.contains("2 more"), "{doubts:?}");
    }
}
