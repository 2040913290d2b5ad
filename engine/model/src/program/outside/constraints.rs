//! Translates a program into inclusion constraints.
//!
//! Registers have no types, so every operation except for comparisons passes on all addresses that
//! its operands may be.

mod calls;
mod solution;

use rustc_hash::FxHashMap;

use super::effects::Access;

pub(in crate::program::outside) use self::solution::Solution;
use super::Site;
use super::solve::{Callable, Constraints, Node, Object};
use crate::program::ir::numbers::{object_and_offset, place_of};
use crate::program::ir::{
    BlockId, Edge, FUNCTION_OBJECTS, FuncId, GLOBAL_OBJECTS, GlobalId, Op, Operand, Program, Reg,
    Terminator,
};

/// The nodes for what one external function is given.
#[derive(Clone, Copy, Debug)]
struct Given {
    /// The objects that it may write.
    written: Node,
    /// The objects that it is given as `const`: only what they lead to is written.
    constant: Node,
    /// The objects that it leaves alone.
    untouched: Node,
}

/// The constraints of a program.
pub(super) struct Builder<'p> {
    program: &'p Program,
    constraints: Constraints,
    /// First register of each function.
    registers: Vec<Node>,
    /// The first result of each function, and the node of its variable arguments.
    results: Vec<Node>,
    variable: Vec<Node>,
    globals: Vec<Object>,
    functions: Vec<Object>,
    sites: FxHashMap<Site, Object>,
    given: FxHashMap<FuncId, Given>,
    /// The objects that external functions have kept, and those that any file can name.
    kept: Node,
}

/// The constraints of a program with these external functions.
pub(super) fn of<'p>(program: &'p Program, mocks: &[FuncId]) -> Builder<'p> {
    of_those(program, mocks, &|_| true)
}

/// The constraints of those functions of a program that `runs` selects.
pub(super) fn of_those<'p>(
    program: &'p Program,
    mocks: &[FuncId],
    runs: &dyn Fn(FuncId) -> bool,
) -> Builder<'p> {
    let mut builder = Builder::new(program, mocks);
    let functions = program.functions.iter().enumerate();
    for (id, function) in functions.filter(|(id, _)| runs(FuncId(*id as u32))) {
        for block in function.blocks.clone().map(BlockId) {
            builder.block(FuncId(id as u32), block);
        }
    }
    builder
}

impl<'p> Builder<'p> {
    fn new(program: &'p Program, mocks: &[FuncId]) -> Builder<'p> {
        let mut constraints = Constraints::default();
        let kept = constraints.node();
        // What a kept object leads to is kept, too.
        constraints.load(kept, kept);
        let nothing = constraints.node();
        let globals: Vec<Object> = program
            .globals
            .iter()
            .map(|_| constraints.object())
            .collect();
        let mut given = FxHashMap::default();
        for &mock in mocks {
            let effects = &program.function(mock).effects;
            let (written, constant) = (constraints.node(), constraints.node());
            constraints.load(written, written);
            constraints.load(constant, written);
            if effects.keeps {
                constraints.edge(written, kept);
            }
            let untouched = nothing;
            given.insert(
                mock,
                Given {
                    written,
                    constant,
                    untouched,
                },
            );
        }
        let (mut registers, mut results, mut variable) = (Vec::new(), Vec::new(), Vec::new());
        let mut functions = Vec::new();
        for (id, function) in program.functions.iter().enumerate() {
            let first = constraints.nodes(function.registers.len().max(function.params.len()));
            let result = constraints.nodes(function.result.len());
            let rest = constraints.node();
            let mut callable = Callable {
                params: (first..).take(function.params.len()).collect(),
                variable: Some(rest),
                results: (result..).take(function.result.len()).collect(),
                taken: Vec::new(),
                taken_further: None,
            };
            if let Some(given) = given.get(&FuncId(id as u32)) {
                let node = |i: usize| match function.effects.param(i) {
                    Access::Written => given.written,
                    Access::Const => given.constant,
                    Access::Untouched => given.untouched,
                };
                // A vector is one parameter, and several arguments.
                let declared = function.effects.params.len();
                if declared == function.params.len() {
                    callable.taken = (0..declared).map(node).collect();
                }
                callable.taken_further = Some(given.written);
                // The external function knows the addresses that it returned.
                (result..)
                    .take(function.result.len())
                    .for_each(|result| constraints.edge(result, kept));
            }
            functions.push(constraints.function(callable));
            registers.push(first);
            results.push(result);
            variable.push(rest);
        }
        let mut builder = Builder {
            program,
            constraints,
            registers,
            results,
            variable,
            globals,
            functions,
            sites: FxHashMap::default(),
            given,
            kept,
        };
        builder.initial();
        builder
    }

    /// Adds the addresses that variables contain at the program's start, and the variables that
    /// other files can name.
    fn initial(&mut self) {
        for (i, global) in self.program.globals.iter().enumerate() {
            let object = self.globals[i];
            if global.visible {
                self.constraints.add(self.kept, object);
            }
            let Some(contents) = self.constraints.contents(object) else {
                continue;
            };
            if global.zeros {
                continue;
            }
            for word in global.init.windows(8) {
                let word = <[u8; 8]>::try_from(word).map_or(0, u64::from_le_bytes);
                if let Some(there) = self.object_at(word) {
                    self.constraints.add(contents, there);
                }
            }
        }
    }

    /// The object that a constant is an address of.
    fn object_at(&self, address: u64) -> Option<Object> {
        let (number, _) = object_and_offset(address);
        let number = place_of(number);
        let function = number.checked_sub(FUNCTION_OBJECTS).map(|i| i as usize);
        if let Some(&function) = function.and_then(|i| self.functions.get(i)) {
            return Some(function);
        }
        let global = number.checked_sub(GLOBAL_OBJECTS)?;
        self.globals.get(global as usize).copied()
    }

    fn register(&self, function: FuncId, reg: Reg) -> Node {
        self.registers[function.index()] + reg.0
    }

    /// A node that holds the addresses that an operand may be; `None` if it is no address.
    fn operand(&mut self, function: FuncId, operand: Operand) -> Option<Node> {
        match operand {
            Operand::Reg(reg) => Some(self.register(function, reg)),
            Operand::Const(value) => {
                let object = self.object_at(value)?;
                let node = self.constraints.node();
                self.constraints.add(node, object);
                Some(node)
            }
            Operand::Wide(value) => {
                let halves = [*value as u64, (*value >> 64) as u64];
                let objects: Vec<Object> = halves
                    .into_iter()
                    .filter_map(|half| self.object_at(half))
                    .collect();
                let node = self.constraints.node();
                for object in objects {
                    self.constraints.add(node, object);
                }
                Some(node)
            }
            Operand::Undef => None,
        }
    }

    /// Makes `dst` hold all addresses that the operands may be.
    fn flow(&mut self, function: FuncId, dst: Reg, from: &[Operand]) {
        let dst = self.register(function, dst);
        for &operand in from {
            if let Some(from) = self.operand(function, operand) {
                self.constraints.edge(from, dst);
            }
        }
    }

    fn load(&mut self, function: FuncId, address: Operand, to: Node) {
        if let Some(address) = self.operand(function, address) {
            self.constraints.load(address, to);
        }
    }

    fn store(&mut self, function: FuncId, address: Operand, value: Operand) {
        let address = self.operand(function, address);
        let value = self.operand(function, value);
        if let (Some(address), Some(value)) = (address, value) {
            self.constraints.store(address, value);
        }
    }

    /// Copies the addresses in the objects at one address to the objects at another.
    fn copy(&mut self, function: FuncId, to: Operand, from: Operand) {
        let between = self.constraints.node();
        self.load(function, from, between);
        if let Some(to) = self.operand(function, to) {
            self.constraints.store(to, between);
        }
    }

    fn site(&mut self, block: BlockId, op: u32) -> Object {
        let site = Site::Made(block, op);
        if let Some(&known) = self.sites.get(&site) {
            return known;
        }
        let object = self.constraints.object();
        self.sites.insert(site, object);
        object
    }

    fn block(&mut self, function: FuncId, id: BlockId) {
        let program = self.program;
        let block = program.block(id);
        for (index, inst) in block.ops.iter().enumerate() {
            self.op(function, (id, index as u32), &inst.op);
        }
        if let Terminator::Return { values } = &block.end {
            let results = program.function(function).result.len();
            for (i, &value) in values.iter().enumerate().take(results) {
                if let Some(value) = self.operand(function, value) {
                    let result = self.results[function.index()] + i as u32;
                    self.constraints.edge(value, result);
                }
            }
        }
        for edge in block.end.edges() {
            self.moves(function, edge);
        }
    }

    fn moves(&mut self, function: FuncId, edge: &Edge) {
        for &(reg, from) in &edge.moves {
            self.flow(function, reg, &[from]);
        }
    }

    fn op(&mut self, function: FuncId, (block, index): (BlockId, u32), op: &Op) {
        match op {
            Op::Bin { dst, a, b, .. } => self.flow(function, *dst, &[*a, *b]),
            Op::Overflow { value, a, b, .. } => self.flow(function, *value, &[*a, *b]),
            Op::Funnel { dst, a, b, .. } | Op::Select { dst, a, b, .. } => {
                self.flow(function, *dst, &[*a, *b]);
            }
            Op::Un { dst, a, .. }
            | Op::Cast { dst, a, .. }
            | Op::Copy { dst, a }
            | Op::Freeze { dst, a, .. }
            | Op::FloatNeg { dst, a, .. }
            | Op::FloatCast { dst, a, .. } => self.flow(function, *dst, &[*a]),
            Op::Float { dst, a, b, .. } => self.flow(function, *dst, &[*a, *b]),
            Op::FloatFn { dst, args, .. } => self.flow(function, *dst, args),
            Op::Processor { dst, args, .. } => {
                for (arg, _) in args {
                    self.flow(function, *dst, &[*arg]);
                }
            }
            Op::Address {
                dst, base, indices, ..
            } => {
                self.flow(function, *dst, &[*base]);
                for (index, ..) in indices {
                    self.flow(function, *dst, &[*index]);
                }
            }
            Op::Cmp { .. } | Op::FloatCmp { .. } => {}
            Op::Alloca { dst, .. } => {
                let object = self.site(block, index);
                let dst = self.register(function, *dst);
                self.constraints.add(dst, object);
            }
            Op::Load { dst, address, .. } => {
                let dst = self.register(function, *dst);
                self.load(function, *address, dst);
            }
            Op::Store { value, address, .. } => self.store(function, *address, *value),
            Op::MemCopy { to, from, .. } | Op::VaCopy { to, from, .. } => {
                self.copy(function, *to, *from);
            }
            Op::MemSet { to, value, .. } => self.store(function, *to, *value),
            Op::Lifetime { .. } | Op::Uninit { .. } | Op::Unmodelled { .. } => {}
            Op::Call(call) => self.call(function, (block, index), call),
            Op::VaStart { list, .. } => {
                let area = self.site(block, index);
                if let (Some(list), Some(contents)) = (
                    self.operand(function, *list),
                    self.constraints.contents(area),
                ) {
                    let node = self.constraints.node();
                    self.constraints.add(node, area);
                    self.constraints.store(list, node);
                    let variable = self.variable[function.index()];
                    self.constraints.edge(variable, contents);
                }
            }
            Op::StackSave { .. } | Op::StackRestore { .. } => {}
            Op::AtomicRmw {
                dst, address, b, ..
            } => {
                let dst = self.register(function, *dst);
                self.load(function, *address, dst);
                self.store(function, *address, *b);
                // The stored value may be computed from the old one and the operand.
                if let Some(address) = self.operand(function, *address) {
                    self.constraints.store(address, dst);
                }
            }
            Op::CmpXchg {
                dst, address, new, ..
            } => {
                let dst = self.register(function, *dst);
                self.load(function, *address, dst);
                self.store(function, *address, *new);
            }
        }
    }

    /// Computes the least solution.
    pub fn solve(self) -> Solution {
        let mut sites: FxHashMap<Object, Site> = self
            .sites
            .iter()
            .map(|(&site, &object)| (object, site))
            .collect();
        for (i, &object) in self.globals.iter().enumerate() {
            sites.insert(object, Site::Global(GlobalId(i as u32)));
        }
        let functions = self.functions.iter().enumerate();
        Solution {
            sites,
            functions: functions
                .map(|(i, &object)| (object, FuncId(i as u32)))
                .collect(),
            registers: self.registers,
            given: self.given,
            kept: self.kept,
            holds: self.constraints.solve(),
        }
    }
}

/// The global that a constant is an address in.
pub(super) fn global_at(program: &Program, address: u64) -> Option<GlobalId> {
    let (number, _) = object_and_offset(address);
    let place = place_of(number).checked_sub(GLOBAL_OBJECTS)?;
    ((place as usize) < program.globals.len()).then_some(GlobalId(place))
}
