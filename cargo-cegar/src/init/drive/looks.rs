//! What a callback does with what it is handed.
//!
//! A library that tells its callers a length which is one too large does nothing wrong itself: they read a byte that is
//! not theirs. So a callback reads what it is given, as any caller's would: texts up to their NULs, and bytes with a
//! length up to that.

use super::Body;
use crate::init::ctype::{Function, Kind, Written};

impl Body<'_> {
    /// The lines of a callback that look at its parameters `p1`, `p2` and so on.
    pub(super) fn looked_at(&self, function: &Function) -> String {
        let params = &function.params;
        let is_number = |ty: &Written| matches!(self.api.resolve(ty).kind, Kind::Int { .. });
        // Where a number stands beside them, it may be their length.
        let reads_texts = !params.iter().any(is_number);
        let mut lines = String::new();
        for (i, ty) in params.iter().enumerate() {
            let number = i + 1;
            lines += &match reads_texts && is_text(ty) {
                true => format!("    (void)(p{number} && strlen(p{number}));\n"),
                false => format!("    (void)p{number};\n"),
            };
            if self.has_length(params, i) {
                lines += &format!(
                    "    for (size_t i = 0; p{number} && i < p{0}; i++)\n        \
                     (void)((const volatile unsigned char *)p{number})[i];\n",
                    number + 1
                );
            }
        }
        lines
    }

    /// Whether a parameter points to bytes that are only read, and the next one is a `size_t` that says how many there are: it is the only
    /// one, as two are a count and a size.
    fn has_length(&self, params: &[Written], i: usize) -> bool {
        let is_size = |ty: &Written| {
            let kind = self.api.resolve(ty).kind;
            matches!(
                kind,
                Kind::Int {
                    size: 8,
                    signed: false
                }
            )
        };
        let is_bytes = self.api.pointee(&params[i]).is_some_and(|to| {
            let kind = self.api.resolve(&to).kind;
            to.constant && matches!(kind, Kind::Void | Kind::Int { size: 1, .. })
        });
        // A text beside one without a length is a name, and the number something else.
        let is_bare =
            |at: &usize| is_text(&params[*at]) && !params.get(at + 1).is_some_and(is_size);
        is_bytes
            && !(is_text(&params[i]) && (0..params.len()).any(|at| is_bare(&at)))
            && params.get(i + 1).is_some_and(is_size)
            && !params.get(i + 2).is_some_and(is_size)
    }
}

/// Whether it is C's type of a text that is only read.
pub(super) fn is_text(ty: &Written) -> bool {
    ty.words.replace(' ', "") == "constchar*"
}
