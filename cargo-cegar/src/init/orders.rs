//! In which order callers call the functions of one object.
//!
//! Between making and closing an object most libraries allow only some orders, and no header says
//! which. C code that calls them does: the programs and tests that many crates carry along, and the
//! library's own files. Each function body there is followed through its branches and loops, one
//! object at a time, and every pair of calls that can come one after the other is an edge of the
//! object's automaton. Fuzzers that merge the orders of several callers (FuzzGen, Ispoglou and
//! others, 2020) do the same at the level of the compiler; here the files need not even compile,
//! which a crate's copy of a test suite mostly does not.
//!
//! The Rust code around a library shows more (`rust`): what its functions call, and that its safe
//! methods may come in any order.
//!
//! Only such orders are used: any other would report faults of a use that no caller makes.

mod life;
mod rust;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use tree_sitter::{Node, Parser};

use super::api::{Api, Declared};
use crate::error::Error;
pub use life::Life;

/// Files that are looked at.
const FILES: usize = 400;
/// Bytes of one.
const BYTES: u64 = 1 << 20;
/// How deep folders are.
const DEPTH: usize = 6;
/// How deep statements are followed.
const NESTED: usize = 64;

/// The orders that were seen, by what an object is known by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Orders {
    lives: BTreeMap<String, Life>,
    /// Functions that Rust callers call only once they have looked at a state of their own.
    guarded: BTreeSet<String>,
    /// Functions that Rust callers never begin with.
    inner: BTreeSet<String>,
    /// Functions whose result Rust callers give back as an object of its own.
    fresh: BTreeSet<String>,
    /// Functions behind which the object is not the Rust caller's to give back.
    kept: BTreeSet<String>,
}

impl Orders {
    /// Looks through the C and the Rust files below the crate's folder, and the Rust files below
    /// those of the crates that call it.
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
            // What cannot be read shows nothing.
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

    /// Whether the object is not the caller's to give back behind a function: the library has it,
    /// or a call that always follows is to come.
    pub fn is_kept(&self, function: &str) -> bool {
        self.kept.contains(function)
    }

    /// Whether Rust callers give back what a function returns as an object of its own.
    pub fn is_fresh(&self, function: &str) -> bool {
        self.fresh.contains(function)
    }

    /// Whether Rust callers call a function only once they have looked at a state of their own,
    /// which may keep a condition of the library's.
    pub fn is_guarded(&self, function: &str) -> bool {
        self.guarded.contains(function)
    }

    fn put(&mut self, identity: String, (from, to): (String, String), file: &str) {
        let life = self.lives.entry(identity).or_default();
        life.next.entry(from).or_default().insert(to);
        life.files.insert(file.to_owned());
    }

    /// What is known of a kind of object.
    pub fn of(&self, identity: &str) -> Option<&Life> {
        self.lives.get(identity)
    }

    /// The kinds of objects.
    pub fn identities(&self) -> impl Iterator<Item = &str> {
        self.lives.keys().map(String::as_str)
    }

    fn file(&mut self, api: &Api, name: &str, text: &[u8], root: Node<'_>) {
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            // Of a function in the style of before C89, or behind a macro, the parser understands
            // the body alone.
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

/// The files with an extension below a folder, in order: so deep, so many, of so many bytes at
/// most. What `init` itself wrote shows no caller.
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

/// The calls that may have been the last one, for each object by the expression that stands for it.
/// Nothing where control never is.
type State<Object = String> = Option<BTreeMap<Object, BTreeSet<String>>>;

/// What holds where control comes from two places.
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
    /// Identity, and two calls that follow each other.
    edges: BTreeSet<(String, String, String)>,
    /// What holds at the `break`s and at the `continue`s of the statements around.
    breaks: Vec<(State, State)>,
    labels: BTreeMap<String, State>,
}

impl Following<'_> {
    /// What holds behind a statement.
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
                // A `switch` has no turns: its `continue` is the loop's around it.
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
        // The second time with what the first turn left behind: then every pair was there.
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
        // Whatever stands in it may be jumped to, or be gone on to from above.
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

    /// A call of one of the library's functions: an edge from the last one on the same object.
    fn called(&mut self, call: Node<'_>, state: State) -> State {
        let mut state = state?;
        let name = call
            .child_by_field_name("function")
            .map(|name| self.words(name));
        // `inflateInit(&stream)` is a macro for the function `inflateInit_`.
        let behind = name.as_ref().map(|name| format!("{name}_"));
        let is_it = |f: &&Declared| Some(&f.name) == name.as_ref();
        let is_behind = |f: &&Declared| Some(&f.name) == behind.as_ref();
        let mut all = self.api.makers();
        let function = all
            .find(is_it)
            .or_else(|| self.api.makers().find(is_behind));
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

    /// The objects that a call is about, each by its kind and its expression: those passed, and the
    /// one it returns.
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

    /// The variable that a call's result goes to.
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

    /// `&x`, `(T)x`, `*x` and `x` are about the same object.
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
