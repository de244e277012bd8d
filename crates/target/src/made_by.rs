//! Which compilers made an executable.

use std::path::Path;

use object::{Object as _, ObjectSection as _};

/// The compilers that an executable names in its comment section, each once.
pub fn compilers(executable: &Path) -> Vec<String> {
    let Ok(content) = std::fs::read(executable) else { return Vec::new() };
    let Ok(file) = object::File::parse(&*content) else { return Vec::new() };
    let section = file.section_by_name(".comment");
    let Some(text) = section.and_then(|section| section.uncompressed_data().ok()) else { return Vec::new() };
    let mut found: Vec<String> = Vec::new();
    for part in text.split(|byte| *byte == 0) {
        let name = String::from_utf8_lossy(part).trim().replacen("GCC: ", "gcc ", 1);
        if !name.is_empty() && !name.starts_with("Linker: ") && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_very_test_was_made_by_rustc() {
        let made_by = compilers(&std::env::current_exe().expect("a path"));
        assert!(made_by.iter().any(|name| name.starts_with("rustc ")), "{made_by:?}");
        assert!(compilers(Path::new("/nowhere")).is_empty());
    }
}
