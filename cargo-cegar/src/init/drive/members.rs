//! The members of a structure that callers fill in: options, descriptions, requests.
//!
//! A structure that a function only reads is its caller's to fill. Numbers are chosen; a text and a
//! function for the library to call are there or are NULL, which the search chooses, since most
//! options are left out by some callers.

use super::looks::is_text;
use super::{Body, MEMBERS};
use crate::init::api::{Parameter, Record};
use crate::init::ctype::{Function, Kind, Written};
use crate::init::pairs;

impl Body<'_> {
    /// Chooses the members of a structure that are numbers; its pointers stay NULL.
    pub(super) fn members(&mut self, name: &str, record: &Record) {
        if record.union {
            return;
        }
        let counted = self.counted(record);
        let lengths = self.member_lengths(record);
        for (i, (field, ty)) in record.fields.iter().enumerate().take(MEMBERS) {
            // A length says how much there is behind a pointer; what begins with `_` is nobody's to
            // set.
            if lengths.contains(&Some(i)) || field.starts_with('_') {
                continue;
            }
            let resolved = self.api.resolve(ty);
            let Some(mut value) = self.choice(&resolved) else {
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

    /// The member of a structure that is named like a number of things, and the one array that
    /// there is: `uint16_t len; uint8_t body[32];`.
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

    /// For each member of a structure, the one that says how long its memory is. A number beside a
    /// text or beside what is the caller's own says nothing of it, unless it is named as a length
    /// of it.
    pub(super) fn member_lengths(&self, record: &Record) -> Vec<Option<usize>> {
        let fields = as_parameters(record);
        let mut lengths = pairs::lengths(self.api, &fields);
        for (field, length) in fields.iter().zip(&mut lengths) {
            let is_own = [
                "user", "opaque", "context", "ctx", "arg", "cookie", "closure",
            ]
            .iter()
            .any(|word| field.name.contains(word));
            length.take_if(|at| {
                let name = fields[*at].name.to_lowercase();
                let is_named = name.contains(&field.name.to_lowercase())
                    || ["len", "length", "size", "n"].contains(&name.as_str());
                (is_text(&field.ty) || is_own) && !is_named
            });
        }
        lengths
    }

    /// Chooses the texts and functions of a structure that a function only reads.
    pub(super) fn options(&mut self, name: &str, record: &Record) {
        if record.union {
            return;
        }
        let lengths = self.member_lengths(record);
        let is_given = |field: &str| {
            let mut all = self.adjust.members.iter();
            all.any(|(of, member)| of == name && member == field)
        };
        for (i, (field, ty)) in record.fields.iter().enumerate().take(MEMBERS) {
            if lengths[i].is_some() || field.starts_with('_') || is_given(field) {
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

    /// Whether a structure holds functions for the library to call, and nothing else.
    pub(super) fn has_only_functions(&self, record: &Record) -> bool {
        let mut fields = record.fields.iter();
        !record.union && fields.all(|(_, ty)| self.function(ty).is_some())
    }

    /// The function that a member points to.
    fn function(&self, ty: &Written) -> Option<Function> {
        let to = self.api.pointee(ty)?;
        match self.api.resolve(&to).kind {
            Kind::Function(function) => Some(*function),
            _ => None,
        }
    }

    /// The function that a member points to, if it returns no memory: what allocates belongs to
    /// what frees.
    fn called(&self, ty: &Written) -> Option<Function> {
        let is_called = |function: &Function| {
            let returns = self.api.resolve(&function.returns).kind;
            !matches!(returns, Kind::Pointer(_))
        };
        self.function(ty).filter(is_called)
    }
}

/// Bounds of an array that goes on behind the structure that it ends.
const GOES_ON: &[&str] = &["", "0", "1"];

/// What stands between the last brackets of an array's type.
fn bound(ty: &Written) -> Option<&str> {
    let array = matches!(ty.kind, Kind::Array(_));
    let (_, bound) = ty.words.rsplit_once('[').filter(|_| array)?;
    Some(bound.trim_end_matches(']'))
}

/// Whether a structure ends with an array that goes on behind it, so that a variable of its type is
/// too small.
pub(super) fn goes_on(record: &Record) -> bool {
    let last = record.fields.last().filter(|_| !record.union);
    last.and_then(|(_, ty)| bound(ty))
        .is_some_and(|bound| GOES_ON.contains(&bound))
}

/// The members of a structure, as a function's parameters would be.
pub(super) fn as_parameters(record: &Record) -> Vec<Parameter> {
    let fields = record.fields.iter();
    fields
        .map(|(name, ty)| Parameter::plain(name, ty.clone()))
        .collect()
}
