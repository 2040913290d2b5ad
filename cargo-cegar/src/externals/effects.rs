//! The effects of external functions that proofs assume, according to prototypes and the user's
//! rules.

use std::collections::BTreeSet;

use cegar_harness::build::{MockedFunction, member_symbol};
use cegar_harness::channel::Shape;
use cegar_harness::external::{Holds, Signature};
use cegar_harness::rules::Depth;
use cegar_model::program::outside::{Access, Effects};

/// The effects of a function, and of the functions to which the objects that it returns point, by
/// their names in the program.
pub fn all(
    function: &MockedFunction,
    lifted: &BTreeSet<String>,
) -> impl Iterator<Item = (String, Effects)> {
    let own = (function.name.clone(), of(function, lifted));
    let members: Vec<(String, Effects)> = function
        .members()
        .iter()
        .map(|member| (member_symbol(&member.name), of(member, lifted)))
        .collect();
    std::iter::once(own).chain(members)
}

/// The effects of one function.
fn of(function: &MockedFunction, lifted: &BTreeSet<String>) -> Effects {
    let rules = &function.rules;
    let said = matches!(rules.written(), Ok(Some(_))) || rules.writes_nothing();
    let params = match &function.signature {
        Some(signature) if is_plain(function, signature) => signature
            .params
            .iter()
            .map(|holds| match holds {
                _ if said => Access::Untouched,
                Holds::Pointer(pointee) if pointee.constant => match rules.constant {
                    Some(Depth::Deep) => Access::Untouched,
                    None if lifted.contains("const") => Access::Written,
                    None => Access::Const,
                },
                _ => Access::Written,
            })
            .collect(),
        _ => Vec::new(),
    };
    Effects {
        params,
        keeps: rules.keeps != Some(false) && rules.pure != Some(true),
        errno: rules.errno != Some(false) && rules.pure != Some(true),
        pure: rules.pure == Some(true),
        gives: matches!(function.returns, Shape::Pointer { .. })
            && !function.may_return_any_address
            && !function.returns_into(),
        ruled: !rules.is_none(),
    }
}

/// Whether each parameter of the prototype is exactly one argument of the call.
fn is_plain(function: &MockedFunction, signature: &Signature) -> bool {
    !signature.params.iter().any(Holds::is_aggregate)
        && !matches!(function.returns, Shape::Struct { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_named_as_the_linker_looks_for_them() {
        let prefix = cegar_model::program::normalise::MEMBER;
        assert_eq!(member_symbol("ops.open"), format!("{prefix}ops_open"));
    }
}
