//! The graph of cut points: which there are, what is known of each, and the fragments between them.
//!
//! Starting at the entry, each fragment's ends are joined into what is known of the cut points they lead to; a cut point of which
//! less is known than before is encoded again. That ends, because what is known only ever shrinks. No solver takes part, so
//! that a certificate's checker finds the same graph.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::cuts::{self, Abstractor, Bytes, Cell, CutState, Known, Part, Place, Value};
use super::encode::pointer::Root;
use super::encode::range::Range;
use super::encode::{self, Budget, Encoder, Exceeded, Fragment, Transition};
use super::live::Live;
use super::memory::{self, Object};
use super::world::{CtxId, Cut, Grain, ObjId, ObjectKind, World};
use crate::deadline;
use crate::program::ir::{FuncId, Program, Reg, Width};
use crate::term::{Array, Pool, Rewriter, Term};

/// See the [module](self).
#[derive(Debug)]
pub struct Graph<'p> {
    /// Contexts and objects.
    pub world: World<'p>,
    /// The terms.
    pub pool: Pool,
    /// What is known of each cut point.
    pub states: BTreeMap<Cut, CutState>,
    /// The fragments by where they start; none: the entry.
    pub fragments: BTreeMap<Option<Cut>, Fragment>,
    /// How often a fragment was encoded.
    pub encodings: u64,
    live: FxHashMap<FuncId, Live>,
    unknowns: u32,
}

/// What a transition makes of its target's variables, in terms of its start's and the fragment's unknowns.
#[derive(Clone, Debug, Default)]
pub struct Update {
    /// Variables and their new values.
    pub terms: Vec<(Term, Term)>,
    /// Arrays and their new contents.
    pub arrays: Vec<(Array, Array)>,
}

impl Update {
    /// Turns formulas over the target's variables into their weakest preconditions.
    pub fn preimage(&self) -> Rewriter {
        let mut rewriter = Rewriter::new();
        for &(variable, value) in &self.terms {
            rewriter.replace(variable, value);
        }
        for &(array, value) in &self.arrays {
            rewriter.replace_array(array, value);
        }
        rewriter
    }
}

/// Fragments encoded before giving up.
const ENCODINGS: u64 = 20_000;

impl<'p> Graph<'p> {
    /// Explores the whole program.
    pub fn explore(
        program: &'p Program,
        grain: Grain,
        budget: Budget,
    ) -> Result<Graph<'p>, Exceeded> {
        let mut graph = Graph {
            world: World::new(program, grain),
            pool: Pool::new(),
            states: BTreeMap::new(),
            fragments: BTreeMap::new(),
            encodings: 0,
            live: FxHashMap::default(),
            unknowns: 0,
        };
        loop {
            graph.world.changed = false;
            graph.propagate(budget)?;
            if !graph.world.changed {
                return Ok(graph);
            }
            // An object turned out to be indexed: what is known of it as cells is of no use.
            graph.states.clear();
            graph.fragments.clear();
        }
    }

    fn propagate(&mut self, budget: Budget) -> Result<(), Exceeded> {
        let mut open: BTreeSet<Option<Cut>> = BTreeSet::from([None]);
        while let Some(start) = open.pop_first() {
            if deadline::passed() {
                return Err(Exceeded::Time);
            }
            self.encodings += 1;
            if self.encodings > ENCODINGS {
                return Err(Exceeded::Size);
            }
            let from = start.and_then(|cut| Some((cut, self.states.get(&cut)?)));
            let fragment = Encoder::encode(&mut self.world, &mut self.pool, from, budget)?;
            for transition in &fragment.transitions {
                if self.arrive(start, transition) {
                    open.insert(Some(transition.to));
                }
            }
            self.fragments.insert(start, fragment);
            if self.world.changed {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Joins the end of a transition into what is known of its target; true if less is known now.
    fn arrive(&mut self, start: Option<Cut>, transition: &Transition) -> bool {
        let live = self.live_at(transition.to);
        let from = start.and_then(|cut| self.states.get(&cut));
        let new = cuts::abstracted(
            &mut self.pool,
            &self.world,
            from,
            &transition.reached,
            &live,
        );
        let world = &self.world;
        match self.states.get_mut(&transition.to) {
            None => {
                let mut fresh = new.clone();
                // Joined with itself: globals that it lacks stay as they were.
                fresh.join(&mut self.pool, world, new, &mut |_, _| None);
                self.states.insert(transition.to, fresh);
                true
            }
            Some(known) => known.join(&mut self.pool, world, new, &mut |pool, id| {
                initial_known(pool, world, id)
            }),
        }
    }

    /// The registers of all frames that are live at a cut point.
    fn live_at(&mut self, cut: Cut) -> Vec<(CtxId, Reg)> {
        let program = self.world.program();
        let mut all = Vec::new();
        let mut at = (cut.ctx, None);
        loop {
            let (ctx, back) = at;
            let function = self.world.context(ctx).function;
            let live = self
                .live
                .entry(function)
                .or_insert_with(|| Live::new(program, function));
            match back {
                None => all.extend(live.at_start(cut.block).into_iter().map(|reg| (ctx, reg))),
                Some(super::world::Back { block, op, dst, .. }) => {
                    let results = encode::taken(program, block, op).len() as u32;
                    let mut regs: Vec<Reg> =
                        live.before(program.block(block), op).into_iter().collect();
                    regs.retain(|reg| !(dst.0..dst.0 + results).contains(&reg.0));
                    regs.sort_unstable();
                    all.extend(regs.into_iter().map(|reg| (ctx, reg)));
                }
            }
            let Some(back) = self.world.context(ctx).back else {
                return all;
            };
            at = (back.ctx, Some(back));
        }
    }

    /// The transition from a cut point back to itself.
    pub fn own(&self, cut: Cut) -> Option<&Transition> {
        let fragment = self.fragments.get(&Some(cut))?;
        fragment.transitions.iter().find(|t| t.to == cut)
    }

    /// What a transition makes of each of its target's variables.
    pub fn update(&mut self, start: Option<Cut>, transition: &Transition) -> Update {
        let from = start.and_then(|cut| self.states.get(&cut));
        let Some(target) = self.states.get(&transition.to) else {
            return Update::default();
        };
        let variables = target.variables(&mut self.pool, &self.world);
        let arrays = target.arrays(&mut self.pool, &self.world);
        let mut after = After {
            world: &self.world,
            from,
            transition,
            unknowns: &mut self.unknowns,
        };
        let mut update = Update::default();
        for (place, variable) in variables {
            let width = self.pool.width(variable);
            let bounds = target.bounds.get(&variable).copied();
            let value = after.place(&mut self.pool, &place, width, bounds);
            update.terms.push((variable, value));
        }
        for (object, array) in arrays {
            let value = after.array(&mut self.pool, object);
            update.arrays.push((array, value));
        }
        update
    }

    /// What holds by construction where a fragment starts and of the unknowns in it.
    pub fn axioms(&mut self, start: Option<Cut>) -> Vec<Term> {
        match start.and_then(|cut| self.states.get(&cut)) {
            Some(state) => state.axioms(&mut self.pool, &self.world),
            None => Vec::new(),
        }
    }
}

fn initial_known(pool: &mut Pool, world: &World<'_>, id: ObjId) -> Option<Known> {
    let object = memory::initial(pool, world, id)?;
    let ObjectKind::Global(global) = world.object(id).kind else {
        return None;
    };
    let info = &world.program().globals[global.index()];
    Some(Known {
        alive: Value::Const(1),
        size: Value::Const(info.init.len() as u128),
        bytes: if info.external {
            Bytes::ANY
        } else {
            Bytes::Fixed(object.contents.unwitnessed())
        },
    })
}

/// Values at the end of a transition.
struct After<'a, 'p> {
    world: &'a World<'p>,
    from: Option<&'a CutState>,
    transition: &'a Transition,
    unknowns: &'a mut u32,
}

impl After<'_, '_> {
    fn unknown(&mut self, pool: &mut Pool, width: Width) -> Term {
        *self.unknowns += 1;
        pool.variable(&format!("?after.{}", self.unknowns), width)
    }

    fn object(&self, pool: &mut Pool, id: ObjId) -> Option<Object> {
        match self.transition.reached.state.objects.get(&id) {
            Some(object) => Some(Object::clone(object)),
            None => memory::initial(pool, self.world, id),
        }
    }

    /// The value of a variable of the target, which lies within these bounds.
    fn place(
        &mut self,
        pool: &mut Pool,
        place: &Place,
        width: Width,
        bounds: Option<Range>,
    ) -> Term {
        match place {
            Place::Register(ctx, reg, part) => {
                let frames = &self.transition.reached.state.frames;
                let frame = frames.iter().find(|frame| frame.ctx == *ctx);
                let value = frame.and_then(|f| f.registers.get(reg.index()).copied().flatten());
                match value {
                    Some(value) => self.part(pool, value, part, width),
                    None => self.unknown(pool, width),
                }
            }
            Place::Cell(id, Cell { offset, width: w }, part) => match self.object(pool, *id) {
                Some(object) => {
                    let bytes = u32::from(w / 8);
                    let value = object.contents.read_at(pool, *offset, bytes);
                    self.part(pool, value, part, width)
                }
                // Nobody reads what does not exist: its bytes are any that the target knows them to be.
                None => match bounds {
                    Some(bounds) => pool.constant(width, u128::from(bounds.low)),
                    None => self.unknown(pool, width),
                },
            },
            Place::Alive(id) => match self.object(pool, *id) {
                Some(object) => object.alive,
                None => pool.bit(false),
            },
            Place::Size(id) => match self.object(pool, *id) {
                Some(object) => object.size,
                None => self.unknown(pool, width),
            },
            Place::Witness(id) => {
                let object = self.object(pool, *id);
                match object.and_then(|object| object.contents.witness) {
                    Some(witness) => witness,
                    // It may be anything.
                    None => pool.constant(64, 0),
                }
            }
            Place::Number(id) => match self.object(pool, *id) {
                Some(object) => object.number,
                None => self.unknown(pool, width),
            },
        }
    }

    fn part(&mut self, pool: &mut Pool, value: Term, part: &Part, width: Width) -> Term {
        if *part == Part::Whole {
            return value;
        }
        let mut abstractor = Abstractor::new(pool, self.world, self.from, &self.transition.reached);
        let cases = abstractor.split(value);
        let mut result: Option<Term> = None;
        for case in cases.into_iter().rev() {
            let here = match part {
                Part::Base => match case.root {
                    Root::Null => Some(pool.constant(32, 0)),
                    Root::Number(number) => Some(pool.constant(32, u128::from(number))),
                    Root::Of(id) => self.object(pool, id).map(|object| object.number),
                    Root::Unknown => None,
                },
                _ => Some(case.offset),
            };
            let here = match here {
                Some(term) => term,
                None => self.unknown(pool, width),
            };
            result = Some(match result {
                None => here,
                Some(other) => pool.ite(case.cond, here, other),
            });
        }
        match result {
            Some(term) => term,
            None => self.unknown(pool, width),
        }
    }

    fn array(&mut self, pool: &mut Pool, id: ObjId) -> Array {
        match self.object(pool, id) {
            Some(object) => object.contents.array(pool),
            None => {
                *self.unknowns += 1;
                pool.array_variable(&format!("?after.{}", self.unknowns))
            }
        }
    }
}
