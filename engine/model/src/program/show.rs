//! A readable dump of the Program, for snapshots and for people, and its counts.
//!
//! One line per operation: `r5:32 = add r3, 1`, where `:32` is the register's width. A `!n` at the end of a
//! line is the check that the operation carries.

use std::fmt::{self, Write as _};

use super::ir::*;

/// How much of what a Program holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// Functions of the user with a body.
    pub user_functions: usize,
    /// All functions with a body.
    pub functions: usize,
    /// Blocks of user functions.
    pub user_blocks: usize,
    /// All blocks.
    pub blocks: usize,
    /// Operations.
    pub operations: usize,
    /// Checks in user functions that are not trivial.
    pub user_checks: usize,
    /// All checks.
    pub checks: usize,
    /// Global variables.
    pub globals: usize,
    /// Constructs without a model.
    pub unmodelled: usize,
    /// Generated mocks.
    pub mocked: usize,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} functions ({} yours), {} blocks ({}), {} checks ({}), {} operations, {} globals, {} mocked, \
             {} not modelled",
            self.functions,
            self.user_functions,
            self.blocks,
            self.user_blocks,
            self.checks,
            self.user_checks,
            self.operations,
            self.globals,
            self.mocked,
            self.unmodelled
        )
    }
}

impl Program {
    /// Counts what there is.
    pub fn summary(&self) -> Summary {
        let is_user = |id: FuncId| self.function(id).kind == FunctionKind::User;
        Summary {
            user_functions: self
                .functions
                .iter()
                .filter(|f| f.is_defined() && f.kind == FunctionKind::User)
                .count(),
            functions: self.functions.iter().filter(|f| f.is_defined()).count(),
            user_blocks: self.blocks.iter().filter(|b| is_user(b.function)).count(),
            blocks: self.blocks.len(),
            operations: self.blocks.iter().map(|b| b.ops.len()).sum(),
            user_checks: self
                .checks
                .iter()
                .filter(|c| !c.trivial && is_user(c.function))
                .count(),
            checks: self.checks.len(),
            globals: self.globals.len(),
            unmodelled: self.unmodelled.len(),
            mocked: self.mocked.len(),
        }
    }

    /// All of it as text.
    pub fn dump(&self) -> String {
        let mut text = String::new();
        for (i, global) in self.globals.iter().enumerate() {
            let constant = if global.constant {
                "constant"
            } else {
                "global"
            };
            let external = if global.external { " external" } else { "" };
            let _ = writeln!(
                text,
                "{constant} g{i} {}{external} {} bytes",
                global.name,
                global.init.len()
            );
        }
        for (i, function) in self.functions.iter().enumerate() {
            self.dump_function(FuncId(i as u32), function, &mut text);
        }
        text
    }

    /// One function as text.
    pub fn dump_function(&self, id: FuncId, function: &Function, text: &mut String) {
        let list = |widths: &[Width]| {
            widths
                .iter()
                .map(Width::to_string)
                .collect::<Vec<_>>()
                .join(" ")
        };
        let _ = writeln!(
            text,
            "\n{:?} f{} {}({}{}) -> ({})",
            function.kind,
            id.0,
            function.name,
            list(&function.params),
            if function.varargs { " ..." } else { "" },
            list(&function.result)
        );
        for number in function.blocks.clone() {
            let block = self.block(BlockId(number));
            let _ = writeln!(text, "b{number} {}:", block.name);
            for inst in &block.ops {
                let shown = Shown {
                    program: self,
                    function,
                    op: &inst.op,
                };
                let line = inst.pos.line;
                let _ = if line > 0 {
                    writeln!(text, "  {shown}  ; {line}")
                } else {
                    writeln!(text, "  {shown}")
                };
            }
            let _ = writeln!(text, "  {}", End(self, &block.end));
        }
    }
}

/// An operand as `r3`, `0x1f` or `undef`.
struct Value(Operand);

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Operand::Reg(reg) => write!(f, "r{}", reg.0),
            Operand::Const(c) if c < 1 << 16 => write!(f, "{c}"),
            Operand::Const(c) => write!(f, "{c:#x}"),
            Operand::Wide(w) => write!(f, "{w:#x}"),
            Operand::Undef => f.write_str("undef"),
        }
    }
}

struct To<'a>(&'a Edge);

impl fmt::Display for To<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b{}", self.0.to.0)?;
        for (reg, value) in &self.0.moves {
            write!(f, " [r{} = {}]", reg.0, Value(*value))?;
        }
        Ok(())
    }
}

/// A check as `!3 read p->x`.
struct Guard<'a>(&'a Program, Option<CheckId>);

impl fmt::Display for Guard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(id) = self.1 else { return Ok(()) };
        let Some(check) = self.0.checks.get(id.index()) else {
            return Ok(());
        };
        if check.trivial {
            return write!(f, "  !trivial");
        }
        write!(f, "  !{} {:?}", id.0, check.kind)?;
        if check.expression.is_empty() {
            Ok(())
        } else {
            write!(f, " `{}`", check.expression)
        }
    }
}

struct End<'a>(&'a Program, &'a Terminator);

impl fmt::Display for End<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Terminator::Jump(edge) => write!(f, "jump {}", To(edge)),
            Terminator::Branch {
                cond,
                then,
                otherwise,
            } => {
                write!(
                    f,
                    "if {} then {} else {}",
                    Value(*cond),
                    To(then),
                    To(otherwise)
                )
            }
            Terminator::Switch {
                value,
                width,
                cases,
                default,
            } => {
                write!(f, "switch {}:{width}", Value(*value))?;
                for (case, edge) in cases {
                    write!(f, ", {case} -> {}", To(edge))?;
                }
                write!(f, ", else {}", To(default))
            }
            Terminator::Return { values } => {
                f.write_str("return")?;
                values.iter().try_for_each(|v| write!(f, " {}", Value(*v)))
            }
            Terminator::Unreachable { check } => write!(f, "unreachable{}", Guard(self.0, *check)),
            Terminator::IndirectBranch { address, targets } => {
                write!(f, "goto *{}", Value(*address))?;
                targets
                    .iter()
                    .try_for_each(|(_, edge)| write!(f, ", {}", To(edge)))
            }
        }
    }
}

struct Shown<'a> {
    program: &'a Program,
    function: &'a Function,
    op: &'a Op,
}

impl Shown<'_> {
    fn dst(&self, f: &mut fmt::Formatter<'_>, reg: Reg) -> fmt::Result {
        let width = self
            .function
            .registers
            .get(reg.index())
            .copied()
            .unwrap_or(0);
        write!(f, "r{}:{width} = ", reg.0)
    }

    fn call(&self, f: &mut fmt::Formatter<'_>, call: &Call) -> fmt::Result {
        for i in 0..call.result.len() as u32 {
            self.dst(f, Reg(call.dst.0 + i))?;
        }
        match call.callee {
            Callee::Direct(id) => write!(f, "call {}(", self.program.function(id).name)?,
            Callee::Indirect(pointer) => write!(f, "call *{}(", Value(pointer))?,
        }
        for (i, arg) in call.args.iter().enumerate() {
            let separator = match i {
                0 => "",
                _ if i as u32 == call.fixed => "; ",
                _ => ", ",
            };
            write!(f, "{separator}{}:{}", Value(arg.value), arg.width)?;
            match arg.class {
                ArgClass::Integer => {}
                ArgClass::Sse => f.write_str(" sse")?,
                ArgClass::X87 => f.write_str(" x87")?,
                ArgClass::ByVal { size, .. } => write!(f, " byval {size}")?,
            }
        }
        write!(f, "){}", Guard(self.program, call.check))
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let guard = |check: CheckId| Guard(self.program, Some(check));
        let v = |operand: &Operand| Value(*operand);
        match self.op {
            Op::Bin {
                dst,
                op,
                a,
                b,
                check,
                ..
            } => {
                self.dst(f, *dst)?;
                write!(
                    f,
                    "{op:?} {}, {}{}",
                    v(a),
                    v(b),
                    Guard(self.program, *check)
                )
            }
            Op::Un { dst, op, a, .. } => {
                self.dst(f, *dst)?;
                write!(f, "{op:?} {}", v(a))
            }
            Op::Funnel {
                dst,
                left,
                a,
                b,
                by,
                ..
            } => {
                self.dst(f, *dst)?;
                let name = if *left { "fshl" } else { "fshr" };
                write!(f, "{name} {}, {}, {}", v(a), v(b), v(by))
            }
            Op::Cmp {
                dst,
                pred,
                width,
                a,
                b,
            } => {
                self.dst(f, *dst)?;
                write!(f, "{pred:?}:{width} {}, {}", v(a), v(b))
            }
            Op::Overflow {
                value,
                overflow,
                op,
                signed,
                a,
                b,
                ..
            } => {
                self.dst(f, *value)?;
                let sign = if *signed { "signed" } else { "unsigned" };
                write!(
                    f,
                    "r{} overflows {sign} {op:?} {}, {}",
                    overflow.0,
                    v(a),
                    v(b)
                )
            }
            Op::Cast {
                dst, kind, from, a, ..
            } => {
                self.dst(f, *dst)?;
                write!(f, "{kind:?} {}:{from}", v(a))
            }
            Op::Copy { dst, a } => {
                self.dst(f, *dst)?;
                write!(f, "{}", v(a))
            }
            Op::Select {
                dst, cond, a, b, ..
            } => {
                self.dst(f, *dst)?;
                write!(f, "{} ? {} : {}", v(cond), v(a), v(b))
            }
            Op::Address {
                dst,
                base,
                offset,
                indices,
                ..
            } => {
                self.dst(f, *dst)?;
                write!(f, "&{}", v(base))?;
                for (index, width, scale) in indices {
                    write!(f, " + {}:{width} * {scale}", v(index))?;
                }
                if *offset == 0 {
                    Ok(())
                } else {
                    write!(f, " + {offset}")
                }
            }
            Op::Float {
                dst,
                op,
                kind,
                a,
                b,
            } => {
                self.dst(f, *dst)?;
                write!(f, "{kind:?} {op:?} {}, {}", v(a), v(b))
            }
            Op::FloatNeg { dst, kind, a } => {
                self.dst(f, *dst)?;
                write!(f, "{kind:?} -{}", v(a))
            }
            Op::FloatCmp {
                dst,
                pred,
                kind,
                a,
                b,
            } => {
                self.dst(f, *dst)?;
                write!(f, "{kind:?} {pred:?} {}, {}", v(a), v(b))
            }
            Op::FloatCast { dst, cast, a } => {
                self.dst(f, *dst)?;
                write!(f, "{cast:?} {}", v(a))
            }
            Op::FloatFn {
                dst,
                function,
                kind,
                args,
            } => {
                self.dst(f, *dst)?;
                write!(f, "{kind:?} {function:?}")?;
                args.iter().try_for_each(|a| write!(f, " {}", v(a)))
            }
            Op::Freeze { dst, a, .. } => {
                self.dst(f, *dst)?;
                write!(f, "freeze {}", v(a))
            }
            Op::Alloca {
                dst,
                size,
                align,
                name,
                ..
            } => {
                self.dst(f, *dst)?;
                write!(f, "alloca {} align {align} `{name}`", v(size))
            }
            Op::Load {
                dst,
                address,
                volatile,
                check,
                ..
            } => {
                self.dst(f, *dst)?;
                let volatile = if *volatile { "volatile " } else { "" };
                write!(f, "{volatile}load {}{}", v(address), guard(*check))
            }
            Op::Store {
                value,
                width,
                address,
                volatile,
                check,
            } => {
                let volatile = if *volatile { "volatile " } else { "" };
                write!(
                    f,
                    "{volatile}store {}:{width} to {}{}",
                    v(value),
                    v(address),
                    guard(*check)
                )
            }
            Op::MemCopy {
                to,
                from,
                len,
                overlap,
                read,
                write,
            } => {
                let name = if *overlap { "memmove" } else { "memcpy" };
                write!(
                    f,
                    "{name} {}, {}, {}{}{}",
                    v(to),
                    v(from),
                    v(len),
                    guard(*read),
                    guard(*write)
                )
            }
            Op::MemSet {
                to,
                value,
                len,
                check,
            } => {
                write!(
                    f,
                    "memset {}, {}, {}{}",
                    v(to),
                    v(value),
                    v(len),
                    guard(*check)
                )
            }
            Op::Lifetime { start, address } => {
                write!(
                    f,
                    "lifetime {} {}",
                    if *start { "start" } else { "end" },
                    v(address)
                )
            }
            Op::Uninit { address, len } => write!(f, "uninit {}, {}", v(address), v(len)),
            Op::Call(call) => self.call(f, call),
            Op::VaStart { list, check } => write!(f, "va_start {}{}", v(list), guard(*check)),
            Op::VaCopy { to, from, check } => {
                write!(f, "va_copy {}, {}{}", v(to), v(from), guard(*check))
            }
            Op::StackSave { dst } => {
                self.dst(f, *dst)?;
                f.write_str("stacksave")
            }
            Op::StackRestore { saved } => write!(f, "stackrestore {}", v(saved)),
            Op::AtomicRmw {
                dst,
                op,
                address,
                b,
                check,
                ..
            } => {
                self.dst(f, *dst)?;
                write!(f, "atomic {op:?} {}, {}{}", v(address), v(b), guard(*check))
            }
            Op::CmpXchg {
                dst,
                success,
                address,
                expected,
                new,
                check,
                ..
            } => {
                self.dst(f, *dst)?;
                let (address, expected, new) = (v(address), v(expected), v(new));
                write!(
                    f,
                    "r{} cmpxchg {address}, {expected}, {new}{}",
                    success.0,
                    guard(*check)
                )
            }
            Op::Unmodelled { which } => {
                let what = self
                    .program
                    .unmodelled
                    .get(*which as usize)
                    .map_or("", |u| &u.what);
                write!(f, "unmodelled {what}")
            }
        }
    }
}
