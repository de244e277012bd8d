//! One step in words.

use threadbare_trace::{Event, EventKind, SignalMask, SwitchRecord, kinds, signal_name};

use crate::Names;

/// An object that nobody knows; a raw address would differ from run to run.
const NAMELESS: &str = "memory without a name";

/// What the event with this index (counted from 0) did: `write balance 0 → 1`.
pub fn event_text(index: usize, event: &Event, names: &dyn Names) -> String {
    use EventKind::*;
    let Some(kind) = event.kind() else { return format!("step of unknown kind {}", event.kind) };
    let word = kind.word();
    let named = |addr: u64| names.object_at(index, addr).unwrap_or_else(|| NAMELESS.to_string());
    let object = || named(event.addr);
    let value = event.value;
    let number = |value: u64| value_text(index, value, event.size, names);
    if let Some(operation) = library_operation_of(event, kind, names) {
        let meant = meant_by(&operation, event, kind);
        if meant != kind {
            return format!("{} {}", meant.word(), object());
        }
        if let Some(text) = library_operation_text(&operation, kind, event, object) {
            return text;
        }
    }
    match kind {
        Read | AtomicRead | AtomicFailed => {
            format!("{word} {} = {}", object(), number(value))
        }
        Write | AtomicWrite | AtomicUpdate => {
            format!("{word} {} {} → {}", object(), number(event.old), number(value))
        }
        ReadRange | WriteRange | Alloc => format!("{word} {} ({})", object(), counted(value, "byte")),
        Lock | ReadLock | Unlock if let Some(mask) = SignalMask::at(event.addr) => {
            let verb = if kind == Unlock { "let through" } else { "block" };
            format!("{verb} {}", signal_name(mask.signal))
        }
        OnceEnd if SignalMask::at(event.addr).is_some() => format!("register {}", object()),
        Lock if value > 1 => format!("{word} {} (depth {value})", object()),
        CondWait => format!("{word} {}, releasing {}", object(), named(value)),
        CondWake | CondTimeout => format!("{word} {}, holding {}", object(), named(value)),
        CondSignal | CondBroadcast => format!("{word} {} ({value} waiting)", object()),
        SemWait => format!("{word} {} ({value} left)", object()),
        SemPost => format!("{word} {} (now {value})", object()),
        FutexWait if value == 1 => format!("{word} {} refused: it had changed", object()),
        FutexWake => format!("{word} {} ({value} woken)", object()),
        Create if event.old != 0 => format!("send {} (T{value})", signal_name(event.old as i32)),
        Join if event.old != 0 => format!("{} (T{value}) is over", signal_name(event.old as i32)),
        Create | Join | Detach | JoinFailed | Cancel => format!("{word} T{value}"),
        Sleep => format!("{word} {}", duration(value)),
        Io => format!("{word} on descriptor {}", event.addr),
        Signal if event.old != 0 => {
            format!("{} interrupts T{}", signal_name(value as i32), event.old - 1)
        }
        Signal => format!("{word} {value}"),
        Fence | Start | Exit | Yield | Process | End | Frame | LibraryCall => word.to_string(),
        Lock | Unlock | LockFailed | ReadLock | BarrierArrive | BarrierLeave | SemFailed | OnceBegin
        | OnceEnd | OnceSeen | FutexWait | FutexWoken | FutexTimeout | Free | Init | Destroy => {
            format!("{word} {}", object())
        }
    }
}

/// What an event is to the program, where its library makes it for an operation of its own: to change a lock's word from zero is
/// to take the lock.
pub(crate) fn meant_kind(event: &Event, names: &dyn Names) -> Option<EventKind> {
    let kind = event.kind()?;
    Some(library_operation_of(event, kind, names).map_or(kind, |operation| meant_by(&operation, event, kind)))
}

/// What a library does for the program where it makes this event. Only atomic steps on words are looked at.
fn library_operation_of(event: &Event, kind: EventKind, names: &dyn Names) -> Option<String> {
    let may_change_word = kind == EventKind::AtomicUpdate || kind == EventKind::AtomicFailed;
    may_change_word.then(|| names.place(event.pc, event.context))??.library_operation
}

fn meant_by(operation: &str, event: &Event, kind: EventKind) -> EventKind {
    /// The bits of a lock's word that say who holds it; those above say that somebody waits.
    const HOLDERS: u64 = (1 << 30) - 1;
    let (before, after) = (event.old & HOLDERS, event.value & HOLDERS);
    match (kind, operation) {
        (EventKind::AtomicUpdate, "lock" | "wait") if before == 0 && after != 0 => EventKind::Lock,
        (EventKind::AtomicUpdate, "read-lock") if before < after => EventKind::ReadLock,
        (EventKind::AtomicUpdate, "unlock" | "wait") if before > after => EventKind::Unlock,
        // Everything else is what it is.
        _ => kind,
    }
}

/// The words for other operations of a library. None where the word's value says that the operation was not done.
fn library_operation_text(
    operation: &str,
    kind: EventKind,
    event: &Event,
    object: impl Fn() -> String,
) -> Option<String> {
    let value = event.value;
    // Weak handles are counted separately, and keep only the memory.
    let counted =
        || Some(object()).filter(|name| !name.ends_with(".weak")).map(|name| name.replace(".strong", ""));
    match (kind, operation) {
        (EventKind::AtomicFailed, "lock" | "read-lock") if value != 0 => {
            Some(format!("find {} locked", object()))
        }
        (EventKind::AtomicUpdate, "clone") => Some(format!("clone Arc of {} (now {value})", counted()?)),
        (EventKind::AtomicUpdate, "drop") => Some(format!("drop Arc of {} ({value} left)", counted()?)),
        _ => None,
    }
}

/// The operation before which a switch happened: `bank.c:9 write balance`.
pub fn about_switch(switch: &SwitchRecord, names: &dyn Names) -> String {
    use EventKind::*;
    let place = names.place(switch.pc, switch.context);
    let mut text = place.as_ref().map_or_else(|| "?".to_string(), |place| place.to_string());
    let object = names.object(switch.addr);
    if object.as_deref().is_some_and(is_temporary) {
        return text;
    }
    if let Some(kind) = EventKind::from_number(switch.kind) {
        text.push(' ');
        let operation = place
            .as_ref()
            .and_then(|place| place.library_operation.as_deref())
            .filter(|_| kind == AtomicUpdate);
        text.push_str(operation.unwrap_or(kind.word()));
        let nameless = match kind {
            Yield | Io | kinds!(thread) => true,
            Sleep | Process | End | LibraryCall | Fence | Signal | Frame => false,
            kinds!(plain | atomic | lock | condition) => false,
            kinds!(barrier | semaphore | once | futex | heap | object) => false,
        };
        if switch.addr != 0 && !nameless {
            text.push(' ');
            text.push_str(object.as_deref().unwrap_or(NAMELESS));
        }
    }
    text
}

/// Whether a name is that of a variable which only the compiler knows, as where it puts what an atomic load gave.
pub(crate) fn is_temporary(name: &str) -> bool {
    const ENDS: [&str; 2] = ["_tmp", "_ptr"];
    let name = name.split(' ').next().unwrap_or(name);
    name.starts_with("__atomic_") && ENDS.iter().any(|end| name.ends_with(end))
}

/// A value of `size` bytes as of an event: what it points to, if it does, or a number.
pub fn value_text(index: usize, value: u64, size: u8, names: &dyn Names) -> String {
    let pointee = (size == 8).then(|| names.pointee_at(index, value)).flatten();
    pointee.map_or_else(|| number(value, size), |object| format!("&({})", shortened(&object)))
}

/// A value of `size` bytes: small negative numbers and pointers are shown as what they are.
fn number(value: u64, size: u8) -> String {
    let bits = u32::from(size) * 8;
    let value = if bits == 0 || bits >= 64 { value } else { value & ((1 << bits) - 1) };
    let negative = match size {
        4 => Some(i64::from(value as u32 as i32)),
        8 => Some(value as i64),
        _ => None,
    };
    match negative {
        Some(negative) if (-1_000_000..0).contains(&negative) => negative.to_string(),
        _ if value > 0xffff_ffff => format!("{value:#x}"),
        _ => value.to_string(),
    }
}

/// C++ names can be longer than the lane; their ends distinguish most of them.
pub(crate) fn shortened(name: &str) -> String {
    const MOST: usize = 40;
    let length = name.chars().count();
    if length <= MOST {
        return name.to_string();
    }
    let head: String = name.chars().take(MOST / 2).collect();
    let tail: String = name.chars().skip(length - MOST / 2 + 1).collect();
    format!("{head}…{tail}")
}

fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

pub(crate) fn duration(nanoseconds: u64) -> String {
    match nanoseconds {
        0..1_000 => format!("{nanoseconds} ns"),
        1_000..1_000_000 => format!("{} µs", nanoseconds / 1_000),
        1_000_000..1_000_000_000 => format!("{} ms", nanoseconds / 1_000_000),
        _ => format!("{:.1} s", nanoseconds as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_as_the_program_meant_them() {
        assert_eq!(number(0xffff_ffff, 4), "-1");
        assert_eq!(number(u64::MAX, 8), "-1");
        assert_eq!(number(0xffff_ffff, 8), "4294967295");
        assert_eq!(number(0x7fff_f7d0_1234, 8), "0x7ffff7d01234");
        assert_eq!(number(0x1ff, 1), "255");
        assert_eq!(number(3_000_000_000, 4), "3000000000");
    }

    /// A place where a library does this.
    struct Within(&'static str);

    impl Names for Within {
        fn place(&self, _pc: u64, _context: u32) -> Option<crate::SourcePlace> {
            Some(crate::SourcePlace {
                library_operation: Some(self.0.to_string()),
                ..crate::SourcePlace::default()
            })
        }

        fn object(&self, _addr: u64) -> Option<String> {
            Some("m.strong".to_string())
        }

        fn routine(&self, _addr: u64) -> Option<String> {
            None
        }

        fn source(&self, _place: &crate::SourcePlace) -> Option<String> {
            None
        }
    }

    #[test]
    fn what_a_library_does_is_reported_as_what_it_is_where_it_was_done() {
        use EventKind::{AtomicFailed, AtomicRead, AtomicUpdate};
        let text = |operation, kind: EventKind, old, value| {
            event_text(
                0,
                &Event { kind: kind as u8, old, value, size: 4, ..Event::default() },
                &Within(operation),
            )
        };
        assert_eq!(text("lock", AtomicUpdate, 0, 1), "lock m.strong");
        assert_eq!(
            text("lock", AtomicUpdate, 1, 2),
            "update m.strong 1 → 2",
            "it only says that somebody waits"
        );
        assert_eq!(text("lock", AtomicFailed, 1, 1), "find m.strong locked");
        assert_eq!(text("lock", AtomicRead, 0, 0), "load m.strong = 0");
        assert_eq!(text("unlock", AtomicUpdate, 2, 0), "unlock m.strong");
        assert_eq!(
            text("unlock", AtomicUpdate, 1 << 31, 0),
            "update m.strong 2147483648 → 0",
            "nobody held it"
        );
        assert_eq!(text("wait", AtomicUpdate, 1, 0), "unlock m.strong");
        assert_eq!(text("drop", AtomicUpdate, 2, 1), "drop Arc of m (1 left)");
        assert_eq!(text("other", AtomicUpdate, 0, 1), "update m.strong 0 → 1");
    }

    #[test]
    fn durations_use_the_unit_that_fits() {
        assert_eq!(duration(10_000_000), "10 ms");
        assert_eq!(duration(1_500_000_000), "1.5 s");
        assert_eq!(duration(7), "7 ns");
    }
}
