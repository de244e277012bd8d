//! What makes findings of different processes the same.

use threadbare_detect::{Finding, FindingKind};
use threadbare_target::Modules;

/// A text that is the same for the same finding under whatever input, and wherever the program was loaded: its kind, and the
/// places in the files of the program.
pub fn identity(finding: &Finding, modules: &Modules) -> String {
    let key = finding.key();
    let place = |pc: &u64| match modules.find(*pc) {
        Some((0, address)) => format!("{address:x}"),
        Some((module, address)) => format!("{}+{address:x}", modules.all()[module].name),
        None => format!("?{pc:x}"),
    };
    let mut sites: Vec<String> = key.sites().iter().map(place).collect();
    if finding.kind == FindingKind::Race {
        sites.sort_unstable();
    }
    let pattern = key.pattern().map_or_else(String::new, |pattern| format!("-{pattern}"));
    format!("{}{pattern} {}", finding.kind.word(), sites.join(" "))
}
