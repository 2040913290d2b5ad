//! Reads one function: registers, blocks, edges.

use cegar_llvm::{BasicBlock, LLVMOpcode, Layout, Type, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Loader, names};
use crate::program::ir::*;

/// The flattened value of an operand.
pub(super) type Operands = SmallVec<[Operand; 2]>;

/// The function being read.
pub(super) struct Body<'l, 'm> {
    pub(super) loader: &'l mut Loader<'m>,
    pub(super) layout: Layout<'m>,
    pub(super) id: FuncId,
    pub(super) registers: Vec<Width>,
    names: Vec<Box<str>>,
    lines: Vec<u32>,
    /// The first register and the number of registers of parameters and instructions.
    places: FxHashMap<Value<'m>, (u32, u32)>,
    ops: Vec<Inst>,
    pub(super) block: BlockId,
    pub(super) at: u32,
    pub(super) pos: Pos,
    /// The end of the block, set by an instruction that ends it before its terminator.
    pub(super) ended: Option<Terminator>,
    /// Whether clang itself guards the divisions of this function.
    pub(super) division_guarded: bool,
    /// Whether calling this function is itself the violation. The failing functions that it calls
    /// to report the violation then carry no check.
    pub(super) reports_failure: bool,
}

/// Reads `function` into the program.
pub(super) fn load<'m>(loader: &mut Loader<'m>, id: FuncId, function: Value<'m>) {
    let layout = loader.layout;
    let reports_failure = names::failing(&function.name()).is_some();
    let mut body = Body {
        loader,
        layout,
        id,
        registers: Vec::new(),
        names: Vec::new(),
        lines: Vec::new(),
        places: FxHashMap::default(),
        ops: Vec::new(),
        block: BlockId::default(),
        at: 0,
        pos: Pos::default(),
        ended: None,
        division_guarded: false,
        reports_failure,
    };
    body.assign_registers(function);
    for block in function.blocks() {
        let read = body.read_block(block);
        body.loader.program.blocks.push(read);
    }
    body.loops(function);
    let registers = std::mem::take(&mut body.registers);
    let mut names = std::mem::take(&mut body.names);
    names.resize(registers.len(), Box::default());
    let mut lines = std::mem::take(&mut body.lines);
    lines.resize(registers.len(), 0);
    let function = &mut loader.program.functions[id.index()];
    function.registers = registers;
    function.names = names;
    function.lines = lines;
}

impl<'m> Body<'_, 'm> {
    fn assign_registers(&mut self, function: Value<'m>) {
        let line = self.loader.position(function).line;
        for parameter in function.params() {
            self.assign(parameter, line);
        }
        for block in function.blocks() {
            let instructions = block.instructions();
            let lines = instructions
                .iter()
                .map(|i| i.position().map_or(0, |at| at.line));
            let mut line = lines.clone().find(|&line| line > 0).unwrap_or(0);
            for (&instruction, own) in instructions.iter().zip(lines) {
                if own > 0 {
                    line = own;
                }
                if !instruction.ty().is_void() {
                    self.assign(instruction, line);
                }
                if instruction.is_call()
                    && instruction.callee().name().starts_with("llvm.ubsantrap")
                {
                    let handler = instruction.operand(0).const_int();
                    self.division_guarded |= handler == Some(names::DIVISION_HANDLER);
                }
            }
        }
    }

    /// Assigns registers to a value. A value that cannot be flattened gets none, and its
    /// instruction becomes unmodelled.
    fn assign(&mut self, value: Value<'m>, line: u32) {
        if let Ok(leaves) = self.loader.types.leaves(value.ty()) {
            let first = self.registers.len() as u32;
            self.registers.extend(leaves.iter().map(|l| l.width));
            self.places.insert(value, (first, leaves.len() as u32));
            let name = match leaves.len() {
                1 => self.describe_value(value).unwrap_or_default(),
                _ => String::new(),
            };
            for _ in 0..leaves.len() {
                self.names.push(name.as_str().into());
                self.lines.push(line);
            }
        }
    }

    fn read_block(&mut self, block: BasicBlock<'m>) -> Block {
        self.block = self.loader.blocks[&block];
        let instructions = block.instructions();
        let mut first_pos = Pos::default();
        let mut end = None;
        self.pos = Pos::default();
        for (at, instruction) in instructions.iter().enumerate() {
            self.at = at as u32;
            let pos = self.loader.position(*instruction);
            if pos.line > 0 || !instruction.is_call() {
                self.pos = pos;
            }
            // A phi has the position of the assignments before the block.
            if first_pos.line == 0 && instruction.opcode() != Some(LLVMOpcode::LLVMPHI) {
                first_pos = pos;
            }
            if at + 1 == instructions.len() {
                end = Some(self.terminator(*instruction));
            } else if let Err(what) = self.instruction(*instruction) {
                self.unmodelled(what);
            }
            if let Some(early) = self.ended.take() {
                end = Some(early);
                break;
            }
        }
        let mut name = block.name();
        if name.is_empty() {
            let first = self.loader.program.functions[self.id.index()].blocks.start;
            name = format!("bb{}", self.block.0 - first);
        }
        Block {
            function: self.id,
            name,
            ops: std::mem::take(&mut self.ops),
            end: end.unwrap_or(Terminator::Unreachable { check: None }),
            end_at: self.at,
            end_pos: self.pos,
            pos: first_pos,
        }
    }

    fn terminator(&mut self, value: Value<'m>) -> Terminator {
        match self.try_terminator(value) {
            Ok(end) => end,
            Err(what) => {
                self.unmodelled(what);
                self.unmodelled_terminator(value)
            }
        }
    }

    /// Replaces a terminator that is not modelled. The run ends before it, so no execution takes
    /// its edges; they exist so that the successors are behind the hole.
    fn unmodelled_terminator(&mut self, value: Value<'m>) -> Terminator {
        let mut plain = value.successors().into_iter().map(|to| Edge {
            to: self.loader.blocks[&to],
            moves: Box::default(),
        });
        let Some(default) = plain.next() else {
            return Terminator::Unreachable { check: None };
        };
        Terminator::Switch {
            value: Operand::Const(0),
            width: 32,
            cases: (1..).zip(plain).collect(),
            default,
        }
    }

    fn try_terminator(&mut self, value: Value<'m>) -> Result<Terminator, String> {
        let targets = value.successors();
        Ok(match value.opcode() {
            Some(LLVMOpcode::LLVMRet) => {
                let values = match value.operands().first() {
                    Some(result) => self.operands(*result)?.into_vec(),
                    None => Vec::new(),
                };
                Terminator::Return { values }
            }
            Some(LLVMOpcode::LLVMBr) => match targets[..] {
                [to] => Terminator::Jump(self.edge(to)?),
                [then, otherwise] => Terminator::Branch {
                    cond: self.condition(value)?,
                    then: self.edge(then)?,
                    otherwise: self.edge(otherwise)?,
                },
                _ => return Err("branch".to_owned()),
            },
            Some(LLVMOpcode::LLVMSwitch) => {
                let condition = value.operand(0);
                let mut cases = Vec::new();
                // Operands are the condition, the default, then pairs; successor 0 is the default.
                for (i, to) in targets.iter().enumerate().skip(1) {
                    let case = self.loader.constants.scalar(value.operand(2 * i as u32))?;
                    cases.push((case, self.edge(*to)?));
                }
                Terminator::Switch {
                    value: self.scalar(condition)?,
                    width: self.width(condition.ty()),
                    cases,
                    default: self.edge(targets[0])?,
                }
            }
            Some(LLVMOpcode::LLVMIndirectBr) => {
                let address = self.scalar(value.operand(0))?;
                let mut all = Vec::new();
                for to in targets {
                    let number = self.loader.blocks[&to];
                    all.push((Program::block_address(number), self.edge(to)?));
                }
                Terminator::IndirectBranch {
                    address,
                    targets: all,
                }
            }
            Some(LLVMOpcode::LLVMUnreachable) => {
                let check = match value.previous_instruction() {
                    Some(call) if call.is_call() => None,
                    _ => Some(self.check(CheckKind::Unreachable, "unreachable".to_owned())),
                };
                Terminator::Unreachable { check }
            }
            Some(LLVMOpcode::LLVMCallBr) => return Err("inline assembly".to_owned()),
            other => return Err(format!("terminator {other:?}")),
        })
    }

    fn condition(&mut self, branch: Value<'m>) -> Result<Operand, String> {
        match branch.condition() {
            Some(condition) => self.scalar(condition),
            None => Err("branch without a condition".to_owned()),
        }
    }

    /// The edge from the current block to `to`, with the values its phi nodes take.
    fn edge(&mut self, to: BasicBlock<'m>) -> Result<Edge, String> {
        let mut moves = Vec::new();
        for phi in to.instructions() {
            if phi.opcode() != Some(LLVMOpcode::LLVMPHI) {
                break;
            }
            let Some((first, _)) = self.places.get(&phi).copied() else {
                return Err(format!("phi of {}", phi.ty().text()));
            };
            let from = phi
                .incoming()
                .into_iter()
                .find(|(_, b)| self.loader.blocks[b] == self.block);
            let Some((value, _)) = from else { continue };
            for (i, operand) in self.operands(value)?.into_iter().enumerate() {
                let dst = Reg(first + i as u32);
                if operand != Operand::Reg(dst) {
                    moves.push((dst, operand));
                }
            }
        }
        Ok(Edge {
            to: self.loader.blocks[&to],
            moves: moves.into(),
        })
    }

    // Helpers for the translation of instructions.

    /// Appends an operation at the current place.
    pub(super) fn emit(&mut self, op: Op) {
        self.ops.push(Inst {
            op,
            at: self.at,
            pos: self.pos,
        });
    }

    /// A new register that belongs to no LLVM value.
    pub(super) fn temporary(&mut self, width: Width) -> Reg {
        let reg = Reg(self.registers.len() as u32);
        self.registers.push(width);
        reg
    }

    /// The result registers of an instruction: the first one and their number.
    pub(super) fn place(&self, value: Value<'m>) -> Result<(Reg, u32), String> {
        let place = self.places.get(&value).map(|(first, n)| (Reg(*first), *n));
        place.ok_or_else(|| format!("value of type {}", value.ty().text()))
    }

    /// The result register of an instruction with a scalar result.
    pub(super) fn result(&self, value: Value<'m>) -> Result<Reg, String> {
        self.place(value).map(|(first, _)| first)
    }

    /// An operand, flattened.
    pub(super) fn operands(&mut self, value: Value<'m>) -> Result<Operands, String> {
        if let Some((first, n)) = self.places.get(&value) {
            return Ok((*first..first + n).map(|r| Operand::Reg(Reg(r))).collect());
        }
        if value.is_constant() {
            let operands = self
                .loader
                .constants
                .operands(&mut self.loader.types, value)?;
            return Ok(Operands::from_vec(operands));
        }
        Err(format!("operand of type {}", value.ty().text()))
    }

    /// A scalar operand.
    pub(super) fn scalar(&mut self, value: Value<'m>) -> Result<Operand, String> {
        match self.operands(value)?[..] {
            [one] => Ok(one),
            _ => Err(format!("operand of type {}", value.ty().text())),
        }
    }

    /// Bits of a scalar type.
    pub(super) fn width(&self, ty: Type<'m>) -> Width {
        self.layout.bits(ty) as Width
    }

    /// Numbers a check at the current place.
    pub(super) fn check(&mut self, kind: CheckKind, expression: String) -> CheckId {
        self.numbered(kind, expression, false)
    }

    pub(super) fn numbered(
        &mut self,
        kind: CheckKind,
        expression: String,
        trivial: bool,
    ) -> CheckId {
        let checks = &mut self.loader.program.checks;
        let id = CheckId(checks.len() as u32);
        let loc = Loc {
            block: self.block,
            inst: self.at,
        };
        checks.push(Check {
            kind,
            loc,
            pos: self.pos,
            function: self.id,
            expression,
            trivial,
        });
        id
    }

    /// Emits an operation that ends the run and names the construct that is not modelled.
    fn unmodelled(&mut self, what: String) {
        let which = self.name_construct(what);
        self.emit(Op::Unmodelled { which });
    }

    /// The index of a new description of a construct that is not modelled.
    pub(super) fn name_construct(&mut self, what: String) -> u32 {
        let table = &mut self.loader.program.unmodelled;
        table.push(Unmodelled {
            what,
            pos: self.pos,
            function: self.id,
        });
        table.len() as u32 - 1
    }
}
