//! Divides a program into parts that are compiled separately.
//!
//! Compiling a large library takes a minute. Each harness of it, each edit of a file and each of
//! the four products would take that minute again. An instrumented module is therefore divided: its
//! functions go to parts of bounded size, and its data goes to a separate part. Parts are compiled
//! in parallel, cached as objects and linked.
//!
//! The harness determines which functions of a library a program contains, since unreachable
//! functions are left out. An object is therefore not looked up by the part that it was compiled
//! from, but by its functions. Each function has a *key*, the hash of everything that its code
//! depends on: its text with names that are the same in every program ([`names`]), the declarations
//! that it reads, and, if the optimiser may inline, the functions of its own file that it reaches.
//! An object can be used for a program if each function in it has the program's key, or is not in
//! the program: then the linker drops it.
//!
//! All this is done on LLVM's text ([`scan`], [`module`], [`compose`]), in which each function is
//! self-contained: LLVM's C interface cannot move a function to another module, and copying the
//! module for each part takes longer than compiling.

mod compose;
mod module;
mod names;
mod scan;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use compose::{Composer, Style};
use module::{Module, Name};
pub(super) use names::{COUNTERS, SITES, plain};
use names::{ENTRY, Names};

use super::instrument::FunctionNumbers;

/// The maximal number of bytes of text in a part, unless a single function has more.
const PART: usize = 256 << 10;
/// The maximal number of bytes of text of a function that is copied to the parts that call it.
const COPIED: usize = 2 << 10;

/// Functions that are compiled together.
#[derive(Debug)]
pub(super) struct Part {
    /// The key of each function, by name.
    pub functions: BTreeMap<String, String>,
    /// The module in LLVM's assembly language.
    pub text: String,
}

/// A divided program.
pub(super) struct Division<'t> {
    module: Module<'t>,
    names: Names<'t>,
    style: Style,
    /// The functions to be divided among parts: index, name and key.
    functions: Vec<(usize, String, String)>,
}

impl<'t> Division<'t> {
    /// Divides a module that LLVM has printed. With `inline`, the parts will be optimised; with
    /// `debug`, source locations are kept. `Err` says why this program must be compiled as a whole.
    pub fn new(text: &'t str, inline: bool, debug: bool) -> Result<Division<'t>, String> {
        let module = Module::read(text).map_err(|why| why.0)?;
        let names = Names::new(&module);
        let style = Style { debug, inline };
        let mut division = Division {
            functions: Vec::new(),
            module,
            names,
            style,
        };
        division.functions = division.keys();
        Ok(division)
    }

    fn own(&self) -> impl Iterator<Item = usize> + '_ {
        let functions = self.module.functions.iter().enumerate();
        functions.filter_map(|(index, function)| (!function.is_sanitizers()).then_some(index))
    }

    fn keys(&self) -> Vec<(usize, String, String)> {
        let alone: HashMap<usize, [u8; 32]> = self
            .own()
            .map(|index| {
                let text = self.composer().functions(&[index], &[]);
                (index, Sha256::digest(text).into())
            })
            .collect();
        let all = self.own().map(|index| {
            let mut hash = Sha256::new();
            hash.update(alone[&index]);
            if self.style.inline {
                let reached: BTreeMap<String, &[u8; 32]> = self
                    .reached(index)
                    .into_iter()
                    .map(|other| (self.name(other), &alone[&other]))
                    .collect();
                reached.values().for_each(|other| hash.update(other));
            }
            (index, self.name(index), crate::hex(&hash.finalize()))
        });
        all.collect()
    }

    fn composer(&self) -> Composer<'_, 't> {
        Composer::new(&self.module, &self.names, self.style)
    }

    fn name(&self, index: usize) -> String {
        self.names
            .of(&self.module, self.module.functions[index].name)
    }

    /// The functions of the same file that a function reaches by mentions, directly or indirectly.
    fn reached(&self, index: usize) -> HashSet<usize> {
        let mut reached = HashSet::new();
        let mut waiting = vec![index];
        while let Some(at) = waiting.pop() {
            for other in self.mentioned(at) {
                if reached.insert(other) {
                    waiting.push(other);
                }
            }
        }
        reached
    }

    /// The functions of the same file that a function mentions.
    fn mentioned(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let function = &self.module.functions[index];
        function.mentions.iter().filter_map(move |&name| {
            let name: Name = self.module.target(name);
            let other = *self.module.function.get(&name)?;
            (self.module.functions[other].file == function.file).then_some(other)
        })
    }

    /// The key of every function, by name.
    pub fn wanted(&self) -> HashMap<&str, &str> {
        let all = self.functions.iter();
        all.map(|(_, name, key)| (name.as_str(), key.as_str()))
            .collect()
    }

    /// The parts with all functions except those in `made`. If they will be optimised, each part
    /// has functions of one file.
    pub fn parts(&self, made: &HashSet<String>) -> Vec<Part> {
        let mut files: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (number, (index, name, _)) in self.functions.iter().enumerate() {
            if !made.contains(name) {
                // The entry function has the same name in all programs but calls a different
                // harness in each, so an object that contains it serves only one program.
                let file = if name == ENTRY {
                    ENTRY
                } else if self.style.inline {
                    self.module.functions[*index].file.as_str()
                } else {
                    ""
                };
                files.entry(file).or_default().push(number);
            }
        }
        let mut parts = Vec::new();
        for numbers in files.into_values() {
            let (mut now, mut size) = (Vec::new(), 0);
            for number in numbers {
                let length = self.module.functions[self.functions[number].0].body.len();
                if size + length > PART && !now.is_empty() {
                    parts.push(self.part(&now));
                    (now, size) = (Vec::new(), 0);
                }
                now.push(number);
                size += length;
            }
            if !now.is_empty() {
                parts.push(self.part(&now));
            }
        }
        // The longest part first, so that the last one to start is short.
        parts.sort_by_key(|part| std::cmp::Reverse(part.text.len()));
        parts
    }

    fn part(&self, numbers: &[usize]) -> Part {
        let own: Vec<usize> = numbers.iter().map(|&n| self.functions[n].0).collect();
        let mut copies: Vec<usize> = Vec::new();
        if self.style.inline {
            let mut seen: HashSet<usize> = own.iter().copied().collect();
            let mut waiting = own.clone();
            while let Some(at) = waiting.pop() {
                for other in self.mentioned(at) {
                    let function = &self.module.functions[other];
                    let is_copied = function.body.len() <= COPIED
                        && !function.is_weak()
                        && !function.has_labels();
                    if is_copied && seen.insert(other) {
                        copies.push(other);
                        waiting.push(other);
                    }
                }
            }
            copies.sort_unstable();
        }
        let functions = numbers.iter().map(|&n| {
            let (_, name, key) = &self.functions[n];
            (name.clone(), key.clone())
        });
        Part {
            functions: functions.collect(),
            text: self.composer().functions(&own, &copies),
        }
    }

    /// The part with the program's data, its counters and its numbers. It defines where the
    /// counters and numbers of each function are.
    pub fn data(&self, function_numbers: &[FunctionNumbers]) -> String {
        let mut text = String::new();
        let sites = function_numbers
            .iter()
            .map(|first| first.site + first.sites)
            .max();
        let numbers: Vec<String> = (0..sites.unwrap_or(0))
            .map(|n| format!("i32 {n}"))
            .collect();
        if !numbers.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "@__cegar_numbers = internal constant [{} x i32] [{}]",
                numbers.len(),
                numbers.join(", ")
            );
        }
        for first in function_numbers {
            let name = Name {
                text: &first.function,
                unnamed: false,
            };
            let Some(&index) = self.module.function.get(&name) else {
                continue;
            };
            let name = self.name(index);
            let _ = writeln!(
                text,
                "@\"{COUNTERS}{name}\" = hidden alias i8, getelementptr (i8, ptr \
                 @__cegar_counters, i64 {})",
                first.block
            );
            if first.sites > 0 {
                let _ = writeln!(
                    text,
                    "@\"{SITES}{name}\" = hidden alias i32, getelementptr (i32, ptr \
                     @__cegar_numbers, i64 {})",
                    first.site
                );
            }
        }
        self.composer().data(&text)
    }
}

#[cfg(test)]
mod tests;
