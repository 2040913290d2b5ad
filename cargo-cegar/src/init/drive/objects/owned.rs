//! Objects that others own from a call on.

use crate::init::api::Parameter;
use crate::init::drive::Body;

impl Body<'_> {
    /// Whether another object of its kind may own what is passed from the call on, as a list owns what is put into it: of two objects of one kind that
    /// a function may change the first is the owner. To give back what is owned would be the caller's fault, and to keep what is not is none.
    pub(super) fn may_own(&self, param: &Parameter, identity: &str) -> bool {
        let is_such = |other: &&Parameter| {
            let to = self.api.pointee(&other.ty);
            let is_changed = to.is_none_or(|to| !to.constant);
            is_changed && self.api.identity(&other.ty).as_deref() == Some(identity)
        };
        let mut such = self.function.params.iter().filter(is_such);
        such.next().is_some_and(|owner| owner.name != param.name)
            && such.any(|other| other.name == param.name)
    }
}
