//! What becomes of the values that are read, from the graph of all values.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::graph::{Graph, Name, Node};
use super::places::{REGISTERS, each};
use super::program::{Known, Program};
use super::value::Value;
use super::{Fate, Flows, announces::Announces};
use crate::Callee;
use threadbare_library::{Role, role};

/// What the compiler and the C library put into every executable: it runs before and after the program, or reads only what nobody changes.
const START_UP: &[&str] = &[
    "_start",
    "_init",
    "_fini",
    "deregister_tm_clones",
    "register_tm_clones",
    "__do_global_dtors_aux",
    "frame_dummy",
    "__libc_csu_init",
    "__libc_csu_fini",
    "_dl_relocate_static_pie",
    "atexit",
    "at_quick_exit",
];

impl Program<'_> {
    /// Connects functions with whoever calls them through a pointer or from outside.
    pub fn connect(&self, graph: &mut Graph) {
        let routines = self.routines();
        for (number, known) in self.known.iter().enumerate() {
            let function = known.body.function;
            let is_routine =
                routines.as_ref().map_or(function.is_pointed_to, |it| it.contains(&function.start));
            if is_routine || function.name == "main" {
                for place in each(self.convention.result) {
                    let result = graph.named(Name::Returned(number, place));
                    graph.flow_to(result, Name::Steer);
                }
            }
            if !function.is_pointed_to {
                continue;
            }
            for place in each(known.live) {
                let (from, to) =
                    (graph.named(Name::GivenToAny(place)), graph.named(Name::Given(number, place)));
                graph.flow(from, to);
            }
            for (start, _) in known.slots.given(self.convention) {
                let from = graph.named(Name::GivenToAny(REGISTERS));
                graph.flow_to(from, Name::GivenOnStack(number, start));
            }
            for place in each(self.convention.returned & known.overwrites) {
                let (from, to) =
                    (graph.named(Name::Returned(number, place)), graph.named(Name::ReturnedByAny(place)));
                graph.flow(from, to);
            }
        }
    }

    /// The functions that threads begin with. None if they are unknown.
    fn routines(&self) -> Option<BTreeSet<u64>> {
        let mut routines = BTreeSet::new();
        for known in &self.known {
            for (place, callee) in &known.body.calls {
                let Callee::Import(name) = callee else { continue };
                let Some(argument) = threadbare_library::function(name).and_then(|row| row.starts) else {
                    continue;
                };
                let facts = known.facts.as_ref()?;
                let arguments = facts.arguments.get(place)?;
                routines.insert(facts.values.as_address(arguments[argument as usize])?);
            }
        }
        Some(routines)
    }

    /// The functions called that may look at memory without anybody seeing it.
    fn sees_all(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for known in self.known.iter().filter(|known| !START_UP.contains(&known.body.function.name.as_str()))
        {
            for (place, callee) in &known.body.calls {
                let Callee::Import(name) = callee else { continue };
                let looks = match role(name) {
                    Role::Unknown => Announces::of(callee).is_none(),
                    Role::Parses => !self.is_given_from_outside(known, *place),
                    _ => false,
                };
                if looks {
                    names.insert(name.clone());
                }
            }
        }
        names
    }

    /// Whether a call's first argument is one of the texts that the program was started with.
    pub fn is_given_from_outside(&self, known: &super::program::Known<'_>, place: usize) -> bool {
        let Some(facts) = &known.facts else { return false };
        let Some(arguments) = facts.arguments.get(&place) else { return false };
        let [by] = facts.values.origins(arguments[0]).0[..] else { return false };
        if let Some(Callee::Import(name)) = known.body.calls.get(&(by as usize)) {
            return name == "getenv" || name == "secure_getenv";
        }
        let of_main = |address: &Value| {
            matches!(super::pointers::pointed(facts, *address), Some((1, _)))
                && known.body.function.name == "main"
        };
        facts.addresses[by as usize].iter().any(of_main)
    }
}

/// Gathers the fates of all values that are read.
pub fn flows(program: &Program<'_>, graph: &Graph) -> Flows {
    let mut sinks: HashMap<Node, Name> = HashMap::new();
    let (mut reads, mut unbound, mut silent_stores) = (BTreeMap::new(), Vec::new(), Vec::new());
    let mut seen = Vec::new();
    for (name, node) in graph.names() {
        match name {
            Name::Branch(_) | Name::Write(_) | Name::Steer | Name::Target | Name::Unknown => {
                sinks.insert(node, name);
            }
            Name::Read(site) => {
                reads.insert(site, node);
            }
            Name::Unbound(function, _) => unbound.push((function, node)),
            Name::Seen(function, place) => seen.push((function, place, node)),
            Name::UnboundStore(function) => silent_stores.push(function),
            _ => {}
        }
    }
    let mut is_sink = vec![false; graph.len()];
    for node in sinks.keys() {
        is_sink[*node as usize] = true;
    }
    let mut arrows = graph.arrows(false);
    let mut fate_of = |node: Node| {
        let mut fate = Fate::default();
        arrows.reach(node, |reached| {
            if is_sink[reached as usize] {
                fate.add(sinks[&reached]);
            }
        });
        fate.branches.sort_unstable();
        fate.writes.sort_unstable();
        fate
    };
    let mut fates: BTreeMap<u64, Fate> = reads.iter().map(|(site, node)| (*site, fate_of(*node))).collect();
    // What only decides which function is called comes from tables of functions, which nobody announces.
    let mut matters = vec![false; graph.len()];
    let mut back = graph.arrows(true);
    for (sink, _) in sinks.iter().filter(|(_, name)| **name != Name::Target) {
        back.reach_more(*sink, |node| matters[node as usize] = true);
    }
    let mut sees_all = program.sees_all();
    for (function, place, _) in seen.into_iter().filter(|(.., node)| matters[*node as usize]) {
        if let Some(Callee::Import(name)) = program.known[function].body.calls.get(&place) {
            sees_all.insert(name.clone());
        }
    }
    let name_of = |function: usize| &program.known[function].body.function.name;
    let mut unannounced: BTreeSet<String> = silent_stores.iter().map(|it| name_of(*it).clone()).collect();
    unannounced.retain(|name| !START_UP.contains(&name.as_str()));
    for (function, node) in unbound {
        if !matters[node as usize] {
            continue;
        }
        let known = &program.known[function];
        let name = &known.body.function.name;
        if START_UP.contains(&name.as_str()) {
            continue;
        }
        // Either the load is one of those announced, or it is not announced at all: nobody sees it.
        sees_all.insert(name.clone());
        unannounced.insert(name.clone());
        for place in known.body.calls.keys() {
            if let Some(fate) = fates.get_mut(&known.body.code[*place].next()) {
                fate.unknown = true;
            }
        }
    }
    let mut deciders: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (site, fate) in &fates {
        for branch in &fate.branches {
            deciders.entry(*branch).or_default().push(*site);
        }
    }
    let (sees_all, unannounced) = (sees_all.into_iter().collect(), unannounced.into_iter().collect());
    let reading_writes = program.known.iter().flat_map(reading_writes).collect();
    Flows { fates, deciders, sees_all, unannounced, reading_writes }
}

/// The sites of a function that announce a write only, where it reads as well, as far as can be said.
fn reading_writes(known: &Known<'_>) -> Vec<u64> {
    if known.facts.is_none() {
        let only_writes = |callee| {
            matches!(Announces::of(callee), Some(Announces::Access { reads: false, writes: true, .. }))
        };
        let places = known.body.calls.iter().filter(|(_, callee)| only_writes(callee));
        return places.map(|(place, _)| known.body.code[*place].next()).collect();
    }
    let announced = &known.bindings.announced;
    let loaded = known.bindings.loads.values().flat_map(|bound| &bound.to).map(|number| &announced[*number]);
    loaded.filter(|it| it.writes && !it.reads).map(|it| it.site).collect()
}

impl Fate {
    fn add(&mut self, name: Name) {
        match name {
            Name::Branch(address) => self.branches.push(address),
            Name::Write(site) => self.writes.push(site),
            Name::Steer | Name::Target => self.steers = true,
            _ => self.unknown = true,
        }
    }
}
