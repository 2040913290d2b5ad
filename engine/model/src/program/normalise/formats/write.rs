//! Writes functions for formats as LLVM code: those of `printf`'s kind, and what both kinds share.

use cegar_llvm::{BasicBlock, Builder, LLVMIntPredicate, LLVMLinkage, Module, Type, Value};

use super::parse::{Argument, Printed, Spec};
use super::{Family, LINES, STDOUT, TEXTS};
use crate::program::normalise::link::set_kind;

/// The size of the buffer of `vfprintf` (`stdio_out.c`).
const BUFFER: u64 = 512;

/// A function's name, the types of its parameters, and the index of the first parameter that the
/// format refers to.
pub(super) type Head<'h, 'm> = (&'h str, &'h [Type<'m>], usize);

/// The memory that a text is written to.
#[derive(Clone, Copy)]
struct Target<'m> {
    to: Value<'m>,
    room: Value<'m>,
}

/// Writes functions into a module.
pub(super) struct Writer<'m> {
    pub(super) module: &'m Module,
    pub(super) builder: Builder<'m>,
    pub(super) int: Type<'m>,
    word: Type<'m>,
    pub(super) pointer: Type<'m>,
    double: Type<'m>,
    /// `struct sink` and `struct spec` of `engine_format.c`, and `struct crunner_source` of
    /// `scan.h`.
    sink: Type<'m>,
    spec: Type<'m>,
    pub(super) source: Type<'m>,
}

impl<'m> Writer<'m> {
    pub(super) fn new(module: &'m Module) -> Writer<'m> {
        let (int, word, pointer) = (module.int(32), module.int(64), module.pointer());
        Writer {
            module,
            builder: Builder::new(module),
            int,
            word,
            pointer,
            double: module.double(),
            sink: module.structure(&[pointer, word, word]),
            spec: module.structure(&[int; 10]),
            source: module.structure(&[pointer, pointer, word, word, int]),
        }
    }

    /// The LLVM type of an argument.
    pub(super) fn ty(&self, argument: Argument) -> Type<'m> {
        match argument {
            Argument::Int => self.int,
            Argument::Long => self.word,
            Argument::Pointer => self.pointer,
            Argument::Double => self.double,
        }
    }

    /// Writes a function of `printf`'s kind. `None` if the library lacks a function that it needs.
    pub(super) fn print(
        &mut self,
        head: Head<'_, 'm>,
        family: Family,
        parts: &[Printed],
    ) -> Option<()> {
        self.has(TEXTS)?;
        match family {
            Family::Print { out } => {
                self.has(LINES)?;
                self.line(head, out, parts)
            }
            Family::Store { room, checked } => {
                self.stored(head, (room, checked), parts);
                Some(())
            }
            Family::Scan { .. } | Family::ScanText => None,
        }
    }

    /// Writes a function that prints to memory.
    fn stored(
        &mut self,
        (name, types, first): Head<'_, 'm>,
        (room, checked): (Option<u32>, Option<u32>),
        parts: &[Printed],
    ) {
        let function = self.begin(name, types);
        let parameters = function.params();
        let most = self.word.ones();
        let target = Target {
            to: parameters[0],
            room: room.map_or(most, |room| parameters[room as usize]),
        };
        let size = checked.map(|checked| parameters[checked as usize]);
        if let (Some(size), Some(_)) = (size, room) {
            self.call("engine_format_room", &[target.room, size]);
        }
        let length = self.put(target, parts, &parameters[first..]);
        if let (Some(size), None) = (size, room) {
            self.call("engine_format_fits", &[length, size]);
        }
        self.builder.ret(Some(length));
    }

    /// Writes a function that prints to a stream.
    fn line(
        &mut self,
        (name, types, first): Head<'_, 'm>,
        out: Option<u32>,
        parts: &[Printed],
    ) -> Option<()> {
        let stdout = self.module.global(STDOUT);
        if out.is_none() && stdout.is_none() {
            return None;
        }
        // If the line is long, the text has to be produced twice, so a separate function produces
        // it.
        let mut inner: Vec<Type<'m>> = vec![self.ty(Argument::Pointer), self.ty(Argument::Long)];
        inner.extend(&types[first..]);
        let format = self.begin(&format!("vsnprintf.{}", number(name)), &inner);
        let given = format.params();
        let target = Target {
            to: given[0],
            room: given[1],
        };
        let length = self.put(target, parts, &given[2..]);
        self.builder.ret(Some(length));

        let function = self.begin(name, types);
        let parameters = function.params();
        let buffer = self.local(self.module.int(8).array(BUFFER), "buffer");
        let room = self.number(BUFFER);
        let mut arguments = vec![buffer, room];
        arguments.extend(&parameters[first..]);
        let length = self.builder.call(format.callable(), &arguments);
        let stream = self.stream(stdout, out, &parameters)?;
        // The text is either in the buffer or in allocated memory. Each case has its own calls, in
        // which the pointer's target is known, because proofs know little about a pointer to
        // either.
        let (long, short) = (self.block(function), self.block(function));
        let is_long = self.is_at_least(length, BUFFER);
        self.builder.branch(is_long, long, short);
        self.builder.move_to_end(short);
        let text = self.call("crunner_line_room", &[buffer, room, length]);
        let result = self.call("crunner_line_out", &[stream, buffer, text, length]);
        self.builder.ret(Some(result));
        self.builder.move_to_end(long);
        let text = self.call("crunner_line_room", &[buffer, room, length]);
        let (again, end) = (self.block(function), self.block(function));
        let none = self.pointer.zero();
        let is_there = self.differ(text, none);
        self.builder.branch(is_there, again, end);
        self.builder.move_to_end(again);
        let wide = self.builder.resize(length, self.word, true);
        let room = self.builder.add(wide, self.number(1));
        (arguments[0], arguments[1]) = (text, room);
        self.builder.call(format.callable(), &arguments);
        self.builder.jump(end);
        self.builder.move_to_end(end);
        let result = self.call("crunner_line_out", &[stream, buffer, text, length]);
        self.builder.ret(Some(result));
        Some(())
    }

    /// Writes the parts of a format into a sink; returns the length of the text.
    fn put(&mut self, target: Target<'m>, parts: &[Printed], arguments: &[Value<'m>]) -> Value<'m> {
        let sink = self.local(self.sink, "sink");
        let zero = self.number(0);
        for (field, value) in [target.to, target.room, zero].into_iter().enumerate() {
            self.store(self.sink, sink, field as u32, value);
        }
        let mut arguments = arguments.iter().copied();
        for part in parts {
            match part {
                Printed::Text(text) => {
                    let literal = self.constant(self.module.constant_bytes(text));
                    let length = self.number(text.len() as u64);
                    self.call("engine_format_text", &[sink, literal, length]);
                }
                Printed::Conversion(spec) => self.convert(sink, spec, &mut arguments),
            }
        }
        self.call("engine_format_end", &[sink])
    }

    fn convert(
        &mut self,
        sink: Value<'m>,
        spec: &Spec,
        arguments: &mut impl Iterator<Item = Value<'m>>,
    ) {
        let numbers = [
            spec.width,
            spec.precision,
            spec.length,
            i32::from(spec.conversion),
        ];
        let flags = spec.flags.map(i32::from);
        let fields: Vec<Value<'m>> = flags
            .into_iter()
            .chain(numbers)
            .map(|n| self.int.number(n as u64))
            .collect();
        let fixed = self.constant(self.structure(&fields));
        let mut how = fixed;
        if spec.star {
            how = self.local(self.spec, "spec");
            let bytes = self.number(40);
            self.builder.memcpy(how, fixed, 4, bytes);
            if let Some(precision) = arguments.next() {
                self.call("engine_format_precision", &[how, precision]);
            }
        }
        let Some(mut value) = arguments.next() else {
            return;
        };
        let by = match spec.conversion {
            b's' => "engine_format_string",
            b'p' => "engine_format_pointer",
            b'c' => "engine_format_character",
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' => "engine_format_integer",
            _ => "engine_format_double",
        };
        if by == "engine_format_integer" {
            value = self.builder.resize(value, self.word, false);
        }
        self.call(by, &[sink, how, value]);
    }

    /// Whether the library has these functions.
    pub(super) fn has(&self, names: &[&str]) -> Option<()> {
        let is_there = |name: &&str| self.module.function(name).is_some();
        names.iter().all(is_there).then_some(())
    }

    /// The stream: a parameter, or the standard one.
    pub(super) fn stream(
        &self,
        standard: Option<Value<'m>>,
        number: Option<u32>,
        parameters: &[Value<'m>],
    ) -> Option<Value<'m>> {
        match number {
            Some(number) => parameters.get(number as usize).copied(),
            None => Some(self.builder.load(self.pointer, standard?)),
        }
    }

    /// Adds a function with an empty first block, and moves the builder there.
    pub(super) fn begin(&mut self, name: &str, types: &[Type<'m>]) -> Value<'m> {
        let function = self.module.add_function(name, self.int.function(types));
        set_kind(function, "engine-only");
        self.builder.move_to_end(self.block(function));
        function
    }

    pub(super) fn block(&self, function: Value<'m>) -> BasicBlock<'m> {
        function.append_block("part")
    }

    pub(super) fn number(&self, n: u64) -> Value<'m> {
        self.word.number(n)
    }

    pub(super) fn local(&self, ty: Type<'m>, name: &str) -> Value<'m> {
        self.builder.alloca(ty).named(name)
    }

    pub(super) fn store(&self, ty: Type<'m>, of: Value<'m>, field: u32, value: Value<'m>) {
        let at = self.builder.field(ty, of, field);
        self.builder.store(value, at);
    }

    pub(super) fn differ(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        self.builder.compare(LLVMIntPredicate::LLVMIntNE, a, b)
    }

    /// Whether an `int` is at least `least`.
    fn is_at_least(&self, value: Value<'m>, least: u64) -> Value<'m> {
        let (at_least, least) = (LLVMIntPredicate::LLVMIntSGE, self.int.number(least));
        self.builder.compare(at_least, value, least)
    }

    pub(super) fn structure(&self, fields: &[Value<'m>]) -> Value<'m> {
        let types: Vec<Type<'m>> = fields.iter().map(|field| field.ty()).collect();
        self.module.structure(&types).constant_struct(fields)
    }

    /// A private constant of the program.
    pub(super) fn constant(&self, value: Value<'m>) -> Value<'m> {
        let global = self.module.add_global("cegar.part", value.ty());
        global.set_initializer(value);
        global.set_global_constant();
        global.set_linkage(LLVMLinkage::LLVMPrivateLinkage);
        global
    }

    /// Calls a function of the library, whose presence has been checked.
    pub(super) fn call(&self, name: &str, arguments: &[Value<'m>]) -> Value<'m> {
        match self.module.function(name) {
            Some(function) => self.builder.call(function.callable(), arguments),
            None => self.int.zero(),
        }
    }
}

/// The number after a name's last full stop.
fn number(name: &str) -> &str {
    name.rsplit_once('.').map_or("0", |(_, number)| number)
}
