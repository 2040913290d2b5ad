//! A readable dump of the Program, for snapshots and for people, and a summary of its contents.
//!
//! One line per operation: `r5:32 = add r3, 1`, where `:32` is the register's width. A `!n` at the
//! end of a line is the check that the operation carries.

mod ops;

use std::fmt::{self, Write as _};

use self::ops::Shown;
use super::ir::*;

/// The numbers of a Program's functions, blocks, checks and other contents.
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
    /// Constructs that are not modelled.
    pub unmodelled: usize,
    /// Generated mocks.
    pub mocked: usize,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} functions ({} yours), {} blocks ({}), {} checks ({}), {} operations, {} globals, \
             {} mocked, {} not modelled",
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
    /// Counts the contents of the Program.
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

    /// The whole Program as text.
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
