//! Harnesses that are written again with less in them, where what they had too much kept the function from being shown.

use super::{Trial, Tried};
use crate::init::drive::Adjust;

impl Trial<'_> {
    /// Writes a harness again that fills no container first: what goes wrong while it is filled is shown by the harnesses of the
    /// functions that fill it, once. False where nothing is filled.
    pub(super) fn without_filling(
        &self,
        name: &str,
        adjust: &mut Adjust,
        tried: &mut Tried,
    ) -> bool {
        if tried.harness.fillers.is_empty() || self.is_stopped() {
            return false;
        }
        adjust.unfilled = true;
        let fillers = &tried.harness.fillers;
        adjust.assume.retain(|(call, _)| !fillers.contains(call));
        tried.learnt.retain(|one| !fillers.contains(&one.call));
        let again = self.library.again(self.api, name, adjust);
        again.map(|again| tried.harness = again).is_ok()
    }

    /// Writes a harness again that does not ask how the beginning of the library went: where nothing comes behind it, what it returns
    /// was understood wrongly. False where nothing changes by that.
    pub(super) fn without_check(&self, name: &str, adjust: &mut Adjust, tried: &mut Tried) -> bool {
        if adjust.unchecked || self.is_stopped() {
            return false;
        }
        adjust.unchecked = true;
        match self.library.again(self.api, name, adjust) {
            Ok(again) if again.text != tried.harness.text => {
                tried.harness = again;
                true
            }
            _ => false,
        }
    }
}
