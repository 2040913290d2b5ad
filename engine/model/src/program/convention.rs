//! The names that normalisation writes into a module and that loading reads from it.

pub use cegar_stubs::KIND;

/// The user's `main` in the normalised module.
pub const USER_MAIN: &str = "cegar_user_main";
/// The function that was chosen as the entry.
pub const USER_ENTRY: &str = "cegar_user_entry";
/// The stub library's `atexit`.
pub const ATEXIT: &str = "CRUNNER_atexit";
/// Where the engine's own C library keeps `errno`.
pub const ERRNO: &str = "cegar_errno";
/// The string attribute of an external function that says what it may do; see
/// [`super::outside::Effects`].
pub const EFFECTS: &str = "cegar-effects";
/// The prefix of the names of the functions that objects from outside point to.
pub const MEMBER: &str = "cegar_code_";
/// The metadata of a variable that other files can name.
pub const VISIBLE: &str = "cegar.visible";
/// The metadata of a variable that no file defines.
pub const UNDEFINED: &str = "cegar.undefined";
/// The marker that makes a local's bytes uninitialised: `void __cegar_uninit(void *, size_t)`.
pub const UNINIT: &str = "__cegar_uninit";
/// The metadata at the last instruction of a block that goes back to the head of a loop: the line
/// and column where the loop begins. clang's own metadata, `llvm.loop`, also tells an optimiser
/// what it may do with the loop, so it is dropped.
pub const LOOP: &str = "cegar.loop";
/// The metadata that lists the lifted rules of a module.
pub const LIFTED: &str = "cegar.lifted";
/// The metadata at a call: the name of the function that the engine calls instead, with the same
/// arguments, none of them variable.
pub const INSTEAD: &str = "cegar.format";
