//! Types out of debug information.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use addr2line::gimli::{self, AttributeValue, EndianSlice, RunTimeEndian, UnitOffset};
use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{Endianness, Object as _, ObjectSection as _};

use super::frame_sizes::FrameSizes;
use super::locals::{Function, code_of};
use super::{Member, Shape, Type, TypeId, Types};

pub(super) type Slice<'a> = EndianSlice<'a, RunTimeEndian>;
pub(crate) type Dwarf<'a> = gimli::Dwarf<Slice<'a>>;
pub(crate) type Unit<'a> = gimli::Unit<Slice<'a>>;
pub(crate) type Entry<'a> = gimli::DebuggingInformationEntry<Slice<'a>>;

/// The debug information in a file's content; there may be none in it.
pub(crate) fn debug_information<'a>(elf: &ElfFile<'a, FileHeader64<Endianness>>) -> gimli::Result<Dwarf<'a>> {
    Dwarf::load(|id: gimli::SectionId| {
        let section = elf.section_by_name(id.name());
        let data = section.and_then(|section| section.data().ok()).unwrap_or_default();
        Ok(EndianSlice::new(data, RunTimeEndian::Little))
    })
}

/// Reads a file's debug information.
pub(super) fn read(path: &Path) -> Types {
    let content = fs::read(path).unwrap_or_default();
    let mut reading =
        Reading { types: Types::default(), known: HashMap::new(), frame_sizes: FrameSizes::default() };
    if let Ok(elf) = ElfFile::<FileHeader64<Endianness>>::parse(&*content) {
        reading.frame_sizes = FrameSizes::read(&elf);
        // Damaged debug information is as good as none from where it is damaged.
        let _ = reading.read(&elf);
    }
    reading.types
}

/// Debug information being read.
pub(super) struct Reading {
    types: Types,
    known: HashMap<(usize, UnitOffset), TypeId>,
    pub(super) frame_sizes: FrameSizes,
}

impl Reading {
    fn read(&mut self, elf: &ElfFile<'_, FileHeader64<Endianness>>) -> gimli::Result<()> {
        let dwarf = debug_information(elf)?;
        let mut headers = dwarf.units();
        let mut number = 0;
        while let Some(header) = headers.next()? {
            let unit = dwarf.unit(header)?;
            self.read_unit(&dwarf, &unit, number)?;
            number += 1;
        }
        Ok(())
    }

    fn read_unit<'a>(&mut self, dwarf: &Dwarf<'a>, unit: &Unit<'a>, number: usize) -> gimli::Result<()> {
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            match entry.tag() {
                gimli::DW_TAG_variable => {
                    if let Some(address) = static_address(entry, unit)
                        && let Some(of) = self.type_of(dwarf, unit, number, entry)?
                    {
                        self.types.variables.entry(address).or_insert(of);
                    }
                }
                gimli::DW_TAG_subprogram => {
                    if let Some(code) = code_of(dwarf, unit, entry) {
                        let locals = self.locals(dwarf, unit, number, entry, code.start)?;
                        let name = name_of(dwarf, unit, entry);
                        self.types.functions.push(Function { name, code, locals });
                    }
                }
                gimli::DW_TAG_inlined_subroutine => self.read_inlined(dwarf, unit, entry)?,
                gimli::DW_TAG_structure_type
                | gimli::DW_TAG_class_type
                | gimli::DW_TAG_union_type
                | gimli::DW_TAG_typedef => {
                    let is_whole = entry.attr_value(gimli::DW_AT_declaration).is_none();
                    if let Some(name) = name_of(dwarf, unit, entry).filter(|_| is_whole) {
                        let id = self.resolve(dwarf, unit, number, entry.offset())?;
                        self.types.names.entry(name).or_insert(id);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn read_inlined<'a>(
        &mut self,
        dwarf: &Dwarf<'a>,
        unit: &Unit<'a>,
        entry: &Entry<'a>,
    ) -> gimli::Result<()> {
        let origin = entry.attr_value(gimli::DW_AT_abstract_origin);
        let Some(AttributeValue::UnitRef(origin)) = origin else { return Ok(()) };
        let name = name_of(dwarf, unit, &unit.entry(origin)?).filter(|name| name.contains('<'));
        let Some(name) = name else { return Ok(()) };
        let mut ranges = dwarf.die_ranges(unit, entry)?;
        while let Some(range) = ranges.next()? {
            self.types.inlined.push((range.begin..range.end, name.clone()));
        }
        Ok(())
    }

    /// The type that an entry refers to.
    pub(super) fn type_of(
        &mut self,
        dwarf: &Dwarf<'_>,
        unit: &Unit<'_>,
        number: usize,
        entry: &Entry<'_>,
    ) -> gimli::Result<Option<TypeId>> {
        let refers = |attribute| match entry.attr_value(attribute) {
            Some(AttributeValue::UnitRef(offset)) => Some(offset),
            _ => None,
        };
        if let Some(offset) = refers(gimli::DW_AT_type) {
            return self.resolve(dwarf, unit, number, offset).map(Some);
        }
        // A definition may leave its type to the declaration.
        match refers(gimli::DW_AT_specification) {
            Some(offset) => {
                let declaration = unit.entry(offset)?;
                match declaration.attr_value(gimli::DW_AT_type) {
                    Some(AttributeValue::UnitRef(offset)) => {
                        self.resolve(dwarf, unit, number, offset).map(Some)
                    }
                    _ => Ok(None),
                }
            }
            None => Ok(None),
        }
    }

    /// The type at a place in a unit.
    fn resolve(
        &mut self,
        dwarf: &Dwarf<'_>,
        unit: &Unit<'_>,
        number: usize,
        offset: UnitOffset,
    ) -> gimli::Result<TypeId> {
        if let Some(id) = self.known.get(&(number, offset)) {
            return Ok(*id);
        }
        let id = TypeId(self.types.table.len());
        self.types.table.push(Type::default());
        // Known before it is complete: types contain each other through pointers.
        self.known.insert((number, offset), id);
        let entry = unit.entry(offset)?;
        let size = entry.attr_value(gimli::DW_AT_byte_size).and_then(|value| value.udata_value());
        let made = match entry.tag() {
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                let members = self.members(dwarf, unit, number, offset)?;
                Type { size: size.unwrap_or(0), shape: Shape::Members(members) }
            }
            gimli::DW_TAG_array_type => self.array(dwarf, unit, number, &entry)?,
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_atomic_type => match self.type_of(dwarf, unit, number, &entry)? {
                Some(same) => Type {
                    size: self.types.table[same.0].size,
                    shape: Shape::Members(vec![Member { name: None, offset: 0, of: same }]),
                },
                None => Type::default(),
            },
            gimli::DW_TAG_pointer_type => Type { size: size.unwrap_or(8), shape: Shape::Plain },
            _ => Type { size: size.unwrap_or(0), shape: Shape::Plain },
        };
        self.types.table[id.0] = made;
        Ok(id)
    }

    fn members(
        &mut self,
        dwarf: &Dwarf<'_>,
        unit: &Unit<'_>,
        number: usize,
        offset: UnitOffset,
    ) -> gimli::Result<Vec<Member>> {
        let mut members = Vec::new();
        let mut tree = unit.entries_tree(Some(offset))?;
        let root = tree.root()?;
        let structure = name_of(dwarf, unit, root.entry()).unwrap_or_default();
        let mut children = root.children();
        while let Some(child) = children.next()? {
            let entry = child.entry();
            if !matches!(entry.tag(), gimli::DW_TAG_member | gimli::DW_TAG_inheritance) {
                continue;
            }
            let place = entry.attr_value(gimli::DW_AT_data_member_location);
            let is_static = entry.attr_value(gimli::DW_AT_external).is_some();
            let offset = place.and_then(|value| value.udata_value()).unwrap_or(0);
            if let Some(of) = self.type_of(dwarf, unit, number, entry)?.filter(|_| !is_static) {
                members.push(Member { name: name_of(dwarf, unit, entry), offset, of });
            }
        }
        if is_rust(unit) {
            self.see_through_wrappers(&structure, &mut members);
        }
        Ok(members)
    }

    /// A Rust structure with only one member that has a size is a wrapper, such as `UnsafeCell`: its member's
    /// name says nothing. So does that of the lock in a lock.
    fn see_through_wrappers(&self, structure: &str, members: &mut [Member]) {
        if ["Mutex<", "RwLock<"].iter().any(|lock| structure.starts_with(lock)) {
            let lock = members.iter_mut().find(|member| member.name.as_deref() == Some("inner"));
            lock.into_iter().for_each(|lock| lock.name = None);
        }
        // The members of tuples have numbers.
        for name in members.iter_mut().filter_map(|member| member.name.as_mut()) {
            if let Some(number) =
                name.strip_prefix("__").filter(|rest| rest.bytes().all(|b| b.is_ascii_digit()))
            {
                *name = number.to_string();
            }
        }
        let table = &self.types.table;
        let mut sized = members.iter_mut().filter(|member| table[member.of.0].size > 0);
        if let (Some(only), None) = (sized.next(), sized.next()) {
            only.name = None;
        }
    }

    fn array(
        &mut self,
        dwarf: &Dwarf<'_>,
        unit: &Unit<'_>,
        number: usize,
        entry: &Entry<'_>,
    ) -> gimli::Result<Type> {
        let Some(mut element) = self.type_of(dwarf, unit, number, entry)? else {
            return Ok(Type::default());
        };
        let mut counts = Vec::new();
        let mut tree = unit.entries_tree(Some(entry.offset()))?;
        let mut children = tree.root()?.children();
        while let Some(child) = children.next()? {
            let number_of = |attribute| child.entry().attr_value(attribute).and_then(|v| v.udata_value());
            let most = number_of(gimli::DW_AT_upper_bound).map(|last| last + 1);
            counts.push(number_of(gimli::DW_AT_count).or(most).unwrap_or(0));
        }
        // The innermost dimension comes last; outer ones are arrays of arrays.
        while counts.len() > 1 {
            let count = counts.pop().unwrap_or(0);
            let size = self.types.table[element.0].size * count;
            let id = TypeId(self.types.table.len());
            self.types.table.push(Type { size, shape: Shape::Elements(element) });
            element = id;
        }
        let size = self.types.table[element.0].size * counts.first().copied().unwrap_or(0);
        Ok(Type { size, shape: Shape::Elements(element) })
    }
}

fn is_rust(unit: &Unit<'_>) -> bool {
    let language = || unit.entry(unit.root_offset()).ok()?.attr_value(gimli::DW_AT_language);
    language() == Some(AttributeValue::Language(gimli::DW_LANG_Rust))
}

pub(super) fn name_of(dwarf: &Dwarf<'_>, unit: &Unit<'_>, entry: &Entry<'_>) -> Option<String> {
    let value = entry.attr_value(gimli::DW_AT_name)?;
    let text = dwarf.attr_string(unit, value).ok()?;
    Some(text.to_string_lossy().into_owned())
}

/// The address of a variable that does not move.
fn static_address(entry: &Entry<'_>, unit: &Unit<'_>) -> Option<u64> {
    let AttributeValue::Exprloc(expression) = entry.attr_value(gimli::DW_AT_location)? else { return None };
    let mut operations = expression.operations(unit.encoding());
    match (operations.next().ok()??, operations.next().ok()?) {
        (gimli::Operation::Address { address }, None) => Some(address),
        _ => None,
    }
}
