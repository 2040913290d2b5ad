//! Objects that others own from a call on, and the order in which objects are given back.

use crate::init::api::Parameter;
use crate::init::drive::{Body, has_name};

impl Body<'_> {
    /// Whether another object of its kind may own what is passed from the call on, as a list owns
    /// what is put into it: of two objects of one kind that a function may change the first is the
    /// owner. To give back what is owned would be the caller's fault, and to keep what is not is
    /// none.
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

/// Where among the lines that give back what was made before an object is given back that these
/// lines made. What is handed to an object may be kept by it, so that the object is given back
/// first; but not where it was needed for making the other one.
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
