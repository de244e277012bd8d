//! What a line of source allocates.

/// The name of the type that an allocation on this line is for, as far as the text says:
/// `sizeof(struct node)`, `new Node(…)`, `struct node *n = malloc(sizeof *n)`.
pub(crate) fn allocated_type(line: &str) -> Option<Allocated<'_>> {
    let plain = after_new(line).or_else(|| in_sizeof(line)).or_else(|| declared(line));
    plain.map(|name| Allocated { name, header: 0 }).or_else(|| made(line))
}

/// What a line allocates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Allocated<'a> {
    /// The name of the type.
    pub name: &'a str,
    /// How many bytes of the library's own lie before it.
    pub header: u64,
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == ':'
}

/// The type name at the start of a text, without `struct` and the like.
fn type_name(text: &str) -> Option<&str> {
    let mut text = text.trim_start();
    for keyword in ["static ", "const ", "struct ", "class ", "union "] {
        text = text.strip_prefix(keyword).unwrap_or(text).trim_start();
    }
    let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
    let name = text[..end].trim_end_matches(':');
    (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some(name)
}

fn after_new(line: &str) -> Option<&str> {
    let mut rest = line;
    while let Some(at) = rest.find("new ") {
        let starts_word = !rest[..at].ends_with(is_word);
        rest = &rest[at + 4..];
        if starts_word {
            // Placement arguments come before the type.
            let text =
                rest.strip_prefix('(').and_then(|inner| inner.split_once(')')).map_or(rest, |(_, t)| t);
            return type_name(text);
        }
    }
    None
}

fn in_sizeof(line: &str) -> Option<&str> {
    let (_, after) = line.split_once("sizeof")?;
    let inner = after.trim_start().strip_prefix('(')?;
    let name = type_name(inner)?;
    // `sizeof(*n)` and `sizeof(n[0])` name a variable, `sizeof(struct node)` a type.
    let after_name = inner.trim_start().split_once(name).map_or("", |(_, rest)| rest);
    (!inner.trim_start().starts_with('*') && after_name.trim_start().starts_with(')')).then_some(name)
}

/// `struct node *n = malloc(…)`: the type before the star.
fn declared(line: &str) -> Option<&str> {
    let (left, _) = line.split_once('=')?;
    let declaration = left.rsplit([';', '{', '}', '(']).next().unwrap_or(left);
    let (type_text, _) = declaration.split_once('*')?;
    let name = type_name(type_text)?;
    // An assignment through a pointer, `*place = …`, has nothing before the star.
    (!["return", "void", "char"].contains(&name)).then_some(name)
}

/// `std::make_shared<Node>(…)` and `std::make_unique<Node>(…)`.
fn made(line: &str) -> Option<Allocated<'_>> {
    /// A table of functions and two counts.
    const COUNTS: u64 = 16;
    let shared = line.split_once("make_shared<").map(|(_, after)| (after, COUNTS));
    let (after, header) = shared.or_else(|| line.split_once("make_unique<").map(|(_, after)| (after, 0)))?;
    Some(Allocated { name: type_name(after)?, header })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_ways_to_allocate_are_read() {
        for (line, expected) in [
            ("struct node *n = malloc(sizeof *n);", Some("node")),
            ("struct node *n = malloc(sizeof(*n));", Some("node")),
            ("static struct node *make(void) { struct node *n = malloc(sizeof *n); }", Some("node")),
            ("node_t *n = (node_t *)calloc(1, sizeof(node_t));", Some("node_t")),
            ("list->head = malloc(sizeof(struct node));", Some("node")),
            ("q->slots = malloc(n * sizeof (struct slot));", Some("slot")),
            ("auto *n = new Node(1, 2);", Some("Node")),
            ("return new ns::Node{};", Some("ns::Node")),
            ("cells = new (std::nothrow) Cell[n];", Some("Cell")),
            ("renew (x);", None),
            ("p = malloc(16);", None),
            ("char *text = strdup(s);", None),
            ("auto p = std::make_shared<Account>(3);", Some("Account")),
        ] {
            assert_eq!(allocated_type(line).map(|it| it.name), expected, "{line}");
        }
    }
}
