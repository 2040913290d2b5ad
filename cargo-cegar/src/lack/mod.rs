//! Describes in C terms what is missing for the proof of an open check.
//!
//! The floor records sets of numbers and objects ([`cegar_model::domain::check_notes`]). Users need
//! to know which variable may be too large, and what to state in the harness. A value without a
//! name in the debug information is described by its role. The description contains only what the
//! floor recorded, which may be little.

mod origin;

use cegar_model::domain::check_notes::{
    Access, Asked, Compare, OpenCheckNote, Place, Pointer, Thing,
};
use cegar_model::domain::num::Num;
use cegar_model::domain::space::Alive;
use cegar_model::program::ir::{FuncId, Op, Operand, Pred, Reg, Width};
use cegar_model::program::{Program, plain};

use crate::verdict::{Lack, Range};

/// The information that is missing for a check, whose C expression is `expression`.
pub fn lack(program: &Program, note: &OpenCheckNote, expression: &str) -> Lack {
    let mut teller = Teller {
        program,
        function: note.function,
        place: program.show(note.pos),
        expression,
        lack: Lack::default(),
    };
    match &note.asked {
        Asked::Access(access) => teller.access(access),
        Asked::Release(pointer) => teller.release(pointer),
        Asked::Compare(compare) => teller.compare(compare),
    }
    teller.lack
}

struct Teller<'a> {
    program: &'a Program,
    function: FuncId,
    /// The place of the check.
    place: String,
    expression: &'a str,
    lack: Lack,
}

/// The bounds of a set of numbers: signed if these are narrower than the width permits, otherwise
/// unsigned. `None` if the set contains all numbers of the width.
fn ends(num: &Num, width: Width) -> Option<(i128, i128)> {
    let all = Num::all(width);
    let signed = (i128::from(num.least), i128::from(num.most));
    if num.least > all.least || num.most < all.most {
        return Some(signed);
    }
    let is_less = num.low > all.low || num.high < all.high;
    is_less.then_some((num.low.into(), num.high.into()))
}

fn words((least, most): (i128, i128)) -> String {
    match least == most {
        true => least.to_string(),
        false => format!("{least}..{most}"),
    }
}

/// The range of the indices that fit.
struct Bounded {
    least: i128,
    most: i128,
}

impl Teller<'_> {
    /// The name of an operand in C, or the given description if it has none.
    fn name(&self, operand: Operand, otherwise: &str) -> String {
        named(self.program, self.function, operand).unwrap_or_else(|| otherwise.to_owned())
    }

    fn knows(&mut self, words: String) {
        if !self.lack.knows.contains(&words) {
            self.lack.knows.push(words);
        }
    }

    fn needs(&mut self, condition: &str, doing: &str) {
        let it = match self.expression {
            "" => "it".to_owned(),
            expression => format!("`{expression}`"),
        };
        let words = format!("{condition} where {} {doing} {it}", self.place);
        if !self.lack.needs.contains(&words) {
            self.lack.needs.push(words);
        }
    }

    fn helps(&mut self, words: Option<String>) {
        self.lack
            .helps
            .extend(words.filter(|words| !self.lack.helps.contains(words)));
    }

    /// Records the range of a value.
    fn range(&mut self, name: &str, num: Option<&Num>, width: Width) {
        let known = num.and_then(|num| ends(num, width));
        self.knows(match known {
            Some(known) => format!("{name}: {}", words(known)),
            None => format!("{name}: any number of {width} bits"),
        });
        let small = |end: i128| i64::try_from(end).ok();
        self.lack.ranges.push(Range {
            of: name.trim_matches('`').to_owned(),
            least: known.and_then(|known| small(known.0)),
            most: known.and_then(|known| small(known.1)),
        });
    }

    fn thing(&self, thing: Thing) -> String {
        match thing {
            Thing::Global(global) => match self.program.globals.get(global.index()) {
                Some(global) => global.described(),
                None => "a global".to_owned(),
            },
            Thing::Function(function) => {
                let name = &self.program.function(function).name;
                format!("the function `{}`", plain(name))
            }
            Thing::Made(block, op) => {
                let inst = self.program.block(block).ops.get(op as usize);
                match inst.map(|inst| (&inst.op, self.program.show(inst.pos))) {
                    Some((Op::Alloca { name, .. }, _)) if !name.is_empty() => format!("`{name}`"),
                    Some((Op::Call(_), place)) => format!("the block from {place}"),
                    _ => "an object without a name".to_owned(),
                }
            }
            Thing::Gone => "an object that is gone".to_owned(),
        }
    }

    /// Describes the numbers that a pointer may be instead of the address of an object.
    fn number(&mut self, pointer: &Pointer, name: &str, doing: &str) {
        let Some(number) = &pointer.number else {
            return;
        };
        let origin = origin::of(self.program, self.function, pointer.operand);
        if number.as_constant() == Some(0) || (number.has(64, 0) && ends(number, 64).is_some()) {
            self.knows(format!("{name} may be NULL"));
            self.needs(&format!("{name} that is not NULL"), doing);
            let help = origin.and_then(|origin| origin.help(&["!= NULL".to_owned()]));
            self.helps(help);
        } else {
            self.knows(format!(
                "{name} may be any number, and where it points is not followed"
            ));
            self.needs(&format!("{name} that points into a known object"), doing);
        }
    }

    fn access(&mut self, access: &Access) {
        let doing = if access.write { "writes" } else { "reads" };
        let base = self.name(access.base.operand, "the pointer");
        self.number(&access.base, &base, doing);
        if access.wrapped {
            self.knows("an index may be so large that the address wraps around".to_owned());
        }
        let varies = |num: &Num| num.as_constant().is_none();
        let outside = access
            .places
            .values()
            .any(|place| !place.sure && place.size.is_some());
        if outside || access.wrapped {
            for (index, width, _, num) in access.indices.iter().filter(|index| varies(&index.3)) {
                let name = self.name(*index, "the index");
                self.range(&name, Some(num), *width);
            }
            if varies(&access.len) {
                let name = self.name(access.extent, "the length");
                self.range(&name, Some(&access.len), 64);
            }
        }
        let bad = access.places.iter().filter(|(_, place)| !place.sure);
        for (thing, place) in bad {
            self.place(access, (*thing, place), (&base, doing));
        }
        if access.base.more {
            self.knows(format!("{base} may point into further objects"));
        }
    }

    /// Describes why an access to one object may fail.
    fn place(
        &mut self,
        access: &Access,
        (thing, place): (Thing, &Place),
        (base, doing): (&str, &str),
    ) {
        let object = self.thing(thing);
        let Some(size) = &place.size else {
            self.knows(format!("{base} may point to {object}"));
            self.needs(&format!("{base} that does not point to {object}"), doing);
            return;
        };
        self.alive(place, &object, doing);
        if access.write && !place.writable {
            self.knows(format!("{object} is constant"));
            self.needs(&format!("{base} that does not point to {object}"), doing);
        }
        let end = i128::from(place.offset.most) + i128::from(access.len.high);
        if place.offset.least >= 0 && end <= i128::from(size.low) {
            return;
        }
        let offsets = ends(&place.offset, 64).map_or("any offset".to_owned(), |ends| {
            format!("offset {}", words(ends))
        });
        let sizes = words((size.low.into(), size.high.into()));
        self.knows(format!(
            "{base} leads to {offsets} in {object}, which has {sizes} bytes"
        ));
        if self.index(access, (thing, size), doing) {
            return;
        }
        let fixed = place
            .offset
            .as_constant()
            .map(|at| i128::from(size.low) - i128::from(at));
        match fixed.filter(|room| *room >= 0 && access.len.as_constant().is_none()) {
            Some(room) => {
                let length = self.name(access.extent, "the length");
                let bare = length.trim_matches('`').to_owned();
                let condition = match length.starts_with('`') {
                    true => format!("`{bare} <= {room}`"),
                    false => format!("{length} at most {room}"),
                };
                self.needs(&condition, doing);
                let origin = origin::of(self.program, self.function, access.extent);
                self.helps(origin.and_then(|origin| origin.help(&[format!("<= {room}")])));
            }
            None => {
                let bytes = words((access.len.low.into(), access.len.high.into()));
                let condition = format!("an address in {object} with {bytes} bytes before its end");
                self.needs(&condition, doing);
            }
        }
    }

    fn alive(&mut self, place: &Place, object: &str, doing: &str) {
        let how = match (place.heap, place.alive) {
            (_, Alive::Yes) => return,
            (true, Alive::No) => "was released",
            (true, Alive::Maybe) => "may have been released",
            (false, Alive::No) => "does not exist any more",
            (false, Alive::Maybe) => "may not exist any more",
        };
        self.knows(format!("{object} {how}"));
        self.needs(&format!("that {object} still exists"), doing);
    }

    /// States the bounds of an index if it alone determines whether the access fits. Returns
    /// whether it does.
    fn index(&mut self, access: &Access, (thing, size): (Thing, &Num), doing: &str) -> bool {
        let mut varying = access
            .indices
            .iter()
            .filter(|index| index.3.as_constant().is_none());
        let (Some(&(operand, width, scale, num)), None) = (varying.next(), varying.next()) else {
            return false;
        };
        let start = access
            .base
            .objects
            .get(&thing)
            .and_then(|place| place.offset.as_constant());
        let (Some(start), Some(len)) = (start, access.len.as_constant()) else {
            return false;
        };
        let fixed = access
            .indices
            .iter()
            .filter(|index| index.3.as_constant().is_some());
        let fixed: i128 = fixed
            .map(|(_, _, scale, num)| i128::from(*scale) * i128::from(num.least))
            .sum();
        let first = i128::from(start as i64) + i128::from(access.offset) + fixed;
        let Some(need) = fitting(first, (i128::from(scale), len.into()), size.low.into()) else {
            return false;
        };
        let name = self.name(operand, "the index");
        let (least, most) = (i128::from(num.least), i128::from(num.most));
        let mut parts = Vec::new();
        if least < need.least {
            parts.push(format!(">= {}", need.least));
        }
        if most > need.most {
            parts.push(format!("<= {}", need.most));
        }
        if parts.is_empty() {
            return false;
        }
        self.conditions(&name, &parts, doing);
        let origin = origin::of(self.program, self.function, operand).filter(|_| width <= 64);
        self.helps(origin.and_then(|origin| origin.help(&parts)));
        true
    }

    fn conditions(&mut self, name: &str, parts: &[String], doing: &str) {
        let bare = name.trim_matches('`');
        let all: Vec<String> = parts.iter().map(|part| format!("{bare} {part}")).collect();
        let all = all.join(" && ");
        match name.starts_with('`') {
            true => self.needs(&format!("`{all}`"), doing),
            false => self.needs(&all, doing),
        }
    }

    fn release(&mut self, pointer: &Pointer) {
        let name = self.name(pointer.operand, "the pointer");
        let doing = "releases";
        if pointer
            .number
            .as_ref()
            .is_some_and(|number| number.as_constant() != Some(0))
        {
            self.knows(format!(
                "{name} may be any number, and where it points is not followed"
            ));
            self.needs(&format!("{name} that is NULL or points to a block"), doing);
        }
        for (thing, place) in &pointer.objects {
            let object = self.thing(*thing);
            self.alive(place, &object, doing);
            if !place.heap {
                self.knows(format!(
                    "{name} may point to {object}, which is no block of the heap"
                ));
                self.needs(&format!("{name} that points to a block of the heap"), doing);
            } else if place.offset.as_constant() != Some(0) {
                let offsets = ends(&place.offset, 64).map_or("any offset".to_owned(), |ends| {
                    format!("offset {}", words(ends))
                });
                self.knows(format!("{name} leads to {offsets} in {object}"));
                self.needs(
                    &format!("{name} that points to the beginning of {object}"),
                    doing,
                );
            }
        }
        if pointer.more {
            self.knows(format!("{name} may point into further objects"));
        }
    }

    fn compare(&mut self, compare: &Compare) {
        let [(a, x), (b, y)] = &compare.sides;
        let text = |operand: Operand| match operand {
            Operand::Const(number) => constant(number, compare.width, compare.pred),
            other => named(self.program, self.function, other)
                .map_or("?".to_owned(), |name| name.trim_matches('`').to_owned()),
        };
        let (left, right) = (text(*a), text(*b));
        for (operand, num) in [(a, x), (b, y)] {
            if let Operand::Reg(_) = operand {
                let name = self.name(*operand, "what is compared");
                self.range(&name, num.as_ref(), compare.width);
            }
        }
        if left == "?" || right == "?" {
            return;
        }
        let (symbol, flipped) = symbol(compare.pred, compare.negated);
        let (left, right) = if flipped {
            (right, left)
        } else {
            (left, right)
        };
        self.needs(&format!("`{left} {symbol} {right}`"), "checks");
        let limit = match (b, flipped) {
            (Operand::Const(_), false) => Some(format!("{symbol} {right}")),
            (Operand::Const(_), true) => Some(format!("{} {left}", turned(symbol))),
            _ => None,
        };
        let origin = origin::of(self.program, self.function, *a);
        self.helps(limit.and_then(|limit| origin?.help(&[limit])));
    }
}

/// The name of an operand in quotes, or the number of a constant.
fn named(program: &Program, function: FuncId, operand: Operand) -> Option<String> {
    match operand {
        Operand::Reg(Reg(reg)) => {
            let name = program.function(function).names.get(reg as usize)?;
            (!name.is_empty()).then(|| format!("`{name}`"))
        }
        Operand::Const(number) => Some(number.to_string()),
        Operand::Wide(_) | Operand::Undef => None,
    }
}

fn constant(number: u64, width: Width, pred: Pred) -> String {
    match pred {
        Pred::Slt | Pred::Sle | Pred::Sgt | Pred::Sge => {
            cegar_model::term::value::signed(width, number.into()).to_string()
        }
        _ => number.to_string(),
    }
}

/// The operator in C, and whether the operands are swapped.
fn symbol(pred: Pred, negated: bool) -> (&'static str, bool) {
    match (pred, negated) {
        (Pred::Eq, false) | (Pred::Ne, true) => ("==", false),
        (Pred::Ne, false) | (Pred::Eq, true) => ("!=", false),
        (Pred::Ult | Pred::Slt, false) | (Pred::Uge | Pred::Sge, true) => ("<", false),
        (Pred::Ule | Pred::Sle, false) | (Pred::Ugt | Pred::Sgt, true) => ("<=", false),
        (Pred::Ugt | Pred::Sgt, false) | (Pred::Ule | Pred::Sle, true) => (">", false),
        (Pred::Uge | Pred::Sge, false) | (Pred::Ult | Pred::Slt, true) => (">=", false),
    }
}

fn turned(symbol: &str) -> &str {
    match symbol {
        "<" => ">",
        "<=" => ">=",
        ">" => "<",
        ">=" => "<=",
        other => other,
    }
}

/// The range of indices `i` with `0 <= first + scale * i` and `first + scale * i + len <= size`;
/// `None` if there are none.
fn fitting(first: i128, (scale, len): (i128, i128), size: i128) -> Option<Bounded> {
    let room = size - len - first;
    if scale == 0 {
        return None;
    }
    let (low, high) = if scale > 0 {
        (-first, room)
    } else {
        (-room, first)
    };
    let scale = scale.abs();
    let need = Bounded {
        least: low.div_euclid(scale) + i128::from(low.rem_euclid(scale) > 0),
        most: high.div_euclid(scale),
    };
    (need.least <= need.most).then_some(need)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_that_fits_is_found_on_both_sides() {
        let fits = |first, scale, len, size| {
            fitting(first, (scale, len), size).map(|need| (need.least, need.most))
        };
        assert_eq!(fits(0, 4, 4, 40), Some((0, 9)));
        assert_eq!(fits(8, 4, 4, 40), Some((-2, 7)));
        assert_eq!(fits(0, 1, 2, 1), None);
        assert_eq!(fits(36, -4, 4, 40), Some((0, 9)));
        assert_eq!(fits(0, 0, 1, 4), None);
        assert_eq!(fits(-3, 4, 1, 10), Some((1, 3)));
    }

    #[test]
    fn numbers_are_told_with_a_sign_where_that_says_more() {
        let number = |low, high| Num::between(32, low, high).unwrap_or(Num::all(32));
        assert_eq!(ends(&Num::all(32), 32), None);
        assert_eq!(ends(&number(0, 9), 32), Some((0, 9)));
        assert_eq!(words((-1, -1)), "-1");
        assert_eq!(words((0, 9)), "0..9");
    }

    #[test]
    fn a_comparison_that_must_be_false_is_told_by_its_opposite() {
        assert_eq!(symbol(Pred::Ult, true), (">=", false));
        assert_eq!(symbol(Pred::Eq, true), ("!=", false));
        assert_eq!(turned("<="), ">=");
    }
}
