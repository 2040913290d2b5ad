//! Numbers, and constants of enumerations.

use super::{Body, getter};
use crate::init::ctype::{Kind, Written};

/// Begins the names of arrays with all constants of an enumeration.
pub(super) const EVERY: &str = "every_";
/// Words in the names of constants that are no values of their enumeration.
const MARKS: [&str; 16] = [
    "count",
    "max",
    "last",
    "num",
    "end",
    "invalid",
    "force",
    "sentinel",
    "size",
    "limit",
    "total",
    "unknown",
    "undefined",
    "error",
    "reserved",
    "bad",
];

impl Body<'_> {
    /// A value of a scalar type.
    pub(super) fn choice(&mut self, resolved: &Written) -> Option<String> {
        let text = match &resolved.kind {
            Kind::Bool => "crunner_get_bool()".to_owned(),
            Kind::Int { size, signed } => {
                format!("{}()", getter(u64::from(*size), *signed))
            }
            Kind::Float { size: 4 } => "crunner_get_float()".to_owned(),
            Kind::Float { .. } => "crunner_get_double()".to_owned(),
            Kind::Enum(tag) => {
                let constants = self.api.constants(tag);
                let (first, last) = (constants.first()?, constants.last()?);
                if self.api.is_mask(tag) {
                    return Some(format!("crunner_get_uint() & ({})", constants.join(" | ")));
                }
                if constants.len() <= 8 {
                    let name = self.name(&format!("{EVERY}{}", tag.to_lowercase()));
                    let list = constants.join(", ");
                    let last = constants.len() - 1;
                    self.lines
                        .push(format!("static const int {name}[] = {{{list}}};"));
                    format!("{name}[crunner_range(0, {last})]")
                } else {
                    format!("crunner_range({first}, {last})")
                }
            }
            _ => return None,
        };
        Some(text)
    }

    /// Whether an enumeration has constants that are no values: how many there are, an end, an error.
    pub(super) fn has_marks(&self, ty: &Written) -> bool {
        let Kind::Enum(tag) = &ty.kind else {
            return false;
        };
        let mut constants = self.api.constants(tag).iter();
        constants.any(|constant| {
            MARKS
                .iter()
                .any(|word| constant.to_lowercase().contains(word))
        })
    }
}
