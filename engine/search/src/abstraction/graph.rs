//! The graph of cut points: the cut points, their abstract states, and the fragments between them.
//!
//! Starting at the entry, the states at each fragment's ends are joined into the states of the cut
//! points that they lead to; a cut point whose state became weaker is encoded again. This
//! terminates, because states only become weaker. No solver is involved, so that a certificate's
//! checker computes the same graph.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use cegar_model::symbolic::cuts::{Bytes, CutState, Known, Value};
use cegar_model::symbolic::encode::{Budget, Encoder, Exceeded, Fragment, Transition};
use cegar_model::symbolic::update::Update;

use super::abstractor;
use super::asking::Facts;
use super::live::Live;
use cegar_model::deadline;
use cegar_model::program::ir::{FuncId, Program, Reg};
use cegar_model::symbolic::memory;
use cegar_model::symbolic::summary;
use cegar_model::symbolic::world::{CtxId, Cut, Grain, ObjId, ObjectKind, Side, World};
use cegar_model::term::{Pool, Term};

/// The graph of cut points of a program; see the [module](self).
#[derive(Debug)]
pub struct Graph<'p> {
    /// The contexts and objects.
    pub world: World<'p>,
    /// The terms.
    pub pool: Pool,
    /// The abstract state of each cut point.
    pub states: BTreeMap<Cut, CutState>,
    /// The fragments by the cut point where they start; `None`: the entry.
    pub fragments: BTreeMap<Option<Cut>, Fragment>,
    /// The number of fragments encoded so far.
    pub encodings: u64,
    live: FxHashMap<FuncId, Live>,
    unknowns: u32,
}

/// The maximum number of fragments encoded before giving up.
const ENCODINGS: u64 = 20_000;

impl<'p> Graph<'p> {
    /// Explores the whole program.
    pub fn explore(
        program: &'p Program,
        grain: Grain,
        budget: Budget,
    ) -> Result<Graph<'p>, Exceeded> {
        Graph::explore_with(program, grain, budget, &BTreeSet::new())
    }

    /// Explores a program with some functions encoded alone; see [`Graph::explore`].
    pub fn explore_with(
        program: &'p Program,
        grain: Grain,
        budget: Budget,
        alone: &BTreeSet<FuncId>,
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
        graph.world.encode_alone(alone);
        loop {
            graph.world.changed = false;
            graph.propagate(budget)?;
            if !graph.world.changed {
                return Ok(graph);
            }
            // An object turned out to be indexed, so states that divide it into cells are useless:
            // start again.
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
                let changed = self.arrive(start, transition);
                // No transition starts at the end of a function that is encoded alone.
                if changed && self.world.ended(transition.to).is_none() {
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

    /// Joins the end of a transition into the state of its target; true if that became weaker.
    fn arrive(&mut self, start: Option<Cut>, transition: &Transition) -> bool {
        let live = self.live_at(transition.to);
        let from = start.and_then(|cut| self.states.get(&cut));
        let reached = &transition.reached;
        let mut new = abstractor::abstracted(&mut self.pool, &self.world, from, reached, &live);
        let world = &self.world;
        if world.ended(transition.to).is_some() {
            // Calls use only the facts at an end, so its state holds no values.
            for value in new.registers.values_mut() {
                *value = Value::Any;
            }
            new.finish(&mut self.pool, world);
        }
        match self.states.get_mut(&transition.to) {
            None => {
                let mut fresh = new.clone();
                // Joining the state with itself normalises it. Globals that it lacks keep their
                // initial contents.
                abstractor::join(&mut fresh, &mut self.pool, world, new, &mut |_, _| None);
                self.states.insert(transition.to, fresh);
                true
            }
            Some(known) => abstractor::join(known, &mut self.pool, world, new, &mut |pool, id| {
                initial_known(pool, world, id)
            }),
        }
    }

    /// The registers of all frames that are live at a cut point.
    fn live_at(&mut self, cut: Cut) -> Vec<(CtxId, Reg)> {
        let program = self.world.program();
        let mut all = Vec::new();
        if let Some(function) = self.world.ended(cut) {
            let spoken = self.world.interface_registers(function, Side::End);
            return spoken.into_iter().map(|(reg, _)| (cut.ctx, reg)).collect();
        }
        let mut at = (cut.ctx, None);
        loop {
            let (ctx, back) = at;
            let function = self.world.context(ctx).function;
            if self.world.context(ctx).side.is_some() {
                // The facts at the end of the function may be about its parameters.
                let params = self.world.interface_registers(function, Side::Begin);
                all.extend(params.into_iter().map(|(reg, _)| (ctx, reg)));
            }
            let live = self
                .live
                .entry(function)
                .or_insert_with(|| Live::new(program, function));
            match back {
                None => all.extend(live.at_start(cut.block).into_iter().map(|reg| (ctx, reg))),
                Some(cegar_model::symbolic::world::Back { block, op, dst, .. }) => {
                    let results = program.expected_results(block, op).len() as u32;
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

    /// The values of the target's variables after a transition.
    pub fn update(&mut self, start: Option<Cut>, transition: &Transition) -> Update {
        let from = start.and_then(|cut| self.states.get(&cut));
        let Some(target) = self.states.get(&transition.to) else {
            return Update::default();
        };
        let known = (from, target);
        Update::of(
            &mut self.pool,
            &self.world,
            known,
            transition,
            &mut self.unknowns,
        )
    }

    /// The summaries of the calls in a fragment: the cut point at the callee's end, the fact there,
    /// and the fact restated for the call.
    pub fn summaries(&mut self, start: Option<Cut>, facts: &Facts) -> Vec<(Cut, Term, Term)> {
        let mut all = Vec::new();
        let Some(fragment) = self.fragments.get(&start) else {
            return all;
        };
        for called in &fragment.calls {
            let ends = self.world.ends_of(called.function);
            let Some((end, facts)) = ends.and_then(|(_, end)| Some((end, facts.get(&end)?))) else {
                continue;
            };
            let said = summary::related(&mut self.pool, &self.world, called, facts);
            all.extend(said.into_iter().map(|(fact, here)| (end, fact, here)));
        }
        all
    }

    /// The summaries of the calls in a fragment, restated for the calls.
    pub fn related(&mut self, start: Option<Cut>, facts: &Facts) -> Vec<Term> {
        let all = self.summaries(start, facts);
        all.into_iter().map(|(.., here)| here).collect()
    }

    /// The cut points whose facts a fragment uses: its start, and the ends of its callees.
    pub fn used(&self, start: Option<Cut>) -> impl Iterator<Item = Cut> + '_ {
        let calls = self.fragments.get(&start).map(|fragment| &fragment.calls);
        let ends = calls.into_iter().flatten().filter_map(|called| {
            let (_, end) = self.world.ends_of(called.function)?;
            Some(end)
        });
        start.into_iter().chain(ends)
    }

    /// What holds by construction of the state where a fragment starts and of its unknowns.
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
