//! Checks that a Program is consistent: registers exist, widths agree, edges stay in the function.
//!
//! The machine relies on this. An inconsistency would show there as a wrong value far from its
//! cause.

use super::ir::*;
use crate::term::float;

impl Program {
    /// Returns the first inconsistency that is found as an error.
    pub fn check_widths(&self) -> Result<(), String> {
        for (number, block) in self.blocks.iter().enumerate() {
            let function = self.function(block.function);
            let fault = |what: &str| Err(format!("{} b{number}: {what}", function.name));
            let width = |reg: Reg| function.registers.get(reg.index()).copied();
            for inst in &block.ops {
                let results: &[(Reg, Width)] = match &inst.op {
                    Op::Bin { dst, width, .. }
                    | Op::Un { dst, width, .. }
                    | Op::Funnel { dst, width, .. }
                    | Op::Select { dst, width, .. }
                    | Op::Freeze { dst, width, .. }
                    | Op::Load { dst, width, .. }
                    | Op::AtomicRmw { dst, width, .. } => &[(*dst, *width)],
                    Op::Cmp { dst, .. } | Op::FloatCmp { dst, .. } => &[(*dst, 1)],
                    Op::Overflow {
                        value,
                        overflow,
                        width,
                        ..
                    } => &[(*value, *width), (*overflow, 1)],
                    Op::CmpXchg {
                        dst,
                        success,
                        width,
                        ..
                    } => &[(*dst, *width), (*success, 1)],
                    Op::Cast { dst, to, .. } => &[(*dst, *to)],
                    Op::Processor { dst, width, .. } => &[(*dst, *width)],
                    Op::Address { dst, .. } | Op::Alloca { dst, .. } | Op::StackSave { dst } => {
                        &[(*dst, 64)]
                    }
                    Op::Float { dst, kind, .. } | Op::FloatNeg { dst, kind, .. } => {
                        &[(*dst, kind.width())]
                    }
                    Op::FloatCast { dst, cast, .. } => &[(*dst, float::cast_width(*cast))],
                    Op::FloatFn {
                        dst,
                        function,
                        kind,
                        ..
                    } => &[(*dst, float::function_width(*function, *kind))],
                    // The results of the first two are checked below.
                    Op::Copy { .. }
                    | Op::Call(_)
                    | Op::Store { .. }
                    | Op::MemCopy { .. }
                    | Op::MemSet { .. }
                    | Op::Lifetime { .. }
                    | Op::Uninit { .. }
                    | Op::VaStart { .. }
                    | Op::VaCopy { .. }
                    | Op::StackRestore { .. }
                    | Op::Unmodelled { .. } => &[],
                };
                for (reg, expected) in results {
                    if width(*reg) != Some(*expected) {
                        return fault(&format!("r{} in {:?}", reg.0, inst.op));
                    }
                }
                if let Op::Copy {
                    dst,
                    a: Operand::Reg(a),
                } = &inst.op
                    && width(*dst) != width(*a)
                {
                    return fault(&format!("copy of r{} to r{}", a.0, dst.0));
                }
                if let Op::Call(call) = &inst.op {
                    for (i, expected) in call.result.iter().enumerate() {
                        if width(Reg(call.dst.0 + i as u32)) != Some(*expected) {
                            return fault(&format!("result of {call:?}"));
                        }
                    }
                }
            }
            for edge in block.end.edges() {
                if !function.blocks.contains(&edge.to.0) {
                    return fault("an edge leaves the function");
                }
                for (reg, value) in &edge.moves {
                    let from = if let Operand::Reg(from) = value {
                        width(*from)
                    } else {
                        width(*reg)
                    };
                    if width(*reg).is_none() || width(*reg) != from {
                        return fault(&format!("move to r{}", reg.0));
                    }
                }
            }
            if let Terminator::Return { values } = &block.end
                && values.len() != function.result.len()
            {
                return fault("number of results");
            }
        }
        Ok(())
    }
}

impl Terminator {
    /// The edges out of the block.
    pub fn edges(&self) -> Vec<&Edge> {
        match self {
            Terminator::Jump(edge) => vec![edge],
            Terminator::Branch {
                then, otherwise, ..
            } => vec![then, otherwise],
            Terminator::Switch { cases, default, .. } => cases
                .iter()
                .map(|(_, edge)| edge)
                .chain([default])
                .collect(),
            Terminator::IndirectBranch { targets, .. } => targets.iter().map(|(_, e)| e).collect(),
            Terminator::Return { .. } | Terminator::Unreachable { .. } => Vec::new(),
        }
    }
}
