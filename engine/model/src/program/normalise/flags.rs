//! The flags for compiling C before it is normalised.

use cegar_stubs::UNSANITIZED;

use crate::program::ir::Property;

/// clang's flags for user code when these properties are checked. The stub library is compiled with
/// the flags for no property.
///
/// clang inserts the checks before any optimisation, each as a branch to `llvm.ubsantrap`. Without
/// the overflow property, signed arithmetic wraps, as it does in the machine. The use-after-scope
/// option makes clang mark lifetimes at -O0 too. With [`UNSANITIZED`], clang also checks functions
/// that ask not to be checked. `-fno-finite-loops` keeps loops that C11 6.8.5p6 allows the compiler
/// to assume to terminate.
pub fn clang_flags(properties: &[Property]) -> Vec<&'static str> {
    let mut flags = vec![
        "-O0",
        "-Xclang",
        "-disable-O0-optnone",
        "-Xclang",
        "-fsanitize-address-use-after-scope",
        "-fno-finite-loops",
        "-g",
        "-fno-discard-value-names",
        "-fPIC",
        "-emit-llvm",
        "-c",
    ];
    let memory = properties.contains(&Property::Memory);
    let overflow = properties.contains(&Property::Overflow);
    if memory {
        flags.push("-fsanitize=array-bounds,vla-bound");
    }
    if overflow {
        flags.push(
            "-fsanitize=signed-integer-overflow,shift,integer-divide-by-zero,unreachable,return,\
             float-cast-overflow",
        );
    } else {
        flags.push("-fwrapv");
    }
    if memory || overflow {
        flags.push("-fsanitize-trap=all");
        flags.extend(UNSANITIZED);
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_follow_the_property() {
        let assertion = clang_flags(&[Property::Assertion]);
        assert!(assertion.contains(&"-fwrapv") && !assertion.contains(&"-fsanitize-trap=all"));
        let memory = clang_flags(&[Property::Assertion, Property::Memory]);
        let (last, before) = (UNSANITIZED, "-fsanitize-trap=all");
        assert!(memory.ends_with(&[
            "-fsanitize=array-bounds,vla-bound",
            "-fwrapv",
            before,
            last[0],
            last[1]
        ]));
        let overflow = clang_flags(&[Property::Overflow]);
        assert!(!overflow.contains(&"-fwrapv"));
    }
}
