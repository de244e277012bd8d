//! A row of the table.

use crate::hidden_object::{HiddenObject, HiddenObjects};
use crate::name::Name;

/// How a tested program comes by a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Provision {
    /// The runtime exports a function of the same name, which takes the library's place.
    Interposed,
    /// The linker sends calls to the runtime's `__wrap_` function, which announces what memory is touched and calls the library's.
    Wrapped,
    /// The library's own function is called.
    LeftAlone,
    /// A system call without a function of its own, which programs make by number; the runtime serves it.
    ByNumber,
}

/// How much memory a pointer leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// So many bytes.
    Bytes(u16),
    /// As many bytes as this argument says, counted from 0.
    Argument(u8),
    /// As many bytes as the product of these arguments.
    Product(u8, u8),
    /// A text that ends with a zero byte.
    Text,
    /// A text that ends with a zero byte, or after as many bytes as this argument says.
    TextUpTo(u8),
    /// All pages with some of as many bytes as this argument says: they come, go, or may be accessed in another way.
    Pages(u8),
    /// The argument, and each that comes after it, is what the format in the argument before it says: see [`crate::Format`].
    Rest,
    /// A structure that says how long to wait, or until when.
    Time,
    /// Nobody can say from the arguments.
    Unknown,
}

/// Memory that a function reads or writes through an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// The argument that points to it, counted from 0.
    pub pointer: u8,
    /// How much it is.
    pub extent: Extent,
}

/// State outside of the program's memory that a function's answer depends on: a set of bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hidden(u8);

impl Hidden {
    /// Nothing.
    pub const NOTHING: Hidden = Hidden(0);
    /// What time it is, or how much of it was used.
    pub const CLOCK: Hidden = Hidden(1);
    /// Random numbers, pseudo-random ones included: who draws first gets another one.
    pub const RANDOMNESS: Hidden = Hidden(1 << 1);
    /// Environment variables, the machine, limits.
    pub const ENVIRONMENT: Hidden = Hidden(1 << 2);
    /// Files and what is read from descriptors.
    pub const FILES: Hidden = Hidden(1 << 3);
    /// What other processes do.
    pub const PROCESSES: Hidden = Hidden(1 << 4);
    /// The numbers of processes and threads.
    pub const IDENTITY: Hidden = Hidden(1 << 5);
    /// Variables of the library itself that calls share, such as `strtok`'s.
    pub const STATE: Hidden = Hidden(1 << 6);

    /// Whether these are among it.
    pub const fn has(self, others: Hidden) -> bool {
        self.0 & others.0 == others.0 && others.0 != 0
    }

    /// Whether there is none.
    pub const fn is_nothing(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn and(self, others: Hidden) -> Hidden {
        Hidden(self.0 | others.0)
    }
}

/// What the values that a function is given decide.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// The result, the error number and the memory that it writes, and nothing else that the program could notice: it prints, or ends the program.
    Silent,
    /// What comes out of the stream that its first argument leads to, which is its result.
    Streams,
    /// The result and the error number, and nothing else.
    Pure,
    /// What memory, lock, thread or time is used. The result comes from outside.
    Steers,
    /// As [`Effect::Steers`], and the result is made of the text that the first argument points to. Harmless if the program was started with
    /// that text.
    Parses,
    /// What a later call finds: they are kept where nobody sees them.
    Keeps,
    /// Nobody has said.
    Opaque,
}

impl Effect {
    /// Where values go in such a function.
    pub const fn role(self) -> Role {
        match self {
            Effect::Silent => Role::Silent,
            Effect::Streams => Role::Streams,
            Effect::Pure => Role::Pure,
            Effect::Steers => Role::Steers,
            Effect::Parses => Role::Parses,
            Effect::Keeps => Role::Keeps,
            Effect::Opaque => Role::Unknown,
        }
    }
}

/// What a function does with its arguments, and where its result comes from, for the analysis of where values go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// What it is given shows in its result, in the error number and in the memory that it writes: it prints, or ends the program.
    Silent,
    /// What it is given goes into the stream that the first argument leads to, which is the result.
    Streams,
    /// The result and the error number depend on the arguments and on nothing else.
    Pure,
    /// The arguments decide what memory, lock, thread or time is used. The result comes from outside.
    Steers,
    /// As [`Role::Steers`], and so does what lies behind pointers: how long to wait.
    Waits,
    /// As [`Role::Steers`], but reads a text at the pointer that is its first argument. Harmless if the program was started with that text.
    Parses,
    /// Copies memory, and is recorded: from the argument of the second number to that of the first.
    Copies(usize, usize),
    /// Appends to memory, and is recorded.
    Appends,
    /// Fills memory with its second argument, and is recorded.
    Fills,
    /// Reads memory, of so many arguments, and is recorded; the result is what it found.
    Looks(usize),
    /// As [`Role::Looks`], but what it finds goes to memory that nobody sees written.
    Duplicates,
    /// Keeps its arguments where nobody sees them.
    Keeps,
    /// Nobody knows.
    Unknown,
}

impl Role {
    /// Whether what it does to memory is recorded.
    pub const fn is_recorded(self) -> bool {
        use Role::*;
        matches!(self, Copies(..) | Appends | Fills | Looks(_) | Duplicates)
    }
}

const MOST_RANGES: usize = 4;

/// Which stream of `stdio` a function uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stream {
    /// The one that this argument leads to.
    Argument(u8),
    /// What `stdout` leads to.
    Output,
    /// What `stderr` leads to.
    Errors,
    /// What `stdin` leads to.
    Input,
}

/// A library or system function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Function {
    name: Name,
    /// How the program comes by it.
    pub provision: Provision,
    /// What its arguments decide.
    pub effect: Effect,
    /// What else its answer depends on.
    pub hidden: Hidden,
    /// It may make its caller wait for others.
    pub blocks: bool,
    /// The wait may end because time is up. Where that depends on an argument, the runtime says when it does.
    pub times_out: bool,
    /// The argument that says after how many milliseconds a wait ends; a negative number is never.
    pub limit: Option<u8>,
    /// It answers by how things are at the moment instead of waiting: it may be refused.
    pub refuses: bool,
    /// A thread may be cancelled in it.
    pub is_cancellation_point: bool,
    /// It orders threads, or lets one wait for another.
    pub synchronizes: bool,
    /// It calls functions of the program that it is given, before it returns.
    pub calls_back: bool,
    /// It does not return to its caller.
    pub never_returns: bool,
    /// It returns memory of its own with a copy of what it has read.
    pub duplicates: bool,
    /// The argument that is the routine of a new thread.
    pub starts: Option<u8>,
    /// The runtime ends an execution that comes to it: it is beyond control.
    pub is_unsupported: bool,
    /// It starts another program, and what that changes stays.
    pub starts_program: bool,
    /// What it leads to is not seen: code that it loads, or a function that it finds for whoever wants to call it.
    pub leads_out_of_sight: bool,
    /// The stream that it uses.
    pub stream: Option<Stream>,
    /// How many arguments it has in general registers. None if that differs, or nobody has said: then all that may be there count.
    pub takes: Option<u8>,
    /// Its result takes two registers.
    pub returns_pair: bool,
    /// It leaves the error number as it was, whatever it is given.
    pub keeps_errno: bool,
    /// There are functions with `f` and `l` at the end of the name that do the same for other types.
    pub has_forms: bool,
    /// The state of library and system that its effect or its answer depends on, and that it leaves as it was.
    pub looks_at: HiddenObjects,
    /// The state of library and system that it changes; its answer may depend on it, too.
    pub changes: HiddenObjects,
    /// Its stand-in makes steps, and says itself when it has come to the hidden objects.
    pub comes_later: bool,
    reads: [Option<Range>; MOST_RANGES],
    writes: [Option<Range>; MOST_RANGES],
}

impl Function {
    const fn new(name: &'static str, provision: Provision) -> Function {
        Function {
            name: Name::new(name),
            provision,
            effect: Effect::Steers,
            hidden: Hidden::NOTHING,
            blocks: false,
            times_out: false,
            limit: None,
            refuses: false,
            is_cancellation_point: false,
            synchronizes: false,
            calls_back: false,
            never_returns: false,
            duplicates: false,
            starts: None,
            is_unsupported: false,
            starts_program: false,
            leads_out_of_sight: false,
            stream: None,
            takes: None,
            returns_pair: false,
            keeps_errno: false,
            has_forms: false,
            looks_at: HiddenObjects::NONE,
            changes: HiddenObjects::NONE,
            comes_later: false,
            reads: [None; MOST_RANGES],
            writes: [None; MOST_RANGES],
        }
    }

    pub(crate) const fn interposed(name: &'static str) -> Function {
        Function::new(name, Provision::Interposed)
    }

    pub(crate) const fn wrapped(name: &'static str) -> Function {
        Function::new(name, Provision::Wrapped)
    }

    pub(crate) const fn left(name: &'static str) -> Function {
        Function::new(name, Provision::LeftAlone)
    }

    pub(crate) const fn by_number(name: &'static str) -> Function {
        Function::new(name, Provision::ByNumber)
    }

    pub(crate) const fn silent(self) -> Function {
        Function { effect: Effect::Silent, ..self }
    }

    pub(crate) const fn streams(self) -> Function {
        Function { effect: Effect::Streams, ..self }
    }

    pub(crate) const fn pure(self) -> Function {
        Function { effect: Effect::Pure, ..self }
    }

    pub(crate) const fn parses(self) -> Function {
        Function { effect: Effect::Parses, ..self }
    }

    pub(crate) const fn keeps(self) -> Function {
        Function { effect: Effect::Keeps, ..self }
    }

    pub(crate) const fn opaque(self) -> Function {
        Function { effect: Effect::Opaque, ..self }
    }

    pub(crate) const fn asks(self, hidden: Hidden) -> Function {
        Function { hidden: self.hidden.and(hidden), ..self }
    }

    pub(crate) const fn blocks(self) -> Function {
        Function { blocks: true, is_cancellation_point: true, ..self }
    }

    /// A thread may be cancelled in it, although it does not wait for others.
    pub(crate) const fn may_be_cancelled(self) -> Function {
        Function { is_cancellation_point: true, ..self }
    }

    pub(crate) const fn holds(self) -> Function {
        Function { blocks: true, ..self }
    }

    pub(crate) const fn times_out(self) -> Function {
        Function { times_out: true, ..self }
    }

    /// The same, after as many milliseconds as this argument says.
    pub(crate) const fn times_out_by(self, argument: u8) -> Function {
        Function { times_out: true, limit: Some(argument), ..self }
    }

    pub(crate) const fn refuses(self) -> Function {
        Function { refuses: true, ..self }
    }

    pub(crate) const fn synchronizes(self) -> Function {
        Function { synchronizes: true, ..self }
    }

    pub(crate) const fn calls_back(self) -> Function {
        Function { calls_back: true, ..self }
    }

    pub(crate) const fn never_returns(self) -> Function {
        Function { never_returns: true, ..self }
    }

    pub(crate) const fn duplicates(self) -> Function {
        Function { duplicates: true, ..self }
    }

    pub(crate) const fn starts(self, argument: u8) -> Function {
        Function { starts: Some(argument), ..self }
    }

    pub(crate) const fn unsupported(self) -> Function {
        Function { is_unsupported: true, ..self }
    }

    pub(crate) const fn starts_program(self) -> Function {
        Function { starts_program: true, ..self }.asks(Hidden::PROCESSES)
    }

    pub(crate) const fn leads_out_of_sight(self) -> Function {
        Function { leads_out_of_sight: true, ..self }
    }

    pub(crate) const fn uses(self, stream: Stream) -> Function {
        Function { stream: Some(stream), ..self }
    }

    pub(crate) const fn takes(self, arguments: u8) -> Function {
        Function { takes: Some(arguments), ..self }
    }

    pub(crate) const fn returns_pair(self) -> Function {
        Function { returns_pair: true, ..self }
    }

    pub(crate) const fn keeps_errno(self) -> Function {
        Function { keeps_errno: true, ..self }
    }

    pub(crate) const fn has_forms(self) -> Function {
        Function { has_forms: true, ..self }
    }

    pub(crate) const fn looks_at(self, object: HiddenObject) -> Function {
        Function { looks_at: self.looks_at.with(object), ..self }
    }

    pub(crate) const fn changes(self, object: HiddenObject) -> Function {
        Function { changes: self.changes.with(object), ..self }
    }

    pub(crate) const fn comes_later(self) -> Function {
        Function { comes_later: true, ..self }
    }

    pub(crate) const fn reads(mut self, pointer: u8, extent: Extent) -> Function {
        self.reads = with(self.reads, Range { pointer, extent });
        self
    }

    pub(crate) const fn writes(mut self, pointer: u8, extent: Extent) -> Function {
        self.writes = with(self.writes, Range { pointer, extent });
        self
    }

    /// Its name, as the linker knows it.
    pub const fn name(&self) -> &str {
        self.name.as_str()
    }

    /// The memory that it reads.
    pub fn read_ranges(&self) -> impl Iterator<Item = Range> + '_ {
        self.reads.iter().filter_map(|range| *range)
    }

    /// The memory that it writes.
    pub fn written_ranges(&self) -> impl Iterator<Item = Range> + '_ {
        self.writes.iter().filter_map(|range| *range)
    }

    /// Whether it touches memory of the program at all.
    pub const fn touches_memory(&self) -> bool {
        self.reads[0].is_some() || self.writes[0].is_some()
    }

    /// Whether it has to do with state that library or system keep.
    pub const fn touches_hidden_objects(&self) -> bool {
        !self.looks_at.is_empty() || !self.changes.is_empty()
    }

    /// Whether this row is about the function of this name.
    pub(crate) const fn is_called(&self, name: &str) -> bool {
        let (own, name) = (self.name.as_bytes(), name.as_bytes());
        let is_form =
            self.has_forms && name.len() == own.len() + 1 && matches!(name[name.len() - 1], b'f' | b'l');
        (name.len() == own.len() || is_form) && starts_with(name, own)
    }

    /// Where values go in it. What is said of a wrapped function is what follows from the memory that it touches.
    pub fn role(&self) -> Role {
        let reads_time = self.read_ranges().any(|range| range.extent == Extent::Time);
        match (self.provision, self.effect) {
            (Provision::Wrapped, _) => self.recorded_role(),
            // What it is given is what others find.
            (_, Effect::Silent) if !self.changes.is_empty() => Role::Keeps,
            (_, Effect::Steers) if reads_time => Role::Waits,
            (_, effect) => effect.role(),
        }
    }

    fn recorded_role(&self) -> Role {
        let (read, written) = (self.reads[0], self.writes[0]);
        match (self.read_ranges().count(), read, written) {
            (_, _, None) if self.duplicates => Role::Duplicates,
            (count, Some(_), None) => Role::Looks(count),
            (1, Some(from), Some(to)) => Role::Copies(to.pointer as usize, from.pointer as usize),
            (0, _, Some(_)) => Role::Fills,
            (_, _, Some(_)) => Role::Appends,
            (_, None, None) => Role::Unknown,
        }
    }
}

pub(crate) const fn starts_with(text: &[u8], start: &[u8]) -> bool {
    if text.len() < start.len() {
        return false;
    }
    let mut at = 0;
    while at < start.len() {
        if text[at] != start[at] {
            return false;
        }
        at += 1;
    }
    true
}

const fn with(mut ranges: [Option<Range>; MOST_RANGES], range: Range) -> [Option<Range>; MOST_RANGES] {
    let mut at = 0;
    while ranges[at].is_some() {
        at += 1;
    }
    ranges[at] = Some(range);
    ranges
}
