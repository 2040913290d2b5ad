//! Makes the values that the harness passes to the library visible in the shadow.
//!
//! A harness passes NULL, a structure of zeros, a size of its own choice, and three calls later
//! something faults. Concrete values have no history. So when control enters the library from the
//! harness, the values that the harness chose become free variables: constants among the arguments,
//! members of its objects that contain zeros, numbers from the tape. Their concrete values stay the
//! same, and the run takes the same path; but the terms of the fault and of each condition on the
//! path to it now show on which choices they depend. Contents of buffers remain bytes of the tape.

mod chosen;

use rustc_hash::FxHashSet;

use self::chosen::Passed;
pub use self::chosen::{Chosen, ChosenPlace, Harness, Noted, Owned};
use super::memory::ObjectOrigin;
use super::step::Run;
use crate::program::ir::{
    CallSite, FuncId, FunctionKind, GLOBAL_OBJECTS, Loc, Op, Operand, Reg, Shape, ShapeId, place_of,
};
use crate::term::{Pool, Symbol, Term};

/// The largest number of members of one object that become variables.
const MEMBERS: usize = 1024;
/// The largest number of parts of a structure that may be an element of an array.
const ELEMENT: usize = 4;

/// What was noted so far, and the state that noting needs.
#[derive(Debug)]
pub(super) struct Crossing<'h> {
    pub(super) harness: &'h Harness,
    pub(super) noted: Noted,
    seen: FxHashSet<u64>,
    /// The indices of chosen arguments that are the sizes of objects passed in the same call.
    sizes_of_passed: FxHashSet<usize>,
}

impl<'h> Crossing<'h> {
    pub(super) fn new(harness: &'h Harness) -> Crossing<'h> {
        Crossing {
            harness,
            noted: Noted::default(),
            seen: FxHashSet::default(),
            sizes_of_passed: FxHashSet::default(),
        }
    }
}

/// A scalar part of a variable.
struct Leaf {
    at: usize,
    len: usize,
    selector: String,
}

impl<const TRACK: bool> Run<'_, TRACK> {
    /// Whether a function belongs to the library.
    fn is_librarys(&self, id: FuncId) -> bool {
        let crossing = self.crossing.as_ref();
        self.program.function(id).kind == FunctionKind::User
            && crossing.is_some_and(|crossing| !crossing.harness.functions.contains(&id))
    }

    fn is_within_library(&self) -> bool {
        self.frames.iter().any(|f| self.is_librarys(f.function))
    }

    /// Notes a heap object that the harness makes, and the term of any object's size.
    #[cold]
    pub(super) fn note_made(&mut self, address: u64, size: u64, size_term: Option<Term>) {
        let object = (address >> 32) as u32;
        if address == 0 {
            return;
        }
        let within = self.is_within_library();
        let outer = |id: FuncId| self.program.function(id).kind == FunctionKind::User;
        let innermost = self.frames.iter().rposition(|f| outer(f.function));
        let made_by = innermost
            .and_then(|i| self.frames.get(i + 1))
            .and_then(|f| Some((f.site?, f.function)));
        let Some(crossing) = &mut self.crossing else {
            return;
        };
        if let Some(term) = size_term {
            crossing.noted.sizes.insert(object, term);
        }
        if !within {
            crossing.noted.owned.push(Owned {
                object,
                size,
                size_term,
                variable: None,
                made_by,
                size_is_told: false,
                passed: None,
                first_input: None,
            });
        }
    }

    /// Notes the terms and the access of a fault, and the object that it is about.
    #[cold]
    pub(super) fn note_fault(&mut self, operands: &[Operand], access: Option<(u64, u64)>) {
        let terms: Vec<Term> = operands
            .iter()
            .filter_map(|operand| self.shade(*operand).term)
            .collect();
        let meant = match (terms.first(), self.pool.as_deref()) {
            (Some(term), Some(pool)) if pool.width(*term) == 64 => {
                Some(pool.eval(*term, &|_| 0) as u64)
            }
            _ => access.map(|(address, _)| address),
        };
        let target = meant.and_then(|at| Some(((at >> 32) as u32, self.memory.about(at)?.0)));
        if let Some(crossing) = &mut self.crossing {
            crossing.noted.target = target;
            crossing.noted.culprits = terms;
            crossing.noted.access = access;
        }
    }

    /// Notes the condition that holds here and is the fault, if the operation works on numbers
    /// alone.
    #[cold]
    pub(super) fn note_condition(&mut self, condition: Option<Term>) {
        if let Some(crossing) = &mut self.crossing {
            crossing.noted.condition = condition;
        }
    }

    /// Control was just passed to `callee` by a call at `site`. If it entered the library from the
    /// harness, turns the values that the harness chose into variables.
    #[cold]
    pub(super) fn note_entry(&mut self, site: CallSite, caller: FuncId, callee: FuncId) {
        let outer = match &self.crossing {
            Some(crossing) => crossing.harness.functions.contains(&caller),
            None => return,
        };
        let outside = self.frames.len() - 1;
        let inner = self.frames[..outside].iter();
        let within = inner.clone().any(|f| self.is_librarys(f.function));
        if !outer || within || !self.is_librarys(callee) {
            return;
        }
        let path = self.path.len();
        if let Some(crossing) = &mut self.crossing {
            crossing.noted.entered.get_or_insert(path);
        }
        self.note_variables(site, callee);
        let before = self.crossing.as_ref().map_or(0, |c| c.noted.chosen.len());
        let values = self.note_arguments(site, callee);
        self.mark_told_sizes(&values, before);
    }

    /// Turns arguments into variables: constants that are no addresses, and numbers from the tape.
    /// Returns each value with its term before that.
    fn note_arguments(&mut self, site: CallSite, callee: FuncId) -> Vec<(u128, Option<Term>)> {
        let params = self.program.function(callee).params.clone();
        let mut values = Vec::new();
        for (number, width) in params.into_iter().enumerate() {
            let operand = Operand::Reg(Reg(number as u32));
            let (value, shade) = (self.get(operand, width), self.shade(operand));
            values.push((value, shade.term));
            if shade.undefined || shade.term.is_none() && self.is_address(value) {
                self.note_passed(value as u64, (site, callee, number));
                continue;
            }
            if shade.term.is_some_and(|term| self.is_data(term)) {
                continue;
            }
            let what = ChosenPlace::Argument {
                site,
                callee,
                number,
            };
            let Some(term) = self.choose_variable(what, value, width, shade.term) else {
                continue;
            };
            let mut new = shade;
            new.term = Some(term);
            self.set_shaded(Reg(number as u32), value, new);
        }
        values
    }

    fn note_passed(&mut self, address: u64, by: (CallSite, FuncId, usize)) {
        let pool = self.pool.as_deref_mut();
        let memory = &self.memory;
        let first_input = pool.and_then(|pool| {
            let (object, _) = memory.readable(address, 1).ok()?;
            let term = object.load_term(pool, 0, 1)?;
            pool.inputs(term).iter().next().copied()
        });
        let Some(crossing) = self.crossing.as_mut().filter(|_| address as u32 == 0) else {
            return;
        };
        let object = (address >> 32) as u32;
        let is_known = crossing
            .noted
            .owned
            .iter()
            .any(|owned| owned.object == object);
        let number = place_of(object).checked_sub(GLOBAL_OBJECTS);
        let own = number.filter(|number| !is_known && crossing.harness.variables.contains(number));
        if let Some(global) = own.and_then(|own| self.program.globals.get(own as usize)) {
            let size = global.init.len() as u64;
            crossing.noted.owned.push(Owned {
                object,
                size,
                size_term: None,
                variable: Some(global.source_name.clone()),
                made_by: None,
                passed: None,
                first_input: None,
                size_is_told: is_told_by_type(&self.program.shapes, global.shape, size),
            });
        }
        let mut all = crossing.noted.owned.iter_mut();
        if let Some(owned) = all.find(|owned| u64::from(owned.object) == address >> 32)
            && owned.passed.is_none()
        {
            owned.passed = Some(by);
            owned.first_input = first_input;
        }
    }

    /// A fresh variable for a chosen value.
    fn choose_variable(
        &mut self,
        what: ChosenPlace,
        value: u128,
        width: u16,
        before: Option<Term>,
    ) -> Option<Term> {
        let number = self.crossing.as_ref()?.noted.chosen.len();
        let pool = self.pool.as_deref_mut()?;
        let term = pool.variable(&format!("chosen {number}"), width);
        let crossing = self.crossing.as_mut()?;
        crossing.noted.chosen.push(Chosen {
            term,
            what,
            value,
            before,
        });
        Some(term)
    }

    fn is_address(&self, value: u128) -> bool {
        let Ok(address) = u64::try_from(value) else {
            return false;
        };
        address >> 32 != 0
            && (self.memory.about(address).is_some() || self.program.function_at(address).is_some())
    }

    /// Whether a term depends on bytes of the tape that are data.
    fn is_data(&self, term: Term) -> bool {
        let (Some(pool), Some(crossing)) = (self.pool.as_deref(), &self.crossing) else {
            return false;
        };
        depends_on_data(pool, term, &self.choices, crossing.harness)
    }

    /// Notes the harness's variables that were not seen before, and turns their members into
    /// variables.
    fn note_variables(&mut self, site: CallSite, callee: FuncId) {
        let addresses = self.objects.clone();
        for address in addresses {
            let is_new = self
                .crossing
                .as_mut()
                .is_some_and(|crossing| crossing.seen.insert(address));
            let Some((size, ObjectOrigin::Stack { at })) = self.memory.about(address) else {
                continue;
            };
            if !is_new {
                continue;
            }
            let block = self.program.blocks.get(at.block.index());
            let inst = block.and_then(|block| block.ops.get(at.inst as usize));
            let Some(Op::Alloca { name, shape, .. }) = inst.map(|inst| &inst.op) else {
                continue;
            };
            let (name, shape) = (name.clone(), *shape);
            if let Some(crossing) = &mut self.crossing {
                crossing.noted.owned.push(Owned {
                    object: (address >> 32) as u32,
                    size,
                    size_term: None,
                    variable: Some(name.clone()),
                    made_by: None,
                    passed: None,
                    first_input: None,
                    size_is_told: is_told_by_type(&self.program.shapes, shape, size),
                });
            }
            if name.is_empty() {
                continue;
            }
            let mut leaves = Vec::new();
            collect(
                &self.program.shapes,
                shape,
                (0, size * 8),
                String::new(),
                &mut leaves,
            );
            for leaf in leaves {
                self.note_member(address, (&name, at), leaf, (site, callee));
            }
        }
    }

    fn note_member(
        &mut self,
        address: u64,
        (name, at): (&str, Loc),
        leaf: Leaf,
        (site, callee): (CallSite, FuncId),
    ) {
        let pool = self.pool.as_deref_mut();
        let Ok((object, _)) = self.memory.readable(address, 0) else {
            return;
        };
        if object.undefined.any(leaf.at, leaf.len) {
            return;
        }
        let value = object.read(leaf.at, leaf.len);
        let before = pool.and_then(|pool| object.load_term(pool, leaf.at, leaf.len));
        if before.is_none() && value != 0 || before.is_some_and(|term| self.is_data(term)) {
            return;
        }
        let what = ChosenPlace::Member {
            variable: name.to_owned(),
            at,
            selector: leaf.selector,
            site,
            callee,
        };
        let width = leaf.len as u16 * 8;
        if let Some(term) = self.choose_variable(what, value, width, before)
            && let Some(object) = self.memory.unchecked(address)
        {
            object.store_term(leaf.at, leaf.len, term);
        }
    }

    /// Marks the harness's objects whose size the library is told, by an argument or by a member. A
    /// number that is the size of an object passed in the same call only tells the size of that
    /// object: an input of four bytes says nothing about an output of four bytes that comes later.
    /// `first` is the index of the first choice that comes from this call's arguments.
    fn mark_told_sizes(&mut self, values: &[(u128, Option<Term>)], first: usize) {
        let (Some(pool), Some(crossing)) = (self.pool.as_deref(), &mut self.crossing) else {
            return;
        };
        let Crossing {
            noted,
            sizes_of_passed,
            ..
        } = crossing;
        let passed = Passed::among(values, &noted.owned);
        let of_passed = |value: u128| passed.sizes().any(|size| size > 0 && is_size(value, size));
        let own = noted.chosen.iter().enumerate().skip(first);
        let own = own.filter(|(_, chosen)| chosen.before.is_none() && of_passed(chosen.value));
        sizes_of_passed.extend(own.map(|(i, _)| i));
        let far: Vec<(u128, Option<Term>)> = values
            .iter()
            .filter(|(value, term)| term.is_some() || !of_passed(*value))
            .copied()
            .chain(noted.chosen.iter().enumerate().filter_map(|(i, chosen)| {
                (!sizes_of_passed.contains(&i)).then_some((chosen.value, chosen.before))
            }))
            .collect();
        for owned in &mut noted.owned {
            let common = |term: Option<Term>| match (term, owned.size_term) {
                (Some(a), Some(b)) => pool.inputs(a).iter().any(|i| pool.inputs(b).contains(i)),
                _ => false,
            };
            let tells = |(value, term): &(u128, Option<Term>)| {
                common(*term) || term.is_none() && is_size(*value, owned.size)
            };
            owned.size_is_told |= far.iter().any(tells);
            let mut near = values.iter().enumerate().filter_map(|(at, value)| {
                let is_chance =
                    value.1.is_none() && passed.is_of_another(at, value.0, owned.object);
                (!is_chance).then_some(value)
            });
            owned.size_is_told |= passed.has(owned.object) && near.any(tells);
        }
    }
}

/// Whether a number is the size of an object, in bytes or in elements.
fn is_size(value: u128, size: u64) -> bool {
    let mut elements = [1, 2, 4, 8].iter();
    elements.any(|each| value.checked_mul(*each) == Some(u128::from(size)))
}

/// Whether a term depends on bytes of the tape that are data.
pub fn depends_on_data(
    pool: &Pool,
    term: Term,
    choices: &[super::Choice],
    harness: &Harness,
) -> bool {
    pool.symbols(term).any(|symbol| match symbol {
        Symbol::Input(input) => {
            let at = choices.partition_point(|choice| choice.at <= input as usize);
            choices[..at]
                .iter()
                .rev()
                .find(|choice| choice.len > 0)
                .is_some_and(|choice| harness.data.contains(&choice.channel))
        }
        Symbol::Variable(_) => false,
        Symbol::Array(_) => true,
    })
}

/// Whether an object's type tells its size. A structure's type does, but a point or a sample is
/// just as often one element of an array.
fn is_told_by_type(shapes: &[Shape], shape: Option<ShapeId>, size: u64) -> bool {
    is_structure(shapes, shape) && !is_element(shapes, shape, size)
}

fn is_structure(shapes: &[Shape], shape: Option<ShapeId>) -> bool {
    let shape = shape.and_then(|id| shapes.get(id.0 as usize));
    shape.is_some_and(|shape| !shape.members.is_empty())
}

/// Whether a structure is like a point, a sample or a pair: it has few parts, all of one size.
fn is_element(shapes: &[Shape], shape: Option<ShapeId>, size: u64) -> bool {
    let mut parts = Vec::new();
    collect(shapes, shape, (0, size * 8), String::new(), &mut parts);
    let first = parts.first().map_or(0, |leaf| leaf.len);
    parts.len() <= ELEMENT
        && parts.iter().all(|leaf| leaf.len == first)
        && (parts.len() * first) as u64 == size
}

/// Collects the scalar parts of an object.
fn collect(
    shapes: &[Shape],
    shape: Option<ShapeId>,
    (at, bits): (u64, u64),
    selector: String,
    into: &mut Vec<Leaf>,
) {
    if into.len() >= MEMBERS {
        return;
    }
    let Some(shape) = shape.and_then(|id| shapes.get(id.0 as usize)) else {
        if at % 8 == 0 && matches!(bits, 8 | 16 | 32 | 64) {
            into.push(Leaf {
                at: (at / 8) as usize,
                len: (bits / 8) as usize,
                selector,
            });
        }
        return;
    };
    if let Some((each, element)) = shape.element {
        let count = bits.checked_div(each).unwrap_or(0);
        for i in 0..count.min(MEMBERS as u64) {
            let selector = format!("{selector}[{i}]");
            collect(shapes, element, (at + i * each, each), selector, into);
        }
        return;
    }
    let mut end = 0;
    for member in &shape.members {
        // Of overlapping members only the first counts: the other members of a union are the same
        // bytes.
        if member.at < end {
            continue;
        }
        end = member.at + member.bits;
        let selector = match member.name.as_str() {
            "" => selector.clone(),
            name => format!("{selector}.{name}"),
        };
        collect(
            shapes,
            member.shape,
            (at + member.at, member.bits),
            selector,
            into,
        );
    }
}
