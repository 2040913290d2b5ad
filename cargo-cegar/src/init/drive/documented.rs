//! Memory whose size the header documents in words.
//!
//! `(n + 7) / 8 bytes are written to out`, `an image of width * height bytes`, `room for
//! HEX_SIZE(len) characters`: a comment on a function states the size of an array as a C expression
//! of numbers that are passed, too. An array of any other size blames the library for a violation
//! of a documented precondition, or hides its faults. So such an expression is taken literally: the
//! memory has exactly this size, and an access beyond it is a finding.

use std::ops::Range;

use super::documented_sizes::{DocumentedSize, indexed, meant, sizes_in, unconditional, unit};
use super::expression::Names;
use super::members::is_own_data;
use super::prose::{has_phrase, sentences};
use super::sized::{in_bytes, stored};
use super::{Body, DECLARED};
use crate::init::api::{Declared, Parameter};
use crate::init::ctype::{Kind, Written};
use crate::init::pairs;

/// The maximum value of each number in an expression with at most two numbers.
const LARGE: usize = 64;
/// The maximum value of each number in an expression with more than two.
const SMALL: usize = 12;

impl Body<'_> {
    /// The pointers whose memory size the comment of the function documents. Pointers that are
    /// paired with a length, and pointers to anything but numbers or bytes, are left out.
    pub(super) fn documented(
        &self,
        function: &Declared,
        lengths: &[Option<usize>],
    ) -> Vec<(usize, DocumentedSize)> {
        if function.comment.is_empty() {
            return Vec::new();
        }
        let is_number = |param: &Parameter| {
            !param.name.is_empty() && matches!(self.api.resolve(&param.ty).kind, Kind::Int { .. })
        };
        let numbers: Vec<&str> = function
            .params
            .iter()
            .filter(|one| is_number(one))
            .map(|one| one.name.as_str())
            .collect();
        let names = Names {
            numbers: &numbers,
            functions: &self.functions_of_numbers(),
            constants: &[],
        };
        let params = function.params.iter().enumerate();
        let open = params.filter(|(i, param)| self.is_sized_memory(param) && lengths[*i].is_none());
        let open: Vec<(usize, &Parameter)> = open.collect();
        let by_index = open.iter().filter_map(|(i, param)| {
            let room = indexed(&function.comment, &param.name, &numbers)?;
            Some((*i, room))
        });
        let mut found: Vec<(usize, DocumentedSize)> = by_index.collect();
        for sentence in sentences(&function.comment) {
            // `bytes` may be the name of a parameter, but is a unit here.
            let is_pointer = |word: &String| {
                unit(word).is_none() && open.iter().any(|(_, param)| param.name == *word)
            };
            let said = unconditional(&sentence, sizes_in(&sentence, names));
            let places: Vec<Range<usize>> = said.iter().map(|(place, _)| place.clone()).collect();
            let mut meant = meant(&sentence, &places, is_pointer);
            // `Both have n bytes.`
            if let ([names], [one, other]) = (&mut meant[..], &open[..])
                && names.is_empty()
                && has_phrase(&sentence, &["both"])
            {
                names.extend([one.1.name.as_str(), other.1.name.as_str()]);
            }
            let claimed: Vec<&str> = meant.iter().flatten().copied().collect();
            let mut others = open
                .iter()
                .filter(|(_, param)| !claimed.contains(&param.name.as_str()));
            // An expression without a pointer name describes the only memory that no other
            // expression describes.
            let only = match (others.next(), others.next()) {
                (Some((i, _)), None) => Some(*i),
                _ => None,
            };
            for ((_, room), names) in said.into_iter().zip(&meant) {
                let is_fixed = room.numbers(function).is_empty();
                for (i, param) in &open {
                    let is_meant = match &names[..] {
                        // A number without a parameter and without a pointer name may describe
                        // anything.
                        [] => only == Some(*i) && !is_fixed,
                        names => names.contains(&param.name.as_str()),
                    };
                    let is_meant = is_meant && !(is_fixed && self.is_text(param));
                    if is_meant && found.iter().all(|(known, _)| known != i) {
                        found.push((*i, room.clone()));
                    }
                }
            }
        }
        found
    }

    /// Whether a parameter points to bytes or numbers whose count nothing else tells.
    fn is_sized_memory(&self, param: &Parameter) -> bool {
        let to = self.api.pointee(&param.ty);
        let plain = match to.map(|to| self.api.resolve(&to).kind) {
            Some(Kind::Void) => !is_own_data(&param.name),
            Some(Kind::Int { .. } | Kind::Float { .. }) => true,
            _ => false,
        };
        plain && param.bound.is_none() && self.api.identity(&param.ty).is_none()
    }

    /// Whether a parameter is a string: it ends at its NUL, whatever minimum length is documented.
    fn is_text(&self, param: &Parameter) -> bool {
        let to = self.api.pointee(&param.ty);
        let is_character = |to: &Written| {
            matches!(
                self.api.resolve(to).kind,
                Kind::Int {
                    size: 1,
                    signed: true
                }
            )
        };
        to.is_some_and(|to| to.constant && is_character(&to))
    }

    /// Removes pairs of a pointer and a length for which the comment documents a different size:
    /// `frame has room for n + 2 bytes`.
    pub(super) fn unpaired(&self, function: &Declared, lengths: &mut [Option<usize>]) {
        let free = vec![None; lengths.len()];
        let said = self.documented(function, &free).into_iter();
        // A plain `n bytes` agrees with the pair.
        for (pointer, room) in said.filter(|(_, room)| room.words.len() > 1) {
            let numbers = room.numbers(function);
            lengths[pointer].take_if(|length| numbers.contains(length));
        }
    }

    /// Chooses the numbers that determine the documented sizes, except those that are the length of
    /// other memory.
    pub(super) fn measures(
        &mut self,
        function: &Declared,
        (sizes, lengths): (&[(usize, DocumentedSize)], &[Option<usize>]),
        arguments: &mut [Option<String>],
    ) {
        for (_, room) in sizes {
            let numbers = room.numbers(function);
            let most = if numbers.len() > 2 { SMALL } else { LARGE };
            for i in numbers {
                if arguments[i].is_some() || lengths.contains(&Some(i)) {
                    continue;
                }
                let param = &function.params[i];
                let name = self.name(&param.wanted(i));
                let words = &param.ty.words;
                let chosen = format!("crunner_size(0, {most})");
                let chosen = match words.as_str() {
                    "size_t" => chosen,
                    narrow => format!("({narrow}){chosen}"),
                };
                self.lines.push(format!("{words} {name} = {chosen};"));
                arguments[i] = Some(name);
            }
        }
    }

    /// Memory of the documented size. `None` if a number in the expression is unknown.
    pub(super) fn documented_memory(
        &mut self,
        function: &Declared,
        (i, room): (usize, &DocumentedSize),
        arguments: &[Option<String>],
    ) -> Option<String> {
        let param = &function.params[i];
        let to = self.api.pointee(&param.ty)?;
        let size = match self.api.resolve(&to).kind {
            Kind::Int { size, .. } | Kind::Float { size } => size,
            _ => 1,
        };
        let element = stored(to.words.trim_start_matches("const "));
        let count = room.with(function, arguments)?;
        let bytes = match room.bytes || size == 1 {
            true => count,
            false => in_bytes(&format!("({count})"), (element, size)),
        };
        let name = self.name(&param.wanted(i));
        let is_late = ["size", "count"]
            .iter()
            .any(|main| super::has_name(&bytes, main));
        let mut lines = vec![format!("{element} *{name} = malloc({bytes}); {DECLARED}")];
        if to.constant || !pairs::is_output_name(&param.name) {
            lines.push(format!("crunner_get_bytes({name}, {bytes});"));
            // A choice after the main input needs a part of the tape, so the main input must not
            // take all of it.
            self.answers |= is_late;
        }
        match is_late {
            true => self.lines_after_input.extend(lines),
            false => self.lines.extend(lines),
        }
        self.cleanup.push(format!("free({name});"));
        Some(name)
    }
}
