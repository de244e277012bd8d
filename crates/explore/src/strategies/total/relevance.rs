//! What matters of what threads see.
//!
//! A value matters if a branch may depend on it, or an address, a lock, a function to be called; or if it goes into
//! memory from which somebody reads a value that matters. The first follows from the machine code, the second from the
//! addresses that executions have shown. What is unknown matters.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use std::sync::Arc;

use threadbare_code::{Code, Fate, Flows};
use threadbare_library::HiddenObject;
use threadbare_models::DataFlow;
use threadbare_target::{Execution, Modules, demangle};
use threadbare_trace::{Event, EventKind, kinds};

use super::values::Sites;

/// See the module's description.
#[derive(Default)]
pub(crate) struct Relevance {
    code: Option<Machine>,
    /// What becomes of the values that executions have read, by site.
    fates: HashMap<u64, Fate>,
    sites: Sites,
    /// The reads that matter, by site.
    matters: HashSet<u64>,
    /// The writes of what is read by these.
    leaves: HashSet<u64>,
    runs: Vec<Arc<Execution>>,
    /// Why everything matters, if that is so.
    all: BTreeSet<String>,
}

/// The program's code, and where it is loaded.
struct Machine {
    flows: Flows,
    modules: Arc<Modules>,
}

impl Machine {
    /// A site as the file has it, with how far up the file is loaded; none for code of libraries.
    fn in_file(&self, site: u64) -> Option<(u64, u64)> {
        // The return address may be the end of the module.
        let (module, _) = self.modules.find(site.wrapping_sub(1))?;
        let bias = self.modules.all().first().filter(|_| module == 0)?.bias;
        Some((site.wrapping_sub(bias), bias))
    }

    /// What becomes of the values read at a site, with the sites and branches where they are loaded.
    fn fate(&self, site: u64) -> Fate {
        let known = self.in_file(site).and_then(|(site, bias)| Some((self.flows.fate(site)?, bias)));
        let Some((fate, bias)) = known else { return Fate { unknown: true, ..Fate::default() } };
        let loaded = |places: &[u64]| places.iter().map(|place| place.wrapping_add(bias)).collect();
        Fate { branches: loaded(&fate.branches), writes: loaded(&fate.writes), ..fate.clone() }
    }
}

impl DataFlow for Relevance {
    fn branches(&self, site: u64) -> &[u64] {
        self.fates.get(&site).map_or(&[], |fate| &fate.branches)
    }

    fn writes(&self, site: u64) -> &[u64] {
        self.fates.get(&site).map_or(&[], |fate| &fate.writes)
    }

    fn steers(&self, site: u64) -> bool {
        self.fates.get(&site).is_none_or(|fate| fate.steers || fate.unknown)
    }
}

impl Relevance {
    /// The same without the executions, because they did not show all that is shared.
    pub(crate) fn without_executions(self) -> Relevance {
        Relevance { code: self.code, all: self.all, ..Relevance::default() }
    }

    /// The executions that have been looked at.
    pub(crate) fn executions(&self) -> &[Arc<Execution>] {
        &self.runs
    }

    /// Takes an execution in; says whether more matters than it seemed before, so that all have to be read again.
    pub(crate) fn look_at(&mut self, run: &Execution) -> bool {
        if self.code.is_none() {
            self.read_code(run);
        }
        self.runs.push(Arc::new(run.clone()));
        match &run.touches {
            Some(touches) => touches.iter().for_each(|touch| self.sites.touch(touch)),
            None => {
                self.all.insert("more memory is touched than can be remembered".to_string());
            }
        }
        run.events.iter().for_each(|event| self.sites.step(event));
        self.look_at_hidden_objects(run);
        if let Some(code) = &self.code {
            for read in self.sites.reads() {
                self.fates.entry(read).or_insert_with(|| code.fate(read));
            }
        }
        let (matters, leaves) = self.judge();
        let changed = self.runs.len() > 1 && (matters != self.matters || leaves != self.leaves);
        (self.matters, self.leaves) = (matters, leaves);
        changed
    }

    /// Where the answer of a call goes that looks at what library or system keep is not followed.
    fn look_at_hidden_objects(&mut self, run: &Execution) {
        let steps = run.events.iter().map(|event| (event.pc, event.addr));
        let touches = run.touches.iter().flatten().map(|touch| (touch.pc, touch.addr));
        for (site, _) in steps.chain(touches).filter(|(_, address)| HiddenObject::at(*address).is_some()) {
            self.fates.insert(site, Fate { unknown: true, ..Fate::default() });
        }
    }

    /// Whether anything depends on the values that a step reads or writes.
    pub(crate) fn matters(&self, event: &Event) -> bool {
        use EventKind::*;
        let Some(kind) = event.kind().filter(|_| self.all.is_empty()) else { return true };
        match kind {
            Read | AtomicRead | AtomicFailed | ReadRange => self.matters.contains(&event.pc),
            AtomicUpdate => self.matters.contains(&event.pc) || self.leaves.contains(&event.pc),
            Write | AtomicWrite | WriteRange => self.leaves.contains(&event.pc),
            // These synchronize, or say what memory is called or that its lifetime ends.
            Fence | Signal | Frame | kinds!(lock | condition | barrier | semaphore | once | futex) => true,
            kinds!(thread | heap | object | pause | outside) => true,
        }
    }

    /// What the user should know.
    pub(crate) fn warning(&self) -> Option<String> {
        (!self.all.is_empty()).then(|| {
            let reasons = self.all.iter().map(String::as_str).collect::<Vec<_>>().join("; ");
            format!("every value that threads see is taken to matter, which takes more executions: {reasons}")
        })
    }

    fn read_code(&mut self, run: &Execution) {
        let Some(executable) = run.modules.all().first() else { return };
        match Code::read(&executable.path) {
            Ok(code) => {
                let flows = code.flows();
                let see_all = flows.sees_all();
                if !see_all.is_empty() {
                    self.all.insert(format!("{} may look at any memory", some_of(&see_all)));
                }
                self.code = Some(Machine { flows, modules: Arc::clone(&run.modules) });
            }
            Err(error) => {
                self.all.insert(error.to_string());
            }
        }
    }

    /// The reads that matter, and the writes that they read from.
    fn judge(&self) -> (HashSet<u64>, HashSet<u64>) {
        // By the site of a write: the reads whose values may go into it.
        let mut feeders: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        let mut waiting: Vec<u64> = Vec::new();
        for read in self.sites.reads() {
            let Some(fate) = self.fates.get(&read) else {
                waiting.push(read);
                continue;
            };
            if fate.unknown || fate.steers || !fate.branches.is_empty() {
                waiting.push(read);
            }
            for write in &fate.writes {
                feeders.entry(*write).or_default().push(read);
            }
        }
        // What an update leaves depends on what it found.
        for update in self.sites.updates() {
            feeders.entry(update).or_default().push(update);
        }
        let mut matters: HashSet<u64> = waiting.iter().copied().collect();
        let mut followed: HashSet<u64> = HashSet::new();
        let writers: HashMap<u64, BTreeSet<u64>> = self.sites.writers_of_reads();
        while let Some(read) = waiting.pop() {
            for write in writers.get(&read).into_iter().flatten() {
                if followed.insert(*write) {
                    let fed = feeders.get(write).into_iter().flatten();
                    waiting.extend(fed.filter(|read| matters.insert(**read)));
                }
            }
        }
        (matters, followed)
    }
}

/// Some names, and how many more there are.
fn some_of(names: &[String]) -> String {
    const MOST: usize = 3;
    let shown = names.iter().take(MOST).map(|name| demangle(name)).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
