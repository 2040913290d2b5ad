//! Functions for formats, as LLVM's code: those of `printf`'s kind, and what both kinds are written with.

use llvm_sys::LLVMIntPredicate;
use llvm_sys::prelude::{LLVMBasicBlockRef, LLVMBuilderRef, LLVMTypeRef, LLVMValueRef};

use super::parse::{Argument, Printed, Spec};
use super::{Family, LINES, STDOUT, TEXTS};
use crate::program::llvm::{Module, Type, Value, llvm};
use crate::program::normalise::link::set_kind;

/// The buffer of `vfprintf` (`stdio_out.c`).
const BUFFER: u64 = 512;

/// A function's name, the types of its parameters, and the first of them that the format speaks of.
pub(super) type Head<'h, 'm> = (&'h str, &'h [Type<'m>], usize);

/// Where a text is put.
#[derive(Clone, Copy)]
struct Target {
    to: LLVMValueRef,
    room: LLVMValueRef,
}

/// Writes functions into a module.
pub(super) struct Writer<'m> {
    pub(super) module: &'m Module,
    pub(super) builder: LLVMBuilderRef,
    pub(super) int: LLVMTypeRef,
    word: LLVMTypeRef,
    pub(super) pointer: LLVMTypeRef,
    double: LLVMTypeRef,
    /// `struct sink` and `struct spec` of `engine_format.c`, and `struct crunner_source` of `scan.h`.
    sink: LLVMTypeRef,
    spec: LLVMTypeRef,
    pub(super) source: LLVMTypeRef,
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        llvm!(LLVMDisposeBuilder(self.builder));
    }
}

impl<'m> Writer<'m> {
    pub(super) fn new(module: &'m Module) -> Writer<'m> {
        let context = module.context;
        let int = llvm!(LLVMInt32TypeInContext(context));
        let word = llvm!(LLVMInt64TypeInContext(context));
        let pointer = llvm!(LLVMPointerTypeInContext(context, 0));
        let structure = |fields: &mut [LLVMTypeRef]| {
            let count = fields.len() as u32;
            llvm!(LLVMStructTypeInContext(
                context,
                fields.as_mut_ptr(),
                count,
                0
            ))
        };
        Writer {
            module,
            builder: llvm!(LLVMCreateBuilderInContext(context)),
            int,
            word,
            pointer,
            double: llvm!(LLVMDoubleTypeInContext(context)),
            sink: structure(&mut [pointer, word, word]),
            spec: structure(&mut [int; 10]),
            source: structure(&mut [pointer, pointer, word, word, int]),
        }
    }

    /// The type of an argument.
    pub(super) fn ty(&self, argument: Argument) -> Type<'m> {
        Type::new(match argument {
            Argument::Int => self.int,
            Argument::Long => self.word,
            Argument::Pointer => self.pointer,
            Argument::Double => self.double,
        })
    }

    /// Writes a function of `printf`'s kind; none if the library does not have what it needs.
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

    /// A function that writes to memory.
    fn stored(
        &mut self,
        (name, types, first): Head<'_, 'm>,
        (room, checked): (Option<u32>, Option<u32>),
        parts: &[Printed],
    ) {
        let function = self.begin(name, types);
        let parameters = parameters(function);
        let most = llvm!(LLVMConstAllOnes(self.word));
        let target = Target {
            to: parameters[0],
            room: room.map_or(most, |room| parameters[room as usize]),
        };
        let size = checked.map(|checked| parameters[checked as usize]);
        if let (Some(size), Some(_)) = (size, room) {
            self.call("engine_format_room", &mut [target.room, size]);
        }
        let length = self.put(target, parts, &parameters[first..]);
        if let (Some(size), None) = (size, room) {
            self.call("engine_format_fits", &mut [length, size]);
        }
        llvm!(LLVMBuildRet(self.builder, length));
    }

    /// A function that writes to a stream.
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
        // The text is made a second time where the line is long, by a function of its own.
        let mut inner: Vec<Type<'m>> = vec![self.ty(Argument::Pointer), self.ty(Argument::Long)];
        inner.extend(&types[first..]);
        let format = self.begin(&format!("vsnprintf.{}", number(name)), &inner);
        let given = parameters(format);
        let target = Target {
            to: given[0],
            room: given[1],
        };
        let length = self.put(target, parts, &given[2..]);
        llvm!(LLVMBuildRet(self.builder, length));

        let function = self.begin(name, types);
        let parameters = parameters(function);
        let buffer = llvm!(LLVMArrayType2(
            llvm!(LLVMInt8TypeInContext(self.module.context)),
            BUFFER
        ));
        let buffer = self.local(buffer, c"buffer");
        let room = self.number(BUFFER);
        let mut arguments = vec![buffer, room];
        arguments.extend(&parameters[first..]);
        let length = self.call_value(format, &mut arguments);
        let stream = self.stream(stdout, out, &parameters)?;
        // Each of the two places of the text has calls of its own, which know which of them it is: of a pointer to either, proofs know little.
        let (long, short) = (self.block(function), self.block(function));
        let is_long = self.is_at_least(length, BUFFER);
        llvm!(LLVMBuildCondBr(self.builder, is_long, long, short));
        llvm!(LLVMPositionBuilderAtEnd(self.builder, short));
        let text = self.call("crunner_line_room", &mut [buffer, room, length]);
        let result = self.call("crunner_line_out", &mut [stream, buffer, text, length]);
        llvm!(LLVMBuildRet(self.builder, result));
        llvm!(LLVMPositionBuilderAtEnd(self.builder, long));
        let text = self.call("crunner_line_room", &mut [buffer, room, length]);
        let (again, end) = (self.block(function), self.block(function));
        let none = llvm!(LLVMConstNull(self.pointer));
        let is_there = self.differ(text, none);
        llvm!(LLVMBuildCondBr(self.builder, is_there, again, end));
        llvm!(LLVMPositionBuilderAtEnd(self.builder, again));
        let wide = llvm!(LLVMBuildSExt(self.builder, length, self.word, c"".as_ptr()));
        let one = self.number(1);
        let room = llvm!(LLVMBuildAdd(self.builder, wide, one, c"".as_ptr()));
        (arguments[0], arguments[1]) = (text, room);
        self.call_value(format, &mut arguments);
        llvm!(LLVMBuildBr(self.builder, end));
        llvm!(LLVMPositionBuilderAtEnd(self.builder, end));
        let result = self.call("crunner_line_out", &mut [stream, buffer, text, length]);
        llvm!(LLVMBuildRet(self.builder, result));
        Some(())
    }

    /// Puts the parts of a format into a sink; the length of the text.
    fn put(
        &mut self,
        target: Target,
        parts: &[Printed],
        arguments: &[LLVMValueRef],
    ) -> LLVMValueRef {
        let sink = self.local(self.sink, c"sink");
        let zero = self.number(0);
        for (field, value) in [target.to, target.room, zero].into_iter().enumerate() {
            self.store(self.sink, sink, field as u32, value);
        }
        let mut arguments = arguments.iter().copied();
        for part in parts {
            match part {
                Printed::Text(text) => {
                    let literal = self.constant(self.bytes(text));
                    let length = self.number(text.len() as u64);
                    self.call("engine_format_text", &mut [sink, literal, length]);
                }
                Printed::Conversion(spec) => self.convert(sink, spec, &mut arguments),
            }
        }
        self.call("engine_format_end", &mut [sink])
    }

    fn convert(
        &mut self,
        sink: LLVMValueRef,
        spec: &Spec,
        arguments: &mut impl Iterator<Item = LLVMValueRef>,
    ) {
        let numbers = [
            spec.width,
            spec.precision,
            spec.length,
            i32::from(spec.conversion),
        ];
        let flags = spec.flags.map(i32::from);
        let mut fields: Vec<LLVMValueRef> = flags
            .into_iter()
            .chain(numbers)
            .map(|n| llvm!(LLVMConstInt(self.int, n as u64, 1)))
            .collect();
        let fixed = self.constant(self.structure(&mut fields));
        let mut how = fixed;
        if spec.star {
            how = self.local(self.spec, c"spec");
            let bytes = self.number(40);
            llvm!(LLVMBuildMemCpy(self.builder, how, 4, fixed, 4, bytes));
            if let Some(precision) = arguments.next() {
                self.call("engine_format_precision", &mut [how, precision]);
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
            value = llvm!(LLVMBuildIntCast2(
                self.builder,
                value,
                self.word,
                0,
                c"".as_ptr()
            ));
        }
        self.call(by, &mut [sink, how, value]);
    }

    /// Whether the library has these functions.
    pub(super) fn has(&self, names: &[&str]) -> Option<()> {
        let is_there = |name: &&str| self.module.function(name).is_some();
        names.iter().all(is_there).then_some(())
    }

    /// The stream that a parameter is, or the standard one.
    pub(super) fn stream(
        &self,
        standard: Option<Value<'m>>,
        number: Option<u32>,
        parameters: &[LLVMValueRef],
    ) -> Option<LLVMValueRef> {
        match number {
            Some(number) => parameters.get(number as usize).copied(),
            None => {
                let (from, name) = (standard?.0, c"".as_ptr());
                Some(llvm!(LLVMBuildLoad2(
                    self.builder,
                    self.pointer,
                    from,
                    name
                )))
            }
        }
    }

    /// A function without a body, and the place where its body begins.
    pub(super) fn begin(&mut self, name: &str, types: &[Type<'m>]) -> Value<'m> {
        let mut types: Vec<LLVMTypeRef> = types.iter().map(|ty| ty.0).collect();
        let ty = llvm!(LLVMFunctionType(
            self.int,
            types.as_mut_ptr(),
            types.len() as u32,
            0
        ));
        let raw = llvm!(LLVMAddFunction(
            self.module.module,
            c"cegar.format".as_ptr(),
            ty
        ));
        let function = Value::new(raw);
        function.set_name(name);
        set_kind(self.module, function, "engine-only");
        let entry = self.block(function);
        llvm!(LLVMPositionBuilderAtEnd(self.builder, entry));
        function
    }

    pub(super) fn block(&self, function: Value<'m>) -> LLVMBasicBlockRef {
        let context = self.module.context;
        llvm!(LLVMAppendBasicBlockInContext(
            context,
            function.0,
            c"part".as_ptr()
        ))
    }

    pub(super) fn number(&self, n: u64) -> LLVMValueRef {
        llvm!(LLVMConstInt(self.word, n, 0))
    }

    pub(super) fn local(&self, ty: LLVMTypeRef, name: &std::ffi::CStr) -> LLVMValueRef {
        llvm!(LLVMBuildAlloca(self.builder, ty, name.as_ptr()))
    }

    pub(super) fn field(&self, ty: LLVMTypeRef, of: LLVMValueRef, field: u32) -> LLVMValueRef {
        llvm!(LLVMBuildStructGEP2(
            self.builder,
            ty,
            of,
            field,
            c"".as_ptr()
        ))
    }

    pub(super) fn store(&self, ty: LLVMTypeRef, of: LLVMValueRef, field: u32, value: LLVMValueRef) {
        let at = self.field(ty, of, field);
        llvm!(LLVMBuildStore(self.builder, value, at));
    }

    pub(super) fn differ(&self, a: LLVMValueRef, b: LLVMValueRef) -> LLVMValueRef {
        let different = LLVMIntPredicate::LLVMIntNE;
        llvm!(LLVMBuildICmp(self.builder, different, a, b, c"".as_ptr()))
    }

    /// Whether an `int` is at least so much.
    fn is_at_least(&self, value: LLVMValueRef, least: u64) -> LLVMValueRef {
        let least = llvm!(LLVMConstInt(self.int, least, 0));
        let at_least = LLVMIntPredicate::LLVMIntSGE;
        llvm!(LLVMBuildICmp(
            self.builder,
            at_least,
            value,
            least,
            c"".as_ptr()
        ))
    }

    pub(super) fn bytes(&self, bytes: &[u8]) -> LLVMValueRef {
        let (data, context) = (bytes.as_ptr().cast(), self.module.context);
        llvm!(LLVMConstStringInContext2(context, data, bytes.len(), 1))
    }

    pub(super) fn structure(&self, fields: &mut [LLVMValueRef]) -> LLVMValueRef {
        let (count, context) = (fields.len() as u32, self.module.context);
        llvm!(LLVMConstStructInContext(
            context,
            fields.as_mut_ptr(),
            count,
            0
        ))
    }

    /// A constant of the program's own.
    pub(super) fn constant(&self, value: LLVMValueRef) -> LLVMValueRef {
        let ty = llvm!(LLVMTypeOf(value));
        let name = c"cegar.part".as_ptr();
        let global = llvm!(LLVMAddGlobal(self.module.module, ty, name));
        llvm!(LLVMSetInitializer(global, value));
        llvm!(LLVMSetGlobalConstant(global, 1));
        llvm!(LLVMSetLinkage(
            global,
            llvm_sys::LLVMLinkage::LLVMPrivateLinkage
        ));
        global
    }

    /// Calls a function of the library that is there.
    pub(super) fn call(&self, name: &str, arguments: &mut [LLVMValueRef]) -> LLVMValueRef {
        match self.module.function(name) {
            Some(function) => self.call_value(function, arguments),
            None => llvm!(LLVMConstNull(self.int)),
        }
    }

    fn call_value(&self, function: Value<'m>, arguments: &mut [LLVMValueRef]) -> LLVMValueRef {
        let ty = function.function_type();
        let count = arguments.len() as u32;
        llvm!(LLVMBuildCall2(
            self.builder,
            ty.0,
            function.0,
            arguments.as_mut_ptr(),
            count,
            c"".as_ptr()
        ))
    }
}

pub(super) fn parameters(function: Value<'_>) -> Vec<LLVMValueRef> {
    function
        .params()
        .iter()
        .map(|parameter| parameter.0)
        .collect()
}

/// The number behind a name's last full stop.
fn number(name: &str) -> &str {
    name.rsplit_once('.').map_or("0", |(_, number)| number)
}
