//! Programs made at random, with the truth about them: who makes a program knows where its values go.

use std::collections::BTreeSet;

/// Numbers that look random and are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    /// An odd factor: a product with it loses nothing of the other factor.
    fn odd(&mut self) -> u64 {
        2 * self.below(1 << 20) + 3
    }
}

/// What a local variable surely depends on, and what it may: the reads of the function by number.
#[derive(Clone, Default)]
struct Origin {
    must: BTreeSet<usize>,
    may: BTreeSet<usize>,
}

impl Origin {
    fn and(&self, other: &Origin) -> Origin {
        Origin { must: &self.must | &other.must, may: &self.may | &other.may }
    }
}

const LOCALS: usize = 5;
const HELPERS: u64 = 3;

/// A function under construction.
struct Making {
    lines: Vec<String>,
    /// The line of each read, and what is to be said of it.
    reads: Vec<(usize, Vec<String>)>,
    locals: Vec<Origin>,
    marks: usize,
    name: usize,
}

impl Making {
    fn mark(&mut self, kind: char) -> String {
        self.marks += 1;
        format!("{kind}_{}_{}", self.name, self.marks)
    }

    fn reach(&mut self, origin: &Origin, mark: &str) {
        for read in &origin.must {
            self.reads[*read].1.push(mark.to_string());
        }
        for read in origin.may.difference(&origin.must) {
            self.reads[*read].1.push(format!("{mark}?"));
        }
    }

    fn statement(&mut self, dice: &mut Dice) {
        let [to, x, y, z] = std::array::from_fn(|_| dice.below(LOCALS as u64) as usize);
        let (k, m) = (dice.odd(), dice.odd());
        let (from_x, from_y) = (self.locals[x].clone(), self.locals[y].clone());
        match dice.below(9) {
            0 | 1 => {
                let read = self.reads.len();
                self.reads.push((self.lines.len(), Vec::new()));
                self.lines.push(format!("l{to} = *(volatile unsigned *)&g{};", dice.below(6)));
                self.locals[to] = Origin { must: BTreeSet::from([read]), may: BTreeSet::new() };
            }
            2 => {
                self.lines.push(format!("l{to} = l{x} * {k}u + l{y} * {m}u;"));
                self.locals[to] = from_x.and(&from_y);
            }
            3 => {
                let mark = self.mark('b');
                self.reach(&from_x, &mark);
                self.lines.push(format!("if (l{x} * {k}u > {m}u) consume({k}); // [{mark}]"));
            }
            4 => {
                let mark = self.mark('w');
                self.reach(&from_x, &mark);
                self.lines.push(format!("*(volatile unsigned *)&o{} = l{x}; // [{mark}]", dice.below(4)));
            }
            5 => {
                let helper = dice.below(HELPERS);
                self.reach(&from_x, &format!("b_helper_{helper}"));
                self.lines.push(format!("l{to} = helper_{helper}(l{x}, l{y});"));
                self.locals[to] = from_x.and(&from_y);
            }
            6 => {
                self.lines.push(format!("for (int i = 0; i < 3; i++) l{to} = l{to} * {k}u + l{x};"));
                self.locals[to] = self.locals[to].and(&from_x);
            }
            7 => {
                let mark = self.mark('b');
                self.reach_perhaps(&from_x, &mark);
                // The product keeps a compiler from seeing that one choice decides a later one.
                self.lines.push(format!("l{to} = l{x} * {k}u > {m}u ? l{y} : l{z}; // [{mark}]"));
                let mut origin = from_y.and(&self.locals[z]);
                origin.may.extend(from_x.must.union(&from_x.may));
                self.locals[to] = origin;
            }
            _ => {
                self.lines.push(format!("l{to} = (unsigned)(long)((double)l{x} * 1.25);"));
                self.locals[to] = from_x;
            }
        }
    }

    /// A choice may be made by a branch, or by an instruction without one.
    fn reach_perhaps(&mut self, origin: &Origin, mark: &str) {
        for read in origin.must.union(&origin.may) {
            self.reads[*read].1.push(format!("{mark}?"));
        }
    }

    fn text(mut self) -> String {
        for (line, mut marks) in self.reads {
            marks.sort();
            marks.dedup();
            let sure: BTreeSet<String> = marks.iter().filter(|it| !it.ends_with('?')).cloned().collect();
            marks.retain(|it| !it.ends_with('?') || !sure.contains(it.trim_end_matches('?')));
            self.lines[line] += &format!(" //: {}", marks.join(" "));
        }
        // They come from outside, so that no compiler knows anything of them.
        let locals: Vec<String> = (0..LOCALS).map(|local| format!("unsigned l{local}")).collect();
        format!("void made_{}({}) {{\n{}\n}}\n", self.name, locals.join(", "), self.lines.join("\n"))
    }
}

/// A program of some functions, the same for the same seed.
pub fn program(seed: u64, functions: usize) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut text = String::from("#include <stdio.h>\nunsigned g0, g1, g2, g3, g4, g5, o0, o1, o2, o3;\n");
    text += "__attribute__((noinline)) void consume(int x) { printf(\"%d\\n\", x); }\n";
    for helper in 0..HELPERS {
        let (k, m) = (dice.odd(), dice.odd());
        text += &format!("__attribute__((noinline)) unsigned helper_{helper}(unsigned x, unsigned y) {{\n");
        text +=
            &format!("if (x > {k}u) consume(1); // [b_helper_{helper}]\nreturn x * {k}u + y * {m}u;\n}}\n");
    }
    for name in 0..functions {
        let mut making = Making {
            lines: Vec::new(),
            reads: Vec::new(),
            locals: vec![Origin::default(); LOCALS],
            marks: 0,
            name,
        };
        for _ in 0..12 + dice.below(20) {
            making.statement(&mut dice);
        }
        text += &making.text();
    }
    text + "int main(void) { return 0; }\n"
}
