//! Whether a transition ends in a state that its target's claims allow.
//!
//! The claims of a cut point are a template: terms for every register and every byte, over
//! variables that the axioms of the cut point constrain. The claims allow a state if there are
//! values for the variables with which the template is equal to the state and the axioms hold. The
//! code that finds the values ([`Update`]) need not be trusted: after substitution, each part of
//! the template has to be equal to its value in the state, and the solver is asked about that as
//! about everything else. An object that does not exist in the state has no bytes that could be
//! read, so its variables are given any values that fit.
//!
//! The certificate chose the numbers of objects, and any choice is valid. If the value of a
//! variable is an address but the claims do not say that it is one, formulas over the variable have
//! to hold for every number.

use std::collections::BTreeSet;

use cegar_model::program::ir::numbers::object_and_offset;
use cegar_model::program::ir::{BinOp, Pred};
use cegar_model::symbolic::cuts::{Base, Bytes, CutState, Part, Place, Value, apart};
use cegar_model::symbolic::encode::Transition;
use cegar_model::symbolic::encode::pointer::Root;
use cegar_model::symbolic::memory::{self, Contents, Object};
use cegar_model::symbolic::update::{PointerSplitter, Update};
use cegar_model::symbolic::world::{ObjId, World};
use cegar_model::term::{Pool, Rewriter, Term};

/// The size in bytes up to which the contents of an object are compared byte by byte.
const BYTES: u128 = 1 << 16;

/// The conditions that a transition has to fulfil.
#[derive(Debug)]
pub struct Arrival {
    /// The substitution that turns formulas over the target's variables into formulas over the
    /// start's.
    pub preimage: Rewriter,
    /// The formulas that have to hold where the transition is taken, with descriptions.
    pub wanted: Vec<(Term, String)>,
    /// Facts about the numbers of objects: different objects have different numbers.
    pub apart: Vec<Term>,
}

/// Compares the state at the end of a transition with the claims of its target. Returns an error
/// that says what cannot be compared at all.
pub fn arrival(
    pool: &mut Pool,
    world: &World<'_>,
    (from, target): (Option<&CutState>, &CutState),
    transition: &Transition,
    unknowns: &mut u32,
) -> Result<Arrival, String> {
    let found = Update::of(pool, world, (from, target), transition, unknowns);
    let mut arriving = Arriving {
        pool,
        world,
        from,
        target,
        transition,
        ghosts: BTreeSet::new(),
        hidden: found.hidden.iter().copied().collect(),
        wanted: Vec::new(),
        preimage: Rewriter::new(),
    };
    arriving.find_ghosts();
    arriving.valuate(&found, unknowns)?;
    arriving.frames()?;
    arriving.registers()?;
    arriving.objects()?;
    arriving.axioms();
    let apart = arriving.numbers();
    Ok(Arrival {
        preimage: arriving.preimage,
        wanted: arriving.wanted,
        apart,
    })
}

struct Arriving<'a, 'p> {
    pool: &'a mut Pool,
    world: &'a World<'p>,
    from: Option<&'a CutState>,
    target: &'a CutState,
    transition: &'a Transition,
    /// The objects of the target that do not exist in the state.
    ghosts: BTreeSet<ObjId>,
    /// The variables of the target whose values are addresses although this is not claimed: see
    /// [`Update::hidden`].
    hidden: BTreeSet<Term>,
    wanted: Vec<(Term, String)>,
    preimage: Rewriter,
}

impl Arriving<'_, '_> {
    /// An object of the state. A global that is absent has its initial value.
    fn object(&mut self, id: ObjId) -> Option<Object> {
        match self.transition.reached.state.objects.get(&id) {
            Some(object) => Some(Object::clone(object)),
            None => memory::initial(self.pool, self.world, id),
        }
    }

    fn find_ghosts(&mut self) {
        for &id in self.target.objects.keys() {
            if self.object(id).is_none() {
                self.ghosts.insert(id);
            }
        }
    }

    /// Gives every variable of the target a value: the value that was found, or for objects that do
    /// not exist a value that fits.
    fn valuate(&mut self, found: &Update, unknowns: &mut u32) -> Result<(), String> {
        let variables = self.target.variables(self.pool, self.world);
        let mut values: Vec<(Term, Term)> = Vec::new();
        for (place, variable) in &variables {
            let width = self.pool.width(*variable);
            let value = match place {
                Place::Number(id) if self.ghosts.contains(id) => {
                    *unknowns += 1;
                    let name = format!("?ghost.{unknowns}");
                    self.pool.variable(&name, width)
                }
                Place::Cell(id, _, Part::Whole) if self.ghosts.contains(id) => {
                    let bounds = self.target.bounds.get(variable);
                    let low = bounds.map_or(0, |bounds| bounds.low);
                    self.pool.constant(width, u128::from(low))
                }
                Place::Cell(id, ..) | Place::Size(id) | Place::Alive(id) | Place::Witness(id)
                    if self.ghosts.contains(id) =>
                {
                    self.pool.constant(width, 0)
                }
                _ => {
                    let known = found.terms.iter().find(|(of, _)| of == variable);
                    let value = known.map(|(_, value)| *value);
                    value.ok_or_else(|| format!("{place:?} has no value"))?
                }
            };
            if self.pool.width(value) != width {
                return Err(format!("{place:?} has a value of another width"));
            }
            values.push((*variable, value));
        }
        for &(variable, value) in &values {
            self.preimage.replace(variable, value);
        }
        // A pointer in an object that does not exist points to the first of its bases.
        for (place, variable) in &variables {
            if let Place::Cell(id, _, Part::Base) = place
                && self.ghosts.contains(id)
                && let Some(base) = self.target.bases.get(variable).and_then(|all| all.first())
            {
                let value = match base {
                    Base::Number(number) => self.pool.constant(32, u128::from(*number)),
                    Base::Of(id) => self.number(*id, &values, &variables)?,
                };
                self.preimage.replace(*variable, value);
            }
        }
        for (id, array) in self.target.arrays(self.pool, self.world) {
            let value = match self.ghosts.contains(&id) {
                true => Some(self.pool.array_constant(&[])),
                false => {
                    let known = found.arrays.iter().find(|(of, _)| *of == array);
                    known.map(|(_, value)| *value)
                }
            };
            let value = value.ok_or_else(|| format!("{id:?} has no contents"))?;
            self.preimage.replace_array(array, value);
        }
        Ok(())
    }

    /// The value of an object's number.
    fn number(
        &mut self,
        id: ObjId,
        values: &[(Term, Term)],
        variables: &[(Place, Term)],
    ) -> Result<Term, String> {
        if let Some(number) = self.world.object(id).number {
            return Ok(self.pool.constant(32, u128::from(number)));
        }
        let place = variables
            .iter()
            .find(|(place, _)| *place == Place::Number(id));
        let value = place.and_then(|(_, variable)| values.iter().find(|(of, _)| of == variable));
        value
            .map(|(_, value)| *value)
            .ok_or_else(|| format!("{id:?} has no number"))
    }

    fn want(&mut self, t: Term, what: impl FnOnce() -> String) {
        if self.pool.as_const(t) != Some(1) {
            self.wanted.push((t, what()));
        }
    }

    /// Requires that a part of the template, over the target's variables, is equal to its value in
    /// the state.
    fn same(
        &mut self,
        template: Term,
        actual: Term,
        what: impl Fn() -> String,
    ) -> Result<(), String> {
        if self.pool.width(template) != self.pool.width(actual) {
            return Err(format!("{} has another width", what()));
        }
        // The template is a hidden variable, which may have any value.
        if self.hidden.contains(&template) {
            return Ok(());
        }
        let template = self.preimage.apply(self.pool, template);
        let same = self.pool.eq(template, actual);
        let elsewhere = self.elsewhere(template, actual);
        let here = self.pool.not(elsewhere);
        self.want(here, || format!("the object of {}", what()));
        self.want(same, what);
        Ok(())
    }

    /// The condition under which a value was made from the address of another object than the one
    /// in the template. Then equal numbers are no evidence of equal addresses: a step of 2^32 from
    /// one object may give the number of another one.
    fn elsewhere(&mut self, template: Term, actual: Term) -> Term {
        let mut elsewhere = self.pool.bit(false);
        let Some(known) = self.pool.as_const(template) else {
            return elsewhere;
        };
        let (number, _) = object_and_offset(known as u64);
        if number == 0 || self.pool.width(actual) != 64 || self.pool.as_const(actual).is_some() {
            return elsewhere;
        }
        let reached = &self.transition.reached;
        let cases = PointerSplitter::new(self.pool, self.world, self.from, reached).split(actual);
        for case in cases {
            let other = match case.root {
                Root::Number(other) => other != 0 && other != number,
                Root::Of(_) => true,
                Root::Null | Root::Unknown => false,
            };
            if other {
                elsewhere = self.pool.or(elsewhere, case.cond);
            }
        }
        elsewhere
    }

    fn frames(&self) -> Result<(), String> {
        let chain = self.world.chain(self.transition.to.ctx);
        let frames = &self.transition.reached.state.frames;
        let fits = frames.iter().map(|frame| frame.ctx).eq(chain);
        fits.then_some(())
            .ok_or_else(|| "the calls in progress are others".to_owned())
    }

    fn registers(&mut self) -> Result<(), String> {
        let target = self.target;
        for (&(ctx, reg), claim) in &target.registers {
            let frames = &self.transition.reached.state.frames;
            let frame = frames.iter().find(|frame| frame.ctx == ctx);
            let actual = frame.and_then(|f| f.registers.get(reg.index()).copied().flatten());
            let what = || format!("register {} of {ctx:?}", reg.0);
            match actual {
                Some(actual) => {
                    let template = target.register(self.pool, self.world, ctx, reg);
                    self.same(template, actual, what)?;
                }
                // The register was never set, so its value may be anything.
                None if *claim == Value::Any => {}
                None => return Err(format!("{} was never set", what())),
            }
        }
        Ok(())
    }

    fn objects(&mut self) -> Result<(), String> {
        let target = self.target;
        for (&id, claim) in &target.objects {
            let key = self.world.object(id).key.clone();
            let template = target.object(self.pool, self.world, id);
            let Some(actual) = self.object(id) else {
                let dead = self.preimage.apply(self.pool, template.alive);
                let dead = self.pool.not(dead);
                self.want(dead, || format!("that object {key} does not exist"));
                continue;
            };
            self.same(template.alive, actual.alive, || {
                format!("the life of object {key}")
            })?;
            self.same(template.size, actual.size, || {
                format!("the size of object {key}")
            })?;
            self.same(template.number, actual.number, || {
                format!("the number of object {key}")
            })?;
            let contents = (&template.contents, &actual.contents);
            self.bytes(&claim.bytes, contents, (&claim.size, actual.size), &key)?;
        }
        // An object of which nothing is stated must have its initial value, or not exist.
        let state = &self.transition.reached.state;
        for (&id, actual) in &state.objects {
            if target.objects.contains_key(&id) {
                continue;
            }
            let key = self.world.object(id).key.clone();
            match memory::initial(self.pool, self.world, id) {
                Some(initial) if initial == **actual => {}
                Some(initial) => {
                    self.same(initial.alive, actual.alive, || {
                        format!("the life of object {key}")
                    })?;
                    self.same(initial.size, actual.size, || {
                        format!("the size of object {key}")
                    })?;
                    let contents = (&initial.contents, &actual.contents);
                    let size = (&Value::Any, actual.size);
                    let bytes = Bytes::Fixed(initial.contents.clone());
                    self.bytes(&bytes, contents, size, &key)?;
                }
                None => {
                    let dead = self.pool.not(actual.alive);
                    self.want(dead, || format!("that nothing is stated of object {key}"));
                }
            }
        }
        Ok(())
    }

    fn bytes(
        &mut self,
        claim: &Bytes,
        (template, actual): (&Contents, &Contents),
        (_, size): (&Value, Term),
        key: &str,
    ) -> Result<(), String> {
        match claim {
            Bytes::Fixed(_) => {
                // If both have the same array, only the overlays have to be compared.
                let offsets: BTreeSet<u32> = match template.base == actual.base {
                    true => {
                        let keys = template.overlay.keys().chain(actual.overlay.keys());
                        keys.copied().collect()
                    }
                    false => match self.pool.as_const(size) {
                        Some(size) if size <= BYTES => (0..size as u32).collect(),
                        _ => return Err(format!("the bytes of object {key} are too many")),
                    },
                };
                for at in offsets {
                    let (a, b) = (template.byte(self.pool, at), actual.byte(self.pool, at));
                    self.same(a, b, || format!("byte {at} of object {key}"))?;
                }
            }
            // Bytes of a mixed object outside of its cells are represented by its array, whose
            // value is the array of the state's bytes.
            Bytes::Cells(cells) | Bytes::Mixed(cells) => {
                for cell in cells.keys() {
                    let len = u32::from(cell.width / 8);
                    let a = template.read_at(self.pool, cell.offset, len);
                    let b = actual.read_at(self.pool, cell.offset, len);
                    self.same(a, b, || format!("bytes {} of object {key}", cell.offset))?;
                }
                if matches!(claim, Bytes::Mixed(_)) {
                    let (at, a) = self.arrays(template);
                    let b = actual.array(self.pool);
                    let b = self.pool.select(b, at);
                    let same = self.pool.eq(a, b);
                    let among = cells.keys().map(|cell| {
                        let (low, width) = (u128::from(cell.offset), u128::from(cell.width / 8));
                        let low = self.pool.constant(64, low);
                        let width = self.pool.constant(64, width);
                        let offset = self.pool.bin(BinOp::Sub, at, low);
                        self.pool.cmp(Pred::Ult, offset, width)
                    });
                    let among: Vec<Term> = among.collect();
                    let among = self.pool.any(&among);
                    let same = self.pool.or(among, same);
                    self.want(same, || format!("the array of object {key}"));
                }
            }
        }
        Ok(())
    }

    /// The element of a template's array at an arbitrary index, and the index.
    fn arrays(&mut self, template: &Contents) -> (Term, Term) {
        let at = self.pool.variable("?element", 64);
        let element = self.pool.select(template.base, at);
        (at, self.preimage.apply(self.pool, element))
    }

    /// Requires the facts that hold for the target's variables by construction, except that the
    /// numbers of objects differ: see [`Arriving::numbers`].
    fn axioms(&mut self) {
        let axioms = self.target.axioms(self.pool, self.world);
        let numbers: Vec<Term> = self.target.numbers.values().copied().collect();
        let apart = apart(self.pool, &numbers);
        for axiom in axioms {
            if apart.contains(&axiom) {
                continue;
            }
            let t = self.preimage.apply(self.pool, axiom);
            self.want(t, || "what a pointer may lead to, or a bound".to_owned());
        }
    }

    /// The facts that the numbers of the target's objects differ. Objects that exist are different
    /// objects, and objects that do not exist can be given numbers that no object has.
    fn numbers(&mut self) -> Vec<Term> {
        let own: Vec<Term> = self.target.numbers.values().copied().collect();
        let values: Vec<Term> = own
            .into_iter()
            .map(|number| self.preimage.apply(self.pool, number))
            .collect();
        apart(self.pool, &values)
    }
}
