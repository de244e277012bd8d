//! The stubs as text for the assembler, for the System V calling convention on x86-64.

use std::fmt::Write as _;

use threadbare_wire::StdOp;

use super::Stubbed;

/// What the runtime calls the functions that stubs call, before the library's function and after it.
const ENTRY: &str = "__threadbare_std_entry";
const LEAVE: &str = "__threadbare_std_leave";

/// The registers that hold arguments, which the library's function has to find as they were.
const ARGUMENTS: [&str; 6] = ["rdi", "rsi", "rdx", "rcx", "r8", "r9"];

/// A stub saves the arguments, reports to the runtime who called with what, and continues in the function. Nearly all
/// come back to report what has become of the word.
pub(super) fn stubs(functions: &[Stubbed]) -> String {
    let mut text = ".intel_syntax noprefix\n.text\n".to_string();
    for Stubbed { symbol, op } in functions {
        let _ = write!(
            text,
            ".globl __wrap_{symbol}\n.type __wrap_{symbol}, @function\n__wrap_{symbol}:\n.cfi_startproc\n{}\
             mov rcx, rsi\nmov rdx, [rsp + 48]\nmov esi, {}\nsub rsp, 8\n.cfi_adjust_cfa_offset 8\n\
             call {ENTRY}@PLT\nadd rsp, 8\n.cfi_adjust_cfa_offset -8\n{}",
            ARGUMENTS.into_iter().map(push).collect::<String>(),
            op.number(),
            ARGUMENTS.into_iter().rev().map(pop).collect::<String>(),
        );
        if op.reports_return() {
            call_and_report(&mut text, symbol, *op);
        } else {
            let _ = writeln!(text, "jmp __real_{symbol}");
        }
        text.push_str(".cfi_endproc\n");
    }
    text
}

/// Calls the function, then reports. What the runtime gave and the word are kept in registers that functions preserve.
fn call_and_report(text: &mut String, symbol: &str, op: StdOp) {
    let word = if op == StdOp::CondvarWait { "rsi" } else { "rdi" };
    let _ = writeln!(
        text,
        "{}.cfi_rel_offset rbx, 0\n{}.cfi_rel_offset r12, 0\n{}mov rbx, {word}\nmov r12, rax\n\
         call __real_{symbol}\n\
         {}{}mov rdi, rbx\nmov rsi, r12\nmov rdx, [rsp + 40]\nmov ecx, {}\ncall {LEAVE}@PLT\n\
         {}{}{}{}.cfi_restore r12\n{}.cfi_restore rbx\nret",
        push("rbx"),
        push("r12"),
        push("r13"),
        push("rax"),
        push("rdx"),
        op.number(),
        pop("rdx"),
        pop("rax"),
        pop("r13"),
        pop("r12"),
        pop("rbx"),
    );
}

fn push(register: &str) -> String {
    format!("push {register}\n.cfi_adjust_cfa_offset 8\n")
}

fn pop(register: &str) -> String {
    format!("pop {register}\n.cfi_adjust_cfa_offset -8\n")
}
