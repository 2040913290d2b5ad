//! The parts that strategies are put together from: exploring, guessing, settling.
//!
//! They are the same for `auto` and for the published loops, so that what is compared is the loops.

use std::collections::BTreeSet;
use std::time::Instant;

use super::options::{Options, Stats};
use super::outcome::Proof;
use crate::abstraction::asking::{self, Cost, Facts, Patience};
use crate::abstraction::candidates::{Guesser, Vocabulary};
use crate::abstraction::forest::Forest;
use crate::abstraction::goals::{self, Settled};
use crate::abstraction::graph::Graph;
use crate::abstraction::relevance::Relevance;
use cegar_model::deadline;
use cegar_model::program::ir::{BlockId, FunctionKind, Program};
use cegar_model::solver::Z3;
use cegar_model::symbolic::world::{Cut, Grain};

/// A program with its graph.
pub struct Explored<'p> {
    /// The graph.
    pub graph: Graph<'p>,
    /// What it cost.
    pub stats: Stats,
    /// When it began.
    pub begin: Instant,
    /// When time is up; none where steps are counted.
    pub deadline: Option<Instant>,
}

/// Explores a program. If that is too much, nothing is settled.
pub fn explore<'p>(
    program: &'p Program,
    options: &Options,
    grain: Grain,
) -> Result<Explored<'p>, Box<Proof<'p>>> {
    let begin = Instant::now();
    let deadline = (!options.counted).then(|| begin + options.time);
    let mut budget = options.budget;
    budget.deadline = deadline;
    let mut stats = Stats::default();
    let graph = match Graph::explore(program, grain, budget) {
        Ok(graph) => graph,
        Err(why) => return Err(Box::new(Proof::unexplored(program, options, why, stats))),
    };
    stats.explore = begin.elapsed().as_secs_f64();
    stats.cuts = graph.states.len() as u64;
    stats.contexts = graph.world.contexts() as u64;
    stats.encodings = graph.encodings;
    let fragments = graph.fragments.values();
    stats.approximations = fragments
        .map(|fragment| u64::from(fragment.approximations))
        .sum();
    Ok(Explored {
        graph,
        stats,
        begin,
        deadline,
    })
}

/// Asks about everything that is not settled; about blocks of the user's code that nothing has covered, too, if these are wanted.
pub fn settle(
    program: &Program,
    options: &Options,
    (solver, graph): (&mut Z3, &mut Graph<'_>),
    facts: &Facts,
    (patience, blocks): (Patience<'_>, bool),
    result: (&mut Settled, &mut Cost),
) {
    let covered = &options.covered;
    let wanted = |block: BlockId| {
        let function = program.block(block).function;
        blocks && program.function(function).kind == FunctionKind::User && !covered.has(block)
    };
    goals::settle(solver, graph, facts, &wanted, patience, result);
}

/// Guesses of one level at the cut points that lead to where they are wanted, refuted by no state of the forest.
pub fn guess(
    graph: &mut Graph<'_>,
    (vocabulary, forest): (&Vocabulary, &Forest),
    (level, relevance): (u32, Option<&Relevance>),
    targets: &BTreeSet<Option<Cut>>,
) -> Facts {
    let mut all = Facts::new();
    for cut in asking::before(graph, targets) {
        if deadline::passed() {
            break;
        }
        let mut guesser = Guesser {
            graph: &mut *graph,
            vocabulary,
            samples: forest.samples.get(&cut).map_or(&[], Vec::as_slice),
            level,
            relevance,
        };
        all.insert(cut, guesser.guess(cut));
    }
    all
}
