//! The identity of a fault.
//!
//! Line numbers change with every edit above, so a fault is identified by its kind, its function
//! and the text of its line. That alone would allow a second fault to hide behind the first: the
//! same statement may occur twice in a function, one line may contain two accesses, and a macro
//! gives all accesses of its body the same column. So the identity also contains the number of
//! equal lines before it in the function, the column, and the number among the checks of that
//! column, all counted so that a change of layout has no effect. A baseline, which silences a fault
//! for good, requires more: the surrounding lines and the calling function must be the accepted
//! ones, too ([`Identity::is_accepted_by`]). In case of doubt, a fault is new.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::store;

/// The number of hexadecimal digits of the hash in a finding's name.
const SHORT: usize = 6;
/// The number of last components that are compared in the path of a file outside of the crate: the
/// others depend on the machine.
const COMPONENTS: usize = 2;

/// The place of a violation according to the program and its debug information.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The rule as in SARIF: `array-bound`.
    pub rule: &'a str,
    /// The file, relative to the crate if it is below it.
    pub file: &'a str,
    /// The name of the function in the source.
    pub function: &'a str,
    /// The line on which the function begins; 0 if unknown.
    pub begins: u32,
    /// The line, from 1; 0 if unknown.
    pub line: u32,
    /// The column, from 1; 0 if unknown.
    pub column: u32,
    /// The number of checks of the rule at this column that precede this one in the program; `None`
    /// if it is the only one, or if it is unknown which one it is.
    pub part: Option<u32>,
    /// The function that called this one; empty if there is none or it is unknown.
    pub caller: &'a str,
}

/// The identity of a fault.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The file, relative to the crate; for a file outside of the crate, the last components of its
    /// path.
    pub file: String,
    /// The function.
    pub function: String,
    /// The rule as in SARIF: `array-bound`.
    pub rule: String,
    /// The text of the line without white space, or `LINE:COLUMN` if it cannot be read.
    pub text: String,
    /// The number of non-white-space characters before the fault in its line; `None` if the column
    /// is unknown.
    pub column: Option<u32>,
    /// The number of checks of the rule at this column that precede this one: a macro's body has
    /// one column. `None` if it is the only one, or if it is unknown which one it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<u32>,
    /// The number of preceding lines in the function with the same text.
    pub occurrence: u32,
    /// A hash of the lines above and below.
    pub context: String,
    /// The calling function; empty if unknown.
    pub caller: String,
}

impl Identity {
    /// Computes the identity of a fault in a crate at `root`, reading its source.
    pub fn of(root: &Path, site: &Site<'_>) -> Identity {
        let text = std::fs::read(root.join(site.file)).unwrap_or_default();
        Identity::in_text(&String::from_utf8_lossy(&text), site)
    }

    fn in_text(source: &str, site: &Site<'_>) -> Identity {
        let lines: Vec<&str> = source.lines().collect();
        let at = (site.line as usize).wrapping_sub(1);
        let line = lines
            .get(at)
            .copied()
            .filter(|line| !line.trim().is_empty());
        let begins = (site.begins as usize).saturating_sub(1).min(at);
        let text = line.map(squeezed);
        let before = lines.get(begins..at).unwrap_or_default();
        let occurrence = match &text {
            Some(text) => before
                .iter()
                .filter(|other| squeezed(other) == *text)
                .count(),
            None => 0,
        };
        let column = line.filter(|_| site.column > 0).map(|line| {
            let before = line.bytes().take(site.column as usize - 1);
            before.filter(|byte| !byte.is_ascii_whitespace()).count() as u32
        });
        Identity {
            file: portable(site.file),
            function: site.function.to_owned(),
            rule: site.rule.to_owned(),
            text: text.unwrap_or_else(|| format!("{}:{}", site.line, site.column)),
            column,
            part: site.part,
            occurrence: occurrence as u32,
            context: around(&lines, at),
            caller: site.caller.to_owned(),
        }
    }

    /// Whether both are the same fault: lines may have moved, and the caller may differ.
    pub fn is(&self, other: &Identity) -> bool {
        // A native run does not always know the column, and never the part.
        let agree =
            |one: Option<u32>, two: Option<u32>| one.zip(two).is_none_or(|(one, two)| one == two);
        agree(self.column, other.column)
            && agree(self.part, other.part)
            && self.key() == other.key()
    }

    /// Whether a baseline entry `listed` accepts this fault: the surrounding lines are unchanged,
    /// and the caller is the same.
    pub fn is_accepted_by(&self, listed: &Identity) -> bool {
        self.is(listed)
            && self.column == listed.column
            && self.part == listed.part
            && self.context == listed.context
            && self.caller == listed.caller
    }

    fn key(&self) -> (&str, &str, &str, &str, u32) {
        let Identity {
            file,
            function,
            rule,
            text,
            occurrence,
            ..
        } = self;
        (file, function, rule, text, *occurrence)
    }

    /// The name of the finding and of its test: function, rule, and a short hash of the identity.
    pub fn name(&self) -> String {
        let base = self.file.rsplit('/').next().unwrap_or(&self.file);
        let column = self
            .column
            .map_or(String::new(), |column| column.to_string());
        let mut what = [
            base,
            &self.function,
            &self.text,
            &column,
            &self.occurrence.to_string(),
        ]
        .join("\n");
        if let Some(part) = self.part.filter(|part| *part > 0) {
            what = format!("{what}\n{part}");
        }
        let hash = store::hex(&Sha256::digest(what.as_bytes()));
        let place = match self.function.as_str() {
            "" => base,
            function => function,
        };
        slug(&format!("{place} {} {}", self.rule, &hash[..SHORT]))
    }

    /// The name of a further input of the finding, which involves another calling function.
    pub fn name_with_caller(&self) -> String {
        slug(&format!("{} from {}", self.name(), self.caller))
    }
}

/// A line without its white space, so that reformatting is not a change.
pub fn squeezed(line: &str) -> String {
    line.split_whitespace().collect()
}

/// A hash of the nearest non-empty lines above and below.
fn around(lines: &[&str], at: usize) -> String {
    let said = |line: &&&str| !line.trim().is_empty();
    let above = lines.get(..at).unwrap_or_default().iter().rev().find(said);
    let below = lines
        .get(at.saturating_add(1)..)
        .unwrap_or_default()
        .iter()
        .find(said);
    let text = [above, below].map(|line| line.map_or(String::new(), |line| squeezed(line)));
    store::hex(&Sha256::digest(text.join("\n").as_bytes()))[..16].to_owned()
}

/// A path that is the same on every machine.
fn portable(file: &str) -> String {
    if !file.starts_with('/') {
        return file.to_owned();
    }
    let components: Vec<&str> = file.split('/').filter(|part| !part.is_empty()).collect();
    let from = components.len().saturating_sub(COMPONENTS);
    components[from..].join("/")
}

/// Converts a text to lower-case letters, digits and single underscores, not beginning with a
/// digit.
fn slug(text: &str) -> String {
    let words: Vec<&str> = text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let mut slug = words.join("_").to_ascii_lowercase();
    if slug.starts_with(|c: char| c.is_ascii_digit()) {
        slug.insert_str(0, "at_");
    }
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
int get(char *p, int n)
{
    p[n] = a[n] + a[n];
    if (n)
        p[n] = a[n] + a[n];
    return 0;
}
";

    fn site(line: u32, column: u32) -> Site<'static> {
        Site {
            rule: "array-bound",
            file: "c/get.c",
            function: "get",
            begins: 1,
            line,
            column,
            part: None,
            caller: "main",
        }
    }

    #[test]
    fn a_moved_and_reformatted_line_is_the_same_fault() {
        let before = Identity::in_text(SOURCE, &site(3, 12));
        let moved = format!(
            "/* new */\n\n{}",
            SOURCE.replace("    p[n] = a[n] + a[n];", "\tp[n]=a[n]  +  a[n];")
        );
        let mut there = site(5, 7);
        there.begins = 3;
        let after = Identity::in_text(&moved, &there);
        assert_eq!((before.column, after.column), (Some(5), Some(5)));
        assert!(before.is(&after) && after.is_accepted_by(&before));
        assert_eq!(before.name(), after.name());
        assert!(
            before.name().starts_with("get_array_bound_"),
            "{}",
            before.name()
        );
    }

    #[test]
    fn a_second_fault_is_another_one() {
        let first = Identity::in_text(SOURCE, &site(3, 12));
        // The same statement again in the same function; another access on the same line.
        let (second, other) = (site(5, 16), site(3, 19));
        for site in [second, other] {
            let identity = Identity::in_text(SOURCE, &site);
            assert!(!identity.is(&first), "{identity:?}");
            assert_ne!(identity.name(), first.name());
        }
        // Two accesses in the body of a macro have different parts.
        let parts = [Some(0), Some(1)].map(|part| {
            let mut site = site(3, 12);
            site.part = part;
            Identity::in_text(SOURCE, &site)
        });
        assert!(!parts[1].is(&parts[0]) && !parts[1].is_accepted_by(&parts[0]));
        assert_ne!(parts[1].name(), parts[0].name());
        // A native run does not know the part.
        assert!(first.is(&parts[1]) && !first.is_accepted_by(&parts[1]));
        // A function of the same name in another file is a different place.
        let mut elsewhere = site(3, 12);
        elsewhere.file = "c/other.c";
        assert!(!Identity::in_text(SOURCE, &elsewhere).is(&first));
    }

    #[test]
    fn a_baseline_accepts_no_more_than_what_it_has_seen() {
        let listed = Identity::in_text(SOURCE, &site(3, 12));
        let mut called = site(3, 12);
        called.caller = "other";
        let called = Identity::in_text(SOURCE, &called);
        assert!(called.is(&listed) && !called.is_accepted_by(&listed));
        // The first of two equal lines was fixed; the second is not accepted in its place.
        let mended = SOURCE.replacen("    p[n] = a[n] + a[n];\n", "    p[0] = 0;\n", 1);
        let second = Identity::in_text(&mended, &site(5, 16));
        assert!(second.is(&listed) && !second.is_accepted_by(&listed));
    }

    #[test]
    fn what_cannot_be_read_is_known_by_its_line() {
        let one = Identity::in_text("", &site(3, 12));
        let two = Identity::in_text("", &site(4, 12));
        assert!(!one.is(&two));
        assert_ne!(one.name(), two.name());
    }

    #[test]
    fn paths_outside_of_the_crate_are_the_same_on_every_machine() {
        assert_eq!(portable("/home/a/src/lib/x.c"), portable("/root/b/lib/x.c"));
        assert_eq!(portable("src/lib/x.c"), "src/lib/x.c");
        let mut odd = site(3, 12);
        odd.function = "";
        odd.file = "3d.c";
        let name = Identity::in_text(SOURCE, &odd).name();
        assert!(name.starts_with("at_3d_c_array_bound_"), "{name}");
    }
}
