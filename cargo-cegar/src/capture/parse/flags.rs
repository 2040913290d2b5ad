//! Determines which of a compiler's flags change the meaning of the code.

use cegar_harness::build::LAYOUT;

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

/// `-f` flags that change the meaning of the code, in addition to those of [`LAYOUT`].
pub(super) const MEANING: &[&str] = &[
    "-fshort-wchar",
    "-fno-short-wchar",
    "-funsigned-bitfields",
    "-fno-signed-bitfields",
    "-fsigned-bitfields",
    "-fno-unsigned-bitfields",
    "-fsingle-precision-constant",
    "-fno-single-precision-constant",
    "-ffreestanding",
    "-fhosted",
    "-fno-builtin",
    "-fgnu89-inline",
    "-fcommon",
    "-fno-common",
    "-fwrapv",
    "-fno-signed-zeros",
    "-fno-strict-overflow",
];

/// `-m` flags that only tune the code, or that clang does not support.
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

/// Replaces flags by equivalent ones: options that are passed to the preprocessor, long names of
/// options, and the macros that are defined by options which are not kept themselves.
pub(super) fn plain(args: Vec<String>) -> Vec<String> {
    let mut all = Vec::with_capacity(args.len());
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        if let Some(words) = arg.strip_prefix("-Wp,") {
            all.extend(preprocessors(words.split(',')));
        } else if arg == "-Xpreprocessor" {
            all.extend(preprocessors(args.next().as_deref().into_iter()));
        } else if let Some((option, value)) = long(&arg) {
            match value.map(str::to_owned).or_else(|| args.next()) {
                Some(value) if option.len() == 2 => all.push(format!("{option}{value}")),
                Some(value) => all.extend([option.to_owned(), value]),
                None => {}
            }
        } else {
            all.push(arg);
        }
    }
    // These come before the macros that the build defines itself, which may undefine them.
    let mut defined: Vec<String> = macros(&all).into_iter().map(str::to_owned).collect();
    defined.append(&mut all);
    defined
}

/// The preprocessor's own options, without those that write dependency lists.
fn preprocessors<'a>(words: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut all = Vec::new();
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        let is_path = |word: &&str| !word.starts_with('-');
        if KEPT_WITH_ARGUMENT
            .iter()
            .any(|option| word.starts_with(option))
        {
            all.push(word.to_owned());
            if KEPT_WITH_ARGUMENT.contains(&word) {
                all.extend(words.next().map(str::to_owned));
            }
        } else if matches!(word, "-MD" | "-MMD" | "-MF" | "-MT" | "-MQ") {
            words.next_if(is_path);
        } else {
            all.push(word.to_owned());
        }
    }
    all
}

/// An option given by its long name, and its value if it is in the same word.
fn long(arg: &str) -> Option<(&'static str, Option<&str>)> {
    const LONG: &[(&str, &str)] = &[
        ("--define-macro", "-D"),
        ("--undefine-macro", "-U"),
        ("--include-directory", "-I"),
        ("--include", "-include"),
        ("--imacros", "-imacros"),
    ];
    LONG.iter().find_map(|(name, short)| {
        let rest = arg.strip_prefix(name)?;
        match rest.strip_prefix('=') {
            Some(value) => Some((*short, Some(value))),
            None => rest.is_empty().then_some((*short, None)),
        }
    })
}

/// Options for stack protection; the last one counts.
const PROTECTORS: &[&str] = &[
    "-fstack-protector",
    "-fstack-protector-all",
    "-fstack-protector-strong",
    "-fstack-protector-explicit",
    "-fno-stack-protector",
];

/// Options for position-independent code; the last one counts.
const POSITIONS: &[&str] = &["-fPIE", "-fpie", "-fPIC", "-fpic", "-fno-pie", "-fno-pic"];

/// Options for control-flow protection; the last one counts.
const CONTROL_FLOW: &[&str] = &[
    "-fcf-protection",
    "-fcf-protection=full",
    "-fcf-protection=return",
    "-fcf-protection=branch",
    "-fcf-protection=none",
];

/// The macros of options that determine how exact floating-point arithmetic is. What `-ffast-math`
/// and `-funsafe-math-optimizations` enable may be disabled by other options, and then
/// `__FAST_MATH__` is not defined.
fn mathematics(
    is_level: bool,
    chosen: &dyn Fn(&[&'static str]) -> Option<&'static str>,
) -> Vec<&'static str> {
    let is_fast = is_level || chosen(&["-ffast-math", "-fno-fast-math"]) == Some("-ffast-math");
    let unsafe_math = [
        "-funsafe-math-optimizations",
        "-fno-unsafe-math-optimizations",
    ];
    let is_unsafe = chosen(&unsafe_math).map_or(is_fast, |option| option == unsafe_math[0]);
    let is_on = |options: [&'static str; 2], usual: bool| {
        chosen(&options).map_or(usual, |option| option == options[0])
    };
    let is_finite = is_on(["-ffinite-math-only", "-fno-finite-math-only"], is_fast);
    let has_no_errno = is_on(["-fno-math-errno", "-fmath-errno"], is_fast);
    let has_one_zero = is_on(["-fno-signed-zeros", "-fsigned-zeros"], is_unsafe);
    let has_no_traps = is_on(["-fno-trapping-math", "-ftrapping-math"], is_unsafe);
    let is_reciprocal = is_on(["-freciprocal-math", "-fno-reciprocal-math"], is_unsafe);
    let is_associative = is_on(["-fassociative-math", "-fno-associative-math"], is_unsafe)
        && has_one_zero
        && has_no_traps;
    let is_inexact = has_one_zero || is_reciprocal || is_associative;
    let all_of_fast = is_unsafe && is_finite && has_no_errno && has_one_zero && has_no_traps;
    let macros = [
        (all_of_fast, "-D__FAST_MATH__=1"),
        (is_finite, "-D__FINITE_MATH_ONLY__=1"),
        (has_no_errno, "-D__NO_MATH_ERRNO__=1"),
        (has_one_zero, "-D__NO_SIGNED_ZEROS__=1"),
        (has_no_traps, "-D__NO_TRAPPING_MATH__=1"),
        (is_reciprocal, "-D__RECIPROCAL_MATH__=1"),
        (is_associative, "-D__ASSOCIATIVE_MATH__=1"),
        (is_inexact, "-D__GCC_IEC_559=0"),
        (is_inexact, "-D__GCC_IEC_559_COMPLEX=0"),
        // The option itself marks the arithmetic, so that a proof can say what it assumes.
        (is_inexact || is_finite, "-fno-signed-zeros"),
        (
            is_on(["-frounding-math", "-fno-rounding-math"], false),
            "-D__ROUNDING_MATH__=1",
        ),
        (
            is_on(["-fsignaling-nans", "-fno-signaling-nans"], false),
            "-D__SUPPORT_SNAN__=1",
        ),
    ];
    let defined = macros.into_iter().filter(|(is_defined, _)| *is_defined);
    defined.map(|(_, name)| name).collect()
}

/// The macros that options define in addition to their effect. The code is compiled without
/// optimisation, but these macros may determine which code is compiled.
fn macros(args: &[String]) -> Vec<&'static str> {
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    // The last one counts.
    let level = args.iter().rev().find_map(|arg| arg.strip_prefix("-O"));
    // Of an option and its opposite, the later one counts.
    let chosen = |options: &[&'static str]| {
        let mut from_the_end = args.iter().rev();
        from_the_end.find_map(|arg| options.iter().copied().find(|option| arg == option))
    };
    let mut all = match level {
        None | Some("0") => Vec::new(),
        Some("s" | "z") => vec!["-D__OPTIMIZE__=1", "-D__OPTIMIZE_SIZE__=1"],
        Some(_) => vec!["-D__OPTIMIZE__=1"],
    };
    if !all.is_empty() && chosen(&["-fno-inline", "-finline"]) != Some("-fno-inline") {
        all.push("-U__NO_INLINE__");
    }
    if has("-fopenmp") {
        all.push("-D_OPENMP=201511");
    }
    all.extend(mathematics(level == Some("fast"), &chosen));
    let throws = chosen(&["-fexceptions", "-fno-exceptions"]);
    if throws == Some("-fexceptions") || throws.is_none() && has("-fnon-call-exceptions") {
        all.push("-D__EXCEPTIONS=1");
    }
    all.extend(match chosen(CONTROL_FLOW) {
        Some("-fcf-protection" | "-fcf-protection=full") => Some("-D__CET__=3"),
        Some("-fcf-protection=return") => Some("-D__CET__=2"),
        Some("-fcf-protection=branch") => Some("-D__CET__=1"),
        _ => None,
    });
    all.extend(match chosen(PROTECTORS) {
        Some("-fstack-protector") => Some("-D__SSP__=1"),
        Some("-fstack-protector-all") => Some("-D__SSP_ALL__=2"),
        Some("-fstack-protector-strong") => Some("-D__SSP_STRONG__=3"),
        Some("-fstack-protector-explicit") => Some("-D__SSP_EXPLICIT__=4"),
        _ => None,
    });
    all.extend(match chosen(POSITIONS) {
        Some("-fPIE") => Some("-D__PIE__=2"),
        Some("-fpie") => Some("-D__PIE__=1"),
        _ => None,
    });
    all
}

/// Flags without those that differ between libtool's two objects of a file.
pub(super) fn significant(flags: &[String]) -> Vec<&String> {
    flags.iter().filter(|flag| *flag != "-DPIC").collect()
}

/// Whether a one-word flag changes the meaning of the code.
pub(super) fn matters(flag: &str) -> bool {
    let valued = ["-std=", "--std=", "-fno-builtin-", "-fpack-struct"];
    // Clang supports no other charset.
    let is_charset = ["-fexec-charset=", "-finput-charset="]
        .iter()
        .any(|option| flag.starts_with(option));
    if is_charset {
        return flag.to_ascii_lowercase().ends_with("=utf-8");
    }
    let with = |prefixes: &[&str]| prefixes.iter().any(|prefix| flag.starts_with(prefix));
    // The argument of such an option may also be in the same word.
    with(KEPT_WITH_ARGUMENT)
        || with(&valued)
        || MEANING.contains(&flag)
        || LAYOUT.contains(&flag)
        || (flag.starts_with("-m") && !with(ONLY_TUNING))
}
