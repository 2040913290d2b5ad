//! From bitcode to a numbered [`Program`].

pub mod ir;
pub mod load;
pub mod normalise;

pub use ir::*;
