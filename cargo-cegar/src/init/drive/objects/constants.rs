//! Objects that the library itself defines: its variables, and constants that its functions return.

use super::Body;
use super::variants::FINDS;
use crate::init::api::Declared;
use crate::init::ctype::{Kind, Written};
use crate::init::drive::text::words;

/// The maximum number of the library's own objects to choose from.
const OWN: usize = 8;

impl Body<'_> {
    /// An object of the library's own: one of its variables, or a constant that a function returns.
    pub(super) fn own_objects(&mut self, to: &Written, identity: &str) -> Option<String> {
        match self.own_tables(to, identity) {
            Some(table) => Some(table),
            None if to.constant => self.own_constants(to, identity),
            None => None,
        }
    }

    /// Structures of the type that the library itself defines: for a table of functions, one of the
    /// library's own is the best argument.
    fn own_tables(&mut self, to: &Written, identity: &str) -> Option<String> {
        let is_such = |ty: &Written| match self.api.resolve(ty).kind {
            Kind::Record(tag) => tag == identity,
            _ => false,
        };
        let own: Vec<String> = self
            .api
            .variables
            .iter()
            .filter(|(_, ty)| is_such(ty) && (to.constant || !self.api.resolve(ty).constant))
            .map(|(name, _)| format!("&{name}"))
            .collect();
        self.among_pointers(to, identity, own)
    }

    /// One of several pointers to structures, which the tape chooses.
    fn among_pointers(
        &mut self,
        to: &Written,
        identity: &str,
        mut all: Vec<String>,
    ) -> Option<String> {
        if all.len() > OWN {
            all.truncate(OWN);
            let last = all.last().map_or("", String::as_str);
            self.guesses.push(format!(
                "no object behind the first {OWN} is passed, up to `{last}`"
            ));
        }
        match &all[..] {
            [] => None,
            [one] => Some(one.clone()),
            several => {
                let list = several.join(", ");
                let last = several.len() - 1;
                let tag = identity.split(' ').next().unwrap_or(identity);
                let name = self.name(&format!("every_{}", tag.to_lowercase()));
                let constant = if to.constant { "const " } else { "" };
                let words = to.words.trim_start_matches("const ");
                self.lines
                    .push(format!("{constant}{words} *const {name}[] = {{{list}}};"));
                Some(format!("{name}[crunner_range(0, {last})]"))
            }
        }
    }

    /// Constant objects that functions without parameters return: `const struct curve *p256(void)`.
    fn own_constants(&mut self, to: &Written, identity: &str) -> Option<String> {
        let returns = |function: &&Declared| {
            function.params.is_empty()
                && !function.variadic
                && !words(&function.name).any(|word| FINDS.contains(&word.as_str()))
                && self.is_usable(function)
                && self.api.identity(&function.returns).as_deref() == Some(identity)
        };
        let own = self.api.all_functions().filter(returns);
        let own: Vec<String> = own.map(|function| format!("{}()", function.name)).collect();
        let value = self.among_pointers(to, identity, own)?;
        let name = self.name("constant");
        let words = to.words.trim_start_matches("const ");
        self.lines.push(format!("const {words} *{name} = {value};"));
        self.lines.push(format!("if (!{name})\n        return 0;"));
        Some(name)
    }
}
