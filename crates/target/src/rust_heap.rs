//! What a Rust program keeps in a heap block, from the function that allocated it.

/// What a block holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Held {
    /// The structure that fills the block, by its name in the debug information.
    pub structure: String,
    /// What people call it: the type without the modules.
    pub shown: String,
    /// The member of `structure` that people mean; the others are how the library counts references.
    pub member: &'static str,
}

/// What a function of the standard library allocates. `path` is its readable symbol, `alloc::sync::Arc<T>::new`, `made`
/// its name with the types it is made for, `new<Mutex<i32>>`.
pub(crate) fn held(path: &str, made: &str) -> Option<Held> {
    let of = first_parameter(made)?;
    let function = path.rsplit("::").next()?;
    if !made.starts_with(function) {
        return None;
    }
    let is_box = path.starts_with("alloc::boxed::Box<");
    let counted = if is_box { of.strip_prefix("alloc::sync::ArcInner<") } else { None };
    match counted.and_then(|inner| inner.strip_suffix('>')) {
        // `Arc::new` is inlined and leaves the allocation to `Box`.
        Some(inner) => Some(shared(inner)),
        None if path.starts_with("alloc::sync::Arc<") => Some(shared(of)),
        None if is_box => Some(Held { structure: structure(of), shown: without_modules(of), member: "" }),
        None => None,
    }
}

fn shared(of: &str) -> Held {
    Held { structure: format!("ArcInner<{of}>"), shown: without_modules(of), member: ".data" }
}

/// A type as its own entry in the debug information names it: without its module, but with those of its parameters.
fn structure(of: &str) -> String {
    let (path, parameters) = of.split_at(of.find('<').unwrap_or(of.len()));
    format!("{}{parameters}", path.rsplit("::").next().unwrap_or(path))
}

/// `Mutex<i32>` of `new<Mutex<i32>, Global>`.
fn first_parameter(made: &str) -> Option<&str> {
    let inner = made.split_once('<')?.1.strip_suffix('>')?;
    let mut depth = 0;
    let end = inner.find(|c| {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    Some(&inner[..end.unwrap_or(inner.len())])
}

fn without_modules(name: &str) -> String {
    let mut bare = String::with_capacity(name.len());
    let mut word = String::new();
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("::") {
            word.clear();
            rest = after;
            continue;
        }
        if c.is_alphanumeric() || "_{}#".contains(c) {
            word.push(c);
        } else {
            bare.push_str(&word);
            word.clear();
            bare.push(c);
        }
        rest = &rest[c.len_utf8()..];
    }
    bare + &word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_mutex_is_named_by_what_it_protects() {
        let found =
            held("alloc::sync::Arc<T>::new", "new<std::sync::poison::mutex::Mutex<alloc::vec::Vec<u8>>>");
        let found = found.expect("an Arc");
        assert_eq!(found.structure, "ArcInner<std::sync::poison::mutex::Mutex<alloc::vec::Vec<u8>>>");
        assert_eq!(found.shown, "Mutex<Vec<u8>>");
        assert_eq!(found.member, ".data");
    }

    #[test]
    fn a_box_is_named_by_its_content() {
        let found = held("alloc::boxed::Box<T>::new", "new<bank::Account>").expect("a Box");
        assert_eq!(
            (found.structure.as_str(), found.shown.as_str(), found.member),
            ("Account", "Account", "")
        );
        let generic = held("alloc::boxed::Box<T>::new", "new<bank::Account<bank::Euro>>").expect("a Box");
        assert_eq!(generic.structure, "Account<bank::Euro>");
        let counted = held("alloc::boxed::Box<T>::new", "new<alloc::sync::ArcInner<a::B>>").expect("an Arc");
        assert_eq!((counted.structure.as_str(), counted.shown.as_str()), ("ArcInner<a::B>", "B"));
        let pair = held("alloc::boxed::Box<T>::new", "new<(a::B, c::D<e::F>), alloc::alloc::Global>");
        assert_eq!(pair.expect("a Box").shown, "(B, D<F>)");
    }

    #[test]
    fn other_functions_say_nothing() {
        assert_eq!(held("alloc::sync::Arc<T>::new", "new"), None);
        assert_eq!(held("alloc::sync::Arc<T>::new", "other<u8>"), None);
        assert_eq!(held("bank::make", "make<u8>"), None);
    }
}
