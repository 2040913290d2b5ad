//! C expressions of known type and range.
//!
//! Formulas operate on bits, and C's operators on numbers, in a type that depends on both operands.
//! Therefore, each expression has the type that C gives it and the range of its value, and an
//! operator is used only if the type in which C computes it holds all possible values. Casts are
//! inserted only where that would be another type.

/// The types in which C computes, on LP64; narrower types are promoted to `int`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Type {
    Int,
    Unsigned,
    Long,
    UnsignedLong,
}

pub(super) const TYPES: [Type; 4] = [Type::Int, Type::Unsigned, Type::Long, Type::UnsignedLong];

impl Type {
    pub(super) fn name(self) -> &'static str {
        match self {
            Type::Int => "int",
            Type::Unsigned => "unsigned int",
            Type::Long => "long",
            Type::UnsignedLong => "unsigned long",
        }
    }

    fn range(self) -> (i128, i128) {
        match self {
            Type::Int => (i128::from(i32::MIN), i128::from(i32::MAX)),
            Type::Unsigned => (0, i128::from(u32::MAX)),
            Type::Long => (i128::from(i64::MIN), i128::from(i64::MAX)),
            Type::UnsignedLong => (0, i128::from(u64::MAX)),
        }
    }

    pub(super) fn holds(self, (low, high): (i128, i128)) -> bool {
        let (least, most) = self.range();
        least <= low && high <= most
    }

    /// The unsigned type that computes modulo at least 2^bits.
    pub(super) fn modular(bits: u16) -> Type {
        match bits <= 32 {
            true => Type::Unsigned,
            false => Type::UnsignedLong,
        }
    }
}

/// How tightly an operator binds.
pub(super) mod binds {
    pub(in super::super) const CONDITIONAL: u8 = 1;
    pub(in super::super) const OR: u8 = 2;
    pub(in super::super) const AND: u8 = 3;
    /// Bitwise operators and shifts: their operands get parentheses, since few people know their
    /// precedence.
    pub(in super::super) const BITS: u8 = 4;
    pub(in super::super) const EQUAL: u8 = 5;
    pub(in super::super) const LESS: u8 = 6;
    pub(in super::super) const SUM: u8 = 7;
    pub(in super::super) const PRODUCT: u8 = 8;
    pub(in super::super) const UNARY: u8 = 9;
    pub(in super::super) const ALONE: u8 = 10;
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Typed {
    pub(super) text: String,
    pub(super) binds: u8,
    pub(super) ty: Type,
    /// The least and the greatest value.
    pub(super) range: (i128, i128),
}

impl Typed {
    pub(super) fn literal(value: i128) -> Option<Typed> {
        let range = (value, value);
        let ty = [Type::Int, Type::Long, Type::UnsignedLong];
        let ty = ty.into_iter().find(|ty| ty.holds(range))?;
        Some(Typed::literal_of(value, ty))
    }

    fn literal_of(value: i128, ty: Type) -> Typed {
        let suffix = match ty {
            Type::Int => "",
            Type::Unsigned => "U",
            Type::Long => "L",
            Type::UnsignedLong => "UL",
        };
        // C has no negative constants, and the negation of the least number has no type.
        let (text, binds) = match value {
            _ if value == ty.range().0 && value < 0 => {
                (format!("(-{}{suffix} - 1)", -(value + 1)), binds::ALONE)
            }
            _ if value < 0 => (format!("{value}{suffix}"), binds::UNARY),
            _ => (format!("{value}{suffix}"), binds::ALONE),
        };
        Typed {
            text,
            binds,
            ty,
            range: (value, value),
        }
    }

    /// The value, if it is constant.
    pub(super) fn constant(&self) -> Option<i128> {
        (self.range.0 == self.range.1).then_some(self.range.0)
    }

    /// The text, in parentheses if it binds less tightly than `least`.
    pub(super) fn within(&self, least: u8) -> String {
        match self.binds < least {
            true => format!("({})", self.text),
            false => self.text.clone(),
        }
    }

    /// The same value in this type, which must hold it.
    pub(super) fn of_type(&self, ty: Type) -> Typed {
        if self.ty == ty {
            return self.clone();
        }
        if let Some(value) = self.constant() {
            return Typed::literal_of(value, ty);
        }
        self.cast(ty.name(), ty, self.range)
    }

    /// The expression converted to a type as in C; `range` is the range of the result.
    pub(super) fn cast(&self, name: &str, ty: Type, range: (i128, i128)) -> Typed {
        Typed {
            text: format!("({name}){}", self.within(binds::UNARY)),
            binds: binds::UNARY,
            ty,
            range,
        }
    }
}

/// Converts two operands such that C computes in a type that holds both and `result`, with as few
/// casts as possible.
pub(super) fn together(a: &Typed, b: &Typed, result: (i128, i128)) -> Option<(Typed, Typed, Type)> {
    let fitting = TYPES
        .into_iter()
        .filter(|ty| ty.holds(a.range) && ty.holds(b.range) && ty.holds(result));
    let cost = |from: &Typed, to: Type| {
        u32::from(from.ty != to) * if from.constant().is_some() { 1 } else { 2 }
    };
    let tried = fitting.map(|ty| match a.ty.max(b.ty) == ty {
        true => (0, a.clone(), b.clone(), ty),
        false => {
            let casts = 1 + cost(a, ty) + cost(b, ty);
            (casts, a.of_type(ty), b.of_type(ty), ty)
        }
    });
    let (_, a, b, ty) = tried.min_by_key(|(casts, ..)| *casts)?;
    Some((a, b, ty))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str, ty: Type) -> Typed {
        Typed {
            text: name.to_owned(),
            binds: binds::ALONE,
            ty,
            range: ty.range(),
        }
    }

    #[test]
    fn operands_meet_in_a_type_that_holds_both() {
        let (i, u) = (variable("i", Type::Int), variable("u", Type::Unsigned));
        let met = |a: &Typed, b: &Typed| together(a, b, (0, 0)).map(|(a, b, _)| (a.text, b.text));
        let both = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        assert_eq!(met(&i, &u), both("(long)i", "(long)u"));
        let ten = Typed::literal(10).expect("C has a type for it");
        assert_eq!(met(&i, &ten), both("i", "10"));
        assert_eq!(met(&u, &ten), both("u", "10"));
        let less = Typed::literal(-1).expect("C has a type for it");
        assert_eq!(met(&u, &less), both("(long)u", "-1L"));
        let n = variable("n", Type::UnsignedLong);
        assert_eq!(met(&i, &n), None);
    }

    #[test]
    fn least_numbers_have_a_type() {
        let least = Typed::literal(i128::from(i32::MIN)).expect("C has a type for it");
        assert_eq!(least.text, "(-2147483647 - 1)");
        let least = Typed::literal(i128::from(i64::MIN)).expect("C has a type for it");
        assert_eq!(least.text, "(-9223372036854775807L - 1)");
    }
}
