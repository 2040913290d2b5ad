//! Sets of abstract states as binary decision diagrams.
//!
//! The diagrams are OxiDD's: nodes are shared, operations are cached, and a full table is an error
//! that can be reported, not an abort. Bit `n` of a place is variable `2n` before a step and `2n +
//! 1` after it: the two are adjacent, which keeps the relations small.

use oxidd::bdd::{BDDFunction, BDDManagerRef, new_manager};
use oxidd::util::OptBool;
use oxidd::{
    BooleanFunction, BooleanFunctionQuant, BooleanOperator, Function, FunctionSubst, HasLevel,
    Manager, ManagerRef, Node, Subst, VarNo,
};

use super::program::{Bit, Relation, Table};

/// The maximum number of nodes: 16 bytes each, and no memory before they are used.
const NODES: usize = 1 << 22;
/// The number of cached results of operations.
const REMEMBERED: usize = 1 << 16;

/// There is no room for another node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the abstract states do not fit into {NODES} nodes of decision diagrams")]
pub struct Full;

impl From<oxidd::util::OutOfMemory> for Full {
    fn from(_: oxidd::util::OutOfMemory) -> Full {
        Full
    }
}

/// A set of states, or of pairs of states.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Set(BDDFunction);

impl std::fmt::Debug for Set {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Set({} nodes)", self.0.node_count())
    }
}

impl Set {
    /// The intersection.
    pub fn and(&self, other: &Set) -> Result<Set, Full> {
        Ok(Set(self.0.and(&other.0)?))
    }

    /// The union.
    pub fn or(&self, other: &Set) -> Result<Set, Full> {
        Ok(Set(self.0.or(&other.0)?))
    }

    /// The difference.
    pub fn without(&self, other: &Set) -> Result<Set, Full> {
        Ok(Set(self.0.and(&other.0.not()?)?))
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        !self.0.satisfiable()
    }
}

/// The variables of the diagrams, and literals and substitutions for them.
pub struct Diagrams {
    manager: BDDManagerRef,
    now: Vec<Set>,
    next: Vec<Set>,
    not_now: Vec<Set>,
    not_next: Vec<Set>,
    to_now: Option<Subst<BDDFunction>>,
    all_now: Set,
}

impl std::fmt::Debug for Diagrams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Diagrams({} bits)", self.now.len())
    }
}

impl Default for Diagrams {
    fn default() -> Diagrams {
        Diagrams::new()
    }
}

impl Diagrams {
    /// Diagrams without bits.
    pub fn new() -> Diagrams {
        let manager = new_manager(NODES, REMEMBERED, 1);
        let all_now = manager.with_manager_shared(|manager| Set(BDDFunction::t(manager)));
        Diagrams {
            manager,
            now: Vec::new(),
            next: Vec::new(),
            not_now: Vec::new(),
            not_next: Vec::new(),
            to_now: None,
            all_now,
        }
    }

    /// Makes sure that there are at least this many bits.
    pub fn grow(&mut self, bits: usize) -> Result<(), Full> {
        let have = self.now.len();
        if bits <= have {
            return Ok(());
        }
        let more = VarNo::try_from(2 * (bits - have)).map_err(|_| Full)?;
        self.manager
            .with_manager_exclusive(|manager| manager.add_vars(more));
        for bit in have..bits {
            let number = 2 * bit as VarNo;
            let (now, next) = self.manager.with_manager_shared(|manager| {
                let now = BDDFunction::var(manager, number)?;
                let next = BDDFunction::var(manager, number + 1)?;
                Ok::<_, Full>((Set(now), Set(next)))
            })?;
            self.not_now.push(self.everything().without(&now)?);
            self.not_next.push(self.everything().without(&next)?);
            self.all_now = self.all_now.and(&now)?;
            self.now.push(now);
            self.next.push(next);
        }
        let vars: Vec<VarNo> = (0..bits).map(|bit| 2 * bit as VarNo + 1).collect();
        let now: Vec<BDDFunction> = self.now.iter().map(|bit| bit.0.clone()).collect();
        self.to_now = Some(Subst::new(vars, now));
        Ok(())
    }

    /// The empty set.
    pub fn nothing(&self) -> Set {
        self.manager
            .with_manager_shared(|manager| Set(BDDFunction::f(manager)))
    }

    /// The set of all states.
    pub fn everything(&self) -> Set {
        self.manager
            .with_manager_shared(|manager| Set(BDDFunction::t(manager)))
    }

    fn literal(&self, bit: Bit, value: bool) -> &Set {
        match (bit, value) {
            (Bit::Now(n), true) => &self.now[n],
            (Bit::Now(n), false) => &self.not_now[n],
            (Bit::Next(n), true) => &self.next[n],
            (Bit::Next(n), false) => &self.not_next[n],
        }
    }

    /// The states in which the bits have these values.
    pub fn cube(&self, bits: impl IntoIterator<Item = (Bit, bool)>) -> Result<Set, Full> {
        let mut all = self.everything();
        for (bit, value) in bits {
            all = all.and(self.literal(bit, value))?;
        }
        Ok(all)
    }

    fn table(&self, table: &Table) -> Result<Set, Full> {
        let mut some = self.nothing();
        for row in &table.rows {
            let row = self.cube(table.bits.iter().copied().zip(row.iter().copied()))?;
            some = some.or(&row)?;
        }
        Ok(some)
    }

    /// The pairs of states that a relation allows.
    pub fn relation(&self, relation: &Relation) -> Result<Set, Full> {
        if relation.impossible {
            return Ok(self.nothing());
        }
        let mut all = self.everything();
        for &(bit, value) in &relation.fixed {
            all = all.and(self.literal(Bit::Next(bit), value))?;
        }
        for &(after, before, complemented) in &relation.copied {
            let before = self.literal(Bit::Now(before), !complemented);
            all = all.and(&Set(self.next[after].0.equiv(&before.0)?))?;
        }
        for table in &relation.tables {
            all = all.and(&self.table(table)?)?;
        }
        for cube in &relation.excluded {
            let cube = self.cube(cube.iter().copied())?;
            all = all.without(&cube)?;
        }
        Ok(all)
    }

    /// The image of a set of states under a relation.
    pub fn image(&self, states: &Set, relation: &Set) -> Result<Set, Full> {
        let now = &self.all_now.0;
        let after = states
            .0
            .apply_exists(BooleanOperator::And, &relation.0, now)?;
        match &self.to_now {
            Some(to_now) => Ok(Set(after.substitute(to_now)?)),
            None => Ok(Set(after)),
        }
    }

    /// The predecessors in `states` of a state, which is given by its first bits, under a relation.
    pub fn before(&self, states: &Set, relation: &Set, after: &[bool]) -> Result<Set, Full> {
        let numbered = after.iter().enumerate();
        let after = self.cube(numbered.map(|(n, &value)| (Bit::Next(n), value)))?;
        states.and(&relation.and(&after)?)
    }

    /// A state of a set, by its first bits; `None` if the set is empty. Bits that the set does not
    /// depend on are false.
    pub fn pick(&self, states: &Set, bits: usize) -> Option<Vec<bool>> {
        let cube = states.0.pick_cube(|_, _, _| false)?;
        let value = |bit: usize| cube.get(2 * bit).is_some_and(|&v| v == OptBool::True);
        Some((0..bits).map(value).collect())
    }

    /// The first bit that a set of states depends on, and the subsets where it is set and where it
    /// is not; `None` for the empty set and the set of all states.
    pub fn split(&self, states: &Set) -> Option<(usize, Set, Set)> {
        let (high, low) = states.0.cofactors()?;
        let level = states
            .0
            .with_manager_shared(|manager, edge| match manager.get_node(edge) {
                Node::Inner(node) => Some(node.level()),
                Node::Terminal(_) => None,
            })?;
        // The manager never reorders variables, so a level is a variable's number.
        Some((level as usize / 2, Set(high), Set(low)))
    }
}
