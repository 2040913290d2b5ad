//! The table of assumptions: the rules by which the model is narrower than the world, and how each
//! is lifted.
//!
//! A proof holds for the real program only if the model covers all behaviour of the real world.
//! Each exception is a rule of this table: it has an identifier, a sentence, and the switch with
//! which a user lifts it. The stub library asks for a rule where its behaviour depends on it
//! (`crunner_assumed("alloc")`), and so does the encoder. A verdict rests on the rules that were
//! asked for at reachable places: exactly these are printed with it.

use std::collections::BTreeSet;

/// A rule that makes the model narrower than the world.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// Its identifier: short, lower case, with hyphens. It never changes.
    pub id: &'static str,
    /// The assumption, as a sentence.
    pub says: &'static str,
    /// How it is lifted.
    pub lift: Lift,
    /// Which part of the tool asks for it.
    pub asked: Asked,
}

/// The switch that lifts a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lift {
    /// `--no-assume ID`.
    NoAssume,
    /// `--faults LEVEL`, and `--no-assume ID`, too.
    Faults(Faults),
    /// Another option.
    Option(&'static str),
    /// No switch lifts it.
    Never,
}

/// Which part of the tool asks for a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// C code calls `crunner_assumed("ID")`: the stub library, generated bodies, and the user's
    /// models.
    Code,
    /// The encoder, where it encodes a construct that the rule is about.
    Encoder,
    /// None in particular: every proof rests on it.
    Always,
    /// The checker, depending on what the program as a whole contains or on which checks are open.
    Checker,
}

/// Which failures of the environment are modelled.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Debug,
    Default,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Faults {
    /// Nothing fails.
    None,
    /// Input and output may fail or fall short.
    #[default]
    Io,
    /// Allocations may fail.
    Alloc,
    /// All of these, and writes of `printf`, `puts` and their kin may fail.
    All,
}

impl Faults {
    /// All levels.
    pub const ALL: [Faults; 4] = [Faults::None, Faults::Io, Faults::Alloc, Faults::All];

    /// The identifiers that a level lifts.
    pub fn lifts(self) -> &'static [&'static str] {
        match self {
            Faults::None => &[],
            Faults::Io => &["io"],
            Faults::Alloc => &["alloc"],
            Faults::All => &["io", "alloc", "output"],
        }
    }

    /// The name of the level on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Faults::None => "none",
            Faults::Io => "io",
            Faults::Alloc => "alloc",
            Faults::All => "all",
        }
    }
}

/// Stands for every identifier that can be lifted, on the command line.
pub const ALL: &str = "all";

/// All rules.
#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    rule("threads", "there is one thread", Lift::Never, Asked::Always),
    rule("addresses", "pointers whose order is asked, or that are compared with NULL, lie within \
        the object that they were made from, or one past its end", Lift::NoAssume, Asked::Encoder),
    rule("const", "a function that nobody defines does not write through its pointers to \
        const", Lift::NoAssume, Asked::Encoder),
    rule("external-pointers", "a function that nobody defines leaves the pointers in the program's \
        objects as they are, but for those that it is there to \
        fill", Lift::NoAssume, Asked::Encoder),
    rule("external-results", "a pointer that comes from a function that nobody defines is NULL or \
        leads to an object from outside, not into the program's own, and may be freed where the \
        program frees it", Lift::NoAssume, Asked::Encoder),
    rule("external-calls", "functions that nobody defines call back only functions that are \
        arguments of theirs and take plain ones themselves, at once, at most twice, and with the \
        pointer that stands beside it, and do not jump out of them", Lift::NoAssume, Asked::Encoder),
    rule("external-exits", "a function that nobody defines does not end the \
        program", Lift::NoAssume, Asked::Encoder),
    rule("external-ends", "a function that nobody defines does not return where nothing follows its \
        calls, and ends the program at once: it neither calls nor jumps back, and no handler of \
        atexit runs", Lift::NoAssume, Asked::Code),
    rule("weak-symbols", "weak functions and variables are those of the program, and are NULL \
        where it defines none", Lift::NoAssume, Asked::Code),
    rule("inherited", "the process starts with the usual actions for signals, none of them blocked \
        or pending, no alarm and no children", Lift::NoAssume, Asked::Code),
    rule("external-library", "a function that nobody defines leaves alone what the C library \
        keeps: the environment, open files, signals' handlers, the state of \
        rand", Lift::NoAssume, Asked::Encoder),
    rule("external-frees", "a function that nobody defines frees nothing that the program \
        allocated", Lift::NoAssume, Asked::Encoder),
    rule("external-bounds", "functions that nobody defines are given what they need, and access \
        nothing beyond it", Lift::Never, Asked::Checker),
    rule("external-rules", "what is said under [external] holds", Lift::Never, Asked::Checker),
    rule("library", "the C library and the operating system do what the stub library \
        does", Lift::Never, Asked::Checker),
    rule("io", "input and output do not fail or fall short", Lift::Faults(Faults::Io), Asked::Code),
    rule("output", "what printf, puts, putc and their kin write is written, and they leave errno \
        alone", Lift::Faults(Faults::All), Asked::Code),
    rule("files", "files are regular ones of at most 64 KB, 24 are open at most, and nobody else \
        changes them meanwhile", Lift::NoAssume, Asked::Code),
    rule("arguments", "main is given its name, `program`, and no more arguments than `argv` says \
        in cegar.toml (3 for `check`)", Lift::NoAssume, Asked::Code),
    rule("folder", "the working folder is /, and there are no links, as far as realpath is \
        asked", Lift::NoAssume, Asked::Code),
    rule("stdin", "the standard streams are pipes, open in one direction: they have no \
        position", Lift::NoAssume, Asked::Code),
    rule("buffers", "streams hold nothing back: what is read or written through their descriptors \
        is in order, and nobody looks at what they put into buffers that they are given, which are \
        there until the last output", Lift::NoAssume, Asked::Code),
    rule("descriptors", "when the program begins, the standard streams are open, and no other \
        descriptor", Lift::NoAssume, Asked::Code),
    rule("sorting", "qsort is a stable merge sort, and bsearch begins in the \
        middle", Lift::NoAssume, Asked::Code),
    rule("environment", "main's third argument and environ lead to an empty \
        list", Lift::NoAssume, Asked::Checker),
    rule("devices", "no descriptor is a terminal or another device", Lift::NoAssume, Asked::Code),
    rule("identity", "the process, its user, host, limits and time zone are the usual ones \
        (numbers 1000, one processor, no limits, UTC)", Lift::NoAssume, Asked::Code),
    rule("clock", "clocks are not set back, and all show one time", Lift::NoAssume, Asked::Code),
    rule("locale", "the only locale is C's", Lift::NoAssume, Asked::Code),
    rule("signals", "a signal that is handled comes while a function of the library reads, writes \
        or waits, and not in another's handler", Lift::NoAssume, Asked::Code),
    rule("alloc", "allocations succeed", Lift::Faults(Faults::Alloc), Asked::Code),
    rule("usable-size", "malloc_usable_size gives the number of bytes that was asked \
        for", Lift::NoAssume, Asked::Code),
    rule("odd-alignment", "aligned_alloc and memalign refuse alignments that are no powers of \
        two", Lift::NoAssume, Asked::Code),
    rule("sizes", "sizes, counts, numbers of calls and members of enumerations are among those \
        that the harness asks for with crunner_size", Lift::Never, Asked::Code),
    rule("guesses", "callers do what the first comment of a harness guesses, or has from other \
        callers", Lift::Never, Asked::Code),
    rule("assembly", "assembly at file scope neither defines nor changes what the C code \
        names", Lift::NoAssume, Asked::Code),
    rule("own-copies", "the program's own memcpy, memmove and memset do what the C library's do, \
        where the compiler calls them", Lift::NoAssume, Asked::Code),
    rule("alignment", "vectors are accessed at aligned addresses, where the compiler relies on \
        it", Lift::NoAssume, Asked::Code),
    rule("temporaries", "compound literals, structures that calls return and variables whose \
        declaration is jumped over are not used after their block or expression, where their \
        addresses are kept", Lift::NoAssume, Asked::Code),
    rule("volatile-pointers", "pointers that are volatile hold what the program stored in \
        them", Lift::NoAssume, Asked::Code),
    rule("fast-math", "floating-point arithmetic is IEEE 754's, though options such as \
        -ffast-math let the compiler change it", Lift::NoAssume, Asked::Code),
    rule("booleans", "objects of type _Bool hold 0 or 1", Lift::NoAssume, Asked::Code),
    rule("stack", "the stack is large enough for the program's calls and \
        variables", Lift::NoAssume, Asked::Checker),
    rule("wrapping", "signed arithmetic that overflows wraps around, as with \
        -fwrapv", Lift::Option("--property overflow"), Asked::Checker),
    rule("conversions", "a floating-point value that the integer type does not have is converted \
        as the processor does it", Lift::Option("--property overflow"), Asked::Checker),
    rule("unasked-memory", "every access to memory is valid: not asked, and not all of it is \
        proved", Lift::Option("--property memory"), Asked::Checker),
    rule("unasked-overflow", "no arithmetic overflows: not asked, and not all of it is \
        proved", Lift::Option("--property overflow"), Asked::Checker),
    rule("unasked-abort", "a call of abort ends the run, and no handler of SIGABRT runs \
        before", Lift::Option("--property assertion"), Asked::Checker),
    rule("unasked-assertion", "no assertion fails: not asked, and not all of it is \
        proved", Lift::Option("--property assertion"), Asked::Checker),
];

const fn rule(id: &'static str, says: &'static str, lift: Lift, asked: Asked) -> Rule {
    Rule {
        id,
        says,
        lift,
        asked,
    }
}

impl Rule {
    /// The rule with this identifier.
    pub fn find(id: &str) -> Option<&'static Rule> {
        RULES.iter().find(|rule| rule.id == id)
    }

    /// Whether `--no-assume` lifts the rule. When it is lifted, either the model covers the wider
    /// behaviour, or the goals that depend on the rule stay open.
    pub fn can_be_lifted(&self) -> bool {
        matches!(self.lift, Lift::NoAssume | Lift::Faults(_))
    }

    /// The switch that lifts the rule, as it is written on the command line.
    pub fn switch(&self) -> Option<String> {
        match self.lift {
            Lift::NoAssume => Some(format!("--no-assume {}", self.id)),
            Lift::Faults(level) => Some(format!("--faults {}", level.name())),
            Lift::Option(option) => Some(option.to_owned()),
            Lift::Never => None,
        }
    }
}

/// The reason why a rule cannot be lifted.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LiftError {
    /// There is no such rule.
    #[error("there is no assumption `{0}`")]
    Unknown(String),
    /// The model has no wider world for the rule.
    #[error("the assumption `{id}` cannot be lifted: \
        {says}{}", switch.as_deref().map_or_else(String::new, |s| format!("; {s} looks at it")))]
    Fixed {
        /// The rule.
        id: &'static str,
        /// Its sentence.
        says: &'static str,
        /// The option that covers the wider behaviour instead.
        switch: Option<String>,
    },
}

/// The identifiers that can be lifted, as a list for messages.
pub fn liftable() -> String {
    let all = RULES.iter().filter(|rule| rule.can_be_lifted());
    let mut names: Vec<&str> = all.map(|rule| rule.id).collect();
    names.push(ALL);
    names.join(", ")
}

/// The identifiers that a level of faults and then `lift` and `keep` lift together. `keep` takes
/// precedence over `lift`.
pub fn lifted(
    faults: Faults,
    lift: &[String],
    keep: &[String],
) -> Result<BTreeSet<String>, LiftError> {
    let mut all: BTreeSet<String> = faults.lifts().iter().map(|&id| id.to_owned()).collect();
    for id in lift {
        for rule in named(id)? {
            all.insert(rule.id.to_owned());
        }
    }
    for id in keep {
        for rule in named(id)? {
            all.remove(rule.id);
        }
    }
    Ok(all)
}

/// The rules that an identifier names.
fn named(id: &str) -> Result<Vec<&'static Rule>, LiftError> {
    if id == ALL {
        return Ok(RULES.iter().filter(|rule| rule.can_be_lifted()).collect());
    }
    let rule = Rule::find(id).ok_or_else(|| LiftError::Unknown(id.to_owned()))?;
    if !rule.can_be_lifted() {
        return Err(LiftError::Fixed {
            id: rule.id,
            says: rule.says,
            switch: rule.switch(),
        });
    }
    Ok(vec![rule])
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_unique_and_plain() {
        for (i, rule) in RULES.iter().enumerate() {
            let plain = |c: char| c.is_ascii_lowercase() || c == '-';
            assert!(rule.id.chars().all(plain), "{}", rule.id);
            assert!(rule.id != ALL);
            let others = &RULES[i + 1..];
            assert!(others.iter().all(|o| o.id != rule.id), "{}", rule.id);
        }
    }

    /// Appends the contents of every file below a folder to `found`.
    fn texts(folder: &std::path::Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                texts(&path, found);
            } else {
                found.push(std::fs::read_to_string(&path).unwrap());
            }
        }
    }

    /// The quoted strings that directly follow `word` in the texts.
    fn quoted(texts: &[String], word: &str) -> BTreeSet<String> {
        let all = texts.iter().flat_map(|text| text.split(word).skip(1));
        let quoted = all.filter_map(|rest| {
            rest.trim_start_matches('\\')
                .strip_prefix('"')?
                .split(['"', '\\'])
                .next()
        });
        quoted.map(str::to_owned).collect()
    }

    #[test]
    fn what_is_asked_for_is_a_rule_and_each_rule_is_asked_for() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut code = Vec::new();
        for folder in ["c-stubs/src", "harness/src", "engine/model/src/program"] {
            texts(&root.join(folder), &mut code);
        }
        let mut asked = quoted(&code, "crunner_assumed(");
        asked.remove("ID");
        // The rules of the driver are in a table.
        asked.extend(quoted(&code, "rule: "));
        // The rule of functions that do not return.
        asked.extend(quoted(&code, "const ENDS: &str = "));
        for id in &asked {
            let rule = Rule::find(id).unwrap_or_else(|| panic!("no rule `{id}`"));
            assert_eq!(rule.asked, Asked::Code, "{id}");
        }
        let mut encoder = Vec::new();
        texts(&root.join("engine/model/src/symbolic"), &mut encoder);
        for rule in RULES {
            let literal = format!("\"{}\"", rule.id);
            let is_asked = match rule.asked {
                Asked::Code => asked.contains(rule.id),
                // The identifier as a literal, or as the value of a constant: `narrow` creates a
                // hole for a name that is not a rule.
                Asked::Encoder => encoder.iter().any(|text| text.contains(&literal)),
                Asked::Always | Asked::Checker => true,
            };
            assert!(is_asked, "nobody asks for `{}`", rule.id);
        }
    }

    #[test]
    fn levels_lists_and_exceptions() {
        let strings = |all: &[&str]| all.iter().map(|&s| s.to_owned()).collect::<Vec<_>>();
        let none = lifted(Faults::None, &[], &[]).unwrap();
        assert!(none.is_empty());
        let alloc = lifted(Faults::Alloc, &[], &[]).unwrap();
        assert!(alloc.contains("alloc"));
        let kept = lifted(Faults::All, &strings(&["all"]), &strings(&["alloc"])).unwrap();
        assert!(!kept.contains("alloc") && !kept.contains("threads"));
        let unknown = lifted(Faults::None, &strings(&["aloc"]), &[]);
        assert_eq!(unknown, Err(LiftError::Unknown("aloc".to_owned())));
        let fixed = lifted(Faults::None, &strings(&["threads"]), &[]);
        assert!(matches!(fixed, Err(LiftError::Fixed { id: "threads", .. })));
    }
}
