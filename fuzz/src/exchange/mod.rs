//! The exchange of tapes between machines, over LibAFL's message passing (LLMP).
//!
//! A command that other machines are to join has a *hub*. Each campaign that takes part has
//! a *member*, which joins a hub on this machine or another one. Both are separate processes
//! ([`exchange_main`]), started by [`Hub`] and [`Member`]. LLMP is fast because it trusts its
//! input: it asserts that messages are well-formed, and ends the process on certain signals. In a
//! separate process, such a fault costs the campaign only the exchange. Workers do not take part:
//! LLMP reads memory that all its clients can write to, and the C code that a worker runs may write
//! anywhere. A worker talks only to its parent, through pipes, and the parent sends the tapes.

mod gate;
mod message;
mod node;
mod pages;
mod parent;
mod protocol;

pub use message::{LONGEST, Program};
pub use node::exchange_main;
pub use parent::{ExchangeError, Hub, Member, MemberEvent, probe};
