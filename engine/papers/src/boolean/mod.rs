//! Predicate abstraction: the Boolean program that stands for the real one.
//!
//! After Kroening, Groce and Clarke, *Counterexample guided abstraction refinement via program
//! execution* (2004), section 3.3, and Ball and Rajamani's SLAM before them. Each place of the
//! program keeps some [`predicates`] about its variables, and of a concrete state nothing is left
//! but which of them hold. [`existential`] asks the solver which changes of these bits a piece of
//! code allows; what comes out is a [`program::BooleanProgram`]: places, and a relation over bits
//! for each way between two. [`reach`] looks for the shortest way from its start to an error, with
//! sets of states as binary decision diagrams ([`diagrams`]). [`refine`] takes the way it finds to
//! the real program: either it is one there, or it is told why not, as bits that exclude a step or
//! as new predicates.
//!
//! The places are the cut points of any [`cegar_search::abstraction::graph::Graph`], so the program
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
