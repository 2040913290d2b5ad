//! Values of numbers and enumerations.

use super::text::{words, wrapped};
use super::{Body, unknown};
use crate::init::api::Parameter;
use crate::init::ctype::{Kind, Written};
use crate::init::pairs;

/// Begins the names of arrays that list all values of an enumeration.
pub(super) const EVERY: &str = "every_";
/// An enumeration with more values than this is chosen as a range.
const LISTED: usize = 40;

/// The usual maximum capacity of an object; most larger allocations just fail.
const ROOM: usize = 64;

/// The function that takes a number of `size` bytes from the tape.
pub(in crate::init) fn getter(size: u64, signed: bool) -> &'static str {
    match (size, signed) {
        (1, true) => "crunner_get_schar",
        (1, false) => "crunner_get_byte",
        (2, true) => "crunner_get_short",
        (2, false) => "crunner_get_ushort",
        (4, true) => "crunner_get_int",
        (4, false) => "crunner_get_uint",
        (_, true) => "crunner_get_long",
        (_, false) => "crunner_get_ulong",
    }
}

/// The greatest of the keys that a harness usually chooses, so that it meets the same key again.
const KEY: usize = 15;
/// Words in the names of numbers that identify an entry of a container.
const KEYS: &[&str] = &["id", "k", "key"];

impl Body<'_> {
    /// A value for a scalar parameter. A capacity or a key that is passed to a function that
    /// creates an object, and a key in one of several calls, are small in most cases. A number that
    /// makes a call slow is small in all cases.
    pub(super) fn number(
        &mut self,
        param: &Parameter,
        resolved: &Written,
    ) -> Result<String, String> {
        let value = self.choice(resolved).ok_or_else(|| unknown(param))?;
        let is_number = matches!(resolved.kind, Kind::Int { .. });
        if let Some(most) = pairs::most_cost(&param.name).filter(|_| is_number) {
            return Ok(format!("crunner_size(0, {most})"));
        }
        let is_wide = matches!(resolved.kind, Kind::Int { size: 2.., .. });
        let is_key = || words(&param.name).any(|word| KEYS.contains(&word.as_str()));
        let most = match self.nested > 0 && is_wide {
            true if pairs::is_room_name(&param.name) => ROOM,
            true if is_key() => KEY,
            _ => return Ok(value),
        };
        Ok(format!(
            "crunner_range(0, 7) > 0 ? crunner_range(0, {most}) : {value}"
        ))
    }

    /// An expression that chooses a value of a scalar type.
    pub(super) fn choice(&mut self, resolved: &Written) -> Option<String> {
        let text = match &resolved.kind {
            Kind::Bool => "crunner_get_bool()".to_owned(),
            Kind::Int { size, signed } => {
                format!("{}()", getter(u64::from(*size), *signed))
            }
            Kind::Float { size: 4 } => "crunner_get_float()".to_owned(),
            Kind::Float { .. } => "crunner_get_double()".to_owned(),
            Kind::Enum(tag) => {
                let constants = self.api.values(tag);
                let (first, last) = (constants.first()?, constants.last()?);
                if self.api.is_mask(tag) {
                    return Some(format!("crunner_get_uint() & ({})", constants.join(" | ")));
                }
                if constants.len() <= LISTED {
                    let name = self.name(&format!("{EVERY}{}", tag.to_lowercase()));
                    let list = constants.join(", ");
                    let last = constants.len() - 1;
                    let line = format!("static const int {name}[] = {{{list}}};");
                    self.lines.push(wrapped(&line));
                    let others = self.api.marks(tag);
                    if others.is_empty() {
                        format!("{name}[crunner_range(0, {last})]")
                    } else {
                        let others = others.join(", ");
                        let line = format!("/* Taken for a limit, and not passed: {others}. */");
                        self.lines.push(line);
                        format!("{name}[crunner_size(0, {last})]")
                    }
                } else {
                    format!("crunner_range({first}, {last})")
                }
            }
            _ => return None,
        };
        Some(text)
    }
}
