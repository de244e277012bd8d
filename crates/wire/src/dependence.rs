//! What an execution depended on, as the runtime notes it.

/// Room for the name of a function. Longer ones are cut: they are mangled, and their beginning says enough.
const NAME_BYTES: usize = 118;

/// Something that an execution depended on. The runtime notes each kind once for each place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct DependenceRecord {
    /// The return address of the call, in the program's own code; 0 if it is nobody's.
    pub site: u64,
    /// A `threadbare_library::Dependence` by number.
    pub kind: u8,
    /// How many bytes of the name are used.
    name_len: u8,
    name: [u8; NAME_BYTES],
}

impl DependenceRecord {
    /// A record.
    pub fn new(kind: u8, name: &str, site: u64) -> DependenceRecord {
        let mut len = name.len().min(NAME_BYTES);
        while !name.is_char_boundary(len) {
            len -= 1;
        }
        let mut bytes = [0; NAME_BYTES];
        bytes[..len].copy_from_slice(&name.as_bytes()[..len]);
        DependenceRecord { site, kind, name_len: len as u8, name: bytes }
    }

    /// The function, or whatever else it is about.
    pub fn name(&self) -> String {
        String::from_utf8_lossy(&self.name[..usize::from(self.name_len).min(NAME_BYTES)]).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_too_long_is_cut_between_characters() {
        assert_eq!(DependenceRecord::new(1, "time", 7).name(), "time");
        let long = "é".repeat(NAME_BYTES);
        let name = DependenceRecord::new(1, &long, 7).name();
        assert!(long.starts_with(&name) && name.len() >= NAME_BYTES - 1, "{name}");
        assert_eq!(size_of::<DependenceRecord>(), 128);
    }
}
