//! Arguments for pointers without a length: bytes, strings, results, structures, callbacks.

use super::members::{as_parameters, goes_on};
use super::preconditions::bound_of_answer;
use super::text::declaration;
use super::{Body, GUESSED, GUESSED_OUTPUT, Main, OUTPUT, ZEROS, unknown};
use crate::findings::DECLARED;
use crate::init::api::{Declared, Parameter, Prototype, Record};
use crate::init::ctype::{Function, Kind, Written};
use crate::init::pairs;

/// A structure with more members than this gets no memory.
const MOST_MEMBERS: usize = 32;
/// Number of elements in the memory that a callback provides.
const HANDED: usize = 4096;
/// The maximum count that the callback reports, because one counted item may have several elements.
const PIECES: usize = 16;

impl Body<'_> {
    /// Sets the members of a structure that are a pointer to bytes and its length: `struct { const
    /// void *src; size_t size; }`. If the function only reads the structure (`is_read`), the bytes
    /// are chosen, too.
    pub(super) fn buffers(&mut self, name: &str, record: &Record, is_read: bool) {
        if record.union || record.fields.len() > MOST_MEMBERS {
            return;
        }
        let fields = as_parameters(record);
        for (i, l) in self.member_lengths(record).into_iter().enumerate() {
            let (field, Some(length)) = (&fields[i], l.map(|l| &fields[l])) else {
                continue;
            };
            let Some(to) = self.api.pointee(&field.ty) else {
                continue;
            };
            let target = self.api.resolve(&to).kind;
            if !matches!(target, Kind::Int { size: 1, .. } | Kind::Void) {
                continue;
            }
            if to.constant && self.main.is_none() && self.nested == 0 {
                self.main = Some(Main { wide: None });
                self.lines_after_input
                    .push(format!("{name}.{} = ({})data;", field.name, field.ty.words));
                self.lines_after_input.push(format!(
                    "{name}.{} = ({})size;",
                    length.name, length.ty.words
                ));
            } else if !to.constant || is_read {
                let plain = name.split('[').next().unwrap_or(name);
                let room = self.name(&format!("{plain}_size"));
                self.lines
                    .push(format!("size_t {room} = crunner_size(0, {OUTPUT});"));
                if is_read {
                    let memory = self.name(&format!("{plain}_{}", field.name));
                    self.lines
                        .push(format!("uint8_t *{memory} = malloc({room});"));
                    self.lines
                        .push(format!("crunner_get_bytes({memory}, {room});"));
                    let cast = field.ty.words.trim();
                    self.lines
                        .push(format!("{name}.{} = ({cast}){memory};", field.name));
                    self.cleanup.push(format!("free({memory});"));
                } else {
                    self.lines
                        .push(format!("{name}.{} = malloc({room});", field.name));
                    // The library may replace the pointer by memory of its own.
                    let memory = self.name(&format!("{plain}_{}", field.name));
                    self.lines
                        .push(format!("void *{memory} = {name}.{};", field.name));
                    if !pairs::is_output_name(&field.name) {
                        self.lines
                            .push(format!("crunner_get_bytes({memory}, {room});"));
                    }
                    self.cleanup.push(format!(
                        "if ({name}.{} == {memory})\n        free({memory});",
                        field.name
                    ));
                }
                self.lines.push(format!(
                    "{name}.{} = ({}){room};",
                    length.name, length.ty.words
                ));
            }
        }
    }

    pub(super) fn pointer(
        &mut self,
        function: &Declared,
        param: &Parameter,
        wanted: &str,
        depth: usize,
    ) -> Result<String, String> {
        let to = self.api.pointee(&param.ty).ok_or("no pointer")?;
        let target = self.api.resolve(&to);
        if let Kind::Function(callback) = &target.kind {
            let said = self.api.prototype(&param.name, &param.ty);
            return self.callback((said, callback), wanted);
        }
        if let Kind::Record(tag) = &target.kind
            && ["_IO_FILE", "__va_list_tag", "__dirstream"].contains(&tag.as_str())
        {
            return Err(format!("`{}` belongs to the platform", param.ty.words));
        }
        if let Some(identity) = self.api.identity(&param.ty) {
            let known = matches!(&target.kind, Kind::Record(tag) if self.api.record(tag).is_some());
            match self.made(function, param, &to, &identity, depth) {
                Ok(made) => return Ok(made),
                Err(why) if !known => return self.optional(function, param, &identity, why),
                Err(_) => {}
            }
        }
        if let Some(tag) = self.table_of_functions(&target)
            && let Ok(none) = self.optional(function, param, &tag, String::new())
        {
            return Ok(none);
        }
        match &target.kind {
            Kind::Void => {
                let made = self.made_plain(function, param, &to, depth);
                Ok(made.unwrap_or_else(|| "NULL".to_owned()))
            }
            Kind::Int { size: 1, signed } => Ok(self.bytes(param, &to, *signed, wanted)),
            Kind::Pointer(inner) => self.address(function, (param, &to, inner), wanted, depth),
            Kind::Record(tag) => self.structure(function, (&to, tag), wanted, depth),
            Kind::Other | Kind::Named(_) | Kind::Array(_) | Kind::Function(_) => {
                Err(unknown(param))
            }
            _ => {
                let name = self.name(wanted);
                let value = if to.constant {
                    self.choice(&target).unwrap_or_else(|| "0".to_owned())
                } else {
                    "0".to_owned()
                };
                if let Some(bound) = &param.bound {
                    self.lines
                        .push(format!("{} {name}[{bound}] = {{0}}; {DECLARED}", to.words));
                    if to.constant && matches!(target.kind, Kind::Int { .. } | Kind::Float { .. }) {
                        self.lines
                            .push(format!("crunner_get_bytes({name}, sizeof {name});"));
                    }
                    return Ok(name);
                }
                // A function that takes input writes samples and coefficients as arrays, rarely as
                // single numbers.
                let row = matches!(target.kind, Kind::Int { size: 2, .. } | Kind::Float { .. });
                let asked = self.adjust.room.get(&name).copied().unwrap_or(0) as usize;
                if asked > 0 || row && !to.constant && self.has_input(function) {
                    self.row((&name, &to, &target), asked);
                    return Ok(name);
                }
                self.lines.push(format!("{} {name} = {value};", to.words));
                Ok(format!("&{name}"))
            }
        }
    }

    /// A variable for a structure that the header defines.
    fn structure(
        &mut self,
        function: &Declared,
        (to, tag): (&Written, &str),
        wanted: &str,
        depth: usize,
    ) -> Result<String, String> {
        let Some(record) = self.api.record(tag).cloned() else {
            return Err(format!("nothing in the header makes a `{}`", to.words));
        };
        if goes_on(&record) {
            return Err(format!(
                "a `{}` ends with an array that goes on behind it, and nothing says how far",
                to.words
            ));
        }
        let name = self.name(wanted);
        let asked = self.adjust.room.get(&name).copied().unwrap_or(0);
        if asked > 0 {
            return Ok(self.elements(to, &record, &name, asked));
        }
        self.lines.push(format!("{} {name} = {{0}};", to.words));
        let points =
            |(_, ty): &(String, Written)| matches!(self.api.resolve(ty).kind, Kind::Pointer(_));
        if !to.constant && !record.union {
            let guess = match record.fields.iter().any(points) {
                true => format!("`{name}` is good as it is with zeros in it"),
                false => format!("`{name}` {ZEROS}"),
            };
            self.guesses.push(guess);
        }
        self.given_members(function, &name, &record);
        if to.constant {
            self.members(&name, &record);
            self.options(&name, &record);
            self.buffers(&name, &record, true);
        } else {
            self.caller_members(&name, tag, &record);
            if depth == 0 && !self.has_input(function) && !pairs::is_output_name(wanted) {
                self.buffers(&name, &record, false);
            }
        }
        Ok(format!("&{name}"))
    }

    /// The tag of a structure that consists of callbacks only.
    fn table_of_functions(&self, target: &Written) -> Option<String> {
        let Kind::Record(tag) = &target.kind else {
            return None;
        };
        let record = self.api.record(tag)?;
        let is_function = |(_, ty): &(String, Written)| {
            let to = self.api.pointee(ty);
            to.is_some_and(|to| matches!(self.api.resolve(&to).kind, Kind::Function(_)))
        };
        (!record.fields.is_empty() && record.fields.iter().all(is_function)).then(|| tag.clone())
    }

    /// An array of structures, used if a single one was too small. If the function only reads it,
    /// its contents are chosen.
    fn elements(&mut self, to: &Written, record: &Record, name: &str, bytes: u64) -> String {
        let is_pointer =
            |(_, ty): &(String, Written)| matches!(self.api.resolve(ty).kind, Kind::Pointer(_));
        let is_plain = !record.fields.iter().any(is_pointer);
        let words = to.words.trim_start_matches("const ");
        self.guesses.push(format!("`{name}` has {bytes} bytes"));
        self.lines.push(format!(
            "{words} {name}[1 + {bytes} / sizeof({words})] = {{{{0}}}};"
        ));
        if to.constant && is_plain {
            self.lines
                .push(format!("crunner_get_bytes({name}, sizeof {name});"));
        }
        name.to_owned()
    }

    /// NULL for an object that cannot be created, if a maker takes it: many makers treat NULL as
    /// the default. A trial in which NULL was rejected ends this.
    fn optional(
        &mut self,
        function: &Declared,
        param: &Parameter,
        identity: &str,
        why: String,
    ) -> Result<String, String> {
        let number = function.params.iter().position(|one| one == param);
        // In a cycle of makers, the object that is being created does without this maker's object.
        let is_circle = self.making.iter().any(|one| one == identity);
        let Some(number) = number.filter(|_| self.nested > 0 && !is_circle) else {
            return Err(why);
        };
        let key = (function.name.clone(), number);
        if self.adjust.not_null.contains(&key) {
            return Err(why);
        }
        let name = param.wanted(number);
        self.guesses
            .push(format!("`{}` does without its `{name}`", function.name));
        Ok("NULL".to_owned())
    }

    /// Characters or bytes without a length.
    pub(super) fn bytes(
        &mut self,
        param: &Parameter,
        to: &Written,
        signed: bool,
        wanted: &str,
    ) -> String {
        let name = self.name(wanted);
        let asked = self.adjust.room.contains_key(&name);
        let is_written = pairs::is_output_name(&param.name) || pairs::is_message_name(&param.name);
        let is_output = !to.constant && (is_written || !signed || asked);
        if signed && !is_output && param.bound.is_none() {
            self.strings += 1;
            let constant = if to.constant { "const " } else { "" };
            self.lines.push(format!(
                "{constant}{} *{name} = crunner_new_string();",
                to.words
            ));
            return name;
        }
        let room = match &param.bound {
            Some(bound) => bound.clone(),
            None => {
                let room = if is_output { GUESSED_OUTPUT } else { GUESSED };
                let room = self.asked_room(&name, room);
                self.guesses.push(format!("`{name}` has {room} bytes"));
                room.to_string()
            }
        };
        let declared = match param.bound {
            Some(_) => format!(" {DECLARED}"),
            None => String::new(),
        };
        self.lines
            .push(format!("{} {name}[{room}];{declared}", to.words));
        if !is_output {
            self.lines
                .push(format!("crunner_get_bytes({name}, sizeof {name});"));
        }
        name
    }

    /// The address of a pointer for the function to set.
    pub(super) fn address(
        &mut self,
        function: &Declared,
        (param, to, inner): (&Parameter, &Written, &Written),
        wanted: &str,
        depth: usize,
    ) -> Result<String, String> {
        if to.constant {
            return Err(format!("`{}` is an array of pointers", param.ty.words));
        }
        if let Kind::Pointer(_) = self.api.resolve(inner).kind {
            return Err(format!("`{}` has too many stars", param.ty.words));
        }
        let name = self.name(wanted);
        if self.adjust.pointer_arrays.contains(&name) {
            return self.array_of_pointers(function, to, &name, depth);
        }
        let declared = match &to.kind {
            Kind::Named(typedef) => format!("{typedef} "),
            _ => to.words.clone(),
        };
        self.lines.push(format!("{declared}{name} = NULL;"));
        if let Some(identity) = self.api.identity(to)
            && let Some(back) = self.releaser_of(&identity, &self.function.name)
        {
            let call = self.release_call(back, &name);
            self.cleanup.push(format!("if ({name})\n        {call};"));
        }
        Ok(format!("&{name}"))
    }

    /// The body of a callback that provides memory, `long read(void *user, float **to)`: it sets
    /// the pointer and returns the number of elements. To return a number without setting the
    /// pointer would violate the contract of such callbacks.
    fn handed_over(&self, function: &Function) -> Option<String> {
        let number = |ty: &Written| {
            let kind = self.api.resolve(ty).kind;
            matches!(kind, Kind::Int { .. } | Kind::Float { .. }).then_some(kind)
        };
        let place = |ty: &Written| {
            let to = self.api.pointee(ty).filter(|to| !to.constant)?;
            let each = self.api.pointee(&to)?;
            // The library may free a string.
            match number(&each)? {
                Kind::Int { size: 1, .. } if !each.constant => None,
                _ => Some(each),
            }
        };
        // A length parameter is more specific than the return value.
        let is_length = |ty: &Written| {
            let to = self.api.pointee(ty).filter(|to| !to.constant);
            to.is_some_and(|to| number(&to).is_some())
        };
        let mut places = function.params.iter().enumerate();
        let (i, each) = places.find_map(|(i, ty)| Some((i + 1, place(ty)?)))?;
        if places.any(|(_, ty)| place(ty).is_some())
            || function.params.iter().any(is_length)
            || !matches!(number(&function.returns), Some(Kind::Int { .. }))
        {
            return None;
        }
        let element = each.words.trim_start_matches("const ");
        Some(format!(
            "    static {element} memory[{HANDED}];\n    *p{i} = memory;\n    return \
             crunner_range(0, {PIECES});\n"
        ))
    }

    /// A function for the library to call. It is added to the callbacks of the harness.
    pub(super) fn callback(
        &mut self,
        (said, function): (Option<&Prototype>, &Function),
        wanted: &str,
    ) -> Result<String, String> {
        let name = self.name(&format!("on_{}", wanted.trim_start_matches("on_")));
        let mut params = Vec::new();
        for (i, ty) in function.params.iter().enumerate() {
            if matches!(ty.kind, Kind::Other)
                || matches!(&ty.kind, Kind::Pointer(to) if matches!(to.kind, Kind::Function(_)))
            {
                return Ok("NULL".to_owned());
            }
            params.push(declaration(ty, &format!("p{}", i + 1)));
        }
        let list = if params.is_empty() {
            "void".to_owned()
        } else {
            params.join(", ")
        };
        let used = self.looked_at(function, said);
        let filled = self.filled_in(function, said);
        let resolved = self.api.resolve(&function.returns);
        let handed = self.handed_over(function);
        let mut statements = std::mem::take(&mut self.lines);
        let answer = match &resolved.kind {
            Kind::Void => self.taken_memory((said, function), wanted),
            Kind::Pointer(_) => self.given_memory((said, function), wanted),
            _ if handed.is_some() || filled.is_some() => {
                self.answers = true;
                handed.or(filled).unwrap_or_default()
            }
            _ => match self.choice(&resolved) {
                Some(value) => {
                    self.answers = true;
                    // Statements on which the choice depends move into the callback.
                    let needs: String = self
                        .lines
                        .drain(..)
                        .map(|line| format!("    {line}\n"))
                        .collect();
                    let bound = said.and_then(bound_of_answer);
                    let quantity = self.quantity((function, wanted), &value);
                    let mapped = self.mapped(function, &value).or(quantity);
                    let mapped = mapped.filter(|_| needs.is_empty());
                    match bound {
                        None if mapped.is_some() => mapped.unwrap_or_default(),
                        Some((operator, number)) => format!(
                            "{needs}    {} = {value};\n    crunner_assume(answer {operator} \
                             p{});\n    return answer;\n",
                            declaration(&function.returns, "answer"),
                            number + 1
                        ),
                        None if self.is_status(function) => {
                            format!("{needs}    return crunner_range(0, 7) > 0 ? 0 : {value};\n")
                        }
                        None => format!("{needs}    return {value};\n"),
                    }
                }
                None => {
                    self.lines.append(&mut statements);
                    return Ok("NULL".to_owned());
                }
            },
        };
        self.lines.append(&mut statements);
        let variadic = if function.variadic { ", ..." } else { "" };
        let head = declaration(&function.returns, "");
        self.callbacks.push(format!(
            "static {} {name}({list}{variadic})\n{{\n{used}{answer}}}\n",
            head.trim_end()
        ));
        Ok(name)
    }
}
