//! Computes states that no walk leads out of: a fixed point.
//!
//! At loop heads and shared functions, a state takes in the states that arrive. After a few times
//! it is widened (Cousot and Cousot, 1977), first to the constants that the function compares with,
//! then beyond. When nothing new arrives, a few more walks make the states smaller again
//! (descending iteration): the states that arrive when all states are large enough are large enough
//! as well.

use std::hash::Hash;
use std::sync::Arc;

use cegar_checker::floor::FloorClaim;
use cegar_model::domain::recent::Lasts;
use cegar_model::domain::space::CtxId;
use cegar_model::domain::state::State;
use cegar_model::domain::walk::{Guide, Measure, Part, Stop, TURNS, Walker};
use cegar_model::program::ir::{BlockId, FuncId, Program};
use cegar_model::program::outside::points::Points;
use rustc_hash::{FxHashMap, FxHashSet};

use super::grown::{Grown, join_entry, join_or_widen};
use super::order::Schedule;
use super::thresholds::{Bounds, compared_in_memory, thresholds};
use super::write;

/// How many states that enter a loop are joined before they are widened, too.
const ENTERED: u32 = 60;
/// How often a loop is restarted with all states that entered it. Not done in large programs, where
/// each walk takes long.
const ANEW: u32 = 4;
/// The number of blocks from which a program is large.
const LARGE: usize = 1000;
/// The maximum number of walks through the whole program.
const WALKS: u32 = 60;
/// The maximum number of rounds of walks, where functions are recursive.
const ROUNDS: u32 = 1000;
/// The number of walks that make states smaller.
const DESCENDING_WALKS: u32 = 3;
/// The maximum number of states of one loop head that differ in their last blocks or in which
/// pointers are NULL. Further states are joined into the last one.
const PARTS: usize = 4;

/// What distinguishes the states of a loop head: the last blocks that exist, which pointers are
/// NULL, and the length of a number that shrinks.
pub type Apart = (Lasts, u8, Option<u8>);
/// A state of a loop head.
pub type Head = ((CtxId, BlockId), Apart);

/// The growing states, by place.
pub struct Growing {
    /// The function of each block.
    functions: Vec<FuncId>,
    heads: FxHashMap<Head, Grown>,
    /// The states that each loop head is divided into, in order of arrival.
    parts: FxHashMap<(CtxId, BlockId), Vec<Apart>>,
    /// States from which no walk has continued since they grew.
    due: FxHashSet<Head>,
    entries: FxHashMap<FuncId, Grown>,
    exits: FxHashMap<FuncId, Grown>,
    /// Functions that were walked in the current walk of the whole program.
    walked: FxHashSet<FuncId>,
    thresholds: FxHashMap<FuncId, Arc<Bounds>>,
    changed: bool,
    /// Whether relations between values are computed.
    relations: bool,
    /// The states that arrive, while states are made smaller.
    arrived: Option<Arrived>,
    /// The functions that have to be walked again, if functions are recursive.
    schedule: Schedule,
}

#[derive(Debug, Default)]
struct Arrived {
    heads: FxHashMap<Head, State>,
    entries: FxHashMap<FuncId, State>,
    exits: FxHashMap<FuncId, State>,
}

impl Growing {
    fn new(program: &Program, relations: bool) -> Growing {
        Growing {
            functions: program.blocks.iter().map(|block| block.function).collect(),
            heads: FxHashMap::default(),
            parts: FxHashMap::default(),
            due: FxHashSet::default(),
            entries: FxHashMap::default(),
            exits: FxHashMap::default(),
            walked: FxHashSet::default(),
            thresholds: FxHashMap::default(),
            changed: false,
            relations,
            arrived: None,
            schedule: Schedule::default(),
        }
    }

    /// Whether walks of shared functions are postponed; never while states are made smaller.
    fn puts_off(&self) -> bool {
        self.schedule.puts_off() && self.arrived.is_none()
    }

    /// The states of loop heads. A loop head has several if they differ in their last blocks or in
    /// which pointers are NULL.
    pub fn heads(&self) -> impl Iterator<Item = (&Head, &State)> {
        self.heads.iter().map(|(head, grown)| (head, &grown.state))
    }

    /// The state of a loop head that takes in this one, and its index there.
    fn head(
        &mut self,
        place: (CtxId, BlockId),
        state: &State,
        by: Measure<'_, '_>,
    ) -> (Head, Part) {
        let mut lasts = match self.relations {
            true => state.lasts(by.names),
            false => Lasts::new(),
        };
        lasts.extend(state.handed);
        let apart = (lasts, by.null, by.length);
        let most = by.length.map_or(PARTS, |_| TURNS);
        let parts = self.parts.entry(place).or_default();
        if !parts.contains(&apart) && parts.len() < most {
            parts.push(apart.clone());
        }
        let known = parts.iter().position(|known| *known == apart);
        let part = known.unwrap_or(parts.len() - 1);
        ((place, parts[part].clone()), part)
    }

    /// The shared functions with their entry and exit states.
    pub fn functions(&self) -> impl Iterator<Item = (FuncId, &State, Option<&State>)> {
        self.entries.iter().map(|(function, grown)| {
            let exit = self.exits.get(function).map(|exit| &exit.state);
            (*function, &grown.state, exit)
        })
    }
}

fn put(known: &mut FxHashMap<FuncId, State>, function: FuncId, state: State, by: Measure<'_, '_>) {
    let joined = match known.remove(&function) {
        Some(before) => before.join(&state, by.names, by.widths),
        None => state,
    };
    known.insert(function, joined);
}

impl Growing {
    fn grow(
        &mut self,
        which: impl FnOnce(&mut Growing) -> &mut FxHashMap<FuncId, Grown>,
        function: FuncId,
        state: State,
        by: Measure<'_, '_>,
    ) -> bool {
        let thresholds = self.of(function);
        let how = (&*thresholds, self.relations);
        let all = which(self);
        let grew = match all.get_mut(&function) {
            Some(known) => join_or_widen(known, state, by, how),
            None => {
                all.insert(function, Grown::of(state));
                true
            }
        };
        self.changed |= grew;
        grew
    }

    fn of(&self, function: FuncId) -> Arc<Bounds> {
        self.thresholds.get(&function).cloned().unwrap_or_default()
    }
}

impl Guide for Growing {
    fn arrive(
        &mut self,
        place: (CtxId, BlockId),
        back: bool,
        state: State,
        by: Measure<'_, '_>,
    ) -> Result<(bool, Part), Stop> {
        let (head, part) = self.head(place, &state, by);
        if let Some(arrived) = &mut self.arrived {
            let joined = match arrived.heads.remove(&head) {
                Some(before) => before.join(&state, by.names, by.widths),
                None => state,
            };
            arrived.heads.insert(head, joined);
            return Ok((false, part));
        }
        let thresholds = self.of(self.functions[place.1.index()]);
        let relations = self.relations;
        let anew = if relations && self.functions.len() < LARGE {
            ANEW
        } else {
            0
        };
        let grew = match self.heads.get_mut(&head) {
            // The states that enter a loop grow as long as the outer loops do, which are widened
            // themselves.
            Some(known) if !back && known.entered < ENTERED => {
                join_entry(known, &state, by, (anew, relations))
            }
            Some(known) => join_or_widen(known, state, by, (&thresholds, self.relations)),
            None => {
                self.heads.insert(head.clone(), Grown::of(state));
                true
            }
        };
        if grew {
            self.due.insert(head);
        }
        self.changed |= grew;
        Ok((grew, part))
    }

    fn start(&mut self, place: (CtxId, BlockId), parts: &[(Part, bool)]) -> Vec<State> {
        let (known, due) = (self.parts.get(&place), &mut self.due);
        let heads = parts.iter().filter_map(|(part, walked)| {
            let head = (place, known?.get(*part)?.clone());
            let is_due = due.remove(&head);
            let grown = self.heads.get(&head).filter(|_| is_due || !walked)?;
            Some(grown.state.clone())
        });
        heads.collect()
    }

    fn enter(&mut self, function: FuncId, state: State, by: Measure<'_, '_>) -> Result<bool, Stop> {
        if let Some(arrived) = &mut self.arrived {
            put(&mut arrived.entries, function, state, by);
            return Ok(self.walked.insert(function));
        }
        let grew = self.grow(|all| &mut all.entries, function, state, by);
        if self.puts_off() {
            self.schedule.called(function);
            if grew {
                self.schedule.put(Some(function));
            }
            // The function must be walked once, so that its exit state exists before the caller
            // continues.
            return Ok(self.walked.insert(function));
        }
        Ok(self.walked.insert(function) || grew)
    }

    fn entry(&mut self, function: FuncId) -> Option<State> {
        if self.puts_off() {
            self.schedule.begins(function);
        }
        self.entries.get(&function).map(|grown| grown.state.clone())
    }

    fn leave(
        &mut self,
        function: FuncId,
        state: Option<State>,
        by: Measure<'_, '_>,
    ) -> Result<bool, Stop> {
        let Some(state) = state else {
            if self.puts_off() {
                self.schedule.ends(function, false);
            }
            return Ok(false);
        };
        if self.puts_off() {
            let grew = self.grow(|all| &mut all.exits, function, state, by);
            self.schedule.ends(function, grew);
            return Ok(false);
        }
        if let Some(arrived) = &mut self.arrived {
            put(&mut arrived.exits, function, state, by);
            return Ok(false);
        }
        // A function that calls itself has to be walked again if its exit state grew.
        Ok(self.grow(|all| &mut all.exits, function, state, by))
    }

    fn exit(&mut self, function: FuncId) -> Option<State> {
        self.exits.get(&function).map(|grown| grown.state.clone())
    }
}

/// Replaces states by the states that arrived. Keeps the lines and the zero bytes that they
/// mention: the arriving states satisfy them, and smaller states do as well.
fn smaller<K: Eq + Hash>(known: &mut FxHashMap<K, Grown>, arrived: FxHashMap<K, State>) {
    let new = arrived.into_iter().map(|(place, mut state)| {
        if let Some(before) = known.get_mut(&place) {
            state.lines = std::mem::take(&mut before.state.lines);
            for (of, at) in std::mem::take(&mut before.state.nuls) {
                state.nuls.entry(of).or_insert(at);
            }
        }
        (place, Grown::of(state))
    });
    *known = new.collect();
}

/// Walks a program and makes its states grow.
pub struct Growth<'p> {
    walker: Walker<'p, Growing>,
}

impl<'p> Growth<'p> {
    /// A walk of a program with these functions shared, with or without relations between values.
    pub fn new(
        program: &'p Program,
        points: &Arc<Points>,
        shared: FxHashSet<FuncId>,
        (block_limit, relations): (u64, bool),
    ) -> Growth<'p> {
        let mut guide = Growing::new(program, relations);
        let compared = compared_in_memory(program);
        for id in (0..program.functions.len() as u32).map(FuncId) {
            let bounds = thresholds(program, id, &compared);
            guide.thresholds.insert(id, Arc::new(bounds));
        }
        guide.schedule = Schedule::of(program, points);
        let mut walker = Walker::new(program, Arc::clone(points), shared, guide);
        walker.block_limit = block_limit;
        walker.relations = relations;
        Growth { walker }
    }

    /// Walks until nothing new arrives.
    pub fn grown(mut self) -> Result<Growth<'p>, Stop> {
        self.grow()?;
        Ok(self)
    }

    /// Walks until nothing new arrives. Also needed after [`Growth::descend`], because a state that
    /// became smaller may be slightly too small.
    pub fn grow(&mut self) -> Result<(), Stop> {
        if self.walker.guide.puts_off() {
            return self.grow_in_rounds();
        }
        for walk in 0.. {
            self.walker.guide.changed = false;
            self.walker.guide.walked.clear();
            self.walker.program()?;
            if !self.walker.guide.changed {
                tracing::debug!(
                    walks = walk,
                    contexts = self.walker.contexts.len(),
                    blocks = self.walker.guide.functions.len(),
                    "the floor has grown"
                );
                return Ok(());
            }
            if walk > WALKS {
                return Err(Stop::Large);
            }
        }
        Ok(())
    }

    /// Walks until nothing new arrives, where functions are recursive: walks only functions that
    /// are due, callees first.
    fn grow_in_rounds(&mut self) -> Result<(), Stop> {
        let known: Vec<FuncId> = self.walker.guide.entries.keys().copied().collect();
        let schedule = &mut self.walker.guide.schedule;
        schedule.put(None);
        known.iter().for_each(|id| schedule.put(Some(*id)));
        // These are walked in the first round, and not where they are called.
        self.walker.guide.walked = known.into_iter().collect();
        for round in 0.. {
            let due = self.walker.guide.schedule.round();
            tracing::debug!(round, due = due.len(), "growing");
            if due.is_empty() {
                return Ok(());
            }
            if round > ROUNDS {
                return Err(Stop::Large);
            }
            for walk in due {
                match walk {
                    // It may have been walked within another walk.
                    _ if !self.walker.guide.schedule.is_due(walk) => {}
                    Some(function) => self.walker.function(function)?,
                    None => {
                        self.walker.guide.schedule.starts();
                        self.walker.program()?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Makes states smaller: replaces them by the states that arrive when all states are large
    /// enough.
    pub fn descend(&mut self) -> Result<(), Stop> {
        for _ in 0..DESCENDING_WALKS {
            self.walker.guide.arrived = Some(Arrived::default());
            self.walker.guide.walked.clear();
            self.walker.program()?;
            let guide = &mut self.walker.guide;
            let Some(arrived) = guide.arrived.take() else {
                break;
            };
            smaller(&mut guide.heads, arrived.heads);
            smaller(&mut guide.entries, arrived.entries);
            smaller(&mut guide.exits, arrived.exits);
        }
        Ok(())
    }

    /// The claim of the states.
    pub fn claim(&self) -> FloorClaim {
        let walker = &self.walker;
        write::claim(
            &walker.guide,
            &walker.contexts,
            &walker.names,
            walker.relations,
        )
    }
}
