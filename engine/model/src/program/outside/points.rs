//! The points-to sets of all registers, for code that asks which objects a number may be an address
//! of.
//!
//! The constraints are those for external functions, but the sets of registers are kept. In
//! addition, this module computes what each function may access and write, itself or through its
//! callees, because a call leaves all other objects unchanged.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Site;
use super::constraints;
use super::kept;
use crate::program::ir::{
    ArgClass, BlockId, Call, Callee, FuncId, FunctionKind, HeapFn, Intrinsic, Op, Operand, Program,
    Reg,
};

/// The points-to set of a register.
#[derive(Clone, Debug, Default)]
pub struct PointsTo {
    /// The objects that it may be an address of.
    pub sites: Vec<Site>,
    /// The functions that it may be an address of.
    pub functions: Vec<FuncId>,
}

/// The effects of a function and of its callees on objects.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    /// The objects that it may read, write, make or release.
    pub accessed: FxHashSet<Site>,
    /// The objects that it may write, make or release.
    pub written: FxHashSet<Site>,
    /// Whether it may release a block, as an external function may.
    pub releases: bool,
}

/// See the [module](self).
#[derive(Debug)]
pub struct Points {
    leads: Vec<FxHashMap<Reg, Arc<PointsTo>>>,
    nothing: Arc<PointsTo>,
    touched: Vec<Arc<Touched>>,
    called: Vec<Vec<FuncId>>,
    kept: FxHashSet<Site>,
}

impl Points {
    /// Computes the points-to sets of a program.
    pub fn of(program: &Program) -> Points {
        let mocks: Vec<FuncId> = (0..program.functions.len() as u32)
            .map(FuncId)
            .filter(|id| program.function(*id).kind == FunctionKind::Mock)
            .collect();
        let running = running(program);
        let runs = |id: FuncId| running.contains(&id);
        let constraints = constraints::of_those(program, &mocks, &runs);
        let leads = constraints.solve().leads(program);
        let mut points = Points {
            leads,
            nothing: Arc::default(),
            touched: Vec::new(),
            called: Vec::new(),
            kept: FxHashSet::default(),
        };
        points.kept = kept::kept(program, &points, &runs);
        points.touch(program, &runs);
        points
    }

    /// The points-to set of an operand of a function. Empty for a constant, which is itself the
    /// address.
    pub fn leads(&self, function: FuncId, operand: Operand) -> &Arc<PointsTo> {
        let Operand::Reg(reg) = operand else {
            return &self.nothing;
        };
        let known = self
            .leads
            .get(function.index())
            .and_then(|all| all.get(&reg));
        known.unwrap_or(&self.nothing)
    }

    /// The possible callees of a call in a function.
    pub fn callees(&self, program: &Program, function: FuncId, call: &Call) -> Vec<FuncId> {
        match call.callee {
            Callee::Direct(id) => vec![id],
            Callee::Indirect(operand) => {
                let mut all = self.leads(function, operand).functions.clone();
                if let Operand::Const(value) = operand {
                    all.extend(program.function_at(value));
                }
                all
            }
        }
    }

    /// The effects of a function and of its callees on objects.
    pub fn touched(&self, function: FuncId) -> &Arc<Touched> {
        &self.touched[function.index()]
    }

    /// The functions that a function may call directly or through a pointer.
    pub fn called(&self, function: FuncId) -> &[FuncId] {
        &self.called[function.index()]
    }

    /// Whether an address of an object may be anywhere other than in registers of the function that
    /// makes it and of its callees: in memory, in a result, or with an external function.
    pub fn is_kept(&self, site: Site) -> bool {
        self.kept.contains(&site)
    }

    fn touch(&mut self, program: &Program, runs: &dyn Fn(FuncId) -> bool) {
        let count = program.functions.len();
        let mut all: Vec<Touched> = vec![Touched::default(); count];
        let mut called: Vec<FxHashSet<FuncId>> = vec![FxHashSet::default(); count];
        let functions = program.functions.iter().enumerate();
        for (id, function) in functions.filter(|(id, _)| runs(FuncId(*id as u32))) {
            let mut own = Own {
                program,
                points: self,
                function: FuncId(id as u32),
                touched: Touched::default(),
                called: FxHashSet::default(),
            };
            for block in function.blocks.clone().map(BlockId) {
                for (op, inst) in program.block(block).ops.iter().enumerate() {
                    own.op((block, op as u32), &inst.op);
                }
            }
            if let Some(reached) = program.outside.reachable_by(FuncId(id as u32)) {
                own.touched.accessed.extend(&reached.written);
                own.touched.written.extend(&reached.written);
            }
            all[id] = own.touched;
            called[id] = own.called;
        }
        // Adds the sites of callees to those of their callers, until nothing changes.
        let mut callers: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (id, callees) in called.iter().enumerate() {
            callees
                .iter()
                .for_each(|callee| callers[callee.index()].push(id as u32));
        }
        let mut open: Vec<u32> = (0..count as u32).collect();
        while let Some(id) = open.pop() {
            let given = all[id as usize].clone();
            for &caller in &callers[id as usize] {
                let known = &mut all[caller as usize];
                let size = |known: &Touched| known.accessed.len() + known.written.len();
                let before = (size(known), known.releases);
                known.accessed.extend(&given.accessed);
                known.written.extend(&given.written);
                known.releases |= given.releases;
                if (size(known), known.releases) != before {
                    open.push(caller);
                }
            }
        }
        self.touched = all.into_iter().map(Arc::new).collect();
        let sorted = |callees: FxHashSet<FuncId>| {
            let mut callees: Vec<FuncId> = callees.into_iter().collect();
            callees.sort_unstable();
            callees
        };
        self.called = called.into_iter().map(sorted).collect();
    }
}

/// The functions that may run: those whose address is taken, the entry, and their direct callees,
/// transitively.
fn running(program: &Program) -> FxHashSet<FuncId> {
    let mut seen: FxHashSet<FuncId> = FxHashSet::default();
    let all = (0u32..).map(FuncId).zip(&program.functions);
    let addressed = all
        .filter(|(_, function)| function.addressed)
        .map(|(id, _)| id);
    let mut open: Vec<FuncId> = addressed.chain([program.entry]).collect();
    while let Some(id) = open.pop() {
        let Some(function) = program
            .functions
            .get(id.index())
            .filter(|_| seen.insert(id))
        else {
            continue;
        };
        for block in function.blocks.clone().map(BlockId) {
            for inst in &program.block(block).ops {
                if let Op::Call(call) = &inst.op
                    && let Callee::Direct(callee) = call.callee
                {
                    open.push(callee);
                }
            }
        }
    }
    seen
}

/// Collects the effects of one function without those of its callees.
struct Own<'a> {
    program: &'a Program,
    points: &'a Points,
    function: FuncId,
    touched: Touched,
    called: FxHashSet<FuncId>,
}

impl Own<'_> {
    fn sites(&self, operand: Operand) -> Vec<Site> {
        let constant = match operand {
            Operand::Const(value) => constraints::global_at(self.program, value),
            _ => None,
        };
        let leads = self.points.leads(self.function, operand);
        leads
            .sites
            .iter()
            .copied()
            .chain(constant.map(Site::Global))
            .collect()
    }

    fn reads(&mut self, address: Operand) {
        let sites = self.sites(address);
        self.touched.accessed.extend(sites);
    }

    fn writes(&mut self, address: Operand) {
        let sites = self.sites(address);
        self.touched.accessed.extend(&sites);
        self.touched.written.extend(sites);
    }

    fn makes(&mut self, site: Site) {
        self.touched.accessed.insert(site);
        self.touched.written.insert(site);
    }

    fn op(&mut self, (block, op): (BlockId, u32), what: &Op) {
        match what {
            Op::Load { address, .. } => self.reads(*address),
            Op::Store { address, .. }
            | Op::AtomicRmw { address, .. }
            | Op::CmpXchg { address, .. }
            | Op::Lifetime { address, .. }
            | Op::Uninit { address, .. } => self.writes(*address),
            Op::MemCopy { to, from, .. } | Op::VaCopy { to, from, .. } => {
                self.writes(*to);
                self.reads(*from);
            }
            Op::MemSet { to, .. } => self.writes(*to),
            Op::VaStart { list, .. } => {
                self.writes(*list);
                self.makes(Site::Made(block, op));
            }
            Op::Alloca { .. } => self.makes(Site::Made(block, op)),
            Op::Call(call) => self.call((block, op), call),
            Op::Bin { .. }
            | Op::Un { .. }
            | Op::Funnel { .. }
            | Op::Cmp { .. }
            | Op::Overflow { .. }
            | Op::Cast { .. }
            | Op::Copy { .. }
            | Op::Select { .. }
            | Op::Address { .. }
            | Op::Float { .. }
            | Op::FloatNeg { .. }
            | Op::FloatCmp { .. }
            | Op::FloatCast { .. }
            | Op::FloatFn { .. }
            | Op::Processor { .. }
            | Op::Freeze { .. }
            | Op::StackSave { .. }
            | Op::StackRestore { .. }
            | Op::Unmodelled { .. } => {}
        }
    }

    fn call(&mut self, (block, op): (BlockId, u32), call: &Call) {
        let callees = self.points.callees(self.program, self.function, call);
        for arg in &call.args {
            if let ArgClass::ByVal { .. } = arg.class {
                self.reads(arg.value);
            }
        }
        for id in callees {
            self.called.insert(id);
            let function = self.program.function(id);
            if let Some(first) = function.blocks.clone().next() {
                self.makes(Site::Made(BlockId(first), super::COPY));
            }
            self.touched.releases |= function.kind == FunctionKind::Mock;
            if let FunctionKind::Intrinsic(intrinsic) = function.kind {
                self.intrinsic((block, op), intrinsic, call);
            }
        }
    }

    fn intrinsic(&mut self, (block, op): (BlockId, u32), intrinsic: Intrinsic, call: &Call) {
        let args: Vec<Operand> = call.args.iter().map(|arg| arg.value).collect();
        // Over-approximates: an intrinsic may write everything that its arguments point to.
        args.iter().for_each(|&arg| self.writes(arg));
        let releases = matches!(
            intrinsic,
            Intrinsic::Heap(HeapFn::Free | HeapFn::Realloc | HeapFn::ReallocArray)
        );
        self.touched.releases |= releases;
        if let Intrinsic::Heap(function) = intrinsic
            && !matches!(function, HeapFn::Free | HeapFn::UsableSize)
        {
            self.makes(Site::Made(block, op));
            if let Some(errno) = self.program.errno() {
                self.makes(Site::Global(errno));
            }
        }
    }
}
