//! `exclude` under `[c]` in `cegar.toml`: files of the captured build that are left out.
//!
//! A pattern matches the end of a path, since the folder of the registry's sources differs between
//! machines. `tests/*.c` matches every C file directly in a folder `tests`, and `**/tests/**`
//! matches everything below such a folder.

use std::path::Path;

use glob::{MatchOptions, Pattern};

/// A list of patterns.
#[derive(Debug, Clone, Default)]
pub struct Exclude {
    patterns: Vec<(Pattern, bool)>,
}

impl Exclude {
    /// Reads the patterns.
    ///
    /// # Errors
    /// If a pattern is invalid; the message says which one and why.
    pub fn new(patterns: &[String]) -> Result<Exclude, String> {
        let read = |text: &String| {
            let short = text.trim_start_matches("./");
            let pattern = Pattern::new(short);
            let pattern = pattern.map_err(|why| format!("`{text}` under [c] exclude: {why}"))?;
            Ok((pattern, false))
        };
        let patterns = patterns.iter().map(read).collect::<Result<_, String>>()?;
        Ok(Exclude { patterns })
    }

    /// Whether a file is left out.
    pub fn matches(&mut self, file: &Path) -> bool {
        let options = MatchOptions {
            case_sensitive: true,
            require_literal_separator: true,
            require_literal_leading_dot: false,
        };
        let mut found = false;
        for (pattern, used) in &mut self.patterns {
            let mut parts = file.components();
            loop {
                if pattern.matches_path_with(parts.as_path(), options) {
                    (found, *used) = (true, true);
                    break;
                }
                if parts.next().is_none() {
                    break;
                }
            }
        }
        found
    }

    /// The patterns that no file matched.
    pub fn unused(&self) -> impl Iterator<Item = &str> {
        let unused = self.patterns.iter().filter(|(_, used)| !used);
        unused.map(|(pattern, _)| pattern.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_about_the_end_of_a_path() {
        let cases = [
            ("mini.c", "/registry/lzo/minilzo/mini.c", true),
            ("mini.c", "/registry/lzo/xmini.c", false),
            ("tests/*.c", "/a/tests/x.c", true),
            ("tests/*.c", "/a/tests/deep/x.c", false),
            ("**/tests/**", "/a/tests/deep/x.c", true),
            ("./test_[ab].c", "../c/test_b.c", true),
            ("/a/b.c", "/a/b.c", true),
            ("c/*", "c/x.c", true),
        ];
        for (pattern, file, expected) in cases {
            let mut exclude = Exclude::new(&[pattern.to_owned()]).expect("a pattern");
            assert_eq!(
                exclude.matches(Path::new(file)),
                expected,
                "{pattern} {file}"
            );
            assert_eq!(exclude.unused().count(), usize::from(!expected));
        }
        assert!(Exclude::new(&["a**b".to_owned()]).is_err());
    }
}
