//! Tapes from machine to machine, over LibAFL's message passing (LLMP).
//!
//! A command that other machines are to join has a *hub*; each campaign that takes part has
//! a *member*, which joined a hub, on this machine or another. Both are processes of their own
//! ([`exchange_main`]), started by [`Hub`] and [`Member`]. LLMP is fast because it trusts: it
//! asserts where a message is not what it should be, and ends the process where a signal says so. A
//! fault of such a process costs the campaign the exchange, and nothing else. And no worker takes
//! part: what LLMP reads lies in memory that all its clients write to, and the C code that a worker
//! runs may write anywhere. The workers stay behind their pipes, and their parent sends.

mod gate;
mod message;
mod node;
mod pages;
mod parent;
mod protocol;

pub use message::{LONGEST, Program};
pub use node::exchange_main;
pub use parent::{ExchangeError, Hub, Member, MemberEvent, probe};
