//! Saying why no thread is runnable: who holds what, who waits where, and the cycle.

use std::fmt::Write as _;

use threadbare_trace::{FailureKind, ThreadId, signal_name};

use crate::engine::engine;
use crate::shared_memory::fail;
use crate::sync::word_locks;

fn holder_of(id: ThreadId) -> Option<ThreadId> {
    let fiber = engine().fiber(id);
    fiber.interrupted_by.get().or_else(|| fiber.waits_for().and_then(|wait| wait.holder()))
}

/// The threads of a cycle of waits, if there is one.
fn cycle() -> Option<Vec<ThreadId>> {
    for start in engine().threads.live().map(|fiber| fiber.id) {
        let mut path = vec![start];
        while let Some(next) = path.last().and_then(|last| holder_of(*last)) {
            if next == start {
                return Some(path);
            }
            if path.contains(&next) || path.len() > engine().threads.live_count() {
                break;
            }
            path.push(next);
        }
    }
    None
}

/// The words that others wait for and that this thread holds, with where it took them.
fn words_held_by(id: ThreadId) -> Vec<String> {
    let live = engine().threads.live();
    let mut words: Vec<usize> =
        live.filter_map(|other| other.waits_for().and_then(|wait| wait.word())).collect();
    words.sort_unstable();
    words.dedup();
    let held = words.into_iter().filter_map(|word| {
        let taken = word_locks::holder(word).filter(|taken| taken.by == id)?;
        Some(format!("<obj {word:#x}> (locked at <pc {:#x} in {}>)", taken.at.0, taken.at.1))
    });
    held.collect()
}

/// One line for each thread that has not ended. `spins` knows what to say of threads that spin.
pub fn describe_threads(spins: impl Fn(ThreadId) -> Option<String>) -> String {
    let mut text = String::new();
    for fiber in engine().threads.live() {
        let id = fiber.id;
        let _ = write!(text, "{id} ");
        let held = fiber.held.borrow_mut().clone();
        for address in held.iter().copied().chain([fiber.pending.borrow_mut().object as usize]) {
            engine().recorder.record_place(address);
        }
        let locks = held.iter().map(|address| format!("<obj {address:#x}>"));
        let held: Vec<String> = locks.chain(words_held_by(id)).collect();
        if !held.is_empty() {
            let _ = write!(text, "holds {} and ", held.join(", "));
        }
        if let Some(interrupt) = fiber.interrupt.as_ref().filter(|interrupt| interrupt.began.get()) {
            let _ = write!(text, "handles {} and ", signal_name(interrupt.signal));
        }
        match (spins(id), fiber.waits_for()) {
            _ if let Some(handler) = fiber.interrupted_by.get() => {
                let _ = write!(text, "waits for the handler {handler} that interrupts it to return");
            }
            (Some(spins), _) => text.push_str(&spins),
            (None, Some(wait)) => {
                let _ = write!(text, "waits for {}", wait.what());
                if let Some(holder) = wait.holder().filter(|_| !wait.what().ends_with("to end")) {
                    let remark = match engine().fiber(holder).done.get() {
                        true => ", which has ended",
                        false if holder == id => " itself",
                        false => "",
                    };
                    let _ = write!(text, ", {} {holder}{remark}", wait.kept_waiting());
                }
            }
            (None, None) => {
                let _ = write!(text, "is about to {}", fiber.pending.borrow_mut().kind.word());
            }
        }
        let context = engine().context_of(fiber);
        let _ = writeln!(text, ", at <pc {:#x} in {context}>", fiber.site());
    }
    text.truncate(text.trim_end().len());
    text
}

/// Ends the execution as a deadlock.
pub fn report() -> ! {
    let threads = describe_threads(|_| None);
    match cycle() {
        Some(path) => {
            let names: Vec<String> = path.iter().chain(path.first()).map(ThreadId::to_string).collect();
            fail(FailureKind::Deadlock, format_args!("deadlock: {}\n{threads}", names.join(" waits for ")));
        }
        None => fail(FailureKind::Deadlock, format_args!("deadlock: no thread is runnable\n{threads}")),
    }
}
