//! What lies inside a variable, from debug information: `queue.head`, `slots[2].count`.

mod frame_sizes;
mod locals;
pub(crate) mod reading;

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use locals::Function;

/// A type by its place in the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TypeId(usize);

/// Which of the things that begin at one address is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The innermost: what an access touches.
    Innermost,
    /// The outermost: what a pointer points to.
    Whole,
}

#[derive(Default, Debug)]
enum Shape {
    /// One value, or something whose inside has no names.
    #[default]
    Plain,
    Members(Vec<Member>),
    Elements(TypeId),
}

#[derive(Default, Debug)]
struct Type {
    size: u64,
    shape: Shape,
}

#[derive(Debug)]
struct Member {
    /// None for a base class or an anonymous structure, whose members count as the outer one's.
    name: Option<String>,
    offset: u64,
    of: TypeId,
}

/// The types of one executable or library.
#[derive(Default, Debug)]
pub(crate) struct Types {
    functions: Vec<Function>,
    /// Functions with type parameters, where they were inlined.
    inlined: Vec<(Range<u64>, String)>,
    table: Vec<Type>,
    /// Global variables by address in the file.
    variables: HashMap<u64, TypeId>,
    /// Structures, classes and typedefs.
    names: HashMap<String, TypeId>,
}

impl Types {
    /// Reads a file's debug information; without any, nothing has a type.
    pub fn load(path: &Path) -> Types {
        reading::read(path)
    }

    /// The type of the global variable that begins at an address in the file.
    pub fn of_variable(&self, address: u64) -> Option<TypeId> {
        self.variables.get(&address).copied()
    }

    /// The name of the function around a code address, with the types it is made for: `new<Mutex<i32>>`.
    /// Of functions inlined into each other, the innermost.
    pub fn function(&self, pc: u64) -> Option<&str> {
        let inlined = self.inlined.iter().filter(|(code, _)| code.contains(&pc));
        if let Some((_, name)) = inlined.min_by_key(|(code, _)| code.end - code.start) {
            return Some(name);
        }
        self.functions.iter().find(|function| function.code.contains(&pc))?.name.as_deref()
    }

    /// The structure, class or typedef of this name.
    pub fn named(&self, name: &str) -> Option<TypeId> {
        self.names.get(name).copied()
    }

    /// The way from the start of a value to the part at an offset: `.head`, `[2].count`.
    pub fn path(&self, id: TypeId, offset: u64, part: Part) -> String {
        let mut path = String::new();
        self.walk(id, offset, part, &mut path);
        path
    }

    fn walk(&self, id: TypeId, offset: u64, part: Part, path: &mut String) {
        let rest = |path: &mut String| {
            if offset != 0 {
                path.push_str(&format!("+{offset}"));
            }
        };
        match &self.table[id.0].shape {
            Shape::Plain => rest(path),
            Shape::Elements(element) => {
                let size = self.table[element.0].size;
                if size == 0 {
                    return rest(path);
                }
                path.push_str(&format!("[{}]", offset / size));
                self.walk(*element, offset % size, part, path);
            }
            Shape::Members(_) if offset == 0 && part == Part::Whole => {}
            Shape::Members(members) => {
                let holds = |member: &&Member| {
                    let end = member.offset + self.table[member.of.0].size.max(1);
                    (member.offset..end).contains(&offset)
                };
                match members.iter().find(holds) {
                    // Names with an underscore are how a library is made inside: of no interest.
                    Some(Member { name: Some(name), .. }) if name.starts_with('_') => {}
                    Some(member) => {
                        if let Some(name) = &member.name {
                            path.push_str(&format!(".{name}"));
                        }
                        self.walk(member.of, offset - member.offset, part, path);
                    }
                    None => rest(path),
                }
            }
        }
    }
}
