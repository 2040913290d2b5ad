//! The bodies of callbacks: how they read and fill the memory that the library passes to them.
//!
//! A library that reports a length which is one too large makes no invalid access itself: its
//! caller reads a byte out of bounds. So a callback reads its arguments as any caller would:
//! strings up to their NUL, and bytes with a length up to that length. The parameter names in the
//! header tell which is which; without names no number is taken as a length.

use super::Body;
use super::members::reading_loop;
use super::prose::says;
use super::text::words;
use crate::init::api::{Parameter, Prototype};
use crate::init::ctype::{Function, Kind, Written};
use crate::init::pairs;

/// Phrases for strings that have no NUL.
const OPEN_ENDED: &[&str] = &[
    "not nul",
    "not null",
    "not terminated",
    "not zero",
    "no nul",
    "without a nul",
    "without end",
];
/// Types of numbers that do not show what they mean.
const PLAIN: &[&str] = &["int", "unsigned int", "long", "unsigned long", "size_t"];
/// Words in the names of callbacks that return a count.
const QUANTITIES: &[&str] = &[
    "count", "height", "len", "length", "num", "number", "size", "width",
];
/// The maximum number of bytes that a callback fills in.
const ANSWER: usize = 64;

impl Body<'_> {
    /// The lines of a callback that read its parameters `p1`, `p2` and so on.
    pub(super) fn looked_at(&self, function: &Function, said: Option<&Prototype>) -> String {
        let params = named(function, said);
        let lengths = pairs::lengths(self.api, &params);
        let is_number =
            |param: &Parameter| matches!(self.api.resolve(&param.ty).kind, Kind::Int { .. });
        let has_names = params.iter().any(|param| !param.name.is_empty());
        // An unnamed number next to a string may be its length.
        let reads_texts = (has_names || !params.iter().any(is_number)) && !is_open_ended(said);
        let mut lines = String::new();
        for (i, param) in params.iter().enumerate() {
            let number = i + 1;
            // A `size_t` after bytes need not be their length if its name says otherwise: it may be
            // a hash or a line number.
            let is_length = |l: &usize| {
                let named = pairs::is_count_name(&params[*l].name);
                named && self.is_bytes(param, true) && is_number(&params[*l])
            };
            let length = lengths[i].filter(is_length);
            let is_closed = |at: usize| {
                let pair = params.get(at).zip(params.get(at + 1));
                pair.is_some_and(|(begin, end)| pairs::is_end(self.api, begin, end))
            };
            let is_range = is_closed(i) || i > 0 && is_closed(i - 1);
            let is_text = reads_texts && is_text(&param.ty) && lengths[i].is_none() && !is_range;
            lines += &match is_text {
                true => format!("    (void)(p{number} && strlen(p{number}));\n"),
                false => format!("    (void)p{number};\n"),
            };
            lines += &self.described(&param.ty, number);
            if let Some(l) = length {
                let (at, length) = (format!("p{number}"), format!("p{}", l + 1));
                let unit = pairs::unit(&params[l].name);
                lines += &format!("    {}\n", reading_loop("", &at, &length, unit));
            }
        }
        lines
    }

    /// The lines that read the bytes which a structure that a callback gets describes.
    fn described(&self, ty: &Written, number: usize) -> String {
        let to = self.api.pointee(ty);
        let record = to.and_then(|to| match self.api.resolve(&to).kind {
            Kind::Record(tag) => self
                .api
                .record(&tag)
                .filter(|record| !record.union)
                .cloned(),
            _ => None,
        });
        let access = format!("p{number}->");
        let guard = format!("p{number} && ");
        let lines = record.map(|record| self.reads_of(&record, &access, &guard));
        let lines = lines.into_iter().flatten();
        lines.map(|line| format!("    {line}\n")).collect()
    }

    /// The body of a callback that fills memory, `size_t read(void *user, char *into, size_t
    /// size)`: it fills a part and returns the size of that part. `None` for any other callback.
    pub(super) fn filled_in(
        &self,
        function: &Function,
        said: Option<&Prototype>,
    ) -> Option<String> {
        let params = named(function, said);
        let lengths = pairs::lengths(self.api, &params);
        let (i, l) = (0..params.len())
            .find_map(|i| Some((i, lengths[i].filter(|_| self.is_bytes(&params[i], false))?)))?;
        let is_number =
            |ty: &Written| matches!(self.api.resolve(ty).kind, Kind::Int { size: 4.., .. });
        let has_names = !params[i].name.is_empty();
        if !has_names || !is_number(&params[l].ty) || !is_number(&function.returns) {
            return None;
        }
        let (into, size) = (i + 1, l + 1);
        let returns = &function.returns.words;
        Some(format!(
            "    size_t most = p{size} > 0 ? (size_t)p{size} : 0;\n    \
             size_t filled = crunner_size(0, most < {ANSWER} ? most : {ANSWER});\n    \
             crunner_get_bytes(p{into}, filled);\n    return ({returns})filled;\n"
        ))
    }

    /// The body of a callback that returns a count, `int getNumVertices(const context *c, int
    /// face)`: the count depends on the arguments only and does not change between two calls.
    /// `None` for any other callback.
    pub(super) fn quantity(
        &self,
        (function, name): (&Function, &str),
        value: &str,
    ) -> Option<String> {
        let mut named = words(name);
        let is_read = |ty: &Written| match self.api.pointee(ty) {
            Some(to) => to.constant || matches!(self.api.resolve(&to).kind, Kind::Void),
            None => matches!(self.api.resolve(ty).kind, Kind::Int { .. } | Kind::Enum(_)),
        };
        let is_number = matches!(self.api.resolve(&function.returns).kind, Kind::Int { .. });
        if !is_number
            || !named.any(|word| QUANTITIES.contains(&word.as_str()))
            || !function.params.iter().all(is_read)
        {
            return None;
        }
        let mut numbers = function.params.iter().enumerate();
        let numbers = numbers.find(|(_, ty)| self.api.pointee(ty).is_none());
        let returns = &function.returns.words;
        Some(match numbers {
            Some((place, ty)) => format!(
                "    static _Bool is_chosen;\n    static {} one;\n    static {returns} of_one, \
                 of_others;\n    if (!is_chosen) {{\n        one = p{given};\n        of_one = \
                 {value};\n        of_others = {value};\n        is_chosen = 1;\n    }}\n    \
                 return p{given} == one ? of_one : of_others;\n",
                ty.words.trim_start_matches("const "),
                given = place + 1
            ),
            None => format!(
                "    static _Bool is_chosen;\n    static {returns} number;\n    if (!is_chosen) \
                 {{\n        number = {value};\n        is_chosen = 1;\n    }}\n    return \
                 number;\n"
            ),
        })
    }

    /// The body of a callback that maps a number to another one of the same type, `codepoint
    /// custom(codepoint c, void *user)`: the result depends on the number only, because a library
    /// may call twice and expect the same result. `None` for any other callback.
    pub(super) fn mapped(&self, function: &Function, value: &str) -> Option<String> {
        let returns = &function.returns.words;
        let mut numbers = function.params.iter().enumerate().filter(|(_, ty)| {
            let kind = self.api.resolve(ty).kind;
            !matches!(kind, Kind::Pointer(_))
        });
        let (place, only) = numbers.next()?;
        let is_one = numbers.next().is_none() && function.params.len() <= 2;
        let is_number = matches!(self.api.resolve(only).kind, Kind::Int { .. });
        // A plain `int` may be a status code.
        let has_kind = !PLAIN.contains(&returns.as_str());
        let is_map = is_one && is_number && has_kind && only.words == *returns;
        let given = place + 1;
        is_map.then(|| {
            format!(
                "    static _Bool is_chosen;\n    static {returns} from, to, by;\n    if \
                 (!is_chosen) {{\n        from = {value};\n        to = {value};\n        by = \
                 {value};\n        is_chosen = 1;\n    }}\n    return p{given} == from ? to : \
                 ({returns})(p{given} ^ by);\n"
            )
        })
    }

    /// Whether a callback reports an event and returns whether the library goes on: `int
    /// on_header(parser *p, const char *at, size_t len)`. Most callers return 0, and a library that
    /// never goes on shows little. Two values of one type are compared, and the result of a
    /// function without a pointer to data or to an object is a value.
    pub(super) fn is_status(&self, function: &Function) -> bool {
        let pointers: Vec<&Written> = (function.params.iter())
            .filter(|ty| self.api.pointee(ty).is_some())
            .collect();
        let is_compared = pointers
            .windows(2)
            .any(|pair| pair[0].words == pair[1].words);
        function.returns.words == "int" && !pointers.is_empty() && !is_compared
    }

    /// Whether a parameter points to bytes that are only read (`constant`) or that are written.
    fn is_bytes(&self, param: &Parameter, constant: bool) -> bool {
        self.api.pointee(&param.ty).is_some_and(|to| {
            let kind = self.api.resolve(&to).kind;
            to.constant == constant && matches!(kind, Kind::Void | Kind::Int { size: 1, .. })
        })
    }
}

/// The parameters of a callback, with the names that its typedef gives them.
fn named(function: &Function, said: Option<&Prototype>) -> Vec<Parameter> {
    let names = said.map(|said| &said.names);
    let names = names.filter(|names| names.len() == function.params.len());
    let params = function.params.iter().enumerate();
    params
        .map(|(i, ty)| Parameter::plain(names.map_or("", |names| &names[i]), ty.clone()))
        .collect()
}

/// Whether the comment on a typedef says that strings have no NUL.
fn is_open_ended(said: Option<&Prototype>) -> bool {
    said.is_some_and(|said| says(&said.comment, OPEN_ENDED))
}

/// Whether a type is `const char *`.
pub(super) fn is_text(ty: &Written) -> bool {
    ty.words.replace(' ', "") == "constchar*"
}
