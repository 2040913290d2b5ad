//! Learns the order in which callers call the functions of one object.
//!
//! Between the creation and the release of an object, most libraries permit only some orders of
//! calls, and no header documents them. C code that calls the library shows them: the programs and
//! tests that many crates include, and the library's own files. Each function body there is
//! followed through its branches and loops, separately for each object, and each pair of
//! consecutive calls becomes an edge of the object's automaton. Fuzzers that merge the orders of
//! several callers (FuzzGen, Ispoglou and others, 2020) do the same on compiler IR; here the files
//! need not even compile, and a crate's copy of a test suite often does not.
//!
//! The Rust code around a library shows further orders (`rust`): the calls that its functions make,
//! and the fact that its safe methods may be called in any order.
//!
//! Only orders that callers use are accepted: any other would report faults of a use that no caller
//! makes.

mod automaton;
mod rust;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use tree_sitter::{Node, Parser};

use super::api::{Api, Declared};
use crate::error::Error;
pub use automaton::CallAutomaton;

/// The maximum number of files that are read.
const FILES: usize = 400;
/// The maximum size in bytes of a file.
const BYTES: u64 = 1 << 20;
/// How many levels of subfolders are searched.
const DEPTH: usize = 6;
/// How deeply nested statements are followed.
const NESTED: usize = 64;

/// The orders of calls that callers use, by the identity of the object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Orders {
    automata: BTreeMap<String, CallAutomaton>,
    /// The orders that are assumed for objects that no caller is seen to use.
    assumed: BTreeMap<String, CallAutomaton>,
    /// Functions that Rust callers call only after they have checked a state of their own.
    guarded: BTreeSet<String>,
    /// Functions that Rust callers never call first.
    inner: BTreeSet<String>,
    /// Functions whose result Rust callers release as an object of its own.
    fresh: BTreeSet<String>,
    /// Functions after which the Rust caller cannot release the object.
    kept: BTreeSet<String>,
}

impl Orders {
    /// Reads the C and Rust files below the crate's folder, and the Rust files below the folders of
    /// the crates that call it.
    pub fn learn(root: &Path, callers: &[PathBuf], api: &Api) -> Result<Orders, Error> {
        let mut parser = Parser::new();
        let language = tree_sitter_c::LANGUAGE.into();
        parser
            .set_language(&language)
            .map_err(|why| Error::engine("parsing the crate's C files", why))?;
        let mut paths = Vec::new();
        files(root, "c", (DEPTH, FILES, BYTES), &mut paths);
        let mut orders = Orders::default();
        for path in paths {
            // Files that cannot be read are skipped.
            let Ok(text) = std::fs::read(&path) else {
                continue;
            };
            let Some(tree) = parser.parse(&text, None) else {
                continue;
            };
            let name = path.strip_prefix(root).unwrap_or(&path);
            orders.file(api, &name.to_string_lossy(), &text, tree.root_node());
        }
        let roots: Vec<PathBuf> = [root.to_owned()]
            .into_iter()
            .chain(callers.iter().cloned())
            .collect();
        let shown = rust::shown(&roots, api);
        for edge in shown.edges {
            orders.put(edge.identity, (edge.from, edge.to), &edge.file);
        }
        orders.fresh = shown.fresh;
        orders.guarded = shown.guarded;
        orders.inner = shown.inner;
        orders.kept = shown.kept;
        Ok(orders)
    }

    /// Whether Rust callers always call another function first.
    pub fn is_inner(&self, function: &str) -> bool {
        self.inner.contains(function)
    }

    /// Whether the caller cannot release the object after this function: the library owns it, or
    /// another call always follows.
    pub fn is_kept(&self, function: &str) -> bool {
        self.kept.contains(function)
    }

    /// Whether Rust callers release the result of this function as an object of its own.
    pub fn is_fresh(&self, function: &str) -> bool {
        self.fresh.contains(function)
    }

    /// Whether Rust callers call this function only after they have checked a state of their own.
    /// The check may establish a precondition of the library.
    pub fn is_guarded(&self, function: &str) -> bool {
        self.guarded.contains(function)
    }

    fn put(&mut self, identity: String, (from, to): (String, String), file: &str) {
        let automaton = self.automata.entry(identity).or_default();
        automaton.next.entry(from).or_default().insert(to);
        automaton.files.insert(file.to_owned());
    }

    /// The automaton of the objects with this identity.
    pub fn of(&self, identity: &str) -> Option<&CallAutomaton> {
        self.automata.get(identity)
    }

    /// Notes an order for an object, unless callers show one in which several of its functions
    /// occur.
    pub fn assume(&mut self, identity: String, automaton: CallAutomaton) {
        let known = self.automata.get(&identity);
        let functions = automaton.next.values().flatten().collect::<BTreeSet<_>>();
        let is_shown = |known: &CallAutomaton| {
            let shown = functions.iter().filter(|function| known.has(function));
            shown.count() > 1
        };
        if !known.is_some_and(is_shown) {
            self.assumed.insert(identity, automaton);
        }
    }

    /// The order in which the harness of an object's life uses it: the callers' order, or an
    /// assumed one.
    pub fn of_life(&self, identity: &str) -> Option<&CallAutomaton> {
        self.assumed.get(identity).or_else(|| self.of(identity))
    }

    /// The identities of the objects whose orders of calls are known or assumed.
    pub fn identities(&self) -> impl Iterator<Item = &str> {
        let assumed = self
            .assumed
            .keys()
            .filter(|one| !self.automata.contains_key(*one));
        self.automata.keys().chain(assumed).map(String::as_str)
    }

    fn file(&mut self, api: &Api, name: &str, text: &[u8], root: Node<'_>) {
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            // For a K&R-style function definition, or one behind a macro, the parser recognises
            // only the body.
            if node.kind() == "compound_statement" {
                self.body(api, name, text, node);
                continue;
            }
            let mut cursor = node.walk();
            open.extend(node.named_children(&mut cursor));
        }
    }

    fn body(&mut self, api: &Api, name: &str, text: &[u8], body: Node<'_>) {
        let mut following = Following {
            api,
            text,
            edges: BTreeSet::new(),
            breaks: Vec::new(),
            labels: BTreeMap::new(),
        };
        following.statement(body, Some(BTreeMap::new()), 0);
        for (identity, from, to) in following.edges {
            self.put(identity, (from, to), name);
        }
    }
}

/// Collects the files with an extension below a folder in sorted order, up to the given depth,
/// number of files and size in bytes. Folders with a `cegar.toml` are skipped, because harnesses
/// are not callers.
fn files(
    folder: &Path,
    extension: &str,
    (depth, most, bytes): (usize, usize, u64),
    into: &mut Vec<PathBuf>,
) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    if paths.iter().any(|path| path.ends_with("cegar.toml")) {
        return;
    }
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if into.len() >= most || name.starts_with('.') {
            continue;
        }
        let is_link = path.is_symlink();
        if path.is_dir() && depth > 0 && name != "target" && !is_link {
            files(&path, extension, (depth - 1, most, bytes), into);
        } else if path.extension().is_some_and(|e| e == extension)
            && path
                .metadata()
                .is_ok_and(|m| m.is_file() && m.len() <= bytes)
        {
            into.push(path);
        }
    }
}

/// For each object, given by the expression that denotes it, the calls that may have been the most
/// recent one. `None` if the place is unreachable.
type State<Object = String> = Option<BTreeMap<Object, BTreeSet<String>>>;

/// Joins the states of two paths.
fn joined<Object: Ord>(a: State<Object>, b: State<Object>) -> State<Object> {
    let (mut a, b) = match (a, b) {
        (Some(a), Some(b)) => (a, b),
        (one, None) | (None, one) => return one,
    };
    for (object, calls) in b {
        a.entry(object).or_default().extend(calls);
    }
    Some(a)
}

struct Following<'f> {
    api: &'f Api,
    text: &'f [u8],
    /// The identity of an object, and two consecutive calls.
    edges: BTreeSet<(String, String, String)>,
    /// For each enclosing loop or `switch`, the states at its `break`s and at its `continue`s.
    breaks: Vec<(State, State)>,
    labels: BTreeMap<String, State>,
}

impl Following<'_> {
    /// Returns the state after a statement.
    fn statement(&mut self, node: Node<'_>, before: State, depth: usize) -> State {
        if depth > NESTED {
            return before;
        }
        let depth = depth + 1;
        let part = |name: &str| node.child_by_field_name(name);
        match node.kind() {
            "if_statement" => {
                let state = self.parts([part("condition")], before, depth);
                let taken = self.parts([part("consequence")], state.clone(), depth);
                let other = self.parts([part("alternative")], state, depth);
                joined(taken, other)
            }
            "while_statement" | "for_statement" | "do_statement" => self.turns(node, before, depth),
            "switch_statement" => self.cases(node, before, depth),
            "break_statement" => {
                if let Some((breaks, _)) = self.breaks.last_mut() {
                    *breaks = joined(breaks.take(), before);
                }
                None
            }
            "continue_statement" => {
                // A `continue` within a `switch` belongs to the enclosing loop; `cases` passes it
                // on.
                if let Some((_, continues)) = self.breaks.last_mut() {
                    *continues = joined(continues.take(), before);
                }
                None
            }
            "return_statement" => {
                self.children(node, before, depth);
                None
            }
            "goto_statement" => {
                if let Some(label) = part("label").map(|label| self.words(label)) {
                    let known = self.labels.remove(&label).flatten();
                    self.labels.insert(label, joined(known, before));
                }
                None
            }
            "labeled_statement" => {
                let label = part("label")
                    .map(|label| self.words(label))
                    .unwrap_or_default();
                let jumped = self.labels.get(&label).cloned().flatten();
                self.children(node, joined(before, jumped), depth)
            }
            "call_expression" => {
                let state = self.children(node, before, depth);
                self.called(node, state)
            }
            _ => self.children(node, before, depth),
        }
    }

    fn children(&mut self, node: Node<'_>, before: State, depth: usize) -> State {
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        self.parts(children.into_iter().map(Some), before, depth)
    }

    fn parts<'n>(
        &mut self,
        parts: impl IntoIterator<Item = Option<Node<'n>>>,
        before: State,
        depth: usize,
    ) -> State {
        let parts = parts.into_iter().flatten();
        parts.fold(before, |state, part| self.statement(part, state, depth))
    }

    fn turns(&mut self, node: Node<'_>, before: State, depth: usize) -> State {
        let part = |name: &str| node.child_by_field_name(name);
        let mut state = self.parts([part("initializer")], before, depth);
        let (first, second) = match node.kind() {
            "do_statement" => (part("body"), part("condition")),
            _ => (part("condition"), part("body")),
        };
        let mut behind = None;
        // The second iteration starts from the state after the first one, which yields all pairs.
        for _ in 0..2 {
            self.breaks.push((None, None));
            let middle = self.parts([first], state.clone(), depth);
            let end = self.parts([second], middle.clone(), depth);
            let (breaks, continues) = self.breaks.pop().unwrap_or_default();
            let end = self.parts([part("update")], joined(end, continues), depth);
            let leaves = if node.kind() == "do_statement" {
                end.clone()
            } else {
                middle
            };
            behind = joined(behind, joined(breaks, leaves));
            state = joined(state, end);
        }
        behind
    }

    fn cases(&mut self, node: Node<'_>, before: State, depth: usize) -> State {
        let part = |name: &str| node.child_by_field_name(name);
        let before = self.parts([part("condition")], before, depth);
        self.breaks.push((None, None));
        // Each statement may be reached by a jump or from the statement before it.
        let mut state = before.clone();
        let body = part("body");
        let mut cursor = node.walk();
        let statements: Vec<Node<'_>> = body
            .into_iter()
            .flat_map(|body| body.named_children(&mut cursor).collect::<Vec<_>>())
            .collect();
        for statement in statements {
            if statement.kind() == "case_statement" {
                state = joined(state, before.clone());
            }
            state = self.statement(statement, state, depth);
        }
        let (breaks, continues) = self.breaks.pop().unwrap_or_default();
        if let Some((_, outer)) = self.breaks.last_mut() {
            *outer = joined(outer.take(), continues);
        }
        joined(joined(state, breaks), before)
    }

    /// A call of a function of the library: adds an edge from the most recent call on the same
    /// object.
    fn called(&mut self, call: Node<'_>, state: State) -> State {
        let mut state = state?;
        let name = call
            .child_by_field_name("function")
            .map(|name| self.words(name));
        // `inflateInit(&stream)` is a macro for the function `inflateInit_`.
        let behind = name.as_ref().map(|name| format!("{name}_"));
        let is_it = |f: &&Declared| Some(&f.name) == name.as_ref();
        let is_behind = |f: &&Declared| Some(&f.name) == behind.as_ref();
        let mut all = self.api.all_functions();
        let function = all
            .find(is_it)
            .or_else(|| self.api.all_functions().find(is_behind));
        let (Some(function), Some(list)) = (function, call.child_by_field_name("arguments")) else {
            return Some(state);
        };
        for (identity, object) in self.objects(function, call, list) {
            let last = state.entry(object).or_default();
            for from in std::mem::take(last) {
                let edge = (identity.clone(), from, function.name.clone());
                self.edges.insert(edge);
            }
            last.insert(function.name.clone());
        }
        Some(state)
    }

    /// The objects of a call, each with its identity and its expression: those that are passed, and
    /// the one that it returns.
    fn objects(
        &self,
        function: &Declared,
        call: Node<'_>,
        list: Node<'_>,
    ) -> Vec<(String, String)> {
        let mut cursor = list.walk();
        let arguments = list.named_children(&mut cursor);
        let arguments: Vec<Node<'_>> = arguments.filter(|a| a.kind() != "comment").collect();
        let mut found = Vec::new();
        for (param, argument) in function.params.iter().zip(&arguments) {
            let through = || self.api.handle(&self.api.pointee(&param.ty)?);
            if let Some(identity) = self.api.handle(&param.ty).or_else(through)
                && let Some(object) = self.object(*argument)
            {
                found.push((identity, object));
            }
        }
        if let Some(identity) = self.api.handle(&function.returns)
            && let Some(object) = self.assigned(call)
        {
            found.push((identity, object));
        }
        found.dedup();
        found
    }

    /// The variable that the result of a call is assigned to.
    fn assigned(&self, mut node: Node<'_>) -> Option<String> {
        loop {
            let parent = node.parent()?;
            match parent.kind() {
                "cast_expression" | "parenthesized_expression" => node = parent,
                "assignment_expression" => return self.object(parent.child_by_field_name("left")?),
                "init_declarator" => {
                    return self.object(parent.child_by_field_name("declarator")?);
                }
                _ => return None,
            }
        }
    }

    /// The expression that denotes an object: `&x`, `(T)x`, `*x` and `x` denote the same one.
    fn object(&self, mut node: Node<'_>) -> Option<String> {
        loop {
            node = match node.kind() {
                "identifier" | "field_expression" => {
                    return Some(self.words(node).replace("->", "."));
                }
                "pointer_expression" => node.child_by_field_name("argument")?,
                "cast_expression" => node.child_by_field_name("value")?,
                "pointer_declarator" => node.child_by_field_name("declarator")?,
                "parenthesized_expression" => node.named_child(0)?,
                _ => return None,
            };
        }
    }

    fn words(&self, node: Node<'_>) -> String {
        let text = self.text.get(node.byte_range()).unwrap_or_default();
        String::from_utf8_lossy(text).into_owned()
    }
}

#[cfg(test)]
mod tests;
