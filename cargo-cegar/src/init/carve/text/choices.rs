//! Chooses the data of a call: numbers, memory with its length, strings.
//!
//! The recorded arguments are examples of permitted values. This module decides how far a choice
//! may deviate from them, and the harness's first comment documents it.

use super::super::super::api::{Declared, Parameter};
use super::super::super::ctype::{Kind, Written};
use super::super::super::{drive, pairs};
use super::super::trace::{Call, Value, little};
use super::{Writer, or};

/// The maximum length of chosen data.
const LONGEST: u64 = 1024;
/// A lower bound for that maximum.
const SHORT: u64 = 64;
/// The size in bytes of memory whose length is unknown.
const GUESSED: u64 = 64;
/// If at least this many different numbers were seen, and they differ by more than [`FAR`], they
/// are arbitrary data rather than a small range.
const MANY: usize = 4;
const FAR: i64 = 1024;
/// A value that was the same in at least this many calls is treated as a constant.
const ALWAYS: usize = 3;

impl Writer<'_> {
    pub(super) fn storage(&mut self, number: usize, param: &Parameter) -> String {
        if let Some(name) = self.storages.get(&number) {
            return name.clone();
        }
        let name = self.name(&param.name);
        let words = self
            .facts
            .api
            .pointee(&param.ty)
            .map(|to| to.words)
            .unwrap_or_default();
        // The variable must outlive a loop in which it may be used first.
        self.lines.insert(0, format!("{words} {name};"));
        self.lines
            .insert(1, format!("memset(&{name}, 0, sizeof {name});"));
        let holds = self
            .facts
            .api
            .pointee(&param.ty)
            .map(|to| self.facts.api.resolve(&to).kind);
        if let Some(Kind::Record(tag)) = holds
            && let Some(record) = self.facts.api.record(&tag)
            && record
                .fields
                .iter()
                .any(|(_, ty)| matches!(self.facts.api.resolve(ty).kind, Kind::Pointer(_)))
        {
            self.learn(format!(
                "`{name}`: its members are 0 at first; what the tests put into them \
                between calls is not carved"
            ));
        }
        self.storages.insert(number, name.clone());
        name
    }

    /// An integer or another scalar.
    pub(super) fn number(
        &mut self,
        function: &Declared,
        i: usize,
        param: &Parameter,
        value: &Value,
    ) -> Option<String> {
        let api = self.facts.api;
        let words = &param.ty.words;
        let resolved = api.resolve(&param.ty);
        let wanted = param.wanted(i);
        let (size, signed) = match &resolved.kind {
            Kind::Int { size, signed } => (u64::from(*size), *signed),
            Kind::Enum(_) => (4, false),
            Kind::Bool => {
                self.put(&[value.bits() as u8 & 1]);
                let name = self.name(&wanted);
                self.line(format!("{words} {name} = crunner_get_bool();"));
                return Some(name);
            }
            Kind::Float { size } => {
                // The value is not recorded, so this use yields no input.
                self.tape = None;
                let name = self.name(&wanted);
                let getter = if *size == 4 { "float" } else { "double" };
                self.line(format!("{words} {name} = crunner_get_{getter}();"));
                return Some(name);
            }
            _ => return None,
        };
        let numbers = self.facts.numbers.get(&(function.name.clone(), i))?;
        let (low, high) = (*numbers.seen.first()?, *numbers.seen.last()?);
        let value = value.bits() as i64;
        if low == high {
            self.learn(format!("{}: `{wanted}` is always {low}", function.name));
            return Some(literal(low, words));
        }
        let name = self.name(&wanted);
        let is_data =
            numbers.seen.len() >= MANY && high.checked_sub(low).is_none_or(|far| far > FAR);
        if is_data {
            let getter = drive::getter(size, signed);
            self.put(&value.to_le_bytes()[..size.min(8) as usize]);
            self.line(format!("{words} {name} = ({words}){getter}();"));
        } else {
            self.choose(value, low, high);
            self.learn(format!("{}: `{wanted}` is {low} to {high}", function.name));
            self.line(format!(
                "{words} {name} = ({words})crunner_range({low}, {high});"
            ));
        }
        Some(name)
    }

    /// Memory with its length.
    pub(super) fn sized(
        &mut self,
        function: &Declared,
        (i, param): (usize, &Parameter),
        to: &Written,
        l: usize,
        call: &Call,
    ) -> Option<(String, String)> {
        let api = self.facts.api;
        let length = &function.params[l];
        let (element, unit) = match api.resolve(to).kind {
            Kind::Int { size, .. } | Kind::Float { size } => (to.words.clone(), u64::from(size)),
            Kind::Void => ("unsigned char".to_owned(), 1),
            _ => return None,
        };
        let behind = api.pointee(&length.ty);
        let count = match (&behind, call.args.get(l)?) {
            (None, value) => value.bits(),
            (Some(_), value) => little(value.bytes().get(..8.min(value.bytes().len()))?),
        };
        let name = self.name(if param.name.is_empty() {
            "data"
        } else {
            &param.name
        });
        let size = self.name(&format!("{name}_size"));
        let (most, always) = self.sizes(function, l, behind.is_some());
        match always {
            Some(always) => {
                self.learn(format!(
                    "{}: `{}` is always {always}",
                    function.name,
                    or(&length.name, "its length")
                ));
                self.line(format!("size_t {size} = {always};"));
            }
            None => {
                let most = most.next_power_of_two().clamp(SHORT, LONGEST);
                self.choose(count as i64, 0, most as i64);
                self.line(format!("size_t {size} = crunner_size(0, {most});"));
            }
        }
        let bytes = if unit == 1 {
            size.clone()
        } else {
            format!("{size} * sizeof({element})")
        };
        self.line(format!("{element} *{name} = malloc({bytes});"));
        let is_output = !to.constant && pairs::is_output_name(&param.name);
        if !is_output {
            let data = call.args.get(i)?.bytes();
            let wanted = usize::try_from(count.saturating_mul(unit)).ok()?;
            match data.get(..wanted) {
                Some(data) => self.put(data),
                None => self.tape = None,
            }
            self.line(format!("crunner_get_bytes({name}, {bytes});"));
        }
        if !self.in_loop && !self.mute {
            self.cleanup.push(format!("free({name});"));
        }
        let passed = match &behind {
            Some(to) => {
                let variable = self.name(or(&length.name, "length"));
                self.line(format!("{} {variable} = ({}){size};", to.words, to.words));
                format!("&{variable}")
            }
            None if length.ty.words == "size_t" => size,
            None => format!("({}){size}", length.ty.words),
        };
        Some((name, passed))
    }

    /// The maximum length that was passed, and the only one if it was always the same.
    fn sizes(&self, function: &Declared, l: usize, behind: bool) -> (u64, Option<u64>) {
        let numbers = self
            .facts
            .numbers
            .get(&(function.name.clone(), l))
            .filter(|_| !behind);
        let Some(numbers) = numbers else {
            return (LONGEST, None);
        };
        let most = numbers.seen.last().copied().unwrap_or(0).max(0) as u64;
        let always = numbers.seen.len() == 1 && numbers.count >= ALWAYS;
        (most, always.then_some(most))
    }

    /// A pointer without a length.
    pub(super) fn pointer(
        &mut self,
        function: &Declared,
        (i, param): (usize, &Parameter),
        to: &Written,
        value: &Value,
    ) -> Option<String> {
        let api = self.facts.api;
        let target = api.resolve(to);
        let name = |writer: &mut Self| writer.name(or(&param.name, "value"));
        match &target.kind {
            Kind::Pointer(_) => {
                let name = name(self);
                let key = (self.step, i);
                self.line(format!("{} {name} = NULL;", to.words));
                self.wrote.entry(key).or_insert_with(|| name.clone());
                Some(format!("&{name}"))
            }
            Kind::Int { size: 1, .. } if to.constant => self.text(function, i, param, value),
            Kind::Int { size, .. } | Kind::Float { size } if *size > 1 && !to.constant => {
                let name = name(self);
                let before = value
                    .bytes()
                    .get(..usize::from(*size))
                    .map(little)
                    .unwrap_or_default();
                let before = if before <= LONGEST { before } else { 0 };
                self.line(format!("{} {name} = {before};", to.words));
                Some(format!("&{name}"))
            }
            Kind::Int { .. } | Kind::Void => {
                let name = name(self);
                let bound = param.bound.clone().unwrap_or(GUESSED.to_string());
                let element = if target.kind == Kind::Void {
                    "unsigned char"
                } else {
                    &to.words
                };
                self.learn(format!(
                    "{}: nobody says how long `{name}` is; {bound} elements are a guess",
                    function.name
                ));
                self.tape = None;
                self.line(format!("{element} {name}[{bound}];"));
                self.line(format!("crunner_get_bytes({name}, sizeof {name});"));
                Some(name)
            }
            _ => None,
        }
    }

    fn text(
        &mut self,
        function: &Declared,
        i: usize,
        param: &Parameter,
        value: &Value,
    ) -> Option<String> {
        let texts = self
            .facts
            .texts
            .get(&(function.name.clone(), i))
            .and_then(Option::as_ref)?;
        let plain = |text: &[u8]| {
            text.iter().all(|c| c.is_ascii_graphic() || *c == b' ')
                && !text.contains(&b'"')
                && !text.contains(&b'\\')
        };
        if let (1, Some(only)) = (texts.len(), texts.first())
            && plain(only)
            && only.len() <= 32
        {
            let only = String::from_utf8_lossy(only).into_owned();
            self.learn(format!(
                "{}: `{}` is always \"{only}\"",
                function.name,
                or(&param.name, "the text")
            ));
            return Some(format!("\"{only}\""));
        }
        let recorded = value
            .bytes()
            .strip_suffix(&[0])
            .unwrap_or_default()
            .to_vec();
        for byte in recorded {
            self.put(&[byte]);
            if byte == 0xff {
                self.put(&[1]);
            }
        }
        self.put(&[0]);
        let name = self.name(or(&param.name, "text"));
        self.line(format!("char *{name} = crunner_new_string();"));
        if !self.in_loop && !self.mute {
            self.cleanup.push(format!("free({name});"));
        }
        match param.ty.words.as_str() {
            "const char *" | "char *" => Some(name),
            words => Some(format!("({words}){name}")),
        }
    }
}

fn literal(value: i64, words: &str) -> String {
    if words == "int" || words == "size_t" && value >= 0 {
        value.to_string()
    } else {
        format!("({words}){value}")
    }
}
