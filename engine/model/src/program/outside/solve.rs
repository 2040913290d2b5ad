//! Inclusion constraints and their least solution.
//!
//! Each node holds a set of objects. New objects of a node are propagated along its edges. If the
//! node is an address that something is loaded from, stored to or called through, each new object
//! adds new edges. See [`Set`] for the sets.

use rustc_hash::FxHashSet;

use super::set::Set;

/// A set of objects, by number.
pub(super) type Node = u32;
/// An object, by number.
pub(super) type Object = u32;

/// The arguments and results of a call.
#[derive(Clone, Debug, Default)]
pub(super) struct CallBinding {
    /// The arguments, in the order of parameters.
    pub args: Vec<Option<Node>>,
    /// The registers that take the results.
    pub results: Vec<Node>,
}

/// The nodes of a function that its calls are bound to.
#[derive(Clone, Debug, Default)]
pub(super) struct Callable {
    /// Its parameters.
    pub params: Vec<Node>,
    /// Its variable arguments.
    pub variable: Option<Node>,
    /// Its results.
    pub results: Vec<Node>,
    /// The nodes that the arguments of an external function flow into as well.
    pub taken: Vec<Node>,
    /// The node that further arguments flow into as well.
    pub taken_further: Option<Node>,
}

/// See the [module](self).
#[derive(Debug, Default)]
pub(super) struct Constraints {
    holds: Vec<Set>,
    /// The objects of each node that have not been propagated.
    fresh: Vec<Set>,
    edges: Vec<FxHashSet<Node>>,
    loads: Vec<Vec<Node>>,
    stores: Vec<Vec<Node>>,
    calls: Vec<Vec<u32>>,
    through: Vec<CallBinding>,
    /// The contents of each object; `None` for functions.
    contents: Vec<Option<Node>>,
    /// The nodes of each object that is a function.
    callables: Vec<Option<Callable>>,
    work: Vec<Node>,
}

impl Constraints {
    /// A new, empty set.
    pub fn node(&mut self) -> Node {
        self.holds.push(Set::default());
        self.fresh.push(Set::default());
        self.edges.push(FxHashSet::default());
        self.loads.push(Vec::new());
        self.stores.push(Vec::new());
        self.calls.push(Vec::new());
        self.holds.len() as Node - 1
    }

    /// Makes `count` new nodes; returns the first.
    pub fn nodes(&mut self, count: usize) -> Node {
        let first = self.holds.len() as Node;
        (0..count).for_each(|_| {
            self.node();
        });
        first
    }

    /// Makes a new object with contents.
    pub fn object(&mut self) -> Object {
        let contents = self.node();
        self.contents.push(Some(contents));
        self.callables.push(None);
        self.contents.len() as Object - 1
    }

    /// Makes a new function.
    pub fn function(&mut self, callable: Callable) -> Object {
        self.contents.push(None);
        self.callables.push(Some(callable));
        self.contents.len() as Object - 1
    }

    /// The contents of an object.
    pub fn contents(&self, object: Object) -> Option<Node> {
        self.contents.get(object as usize).copied().flatten()
    }

    /// The nodes of a function.
    pub fn callable(&self, object: Object) -> Option<Callable> {
        self.callables.get(object as usize).cloned().flatten()
    }

    /// Adds the object to a node.
    pub fn add(&mut self, node: Node, object: Object) {
        let at = node as usize;
        if self.holds[at].insert(object) {
            if self.fresh[at].is_empty() {
                self.work.push(node);
            }
            self.fresh[at].insert(object);
        }
    }

    /// Adds objects to a node.
    fn add_all(&mut self, node: Node, objects: &Set) {
        let at = node as usize;
        let new = self.holds[at].add(objects);
        if new.is_empty() {
            return;
        }
        if self.fresh[at].is_empty() {
            self.work.push(node);
        }
        self.fresh[at].add(&new);
    }

    /// Makes `to` hold what `from` holds.
    pub fn edge(&mut self, from: Node, to: Node) {
        if from == to || !self.edges[from as usize].insert(to) {
            return;
        }
        // The fresh objects of `from` are propagated along all its edges later.
        let known = std::mem::take(&mut self.holds[from as usize]);
        self.add_all(to, &known);
        self.holds[from as usize] = known;
    }

    /// Makes `to` hold the contents of the objects that `address` holds.
    pub fn load(&mut self, address: Node, to: Node) {
        self.loads[address as usize].push(to);
        for object in self.known(address) {
            self.loaded(object, to);
        }
    }

    /// Makes the contents of the objects that `address` holds include what `value` holds.
    pub fn store(&mut self, address: Node, value: Node) {
        self.stores[address as usize].push(value);
        for object in self.known(address) {
            self.stored(object, value);
        }
    }

    /// Binds a call to the functions that `address` holds.
    pub fn call(&mut self, address: Node, through: CallBinding) {
        let number = self.through.len() as u32;
        self.through.push(through);
        self.calls[address as usize].push(number);
        for object in self.known(address) {
            self.called(object, number);
        }
    }

    /// Binds a call to a function.
    pub fn bind(&mut self, callable: &Callable, through: &CallBinding) {
        for (i, argument) in through.args.iter().enumerate() {
            let Some(argument) = *argument else { continue };
            match callable.params.get(i) {
                Some(&param) => self.edge(argument, param),
                None => {
                    if let Some(variable) = callable.variable {
                        self.edge(argument, variable);
                    }
                }
            }
            if let Some(taken) = callable.taken.get(i).copied().or(callable.taken_further) {
                self.edge(argument, taken);
            }
        }
        for (&result, &to) in callable.results.iter().zip(&through.results) {
            self.edge(result, to);
        }
    }

    fn known(&self, node: Node) -> Vec<Object> {
        self.holds[node as usize].sorted()
    }

    fn loaded(&mut self, object: Object, to: Node) {
        if let Some(contents) = self.contents(object) {
            self.edge(contents, to);
        }
    }

    fn stored(&mut self, object: Object, value: Node) {
        if let Some(contents) = self.contents(object) {
            self.edge(value, contents);
        }
    }

    fn called(&mut self, object: Object, number: u32) {
        if let Some(callable) = self.callables[object as usize].clone() {
            let through = self.through[number as usize].clone();
            self.bind(&callable, &through);
        }
    }

    /// Computes the set of each node.
    pub fn solve(mut self) -> Vec<Set> {
        while let Some(node) = self.work.pop() {
            let at = node as usize;
            let fresh = std::mem::take(&mut self.fresh[at]);
            let edges: Vec<Node> = self.edges[at].iter().copied().collect();
            for to in edges {
                self.add_all(to, &fresh);
            }
            let fresh = fresh.sorted();
            for to in self.loads[at].clone() {
                fresh.iter().for_each(|&object| self.loaded(object, to));
            }
            for value in self.stores[at].clone() {
                fresh.iter().for_each(|&object| self.stored(object, value));
            }
            for number in self.calls[at].clone() {
                fresh.iter().for_each(|&object| self.called(object, number));
            }
        }
        self.holds
    }
}
