//! The loops that put the rooms together.

pub mod synergy;
