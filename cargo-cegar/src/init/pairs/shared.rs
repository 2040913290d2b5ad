//! Arrays that share the parameter for their number of elements.
//!
//! In `dot(const float *a, const float *b, size_t n)` the number is paired with its neighbour `b`,
//! but applies to `a` as well; in `scale(const int *in, size_t n, int *out)` it applies to `out`,
//! too. Only arrays of elements larger than a byte are considered: next to byte buffers there are
//! keys, digests and strings with lengths of their own.

use super::{is_length_name, is_output_name, is_place_name, plain};
use crate::init::api::{Api, Parameter};
use crate::init::ctype::Kind;

/// Arrays that share one length.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shared {
    /// The array that is chosen first: an input, if there is one.
    pub leader: usize,
    /// The other arrays.
    pub followers: Vec<usize>,
    /// The parameter for the number of elements.
    pub length: usize,
}

impl Shared {
    /// The indices of all parameters that belong to it.
    pub fn all(&self) -> impl Iterator<Item = usize> + '_ {
        let others = self.followers.iter().copied();
        [self.leader, self.length].into_iter().chain(others)
    }
}

/// The arrays that share a length, if only one parameter is the length of such an array.
pub fn shared(api: &Api, params: &[Parameter], lengths: &[Option<usize>]) -> Option<Shared> {
    let pairs = lengths.iter().enumerate();
    let mut pairs = pairs
        .filter_map(|(p, l)| Some((p, (*l)?)))
        .filter(|&(p, _)| element(api, &params[p]).is_some());
    let (owner, length) = pairs.next().filter(|_| pairs.next().is_none())?;
    if api.pointee(&params[length].ty).is_some() {
        return None;
    }
    let of_owner = element(api, &params[owner])?;
    let is_follower = |&i: &usize| {
        let param = &params[i];
        let Some((kind, constant)) = element(api, param) else {
            return false;
        };
        if i == owner
            || lengths[i].is_some()
            || lengths.contains(&Some(i))
            || is_place_name(&param.name)
        {
            return false;
        }
        // Coefficients after the number often have a length of their own.
        if constant {
            return i < length;
        }
        let is_row = is_output_name(&param.name) || plain(&param.name).ends_with('s') || i < length;
        is_row && !is_length_name(&param.name) && is_alike(&kind, &of_owner.0)
    };
    let mut all: Vec<usize> = (0..params.len()).filter(is_follower).collect();
    if all.is_empty() {
        return None;
    }
    all.push(owner);
    all.sort_unstable();
    let is_read = |&&i: &&usize| element(api, &params[i]).is_some_and(|(_, constant)| constant);
    let leader = *all.iter().find(is_read).unwrap_or(&owner);
    all.retain(|&i| i != leader);
    Some(Shared {
        leader,
        followers: all,
        length,
    })
}

/// The type of the elements, and whether they are only read, if a parameter is an array of numbers
/// larger than a byte.
fn element(api: &Api, param: &Parameter) -> Option<(Kind, bool)> {
    if param.bound.is_some() || api.hidden(&param.ty).is_some() {
        return None;
    }
    let to = api.pointee(&param.ty)?;
    let kind = api.resolve(&to).kind;
    matches!(kind, Kind::Int { size: 2.., .. } | Kind::Float { .. }).then_some((kind, to.constant))
}

/// Whether both or neither of the types are integers.
fn is_alike(a: &Kind, b: &Kind) -> bool {
    matches!(a, Kind::Int { .. }) == matches!(b, Kind::Int { .. })
}
