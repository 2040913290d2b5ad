//! How C is compiled before it is normalised.

use crate::program::ir::Property;

/// clang's flags for user code when these properties are checked. The stub library is compiled with the
/// flags for no property.
///
/// Checks are put in by clang, before anything optimises: each is a branch to `llvm.ubsantrap`. Without the
/// overflow property signed arithmetic wraps, as it does in the machine. The use-after-scope option makes
/// clang mark lifetimes at -O0 too; `no_sanitize` becomes an attribute of no consequence here, since what a function does that
/// has it is as undefined as elsewhere; `-fno-finite-loops` keeps loops that C11 6.8.5p6 lets it assume to end.
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
            "-fsanitize=signed-integer-overflow,shift,integer-divide-by-zero,unreachable,return,float-cast-overflow",
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

/// `__attribute__((no_sanitize("shift")))` and `[[clang::no_sanitize("shift")]]` as the attribute that asks for no stack protector,
/// of which there is none. A program that uses the word in another way is rejected with these.
pub const UNSANITIZED: [&str; 2] = [
    "-Dno_sanitize(...)=no_stack_protector",
    "-D__no_sanitize__(...)=no_stack_protector",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_follow_the_property() {
        let assertion = clang_flags(&[Property::Assertion]);
        assert!(assertion.contains(&"-fwrapv") && !assertion.contains(&"-fsanitize-trap=all"));
        let memory = clang_flags(&[Property::Assertion, Property::Memory]);
        assert!(
            memory
                .join(" ")
                .contains("-fsanitize=array-bounds,vla-bound -fwrapv -fsanitize-trap=all")
        );
        let overflow = clang_flags(&[Property::Overflow]);
        assert!(!overflow.contains(&"-fwrapv"));
    }
}
