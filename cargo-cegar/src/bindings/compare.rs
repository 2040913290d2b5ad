//! Where the two sides disagree.
//!
//! Only what cannot be meant is told. Bytes behind a pointer are called `u8`, `c_char` or `c_void` as it pleases; a handle may be kept
//! in a `usize`; an enumeration has the sign that the compiler chose; a result may be ignored. A structure is compared once for
//! each pair of types that meet in some function.

use std::collections::{BTreeMap, BTreeSet};

use super::Mismatch;
use super::c::Defined;
use super::rust::{Declared, name_of};
use super::shape::{Class, Function, Line, Record, Shape, Signature};
use super::words::{arity, common, named, piece, plain, sizes};

/// What is compared with what.
pub(super) struct Comparison<'a> {
    declared: &'a Declared,
    defined: &'a Defined,
    /// Pairs of structures and enumerations that met, with the function in which they first did.
    met: BTreeMap<(String, String), String>,
    queue: Vec<(String, String)>,
    met_enums: BTreeSet<(String, String)>,
    pub found: Vec<Mismatch>,
    pub left_out: Vec<(Line, String)>,
    /// Functions and structures that agree, or were told.
    pub compared: usize,
}

/// Both sides of a function.
struct Both<'a> {
    rust: &'a Function,
    c: &'a Function,
}

impl<'a> Comparison<'a> {
    pub fn new(declared: &'a Declared, defined: &'a Defined) -> Comparison<'a> {
        Comparison {
            declared,
            defined,
            met: BTreeMap::new(),
            queue: Vec::new(),
            met_enums: BTreeSet::new(),
            found: Vec::new(),
            left_out: Vec::new(),
            compared: 0,
        }
    }

    /// Compares a declaration with a definition.
    pub fn function(&mut self, rust: &'a Function, c: &'a Function) {
        self.compared += 1;
        let both = Both { rust, c };
        let (declared, defined) = (&rust.signature, &c.signature);
        if let Some(text) = arity(declared, defined) {
            self.tell(&both, "arity", text);
            return;
        }
        for (i, (r, c)) in declared.params.iter().zip(&defined.params).enumerate() {
            if let Some(text) = self.value(r, c, &both) {
                self.tell(&both, "parameter", format!("parameter {} is {text}", i + 1));
            }
            self.constness(i, r, c, &both);
        }
        match (&declared.returns, &defined.returns) {
            // A result may be ignored.
            (Shape::Void, _) => {}
            (r, Shape::Void) => {
                let text = format!(
                    "the result is {} in Rust, and there is none in C",
                    self.words(r)
                );
                self.tell(&both, "result", text);
            }
            (r, c) => {
                if let Some(text) = self.value(r, c, &both) {
                    self.tell(&both, "result", format!("the result is {text}"));
                }
            }
        }
    }

    fn tell(&mut self, both: &Both<'_>, what: &str, text: String) {
        self.found.push(Mismatch {
            item: both.rust.name.clone(),
            what: what.to_owned(),
            message: text,
            rust: both.rust.place.clone(),
            c: both.c.place.clone(),
            header: None,
        });
    }

    /// What is wrong with a value that is passed; nothing if it is right or not understood.
    fn value(&mut self, rust: &Shape, c: &Shape, both: &Both<'_>) -> Option<String> {
        let (r, c_words) = (self.words(rust), self.words_c(c));
        let differ = || Some(format!("{r} in Rust, and {c_words} in C"));
        match (rust, c) {
            (Shape::Unknown(why), _) => {
                let text = format!("{}: {why} is not understood", both.rust.name);
                self.leave_out(&both.rust.place, text);
                None
            }
            (_, Shape::Unknown(why)) => {
                let text = format!("{}: {why} is not compared", both.rust.name);
                self.leave_out(&both.rust.place, text);
                None
            }
            (Shape::Record(r), Shape::Record(c)) => {
                self.meet(r, c, &both.rust.name);
                None
            }
            // A structure of one member travels as that member.
            (Shape::Record(_), _) | (_, Shape::Record(_)) => {
                let sizes = (
                    self.declared.types.size(rust).ok(),
                    self.defined.types.size(c).ok(),
                );
                match sizes {
                    (Some(a), Some(b)) if a != b => differ(),
                    _ => None,
                }
            }
            (Shape::Pointer { to: r, .. }, Shape::Pointer { to: c, .. }) => self.behind(r, c, both),
            (Shape::Code(Some(r)), Shape::Code(Some(c))) => self.code(r, c, both),
            (Shape::Pointer { .. } | Shape::Code(_), Shape::Pointer { .. } | Shape::Code(_)) => {
                None
            }
            // A handle in a word.
            (Shape::Pointer { .. } | Shape::Code(_), other)
            | (other, Shape::Pointer { .. } | Shape::Code(_)) => match other {
                Shape::Int { size: 8, .. } => None,
                _ => differ(),
            },
            (Shape::Float { size: a }, Shape::Float { size: b }) => (a != b).then(differ).flatten(),
            (Shape::Float { .. }, _) | (_, Shape::Float { .. }) => differ(),
            (Shape::Enum { size: a, key: r }, Shape::Enum { size: b, key: c }) => {
                if a == b {
                    self.met_enums.insert((r.clone(), c.clone()));
                }
                (a != b).then(differ).flatten()
            }
            (
                Shape::Int {
                    size: a, signed: s, ..
                },
                Shape::Int {
                    size: b, signed: t, ..
                },
            ) => {
                // A `char` has the sign that the machine gives it.
                let sign = *a > 1 && s != t;
                (a != b || sign).then(differ).flatten()
            }
            _ => match (self.declared.types.size(rust), self.defined.types.size(c)) {
                (Ok(a), Ok(b)) if a != b => differ(),
                _ => None,
            },
        }
    }

    /// What is wrong with what a pointer leads to.
    fn behind(&mut self, rust: &Shape, c: &Shape, both: &Both<'_>) -> Option<String> {
        let text =
            |r: String, c: String| Some(format!("a pointer to {r} in Rust, and to {c} in C"));
        match (rust, c) {
            (Shape::Record(r), Shape::Record(c)) => {
                self.meet(r, c, &both.rust.name);
                None
            }
            (Shape::Pointer { to: r, .. }, Shape::Pointer { to: c, .. }) => self.behind(r, c, both),
            (
                Shape::Int { size: a, .. } | Shape::Float { size: a },
                Shape::Int { size: b, .. } | Shape::Float { size: b },
            ) => {
                let kinds = matches!(rust, Shape::Int { .. }) != matches!(c, Shape::Int { .. });
                // Bytes may stand for anything.
                let bytes = *a == 1 || *b == 1;
                let wrong = !bytes && (a != b || kinds);
                if !wrong {
                    return None;
                }
                text(self.words(rust), self.words_c(c))
            }
            (Shape::Enum { size: a, key: r }, Shape::Enum { size: b, key: k }) => {
                if a != b {
                    return text(self.words(rust), self.words_c(c));
                }
                self.met_enums.insert((r.clone(), k.clone()));
                None
            }
            (Shape::Pointer { .. }, Shape::Int { size, .. }) if !matches!(size, 1 | 8) => {
                text(self.words(rust), self.words_c(c))
            }
            (Shape::Int { size, .. }, Shape::Pointer { .. }) if !matches!(size, 1 | 8) => {
                text(self.words(rust), self.words_c(c))
            }
            _ => None,
        }
    }

    /// What is wrong with a function that is handed over.
    fn code(&mut self, rust: &Signature, c: &Signature, both: &Both<'_>) -> Option<String> {
        if !rust.is_c {
            return Some("a function without `extern \"C\"` in Rust, and one of C in C".to_owned());
        }
        if let Some(text) = arity(rust, c) {
            return Some(format!("a function whose declarations differ: {text}"));
        }
        let told =
            |text: String, which: String| Some(format!("a function whose {which} is {text}"));
        for (i, (r, c)) in rust.params.iter().zip(&c.params).enumerate() {
            if let Some(text) = self.value(r, c, both) {
                return told(text, format!("parameter {}", i + 1));
            }
        }
        match (&rust.returns, &c.returns) {
            (Shape::Void, Shape::Void) => None,
            // C reads what Rust does not give.
            (Shape::Void, c) => {
                let c = self.words_c(c);
                told(
                    format!("nothing in Rust, and {c} in C"),
                    "result".to_owned(),
                )
            }
            // C ignores what Rust gives.
            (_, Shape::Void) => None,
            (r, c) => self
                .value(r, c, both)
                .and_then(|text| told(text, "result".to_owned())),
        }
    }

    fn constness(&mut self, i: usize, rust: &Shape, c: &Shape, both: &Both<'_>) {
        let (
            Shape::Pointer { constant: true, .. },
            Shape::Pointer {
                constant: false, ..
            },
        ) = (rust, c)
        else {
            return;
        };
        let key = (both.c.name.clone(), i);
        if let Some(write) = self.defined.writes.get(&key) {
            let by = match write.function == both.c.name {
                true => String::new(),
                false => format!(" in `{}`", write.function),
            };
            let line = match write.line {
                0 => String::new(),
                line => format!(" in line {line}"),
            };
            let text = format!(
                "parameter {} is `*const` in Rust, and C writes through it{by}{line}",
                i + 1
            );
            self.tell(both, "const", text);
        }
    }

    fn meet(&mut self, rust: &str, c: &str, function: &str) {
        let pair = (rust.to_owned(), c.to_owned());
        if !self.met.contains_key(&pair) {
            self.met.insert(pair.clone(), function.to_owned());
            self.queue.push(pair);
        }
    }

    fn leave_out(&mut self, place: &Line, why: String) {
        let one = (place.clone(), why);
        if !self.left_out.contains(&one) {
            self.left_out.push(one);
        }
    }

    /// Compares the structures, enumerations and constants that met.
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
            // The same structure is described in each file that knows it.
            if told.insert((r.clone(), defined.name.clone(), defined.place.clone())) {
                self.compared += 1;
                self.structure(declared, defined, (&r, &c));
            }
        }
        self.enumerations();
        self.constants();
    }

    fn structure(&mut self, rust: &'a Record, c: &'a Record, (r, k): (&str, &str)) {
        let mut wrong = |what: &str, text: String| {
            self.found.push(Mismatch {
                item: rust.name.clone(),
                what: what.to_owned(),
                message: text,
                rust: rust.place.clone(),
                c: c.place.clone(),
                header: None,
            });
        };
        if rust.union != c.union {
            // A union of one member is that member.
            if rust.size != c.size {
                wrong("size", sizes(rust, c));
            }
            return;
        }
        if !rust.ordered && !rust.union {
            if rust.fields.len() > 1 {
                let text = format!(
                    "`{}` has no #[repr(C)], and stands for `{}` of C: the order of its members is rustc's choice",
                    rust.name, c.name
                );
                wrong("layout", text);
            }
            return;
        }
        if !rust.union {
            // By name first: that is what a person would see.
            let plain = |name: &str| name.trim_end_matches('_').to_owned();
            for field in c
                .fields
                .iter()
                .filter(|field| field.blob.is_none() && !field.name.is_empty())
            {
                let is_it = |other: &&super::shape::Field| plain(&other.name) == plain(&field.name);
                let Some(own) = rust.fields.iter().find(is_it) else {
                    continue;
                };
                let declared = self.declared.types.size(&own.shape);
                let defined = self.defined.types.size(&field.shape);
                if own.offset != field.offset {
                    let text = format!(
                        "`{}.{}` is at byte {} in Rust, and at byte {} in C",
                        rust.name, own.name, own.offset, field.offset
                    );
                    return wrong("offset", text);
                }
                if let (Ok(a), Ok(b)) = (declared, defined)
                    && a != b
                    // An open array at the end takes no room.
                    && !matches!(field.shape, Shape::Array { count: 0, .. })
                {
                    let text = format!(
                        "`{}.{}` has {a} bytes in Rust, and {b} in C",
                        rust.name, own.name
                    );
                    return wrong("size", text);
                }
            }
        }
        let pieces = (
            self.declared.types.scalars(r),
            self.defined.types.scalars(k),
        );
        if let (Ok(declared), Ok(defined)) = &pieces {
            for own in declared {
                let Some(other) = defined.iter().find(|other| other.offset == own.offset) else {
                    continue;
                };
                let classes = (own.class, other.class);
                let floats = (own.class == Class::Float) != (other.class == Class::Float);
                let bytes = matches!(classes, (Class::Bytes, _) | (_, Class::Bytes));
                if !bytes && (own.size != other.size || floats) {
                    let text = format!(
                        "`{}.{}` is {} in Rust, and `{}` at its place is {} in C",
                        rust.name,
                        own.name,
                        piece(own.class, own.size),
                        other.name,
                        piece(other.class, other.size)
                    );
                    return wrong("member", text);
                }
            }
        }
        // One that only the library makes may show no more than its beginning.
        let beginning = rust.size < c.size && !rust.open;
        if rust.size != c.size && !beginning {
            return wrong("size", sizes(rust, c));
        }
        if c.align > rust.align {
            let text = format!(
                "`{}` is aligned to {} bytes in Rust, and to {} in C",
                rust.name, rust.align, c.align
            );
            return wrong("alignment", text);
        }
        self.members(rust, c);
    }

    /// Structures within structures, and behind their pointers.
    fn members(&mut self, rust: &Record, c: &Record) {
        for own in &rust.fields {
            // The members of a union all lie at its beginning: only a name tells which is which.
            let at = |other: &&super::shape::Field| match rust.union {
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

    fn enumerations(&mut self) {
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

    fn constants(&mut self) {
        for (name, value, line) in &self.declared.constants {
            let Some((there, place)) = self.defined.constants.get(name) else {
                continue;
            };
            self.compared += 1;
            // `-1 as u32` is the same bits.
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

    fn words(&self, shape: &Shape) -> String {
        named(shape, name_of(&self.declared.types, shape))
    }

    fn words_c(&self, shape: &Shape) -> String {
        named(shape, name_of(&self.defined.types, shape))
    }
}
