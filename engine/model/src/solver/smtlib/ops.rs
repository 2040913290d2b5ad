//! Operators on bit-vectors as SMT-LIB text.
//!
//! Operators that LLVM has and SMT-LIB lacks are expanded by their definitions: bit counts bit by
//! bit, overflow and saturation by an operation on enough bits to hold its exact result.

use std::fmt::Write as _;

use crate::program::ir::{BinOp, Pred, UnOp, Width};
use crate::term::value::{mask, signed_max, signed_min, unsigned};

/// The constant `value` of `w` bits.
pub(crate) fn literal(w: Width, value: u128) -> String {
    let (w, value) = (usize::from(w), value & mask(w));
    match w % 4 {
        0 => format!("#x{value:0digits$x}", digits = w / 4),
        _ => format!("#b{value:0w$b}"),
    }
}

/// `a pred b` as a Boolean.
pub(crate) fn compare(pred: Pred, a: &str, b: &str) -> String {
    let name = match pred {
        Pred::Eq => "=",
        Pred::Ne => "distinct",
        Pred::Ult => "bvult",
        Pred::Ule => "bvule",
        Pred::Ugt => "bvugt",
        Pred::Uge => "bvuge",
        Pred::Slt => "bvslt",
        Pred::Sle => "bvsle",
        Pred::Sgt => "bvsgt",
        Pred::Sge => "bvsge",
    };
    format!("({name} {a} {b})")
}

/// `a op b`, where both operands have `w` bits.
pub(crate) fn binary(op: BinOp, w: Width, a: &str, b: &str) -> String {
    let plain = |name: &str| format!("({name} {a} {b})");
    let choice = |pred: &str| format!("(ite ({pred} {a} {b}) {a} {b})");
    match op {
        BinOp::Add => plain("bvadd"),
        BinOp::Sub => plain("bvsub"),
        BinOp::Mul => plain("bvmul"),
        BinOp::UDiv => plain("bvudiv"),
        BinOp::SDiv => plain("bvsdiv"),
        BinOp::URem => plain("bvurem"),
        BinOp::SRem => plain("bvsrem"),
        BinOp::Shl => plain("bvshl"),
        BinOp::LShr => plain("bvlshr"),
        BinOp::AShr => plain("bvashr"),
        BinOp::And => plain("bvand"),
        BinOp::Or => plain("bvor"),
        BinOp::Xor => plain("bvxor"),
        BinOp::UMin => choice("bvult"),
        BinOp::UMax => choice("bvugt"),
        BinOp::SMin => choice("bvslt"),
        BinOp::SMax => choice("bvsgt"),
        BinOp::UAddSat => saturated(BinOp::Add, false, w, a, b),
        BinOp::SAddSat => saturated(BinOp::Add, true, w, a, b),
        BinOp::USubSat => saturated(BinOp::Sub, false, w, a, b),
        BinOp::SSubSat => saturated(BinOp::Sub, true, w, a, b),
    }
}

/// A saturating operation. With two bits more than the operands have, every sum and difference is
/// representable as a signed number.
fn saturated(op: BinOp, is_signed: bool, w: Width, a: &str, b: &str) -> String {
    let (low, high) = match is_signed {
        true => (unsigned(w, signed_min(w)), signed_max(w) as u128),
        false => (0, mask(w)),
    };
    let exact = extended(op, is_signed, w, w + 2, a, b);
    let [below, above] = [low, high].map(|limit| extension(is_signed, 2, &literal(w, limit)));
    let (low, high) = (literal(w, low), literal(w, high));
    format!(
        "(let ((exact {exact})) (ite (bvslt exact {below}) {low} \
         (ite (bvsgt exact {above}) {high} ((_ extract {} 0) exact))))",
        w - 1
    )
}

fn extension(is_signed: bool, more: Width, a: &str) -> String {
    let name = if is_signed { "sign" } else { "zero" };
    format!("((_ {name}_extend {more}) {a})")
}

/// `a op b` with operands extended to `wide` bits.
fn extended(op: BinOp, is_signed: bool, w: Width, wide: Width, a: &str, b: &str) -> String {
    let [a, b] = [a, b].map(|x| extension(is_signed, wide - w, x));
    binary(op, wide, &a, &b)
}

/// Whether the result of Add, Sub or Mul does not fit into `w` bits, as a Boolean. No other
/// operators overflow.
pub(crate) fn overflow(op: BinOp, is_signed: bool, w: Width, a: &str, b: &str) -> String {
    let wide = match op {
        BinOp::Add | BinOp::Sub => w + 1,
        BinOp::Mul => 2 * w,
        _ => return "false".to_owned(),
    };
    let exact = extended(op, is_signed, w, wide, a, b);
    let kept = format!("((_ extract {} 0) exact)", w - 1);
    let again = extension(is_signed, wide - w, &kept);
    format!("(let ((exact {exact})) (distinct exact {again}))")
}

/// `op a`, where the operand has `w` bits.
pub(crate) fn unary(op: UnOp, w: Width, a: &str) -> String {
    let bit = |i: Width| format!("((_ extract {i} {i}) {a})");
    // The number of positions before the first set bit, or the width if no bit is set.
    let first = |positions: &mut dyn Iterator<Item = Width>| {
        let (mut text, mut count) = (String::new(), 0u16);
        for i in positions {
            let known = literal(w, u128::from(count));
            let _ = write!(text, "(ite (= {} #b1) {known} ", bit(i));
            count += 1;
        }
        let none = literal(w, u128::from(w));
        text + &none + &")".repeat(usize::from(count))
    };
    match op {
        UnOp::CtPop => {
            let zero = literal(w, 0);
            (0..w).fold(zero, |sum, i| {
                format!("(bvadd {sum} {})", extension(false, w - 1, &bit(i)))
            })
        }
        UnOp::CtLz => first(&mut (0..w).rev()),
        UnOp::CtTz => first(&mut (0..w)),
        UnOp::BitReverse => (1..w).fold(bit(0), |high, i| format!("(concat {high} {})", bit(i))),
        UnOp::BSwap => (1..w / 8).fold(format!("((_ extract 7 0) {a})"), |high, i| {
            format!("(concat {high} ((_ extract {} {}) {a}))", 8 * i + 7, 8 * i)
        }),
        UnOp::Abs => format!("(ite (bvslt {a} {}) (bvneg {a}) {a})", literal(w, 0)),
    }
}

/// The high (`left`) or low word of `a:b` shifted by `by` modulo the width.
pub(crate) fn funnel(left: bool, w: Width, a: &str, b: &str, by: &str) -> String {
    // Modulo a width of one, every shift amount is zero.
    let by = match w {
        1 => literal(2, 0),
        _ => format!(
            "((_ zero_extend {w}) (bvurem {by} {}))",
            literal(w, u128::from(w))
        ),
    };
    let (shift, from) = if left { ("bvshl", w) } else { ("bvlshr", 0) };
    format!(
        "((_ extract {} {from}) ({shift} (concat {a} {b}) {by}))",
        from + w - 1
    )
}
