//! Resolves paths in Rust source.
//!
//! Names are resolved as far as declarations of foreign functions require: items of the module,
//! `use` declarations, globs, and `crate`, `self`, `super`. Names outside the crate are recognised
//! if they are the usual names of C types (`c_int`, `size_t`); all others are unknown and are
//! reported as such.

use std::collections::HashMap;

use syn::{Item, UseTree};

use super::files::Tree;
use super::shape::Shape;

/// An item: the index of its module, and its index among the module's items.
pub(super) type At = (usize, usize);

/// The names of a crate.
pub(super) struct Names<'t> {
    tree: &'t Tree,
    /// Types and constants by module and name.
    items: HashMap<(usize, String), At>,
    /// The imports of `use` declarations: module and name, with the path.
    uses: HashMap<(usize, String), Vec<String>>,
    /// The paths of glob imports, by module.
    globs: HashMap<usize, Vec<Vec<String>>>,
}

/// The meaning of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// An item of the crate.
    Item(At),
    /// Something outside the crate, by its last name.
    Outside(String),
}

/// The maximum depth to which imports are followed.
const DEPTH: u32 = 16;

impl<'t> Names<'t> {
    pub fn new(tree: &'t Tree) -> Names<'t> {
        let mut names = Names {
            tree,
            items: HashMap::new(),
            uses: HashMap::new(),
            globs: HashMap::new(),
        };
        for (number, module) in tree.modules.iter().enumerate() {
            for (at, placed) in module.items.iter().enumerate() {
                let name = match &placed.item {
                    Item::Struct(i) => &i.ident,
                    Item::Union(i) => &i.ident,
                    Item::Enum(i) => &i.ident,
                    Item::Type(i) => &i.ident,
                    Item::Const(i) => &i.ident,
                    Item::Use(i) => {
                        names.used(number, &i.tree, Vec::new());
                        continue;
                    }
                    Item::ForeignMod(block) => {
                        // `type FILE;` in a block would be one, but requires an unstable feature.
                        let _ = block;
                        continue;
                    }
                    _ => continue,
                };
                let key = (number, name.to_string());
                names.items.entry(key).or_insert((number, at));
            }
        }
        names
    }

    fn used(&mut self, module: usize, tree: &UseTree, mut path: Vec<String>) {
        match tree {
            UseTree::Path(part) => {
                path.push(part.ident.to_string());
                self.used(module, &part.tree, path);
            }
            UseTree::Name(last) if last.ident == "self" => {
                if let Some(name) = path.last().cloned() {
                    self.uses.insert((module, name), path);
                }
            }
            UseTree::Name(last) => {
                let name = last.ident.to_string();
                path.push(name.clone());
                self.uses.insert((module, name), path);
            }
            UseTree::Rename(last) => {
                path.push(last.ident.to_string());
                self.uses.insert((module, last.rename.to_string()), path);
            }
            UseTree::Glob(_) => self.globs.entry(module).or_default().push(path),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.used(module, tree, path.clone());
                }
            }
        }
    }

    /// The meaning of a path in a module; `None` if it cannot be resolved.
    pub fn meaning(&self, module: usize, path: &[String]) -> Option<Meaning> {
        self.find(module, path, 0)
    }

    fn find(&self, module: usize, path: &[String], depth: u32) -> Option<Meaning> {
        if depth > DEPTH {
            return None;
        }
        let (first, rest) = path.split_first()?;
        if rest.is_empty() {
            return self.single(module, first, depth);
        }
        let parent = || self.tree.modules[module].parent;
        match first.as_str() {
            "crate" => self.within(0, rest, depth),
            "self" => self.within(module, rest, depth),
            "super" => self.within(parent()?, rest, depth),
            _ => {
                if let Some(child) = self.child(module, first) {
                    return self.within(child, rest, depth);
                }
                if let Some(used) = self.uses.get(&(module, first.clone()))
                    && used.as_slice() != path
                    && used.first() != Some(first)
                {
                    let whole: Vec<String> = used.iter().chain(rest).cloned().collect();
                    return self.find(module, &whole, depth + 1);
                }
                path.last().cloned().map(Meaning::Outside)
            }
        }
    }

    /// Resolves a path relative to a module.
    fn within(&self, module: usize, path: &[String], depth: u32) -> Option<Meaning> {
        let (first, rest) = path.split_first()?;
        if rest.is_empty() {
            return self.single(module, first, depth + 1);
        }
        if first == "super" {
            return self.within(self.tree.modules[module].parent?, rest, depth + 1);
        }
        match self.child(module, first) {
            Some(child) => self.within(child, rest, depth + 1),
            None => self.find(module, path, depth + 1),
        }
    }

    fn child(&self, module: usize, name: &str) -> Option<usize> {
        let children = &self.tree.modules[module].children;
        let is_it = |child: &&usize| self.tree.modules[**child].name == name;
        children.iter().find(is_it).copied()
    }

    fn single(&self, module: usize, name: &str, depth: u32) -> Option<Meaning> {
        let key = (module, name.to_owned());
        if let Some(at) = self.items.get(&key) {
            return Some(Meaning::Item(*at));
        }
        if let Some(path) = self.uses.get(&key) {
            return match path.as_slice() {
                [only] if only == name => Some(Meaning::Outside(name.to_owned())),
                path => self.find(module, path, depth + 1),
            };
        }
        // Only globs of modules of the crate are searched; other globs may import anything.
        let mut out = None;
        for path in self.globs.get(&module).into_iter().flatten() {
            match self.module_of(module, path) {
                Some(inner) if inner != module => {
                    if depth < DEPTH
                        && let Some(found @ Meaning::Item(_)) = self.single(inner, name, depth + 1)
                    {
                        return Some(found);
                    }
                }
                Some(_) => {}
                None => out = Some(Meaning::Outside(name.to_owned())),
            }
        }
        out.or_else(|| Some(Meaning::Outside(name.to_owned())))
    }

    /// The module of the crate that a path denotes.
    fn module_of(&self, module: usize, path: &[String]) -> Option<usize> {
        let mut at = module;
        for (i, part) in path.iter().enumerate() {
            at = match part.as_str() {
                "crate" => 0,
                "self" => at,
                "super" => self.tree.modules[at].parent?,
                name => match self.child(at, name) {
                    Some(child) => child,
                    // In the 2015 edition, paths of `use` start at the crate's root.
                    None if i == 0 => self.child(0, name)?,
                    None => return None,
                },
            };
        }
        Some(at)
    }
}

/// A type that Rust, `core::ffi`, `libc` and C denote by the same name. Sizes are those of 64-bit
/// machines, where `long` has 8 bytes.
pub(super) fn outside(name: &str) -> Option<Shape> {
    let word = |signed| Shape::Int {
        size: 8,
        signed,
        word: true,
    };
    Some(match name {
        "bool" => Shape::Bool,
        "i8" | "int8_t" | "c_char" | "c_schar" => Shape::int(1, true),
        "u8" | "uint8_t" | "c_uchar" => Shape::int(1, false),
        "i16" | "int16_t" | "c_short" => Shape::int(2, true),
        "u16" | "uint16_t" | "c_ushort" => Shape::int(2, false),
        "i32" | "int32_t" | "c_int" | "wchar_t" | "pid_t" => Shape::int(4, true),
        "u32" | "uint32_t" | "c_uint" | "char" | "mode_t" | "uid_t" | "gid_t" => {
            Shape::int(4, false)
        }
        "i64" | "int64_t" | "c_long" | "c_longlong" | "off_t" | "off64_t" | "time_t"
        | "intmax_t" => Shape::int(8, true),
        "u64" | "uint64_t" | "c_ulong" | "c_ulonglong" | "uintmax_t" => Shape::int(8, false),
        "usize" | "size_t" | "uintptr_t" => word(false),
        "isize" | "ssize_t" | "ptrdiff_t" | "intptr_t" => word(true),
        "f32" | "c_float" => Shape::Float { size: 4 },
        "f64" | "c_double" => Shape::Float { size: 8 },
        "c_void" | "FILE" | "DIR" => Shape::Opaque,
        _ => return None,
    })
}
