//! Memory with its length: arrays, cursors and the numbers that bound them.

use super::{Body, Main, OUTPUT, ROW, SECOND, or, unknown};
use crate::init::api::{Declared, Parameter};
use crate::init::ctype::{Kind, Written};
use crate::init::pairs::{self, Unit};

/// The greatest documented minimum size for which a harness makes memory.
const LARGEST: u64 = 1 << 16;
/// The maximum size in bytes of an element in an array whose elements may have any size.
const ELEMENT: usize = 16;

impl<'a> Body<'a> {
    /// The arguments for a pointer and its length.
    pub(super) fn sized(
        &mut self,
        function: &Declared,
        param: &Parameter,
        length: &Parameter,
    ) -> Result<(String, String), String> {
        let to = self.api.pointee(&param.ty).ok_or("no pointer")?;
        let target = self.api.resolve(&to);
        // Optional memory of a maker, which reports the required size through `length`: the maker
        // allocates its own.
        let is_in_and_out = self.api.pointee(&length.ty).is_some();
        if self.nested > 0 && !to.constant && target.kind == Kind::Void && is_in_and_out {
            let name = or(&param.name, "memory");
            self.guesses
                .push(format!("`{}` does without its `{name}`", function.name));
            return Ok(("NULL".to_owned(), "NULL".to_owned()));
        }
        let (element, size) = match &target.kind {
            Kind::Int { size: 1, .. } | Kind::Void => (to.words.clone(), 1),
            Kind::Int { size, .. } | Kind::Float { size } => (to.words.clone(), *size),
            Kind::Enum(_) => return self.constants(param, (&to, &target), length),
            Kind::Record(tag) => return self.record_array(param, &to, tag, length),
            Kind::Pointer(inner) => return self.cursor(param, inner, length),
            _ => return Err(unknown(param)),
        };
        let reads = ["read", "recv", "get"]
            .iter()
            .any(|w| function.name.to_lowercase().contains(w));
        // The maker of a reader takes the bytes to read as input.
        let reads = reads && self.nested == 0;
        let is_output = !to.constant
            && (pairs::is_output_name(&param.name) || reads || self.has_input(function));
        if is_output {
            return Ok(self.sized_output(param, length, (&element, size)));
        }
        if self.main.is_none() && self.nested == 0 {
            let wide = (size > 1).then(|| element.clone());
            let count = if wide.is_some() { "count" } else { "size" };
            self.main = Some(Main { wide: wide.clone() });
            let pointer = match element.as_str() {
                _ if wide.is_some() => "data".to_owned(),
                "uint8_t" | "void" => "data".to_owned(),
                other if to.constant => format!("(const {other} *)data"),
                other => format!("({other} *)data"),
            };
            if wide.is_some() {
                let said = self.as_said(function, param, ("data", count), (stored(&element), size));
                self.lines_after_input.extend(said);
            }
            let length = self.closing(param, length, &pointer, count);
            return Ok((pointer, length));
        }
        let name = self.name(or(&param.name, "input"));
        let count = self.name(&format!("{name}_size"));
        let kind = stored(&element);
        let bytes = in_bytes(&count, (kind, size));
        let learnt = self.adjust.least.get(&name).copied().unwrap_or(0);
        let learnt = (learnt as usize).div_ceil(usize::from(size));
        let documented = self.documented_least(function, length).min(LARGEST) as usize;
        let least = learnt.max(documented);
        let most = self.most_size(&function.name, SECOND).max(2 * least);
        if learnt > documented {
            let guess = format!("`{name}` has {least} elements or more");
            self.guesses.push(guess);
        }
        self.block((kind, &name, &bytes), &count, (least, most));
        self.lines
            .push(format!("crunner_get_bytes({name}, {bytes});"));
        if self.adjust.indices.contains(&name) {
            self.indices(&name, &count, kind);
        } else if size > 1 {
            let said = self.as_said(function, param, (&name, &count), (kind, size));
            self.lines.extend(said);
        }
        let length = self.closing(param, length, &name, &count);
        Ok((name, length))
    }

    /// A block whose number of elements is chosen within the bounds. It is freed at the end.
    pub(super) fn block(
        &mut self,
        (kind, name, bytes): (&str, &str, &str),
        count: &str,
        (least, most): (usize, usize),
    ) {
        self.lines
            .push(format!("size_t {count} = crunner_size({least}, {most});"));
        self.lines
            .push(format!("{kind} *{name} = malloc({bytes});"));
        self.cleanup.push(format!("free({name});"));
    }

    /// The size of each element of an array.
    pub(super) fn element_size(&mut self, param: &Parameter) -> String {
        let name = self.name(or(&param.name, "element_size"));
        let words = &param.ty.words;
        self.lines.push(format!(
            "{words} {name} = ({words})crunner_size(1, {ELEMENT});"
        ));
        name
    }

    /// The argument that bounds memory: its length, or the pointer to its end.
    pub(super) fn closing(
        &mut self,
        param: &Parameter,
        length: &Parameter,
        pointer: &str,
        count: &str,
    ) -> String {
        if pairs::is_end(self.api, param, length) {
            return format!("{pointer} + {count}");
        }
        let element = self.api.pointee(&param.ty);
        let kind = element.as_ref().map(|to| self.api.resolve(to).kind);
        match (pairs::unit(&length.name), kind, element) {
            (Unit::Bytes, Some(Kind::Int { size: 2.., .. } | Kind::Float { .. }), Some(to)) => {
                let words = to.words.trim_start_matches("const ");
                self.length(length, &format!("{count} * sizeof({words})"))
            }
            (Unit::Bits, Some(Kind::Int { size: 1, .. } | Kind::Void), _) => {
                self.length(length, &format!("{count} * 8"))
            }
            _ => self.length(length, count),
        }
    }

    /// Memory that the function writes, with its length.
    fn sized_output(
        &mut self,
        param: &Parameter,
        length: &Parameter,
        (element, size): (&str, u8),
    ) -> (String, String) {
        let name = self.name(or(&param.name, "output"));
        let room = self.name(&format!("{name}_size"));
        let kind = stored(element);
        let least = self.adjust.room.get(&name).copied().unwrap_or(0) as usize;
        let most = least + OUTPUT;
        if least > 0 {
            let guess = format!("`{name}` has room for {least} elements or more");
            self.guesses.push(guess);
        }
        let bytes = in_bytes(&room, (kind, size));
        self.block((kind, &name, &bytes), &room, (least, most));
        let length = self.closing(param, length, &name, &room);
        (name, length)
    }

    /// Maps the elements of an array to indices into the main input.
    fn indices(&mut self, name: &str, count: &str, element: &str) {
        self.guesses
            .push(format!("the elements of `{name}` are places in `data`"));
        self.lines_after_input
            .push(format!("crunner_assume({count} == 0 || size > 0);"));
        self.lines_after_input.push(format!(
            "for (size_t i = 0; i < {count}; i++)\n        {name}[i] = \
             ({element})((size_t){name}[i] % size);"
        ));
    }

    /// A length, converted to the type of its parameter.
    pub(super) fn length(&mut self, length: &Parameter, value: &str) -> String {
        if let Some(to) = self.api.pointee(&length.ty) {
            let name = self.name(or(&length.name, "length"));
            // The length of the main input is known only after the input has been taken.
            let line = format!("{} {name} = {};", to.words, cast(&to.words, value));
            if matches!(value.split(' ').next(), Some("size" | "count")) {
                self.lines_after_input.push(line);
            } else {
                self.lines.push(line);
            }
            return format!("&{name}");
        }
        match length.ty.words.as_str() {
            "size_t" | "unsigned long" => value.to_owned(),
            words => cast(words, value),
        }
    }

    /// An array of structures that the function writes or reads.
    pub(super) fn record_array(
        &mut self,
        param: &Parameter,
        to: &Written,
        tag: &str,
        length: &Parameter,
    ) -> Result<(String, String), String> {
        let Some(record) = self.api.record(tag).cloned() else {
            return Err(format!("`{}` is not defined in the header", to.words));
        };
        let is_number = |(_, ty): &(String, Written)| {
            matches!(
                self.api.resolve(ty).kind,
                Kind::Int { .. } | Kind::Float { .. }
            )
        };
        let is_plain = !record.fields.is_empty() && record.fields.iter().all(is_number);
        // Memory that the function may write need not be filled by the caller.
        let is_read = to.constant;
        if is_plain || !is_read && pairs::is_most(&length.name) {
            let fill = |name: &str, count: &str, kind: &str| match is_read {
                true => format!("crunner_get_bytes({name}, {count} * sizeof({kind}));"),
                false => format!("memset({name}, 0, {count} * sizeof({kind}));"),
            };
            return Ok(self.filled(param, to, length, ROW, fill));
        }
        let name = self.name(or(&param.name, "row"));
        self.lines
            .push(format!("{} {name}[{ROW}] = {{0}};", to.words));
        if to.constant {
            // An array that is read has content in its first element; the others stay empty.
            self.buffers(&format!("{name}[0]"), &record, true);
        }
        Ok((name, self.length(length, &ROW.to_string())))
    }

    /// An array of enumeration values, each of which is chosen.
    fn constants(
        &mut self,
        param: &Parameter,
        (to, target): (&Written, &Written),
        length: &Parameter,
    ) -> Result<(String, String), String> {
        let value = self.choice(target).ok_or_else(|| unknown(param))?;
        let fill = |name: &str, count: &str, _: &str| {
            format!("for (size_t i = 0; i < {count}; i++)\n        {name}[i] = {value};")
        };
        Ok(self.filled(param, to, length, SECOND, fill))
    }

    /// A [block](Self::block) that a statement fills, with its length.
    fn filled(
        &mut self,
        param: &Parameter,
        to: &Written,
        length: &Parameter,
        most: usize,
        fill: impl Fn(&str, &str, &str) -> String,
    ) -> (String, String) {
        let name = self.name(or(&param.name, "row"));
        let count = self.name(&format!("{name}_size"));
        let kind = to.words.trim_start_matches("const ");
        let bytes = format!("{count} * sizeof({kind})");
        self.block((kind, &name, &bytes), &count, (0, most));
        self.lines.push(fill(&name, &count, kind));
        let length = self.length(length, &count);
        (name, length)
    }

    /// A pointer into the input that the function advances, or a pointer that the function sets.
    pub(super) fn cursor(
        &mut self,
        param: &Parameter,
        inner: &Written,
        length: &Parameter,
    ) -> Result<(String, String), String> {
        let target = self.api.resolve(inner);
        let bytes = matches!(target.kind, Kind::Int { size: 1, .. } | Kind::Void);
        let name = self.name(or(&param.name, "at"));
        let constant = if inner.constant { "const " } else { "" };
        if bytes && self.main.is_none() && self.nested == 0 && !pairs::is_output_name(&param.name) {
            self.main = Some(Main { wide: None });
            self.lines_after_input.push(format!(
                "{constant}{} *{name} = ({constant}{} *)data;",
                inner.words, inner.words
            ));
            return Ok((format!("&{name}"), self.length(length, "size")));
        }
        self.lines
            .push(format!("{constant}{} *{name} = NULL;", inner.words));
        Ok((format!("&{name}"), self.length(length, "0")))
    }
}

/// The type with which memory for elements of a type is allocated.
pub(super) fn stored(element: &str) -> &str {
    match element {
        "void" => "uint8_t",
        other => other,
    }
}

/// The size in bytes of `count` elements that have `size` bytes each.
pub(super) fn in_bytes(count: &str, (kind, size): (&str, u8)) -> String {
    match size {
        1 => count.to_owned(),
        _ => format!("{count} * sizeof({kind})"),
    }
}

/// A cast of a value to a type.
fn cast(words: &str, value: &str) -> String {
    match value.contains(' ') {
        true => format!("({words})({value})"),
        false => format!("({words}){value}"),
    }
}
