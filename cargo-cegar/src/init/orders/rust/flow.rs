//! Follows the control flow of one Rust function and records its calls of the library.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Block, Expr, ImplItemFn, Item, Pat, Stmt, Token};

use super::super::joined;
use super::{Edge, handle};
use crate::init::api::{Api, Declared};

/// The object of a method, whichever field denotes it.
pub(super) const SELF: &str = "self";
/// Stands for the call before a method began.
pub(super) const BEFORE: &str = "";
/// An object that was created and is not assigned to a variable yet.
const UNNAMED: &str = "<made>";
/// How deeply calls of methods of the same object are followed.
const NESTED: usize = 4;

/// An object: its identity, and the expression that denotes it.
type Object = (String, String);
/// For each object, the calls that may have been the most recent one.
type Last = BTreeMap<Object, BTreeSet<String>>;
/// The state at a place; `None` if it is unreachable.
type State = super::super::State<Object>;

/// The state while the control flow of one function is followed.
pub(super) struct Following<'f> {
    api: &'f Api,
    /// The methods of the same type.
    methods: Vec<&'f ImplItemFn>,
    state: State,
    /// For each enclosing loop, the states at its `break`s and at its `continue`s.
    loops: Vec<(State, State)>,
    /// The joined state of all early returns.
    returns: State,
    /// Variables that denote an object with another name.
    aliases: HashMap<String, String>,
    nested: usize,
    edges: BTreeSet<(String, String, String)>,
    /// The calls that may be the first one on the method's object, with its identity.
    pub(super) first: BTreeSet<(String, String)>,
}

impl<'f> Following<'f> {
    /// Starts with the given most recent calls.
    pub(super) fn new(api: &'f Api, methods: Vec<&'f ImplItemFn>, last: Last) -> Self {
        Following {
            api,
            methods,
            state: Some(last),
            loops: Vec::new(),
            returns: None,
            aliases: HashMap::new(),
            nested: 0,
            edges: BTreeSet::new(),
            first: BTreeSet::new(),
        }
    }

    /// Follows a body. Returns the state when the function returns.
    pub(super) fn function(&mut self, block: &Block) -> State {
        self.visit_block(block);
        joined(self.state.take(), self.returns.take())
    }

    /// The pairs of consecutive calls.
    pub(super) fn found(&self, file: &str) -> impl Iterator<Item = Edge> {
        self.edges.iter().map(move |(identity, from, to)| Edge {
            identity: identity.clone(),
            from: from.clone(),
            to: to.clone(),
            file: file.to_owned(),
        })
    }

    /// Follows alternative expressions, each from the current state. `None` is an empty
    /// alternative.
    fn alternatives<'a>(&mut self, all: impl Iterator<Item = Option<&'a Expr>>) {
        let before = self.state.take();
        let mut behind = None;
        for one in all {
            self.state = before.clone();
            if let Some(one) = one {
                self.visit_expr(one);
            }
            behind = joined(behind, self.state.take());
        }
        self.state = behind;
    }

    /// Follows a loop. The second iteration starts from the state after the first one, which yields
    /// all pairs.
    fn turns(&mut self, condition: Option<&Expr>, body: &Block) {
        let mut behind = None;
        for _ in 0..2 {
            let before = self.state.clone();
            self.loops.push((None, None));
            if let Some(condition) = condition {
                self.visit_expr(condition);
                behind = joined(behind, self.state.clone());
            }
            self.visit_block(body);
            let (breaks, continues) = self.loops.pop().unwrap_or_default();
            behind = joined(behind, breaks);
            let end = joined(self.state.take(), continues);
            self.state = joined(before, end);
        }
        self.state = behind;
    }

    /// The function of the library that is called.
    fn called(&self, function: &Expr) -> Option<&'f Declared> {
        let Expr::Path(path) = function else {
            return None;
        };
        let name = path.path.segments.last()?.ident.to_string();
        let name = name.trim_start_matches("r#");
        self.api
            .all_functions()
            .find(|declared| declared.name == name)
    }

    fn call(&mut self, function: &Declared, arguments: &Punctuated<Expr, Token![,]>) {
        let mut objects: Vec<Object> = Vec::new();
        for (param, argument) in function.params.iter().zip(arguments) {
            if let Some(identity) = handle(self.api, param)
                && let Some(object) = self.object(argument)
                && !objects.contains(&(identity.clone(), object.clone()))
            {
                objects.push((identity, object));
            }
        }
        if let Some(identity) = self.api.handle(&function.returns) {
            objects.push((identity, UNNAMED.to_owned()));
        }
        let Some(state) = &mut self.state else { return };
        for object in objects {
            let identity = object.0.clone();
            let last = state.entry(object.clone()).or_default();
            let before = std::mem::replace(last, [function.name.clone()].into());
            if object.1 == UNNAMED {
                continue;
            }
            for from in before {
                if from == BEFORE {
                    self.first.insert((identity.clone(), function.name.clone()));
                } else {
                    let edge = (identity.clone(), from, function.name.clone());
                    self.edges.insert(edge);
                }
            }
        }
    }

    /// The variable that an expression denotes: `&mut *x`, `x as *mut T`, `x.as_ptr()` and `x`
    /// denote the same object, and so does every field of `self`.
    fn object(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Path(path) => {
                let name = path.path.get_ident()?.to_string();
                Some(self.aliases.get(&name).cloned().unwrap_or(name))
            }
            Expr::Field(field) => {
                let base = self.object(&field.base)?;
                let syn::Member::Named(member) = &field.member else {
                    return Some(base);
                };
                match base == SELF {
                    true => Some(base),
                    false => Some(format!("{base}.{member}")),
                }
            }
            Expr::Reference(inner) => self.object(&inner.expr),
            Expr::RawAddr(inner) => self.object(&inner.expr),
            Expr::Cast(inner) => self.object(&inner.expr),
            Expr::Paren(inner) => self.object(&inner.expr),
            Expr::Group(inner) => self.object(&inner.expr),
            Expr::Try(inner) => self.object(&inner.expr),
            Expr::Unary(inner) => self.object(&inner.expr),
            Expr::Unsafe(inner) => self.object(value(&inner.block)?),
            Expr::MethodCall(call) => self.object(&call.receiver),
            Expr::Call(call) if call.args.len() == 1 => self.object(call.args.first()?),
            Expr::Macro(call) => {
                let inner: Expr = call.mac.parse_body().ok()?;
                self.object(&inner)
            }
            _ => None,
        }
    }

    /// Whether the value of an expression is an object that a call of the library just created.
    fn is_made(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Call(call) => match self.called(&call.func) {
                Some(function) => self.api.handle(&function.returns).is_some(),
                None => call.args.len() == 1 && self.is_made(&call.args[0]),
            },
            Expr::Cast(inner) => self.is_made(&inner.expr),
            Expr::Paren(inner) => self.is_made(&inner.expr),
            Expr::Try(inner) => self.is_made(&inner.expr),
            Expr::MethodCall(call) => self.is_made(&call.receiver),
            Expr::Unsafe(inner) => value(&inner.block).is_some_and(|value| self.is_made(value)),
            Expr::Block(inner) => value(&inner.block).is_some_and(|value| self.is_made(value)),
            Expr::Match(inner) => self.is_made(&inner.expr),
            _ => false,
        }
    }

    /// Binds the variable of a pattern to a value.
    fn bind(&mut self, pattern: &Pat, value: &Expr) {
        let Some(name) = variable(pattern) else {
            return;
        };
        self.named(name, value);
    }

    fn named(&mut self, name: String, value: &Expr) {
        if self.is_made(value) {
            self.aliases.remove(&name);
            let Some(state) = &mut self.state else { return };
            let unnamed = state.keys().filter(|(_, object)| object == UNNAMED);
            for object in unnamed.cloned().collect::<Vec<_>>() {
                if let Some(last) = state.remove(&object) {
                    state.insert((object.0, name.clone()), last);
                }
            }
            return;
        }
        match self.object(value) {
            Some(object) if object != name => {
                self.aliases.insert(name, object);
            }
            Some(_) => {}
            None => {
                self.aliases.remove(&name);
            }
        }
    }

    fn returned(&mut self) {
        let returns = self.returns.take();
        self.returns = joined(returns, self.state.take());
    }

    /// Follows a method of the same object at the place of its call.
    fn own_method(&mut self, call: &syn::ExprMethodCall) {
        let is_self = matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident(SELF));
        let mut all = self.methods.iter().copied();
        let Some(method) = all.find(|method| method.sig.ident == call.method) else {
            return;
        };
        if !is_self || self.nested >= NESTED || self.state.is_none() {
            return;
        }
        self.nested += 1;
        let loops = std::mem::take(&mut self.loops);
        let returns = self.returns.take();
        let aliases = std::mem::take(&mut self.aliases);
        self.state = self.function(&method.block);
        (self.loops, self.returns, self.aliases) = (loops, returns, aliases);
        self.nested -= 1;
    }
}

/// The value of a block.
fn value(block: &Block) -> Option<&Expr> {
    match block.stmts.last()? {
        Stmt::Expr(expr, None) => Some(expr),
        _ => None,
    }
}

/// The only variable of a pattern: `x`, `mut x: T`, `Some(x)`.
fn variable(pattern: &Pat) -> Option<String> {
    match pattern {
        Pat::Ident(ident) => Some(ident.ident.to_string()),
        Pat::Type(typed) => variable(&typed.pat),
        Pat::Reference(inner) => variable(&inner.pat),
        Pat::Paren(inner) => variable(&inner.pat),
        Pat::TupleStruct(inner) if inner.elems.len() == 1 => variable(&inner.elems[0]),
        _ => None,
    }
}

impl Visit<'_> for Following<'_> {
    fn visit_expr_call(&mut self, call: &syn::ExprCall) {
        visit::visit_expr_call(self, call);
        if let Some(function) = self.called(&call.func) {
            self.call(function, &call.args);
        }
    }

    fn visit_expr_method_call(&mut self, call: &syn::ExprMethodCall) {
        visit::visit_expr_method_call(self, call);
        self.own_method(call);
    }

    fn visit_local(&mut self, local: &syn::Local) {
        let Some(init) = &local.init else { return };
        self.visit_expr(&init.expr);
        if let Some((_, other)) = &init.diverge {
            let before = self.state.clone();
            self.visit_expr(other);
            self.state = joined(before, self.state.take());
        }
        self.bind(&local.pat, &init.expr);
    }

    fn visit_expr_let(&mut self, bound: &syn::ExprLet) {
        self.visit_expr(&bound.expr);
        self.bind(&bound.pat, &bound.expr);
    }

    fn visit_expr_assign(&mut self, assign: &syn::ExprAssign) {
        self.visit_expr(&assign.right);
        if self.is_made(&assign.right)
            && let Some(name) = self.object(&assign.left)
        {
            self.named(name, &assign.right);
        }
    }

    fn visit_expr_if(&mut self, branch: &syn::ExprIf) {
        self.visit_expr(&branch.cond);
        let before = self.state.clone();
        self.visit_block(&branch.then_branch);
        let taken = std::mem::replace(&mut self.state, before);
        if let Some((_, other)) = &branch.else_branch {
            self.visit_expr(other);
        }
        self.state = joined(taken, self.state.take());
    }

    fn visit_expr_match(&mut self, branch: &syn::ExprMatch) {
        self.visit_expr(&branch.expr);
        for arm in &branch.arms {
            if let Some((_, guard)) = &arm.guard {
                self.alternatives([None, Some(&**guard)].into_iter());
            }
        }
        self.alternatives(branch.arms.iter().map(|arm| Some(&*arm.body)));
    }

    fn visit_expr_binary(&mut self, binary: &syn::ExprBinary) {
        self.visit_expr(&binary.left);
        match binary.op {
            syn::BinOp::And(_) | syn::BinOp::Or(_) => {
                self.alternatives([None, Some(&*binary.right)].into_iter());
            }
            _ => self.visit_expr(&binary.right),
        }
    }

    fn visit_expr_closure(&mut self, closure: &syn::ExprClosure) {
        // A closure is called in place or not at all. Its `return` does not leave the enclosing
        // function.
        let returns = self.returns.take();
        self.alternatives([None, Some(&*closure.body)].into_iter());
        let own = std::mem::replace(&mut self.returns, returns);
        self.state = joined(self.state.take(), own);
    }

    fn visit_expr_while(&mut self, one: &syn::ExprWhile) {
        self.turns(Some(&one.cond), &one.body);
    }

    fn visit_expr_for_loop(&mut self, one: &syn::ExprForLoop) {
        // The iterator is asked for the next element before each iteration, so there may be none.
        self.turns(Some(&one.expr), &one.body);
    }

    fn visit_expr_loop(&mut self, one: &syn::ExprLoop) {
        self.turns(None, &one.body);
    }

    fn visit_expr_break(&mut self, one: &syn::ExprBreak) {
        visit::visit_expr_break(self, one);
        if let Some((breaks, _)) = self.loops.last_mut() {
            *breaks = joined(breaks.take(), self.state.take());
        }
    }

    fn visit_expr_continue(&mut self, _: &syn::ExprContinue) {
        if let Some((_, continues)) = self.loops.last_mut() {
            *continues = joined(continues.take(), self.state.take());
        }
    }

    fn visit_expr_return(&mut self, one: &syn::ExprReturn) {
        visit::visit_expr_return(self, one);
        self.returned();
    }

    fn visit_expr_try(&mut self, one: &syn::ExprTry) {
        visit::visit_expr_try(self, one);
        let on = self.state.clone();
        self.returned();
        self.state = on;
    }

    fn visit_macro(&mut self, call: &syn::Macro) {
        let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
        if let Ok(arguments) = call.parse_body_with(parser) {
            for argument in &arguments {
                self.visit_expr(argument);
            }
        }
    }

    /// Nested functions are separate.
    fn visit_item(&mut self, _: &Item) {}
}
