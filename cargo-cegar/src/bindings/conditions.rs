//! Evaluates the `cfg` conditions under which the crate is compiled.
//!
//! A crate may declare a function several times for different systems, and only the declaration
//! that is compiled counts. rustc reports the conditions that it sets, cargo the enabled features,
//! and the build script's last output the conditions that it added. A condition that none of them
//! decides is not guessed: items under it are left out.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::process::Command;

use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Token};

/// The conditions that are set.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    names: BTreeSet<String>,
    values: HashMap<String, BTreeSet<String>>,
    /// Whether the conditions of the build script are known, too.
    pub complete: bool,
}

/// Conditions that only rustc and other tools of the tool chain set.
const OF_RUSTC: &[&str] = &[
    "unix",
    "windows",
    "test",
    "doc",
    "doctest",
    "miri",
    "panic",
    "proc_macro",
    "clippy",
    "rustfmt",
];

impl Conditions {
    /// The conditions that rustc sets on this machine, the given features, and those that the build
    /// script's output `script` sets.
    pub fn new(features: &[String], script: Option<&Path>) -> Conditions {
        let mut all = Conditions::default();
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        if let Ok(output) = Command::new(rustc).args(["--print", "cfg"]).output() {
            for line in String::from_utf8_lossy(&output.stdout).lines() {
                all.set(line);
            }
        }
        let features = features.iter().cloned().collect();
        all.values.insert("feature".to_owned(), features);
        if let Some(text) = script.and_then(|path| std::fs::read_to_string(path).ok()) {
            all.complete = true;
            for line in text.lines() {
                let rest = line
                    .strip_prefix("cargo:")
                    .map(|r| r.trim_start_matches(':'));
                if let Some(set) = rest.and_then(|rest| rest.strip_prefix("rustc-cfg=")) {
                    all.set(set);
                }
            }
        }
        all
    }

    fn set(&mut self, text: &str) {
        match text.trim().split_once('=') {
            Some((name, value)) => {
                let values = self.values.entry(name.trim().to_owned()).or_default();
                values.insert(value.trim().trim_matches('"').to_owned());
            }
            None => drop(self.names.insert(text.trim().to_owned())),
        }
    }

    /// Whether all `cfg` conditions on an item hold; `None` if unknown.
    pub fn hold(&self, attributes: &[Attribute]) -> Option<bool> {
        let mut all = Some(true);
        for attribute in attributes.iter().filter(|a| a.path().is_ident("cfg")) {
            let one = match &attribute.meta {
                Meta::List(list) => list.parse_args::<Meta>().ok().and_then(|m| self.holds(&m)),
                _ => None,
            };
            all = and(all, one);
        }
        all
    }

    /// The attributes, including those in a `cfg_attr` whose condition holds.
    pub fn attributes(&self, attributes: &[Attribute]) -> Vec<Meta> {
        let mut all = Vec::new();
        for attribute in attributes {
            match &attribute.meta {
                Meta::List(list) if list.path.is_ident("cfg_attr") => {
                    let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
                    let Ok(parts) = list.parse_args_with(parser) else {
                        continue;
                    };
                    let mut parts = parts.into_iter();
                    if parts.next().and_then(|m| self.holds(&m)) == Some(true) {
                        all.extend(parts);
                    }
                }
                meta => all.push(meta.clone()),
            }
        }
        all
    }

    /// Whether a condition holds; `None` if unknown.
    pub fn holds(&self, meta: &Meta) -> Option<bool> {
        match meta {
            Meta::Path(path) => {
                let name = path.get_ident()?.to_string();
                let decided = self.complete || OF_RUSTC.contains(&&*name);
                match name.as_str() {
                    "true" => Some(true),
                    "false" => Some(false),
                    // The profile of the build is unknown.
                    "debug_assertions" | "overflow_checks" => None,
                    name if self.names.contains(name) => Some(true),
                    _ => decided.then_some(false),
                }
            }
            Meta::NameValue(pair) => {
                let name = pair.path.get_ident()?.to_string();
                let Expr::Lit(ExprLit {
                    lit: Lit::Str(value),
                    ..
                }) = &pair.value
                else {
                    return None;
                };
                match self.values.get(&name) {
                    Some(values) => Some(values.contains(&value.value())),
                    None => (self.complete || name.starts_with("target_")).then_some(false),
                }
            }
            Meta::List(list) => {
                let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
                let parts = list.parse_args_with(parser).ok()?;
                let mut parts = parts.iter().map(|part| self.holds(part));
                match list.path.get_ident()?.to_string().as_str() {
                    "not" => parts.next().flatten().map(|holds| !holds),
                    "all" => parts.fold(Some(true), and),
                    "any" => parts
                        .map(|part| part.map(|holds| !holds))
                        .fold(Some(true), and)
                        .map(|none| !none),
                    _ => None,
                }
            }
        }
    }
}

/// The conjunction of two conditions; `None` if unknown. A false operand decides.
fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_decides_is_not_guessed() {
        let mut set = Conditions::new(&["zlib".to_owned()], None);
        let holds = |set: &Conditions, text: &str| set.holds(&syn::parse_str(text).unwrap());
        assert_eq!(holds(&set, "feature = \"zlib\""), Some(true));
        assert_eq!(holds(&set, "not(feature = \"other\")"), Some(true));
        assert_eq!(holds(&set, "any(unix, has_it)"), Some(true));
        assert_eq!(holds(&set, "has_it"), None);
        assert_eq!(holds(&set, "all(windows, has_it)"), Some(false));
        set.complete = true;
        assert_eq!(holds(&set, "has_it"), Some(false));
    }
}
