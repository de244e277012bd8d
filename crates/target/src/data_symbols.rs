//! The global variables of one executable or library.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{Endianness, Object as _, ObjectSymbol as _, SymbolKind};

use crate::symbols::{DataName, demangle};

struct Variable {
    start: u64,
    size: u64,
    name: String,
}

/// Variables by address.
#[derive(Default)]
pub(crate) struct DataSymbols {
    variables: Vec<Variable>,
}

impl DataSymbols {
    /// Reads the symbol table of a file; a file without one has no variables.
    pub fn load(path: &Path) -> DataSymbols {
        let content = fs::read(path).unwrap_or_default();
        let Ok(elf) = ElfFile::<FileHeader64<Endianness>>::parse(&*content) else {
            return DataSymbols::default();
        };
        let mut variables: Vec<Variable> = elf
            .symbols()
            .chain(elf.dynamic_symbols())
            .filter(|symbol| symbol.kind() == SymbolKind::Data && symbol.is_definition() && symbol.size() > 0)
            .filter_map(|symbol| {
                let name = demangle(symbol.name().ok()?.split('@').next()?);
                Some(Variable { start: symbol.address(), size: symbol.size(), name })
            })
            .collect();
        // Of several names for one place, the plainest: `environ` before `__environ`.
        variables.sort_by(|a, b| {
            let plainness = |it: &Variable| (it.name.starts_with('_'), it.name.len());
            (a.start, plainness(a), &a.name).cmp(&(b.start, plainness(b), &b.name))
        });
        variables.dedup_by_key(|variable| variable.start);
        drop_numbers(&mut variables);
        DataSymbols { variables }
    }

    /// The variable at an address in the file.
    pub fn find(&self, address: u64) -> Option<DataName> {
        let after = self.variables.partition_point(|variable| variable.start <= address);
        let variable = self.variables.get(after.checked_sub(1)?)?;
        let offset = address - variable.start;
        (offset < variable.size).then(|| DataName { symbol: variable.name.clone(), offset, path: None })
    }
}

/// Compilers number a function's static variables (`count.0`); the number only stays where two
/// share a name.
fn drop_numbers(variables: &mut [Variable]) {
    fn plain(name: &str) -> &str {
        match name.rsplit_once('.') {
            Some((plain, number))
                if !plain.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) =>
            {
                plain
            }
            _ => name,
        }
    }
    let mut uses: HashMap<String, usize> = HashMap::new();
    for variable in variables.iter() {
        *uses.entry(plain(&variable.name).to_string()).or_default() += 1;
    }
    for variable in variables {
        let plain = plain(&variable.name);
        if uses.get(plain) == Some(&1) {
            variable.name.truncate(plain.len());
        }
    }
}
