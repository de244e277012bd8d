//! What the program's code says of registers, for those who compare states.

use std::sync::Arc;

use threadbare_code::{Code, DeadRegisters};
use threadbare_target::Program;
use threadbare_wire::DeadRegistersRecord;

/// The program, with what is known of its dead registers. If its code cannot be read, none is: fewer states are the same then.
pub(crate) fn with_dead_registers(program: &Program) -> Program {
    let record =
        |it: DeadRegisters| DeadRegistersRecord { after: it.after, registers: u64::from(it.registers) };
    let found = Code::read(&program.executable).map(|code| code.dead_registers()).unwrap_or_default();
    Program { dead_registers: Arc::new(found.into_iter().map(record).collect()), ..program.clone() }
}
