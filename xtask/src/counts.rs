//! Parses the counts that test binaries print.

/// The numbers of tests that passed, failed and were skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl Counts {
    /// Sums up cargo's lines `test result: ok. 3 passed; 0 failed; 1 ignored; ...`.
    pub(crate) fn of(output: &str) -> Self {
        let mut sum = Self::default();
        for line in output.lines() {
            let Some((_, counts)) = line
                .trim()
                .strip_prefix("test result: ")
                .and_then(|rest| rest.split_once(". "))
            else {
                continue;
            };
            for count in counts.split("; ") {
                let Some((number, what)) = count.split_once(' ') else {
                    continue;
                };
                let number = number.parse().unwrap_or(0);
                match what {
                    "passed" => sum.passed += number,
                    "failed" => sum.failed += number,
                    "ignored" => sum.skipped += number,
                    _ => {}
                }
            }
        }
        sum
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_summed_over_binaries() {
        let output = "\
running 3 tests
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s

test result: FAILED. 2 passed; 4 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.01s
not a test result: ok. 9 passed
";
        let expected = Counts {
            passed: 5,
            failed: 4,
            skipped: 1,
        };
        assert_eq!(Counts::of(output), expected);
    }
}
