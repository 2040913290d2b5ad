//! Translates formulas to C expressions with the same meaning, bit for bit.
//!
//! Arithmetic in formulas is modulo 2^width. Where no result can leave the width, C's operator
//! computes the same; otherwise, the computation uses C's unsigned types, which are defined to wrap
//! around. No expression has undefined behaviour, whatever the values of the variables are.
//! Formulas with operations that C lacks are not translated.

use rustc_hash::FxHashMap;

use super::typed::{Type, Typed, binds, together};
use cegar_model::program::ir::{BinOp, Named, Pred, Width};
use cegar_model::term::{Node, Pool, Term, value};

/// The maximum depth of formulas that are translated.
const DEPTH: u32 = 24;
/// The maximum length of their texts, in bytes.
const LONGEST: usize = 2_000;

/// Translates formulas, given the names of their variables in C.
pub(super) struct Speaker<'a> {
    pub(super) pool: &'a Pool,
    /// The names by the variables' numbers.
    pub(super) names: FxHashMap<u32, Named>,
}

/// The least and the greatest number of this width.
fn range_of(width: Width, signed: bool) -> (i128, i128) {
    match signed {
        true => (value::signed_min(width), value::signed_max(width)),
        false => (0, value::mask(width) as i128),
    }
}

fn within((low, high): (i128, i128), (least, most): (i128, i128)) -> bool {
    least <= low && high <= most
}

/// The type with this width, and the type that it is promoted to.
fn type_of(width: Width, signed: bool) -> Option<(&'static str, Type)> {
    Some(match (width, signed) {
        (8, true) => ("signed char", Type::Int),
        (8, false) => ("unsigned char", Type::Int),
        (16, true) => ("short", Type::Int),
        (16, false) => ("unsigned short", Type::Int),
        (32, true) => ("int", Type::Int),
        (32, false) => ("unsigned int", Type::Unsigned),
        (64, true) => ("long", Type::Long),
        (64, false) => ("unsigned long", Type::UnsignedLong),
        _ => return None,
    })
}

impl Speaker<'_> {
    /// Translates a fact; `None` if C cannot express it.
    pub(super) fn say(&self, fact: Term) -> Option<Typed> {
        let said = self.condition(fact, DEPTH)?;
        (said.text.len() <= LONGEST).then_some(said)
    }

    /// A variable as an expression.
    pub(super) fn named(variable: &Named) -> Option<Typed> {
        let (_, ty) = type_of(variable.bits, variable.signed)?;
        Some(Typed {
            text: variable.name.clone(),
            binds: binds::ALONE,
            ty,
            range: range_of(variable.bits, variable.signed),
        })
    }

    /// A one-bit term as a condition.
    fn condition(&self, t: Term, depth: u32) -> Option<Typed> {
        let depth = depth.checked_sub(1)?;
        if let Some(known) = self.pool.as_const(t) {
            return Typed::literal(known as i128);
        }
        match *self.pool.node(t) {
            Node::Cmp(pred, a, b) => self.compare(pred, false, a, b, depth),
            Node::Not(inner) => match *self.pool.node(inner) {
                Node::Cmp(pred, a, b) => self.compare(pred, true, a, b, depth),
                Node::Extract(of, low) => self.bit(of, low, "==", depth),
                _ => {
                    let inner = self.condition(inner, depth)?;
                    Some(truth(
                        format!("!{}", inner.within(binds::UNARY)),
                        binds::UNARY,
                    ))
                }
            },
            Node::Bin(op, a, b) => {
                let (a, b) = (self.condition(a, depth)?, self.condition(b, depth)?);
                let (symbol, own) = match op {
                    BinOp::And | BinOp::Mul => ("&&", binds::AND),
                    BinOp::Or => ("||", binds::OR),
                    BinOp::Xor | BinOp::Add | BinOp::Sub => ("!=", binds::EQUAL),
                    _ => return None,
                };
                // `a && b || c` is correct, but compilers warn about it.
                let least = match op {
                    BinOp::Or => binds::BITS,
                    _ => own + 1,
                };
                let same = |e: &Typed| match e.binds == own && own != binds::EQUAL {
                    true => e.text.clone(),
                    false => e.within(least),
                };
                Some(truth(format!("{} {symbol} {}", same(&a), same(&b)), own))
            }
            Node::Ite(condition, then, otherwise) => {
                let condition = self.condition(condition, depth)?;
                let (then, otherwise) = (
                    self.condition(then, depth)?,
                    self.condition(otherwise, depth)?,
                );
                let text = format!(
                    "{} ? {} : {}",
                    condition.within(binds::UNARY),
                    then.within(binds::UNARY),
                    otherwise.within(binds::UNARY)
                );
                Some(truth(text, binds::CONDITIONAL))
            }
            Node::Extract(inner, low) => self.bit(inner, low, "!=", depth),
            _ => None,
        }
    }

    /// Whether one bit of a value is 0 (`==`) or not (`!=`).
    fn bit(&self, of: Term, low: u16, relation: &str, depth: u32) -> Option<Typed> {
        let bit = self.bits(of, low, 1, depth)?;
        let text = format!("{} {relation} 0", bit.within(binds::LESS));
        Some(truth(text, binds::EQUAL))
    }

    fn compare(&self, pred: Pred, negated: bool, a: Term, b: Term, depth: u32) -> Option<Typed> {
        let one_bit = self.pool.width(a) == 1;
        let mut ways = Vec::new();
        for signed in [true, false] {
            let fits = match pred {
                Pred::Eq => !(one_bit && signed),
                Pred::Ult | Pred::Ule => !signed,
                _ => signed && !one_bit,
            };
            if fits
                && let Some(a) = self.value(a, signed, depth)
                && let Some(b) = self.value(b, signed, depth)
                && let Some((a, b, _)) = together(&a, &b, (0, 0))
            {
                ways.push((a, b));
            }
        }
        let (mut a, mut b) = ways
            .into_iter()
            .min_by_key(|(a, b)| a.text.len() + b.text.len())?;
        // `!(a < b)` is written as `a >= b`, and constants are on the right.
        let strict = matches!(pred, Pred::Ult | Pred::Slt) != negated;
        let mut symbol = match (pred, negated) {
            (Pred::Eq, false) => "==",
            (Pred::Eq, true) => "!=",
            (_, false) if strict => "<",
            (_, false) => "<=",
            (_, true) if strict => ">",
            (_, true) => ">=",
        };
        if a.constant().is_some() {
            (a, b) = (b, a);
            symbol = match symbol {
                "<" => ">",
                "<=" => ">=",
                ">" => "<",
                ">=" => "<=",
                same => same,
            };
        }
        let own = match pred {
            Pred::Eq => binds::EQUAL,
            _ => binds::LESS,
        };
        let text = format!("{} {symbol} {}", a.within(binds::SUM), b.within(binds::SUM));
        Some(truth(text, own))
    }

    /// A value as a signed or unsigned number.
    fn value(&self, t: Term, signed: bool, depth: u32) -> Option<Typed> {
        let depth = depth.checked_sub(1)?;
        let width = self.pool.width(t);
        if width > 64 || (width == 1 && signed) {
            return None;
        }
        if let Some(bits) = self.pool.as_const(t) {
            return Typed::literal(match signed {
                true => value::signed(width, bits),
                false => bits as i128,
            });
        }
        if width == 1 {
            return self.condition(t, depth);
        }
        let (found, natural) = match *self.pool.node(t) {
            Node::Variable(number) => {
                let variable = self.names.get(&number)?;
                if variable.bits != width {
                    return None;
                }
                (Speaker::named(variable)?, variable.signed)
            }
            Node::ZExt(inner) => (self.value(inner, false, depth)?, false),
            Node::SExt(inner) => (self.value(inner, true, depth)?, true),
            Node::Bin(BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl, ..) => {
                return self.arithmetic(t, signed, depth);
            }
            Node::Bin(op @ (BinOp::UDiv | BinOp::URem | BinOp::LShr), a, b) => {
                (self.divide(op, self.value(a, false, depth)?, b)?, false)
            }
            Node::Bin(op @ (BinOp::SDiv | BinOp::SRem), a, b) => {
                (self.divide(op, self.value(a, true, depth)?, b)?, true)
            }
            Node::Bin(op @ (BinOp::And | BinOp::Or | BinOp::Xor), a, b) => {
                let (a, b) = (self.value(a, false, depth)?, self.value(b, false, depth)?);
                (bitwise(op, &a, &b)?, false)
            }
            Node::Not(inner) => {
                let all = Typed::literal(value::mask(width) as i128)?;
                let inner = self.value(inner, false, depth)?;
                (bitwise(BinOp::Xor, &inner, &all)?, false)
            }
            Node::Extract(inner, low) => (self.bits(inner, low, width, depth)?, false),
            Node::Ite(condition, then, otherwise) => {
                let condition = self.condition(condition, depth)?;
                let then = self.value(then, signed, depth)?;
                let otherwise = self.value(otherwise, signed, depth)?;
                let range = (
                    then.range.0.min(otherwise.range.0),
                    then.range.1.max(otherwise.range.1),
                );
                let (then, otherwise, ty) = together(&then, &otherwise, range)?;
                let text = format!(
                    "{} ? {} : {}",
                    condition.within(binds::UNARY),
                    then.within(binds::UNARY),
                    otherwise.within(binds::UNARY)
                );
                let said = Typed {
                    text,
                    binds: binds::CONDITIONAL,
                    ty,
                    range,
                };
                (said, signed)
            }
            _ => return None,
        };
        convert(found, (natural, signed), width)
    }

    /// Sums and products: directly if nothing can wrap around, else in an unsigned type.
    fn arithmetic(&self, t: Term, signed: bool, depth: u32) -> Option<Typed> {
        let width = self.pool.width(t);
        let Node::Bin(op, a, b) = *self.pool.node(t) else {
            return None;
        };
        let factor = |signed: bool| match op {
            BinOp::Shl => {
                let by = self.pool.as_const(b).filter(|&by| by < u128::from(width))?;
                Typed::literal(1_i128 << by)
            }
            _ => self.value(b, signed, depth),
        };
        for way in [signed, !signed] {
            let (Some(a), Some(b)) = (self.value(a, way, depth), factor(way)) else {
                continue;
            };
            if let Some(exact) = exact(op, &a, &b)
                && within(exact.range, range_of(width, way))
            {
                return convert(exact, (way, signed), width);
            }
        }
        let (a, mut b) = (self.value(a, false, depth)?, factor(false)?);
        let mut op = op;
        // The summand may be a negative number.
        if let Some(c) = b.constant().filter(|_| op == BinOp::Add)
            && c > value::signed_max(width)
        {
            op = BinOp::Sub;
            b = Typed::literal(value::mask(width) as i128 + 1 - c)?;
        }
        let ty = Type::modular(width);
        if !ty.holds(a.range) || !ty.holds(b.range) {
            return None;
        }
        let (symbol, own) = symbol(op)?;
        let text = format!(
            "{} {symbol} {}",
            a.of_type(ty).within(own),
            b.of_type(ty).within(own + 1)
        );
        let all = match ty {
            Type::Unsigned => range_of(32, false),
            _ => range_of(64, false),
        };
        let wrapped = Typed {
            text,
            binds: own,
            ty,
            range: all,
        };
        convert(cut(wrapped, width)?, (false, signed), width)
    }

    /// Quotients, remainders and right shifts by constants.
    fn divide(&self, op: BinOp, a: Typed, by: Term) -> Option<Typed> {
        let width = self.pool.width(by);
        let bits = self.pool.as_const(by)?;
        let (low, high) = a.range;
        let by = match op {
            BinOp::SDiv | BinOp::SRem => value::signed(width, bits),
            BinOp::LShr if bits >= u128::from(width) => return None,
            _ => bits as i128,
        };
        if op == BinOp::LShr {
            return Some(Typed {
                text: format!("{} >> {by}", a.within(binds::UNARY)),
                binds: binds::BITS,
                range: (low >> by, high >> by),
                ..a
            });
        }
        if by <= 0 {
            return None;
        }
        let (symbol, range) = match op {
            BinOp::UDiv | BinOp::SDiv => ("/", (low / by, high / by)),
            _ => {
                let least = if low < 0 { 1 - by } else { 0 };
                ("%", (least, if high > 0 { by - 1 } else { 0 }))
            }
        };
        let divisor = Typed::literal(by)?;
        let (a, divisor, ty) = together(&a, &divisor, range)?;
        Some(Typed {
            text: format!(
                "{} {symbol} {}",
                a.within(binds::PRODUCT),
                divisor.within(binds::UNARY)
            ),
            binds: binds::PRODUCT,
            ty,
            range,
        })
    }

    /// A range of the bits of a value.
    fn bits(&self, of: Term, low: u16, width: Width, depth: u32) -> Option<Typed> {
        let whole = self.value(of, false, depth)?;
        let shifted = match low {
            0 => whole,
            _ => Typed {
                text: format!("{} >> {low}", whole.within(binds::UNARY)),
                binds: binds::BITS,
                range: (whole.range.0 >> low, whole.range.1 >> low),
                ..whole
            },
        };
        cut(shifted, width)
    }
}

fn truth(text: String, binds: u8) -> Typed {
    Typed {
        text,
        binds,
        ty: Type::Int,
        range: (0, 1),
    }
}

fn symbol(op: BinOp) -> Option<(&'static str, u8)> {
    Some(match op {
        BinOp::Add => ("+", binds::SUM),
        BinOp::Sub => ("-", binds::SUM),
        BinOp::Mul | BinOp::Shl => ("*", binds::PRODUCT),
        _ => return None,
    })
}

/// The operator on mathematical numbers; `None` if no type of C holds the result.
fn exact(op: BinOp, a: &Typed, b: &Typed) -> Option<Typed> {
    let ((p, q), (r, s)) = (a.range, b.range);
    let (mut op, mut b) = (op, b.clone());
    let range = match op {
        BinOp::Add => (p + r, q + s),
        BinOp::Sub => (p - s, q - r),
        _ => {
            let corners = [p, q]
                .into_iter()
                .flat_map(|x| [x.checked_mul(r), x.checked_mul(s)]);
            let corners: Option<Vec<i128>> = corners.collect();
            let corners = corners?;
            (*corners.iter().min()?, *corners.iter().max()?)
        }
    };
    if let Some(c) = b.constant().filter(|&c| op == BinOp::Add && c < 0) {
        op = BinOp::Sub;
        b = Typed::literal(-c)?;
    }
    let (a, b, ty) = together(a, &b, range)?;
    let (symbol, own) = symbol(op)?;
    Some(Typed {
        text: format!("{} {symbol} {}", a.within(own), b.within(own + 1)),
        binds: own,
        ty,
        range,
    })
}

fn bitwise(op: BinOp, a: &Typed, b: &Typed) -> Option<Typed> {
    let symbol = match op {
        BinOp::And => "&",
        BinOp::Or => "|",
        BinOp::Xor => "^",
        _ => return None,
    };
    let most = match op {
        BinOp::And => a.range.1.min(b.range.1),
        _ => {
            let bits = 128 - a.range.1.max(b.range.1).leading_zeros();
            (1_i128 << bits) - 1
        }
    };
    let range = (0, most);
    let (a, b, ty) = together(a, b, range)?;
    Some(Typed {
        text: format!(
            "{} {symbol} {}",
            a.within(binds::UNARY),
            b.within(binds::UNARY)
        ),
        binds: binds::BITS,
        ty,
        range,
    })
}

/// The lowest bits of a non-negative number.
fn cut(e: Typed, width: Width) -> Option<Typed> {
    let all = range_of(width, false);
    if within(e.range, all) {
        return Some(e);
    }
    match type_of(width, false) {
        Some((name, ty)) => Some(e.cast(name, ty, all)),
        None => bitwise(BinOp::And, &e, &Typed::literal(all.1)?),
    }
}

/// The same bits, interpreted as signed or unsigned.
fn convert(e: Typed, (from, to): (bool, bool), width: Width) -> Option<Typed> {
    let all = range_of(width, to);
    if from == to || within(e.range, all) {
        return Some(e);
    }
    match type_of(width, to) {
        Some((name, ty)) => Some(e.cast(name, ty, all)),
        // A negative number as unsigned, at a width that no type has.
        None if !to => {
            let modulo = e.cast("unsigned long", Type::UnsignedLong, range_of(64, false));
            cut(modulo, width)
        }
        None => None,
    }
}
