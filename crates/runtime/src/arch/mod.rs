//! Everything that has to be written again for another processor, and nothing else. There is one folder for each
//! processor; the rest of the runtime has no assembly, no register names and no opcodes.
//!
//! What a folder has to supply:
//!
//! * **Flows of control** (`switch`): [`StackPointer`], [`init`], [`thread_pointer`], [`switch`], [`prepare`],
//!   [`call_on_stack`], [`abandon_stack`]. A switch changes the stack, the registers that calls preserve, the
//!   floating-point modes, and the thread pointer through which thread-local variables are found.
//! * **Ways into the runtime** (`entry`): the bodies of exported functions, as macros for `#[unsafe(naked)]` functions. The
//!   function proper (`serve`) gets the program's arguments as they came.
//!     * `enter!(serve)` notes the return address ([`caller`]) and the preserved registers ([`registers`]).
//!     * `enter_with_caller!(serve, n)` notes the registers and passes the return address behind `n` arguments.
//!     * `enter_with_stack_pointer!(serve)` passes the stack pointer behind one argument.
//!     * `enter_unless_private!(serve, …)` is the short way of the access hooks: it counts the operation in the watched fiber and
//!       returns if the shadow cells say that the place is the thread's own; otherwise as `enter_with_caller!(serve, 1)`.
//!     * `note_and_pass_on!(note)` calls `note` with up to two arguments, which it keeps, and goes on at the address that it
//!       returns, on the caller's frame.
//! * **Stubs for library functions** (`call_stub`): [`init_call_stubs`], [`call_stub`], [`CALL_STUB_BYTES`], [`REGISTER_ARGUMENTS`], and
//!   `note_call_and_pass_on!(note)`, which all of them go through: it has a call noted and jumps to the address that `note` returns.
//! * **What the program goes on with**: [`PRESERVED`], [`registers`], [`set_registers`], [`entry_stack_pointer`], [`caller`].
//! * **Instructions** (`instructions`): [`follows_call`], [`call_through_table`], [`remove_call`], [`LONGEST_CALL`],
//!   [`forbid_clock`], [`may_read_clock`], [`clock_read_at`], [`read_clock`], [`answer_clock`].
//! * **Kernel and C library** (`abi`): [`syscall`], [`makes_process`], [`program_counter`], [`jump_stack_pointer`],
//!   [`jump_restores_mask`].
//! * **Reads that may fail** (`guarded_load`): [`guarded_load`], [`skip_guarded_load`].
//! * **Wide atomics** (`wide_atomic`): [`compare_exchange_16`].

#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "x86_64")]
pub use x86_64::*;

#[cfg(not(target_arch = "x86_64"))]
compile_error!("the runtime has been written for x86-64 only: another processor needs a folder in src/arch");
