//! Predicate abstraction: the Boolean program that abstracts the real one.
//!
//! After Kroening, Groce and Clarke, *Counterexample guided abstraction refinement via program
//! execution* (2004), section 3.3, and Ball and Rajamani's SLAM before them. Each place of the
//! program has some [`predicates`] about its variables, and an abstract state consists of their
//! truth values. [`existential`] asks the solver which changes of these bits a piece of code
//! allows; the result is a [`program::BooleanProgram`]: places, and a relation over bits for each
//! edge between two of them. [`reach`] searches the shortest path from its start to an error, with
//! sets of states as binary decision diagrams ([`diagrams`]). [`refine`] simulates the path in the
//! real program: either it is feasible there, or the reason why not is returned, as bits that
//! exclude a step or as new predicates.
//!
//! The places are the cut points of a [`cegar_search::abstraction::graph::Graph`], so the program
//! counter has as many values as that graph has cut points.

pub mod diagrams;
pub mod existential;
pub mod model;
pub mod predicates;
pub mod program;
pub mod reach;
pub mod refine;
#[cfg(test)]
mod tests;
