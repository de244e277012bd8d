//! Test cases for a thread-safe object (papers/pcr.txt §2.2): a prefix that one thread does first, then two or
//! more suffixes, each done by a thread of its own.

mod maker;
mod reduce;
mod source;

use std::fmt;

pub use maker::{Shape, TestMaker};
pub use reduce::reduce;
pub use source::plain_source;

/// One operation of the object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObjectOperation {
    /// Its name.
    pub name: String,
    /// How many arguments it takes.
    pub arguments: usize,
    /// It changes nothing, and is also done at the end.
    pub observes: bool,
}

/// The operations that a program names with `threadbare.h`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operations {
    /// Arguments are below this.
    pub values: u32,
    /// All of them, in the order of the source.
    pub all: Vec<ObjectOperation>,
}

impl Operations {
    /// Reads what the program prints for `--operations`.
    pub fn parse(text: &str) -> Option<Operations> {
        let mut lines = text.lines();
        let values = lines.next()?.strip_prefix("values ")?.parse().ok().filter(|values| *values > 0)?;
        let operation = |line: &str| {
            let mut words = line.split(' ');
            let name = words.next().filter(|name| !name.is_empty())?.to_string();
            let arguments = words.next()?.parse().ok()?;
            Some(ObjectOperation { name, arguments, observes: words.next() == Some("observer") })
        };
        Some(Operations { values, all: lines.map(operation).collect::<Option<_>>()? })
    }
}

/// A call of an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OperationCall {
    /// The operation by name.
    pub operation: String,
    /// Its arguments.
    pub arguments: Vec<u32>,
}

impl fmt::Display for OperationCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.operation)?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {argument}"))
    }
}

/// A test case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Test {
    /// What the main thread does on a new object.
    pub prefix: Vec<OperationCall>,
    /// What each of the other threads does then.
    pub suffixes: Vec<Vec<OperationCall>>,
}

impl Test {
    /// All calls, in the order in which the program counts them.
    pub fn calls(&self) -> impl Iterator<Item = &OperationCall> {
        self.prefix.iter().chain(self.suffixes.iter().flatten())
    }
}

/// The text that the program takes as its argument.
impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |calls: &[OperationCall]| {
            calls.iter().map(OperationCall::to_string).collect::<Vec<_>>().join("; ")
        };
        f.write_str(&part(&self.prefix))?;
        self.suffixes.iter().try_for_each(|suffix| write!(f, " | {}", part(suffix)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_read_as_the_header_prints_them() {
        let operations = Operations::parse("values 4\npush 1\npop 0\nsize 0 observer\n").expect("operations");
        let names: Vec<_> =
            operations.all.iter().map(|it| (it.name.as_str(), it.arguments, it.observes)).collect();
        assert_eq!(names, [("push", 1, false), ("pop", 0, false), ("size", 0, true)]);
        for text in ["", "hello\n", "values 0\n", "values 4\npush\n", "values 4\n\n"] {
            assert_eq!(Operations::parse(text), None, "{text:?}");
        }
    }
}
