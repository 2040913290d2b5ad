//! Determines whether a method checks its own state before it calls the library.
//!
//! `if self.is_open { ... }` may establish a precondition of the library that no header documents.
//! A check of a call's result does not count, and neither does a check whether there is an object
//! at all.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::Block;
use syn::visit::{self, Visit};

use crate::init::api::Api;

/// Methods that check whether there is an object.
const PRESENCE: &[&str] = &["is_null", "is_none", "is_some"];

/// Words in the names of functions that check their arguments.
const CHECKS: &[&str] = &[
    "check", "assert", "ensure", "must", "require", "verify", "expect", "guard",
];

/// Names that prevent the drop of an object.
const KEEPS: &[&str] = &["forget", "ManuallyDrop"];

/// Whether a condition in the body depends on the method's own object and does not call the
/// library. `self.check()?` counts if `check` is among the methods that do not call the library
/// (`silent`).
pub(super) fn looks_at_itself(block: &Block, api: &Api, silent: &BTreeSet<String>) -> bool {
    let mut looks = Looks {
        api,
        silent,
        own: BTreeSet::new(),
        found: false,
    };
    looks.visit_block(block);
    looks.found
}

/// The functions of the library that a body mentions.
pub(super) fn calls(block: &Block, api: &Api) -> Vec<String> {
    let words = words(block);
    let all = api.all_functions().map(|function| function.name.clone());
    all.filter(|name| words.contains(name)).collect()
}

/// Whether a body prevents the drop of the method's object.
pub(super) fn forgets(block: &Block) -> bool {
    words(block)
        .iter()
        .any(|word| KEEPS.contains(&word.as_str()))
}

struct Looks<'l> {
    api: &'l Api,
    silent: &'l BTreeSet<String>,
    /// Variables that hold the object or a part of it.
    own: BTreeSet<String>,
    found: bool,
}

impl Looks<'_> {
    fn is_own(&self, words: &[String]) -> bool {
        let mut words = words.iter();
        words.any(|word| word == "self" || self.own.contains(word))
    }

    fn asks_library(&self, words: &[String]) -> bool {
        let mut all = self.api.all_functions();
        all.any(|function| words.contains(&function.name))
    }

    fn condition(&mut self, asked: impl ToTokens) {
        let words = words(asked);
        let is_own = self.is_own(&words);
        let asks_library = || self.asks_library(&words);
        let asks_presence = || words.iter().any(|word| PRESENCE.contains(&word.as_str()));
        self.found |= is_own && !asks_library() && !asks_presence();
    }
}

/// The identifiers in a piece of code.
fn words(code: impl ToTokens) -> Vec<String> {
    let mut words = Vec::new();
    collect(code.to_token_stream(), &mut words);
    words
}

fn collect(tokens: TokenStream, into: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => into.push(ident.to_string()),
            TokenTree::Group(group) => collect(group.stream(), into),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

impl Visit<'_> for Looks<'_> {
    fn visit_expr_if(&mut self, branch: &syn::ExprIf) {
        // `if let Some(raw) = self.raw` checks whether there is an object.
        if !matches!(*branch.cond, syn::Expr::Let(_)) {
            self.condition(&branch.cond);
        }
        visit::visit_expr_if(self, branch);
    }

    fn visit_local(&mut self, local: &syn::Local) {
        if let (syn::Pat::Ident(name), Some(init)) = (&local.pat, &local.init) {
            let words = words(&init.expr);
            // The result of a library call is not the method's own state.
            if self.is_own(&words) && !self.asks_library(&words) {
                self.own.insert(name.ident.to_string());
            }
        }
        visit::visit_local(self, local);
    }

    /// `self.on && unsafe { call(..) }` is a check.
    fn visit_expr_binary(&mut self, binary: &syn::ExprBinary) {
        let is_choice = matches!(binary.op, syn::BinOp::And(_) | syn::BinOp::Or(_));
        if is_choice && self.asks_library(&words(&binary.right)) {
            self.condition(&binary.left);
        }
        visit::visit_expr_binary(self, binary);
    }

    /// A call with a part of the object of a function that is named like a check.
    fn visit_expr_call(&mut self, call: &syn::ExprCall) {
        if let syn::Expr::Path(path) = &*call.func
            && let Some(last) = path.path.segments.last()
        {
            let name = last.ident.to_string().to_lowercase();
            if CHECKS.iter().any(|word| name.contains(word)) {
                self.condition(&call.args);
            }
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_while(&mut self, turns: &syn::ExprWhile) {
        self.condition(&turns.cond);
        visit::visit_expr_while(self, turns);
    }

    fn visit_expr_match(&mut self, branch: &syn::ExprMatch) {
        self.condition(&branch.expr);
        visit::visit_expr_match(self, branch);
    }

    fn visit_expr_try(&mut self, asked: &syn::ExprTry) {
        if let syn::Expr::MethodCall(call) = &*asked.expr {
            let is_self =
                matches!(&*call.receiver, syn::Expr::Path(path) if path.path.is_ident("self"));
            self.found |= is_self && self.silent.contains(&call.method.to_string());
        }
        visit::visit_expr_try(self, asked);
    }

    fn visit_macro(&mut self, call: &syn::Macro) {
        let name = call.path.segments.last().map(|name| name.ident.to_string());
        if name.is_some_and(|name| name.contains("assert") || name.contains("ensure")) {
            self.condition(&call.tokens);
        }
    }
}
