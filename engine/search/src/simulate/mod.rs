//! Simulation: derives new inputs from recorded executions.
//!
//! [`blame`] decides whose choice a fault is, [`partial`] asks the solver about one departure from
//! a recorded path, [`pump`] replays answers without the solver, [`search`] decides what to ask
//! next, [`minimise`] shortens the tapes of violations, and [`legible`] makes tapes readable.

pub mod blame;
pub mod context;
pub mod legible;
pub mod minimise;
pub mod partial;
pub mod pump;
pub mod search;
