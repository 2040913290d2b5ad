//! The path to a violation: the answers of the environment, call by call, and the place of the
//! violation.
//!
//! The path of a program is determined by its input. So the waypoints are the returns of the calls
//! that provided input, with their values, and following them leads to the violation. Input in
//! other forms (standard input before a call returns it, arguments of `main`, memory that a call
//! fills, pointers, floating point) cannot be constrained in the format, or not in the part of it
//! that this tool uses; it is counted.

use cegar_model::machine::{Answer, Limits, Machine};
use cegar_model::program::{Program, plain};

use super::format::{Constraint, Entry, SegmentItem, Waypoint, WaypointItem, WaypointKind};
use super::source::Sources;
use super::{Failed, Made, Request, counted, location, metadata, violated};
use crate::explain::StoredCampaign;

/// The witness for the first finding.
pub(super) fn entry(request: &Request, left: &StoredCampaign, sources: &Sources) -> Made {
    let Some((_, finding)) = left.kept.findings.first() else {
        return Err(Failed::Why("no finding was kept".to_owned()));
    };
    let program = left.program();
    let run = Machine::new(program, Limits::default()).run_tracked(&finding.input);
    let mut content = Vec::new();
    let mut choices = 0;
    let mut left_out = 0;
    for answer in &run.answers {
        if answer.choices == choices {
            // A call that takes no input returns the same value again, so it needs no waypoint.
            continue;
        }
        let made = answer.choices - choices;
        choices = answer.choices;
        match returned(program, sources, answer) {
            Some(waypoint) => content.push(alone(waypoint)),
            None => left_out += made,
        }
    }
    left_out += run.choices.len() - choices.min(run.choices.len());
    let answers = content.len();
    let root = &left.kept.root;
    let place = &finding.place;
    let file = root.join(&place.file).display().to_string();
    let Some(spot) = sources.spot(&file, place.line, place.column) else {
        return Err(Failed::Why(format!(
            "the violation at {}:{} is in none of the files that were named",
            place.file, place.line
        )));
    };
    let whole = sources.whole(spot);
    let spot = whole.unwrap_or(spot);
    content.push(alone(Waypoint {
        kind: WaypointKind::Target,
        action: "follow",
        constraint: None,
        // If a macro produced the source, only the line is known.
        location: location(
            sources,
            spot,
            whole.map(|whole| whole.column),
            place.function.clone(),
        ),
    }));
    let metadata = metadata(request, violated(&request.entry, finding.kind))?;
    let mut told = format!(
        "the way to `{}` in {}",
        finding.name,
        counted(answers, "answer")
    );
    if left_out > 0 {
        told.push_str(&format!(
            "; {left_out} left out, which the format cannot say"
        ));
    }
    if left.kept.findings.len() > 1 {
        told.push_str(&format!(
            "; the first of {} findings",
            left.kept.findings.len()
        ));
    }
    Ok((Entry::ViolationSequence { metadata, content }, told))
}

fn alone(waypoint: Waypoint) -> SegmentItem {
    SegmentItem {
        segment: vec![WaypointItem { waypoint }],
    }
}

/// The waypoint for the return of a call.
fn returned(program: &Program, sources: &Sources, answer: &Answer) -> Option<Waypoint> {
    let (bits, width) = answer.value?;
    let call = program.calls.get(answer.site.index())?;
    let path = program.files.get(call.pos.file as usize)?;
    let spot = sources.spot(path, call.pos.line, call.pos.column)?;
    let (end, called) = sources.call_end(spot)?;
    // The call may be made through a pointer to a function or a macro.
    if called != plain(&program.function(answer.function).name) {
        return None;
    }
    let value = number(bits, width, || sources.declared(&called))?;
    let function = plain(&program.function(call.caller).name).to_owned();
    Some(Waypoint {
        kind: WaypointKind::FunctionReturn,
        action: "follow",
        constraint: Some(Constraint {
            value: format!("\\result == {value}"),
            format: "acsl_expression",
        }),
        location: location(sources, end, Some(end.column), function),
    })
}

/// The number that a function of this result type returned; `None` if the type is unknown or not an
/// integer.
fn number(bits: u128, width: u16, declared: impl FnOnce() -> Option<String>) -> Option<i128> {
    let ty = declared()?;
    let words: Vec<&str> = ty.split_whitespace().collect();
    let is_any = |names: &[&str]| words.iter().any(|word| names.contains(word));
    let unsigned = is_any(&[
        "unsigned",
        "size_t",
        "uint8_t",
        "uint16_t",
        "uint32_t",
        "uint64_t",
        "uintptr_t",
        "_Bool",
        "bool",
        "u8",
        "u16",
        "u32",
        "u64",
        "uchar",
        "ushort",
        "uint",
        "ulong",
    ]);
    let signed = is_any(&[
        "int",
        "short",
        "long",
        "char",
        "signed",
        "ssize_t",
        "int8_t",
        "int16_t",
        "int32_t",
        "int64_t",
        "intptr_t",
        "ptrdiff_t",
        "s8",
        "s16",
        "s32",
        "s64",
        "off_t",
    ]);
    let is_integer = !is_any(&["double", "float", "struct", "union"]);
    if !(8..=64).contains(&width) || !is_integer || !(unsigned || signed) {
        return None;
    }
    Some(match unsigned {
        true => bits as i128,
        false => cegar_model::term::value::signed(width, bits),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_sign_of_their_type() {
        let number = |bits, width, ty: &str| number(bits, width, || Some(ty.to_owned()));
        assert_eq!(number(0xffff_ffff, 32, "int"), Some(-1));
        assert_eq!(number(0xffff_ffff, 32, "unsigned int"), Some(0xffff_ffff));
        assert_eq!(number(0xff, 8, "char"), Some(-1));
        assert_eq!(number(1, 8, "_Bool"), Some(1));
        assert_eq!(number(1, 64, "double"), None);
        assert_eq!(number(1, 32, "count_of_things"), None);
    }
}
