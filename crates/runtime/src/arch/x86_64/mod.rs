//! x86-64, with Linux and the GNU C library.

mod abi;
mod call_stub;
mod entry;
mod guarded_load;
mod instructions;
mod switch;
mod wide_atomic;

pub use abi::{
    answer_system_call, enter_by_exception, jump_restores_mask, jump_stack_pointer, makes_process,
    may_make_system_calls, program_counter, syscall, syscall_of_parked, trap_no_system_calls,
    trap_system_calls, trapped_system_call,
};
pub(crate) use call_stub::note_call_and_pass_on;
pub use call_stub::{CALL_STUB_BYTES, REGISTER_ARGUMENTS, VECTORS, WIDE, call_stub, init_call_stubs};
pub use entry::{
    CALLER, PRESERVED, REGISTERS, caller, entry_stack_pointer, live_registers, registers, set_registers,
};
pub(crate) use entry::{
    enter, enter_unless_private, enter_with_caller, enter_with_stack_pointer, note_and_pass_on,
    note_registers,
};
pub use guarded_load::{guarded_load, skip_guarded_load};
pub use instructions::{
    LONGEST_CALL, answer_clock, call_through_table, clock_read_at, follows_call, forbid_clock,
    may_read_clock, read_clock, remove_call,
};
pub use switch::{
    StackPointer, abandon_stack, call_on_stack, floating_point_modes, init, prepare, switch, thread_pointer,
};
pub use wide_atomic::compare_exchange_16;
