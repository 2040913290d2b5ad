//! Prepares an object for the driven function.
//!
//! An environment is created and then opened; a decoder is created and then started. The header
//! does not document this, and a function that is called too early finds NULL where the opening
//! function would have stored a pointer. So if a trial ended like that, the harness first calls the
//! functions that callers call in between, as far as the crate's C files show them. If they do not
//! show the driven function, it calls the functions with which they open the object. If callers in
//! Rust never call the driven function first, it is always preceded by the calls that they begin
//! with.

use super::{Body, ENDS, common, has_word};
use crate::init::api::Declared;
use crate::init::ctype::Kind;
use crate::init::drive::Success;
use crate::init::drive::whole::stem;

/// Words in the names of functions that prepare an object for others.
const OPENS: &[&str] = &["open", "connect", "mount", "begin", "start", "setup"];
/// A sequence of more calls than this is not considered a way to open an object.
const MOST: usize = 3;
/// The minimum length of the common prefix of functions for one kind of object.
const PREFIX: usize = 3;

impl<'a> Body<'a> {
    /// Whether a function ends a step of the work on an object instead of its life: `q_end` after
    /// `q_begin`, if another function destroys the object.
    pub(super) fn ends_a_step(&self, function: &Declared) -> bool {
        let Some(of) = stem(&function.name, &["end"]) else {
            return false;
        };
        let begins = |one: &Declared| stem(&one.name, &["begin", "start"]).as_ref() == Some(&of);
        let is_begun = self.api.functions.iter().any(begins);
        let object = function.params.first();
        let object = object.and_then(|param| self.api.handle(&param.ty));
        let destroys = |one: &Declared| match &one.params[..] {
            [only] => has_word(&one.name, ENDS) && self.api.handle(&only.ty) == object,
            _ => false,
        };
        is_begun && object.is_some() && self.api.all_functions().any(destroys)
    }

    /// Opens an object that was just created, if a trial or the callers require it.
    pub(super) fn opened(
        &mut self,
        object: &str,
        (maker, function): (&Declared, &Declared),
        identity: &str,
        depth: usize,
    ) {
        // In the harness of a whole life, the orders of calls include the opening.
        let in_order = depth == 0 && !self.preferred.is_empty();
        let is_shown = self.api.orders.is_inner(&function.name);
        let asked = self.adjust.opened.or(is_shown.then_some(Success::Any));
        let Some(success) = asked.filter(|_| !in_order) else {
            return;
        };
        let names = self.openers(maker, function, identity);
        if names.is_empty() || names.len() > MOST {
            return;
        }
        let before = self.clone();
        self.nested += 1;
        let made: Option<()> = names
            .iter()
            .try_for_each(|name| self.call_of(name, object, (identity, success), depth));
        self.nested -= 1;
        if made.is_none() {
            *self = before;
            return;
        }
        self.guesses.push(format!(
            "`{}` comes first, as callers do",
            names.join("`, `")
        ));
    }

    fn call_of(
        &mut self,
        name: &str,
        object: &str,
        (identity, success): (&str, Success),
        depth: usize,
    ) -> Option<()> {
        let function = self.api.all_functions().find(|one| one.name == name)?;
        let place = self.place_in(function, identity)?;
        let arguments = self.arguments(function, &[(place, object.to_owned())], depth + 1);
        let call = format!("{name}({})", arguments.ok()?.join(", "));
        let returns = self.api.resolve(&function.returns).kind;
        let is_number = matches!(returns, Kind::Int { .. } | Kind::Enum(_) | Kind::Bool);
        let success = if is_number { success } else { Success::Any };
        self.lines.push(success.checked(&call));
        Some(())
    }

    /// The index of the parameter that takes the object. `None` if the function cannot be called or
    /// releases the object.
    fn place_in(&self, function: &Declared, identity: &str) -> Option<usize> {
        let is_it = |ty| self.api.handle(ty).as_deref() == Some(identity);
        let place = function.params.iter().position(|param| is_it(&param.ty))?;
        let is_use =
            !function.variadic && self.is_usable(function) && self.gives_back(function).is_none();
        is_use.then_some(place)
    }

    fn openers(&self, maker: &Declared, function: &Declared, identity: &str) -> Vec<String> {
        let is_other = |name: &str| name != maker.name && name != function.name;
        let opens = |name: &str| is_other(name) && has_word(name, OPENS);
        let automaton = self.api.orders.of(identity);
        if let Some(automaton) = automaton {
            if let Some(way) = automaton.between(&maker.name, &function.name) {
                return way;
            }
            if let Some(way) = automaton.up_to(&maker.name, opens) {
                return way;
            }
        }
        // If no caller shows it, the only function whose name indicates that it opens the object.
        let is_opener = |one: &&Declared| {
            opens(&one.name)
                && self.place_in(one, identity) == Some(0)
                && self.makes(one, identity).is_none()
                && common(&one.name, &maker.name) >= PREFIX
        };
        let all: Vec<&Declared> = self.api.functions.iter().filter(is_opener).collect();
        match &all[..] {
            [only] => vec![only.name.clone()],
            _ => Vec::new(),
        }
    }
}
