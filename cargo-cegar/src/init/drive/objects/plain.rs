//! Objects that are passed as a `void *`. The functions that create and release them are recognised
//! by their names alone.

use super::{Body, DEPTH, ENDS, MAKES, PREFIX, Way, common, has_word, or};
use crate::init::api::{Declared, Parameter};
use crate::init::ctype::{Kind, Written};

impl Body<'_> {
    /// Creates an object that is passed as a `void *`; its maker is recognised by its name alone.
    pub(in crate::init::drive) fn made_plain(
        &mut self,
        function: &Declared,
        param: &Parameter,
        to: &Written,
        depth: usize,
    ) -> Option<String> {
        let user = [
            "user", "opaque", "arg", "closure", "cookie", "data", "ptr", "mem",
        ];
        let lower = param.name.to_lowercase();
        if depth >= DEPTH || to.constant || user.iter().any(|word| lower.contains(word)) {
            return None;
        }
        let is_plain = |ty: &Written| self.is_plain(ty);
        let makes = |maker: &&Declared| {
            is_plain(&maker.returns)
                && !maker.params.iter().any(|param| is_plain(&param.ty))
                && has_word(&maker.name, MAKES)
                && !maker.name.to_lowercase().contains("alloc")
                && !maker.variadic
                && maker.name != function.name
                && maker.name != self.function.name
                && self.is_usable(maker)
                && common(&maker.name, &function.name) >= PREFIX
        };
        let maker = self.api.all_functions().filter(makes);
        let maker = maker.max_by_key(|maker| common(&maker.name, &function.name))?;
        let ends = |back: &&Declared| {
            matches!(&back.params[..], [only] if is_plain(&only.ty))
                && has_word(&back.name, ENDS)
                && self.is_usable(back)
                && common(&back.name, &maker.name) >= PREFIX
        };
        let back = self.api.all_functions().filter(ends);
        let back = back.max_by_key(|back| common(&back.name, &maker.name));
        let before = self.clone();
        let name = self.name(or(&param.name, "object"));
        self.nested += 1;
        let made = self.made_as(maker, Way::Returns, &name, param, to, depth);
        self.nested -= 1;
        if made.is_err() {
            *self = before;
            return None;
        }
        self.handles += 1;
        if let Some(back) = back {
            self.cleanup.insert(0, format!("{}({name});", back.name));
        }
        Some(name)
    }

    /// Whether a type is a `void *`.
    fn is_plain(&self, ty: &Written) -> bool {
        let to = self.api.pointee(ty);
        to.is_some_and(|to| !to.constant && to.kind == Kind::Void)
    }

    /// Whether a function releases an object that is passed as a `void *`. A harness for it would
    /// release the object twice.
    pub(in crate::init::drive) fn gives_back_plain(&self, function: &Declared) -> bool {
        let makes = |maker: &Declared| {
            self.is_plain(&maker.returns)
                && has_word(&maker.name, MAKES)
                && common(&maker.name, &function.name) >= PREFIX
        };
        matches!(&function.params[..], [only] if self.is_plain(&only.ty))
            && has_word(&function.name, ENDS)
            && self.api.all_functions().any(makes)
    }
}
