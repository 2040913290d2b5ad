//! Rules that make the model narrower than the world, as [`crate::symbolic`] applies them: recorded
//! where they are assumed, and a hole where the user has lifted them.

use super::{Frame, Guide, Walker};
use crate::assumption::Rule;
use crate::domain::space::Kind;
use crate::program::ir::{Call, Operand};

impl<G: Guide> Walker<'_, G> {
    /// Applies a rule that narrows the world here. Returns false if the user has lifted it.
    pub(super) fn narrow(&mut self, frame: &Frame, id: &str) -> bool {
        let Some(rule) = Rule::find(id) else {
            self.hole("an assumption without a rule");
            return false;
        };
        if self.program.lifted.contains(rule.id) {
            let what = format!("what `{}` is no more assumed for: {}", rule.id, rule.says);
            self.hole(&what);
            return false;
        }
        self.found.met.insert((rule.id, frame.ctx, self.pos));
        true
    }

    /// `crunner_assumed(id)`.
    pub(super) fn assumed(&mut self, frame: &Frame, call: &Call) -> bool {
        let id = self.literal(call);
        match id.as_deref().and_then(Rule::find) {
            Some(rule) => {
                self.found.met.insert((rule.id, frame.ctx, self.pos));
                true
            }
            None => {
                self.hole("an assumption that this version does not know");
                false
            }
        }
    }

    /// The string literal that is a call's first argument.
    pub(super) fn literal(&self, call: &Call) -> Option<String> {
        let &Operand::Const(address) = &call.args.first()?.value else {
            return None;
        };
        let address = self.names.constant(64, address.into());
        let (object, offset) = address.single_target()?;
        let Kind::Global(global) = self.names.kind(object) else {
            return None;
        };
        let global = self.program.globals.get(global.index())?;
        let bytes = global
            .init
            .get(usize::try_from(offset.as_constant()?).ok()?..)?;
        let end = bytes.iter().position(|&byte| byte == 0)?;
        global
            .constant
            .then(|| String::from_utf8_lossy(&bytes[..end]).into_owned())
    }
}
