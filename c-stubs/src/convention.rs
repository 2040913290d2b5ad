//! What the engine's machine and the native runtime agree on.
//!
//! Both execute the same module and must see the same values in it, so these facts are defined
//! once, in the crate that both of them use. The C sources repeat the fill byte; a test compares
//! them.

/// The string attribute that says where a function's behaviour comes from: `user`, `stub`,
/// `engine-only` or `mock`.
pub const KIND: &str = "cegar-kind";

/// The contents of uninitialised memory and of undefined values.
pub const UNDEFINED_BYTE: u8 = 0xAA;

#[cfg(test)]
mod tests {
    use super::UNDEFINED_BYTE;

    #[test]
    fn the_runtime_fills_memory_with_the_byte() {
        let heap = include_str!("rt_heap.c");
        assert!(heap.contains(&format!("#define FRESH 0x{UNDEFINED_BYTE:X}\n")));
    }
}
