//! The tracefile format of lcov, which genhtml, editors and code hosts read.
//!
//! Counts are 1 or 0, since a campaign does not add up the counts of its millions of runs. Lines
//! and branches that are proved unreachable have no record, as if they were excluded by hand.

use std::fmt::Write as _;

use super::{Coverage, File, State};

/// The coverage as a tracefile.
pub fn lcov(coverage: &Coverage) -> String {
    let mut out = String::new();
    for (path, file) in &coverage.files {
        // Writing to a string cannot fail.
        let _ = put(&mut out, path, file);
    }
    out
}

fn put(out: &mut String, path: &str, file: &File) -> std::fmt::Result {
    writeln!(out, "TN:cegar\nSF:{}", one_line(path))?;
    let alive = |f: &super::Function| f.state != State::Unreachable;
    let functions = || file.functions.iter().filter(|(_, f)| alive(f));
    for (name, function) in functions() {
        writeln!(out, "FN:{},{name}", function.line)?;
    }
    let mut hit = 0;
    for (name, function) in functions() {
        let entered = u8::from(function.state == State::Covered);
        hit += u64::from(entered);
        writeln!(out, "FNDA:{entered},{name}")?;
    }
    writeln!(out, "FNF:{}\nFNH:{hit}", functions().count())?;
    let (mut found, mut hit) = (0u64, 0u64);
    for (number, ((line, _, _), ways)) in file.branches.iter().enumerate() {
        for (way, branch) in ways.iter().enumerate().filter(|(_, way)| !way.dead) {
            found += 1;
            hit += u64::from(branch.taken);
            let taken = match (branch.reached, branch.taken) {
                (false, _) => "-",
                (true, false) => "0",
                (true, true) => "1",
            };
            writeln!(out, "BRDA:{line},{number},{way},{taken}")?;
        }
    }
    writeln!(out, "BRF:{found}\nBRH:{hit}")?;
    let (mut found, mut hit) = (0u64, 0u64);
    for (line, state) in &file.lines {
        let executed = match state {
            State::Unreachable => continue,
            State::Open => 0u64,
            State::Partial | State::Covered => 1,
        };
        found += 1;
        hit += executed;
        writeln!(out, "DA:{line},{executed}")?;
    }
    writeln!(out, "LF:{found}\nLH:{hit}\nend_of_record")
}

/// Replaces line breaks in a path, since a record is one line.
fn one_line(path: &str) -> String {
    path.replace(['\n', '\r'], "_")
}

#[cfg(test)]
mod tests {
    use super::super::{Function, Way};
    use super::*;

    #[test]
    fn what_is_proved_unreachable_is_not_counted() {
        let mut coverage = Coverage::default();
        let file = coverage.files.entry("src/a.c".to_owned()).or_default();
        for (line, state) in [
            (2, State::Covered),
            (3, State::Unreachable),
            (4, State::Open),
            (5, State::Partial),
        ] {
            file.lines.insert(line, state);
        }
        let function = Function {
            line: 1,
            state: State::Covered,
            end: 5,
            is_linked: true,
        };
        file.functions.insert("f".to_owned(), function);
        let way = |taken, dead| Way {
            reached: true,
            taken,
            dead,
        };
        let ways = vec![way(true, false), way(false, true), way(false, false)];
        file.branches.insert((2, 7, 0), ways);
        insta::assert_snapshot!(lcov(&coverage), @r"
        TN:cegar
        SF:src/a.c
        FN:1,f
        FNDA:1,f
        FNF:1
        FNH:1
        BRDA:2,0,0,1
        BRDA:2,0,2,0
        BRF:2
        BRH:1
        DA:2,1
        DA:4,0
        DA:5,1
        LF:3
        LH:2
        end_of_record
        ");
    }
}
