//! Compares the two sides.
//!
//! Only differences that cannot be intended are reported. Bytes behind a pointer may be declared as
//! `u8`, `c_char` or `c_void`; a handle may be stored in a `usize`; the compiler chooses the sign
//! of an enumeration; and a result may be ignored. A structure is compared once for each pair of
//! types that occurs in some function.

mod types;

use std::collections::{BTreeMap, BTreeSet};

use super::Mismatch;
use super::c::Defined;
use super::rust::{Declared, name_of};
use super::shape::{Function, Line, Shape, Signature};
use super::words::{arity, named};

/// A comparison of the crate's declarations with the library's definitions.
pub(super) struct Comparison<'a> {
    declared: &'a Declared,
    defined: &'a Defined,
    /// The pairs of structures that occur in functions, each with the first such function.
    met: BTreeMap<(String, String), String>,
    queue: Vec<(String, String)>,
    met_enums: BTreeSet<(String, String)>,
    pub found: Vec<Mismatch>,
    pub left_out: Vec<(Line, String)>,
    /// The number of functions and types that were compared.
    pub compared: usize,
}

/// The declaration and the definition of a function.
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

    /// Compares the declaration of a function with its definition.
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

    /// The difference between two values that are passed; `None` if they agree or are not
    /// supported.
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
            // A structure with a single member is passed like that member.
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
            // A pointer may be stored in an integer of 8 bytes.
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
                // The sign of a `char` depends on the machine.
                let sign = *a > 1 && s != t;
                (a != b || sign).then(differ).flatten()
            }
            _ => match (self.declared.types.size(rust), self.defined.types.size(c)) {
                (Ok(a), Ok(b)) if a != b => differ(),
                _ => None,
            },
        }
    }

    /// The difference between the targets of two pointers.
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
                // Bytes may represent any type.
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

    /// The difference between two function pointers.
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
            // C would read a result that Rust does not return.
            (Shape::Void, c) => {
                let c = self.words_c(c);
                told(
                    format!("nothing in Rust, and {c} in C"),
                    "result".to_owned(),
                )
            }
            // C ignores the result that Rust returns.
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

    fn words(&self, shape: &Shape) -> String {
        named(shape, name_of(&self.declared.types, shape))
    }

    fn words_c(&self, shape: &Shape) -> String {
        named(shape, name_of(&self.defined.types, shape))
    }
}
