//! From bitcode to a numbered [`Program`].

pub mod ir;
mod llvm;
pub mod load;
pub mod normalise;
mod sanity;
mod show;

pub use ir::*;
pub use llvm::ModuleError;
pub use load::LoadError;
pub use show::Summary;
