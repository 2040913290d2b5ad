//! The names by which the parts of a program refer to each other.
//!
//! A `static` symbol of C has a meaning only within its file, and LLVM numbers symbols of the same
//! name (`helper.12`, `.str.7`) depending on what is linked. A part of a library must have the same
//! text whichever harness it is linked with, so such names are derived from what no harness
//! changes: the name in C, the file, and the bytes of constants.

use std::collections::{HashMap, HashSet};

use sha2::{Digest, Sha256};

use super::module::{Module, Name};
use super::scan::{Token, tokens};

/// Separates the suffix that is added to a name; the part before it is shown to users.
pub(in crate::native) const MARK: &str = ".cegar.";
/// Prefixes of the names of a function's counters and of its site numbers.
pub(in crate::native) const COUNTERS: &str = "__cegar_at.";
pub(in crate::native) const SITES: &str = "__cegar_sites.";
/// The entry function of a program, which the runtime knows by this name.
pub(super) const ENTRY: &str = "cegar_entry";

/// The new names of a module's globals.
#[derive(Debug, Default)]
pub(super) struct Names<'t> {
    new: HashMap<Name<'t>, String>,
    /// Variables of one file that functions of other parts may refer to.
    promoted: HashSet<Name<'t>>,
}

/// The name without the numbers that the compiler and the linker have added.
fn base(mut name: &str) -> &str {
    while let Some((base, number)) = name.rsplit_once('.') {
        let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        if base.is_empty() || !is_number {
            break;
        }
        name = base;
    }
    name
}

/// A constant's value, without the numbers that linking has added to the names in it.
fn content(value: &str) -> String {
    let mut text = String::new();
    for token in tokens(value) {
        match token {
            Token::Text(other) => text.push_str(other),
            Token::Global(name) | Token::Local(name) => text.push_str(base(name)),
            // The numbers of unnamed globals depend on the program, not on the file.
            _ => text.push('@'),
        }
    }
    text
}

fn marked(base: &str, parts: &[&str], taken: &mut HashMap<String, u32>) -> String {
    let mut hash = Sha256::new();
    for part in parts.iter().chain([&base]) {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    let name = format!("{base}{MARK}{}", crate::hex(&hash.finalize()[..6]));
    let count = taken.entry(name.clone()).or_default();
    *count += 1;
    match *count {
        1 => name,
        again => format!("{name}.{again}"),
    }
}

impl<'t> Names<'t> {
    pub fn new(module: &Module<'t>) -> Names<'t> {
        let mut names = Names::default();
        let mut taken = HashMap::new();
        let mut owner: HashMap<Name, &str> = HashMap::new();
        for function in &module.functions {
            if function.is_sanitizers() {
                continue;
            }
            for &name in &function.mentions {
                owner.entry(module.target(name)).or_insert(&function.file);
            }
            if function.name.text != ENTRY {
                let new = marked(base(function.name.text), &[&function.file], &mut taken);
                names.new.insert(function.name, new);
            }
        }
        for global in &module.globals {
            let name = match global.name.unnamed {
                true => format!("cegar.unnamed.{}", global.name.text),
                false => global.name.text.to_owned(),
            };
            let labels = global.labels.and_then(|name| module.function.get(&name));
            let file = match labels {
                Some(&index) => Some(module.functions[index].file.as_str()),
                None => owner.get(&global.name).copied(),
            };
            if let Some(file) = file.filter(|_| global.is_local()) {
                let base = match global.name.unnamed {
                    true => "unnamed",
                    false => base(global.name.text),
                };
                let value = match global.constant {
                    true => content(global.value.unwrap_or("")),
                    false => String::new(),
                };
                let new = marked(base, &[file, &value], &mut taken);
                names.new.insert(global.name, new);
                names.promoted.insert(global.name);
            } else if global.name.unnamed {
                names.new.insert(global.name, name);
            }
        }
        names
    }

    /// The name that is used in the parts, without quotes.
    pub fn of(&self, module: &Module<'t>, name: Name<'t>) -> String {
        for prefix in [COUNTERS, SITES] {
            if let Some(function) = name.text.strip_prefix(prefix)
                && !name.unnamed
            {
                let function = Name {
                    text: function,
                    unnamed: false,
                };
                return format!("{prefix}{}", self.of(module, function));
            }
        }
        let target = module.target(name);
        match self.new.get(&target) {
            Some(new) => new.clone(),
            None => target.text.to_owned(),
        }
    }

    /// Whether a variable was local to its file and is now visible in the whole program.
    pub fn is_promoted(&self, name: Name<'t>) -> bool {
        self.promoted.contains(&name)
    }
}

/// The name of a function for users.
pub(in crate::native) fn plain(name: &str) -> &str {
    name.split_once(MARK).map_or(name, |(plain, _)| plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_linker_are_no_part_of_a_name() {
        assert_eq!(base("helper.12"), "helper");
        assert_eq!(base(".str"), ".str");
        assert_eq!(base(".str.7"), ".str");
        assert_eq!(base(".str.1.12"), ".str");
        assert_eq!(base(".7"), ".7");
        assert_eq!(base("f.count"), "f.count");
    }

    #[test]
    fn people_see_the_name_in_c() {
        let mut taken = HashMap::new();
        let first = marked("helper", &["a.c"], &mut taken);
        let again = marked("helper", &["a.c"], &mut taken);
        let other = marked("helper", &["b.c"], &mut taken);
        assert!(first != again && again != other && first != other);
        for name in [&first, &again, &other] {
            assert_eq!(plain(name), "helper");
        }
    }
}
