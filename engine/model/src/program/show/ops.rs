//! Operations as text.

use std::fmt;

use super::{Guard, Value};
use crate::program::ir::*;

pub(super) struct Shown<'a> {
    pub(super) program: &'a Program,
    pub(super) function: &'a Function,
    pub(super) op: &'a Op,
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
            Op::Processor {
                dst,
                function,
                args,
                ..
            } => {
                self.dst(f, *dst)?;
                write!(f, "processor {function:?}")?;
                args.iter().try_for_each(|(a, _)| write!(f, " {}", v(a)))
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
