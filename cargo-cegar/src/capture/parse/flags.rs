//! Which of a compiler's flags say what the code means.

/// Options whose argument is the next word; the argument must not be taken for a file.
pub(super) const WITH_ARGUMENT: &[&str] = &[
    "-o",
    "-MF",
    "-MT",
    "-MQ",
    "-L",
    "-l",
    "-T",
    "-u",
    "-z",
    "-B",
    "-G",
    "-arch",
    "-target",
    "-Xlinker",
    "-Xclang",
    "-Xassembler",
    "-Xpreprocessor",
    "-isysroot",
    "--sysroot",
    "--param",
    "-aux-info",
    "-dumpbase",
    "-dumpdir",
    "-wrapper",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-mllvm",
];

/// Options that are kept together with their argument.
pub(super) const KEPT_WITH_ARGUMENT: &[&str] = &[
    "-D",
    "-U",
    "-I",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-include",
    "-imacros",
];

/// `-f` flags that change what the code means.
pub(super) const MEANING: &[&str] = &[
    "-fsigned-char",
    "-funsigned-char",
    "-fno-signed-char",
    "-fno-unsigned-char",
    "-fshort-enums",
    "-fno-short-enums",
    "-fshort-wchar",
    "-fno-short-wchar",
    "-ffreestanding",
    "-fhosted",
    "-fno-builtin",
    "-fms-extensions",
    "-fplan9-extensions",
    "-fgnu89-inline",
    "-fcommon",
    "-fno-common",
    "-fwrapv",
    "-fno-strict-overflow",
    "-fblocks",
];

/// `-m` flags that only tune, or that clang does not have.
pub(super) const ONLY_TUNING: &[&str] = &[
    "-mtune",
    "-mcmodel",
    "-mindirect-branch",
    "-mfunction-return",
    "-mpreferred-stack-boundary",
    "-mno-red-zone",
    "-momit-leaf-frame-pointer",
    "-mno-omit-leaf-frame-pointer",
    "-mbranch-protection",
    "-mtls-dialect",
    "-maccumulate-outgoing-args",
    "-mretpoline",
    "-mharden-sls",
];

/// Flags without those that libtool varies between its two objects.
pub(super) fn significant(flags: &[String]) -> Vec<&String> {
    flags.iter().filter(|flag| *flag != "-DPIC").collect()
}

/// Whether a one-word flag changes what the code means.
pub(super) fn matters(flag: &str) -> bool {
    let valued = [
        "-std=",
        "--std=",
        "-fno-builtin-",
        "-fpack-struct",
        "-fexec-charset=",
        "-finput-charset=",
    ];
    let with = |prefixes: &[&str]| prefixes.iter().any(|prefix| flag.starts_with(prefix));
    // What may stand apart from its argument may also be one word with it.
    with(KEPT_WITH_ARGUMENT)
        || with(&valued)
        || MEANING.contains(&flag)
        || (flag.starts_with("-m") && !with(ONLY_TUNING))
}
