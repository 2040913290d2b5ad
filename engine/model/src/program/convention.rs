//! Names that normalising writes into a module and that loading reads there.

/// The user's `main` in the normalised module.
pub const USER_MAIN: &str = "cegar_user_main";
/// The function that is chosen as entry.
pub const USER_ENTRY: &str = "cegar_user_entry";
/// Where the engine's own C library keeps `errno`.
pub const ERRNO: &str = "cegar_errno";
/// The string attribute that says who provides a function: `user`, `stub`, `engine-only` or `mock`.
pub const KIND: &str = "cegar-kind";
/// The string attribute of an external function that says what it may do; see
/// [`super::outside::Effects`].
pub const EFFECTS: &str = "cegar-effects";
/// How the names of the functions begin that objects from outside point to.
pub const MEMBER: &str = "cegar_code_";
/// Metadata of a variable that other files can name.
pub const VISIBLE: &str = "cegar.visible";
/// Metadata of a variable that no file defines.
pub const UNDEFINED: &str = "cegar.undefined";
/// The marker that makes a local's bytes uninitialised: `void __cegar_uninit(void *, size_t)`.
pub const UNINIT: &str = "__cegar_uninit";
/// Metadata at the last instruction of a block: where the loop begins that it goes back to, line
/// and column. clang's own, `llvm.loop`, also carries what an optimiser may do with the loop, and
/// is dropped.
pub const LOOP: &str = "cegar.loop";
/// Where a module says which rules are lifted.
pub const LIFTED: &str = "cegar.lifted";
/// Metadata at a call: the name of the function that the engine calls instead, with the same
/// arguments, none of them variable.
pub const INSTEAD: &str = "cegar.format";
