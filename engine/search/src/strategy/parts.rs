//! The parts that strategies consist of: exploring, generating candidates, settling goals.
//!
//! They are the same for `auto` and for the published strategies, so that a comparison compares the
//! strategies themselves.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use super::options::{Options, Stats};
use super::outcome::{FloorProof, Proof};
use crate::abstraction::asking::{self, Cancellation, Cost, Facts};
use crate::abstraction::candidates::{CandidateGenerator, Vocabulary};
use crate::abstraction::forest::Forest;
use crate::abstraction::goals::{self, Settled};
use crate::abstraction::graph::Graph;
use crate::abstraction::relevance::Relevance;
use crate::analysis::{self, Floor};
use cegar_model::deadline;
use cegar_model::program::ir::{BlockId, CheckId, FuncId, FunctionKind, Program};
use cegar_model::solver::Z3;
use cegar_model::symbolic::world::{Cut, Grain};

/// A program with its graph.
pub struct Explored<'p> {
    /// The graph.
    pub graph: Graph<'p>,
    /// The effort so far.
    pub stats: Stats,
    /// When exploring began.
    pub begin: Instant,
    /// The deadline; `None` if steps are counted.
    pub deadline: Option<Instant>,
}

/// The share of the time for the floor.
const FLOOR: f64 = 0.5;
/// The maximum number of blocks walked for the floor.
const WALKED: u64 = 4_000_000;
/// The same, if steps are counted instead of time.
const COUNTED: u64 = 200_000;
/// The size of the stack, in bytes: deep call chains are walked by recursion.
const STACK: usize = 256 << 20;

/// Computes a floor, and reports what follows from it.
pub fn floor(program: &Program, options: &Options) -> Option<(Arc<Floor>, Stats)> {
    let cancellation = if options.counted { COUNTED } else { WALKED };
    let time = options.time.mul_f64(FLOOR);
    let left = deadline::left().map_or(time, |left| left.min(time));
    let at = |time| deadline::Deadline::at((!options.counted).then(|| Instant::now() + time));
    let (growing, end) = (at(left), at(deadline::left().unwrap_or(options.time)));
    let walked = std::thread::scope(|scope| {
        let work = || deadline::within(end, || analysis::floor(program, cancellation, &growing));
        let worker = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, work);
        worker.ok()?.join().ok()?
    });
    let floor = Arc::new(walked?);
    let mut stats = Stats {
        floor: floor.seconds,
        floor_first: floor.first.0,
        floor_first_checks: floor.first.1,
        ..Stats::default()
    };
    let checks = (0u32..).map(CheckId).zip(&program.checks);
    let held = checks.filter(|(id, check)| !check.trivial && floor.result.holds(*id));
    stats.floor_checks = held.count() as u64;
    let blocks = (0..program.blocks.len() as u32).map(BlockId);
    stats.floor_blocks = blocks.filter(|id| floor.result.is_dead(*id)).count() as u64;
    tracing::debug!(
        checks = stats.floor_checks,
        blocks = stats.floor_blocks,
        seconds = stats.floor,
        "the floor"
    );
    if let Some(listener) = &options.so_far {
        let why = "there was no time to ask about it";
        let floor_proof = FloorProof::of(program, options, &floor, why);
        // The receiver may be gone.
        let _ = listener.send(floor_proof.so_far(options, stats));
    }
    Some((floor, stats))
}

/// The proof by the floor, with its effort, if that settles everything that is asked for.
pub fn on_the_floor_alone<'p>(
    program: &'p Program,
    options: &Options,
    (floor, stats): (&Arc<Floor>, &Stats),
) -> Option<Proof<'p>> {
    let proof = Proof::alone(program, options, floor)?;
    Some(counted(proof, stats))
}

/// Adds the effort of the floor.
pub fn count(stats: &mut Stats, floor: &Stats) {
    stats.floor = floor.floor;
    stats.floor_first = floor.floor_first;
    stats.floor_first_checks = floor.floor_first_checks;
    stats.floor_checks = floor.floor_checks;
    stats.floor_blocks = floor.floor_blocks;
}

/// Adds the effort of the floor to a proof.
pub fn counted<'p>(mut proof: Proof<'p>, floor: &Stats) -> Proof<'p> {
    count(&mut proof.stats, floor);
    proof
}

/// Explores a program. If it is too large, returns a proof in which nothing is settled.
pub fn explore<'p>(
    program: &'p Program,
    options: &Options,
    grain: Grain,
) -> Result<Explored<'p>, Box<Proof<'p>>> {
    explore_with(program, options, grain, &BTreeSet::new())
}

/// Explores a program with some functions encoded alone; see [`explore`].
pub fn explore_with<'p>(
    program: &'p Program,
    options: &Options,
    grain: Grain,
    alone: &BTreeSet<FuncId>,
) -> Result<Explored<'p>, Box<Proof<'p>>> {
    let begin = Instant::now();
    let deadline = (!options.counted).then(|| begin + options.time);
    let mut budget = options.budget;
    budget.deadline = deadline;
    let mut stats = Stats::default();
    let graph = match Graph::explore_with(program, grain, budget, alone) {
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

/// Asks about everything that is not settled; if `blocks`, also about the uncovered blocks of the
/// user's code.
pub fn settle(
    program: &Program,
    options: &Options,
    (solver, graph): (&mut Z3, &mut Graph<'_>),
    facts: &Facts,
    (cancellation, blocks): (Cancellation<'_>, bool),
    result: (&mut Settled, &mut Cost),
) {
    let covered = &options.covered;
    let wanted = |block: BlockId| {
        let function = program.block(block).function;
        blocks && program.function(function).kind == FunctionKind::User && !covered.has(block)
    };
    goals::settle(solver, graph, facts, &wanted, cancellation, result);
}

/// Generates the candidates of one level for the cut points from which the targets can be reached.
/// No state of the forest refutes them.
pub fn generate_candidates(
    graph: &mut Graph<'_>,
    (vocabulary, forest): (&Vocabulary, &Forest),
    (level, relevance): (u32, Option<&Relevance>),
    targets: &BTreeSet<Option<Cut>>,
) -> Facts {
    let mut all = Facts::new();
    for cut in asking::cuts_reaching(graph, targets) {
        if deadline::passed() {
            break;
        }
        let mut generator = CandidateGenerator {
            graph: &mut *graph,
            vocabulary,
            samples: forest.samples.get(&cut).map_or(&[], Vec::as_slice),
            level,
            relevance,
        };
        all.insert(cut, generator.generate(cut));
    }
    all
}
