//! Compares the types that occur in signatures (their members and enumerators), and the crate's
//! constants.

use std::collections::BTreeSet;

use super::Comparison;
use crate::bindings::Mismatch;
use crate::bindings::c::Defined;
use crate::bindings::rust::Declared;
use crate::bindings::shape::{Class, Field, Record, Shape};
use crate::bindings::words::{common, piece, plain, sizes};

impl<'a> Comparison<'a> {
    /// Compares the structures and enumerations that occur in signatures, and the constants.
    pub fn types(&mut self) {
        let mut told = BTreeSet::new();
        while let Some((r, c)) = self.queue.pop() {
            let Ok(defined) = self.defined.types.record(&c) else {
                continue;
            };
            let declared = match self.declared.types.record(&r) {
                Ok(declared) => declared,
                Err(why) => {
                    let function = self.met.get(&(r, c)).cloned().unwrap_or_default();
                    self.leave_out(
                        &defined.place,
                        format!("struct {} of {function}: {why}", defined.name),
                    );
                    continue;
                }
            };
            // Debug information of each file describes the same structure again.
            if told.insert((r.clone(), defined.name.clone(), defined.place.clone())) {
                self.compared += 1;
                self.structure(declared, defined, (&r, &c));
            }
        }
        self.enumerations();
        self.constants();
    }

    fn structure(&mut self, rust: &'a Record, c: &'a Record, tags: (&str, &str)) {
        let layout = Layout {
            declared: self.declared,
            defined: self.defined,
            rust,
            c,
        };
        match layout.mismatch(tags) {
            Some(_) if self.fits_another(rust, c, tags.0) => self.leave_out(
                &c.place,
                format!(
                    "struct {}: the C files are compiled with several layouts of it, and Rust's is \
                     one of them",
                    c.name
                ),
            ),
            Some((what, message)) => self.found.push(Mismatch {
                item: rust.name.clone(),
                what: what.to_owned(),
                message,
                rust: rust.place.clone(),
                c: c.place.clone(),
                header: None,
            }),
            // Structures with different layouts are not compared member by member.
            None if rust.union != c.union || (!rust.ordered && !rust.union) => {}
            None => self.members(rust, c),
        }
    }

    /// Whether the structure has Rust's layout in another C file: macros may determine the length
    /// of its last member.
    fn fits_another(&self, rust: &'a Record, c: &Record, tag: &str) -> bool {
        let all = self.defined.types.records.iter();
        let mut others = all.filter_map(|(key, other)| Some((key, other.as_ref().ok()?)));
        others.any(|(key, other)| {
            let layout = Layout {
                declared: self.declared,
                defined: self.defined,
                rust,
                c: other,
            };
            other.name == c.name
                && other.place == c.place
                && other.size != c.size
                && layout.mismatch((tag, key)).is_none()
        })
    }

    /// Adds the structures and enumerations that are members, or that pointer members lead to.
    pub(super) fn members(&mut self, rust: &Record, c: &Record) {
        for own in &rust.fields {
            // All members of a union have offset 0, so they are matched by name.
            let at = |other: &&Field| match rust.union {
                true => other.name == own.name,
                false => other.offset == own.offset,
            };
            let Some(other) = c.fields.iter().find(at) else {
                continue;
            };
            let pair = match (&own.shape, &other.shape) {
                (Shape::Pointer { to: r, .. }, Shape::Pointer { to: c, .. }) => (&**r, &**c),
                pair => pair,
            };
            match pair {
                (Shape::Record(r), Shape::Record(c)) => self.meet(r, c, &rust.name),
                (Shape::Enum { size: a, key: r }, Shape::Enum { size: b, key: c }) if a == b => {
                    self.met_enums.insert((r.clone(), c.clone()));
                }
                _ => {}
            }
        }
    }

    pub(super) fn enumerations(&mut self) {
        let mut told = BTreeSet::new();
        for (r, k) in self.met_enums.clone() {
            let pair = (
                self.declared.types.enums.get(&r),
                self.defined.types.enums.get(&k),
            );
            let (Some(rust), Some(c)) = pair else {
                continue;
            };
            if !told.insert((r, c.name.clone(), c.place.clone())) {
                continue;
            }
            self.compared += 1;
            let common = common(&c.constants);
            for (name, value) in &rust.constants {
                let same = c.constants.iter().filter(|(other, _)| {
                    let whole = plain(other);
                    plain(name) == whole || plain(name) == plain(&other[common..])
                });
                let same: Vec<&(String, i128)> = same.collect();
                if let [(other, there)] = same[..]
                    && there != value
                {
                    self.found.push(Mismatch {
                        item: rust.name.clone(),
                        what: "constant".to_owned(),
                        message: format!(
                            "`{}::{name}` is {value} in Rust, and `{other}` is {there} in C",
                            rust.name
                        ),
                        rust: rust.place.clone(),
                        c: c.place.clone(),
                        header: None,
                    });
                }
            }
        }
    }

    pub(super) fn constants(&mut self) {
        for (name, value, line) in &self.declared.constants {
            let Some((there, place)) = self.defined.constants.get(name) else {
                continue;
            };
            self.compared += 1;
            // Accepts equal bit patterns, such as `-1 as u32`.
            let same = value == there
                || (*value as i64) == (*there as i64)
                || (*value as u32) == (*there as u32);
            if !same {
                self.found.push(Mismatch {
                    item: name.clone(),
                    what: "constant".to_owned(),
                    message: format!("`{name}` is {value} in Rust, and {there} in C"),
                    rust: line.clone(),
                    c: place.clone(),
                    header: None,
                });
            }
        }
    }
}

/// A structure of the crate and its counterpart in the library.
struct Layout<'a> {
    declared: &'a Declared,
    defined: &'a Defined,
    rust: &'a Record,
    c: &'a Record,
}

impl Layout<'_> {
    /// The kind and the description of the first difference. `tags` are the keys of the two
    /// structures.
    fn mismatch(&self, (r, k): (&str, &str)) -> Option<(&'static str, String)> {
        let (rust, c) = (self.rust, self.c);
        if rust.union != c.union {
            // A union with a single member is equivalent to that member.
            return (rust.size != c.size).then(|| ("size", sizes(rust, c)));
        }
        if !rust.ordered && !rust.union {
            let text = format!(
                "`{}` has no #[repr(C)], and stands for `{}` of C: the order of its members is \
                 rustc's choice",
                rust.name, c.name
            );
            return (rust.fields.len() > 1).then_some(("layout", text));
        }
        // Compares by name first, because such a difference is easiest to understand.
        let named = (!rust.union).then(|| self.by_name()).flatten();
        if let Some(found) = named.or_else(|| self.by_place(r, k)) {
            return Some(found);
        }
        // A structure that only the library creates may be declared with only its first members.
        let beginning = rust.size < c.size && !rust.open;
        if rust.size != c.size && !beginning {
            return Some(("size", sizes(rust, c)));
        }
        if c.align > rust.align {
            let text = format!(
                "`{}` is aligned to {} bytes in Rust, and to {} in C",
                rust.name, rust.align, c.align
            );
            return Some(("alignment", text));
        }
        None
    }

    /// A difference in the offset or the size of members with the same name.
    fn by_name(&self) -> Option<(&'static str, String)> {
        let plain = |name: &str| name.trim_end_matches('_').to_owned();
        let named = |field: &&Field| field.blob.is_none() && !field.name.is_empty();
        for field in self.c.fields.iter().filter(named) {
            let is_it = |other: &&Field| plain(&other.name) == plain(&field.name);
            let Some(own) = self.rust.fields.iter().find(is_it) else {
                continue;
            };
            let declared = self.declared.types.size(&own.shape);
            let defined = self.defined.types.size(&field.shape);
            if own.offset != field.offset {
                let text = format!(
                    "`{}.{}` is at byte {} in Rust, and at byte {} in C",
                    self.rust.name, own.name, own.offset, field.offset
                );
                return Some(("offset", text));
            }
            if let (Ok(a), Ok(b)) = (declared, defined)
                && a != b
                // A flexible array member takes no space.
                && !matches!(field.shape, Shape::Array { count: 0, .. })
            {
                let text = format!(
                    "`{}.{}` has {a} bytes in Rust, and {b} in C",
                    self.rust.name, own.name
                );
                return Some(("size", text));
            }
        }
        None
    }

    /// A difference in the size or the class of scalars at the same offset.
    fn by_place(&self, r: &str, k: &str) -> Option<(&'static str, String)> {
        let declared = self.declared.types.scalars(r).ok()?;
        let defined = self.defined.types.scalars(k).ok()?;
        for own in &declared {
            let Some(other) = defined.iter().find(|other| other.offset == own.offset) else {
                continue;
            };
            let classes = (own.class, other.class);
            let floats = (own.class == Class::Float) != (other.class == Class::Float);
            let bytes = matches!(classes, (Class::Bytes, _) | (_, Class::Bytes));
            if !bytes && (own.size != other.size || floats) {
                let text = format!(
                    "`{}.{}` is {} in Rust, and `{}` at its place is {} in C",
                    self.rust.name,
                    own.name,
                    piece(own.class, own.size),
                    other.name,
                    piece(other.class, other.size)
                );
                return Some(("member", text));
            }
        }
        None
    }
}
