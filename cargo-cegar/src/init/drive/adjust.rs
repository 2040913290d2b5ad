//! What the trial of a harness taught, applied when the harness is written again.
//!
//! A choice that the tape makes is narrowed by an assumption. A choice that the harness has fixed
//! is changed: memory instead of NULL, more room, or a value for a member.

use std::collections::{BTreeMap, BTreeSet};

use super::looks::is_text;
use super::text::declaration;
use super::{Body, OUTPUT, ROW};
use crate::findings::{LEARNT, MissingCondition};
use crate::init::api::{Declared, Parameter, Record};
use crate::init::ctype::{Kind, Written};
use crate::init::pairs;

/// Size in bytes of the memory that replaces a NULL argument.
const INSTEAD_OF_NULL: u64 = 4096;
/// The maximum size in bytes given to memory of unknown size.
const MOST_ROOM: u64 = 1 << 20;

/// An input that seems to need more bytes than this has no minimum length: the function reads
/// without a bound.
const MOST_LEAST: u64 = 4096;

/// How the return value of a function shows success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Success {
    /// 0, the usual case.
    Zero,
    /// Any value except 0.
    NotZero,
    /// The return value is ignored.
    Any,
}

impl Success {
    /// A call followed by an early return unless the call succeeded.
    pub fn checked(self, call: &str) -> String {
        match self {
            Success::Zero => format!("if ({call} != 0)\n        return 0;"),
            Success::NotZero => format!("if ({call} == 0)\n        return 0;"),
            Success::Any => format!("{call};"),
        }
    }
}

/// Changes to a harness relative to its first version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adjust {
    /// Parameters that must not be NULL: function and parameter index.
    pub not_null: BTreeSet<(String, usize)>,
    /// Sizes of variables, in bytes.
    pub room: BTreeMap<String, u64>,
    /// Minimum lengths of inputs other than the main one, in bytes.
    pub least: BTreeMap<String, u64>,
    /// Inputs other than the main one whose elements are indices into the main input.
    pub indices: BTreeSet<String>,
    /// Members that are set: variable and member.
    pub members: BTreeSet<(String, String)>,
    /// Pointer variables whose address is passed and read, so that they become arrays of pointers.
    pub pointer_arrays: BTreeSet<String>,
    /// Whether an object is opened before it is used, as callers do, and how the call shows
    /// success.
    pub opened: Option<Success>,
    /// Whether the return value of the library's initialisation is ignored, because the harness
    /// took every value that it returned for a failure.
    pub unchecked: bool,
    /// Whether containers stay empty, because filling one failed.
    pub unfilled: bool,
    /// The assumptions before calls as pairs of function and C condition, in the order in which
    /// they were learnt.
    pub assume: Vec<(String, String)>,
}

impl Adjust {
    /// Applies a missing precondition. Returns its description, or `None` if it cannot be applied.
    pub fn take(&mut self, missing: &MissingCondition) -> Option<String> {
        let choice = missing.choice.as_str();
        if missing.elements {
            self.indices.insert(choice.to_owned());
            return Some(missing.words());
        }
        if let Some(least) = missing.least {
            if choice.is_empty() || least > MOST_LEAST {
                return None;
            }
            self.least.insert(choice.to_owned(), least);
            return Some(missing.words());
        }
        if let Some(bytes) = missing.room {
            let room = bytes.checked_next_power_of_two()?.saturating_mul(4);
            if choice.is_empty() || room > MOST_ROOM {
                return None;
            }
            self.room.insert(choice.to_owned(), room);
            return Some(missing.words());
        }
        if !missing.condition.is_empty() && (missing.varies || missing.is_set) {
            let entry = (missing.call.clone(), missing.condition.clone());
            if self.assume.contains(&entry) {
                return Some(entry.1);
            }
            // A range above the last one that was excluded: both are one bound.
            let joined = self.assume.iter_mut().find_map(|(call, known)| {
                let bound = joined(known, &entry.1).filter(|_| *call == entry.0)?;
                *known = bound.clone();
                Some(bound)
            });
            return Some(joined.unwrap_or_else(|| {
                self.assume.push(entry);
                missing.condition.clone()
            }));
        }
        if missing.varies {
            return None;
        }
        if let Some(number) = missing.argument.filter(|_| choice.is_empty()) {
            self.not_null.insert((missing.call.clone(), number));
            // The parameter's name as the library declares it.
            let name = missing.why.split('`').nth(1).unwrap_or("an argument");
            return Some(format!("{name} != NULL"));
        }
        if missing.is_read && !choice.contains(['.', '[']) {
            self.pointer_arrays.insert(choice.to_owned());
            return Some(missing.words());
        }
        let (variable, member) = choice.split_once('.')?;
        if !member.contains(['.', '[']) {
            let entry = (variable.to_owned(), member.to_owned());
            self.members.insert(entry);
            return Some(match missing.condition.as_str() {
                "" => format!("`{choice}` is not 0"),
                condition => condition.to_owned(),
            });
        }
        None
    }

    /// Inserts each assumption before the first call of its function. Returns the text and the
    /// conditions whose function is not called.
    pub fn assumed(&self, text: &str) -> (String, Vec<String>) {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut without = Vec::new();
        for (call, condition) in &self.assume {
            let is_call = |line: &String| {
                let words = line.trim_start();
                line.starts_with("    ") && !words.starts_with(['*', '/']) && calls(words, call)
            };
            match lines.iter().position(is_call) {
                Some(at) => {
                    let indent = lines[at].len() - lines[at].trim_start().len();
                    let assumed = format!("{:indent$}crunner_assume({condition}); {LEARNT}", "");
                    lines.insert(at, assumed);
                }
                None => without.push(condition.clone()),
            }
        }
        let mut text = lines.join("\n") + "\n";
        if text.contains("crunner_assume(") && !text.contains("#include <crunner.h>") {
            text = text.replacen(
                "#include <stdlib.h>\n",
                "#include <stdlib.h>\n\n#include <crunner.h>\n",
                1,
            );
        }
        (text, without)
    }
}

/// The condition for both of two conditions, if the first excludes a range of a number and the
/// second all numbers from the end of the range on: `(n < 8 || n > 15)` and `n < 16` are `n < 8`.
fn joined(known: &str, new: &str) -> Option<String> {
    let number = |text: &str| text.trim_end_matches(['U', 'L']).parse::<u64>().ok();
    let inner = known.strip_prefix('(')?.strip_suffix(')')?;
    let (below, above) = inner.split_once(" || ")?;
    let (subject, low) = below.split_once(" < ")?;
    let last = number(above.strip_prefix(subject)?.strip_prefix(" > ")?)?;
    let first = number(new.strip_prefix(subject)?.strip_prefix(" < ")?)?;
    let is_within = number(low)? <= first && first <= last.saturating_add(1);
    is_within.then(|| below.to_owned())
}

/// Whether a line calls a function.
fn calls(line: &str, function: &str) -> bool {
    line.match_indices(function).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let own = before.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_');
        own && line[at + function.len()..].starts_with('(')
    })
}

impl Body<'_> {
    /// Memory for a parameter that was NULL and must not be.
    pub(super) fn instead_of_null(&mut self, wanted: &str) -> String {
        let name = self.name(wanted);
        let room = self
            .adjust
            .room
            .get(&name)
            .copied()
            .unwrap_or(INSTEAD_OF_NULL);
        self.guesses.push(format!("`{name}` has {room} bytes"));
        self.lines
            .push(format!("void *{name} = calloc(1, {room});"));
        self.cleanup.push(format!("free({name});"));
        name
    }

    /// An array of pointers, used if the address of a single NULL pointer was not sufficient. If a
    /// parameter counts the elements, it is bounded accordingly.
    pub(super) fn array_of_pointers(
        &mut self,
        function: &Declared,
        to: &Written,
        name: &str,
        depth: usize,
    ) -> Result<String, String> {
        let element = Parameter::plain(format!("{name}_element"), to.clone());
        let value = match self
            .pointer(function, &element, &element.name, depth + 1)?
            .as_str()
        {
            "NULL" => {
                return Err(format!(
                    "`{name}` is read, and nothing here makes what it holds"
                ));
            }
            value => value.to_owned(),
        };
        let declared = declaration(to, name);
        self.lines.push(format!("{declared}[{ROW}];"));
        self.lines.push(format!(
            "for (size_t i = 0; i < {ROW}; i++)\n        {name}[i] = {value};"
        ));
        let count = function.params.iter().enumerate().find(|(i, param)| {
            let is_number = matches!(self.api.resolve(&param.ty).kind, Kind::Int { .. });
            is_number && pairs::is_count_name(&param.wanted(*i))
        });
        match count {
            Some((i, param)) => {
                let number = param.wanted(i);
                self.lines_after_input.push(format!(
                    "crunner_assume({number} >= 0 && {number} <= {ROW});"
                ));
                self.guesses
                    .push(format!("`{number}` is how many there are in `{name}`"));
            }
            None => self.guesses.push(format!("`{name}` has {ROW} elements")),
        }
        Ok(name.to_owned())
    }

    /// The number of elements of a variable: the guess, or more if a trial asked for it.
    pub(super) fn asked_room(&self, name: &str, guessed: usize) -> usize {
        let asked = self.adjust.room.get(name).copied().unwrap_or(0) as usize;
        guessed.max(asked)
    }

    /// Sets the members of a structure that must not be zero.
    pub(super) fn given_members(&mut self, function: &Declared, name: &str, record: &Record) {
        let is_wanted = |field: &String| self.is_given(name, field);
        let is_function = |ty: &Written| {
            let to = self.api.pointee(ty);
            to.is_some_and(|to| matches!(self.api.resolve(&to).kind, Kind::Function(_)))
        };
        // A library that calls one function of a table calls the others as well.
        let mut fields = record.fields.iter();
        let functions = fields.any(|(field, ty)| is_wanted(field) && is_function(ty));
        let all: Vec<&(String, Written)> = record
            .fields
            .iter()
            .filter(|(field, ty)| is_wanted(field) || functions && is_function(ty))
            .collect();
        let allocates = self.has_allocator(record.fields.iter().map(|(_, ty)| ty));
        let earlier = std::mem::replace(&mut self.allocates, allocates);
        for (member, ty) in all {
            let before = self.clone();
            match self.member_value(function, name, member, ty) {
                Ok(value) => self.lines.push(format!("{name}.{member} = {value};")),
                Err(_) => *self = before,
            }
        }
        self.allocates = earlier;
    }

    fn member_value(
        &mut self,
        function: &Declared,
        name: &str,
        member: &str,
        ty: &Written,
    ) -> Result<String, String> {
        let resolved = self.api.resolve(ty);
        let wanted = format!("{name}_{member}");
        match &resolved.kind {
            Kind::Pointer(_) if is_text(ty) && !self.adjust.room.contains_key(&wanted) => {
                self.strings += 1;
                Ok("crunner_new_string()".to_owned())
            }
            Kind::Pointer(to) => {
                let target = self.api.resolve(to);
                if matches!(
                    target.kind,
                    Kind::Void | Kind::Int { .. } | Kind::Float { .. }
                ) {
                    let memory = self.instead_of_null(&wanted);
                    let constant = if to.constant { "const " } else { "" };
                    return Ok(format!(
                        "({constant}{} *){memory}",
                        to.words.trim_start_matches("const ")
                    ));
                }
                let param = Parameter::plain(wanted.clone(), ty.clone());
                match self.pointer(function, &param, &wanted, 1)?.as_str() {
                    "NULL" => Err("nothing to pass".to_owned()),
                    value => Ok(value.to_owned()),
                }
            }
            Kind::Record(_) => Err("a structure within a structure".to_owned()),
            // A type without a known set of values, such as an enumeration whose constants are
            // unknown, gets a small number.
            _ => match self.choice(&resolved) {
                Some(value) => {
                    let value_name = self.name(&wanted);
                    self.lines
                        .push(format!("{} = {value};", declaration(ty, &value_name)));
                    Ok(value_name)
                }
                None => Ok(format!("crunner_range(0, {OUTPUT})")),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_and_all_above_it_are_one_bound() {
        let range = "(unit < 67 || unit > 7205L)";
        assert_eq!(joined(range, "unit < 7206L").as_deref(), Some("unit < 67"));
        assert_eq!(joined(range, "unit < 7300L"), None);
        assert_eq!(joined(range, "other < 7206L"), None);
        assert_eq!(joined(range, "unit < 5"), None);
        assert_eq!(joined("unit < 67", "unit < 9"), None);
    }

    #[test]
    fn assumptions_stand_before_the_call_that_they_are_about() {
        let harness = "#include <stdlib.h>\n\nint main(void)\n{\n    int level = 3;\n    \
            x_level(level);\n    level(level);\n}\n";
        let adjust = Adjust {
            assume: vec![
                ("level".to_owned(), "level > 0".to_owned()),
                ("gone".to_owned(), "a != b".to_owned()),
            ],
            ..Adjust::default()
        };
        let (text, without) = adjust.assumed(harness);
        assert!(
            text.contains(
                "x_level(level);\n    crunner_assume(level > 0); /* learnt */\n    level(level);"
            ),
            "{text}"
        );
        assert!(text.contains("#include <crunner.h>"));
        assert_eq!(without, ["a != b"]);
    }
}
