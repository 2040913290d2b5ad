//! Certificates that somebody forged: none is accepted that would make something proved which is
//! not.
//!
//! The checker is all that stands between a mistake of the search, or a lie, and the word "proved".
//! Each test here thinks of a way to get a false claim past it: names of variables that are not the
//! cut point's, facts of another program, objects otherwise than the program makes them. What is
//! changed without saying more than before may be accepted, and the test then says why.

mod attacks;
mod case;
mod commands;
#[path = "../proofs/compiled.rs"]
#[allow(dead_code, reason = "the tests of generated programs use all of it")]
mod compiled;
mod damage;
mod floor;
mod mutate;
mod programs;
mod summaries;
