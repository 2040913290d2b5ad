//! SLAM: predicate abstraction from the program's start; CRunner's "conventional" column.
//!
//! After Ball and Rajamani, *Automatically validating temporal safety properties of interfaces*
//! (2001), as Kroening, Groce and Clarke (2004) describe it for their comparison. The Boolean
//! program starts where the program does. Its shortest path to an error is simulated as a whole. If
//! the program cannot take it, the weakest preconditions of the guards that make it impossible
//! become predicates; if all of these exist already, a step that the program cannot take by itself
//! is excluded (Constrain). Nothing is executed except to confirm a violation. A loop that has to
//! be taken `n` times costs `n` refinements, which the other strategies avoid.

use std::sync::atomic::AtomicBool;

use super::base::run_strategy;
use super::predicate_loop::{First, Found, PredicateLoop};
use crate::boolean::refine::{Simulated, Trace};
use cegar_model::program::ir::Program;
use cegar_model::symbolic::world::Grain;
use cegar_search::abstraction::asking::Facts;
use cegar_search::abstraction::loops::Path;
use cegar_search::strategy::options::Options;
use cegar_search::strategy::outcome::Proof;

/// Runs SLAM: proves with predicates only.
pub fn prove<'p>(program: &'p Program, options: &Options, stop: &AtomicBool) -> Proof<'p> {
    run_strategy(program, options, stop, Grain::Blocks, &mut |base| {
        refined(&mut PredicateLoop::new(base), &mut |_, _, _| false)
    })
}

/// Repeats abstraction, search, simulation and refinement until no path is left, and returns the
/// reachable states as facts. `instead` is called for each path that the program cannot take,
/// before anything is refined, and returns whether it has settled the goal.
pub(super) fn refined<'b, 'a, 'p>(
    predicate_loop: &mut PredicateLoop<'b, 'a, 'p>,
    instead: &mut dyn FnMut(&mut PredicateLoop<'b, 'a, 'p>, &Trace, usize) -> bool,
) -> Facts {
    while predicate_loop.base.begin_iteration() {
        let path = match predicate_loop.search() {
            Found::Path(path) => path,
            Found::Nothing(reached) => return predicate_loop.facts(&reached),
            Found::GivenUp => break,
        };
        let trace = Trace::of(&predicate_loop.abstraction, &path);
        let from = Path::from(None, predicate_loop.number());
        match predicate_loop.simulate((&trace, usize::MAX), (from.clone(), &[])) {
            Simulated::Possible { tape, .. } => predicate_loop.reached(path.error, &tape),
            Simulated::Impossible(why) => {
                if !instead(predicate_loop, &trace, path.error)
                    && !predicate_loop.refine(&path, &trace, (&why, from), First::Predicates)
                {
                    predicate_loop.close(path.error);
                }
            }
            Simulated::Unknown => predicate_loop.close(path.error),
        }
    }
    Facts::new()
}
