//! Ownership of objects after a call, and the order in which objects are released.

use crate::init::api::Parameter;
use crate::init::drive::{Body, has_name};

impl Body<'_> {
    /// Whether another object of the same kind may own the argument after the call, as a list owns
    /// its items: if a function may change two objects of one kind, the first is taken as the
    /// owner. Releasing an owned object would be the caller's fault, whereas keeping one that is
    /// not owned is harmless.
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

/// The index among the `cleanup` lines of earlier objects at which the release of a new object is
/// inserted; `made_by` are the lines that created it. The object may be kept by an earlier object
/// that it is passed to, so it is released after that one, unless an earlier object was needed to
/// create it.
pub(super) fn place_of_closing(cleanup: &[String], made_by: &[String], depth: usize) -> usize {
    let is_memory = |line: &str| line.starts_with("free(");
    let Some(last) = cleanup.iter().rposition(|line| !is_memory(line)) else {
        return 0;
    };
    let is_needed = |line: &String| {
        let object = line
            .split_once('(')
            .and_then(|(_, rest)| rest.split_once(')'));
        let name = object.map_or("", |(name, _)| name.trim_start_matches('&'));
        made_by.iter().any(|made| has_name(made, name))
    };
    match depth > 0 || cleanup[..=last].iter().any(is_needed) {
        true => 0,
        false => last + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_object_may_keep_is_given_back_after_it() {
        let of = |lines: &[&str]| lines.iter().map(ToString::to_string).collect::<Vec<_>>();
        let cleanup = of(&["detector_destroy(td);", "free(data);"]);
        let family = of(&["family *fam = family_create();"]);
        assert_eq!(place_of_closing(&cleanup, &family, 0), 1);
        let image = of(&["image *im = image_of(td);"]);
        assert_eq!(place_of_closing(&cleanup, &image, 0), 0);
        assert_eq!(place_of_closing(&cleanup, &family, 1), 0);
        assert_eq!(place_of_closing(&of(&["free(data);"]), &family, 0), 0);
    }
}
