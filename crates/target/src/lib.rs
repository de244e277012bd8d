//! Building, starting and driving a program, and the names of what is in it.
//!
//! A program is built by the user's own compiler with thread-sanitizer instrumentation
//! ([`wrapper`](become_compiler), [`compile`]), started with the runtime library inside it, and
//! stopped just before its first thread. From there a [`Server`] runs one copy per plan.
//! This crate does not know what is worth trying.

mod allocation;
mod baseline;
mod checkpoints;
mod compiler;
mod data_symbols;
mod execution;
mod files;
mod fingerprint;
mod harness;
mod initial_stack;
mod launch;
mod made_by;
mod memory;
mod modules;
mod object_names;
mod outcome;
mod own_code;
pub mod own_folders;
mod panic;
mod processor;
mod program;
mod replies;
mod runtime_library;
mod rust_heap;
mod server;
mod server_error;
mod signal;
mod start_entropy;
mod std_operations;
mod std_stubs;
mod steering;
mod strays;
mod symbols;
mod thread_bodies;
mod thread_code;
mod trace_hash;
mod turns;
mod types;
mod unseen_loop;
mod wrapper;

pub use checkpoints::{Checkpoint, CheckpointSpacing, Ran};
pub use compiler::{BuildError, RUST_TARGET, RustFlags, SourceLanguage, compile, rust_flags};
pub use execution::{Dependency, Execution, Manner, UnheardPanic};
pub use fingerprint::{fingerprint, fingerprint_of};
pub use harness::test_output;
pub use made_by::compilers;
pub use modules::{Module, Modules, Region};
pub use object_names::ObjectNames;
pub use outcome::unheard_failure;
pub use own_code::OwnCode;
pub use program::{Program, ProgramError, resolve, resolve_in};
pub use runtime_library::{RuntimeLibrary, UnpackError};
pub use server::{Batch, Repeated, Server, ServerOptions, Wishes};
pub use server_error::{RunError, StartError};
pub use std_operations::StdOperation;
pub use steering::{Pause, Snapshot, Stop};
pub use symbols::{DataName, Site, Symbols, demangle};
pub use trace_hash::stable_hash;
pub use types::Part;
pub use wrapper::{Language, WrapperError, become_compiler, compiler_command};
