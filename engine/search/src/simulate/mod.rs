//! Simulation: from what an execution did to what another could do.
//!
//! [`blame`] says whose choice a fault is, [`partial`] asks the solver about one departure from a
//! recorded path, [`pump`] replays answers without asking, [`search`] decides what to ask next,
//! [`minimise`] shortens what was found, and [`legible`] says what reads well.

pub mod blame;
pub mod context;
pub mod legible;
pub mod minimise;
pub mod partial;
pub mod pump;
pub mod search;
