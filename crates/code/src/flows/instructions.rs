//! Follows values through the instructions of a function.
//!
//! Within a piece it is known which value each place holds. What a piece finds in a place when it begins gets a
//! value of its own only if somebody asks for it, and then comes from all pieces before.

use rustc_hash::FxHashMap;

use super::announced_accesses::Bound;
use super::graph::{CLEAN, Graph, Name, Node};
use super::places::{Place, REGISTERS, each};
use super::pointers::{ANYWHERE, pointed};
use super::program::{Known, Program, is_constant};
use super::value::{Position, Value};
use crate::isa::{CallingConvention, Control, Memory, Operation, Registers, Semantics};

const UNTOUCHED: Node = Node::MAX;

/// Follows the values of one function.
pub struct Wiring<'a> {
    pub(super) program: &'a Program<'a>,
    pub(super) convention: &'static CallingConvention,
    pub(super) number: usize,
    pub(super) known: &'a Known<'a>,
    pub(super) facts: &'a super::evaluate::Facts,
    pub(super) graph: &'a mut Graph,
    piece: usize,
    /// What each place holds now; [`UNTOUCHED`]: what it held when the piece began.
    now: Vec<Node>,
    touched: Vec<Place>,
    /// What each piece has left where it wrote, by place.
    ends: Vec<Vec<(Place, Node)>>,
    /// In a frame of many slots: all that is stored there, and what is stored nobody knows where.
    pub(super) wide: Option<(Node, Node)>,
    beginnings: FxHashMap<(usize, Place), Node>,
    asked: Vec<(usize, Place)>,
}

/// Follows the values of the function with this number, if its code can be followed.
pub fn wire(program: &Program<'_>, number: usize, graph: &mut Graph) {
    let known = &program.known[number];
    let Some(facts) = &known.facts else { return super::unanalysable::wire(program, number, graph) };
    let mut wiring = Wiring {
        program,
        convention: program.convention,
        number,
        known,
        facts,
        graph,
        piece: 0,
        now: vec![UNTOUCHED; known.slots.all().end],
        touched: Vec::new(),
        ends: Vec::new(),
        wide: None,
        beginnings: FxHashMap::default(),
        asked: Vec::new(),
    };
    wiring.open_wide();
    for piece in 0..known.body.pieces.len() {
        wiring.piece = piece;
        if facts.ends[piece].is_some() {
            for place in known.body.pieces[piece].code.clone() {
                wiring.step(place);
            }
        }
        wiring.leave_piece();
    }
    wiring.come_together();
}

impl Wiring<'_> {
    /// What a place holds.
    pub(super) fn read(&mut self, place: Place) -> Node {
        match self.now[place] {
            UNTOUCHED => self.beginning(self.piece, place),
            node => node,
        }
    }

    /// Lets a place hold something else.
    pub(super) fn write(&mut self, place: Place, node: Node) {
        if std::mem::replace(&mut self.now[place], node) == UNTOUCHED {
            self.touched.push(place);
        }
    }

    fn leave_piece(&mut self) {
        let mut end: Vec<(Place, Node)> = self
            .touched
            .drain(..)
            .map(|place| (place, std::mem::replace(&mut self.now[place], UNTOUCHED)))
            .collect();
        end.sort_unstable();
        self.ends.push(end);
    }

    /// Lets a place hold something else as well.
    pub(super) fn blend(&mut self, place: Place, node: Node) {
        if node != CLEAN {
            let old = self.read(place);
            let both = self.graph.join(&mut vec![old, node]);
            self.write(place, both);
        }
    }

    /// What a set of registers holds.
    pub(super) fn registers(&mut self, set: Registers) -> Vec<Node> {
        each(set & !self.convention.stack()).map(|place| self.read(place)).collect()
    }

    fn beginning(&mut self, piece: usize, place: Place) -> Node {
        if let Some(node) = self.beginnings.get(&(piece, place)) {
            return *node;
        }
        let ways = &self.known.body.pieces[piece].before;
        let node = match piece == self.known.body.entrance {
            true if ways.is_empty() => self.given(place),
            false if ways.is_empty() => CLEAN,
            _ => {
                self.asked.push((piece, place));
                self.graph.node()
            }
        };
        self.beginnings.insert((piece, place), node);
        node
    }

    /// What a place holds when the function begins.
    fn given(&mut self, place: Place) -> Node {
        if place < REGISTERS {
            let is_passed = self.convention.passed >> place & 1 == 1;
            return if is_passed { self.graph.named(Name::Given(self.number, place)) } else { CLEAN };
        }
        let (start, _) = self.known.slots.bounds(place);
        let is_argument = start >= self.convention.return_address;
        if is_argument { self.graph.named(Name::GivenOnStack(self.number, start)) } else { CLEAN }
    }

    /// Connects what was asked for at the beginnings of pieces with what the pieces before have left.
    fn come_together(&mut self) {
        while let Some((piece, place)) = self.asked.pop() {
            let to = self.beginnings[&(piece, place)];
            if piece == self.known.body.entrance {
                let given = self.given(place);
                self.graph.flow(given, to);
            }
            for before in &self.known.body.pieces[piece].before {
                let end = &self.ends[*before];
                let from = match end.binary_search_by_key(&place, |(place, _)| *place) {
                    Ok(found) => end[found].1,
                    Err(_) => self.beginning(*before, place),
                };
                self.graph.flow(from, to);
            }
        }
    }

    fn step(&mut self, place: usize) {
        let it = &self.known.body.code[place];
        let Semantics { operation, effect } = &self.known.body.semantics[place];
        if matches!(it.control, Control::Branch(_)) {
            for node in self.registers(effect.reads) {
                self.graph.flow_to(node, Name::Branch(it.address));
            }
        }
        if let Some(callee) = self.known.body.calls.get(&place) {
            return self.call(place, callee);
        }
        match it.control {
            Control::Return => return self.flow_to_returned(),
            Control::JumpThrough(_) => return self.jump(place),
            Control::Branch(_) if effect.writes == 0 => return,
            _ => {}
        }
        let (mut reads, mut writes) = (effect.reads, effect.writes & !self.convention.stack());
        if let Operation::String { value, count } = *operation {
            let [value, count] = [value, count].map(|it| it.map_or(0, |it| self.convention.general(it)));
            let counted = effect.memory.iter().fold(count, |all, memory| all | memory.registers);
            reads &= value;
            writes &= !counted;
            let count = self.registers(count);
            self.steer(count);
        }
        let mut from = self.registers(reads);
        for (number, memory) in effect.memory.iter().enumerate() {
            let address = self.facts.addresses[place][number];
            self.steered(memory, address);
            if memory.read {
                from.extend(self.load((place, number), memory, address));
            }
        }
        let value = self.graph.join(&mut from);
        let moves_top = !matches!(operation, Operation::Push(_) | Operation::Pop(_) | Operation::LeaveFrame);
        if effect.writes & self.convention.stack() != 0 && moves_top {
            self.graph.flow_to(value, Name::Steer);
        }
        // To divide by nothing brings the program down.
        if *operation == Operation::Divide {
            self.graph.flow_to(value, Name::Steer);
        }
        for place in each(writes) {
            if effect.keeps >> place & 1 == 1 { self.blend(place, value) } else { self.write(place, value) }
        }
        for (number, memory) in effect.memory.iter().enumerate().filter(|(_, memory)| memory.written) {
            self.store((place, number), memory, self.facts.addresses[place][number], value);
        }
    }

    /// Notes that values decide what is used.
    pub(super) fn steer(&mut self, nodes: Vec<Node>) {
        for node in nodes {
            self.graph.flow_to(node, Name::Steer);
        }
    }

    /// The registers of an address decide what is touched, unless it is the function's own or never changes.
    fn steered(&mut self, memory: &Memory, address: Value) {
        let own = matches!(self.facts.values.position(address), Some(Position::At(_) | Position::Somewhere));
        if !own && !is_constant(self.program.image, self.facts, address) {
            let nodes = self.registers(memory.registers);
            self.steer(nodes);
        }
    }

    pub(super) fn load(&mut self, key: (usize, usize), memory: &Memory, address: Value) -> Vec<Node> {
        let mut from = Vec::new();
        let position = self.facts.values.position(address);
        match position {
            Some(Position::At(offset)) => {
                from.extend(match memory.size {
                    0 => self.read_somewhere(self.known.slots.from(offset)),
                    size => self.read_slots(self.known.slots.within(offset, i64::from(size))),
                });
            }
            Some(_) => from.extend(self.read_somewhere(self.known.slots.all())),
            None => {}
        }
        if !matches!(position, Some(Position::At(_))) {
            from.extend(self.registers(memory.registers));
        }
        if let Some((argument, offset)) = pointed(self.facts, address) {
            let (offset, size) = match offset {
                Some(offset) if memory.size > 0 => (offset, i64::from(memory.size)),
                _ => ANYWHERE,
            };
            from.push(self.graph.named(Name::Behind(self.number, argument as u8, offset, size)));
        }
        if let Some(bound) = self.known.bindings.loads.get(&key) {
            let own = matches!(position, Some(Position::At(_) | Position::Somewhere));
            self.bound_load(key, bound, own || self.is_framed(address), &mut from);
        }
        from
    }

    fn bound_load(&mut self, key: (usize, usize), bound: &Bound, is_framed: bool, from: &mut Vec<Node>) {
        for announced in &bound.to {
            let site = self.known.bindings.announced[*announced].site;
            from.push(self.graph.named(Name::Read(site)));
        }
        for announced in &bound.stored {
            let site = self.known.bindings.announced[*announced].site;
            from.push(self.graph.named(Name::Write(site)));
        }
        if !bound.is_sure && !is_framed {
            from.push(self.graph.named(Name::Unbound(self.number, key.0)));
        }
    }

    fn store(&mut self, key: (usize, usize), memory: &Memory, address: Value, value: Node) {
        let position = self.facts.values.position(address);
        match position {
            Some(Position::At(offset)) if memory.size > 0 => {
                self.write_slots(self.known.slots.within(offset, i64::from(memory.size)), value);
            }
            Some(position) => {
                let mut blurred = self.registers(memory.registers);
                blurred.push(value);
                let value = self.graph.join(&mut blurred);
                let slots = match position {
                    Position::At(offset) => self.known.slots.from(offset),
                    _ => self.known.slots.all(),
                };
                self.write_somewhere(slots, value);
            }
            None => {}
        }
        if let Some((argument, offset)) = pointed(self.facts, address) {
            let (offset, size) = match offset {
                Some(offset) if memory.size > 0 => (offset, i64::from(memory.size)),
                _ => ANYWHERE,
            };
            self.graph.flow_to(value, Name::Left(self.number, argument as u8, offset, size));
        }
        let Some(bound) = self.known.bindings.stores.get(&key) else { return };
        for announced in &bound.to {
            let site = self.known.bindings.announced[*announced].site;
            self.graph.flow_to(value, Name::Write(site));
        }
        let own = matches!(position, Some(Position::At(_) | Position::Somewhere));
        if !bound.is_sure && !own && !self.is_framed(address) {
            self.graph.flow_to(value, Name::Unknown);
            if bound.to.is_empty() {
                self.graph.named(Name::UnboundStore(self.number));
            }
        }
    }

    /// Whether an address is surely in the frame of a caller.
    fn is_framed(&self, address: Value) -> bool {
        pointed(self.facts, address).is_some_and(|(argument, _)| self.known.framed[argument])
    }

    /// A jump through a table, or to a function through a pointer.
    fn jump(&mut self, place: usize) {
        let effect = &self.known.body.semantics[place].effect;
        let mut from = self.registers(effect.reads);
        for (number, memory) in effect.memory.iter().enumerate() {
            from.extend(self.load((place, number), memory, self.facts.addresses[place][number]));
        }
        let is_switch = self.known.body.switches.contains(&place);
        let address = self.known.body.code[place].address;
        for node in from {
            self.graph.flow_to(node, if is_switch { Name::Branch(address) } else { Name::Target });
        }
        if !is_switch {
            self.call_any();
            self.flow_to_returned();
        }
    }
}
