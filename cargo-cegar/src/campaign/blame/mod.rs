//! Whether the library is to blame for a fault, or a choice of the harness that violates a
//! precondition that `init` did not know.
//!
//! Only determined for harnesses that `init` wrote (`drives` in `cegar.toml`): what users pass in
//! their own harnesses is assumed to be intended.

mod shown;

use std::path::Path;

use cegar_model::machine::crossing::Harness;
use cegar_model::program::{CallSite, CheckKind, FuncId, Program};
use cegar_search::simulate::blame::{
    Blame, Condition, Interval, Missing, Relation, Subject as Guarded,
};
use cegar_search::simulate::search::Search;

use super::alternate::subject::Subject;
use crate::findings::{Blamed, BlamedOn, DECLARED, MissingCondition};
use crate::verdict::Finding;

/// The largest address near NULL: such numbers are offsets from NULL and were not chosen.
const NULL_PAGE: i128 = 4095;

/// The blame for a finding, or `None` if it cannot be determined.
pub(super) fn blamed(
    subject: &Subject<'_>,
    search: &mut Search<'_>,
    finding: &Finding,
) -> Option<Blamed> {
    subject.harness.drives.as_ref()?;
    let source = &subject.harness.units.first()?.source;
    let file = file_in(subject.program, source)?;
    let harness = Harness::in_file(subject.program, file);
    let text = std::fs::read_to_string(source).ok()?;
    let told = HarnessText {
        program: subject.program,
        text: &text,
    };
    let is_own = source.ends_with(&finding.place.file);
    if is_own && told.fills_own_memory(finding.place.line) {
        return Some(Blamed {
            from: BlamedOn::Harness,
            missing: Vec::new(),
        });
    }
    let blame = search.blame(&finding.input, &harness)?;
    let on = |from| {
        Some(Blamed {
            from,
            missing: Vec::new(),
        })
    };
    let missing = match blame {
        Blame::Library => return on(BlamedOn::Library),
        Blame::Input => return on(BlamedOn::Input),
        Blame::Harness(missing) => missing,
    };
    let is_input = |one: &Missing| {
        !told.is_declared(one) && (told.is_worked_on(one) || told.is_main_length(one))
    };
    if missing.iter().any(is_input) {
        return on(BlamedOn::Input);
    }
    let refuses = is_refusal(finding.kind);
    // A library that rejects a constant by a fault such as an assertion states a precondition.
    let is_librarys = |one: &Missing| {
        told.is_declared(one)
            || told.is_of_several_calls(one)
            || !refuses && told.is_declared_value(one)
    };
    let may_be_hole = !refuses && finding.kind != CheckKind::DivisionByZero;
    let has_hole = !missing.is_empty() && missing.iter().all(|one| told.is_hole(one));
    if missing.iter().any(is_librarys) || may_be_hole && has_hole {
        return on(BlamedOn::Library);
    }
    let missing: Vec<_> = missing.iter().map(|one| told.missing(one)).collect();
    // The user rejected this condition, so the library must work without it.
    let rejected = |one: &MissingCondition| subject.harness.rejected.contains(&one.words());
    if missing.iter().any(rejected) {
        return on(BlamedOn::Library);
    }
    Some(Blamed {
        from: BlamedOn::Harness,
        missing,
    })
}

/// The name under which the program knows a file.
fn file_in<'p>(program: &'p Program, source: &Path) -> Option<&'p str> {
    let real = source.canonicalize().ok();
    let is_it = |file: &&String| {
        let path = Path::new(file.as_str());
        path == source || real.is_some() && path.canonicalize().ok() == real
    };
    program.files.iter().find(is_it).map(String::as_str)
}

/// The context for expressing a blame in terms of the harness's source.
struct HarnessText<'t> {
    program: &'t Program,
    /// The source text of the harness.
    text: &'t str,
}

impl HarnessText<'_> {
    /// Whether a line of the harness fills its own memory, where no library call is at fault.
    fn fills_own_memory(&self, line: u32) -> bool {
        let line = self.text.lines().nth(line.saturating_sub(1) as usize);
        line.is_some_and(|line| line.trim_start().starts_with("crunner_get_bytes("))
    }

    fn missing(&self, missing: &Missing) -> MissingCondition {
        let (call, choice) = self.choice(&missing.subject);
        let fixed = choice == "NULL" || choice.parse::<i64>().is_ok();
        let named = if fixed { "" } else { choice.as_str() };
        let room = match missing.condition {
            Condition::Room { bytes } => Some(bytes),
            _ => None,
        };
        let least = match missing.condition {
            Condition::Least { bytes } => Some(bytes),
            _ => None,
        };
        let elements = missing.condition == Condition::Elements;
        let is_null = missing.value == 0 && is_null(&missing.condition);
        let condition = match &missing.condition {
            Condition::Outside {
                unsigned, signed, ..
            } if !named.is_empty() => match is_null {
                true => format!("{named} != NULL"),
                false if self.is_unsigned(named) => outside(named, *unsigned),
                false => outside(named, *signed),
            },
            Condition::Relates { relation, to } if !named.is_empty() => {
                let (_, other) = self.choice(to);
                match other.as_str() {
                    "" | "NULL" => String::new(),
                    other => format!("{named} {} {other}", relation.operator()),
                }
            }
            _ => String::new(),
        };
        let value = match is_null || choice == "NULL" {
            true => "NULL".to_owned(),
            false => self.shown(named, missing.value),
        };
        let why = self.why(missing, (&call, &choice), &value);
        // A variable whose address was not taken before the call has the value that the harness
        // set.
        let of_address = format!("&{choice}");
        let before = match &missing.subject {
            Guarded::Member { site, .. } => self.lines_before(*site),
            _ => self.text,
        };
        let plain = !fixed && !choice.contains('.');
        MissingCondition {
            why,
            call,
            choice: named.to_owned(),
            condition,
            varies: missing.varies,
            argument: match missing.subject {
                Guarded::Argument { number, .. } => Some(number),
                _ => None,
            },
            is_set: plain && before.contains(&of_address),
            is_read: plain && !before.contains(&of_address) && self.text.contains(&of_address),
            room,
            least,
            elements,
        }
    }

    /// What the harness chose, as a sentence for users.
    fn why(&self, missing: &Missing, (call, choice): (&str, &str), value: &str) -> String {
        match &missing.subject {
            _ if missing.condition == Condition::Elements => {
                format!("`{call}` took what `{choice}` has in it for indices, and looked at none")
            }
            Guarded::Argument { .. }
                if matches!(
                    missing.condition,
                    Condition::Room { .. } | Condition::Least { .. }
                ) =>
            {
                format!(
                    "`{choice}` had {} bytes, and `{call}` did not check its size",
                    missing.value
                )
            }
            Guarded::Argument { callee, number, .. } => {
                format!(
                    "the harness passed {value} as `{}` of `{call}`",
                    self.parameter(*callee, *number)
                )
            }
            Guarded::Member { .. } => {
                format!("`{choice}` was {value} when the harness called `{call}`")
            }
            Guarded::Room { variable, .. } => {
                let what = match (variable, choice) {
                    (None, "") => "memory of the harness's".to_owned(),
                    _ => format!("`{choice}`"),
                };
                format!(
                    "{what} has {} bytes, which nobody told the library",
                    missing.value
                )
            }
        }
    }

    /// Whether the condition is about the size of the data that the library processes, and not of a
    /// key or a table in addition to it: then a read past its end is the library's fault.
    fn is_worked_on(&self, missing: &Missing) -> bool {
        if missing.condition == Condition::Elements {
            return !self.is_row_of_numbers(&self.choice(&missing.subject).1);
        }
        if !matches!(missing.condition, Condition::Least { .. }) {
            return false;
        }
        let (_, choice) = self.choice(&missing.subject);
        let is_filled = self.text.contains(&format!("crunner_get_bytes({choice}, "));
        // The main input is chosen last: it is the rest of the tape.
        let has_main = self.text.contains("uint8_t *data = ");
        choice.is_empty() || choice == "data" || !is_filled || !has_main
    }

    /// Whether the condition is about the length of the main input: the length always matches its
    /// buffer, and 0 is a valid length.
    fn is_main_length(&self, missing: &Missing) -> bool {
        let is_number = matches!(
            missing.condition,
            Condition::Outside { .. } | Condition::Relates { .. } | Condition::Unknown
        );
        let chosen = matches!(missing.subject, Guarded::Argument { .. });
        let has = |words: &str| self.text.contains(words);
        let length = match () {
            () if has("*data = crunner_get_elements(") => "count",
            () if has("uint8_t *data = ") || has("(const uint8_t *data, size_t size)") => "size",
            () => return false,
        };
        // As in `(int)count` or `count * sizeof(int16_t)`.
        let choice = self.choice(&missing.subject).1;
        let mut words = choice.split(|c: char| !c.is_alphanumeric() && c != '_');
        is_number && chosen && words.any(|word| word == length)
    }

    /// Whether memory other than the main input is filled with numbers larger than a byte.
    fn is_row_of_numbers(&self, choice: &str) -> bool {
        let filled = format!("crunner_get_bytes({choice}, ");
        let mut lines = self.text.lines();
        !choice.is_empty()
            && self.text.contains("uint8_t *data = ")
            && lines.any(|line| line.contains(&filled) && line.contains(" * sizeof("))
    }

    /// Whether the condition is about a value that the header declares.
    fn is_declared_value(&self, missing: &Missing) -> bool {
        let is_argument = matches!(missing.subject, Guarded::Argument { .. });
        let (_, choice) = self.choice(&missing.subject);
        let is_line = |begin: &str| self.has_declared(&format!("{begin}{choice} = "));
        is_argument && !choice.is_empty() && (is_line(" ") || is_line("*"))
    }

    /// Whether the condition is about the size of memory that is as large as the header says.
    fn is_declared(&self, missing: &Missing) -> bool {
        let (_, name) = self.choice(&missing.subject);
        let is_block = || {
            let sizes = matches!(
                missing.condition,
                Condition::Room { .. } | Condition::Least { .. } | Condition::Elements
            );
            sizes && self.has_declared(&format!("*{name} = malloc("))
        };
        let is_array = || {
            matches!(missing.subject, Guarded::Room { .. })
                && self.has_declared(&format!(" {name}["))
        };
        !name.is_empty() && (is_array() || is_block())
    }

    /// Whether the harness has a line with these words that is marked as declared.
    fn has_declared(&self, words: &str) -> bool {
        let mut lines = self.text.lines();
        lines.any(|line| line.contains(words) && line.ends_with(DECLARED))
    }

    /// Whether the condition relates a variable of the harness to itself: it had different values
    /// in several calls, none of which is wrong by itself.
    fn is_of_several_calls(&self, missing: &Missing) -> bool {
        let Condition::Relates { to, .. } = &missing.condition else {
            return false;
        };
        let (one, other) = (self.choice(&missing.subject).1, self.choice(to).1);
        !one.is_empty() && one == other
    }

    /// Whether the library accepts both smaller and larger numbers: it checks the number, and the
    /// check has a hole. A precondition, in contrast, is a bound of a range, or that a divisor is
    /// not 0.
    fn is_hole(&self, missing: &Missing) -> bool {
        if !missing.varies || is_null(&missing.condition) {
            return false;
        }
        let (unsigned, signed) = match &missing.condition {
            Condition::Outside {
                unsigned, signed, ..
            } => (*unsigned, *signed),
            // As in `if (index > n) return;` before `v[index]`. Large values are addresses, which
            // may have to differ.
            Condition::Relates { relation, .. } => {
                return *relation == Relation::NotEqual && missing.value >> 32 == 0;
            }
            _ => return false,
        };
        let (_, choice) = self.choice(&missing.subject);
        let bad = match self.is_unsigned(&choice) {
            true => unsigned,
            false => signed,
        };
        let is_divisor = bad.low == 0 && bad.high == 0;
        !bad.from_least && !bad.to_greatest && !is_divisor
    }

    /// The called function, and the expression in the harness for the choice.
    fn choice(&self, subject: &Guarded) -> (String, String) {
        match subject {
            Guarded::Argument {
                site,
                callee,
                number,
            } => {
                let name = self.name(*callee);
                let text = self.argument(*site, &name, *number).unwrap_or_default();
                (name, text)
            }
            Guarded::Member {
                variable,
                selector,
                callee,
                ..
            } => (self.name(*callee), format!("{variable}{selector}")),
            Guarded::Room { variable, made_by } => {
                let from = made_by.and_then(|site| self.assigned(site));
                (String::new(), variable.clone().or(from).unwrap_or_default())
            }
        }
    }

    fn name(&self, id: FuncId) -> String {
        super::findings::plain(&self.program.function(id).name)
    }

    fn parameter(&self, callee: FuncId, number: usize) -> String {
        let names = &self.program.function(callee).names;
        match names.get(number).map(|name| &**name) {
            Some("") | None => format!("argument {}", number + 1),
            Some(name) => name.to_owned(),
        }
    }

    fn lines_from(&self, site: CallSite) -> Option<&str> {
        let call = self.program.calls.get(site.index())?;
        let before = call.pos.line.checked_sub(1)? as usize;
        let mut rest = self.text;
        for _ in 0..before {
            rest = rest.split_once('\n')?.1;
        }
        Some(rest)
    }

    fn lines_before(&self, site: CallSite) -> &str {
        let rest = self.lines_from(site).map_or(0, str::len);
        &self.text[..self.text.len() - rest]
    }

    /// The harness's expression for an argument, without leading casts.
    fn argument(&self, site: CallSite, callee: &str, number: usize) -> Option<String> {
        let rest = self.lines_from(site)?;
        let at = rest.find(&format!("{callee}("))? + callee.len() + 1;
        let argument = arguments(&rest[at..]).into_iter().nth(number)?;
        let plain = without_casts(&argument);
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_.->[]".contains(c);
        plain.chars().all(is_name).then(|| plain.to_owned())
    }

    /// The variable to which a call's result is assigned.
    fn assigned(&self, site: CallSite) -> Option<String> {
        let line = self.lines_from(site)?.lines().next()?;
        let (left, _) = line.split_once('=')?;
        let name = left
            .trim()
            .rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        name.into_iter().next().map(str::to_owned)
    }
}

/// Whether the fault is the library's way to reject a value: for example, a mode that it does not
/// support may lie between two that it supports.
fn is_refusal(kind: CheckKind) -> bool {
    matches!(
        kind,
        CheckKind::Assertion
            | CheckKind::ReachError
            | CheckKind::Fail
            | CheckKind::Abort
            | CheckKind::Unreachable
    )
}

fn is_null(condition: &Condition) -> bool {
    match condition {
        Condition::Outside {
            width, unsigned, ..
        } => *width == 64 && unsigned.high >= NULL_PAGE,
        _ => false,
    }
}

/// The condition that excludes the bad values of a choice.
fn outside(name: &str, bad: Interval) -> String {
    let (low, high) = (literal(bad.low), literal(bad.high));
    match (bad.from_least, bad.to_greatest) {
        _ if bad.low == bad.high => format!("{name} != {low}"),
        (true, _) => format!("{name} > {high}"),
        (_, true) => format!("{name} < {low}"),
        _ => format!("({name} < {low} || {name} > {high})"),
    }
}

fn literal(value: i128) -> String {
    match value {
        _ if i32::try_from(value).is_ok() && value != i128::from(i32::MIN) => value.to_string(),
        _ if value > i128::from(i64::MAX) => format!("{value}UL"),
        _ if value <= i128::from(i64::MIN) => "(-9223372036854775807L - 1)".to_owned(),
        _ => format!("{value}L"),
    }
}

/// The arguments of a call, given the text after its opening parenthesis.
fn arguments(text: &str) -> Vec<String> {
    let (mut depth, mut all, mut one) = (0, Vec::new(), String::new());
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' if depth == 0 => break,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                all.push(std::mem::take(&mut one));
                continue;
            }
            _ => {}
        }
        one.push(c);
    }
    all.push(one);
    all.iter().map(|one| one.trim().to_owned()).collect()
}

fn without_casts(mut text: &str) -> &str {
    while let Some(rest) = text.strip_prefix('(')
        && let Some((_, behind)) = rest.split_once(')')
        && !behind.trim().is_empty()
    {
        text = behind.trim();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_as_they_are_written() {
        assert_eq!(
            arguments("a, f(b, c), (int)d);\n more(x)"),
            ["a", "f(b, c)", "(int)d"]
        );
        assert_eq!(without_casts("(const char *)(T)data"), "data");
        assert_eq!(without_casts("(x)"), "(x)");
    }

    #[test]
    fn what_is_outside_of_the_bad_values() {
        let bad = |low, high, from_least, to_greatest| Interval {
            low,
            high,
            from_least,
            to_greatest,
        };
        assert_eq!(outside("n", bad(0, 0, true, false)), "n != 0");
        assert_eq!(outside("n", bad(-9, 0, true, false)), "n > 0");
        assert_eq!(outside("n", bad(10, 255, false, true)), "n < 10");
        assert_eq!(outside("n", bad(3, 5, false, false)), "(n < 3 || n > 5)");
    }
}
