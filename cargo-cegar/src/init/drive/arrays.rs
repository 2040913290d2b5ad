//! Arrays that share one length: `dot(a, b, n)`, `scale(in, n, out)`.
//!
//! Each is a block of its own with exactly the stated number of elements, so that an access of one
//! element too far is detected in each of them. An array that is written has at least one element,
//! because it may be a single result.

use super::{Body, SECOND, or, unknown};
use crate::init::api::{Declared, Parameter};
use crate::init::pairs::{self, Shared};

impl Body<'_> {
    /// Sets the arguments for arrays that share a length, and for the length.
    pub(super) fn arrays(
        &mut self,
        function: &Declared,
        shared: &Shared,
        arguments: &mut [Option<String>],
    ) -> Result<(), String> {
        let params = &function.params;
        let (leader, length) = (&params[shared.leader], &params[shared.length]);
        let is_lone = self.main.is_none()
            && self.nested == 0
            && !shared.followers.iter().any(|&i| self.is_filled(&params[i]));
        let (pointer, count, told) = match is_lone && self.is_filled(leader) {
            true => {
                let (pointer, told) = self.sized(function, leader, length)?;
                (pointer, "count".to_owned(), told)
            }
            false => {
                let kind = self.element_words(leader)?;
                let name = self.name(or(&leader.name, "input"));
                let count = self.name(&format!("{name}_size"));
                let bytes = format!("{count} * sizeof({kind})");
                let most = self.most_size(&function.name, SECOND);
                self.block((&kind, &name, &bytes), &count, (0, most));
                if self.is_filled(leader) {
                    self.lines
                        .push(format!("crunner_get_bytes({name}, {bytes});"));
                }
                let told = self.closing(leader, length, &name, &count);
                (name, count, told)
            }
        };
        arguments[shared.leader] = Some(pointer);
        arguments[shared.length] = Some(told);
        for &i in &shared.followers {
            let kind = self.element_words(&params[i])?;
            let name = self.name(or(&params[i].name, "values"));
            let made = match self.is_filled(&params[i]) {
                true => vec![
                    format!("{kind} *{name} = malloc({count} * sizeof({kind}));"),
                    format!("crunner_get_bytes({name}, {count} * sizeof({kind}));"),
                ],
                false => vec![format!(
                    "{kind} *{name} = calloc({count} ? {count} : 1, sizeof({kind}));"
                )],
            };
            // The number of elements in the main input is known only after the input has been
            // taken.
            match count == "count" {
                true => self.lines_after_input.extend(made),
                false => self.lines.extend(made),
            }
            self.cleanup.push(format!("free({name});"));
            arguments[i] = Some(name);
        }
        Ok(())
    }

    /// Whether the caller fills an array, rather than the function.
    fn is_filled(&self, param: &Parameter) -> bool {
        let to = self.api.pointee(&param.ty);
        to.is_some_and(|to| to.constant) || !pairs::is_output_name(&param.name)
    }

    fn element_words(&self, param: &Parameter) -> Result<String, String> {
        let to = self.api.pointee(&param.ty).ok_or_else(|| unknown(param))?;
        Ok(to.words.trim_start_matches("const ").to_owned())
    }
}
