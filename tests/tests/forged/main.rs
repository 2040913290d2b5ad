//! Forged certificates: none that would prove a false claim is accepted.
//!
//! Only the checker prevents a fault of the search, or a lie, from becoming the verdict "proved".
//! Each test tries a way to get a false claim accepted: variables that do not belong to the cut
//! point, facts of another program, descriptions of objects that do not match the program. A change
//! that claims no more than before may be accepted; the test then gives the reason.

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
