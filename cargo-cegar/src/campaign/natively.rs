//! Finds the check that is violated by a finding which only a native run showed.
//!
//! The machine identifies the violated check; a sanitizer reports a place and a kind. Both refer to
//! the same program with the same debug information, so the check is found by its place. Otherwise
//! a violated check would be reported as open beside its own finding.

use cegar_model::program::{Check, CheckKind};

use super::alternate::Alternation;
use crate::verdict::{Finding, Place};

/// Assigns the violated check to each finding that has none, if one can be found.
pub(super) fn assign_checks(alternation: &mut Alternation<'_, '_>) {
    let unassigned: Vec<(usize, u32)> = alternation
        .confirming
        .judge
        .findings
        .iter()
        .enumerate()
        .filter(|(_, (check, _))| check.is_none())
        .filter_map(|(at, (_, finding))| Some((at, violated(alternation, finding)?)))
        .collect();
    for (finding, check) in unassigned {
        alternation.confirming.judge.assign(finding, check);
    }
}

/// The check at a finding's place that matches the report best. Proved checks are left out: a fault
/// of another kind, such as a stack overflow, may be reported at a place where an access is valid.
fn violated(alternation: &Alternation<'_, '_>, finding: &Finding) -> Option<u32> {
    let overview = alternation.overview();
    let checks = alternation.subject.program.checks.iter().enumerate();
    let here = checks.filter(|(number, check)| {
        overview.is_goal(check)
            && !alternation.confirming.judge.violated(*number as u32)
            && !overview.holds(*number)
    });
    let near = here.filter_map(|(number, check)| {
        let function = &alternation.subject.program.function(check.function).name;
        let place = alternation.confirming.judge.at(check.pos, function);
        Some((distance(check, &place, finding)?, number as u32))
    });
    near.min().map(|(_, number)| number)
}

/// The distance of a check at another column of the same line.
const FAR: u32 = 100;

/// The distance of a check from what a finding reports, or `None` if the check cannot be the
/// violated one. In a line, an access at another column than the reported one belongs to another
/// expression, but not every report has a column.
fn distance(check: &Check, place: &Place, finding: &Finding) -> Option<u32> {
    let found = &finding.place;
    if place.file != found.file || place.line != found.line || place.line == 0 {
        return None;
    }
    let column = match (place.column == found.column, found.column) {
        (true, _) => 0,
        (false, 0) => 1,
        // A signal does not tell whether the access was a read or a write, so the column weighs
        // more.
        (false, _) => FAR,
    };
    let kind = match (check.kind == finding.kind, check.kind, finding.kind) {
        (true, ..) => 0,
        // An index past an array's bound shows as an access past the array, and a copy both reads
        // and writes.
        (_, CheckKind::Read | CheckKind::Write, CheckKind::Read | CheckKind::Write) => 4,
        (_, CheckKind::ArrayBound, CheckKind::Read | CheckKind::Write) => 8,
        (_, CheckKind::Free | CheckKind::Call, CheckKind::Read | CheckKind::Write) => 12,
        _ => return None,
    };
    // A check of another kind at another column does not match.
    (kind == 0 || column < FAR).then_some(kind + column)
}

#[cfg(test)]
mod tests {
    use cegar_model::program::{FuncId, Loc, Pos};

    use super::*;
    use crate::event::samples;

    fn check(kind: CheckKind) -> Check {
        Check {
            kind,
            loc: Loc {
                block: Default::default(),
                inst: 0,
            },
            pos: Pos::default(),
            function: FuncId(0),
            expression: String::new(),
            trivial: false,
        }
    }

    #[test]
    fn the_nearest_check_is_meant() {
        let mut finding = samples::finding("a.c");
        finding.kind = CheckKind::Write;
        finding.place.line = 7;
        finding.place.column = 5;
        let mut place = finding.place.clone();
        let far = |kind, place: &Place| distance(&check(kind), place, &finding);
        assert_eq!(far(CheckKind::Write, &place), Some(0));
        assert_eq!(far(CheckKind::Read, &place), Some(4));
        assert_eq!(far(CheckKind::SignedOverflow, &place), None);
        place.column = 9;
        assert_eq!(far(CheckKind::Write, &place), Some(FAR));
        assert_eq!(far(CheckKind::Read, &place), None);
        place.line = 8;
        assert_eq!(far(CheckKind::Write, &place), None);
    }
}
