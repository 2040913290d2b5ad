//! The members of a structure that callers fill in: options, descriptions, requests.
//!
//! A structure that a function only reads is filled by the caller. Numbers are chosen. The tape
//! chooses whether a string or a callback is set or NULL, because every caller omits some options.

use super::looks::is_text;
use super::repeated::takes;
use super::text::words;
use super::{Body, MEMBERS, has_word};
use crate::init::api::{Declared, Parameter, Record};
use crate::init::ctype::{Function, Kind, Written};
use crate::init::pairs::{self, Unit};

impl Body<'_> {
    /// Chooses the numeric members of a structure. Its pointers stay NULL.
    pub(super) fn members(&mut self, name: &str, record: &Record) {
        if record.union {
            return;
        }
        let counted = self.counted(record);
        let lengths = self.member_lengths(record);
        for (i, (field, ty)) in record.fields.iter().enumerate().take(MEMBERS) {
            // A length describes the memory behind a pointer, and a member that begins with `_` is
            // private to the library.
            if lengths.contains(&Some(i)) || field.starts_with('_') {
                continue;
            }
            let Some(mut value) = self.member(field, ty) else {
                self.array(name, field, ty);
                continue;
            };
            if let Some((_, array)) = counted.as_ref().filter(|(count, _)| count == field) {
                let array = format!("{name}.{array}");
                value = format!("crunner_range(0, sizeof {array} / sizeof {array}[0])");
                self.guesses
                    .push(format!("`{name}.{field}` counts what is in `{array}`"));
            }
            self.lines.push(format!("{name}.{field} = {value};"));
        }
    }

    /// A value for a numeric member.
    fn member(&mut self, field: &str, ty: &Written) -> Option<String> {
        let resolved = self.api.resolve(ty);
        self.number(&Parameter::plain(field, ty.clone()), &resolved)
            .ok()
    }

    /// Fills an array of numbers within a structure. The last character of a text is its NUL.
    fn array(&mut self, name: &str, field: &str, ty: &Written) {
        let Kind::Array(element) = &self.api.resolve(ty).kind else {
            return;
        };
        let element = self.api.resolve(element);
        if element.constant || bound(ty).is_none_or(|bound| GOES_ON.contains(&bound)) {
            return;
        }
        let array = format!("{name}.{field}");
        if let Kind::Int { size, signed } = element.kind {
            self.lines
                .push(format!("crunner_get_bytes({array}, sizeof {array});"));
            if size == 1 && signed {
                self.lines.push(format!("{array}[sizeof {array} - 1] = 0;"));
                self.guesses.push(format!("`{array}` ends with a NUL"));
            }
        }
    }

    /// Chooses the members of a structure that the library reads and never writes: its callers set
    /// them. Lengths and positions are left as they are, and so are the numbers of a structure that
    /// points to memory of unknown length, because nothing tells which values are permitted. A
    /// callback is set; it is NULL in some runs if the library compares it.
    pub(super) fn caller_members(&mut self, name: &str, tag: &str, record: &Record) {
        let is_initialised = self.lines.iter().any(|line| is_first_argument(line, name));
        for (field, ty) in self.chosen_members(tag, record) {
            if let Some(value) = self.member(&field, &ty) {
                self.lines.push(format!("{name}.{field} = {value};"));
            }
        }
        let api = self.api;
        let is_set = |field: &str| api.is_set_by_callers(tag, field);
        let mut functions = record.fields.iter().filter(|(field, _)| is_set(field));
        // An allocator's functions are set together, if a trial shows that the library needs them.
        if functions.any(|(_, ty)| self.function(ty).is_some() && self.called(ty).is_none()) {
            return;
        }
        for (field, ty) in &record.fields {
            let is_given = self.is_given(name, field);
            if !is_set(field) || is_given && !is_initialised {
                continue;
            }
            if let Some(given) = self.called(ty).and_then(|function| {
                let wanted = format!("{name}_{field}");
                self.member_callback((field, ty), &function, (tag, record), &wanted)
            }) {
                // A trial showed that the library needs some members, which an initialiser may have
                // cleared.
                let value = match self.api.is_compared(tag, field) && !is_given {
                    true => format!("crunner_range(0, 7) > 0 ? {given} : NULL"),
                    false => given,
                };
                self.lines.push(format!("{name}.{field} = {value};"));
            }
        }
    }

    /// The numeric members of a structure that callers choose.
    fn chosen_members(&self, tag: &str, record: &Record) -> Vec<(String, Written)> {
        let api = self.api;
        let is_set = |field: &str| api.is_set_by_callers(tag, field);
        let lengths = self.member_lengths(record);
        let mut fields = record.fields.iter().zip(&lengths);
        let has_memory = fields.any(|((field, ty), length)| {
            let to = self.api.pointee(ty).map(|to| self.api.resolve(&to).kind);
            let is_data = to.is_some_and(|to| !matches!(to, Kind::Function(_)));
            is_set(field) && is_data && length.is_none()
        });
        if has_memory {
            return Vec::new();
        }
        let fields = record.fields.iter().enumerate();
        let chosen = fields.filter(|(i, (field, ty))| {
            let is_length = lengths.contains(&Some(*i)) || pairs::is_count_name(field);
            let is_fixed = is_length || pairs::is_place_name(field) || ty.constant;
            !is_fixed && !field.starts_with('_') && is_set(field)
        });
        chosen.map(|(_, field)| field.clone()).collect()
    }

    /// A callback that is a member of a structure. If the structure itself is passed to it, it
    /// chooses the structure's numbers anew: a reader advances to the next character. If the names
    /// of members say which callbacks advance, only these do so.
    fn member_callback(
        &mut self,
        (field, ty): (&str, &Written),
        function: &Function,
        (tag, record): (&str, &Record),
        wanted: &str,
    ) -> Option<String> {
        let said = self.api.prototype(field, ty);
        let given = self.callback((said, function), wanted).ok()?;
        if given == "NULL" {
            return None;
        }
        let is_own = |ty: &Written| {
            let to = self.api.pointee(ty).filter(|to| !to.constant);
            to.is_some_and(|to| self.api.resolve(&to).kind == Kind::Record(tag.to_owned()))
        };
        let mut names = record
            .fields
            .iter()
            .filter(|(_, ty)| self.function(ty).is_some());
        let advances = takes(field) || !names.any(|(other, _)| takes(other));
        let own = function.params.iter().position(is_own).filter(|_| advances);
        let returns = self.api.resolve(&function.returns).kind;
        if let Some(own) = own.filter(|_| returns == Kind::Void) {
            let mut lines = String::new();
            for (field, ty) in self.chosen_members(tag, record) {
                let outer = std::mem::take(&mut self.lines);
                let value = self.member(&field, &ty);
                let needs = std::mem::replace(&mut self.lines, outer);
                if let Some(value) = value.filter(|_| needs.is_empty()) {
                    lines += &format!("    if (p{0})\n        p{0}->{field} = {value};\n", own + 1);
                }
            }
            self.answers |= !lines.is_empty();
            if let Some(text) = self.callbacks.last_mut().filter(|_| !lines.is_empty()) {
                let end = text.rfind("}\n").unwrap_or(text.len());
                text.insert_str(end, &lines);
            }
        }
        Some(given)
    }

    /// Whether a trial required that a member of a variable is set.
    pub(super) fn is_given(&self, name: &str, field: &str) -> bool {
        let mut all = self.adjust.members.iter();
        all.any(|(of, member)| of == name && member == field)
    }

    /// The only member whose name denotes a count, and the only array of the structure: `uint16_t
    /// len; uint8_t body[32];`.
    fn counted(&self, record: &Record) -> Option<(String, String)> {
        let is_number =
            |ty: &Written| matches!(self.api.resolve(ty).kind, Kind::Int { size: 1.., .. });
        let is_array = |ty: &Written| bound(ty).is_some_and(|bound| !GOES_ON.contains(&bound));
        let mut counts = record
            .fields
            .iter()
            .filter(|(field, ty)| is_number(ty) && pairs::is_count_name(field));
        let mut arrays = record.fields.iter().filter(|(_, ty)| is_array(ty));
        let (count, array) = (counts.next()?, arrays.next()?);
        let is_alone = counts.next().is_none() && arrays.next().is_none();
        is_alone.then(|| (count.0.clone(), array.0.clone()))
    }

    /// For each pointer member of a structure, the member that holds its length. A number next to a
    /// string or to the caller's own data is not its length unless its name says so.
    pub(super) fn member_lengths(&self, record: &Record) -> Vec<Option<usize>> {
        let fields = as_parameters(record);
        let mut lengths = pairs::lengths(self.api, &fields);
        for (field, length) in fields.iter().zip(&mut lengths) {
            let is_own = is_own_data(&field.name);
            length.take_if(|at| {
                let name = fields[*at].name.to_lowercase();
                let own = field.name.to_lowercase();
                let is_named = has_word(&fields[*at].name, &[&own])
                    || name == format!("n{own}")
                    || ["len", "length", "size", "n"].contains(&name.as_str());
                (is_text(&field.ty) || is_own) && !is_named
            });
        }
        lengths
    }

    /// Chooses the strings and callbacks of a structure that a function only reads.
    pub(super) fn options(&mut self, name: &str, record: &Record) {
        if record.union {
            return;
        }
        let lengths = self.member_lengths(record);
        for (i, (field, ty)) in record.fields.iter().enumerate().take(MEMBERS) {
            if lengths[i].is_some() || field.starts_with('_') || self.is_given(name, field) {
                continue;
            }
            if is_text(ty) {
                self.strings += 1;
                self.lines.push(format!(
                    "{name}.{field} = crunner_range(0, 7) > 0 ? crunner_new_string() : NULL;"
                ));
            } else if let Some(callback) = self.called(ty)
                && let Ok(given) = self.callback(
                    (self.api.prototype(field, ty), &callback),
                    &format!("{name}_{field}"),
                )
                && given != "NULL"
            {
                self.lines.push(format!(
                    "{name}.{field} = crunner_range(0, 7) > 0 ? {given} : NULL;"
                ));
            }
        }
    }

    /// The declaration and the members of a structure that is passed for results and begins with
    /// zeros: `struct item out = {0};`. `None` for any other argument.
    pub(super) fn results(&self, param: &Parameter, argument: &str) -> Option<(String, Record)> {
        let name = argument.strip_prefix('&')?;
        let to = self.api.pointee(&param.ty).filter(|to| !to.constant)?;
        let Kind::Record(tag) = self.api.resolve(&to).kind else {
            return None;
        };
        let record = self
            .api
            .record(&tag)
            .filter(|record| !record.union)?
            .clone();
        let declared = format!("{} {name} = {{0}};", to.words);
        let is_set =
            |line: &String| line.starts_with(&format!("{name}.")) || line.contains(argument);
        let mut lines = self.lines.iter().chain(&self.lines_after_input);
        let is_result = self.lines.contains(&declared) && !lines.any(is_set);
        is_result.then_some((declared, record))
    }

    /// The lines that read the bytes which structures describe by a pointer and a length. A length
    /// that is one too large shows only there.
    pub(super) fn read_results(&self, function: &Declared, arguments: &[String]) -> Vec<String> {
        let mut lines = Vec::new();
        for (param, argument) in function.params.iter().zip(arguments) {
            if let Some((_, record)) = self.results(param, argument) {
                let access = format!("{}.", argument.trim_start_matches('&'));
                lines.extend(self.reads_of(&record, &access, ""));
            }
        }
        lines
    }

    /// The loops that read the described bytes of a structure, whose members have this prefix, if a
    /// condition holds.
    pub(super) fn reads_of(&self, record: &Record, access: &str, guard: &str) -> Vec<String> {
        let lengths = self.member_lengths(record);
        let members = record.fields.iter().zip(lengths);
        let pairs = members.filter_map(|((field, ty), length)| {
            let to = self.api.pointee(ty).filter(|to| to.constant)?;
            let kind = self.api.resolve(&to).kind;
            let length = &record.fields[length?].0;
            let is_bytes = matches!(kind, Kind::Void | Kind::Int { size: 1, .. });
            (is_bytes && pairs::is_count_name(length)).then_some((field, length))
        });
        let read = |(field, length): (&String, &String)| {
            let (field, length) = (format!("{access}{field}"), format!("{access}{length}"));
            reading_loop(guard, &field, &length, pairs::unit(&length))
        };
        pairs.map(read).collect()
    }

    /// Whether a structure consists of callbacks only.
    pub(super) fn has_only_functions(&self, record: &Record) -> bool {
        let mut fields = record.fields.iter();
        !record.union && fields.all(|(_, ty)| self.function(ty).is_some())
    }

    /// The type of the function that a member points to.
    fn function(&self, ty: &Written) -> Option<Function> {
        let to = self.api.pointee(ty)?;
        match self.api.resolve(&to).kind {
            Kind::Function(function) => Some(*function),
            _ => None,
        }
    }

    /// The type of the function that a member points to, unless it returns memory: an allocator
    /// must match its deallocator.
    fn called(&self, ty: &Written) -> Option<Function> {
        let is_called = |function: &Function| {
            let returns = self.api.resolve(&function.returns).kind;
            !matches!(returns, Kind::Pointer(_))
        };
        self.function(ty).filter(is_called)
    }
}

/// Whether a line calls a function with the address of a variable as its first argument.
pub(super) fn is_first_argument(line: &str, variable: &str) -> bool {
    [")", ","]
        .iter()
        .any(|end| line.contains(&format!("(&{variable}{end}")))
}

/// Whether a pointer leads to the caller's own data, which the library only hands on.
pub(super) fn is_own_data(name: &str) -> bool {
    let own = [
        "user", "userdata", "opaque", "context", "ctx", "arg", "cookie", "closure",
    ];
    words(name).any(|word| own.contains(&word.as_str()))
}

/// The loop that reads the bytes to which a pointer leads, as far as a length says. A length that
/// is not positive describes none.
pub(super) fn reading_loop(guard: &str, at: &str, length: &str, unit: Unit) -> String {
    let many = match unit {
        Unit::Bits => format!("((size_t){length} + 7) / 8"),
        _ => format!("(size_t){length}"),
    };
    format!(
        "for (size_t i = 0; {guard}{at} && {length} > 0 && i < {many}; i++)\n        \
         (void)((const volatile unsigned char *){at})[i];"
    )
}

/// Bounds of a flexible array member at the end of a structure.
const GOES_ON: &[&str] = &["", "0", "1"];

/// The text between the last brackets of an array's type.
fn bound(ty: &Written) -> Option<&str> {
    let array = matches!(ty.kind, Kind::Array(_));
    let (_, bound) = ty.words.rsplit_once('[').filter(|_| array)?;
    Some(bound.trim_end_matches(']'))
}

/// Whether a structure ends with a flexible array member, so that a variable of its type is too
/// small.
pub(super) fn goes_on(record: &Record) -> bool {
    let last = record.fields.last().filter(|_| !record.union);
    last.and_then(|(_, ty)| bound(ty))
        .is_some_and(|bound| GOES_ON.contains(&bound))
}

/// The members of a structure in the form of parameters.
pub(super) fn as_parameters(record: &Record) -> Vec<Parameter> {
    let fields = record.fields.iter();
    fields
        .map(|(name, ty)| Parameter::plain(name, ty.clone()))
        .collect()
}
