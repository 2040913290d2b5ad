//! Writes the text of a harness.

use super::repeated::AGAIN;
use super::{ANY_TIME, Body, Harness, READS, WITHIN, ZEROS, has_name, has_word};
use crate::init::api::Declared;
use crate::init::ctype::{Kind, Written};

/// The score penalty of a deprecated function.
const DEPRECATED: i32 = 300;
/// The line that makes proofs state that the guesses of the harness hold.
pub(super) const ASSUMES_GUESSES: &str = "crunner_guessed(); /* as listed above */";
/// The usual greatest size in bytes of the main input of a harness whose callbacks choose values.
const ANSWERED: usize = 256;
/// The maximum width of a line in columns.
const LINE: usize = 100;

impl<'a> Body<'a> {
    /// The whole file of a harness that calls a function with the given arguments.
    pub(super) fn finish(
        mut self,
        function: &'a Declared,
        arguments: &[String],
        include: &str,
    ) -> Result<Harness, String> {
        let call = format!("{}({})", function.name, arguments.join(", "));
        let again = self.again(function, arguments);
        let replaced = self.replaced(function, arguments);
        let reads = self.read_results(function, arguments);
        let call = self.call(function, arguments, &call);
        // The lines behind a call release its result, which the other results may lie in.
        let reads = if call.contains('\n') {
            Vec::new()
        } else {
            reads
        };
        let call = match again {
            Some(moved) => {
                self.lines.retain(|line| !moved.contains(line));
                let gone = replaced.map(|object| format!("if (!{object})\n            break;"));
                let inner: String = (moved.iter().chain([&call]).chain(&reads).chain(&gone))
                    .map(|line| format!("        {}\n", wrapped(line)))
                    .collect();
                format!("{} {{\n{inner}    }}", self.loop_of(function))
            }
            None => [wrapped(&call)]
                .into_iter()
                .chain(reads)
                .collect::<Vec<_>>()
                .join("\n    "),
        };
        self.written(function, arguments.join(", "), &call, include)
    }

    /// The whole file around the code that calls the driven function.
    pub(super) fn written(
        mut self,
        function: &'a Declared,
        passed: String,
        call: &str,
        include: &str,
    ) -> Result<Harness, String> {
        let (mut begins, ends) = self.whole(function);
        let lines = begins.iter().chain(&self.lines).map(String::as_str);
        let chooses = lines.chain([call]).any(|line| line.contains("crunner_"));
        if self.main.is_none() && !chooses && !self.answers {
            return Err("nothing in its arguments can vary".to_owned());
        }
        let wide = self.main.as_ref().and_then(|main| main.wide.clone());
        let plain = self.main.is_some() && !chooses && !self.answers && wide.is_none();
        let mut told = format!(
            "Calls {} with arguments that the search chooses.",
            function.name
        );
        told += &self.guessed();
        let is_guessed = self.assumes_guesses();
        if is_guessed {
            begins.insert(0, ASSUMES_GUESSES.to_owned());
        }
        let assumes = is_guessed
            || self
                .lines_after_input
                .iter()
                .any(|line| line.contains("crunner_"));
        let lines = begins.iter().chain(&self.lines);
        let lines = lines.chain(&self.lines_after_input).chain(&self.cleanup);
        let code: String = lines
            .map(|line| format!("{line}\n"))
            .chain([call.to_owned()])
            .collect();
        let mut text = self.head(&told, include, &code, !plain || assumes);
        let mut lines = self.lines.clone();
        if plain {
            text += "int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)\n{\n";
        } else {
            text += "int main(void)\n{\n";
            lines.extend(self.input(wide.as_deref()));
            if self.main.is_some() {
                self.cleanup.push("free(data);".to_owned());
            }
        }
        lines.extend(self.lines_after_input.iter().cloned());
        lines.splice(0..0, begins);
        self.cleanup.extend(ends);
        for line in &lines {
            text += &format!("    {}\n", wrapped(line));
        }
        if !lines.is_empty() {
            text.push('\n');
        }
        text += &format!("    {call}\n");
        if !self.cleanup.is_empty() {
            text.push('\n');
        }
        for line in &self.cleanup {
            text += &format!("    {line}\n");
        }
        text += "    return 0;\n}\n";
        Ok(Harness {
            passed,
            score: self.score(function),
            drives: function.name.clone(),
            fillers: self.fillers,
            text,
        })
    }

    /// The part of the first comment that lists the guesses.
    pub(super) fn guessed(&self) -> String {
        match self.guesses.is_empty() {
            true => String::new(),
            false => format!(
                "\n *\n * Guessed, since the header does not say: {}.",
                self.guesses.join("; ")
            ),
        }
    }

    /// Whether a proof about the harness assumes one of its guesses. That a function is called
    /// several times, or at any time, excludes nothing.
    pub(super) fn assumes_guesses(&self) -> bool {
        let mut guesses = self.guesses.iter();
        guesses.any(|guess| !guess.ends_with(ANY_TIME) && guess != AGAIN)
    }

    /// The call, and the code that releases the object that it returns.
    fn call(&mut self, function: &'a Declared, arguments: &[String], call: &str) -> String {
        if let Some(call) = self.related(function, arguments, call) {
            return call;
        }
        let is_returned = self
            .api
            .identity(&function.returns)
            .filter(|_| {
                !self
                    .api
                    .pointee(&function.returns)
                    .is_some_and(|to| to.constant)
            })
            .and_then(|identity| self.releaser_of(&identity, &function.name));
        let takes_same = |ty: &Written| {
            function
                .params
                .iter()
                .any(|param| self.api.identity(&param.ty) == self.api.identity(ty))
        };
        match is_returned {
            Some(back) if !takes_same(&function.returns) => {
                let name = self.name("result");
                let back = self.release_call(back, &name);
                self.unless_same(&name, call);
                format!(
                    "{}{name} = {call};\n    if ({name})\n        {back};",
                    spaced(&function.returns.words)
                )
            }
            _ => match self.read_result(function, call) {
                Some(lines) => lines,
                None if function.pure && !self.returns_nothing(function) => {
                    self.kept(function, call)
                }
                None => format!("{call};"),
            },
        }
    }

    fn returns_nothing(&self, function: &Declared) -> bool {
        self.api.resolve(&function.returns).kind == Kind::Void
    }

    /// The call of a pure function. Its result is read as a volatile object, because a compiler
    /// drops the call if nothing reads the result.
    fn kept(&mut self, function: &Declared, call: &str) -> String {
        let name = self.name("result");
        let declared = spaced(&function.returns.words);
        format!("{declared}{name} = {call};\n    (void)*(volatile char *)&{name};")
    }

    /// Guards the cleanup: the result may be one of the arguments under another type, which must
    /// not be released twice. Example: `T *f(U *)` that takes ownership of its argument.
    fn unless_same(&mut self, result: &str, call: &str) {
        for line in &mut self.cleanup {
            let inner = line.split_once('(').filter(|(back, _)| *back != "free");
            let Some(object) = inner.and_then(|(_, rest)| rest.strip_suffix(");")) else {
                continue;
            };
            if has_name(call, object) {
                *line = format!("if ((void *){result} != (void *){object})\n        {line}");
            }
        }
    }

    /// The lines that take the main input in a `main`, if the call has one. `wide` is the type of
    /// its elements if they are larger than a byte.
    fn input(&self, wide: Option<&str>) -> Vec<String> {
        let most = self.most_size(&self.function.name, ANSWERED);
        let size = format!("size_t size = crunner_size(0, {most});");
        let lines = match (&self.main, wide) {
            (None, _) => return Vec::new(),
            (Some(_), None) if self.answers => vec![
                size.as_str(),
                "uint8_t *data = malloc(size);",
                "crunner_get_bytes(data, size);",
            ],
            (Some(_), None) => vec!["size_t size;", "uint8_t *data = crunner_get_rest(&size);"],
            (Some(_), Some(element)) => {
                let mut lines = vec![
                    "size_t count;".to_owned(),
                    format!("{element} *data = crunner_get_elements(sizeof({element}), &count);"),
                ];
                if self
                    .lines_after_input
                    .iter()
                    .any(|line| line.contains("size"))
                {
                    lines.push(format!("size_t size = count * sizeof({element});"));
                }
                return lines;
            }
        };
        lines.into_iter().map(str::to_owned).collect()
    }

    /// The part above the harness function: the comment, the includes and the callbacks.
    pub(super) fn head(&self, told: &str, include: &str, code: &str, chooses: bool) -> String {
        let mut text = match told.contains('\n') {
            true => format!("/* {told}\n */\n"),
            false => format!("/* {told} */\n"),
        };
        text +=
            "#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n";
        let reads_text = self.callbacks.iter().any(|text| text.contains("strlen("));
        if reads_text || code.contains("memset(") || code.contains("strlen(") {
            text += "#include <string.h>\n";
        }
        text.push('\n');
        if chooses {
            text += "#include <crunner.h>\n\n";
        }
        text += &format!("#include \"{include}\"\n");
        for header in self.sibling_headers(include, code) {
            text += &format!("#include \"{header}\"\n");
        }
        text.push('\n');
        for callback in &self.callbacks {
            text += callback;
            text.push('\n');
        }
        text
    }

    /// The headers beside the library's own whose functions are called.
    fn sibling_headers(&self, include: &str, code: &str) -> Vec<String> {
        let folder = include.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut headers: Vec<String> = Vec::new();
        for function in self.api.all_functions() {
            let is_called = code.contains(&format!("{}(", function.name));
            let file = function.sibling_header.as_ref();
            let is_wanted = |file: &&String| is_called && !self.api.included.contains(*file);
            let Some(file) = file.filter(is_wanted) else {
                continue;
            };
            let header = match folder {
                "" => file.clone(),
                folder => format!("{folder}/{file}"),
            };
            if !headers.contains(&header) {
                headers.push(header);
            }
        }
        headers
    }

    fn score(&self, function: &Declared) -> i32 {
        let mut score = match (&self.main, self.fed) {
            (Some(_), false) => 110,
            (Some(_), true) => 50,
            (None, _) => 10,
        };
        score += match (self.strings, &self.main, self.fed) {
            (0, ..) => 0,
            // A buffer of unknown length beside one with a length.
            (_, Some(_), false) => -30,
            (_, Some(_), true) => 0,
            _ => 50,
        };
        if has_word(&function.name, READS) {
            score += 40;
        }
        // A function is usually deprecated because callers cannot meet its preconditions.
        if function.deprecated {
            score -= DEPRECATED;
        }
        // Guesses that a container is filled or that a function is called repeatedly are not
        // doubtful.
        let is_sure = |guess: &&String| {
            let sure = [ANY_TIME, WITHIN, ZEROS, AGAIN];
            sure.iter().any(|end| guess.ends_with(end))
        };
        let doubts = self.guesses.iter().filter(|guess| !is_sure(guess)).count();
        let unsure = 30 * doubts + 5 * self.handles + function.params.len();
        score - unsure as i32
    }
}

/// `type name`, where the type may be a pointer, or a function pointer named by a typedef.
pub(super) fn declaration(ty: &Written, name: &str) -> String {
    let constant = if ty.constant && !matches!(ty.kind, Kind::Pointer(_)) {
        "const "
    } else {
        ""
    };
    format!("{constant}{}{name}", spaced(&ty.words))
}

/// Wraps a long line after commas.
pub(super) fn wrapped(line: &str) -> String {
    let wrapped = line.split('\n').map(|line| {
        let (mut text, mut width) = (String::new(), 4);
        for (i, part) in line.split(", ").enumerate() {
            if i > 0 {
                text.push(',');
                if width + part.len() > LINE {
                    text += "\n        ";
                    width = 8;
                } else {
                    text.push(' ');
                }
            }
            width += part.len() + 2;
            text += part;
        }
        text
    });
    wrapped.collect::<Vec<_>>().join("\n")
}

pub(super) fn spaced(words: &str) -> String {
    if words.ends_with('*') {
        words.to_owned()
    } else {
        format!("{words} ")
    }
}

/// The words of a name in lower case, from `stack_push` as well as `stackPush`.
pub(super) fn words(name: &str) -> impl Iterator<Item = String> {
    let mut all = vec![String::new()];
    for c in name.chars() {
        if c == '_' || c.is_uppercase() {
            all.push(String::new());
        }
        if let Some(last) = all.last_mut().filter(|_| c != '_') {
            last.extend(c.to_lowercase());
        }
    }
    all.into_iter()
}
