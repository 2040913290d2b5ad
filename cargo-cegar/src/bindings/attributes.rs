//! Interprets attributes and constant expressions: type layouts, calling conventions, and values of
//! numbers.

use syn::{Expr, Lit, Meta, UnOp};

use super::names::outside;
use super::shape::Shape;

/// Whether an ABI is the calling convention of C.
pub(super) fn is_c(abi: &str) -> bool {
    matches!(
        abi,
        "C" | "C-unwind" | "system" | "system-unwind" | "cdecl" | "sysv64"
    )
}

/// The layout attributes of a type.
#[derive(Default)]
pub(super) struct Repr {
    pub c: bool,
    pub transparent: bool,
    pub packed: Option<u64>,
    pub align: Option<u64>,
    pub int: Option<u64>,
}

impl Repr {
    pub fn of(attributes: &[Meta]) -> Repr {
        let mut repr = Repr::default();
        for meta in attributes {
            let Meta::List(list) = meta else { continue };
            if !list.path.is_ident("repr") {
                continue;
            }
            let text = list.tokens.to_string().replace(' ', "");
            for part in text.split(',') {
                let inside =
                    |part: &str| part.split('(').nth(1)?.trim_end_matches(')').parse().ok();
                match part {
                    "C" => repr.c = true,
                    "transparent" => repr.transparent = true,
                    "packed" => repr.packed = Some(1),
                    _ if part.starts_with("packed(") => repr.packed = inside(part),
                    _ if part.starts_with("align(") => repr.align = inside(part),
                    _ => repr.int = repr.int.or(int_size(part)),
                }
            }
        }
        repr
    }
}

fn int_size(name: &str) -> Option<u64> {
    match outside(name)? {
        Shape::Int { size, .. } => Some(size),
        _ => None,
    }
}

pub(super) fn strip(expression: &Expr) -> &Expr {
    match expression {
        Expr::Paren(inner) => strip(&inner.expr),
        Expr::Group(inner) => strip(&inner.expr),
        Expr::Cast(cast) => strip(&cast.expr),
        other => other,
    }
}

/// The value of a simple constant expression: a literal, a negation, a shift, a sum, a difference,
/// a product or a bitwise or.
pub(super) fn number(expression: &Expr) -> Option<i128> {
    match strip(expression) {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(value) => value.base10_parse().ok(),
            Lit::Byte(value) => Some(i128::from(value.value())),
            _ => None,
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => number(&unary.expr).map(|n| -n),
        Expr::Binary(binary) => {
            let (a, b) = (number(&binary.left)?, number(&binary.right)?);
            match binary.op {
                syn::BinOp::Shl(_) => a.checked_shl(u32::try_from(b).ok()?),
                syn::BinOp::Add(_) => a.checked_add(b),
                syn::BinOp::Sub(_) => a.checked_sub(b),
                syn::BinOp::Mul(_) => a.checked_mul(b),
                syn::BinOp::BitOr(_) => Some(a | b),
                _ => None,
            }
        }
        _ => None,
    }
}
