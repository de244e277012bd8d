//! The variables of functions, by where they lie on the stack.

use std::ops::Range;

use addr2line::gimli::{self, AttributeValue};

use super::reading::{Dwarf, Entry, Reading, Unit, name_of};
use super::{Part, TypeId, Types};

/// A variable of a function, at a fixed distance from where its caller's frame begins.
#[derive(Debug)]
pub(super) struct Local {
    name: String,
    offset: i64,
    of: TypeId,
}

/// The variables of a function.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: Option<String>,
    pub(super) code: Range<u64>,
    pub(super) locals: Vec<Local>,
}

impl Types {
    /// The variable of the function around a code address that lies `offset` bytes from the start of
    /// its caller's frame: its name and the way to that part.
    pub fn local(&self, pc: u64, offset: i64, part: Part) -> Option<String> {
        let function = self.functions.iter().find(|function| function.code.contains(&pc))?;
        let local = function.locals.iter().find(|local| {
            let size = self.table[local.of.0].size.max(1);
            (local.offset..local.offset + size as i64).contains(&offset)
        })?;
        Some(format!("{}{}", local.name, self.path(local.of, (offset - local.offset) as u64, part)))
    }
}

impl Reading {
    /// The variables and parameters of a function that lie on the stack.
    pub(super) fn locals(
        &mut self,
        dwarf: &Dwarf<'_>,
        unit: &Unit<'_>,
        number: usize,
        function: &Entry<'_>,
        start: u64,
    ) -> gimli::Result<Vec<Local>> {
        let base = frame_base(function, unit, &|| self.frame_sizes.of(start));
        let mut locals = Vec::new();
        let mut entries = unit.entries_at_offset(function.offset())?;
        entries.next_dfs()?;
        let depth = entries.depth();
        while let Some(entry) = entries.next_dfs()? {
            // The next one at the same depth is another function, with variables of its own.
            if entry.depth() <= depth {
                break;
            }
            let is_variable = matches!(entry.tag(), gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter);
            if let (true, Some(base)) = (is_variable, base)
                && let Some(offset) = frame_offset(entry, unit)
                && let Some(name) = name_of(dwarf, unit, entry)
                && let Some(of) = self.type_of(dwarf, unit, number, entry)?
            {
                locals.push(Local { name, offset: base + offset, of });
            }
        }
        Ok(locals)
    }
}

/// The code of a function that exists out of line.
pub(super) fn code_of(dwarf: &Dwarf<'_>, unit: &Unit<'_>, entry: &Entry<'_>) -> Option<Range<u64>> {
    let start = dwarf.attr_address(unit, entry.attr_value(gimli::DW_AT_low_pc)?).ok()??;
    let end = match entry.attr_value(gimli::DW_AT_high_pc)? {
        AttributeValue::Addr(end) => end,
        length => start + length.udata_value()?,
    };
    Some(start..end)
}

/// Where a function's variables are counted from, relative to the start of its caller's frame.
fn frame_base(function: &Entry<'_>, unit: &Unit<'_>, size: &dyn Fn() -> Option<i64>) -> Option<i64> {
    const RBP: gimli::Register = gimli::Register(6);
    const RSP: gimli::Register = gimli::Register(7);
    let AttributeValue::Exprloc(expression) = function.attr_value(gimli::DW_AT_frame_base)? else {
        return None;
    };
    match expression.operations(unit.encoding()).next().ok()?? {
        gimli::Operation::CallFrameCFA => Some(0),
        // The saved frame pointer lies below the return address.
        gimli::Operation::Register { register: RBP } => Some(-16),
        gimli::Operation::Register { register: RSP } => size().map(|size| -size),
        _ => None,
    }
}

/// The place of a variable in its function's frame.
fn frame_offset(entry: &Entry<'_>, unit: &Unit<'_>) -> Option<i64> {
    let AttributeValue::Exprloc(expression) = entry.attr_value(gimli::DW_AT_location)? else { return None };
    let mut operations = expression.operations(unit.encoding());
    match (operations.next().ok()??, operations.next().ok()?) {
        (gimli::Operation::FrameOffset { offset }, None) => Some(offset),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compilers describe functions in either order.
    const SOURCE: &str = "static int before(void) { return 1; }
static int between(void) { volatile int deep[4] = {0}; return deep[1]; }
static int after(void) { return 1; }
int main(void) { return before() + between() + after(); }
";

    #[test]
    fn a_function_without_variables_does_not_get_those_of_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let (source, program) = (folder.path().join("locals.c"), folder.path().join("locals"));
        std::fs::write(&source, SOURCE).unwrap();
        let mut compiler = std::process::Command::new("cc");
        compiler.args(["-g", "-O0"]).arg(&source).arg("-o").arg(&program);
        assert!(compiler.status().unwrap().success());
        let types = Types::load(&program);
        let function = |name: &str| {
            types.functions.iter().find(|function| function.name.as_deref() == Some(name)).unwrap()
        };
        let [before, between, after] = ["before", "between", "after"].map(function);
        let deep = between.locals.iter().find(|local| local.name == "deep").unwrap();
        let named = |function: &Function| types.local(function.code.start, deep.offset + 4, Part::Innermost);
        assert_eq!(named(between).as_deref(), Some("deep[1]"));
        assert_eq!([named(before), named(after)], [None, None]);
    }
}
