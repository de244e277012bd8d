//! The functions through which Rust's threads run what the program gave them: a panic that is caught further inside has
//! been caught by the program.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{Endianness, Object as _, ObjectSymbol as _};
use threadbare_wire::CodeRange;

use crate::server::Server;

/// The standard library never inlines this function, for the sake of backtraces.
const NAME: &str = "__rust_begin_short_backtrace";

/// Where they lie in an executable's file. Every server of a program asks the same.
pub(crate) fn thread_bodies(executable: &Path) -> Arc<Vec<Range<u64>>> {
    type Key = (PathBuf, Option<SystemTime>);
    type Known = Vec<(Key, Arc<Vec<Range<u64>>>)>;
    static KNOWN: Mutex<Known> = Mutex::new(Vec::new());
    const MOST: usize = 64;
    let changed = std::fs::metadata(executable).and_then(|file| file.modified()).ok();
    let key = (executable.to_path_buf(), changed);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, bodies)) = known.iter().find(|(known, _)| *known == key) {
        return Arc::clone(bodies);
    }
    let bodies = Arc::new(read(executable));
    known.truncate(MOST - 1);
    known.insert(0, (key, Arc::clone(&bodies)));
    bodies
}

fn read(executable: &Path) -> Vec<Range<u64>> {
    let content = std::fs::read(executable).unwrap_or_default();
    let Ok(elf) = ElfFile::<FileHeader64<Endianness>>::parse(&*content) else { return Vec::new() };
    let is_body = |name: &str| name.contains(NAME);
    let bodies = elf.symbols().filter(|symbol| symbol.is_definition() && symbol.name().is_ok_and(is_body));
    bodies.map(|symbol| symbol.address()..symbol.address() + symbol.size()).collect()
}

impl Server {
    /// Gives the runtime the functions through which threads run what the program gave them.
    pub(crate) fn write_thread_bodies(&mut self, bodies: &[Range<u64>]) {
        let bias = self.modules().all().first().map_or(0, |executable| executable.bias);
        let control = self.memory.control_mut();
        for (range, body) in control.thread_bodies.iter_mut().zip(bodies) {
            *range = CodeRange { start: body.start.wrapping_add(bias), end: body.end.wrapping_add(bias) };
        }
        control.thread_body_count = bodies.len().min(control.thread_bodies.len()) as u32;
    }
}
