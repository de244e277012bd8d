//! Functions whose code cannot be followed.

use super::announces::Announces;
use super::graph::{Graph, Name};
use super::places::each;
use super::pointers::ANYWHERE;
use super::program::Program;
use crate::isa::ALL_ARGUMENTS;
use threadbare_library::role;

/// Lets everything that comes near the function be unknown: what it is given, what it reads, what the functions return that it calls.
pub fn wire(program: &Program<'_>, number: usize, graph: &mut Graph) {
    let known = &program.known[number];
    let convention = program.convention;
    let unknown = graph.named(Name::Unknown);
    for place in each(convention.passed) {
        let given = graph.named(Name::Given(number, place));
        graph.flow(given, unknown);
    }
    for argument in ALL_ARGUMENTS {
        let behind = graph.named(Name::Behind(number, argument as u8, ANYWHERE.0, ANYWHERE.1));
        graph.flow(behind, unknown);
    }
    for (place, callee) in &known.body.calls {
        let site = known.body.code[*place].next();
        let reads = match Announces::of(callee) {
            Some(Announces::Access { .. } | Announces::Makes(..)) => true,
            Some(Announces::Nothing) => false,
            None => matches!(callee, crate::Callee::Import(name) if role(name).is_recorded()),
        };
        if reads {
            let read = graph.named(Name::Read(site));
            graph.flow(read, unknown);
        }
        if let Some(callee) = program.callee(callee) {
            for place in each(convention.returned) {
                let returned = graph.named(Name::Returned(callee, place));
                graph.flow(returned, unknown);
            }
        }
    }
}
