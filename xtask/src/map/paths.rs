//! The paths that a file names: `crate::...` and `super::...`, anywhere.
//!
//! This reads tokens instead of the syntax tree, since paths also occur in the arguments of macros
//! and in attributes. A path is resolved to the file of its longest prefix that is a module. Code
//! under `#[cfg(test)]` is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::error::{Error, Result};
use crate::places::files_below;

/// A module's path below the crate: `["campaign", "goals"]`.
type Module = Vec<String>;

/// For each file below `src`, the files that it names.
pub(super) fn read(src: &Path) -> Result<BTreeMap<PathBuf, BTreeSet<PathBuf>>> {
    let files = files_below(src, &["rs"])?.into_iter();
    let files = files.filter_map(|file| Some(file.strip_prefix(src).ok()?.to_owned()));
    let files: Vec<PathBuf> = files.collect();
    let mut modules: BTreeMap<Module, PathBuf> = BTreeMap::new();
    for file in &files {
        modules.entry(module(file)).or_insert_with(|| file.clone());
    }
    let mut all: BTreeMap<PathBuf, BTreeSet<PathBuf>> = BTreeMap::new();
    let mut named = Vec::new();
    let mut shorter = BTreeMap::new();
    let mut tests = BTreeSet::new();
    for file in files {
        let path = src.join(&file);
        let text = fs::read_to_string(&path).map_err(Error::file("read", &path))?;
        let tokens: TokenStream = text
            .parse()
            .map_err(|why| Error::Map(format!("{}: {why}", path.display())))?;
        let own = module(&file);
        if own.is_empty() {
            shorter.extend(exports(&tokens));
        }
        let mut paths = BTreeSet::new();
        test_modules(&tokens, &own, &mut tests);
        collect(tokens, &own, &mut paths);
        named.push((file, paths));
    }
    for (file, paths) in named {
        let full = |path: &Module| match path.first().and_then(|first| shorter.get(first)) {
            Some(full) => resolve(full, &modules),
            None => resolve(path, &modules),
        };
        let mut to: BTreeSet<PathBuf> = paths.iter().filter_map(full).collect();
        to.remove(&file);
        all.insert(file, to);
    }
    let is_test = |file: &Path| {
        let module = module(file);
        (1..=module.len()).any(|n| tests.contains(&module[..n]))
    };
    all.retain(|file, _| !is_test(file));
    for named in all.values_mut() {
        named.retain(|file| !is_test(file));
    }
    Ok(all)
}

/// The files that are the root of a crate. (If there are both, `main.rs` names its library by that
/// crate's name, and `lib.rs`, which is read first, stands for the root.)
const ROOTS: [&str; 2] = ["lib", "main"];

/// The module that a file contains.
fn module(file: &Path) -> Module {
    let stem = file.with_extension("");
    let parts = stem.iter().map(|part| part.to_string_lossy().into_owned());
    let mut parts: Module = parts.collect();
    if parts.last().is_some_and(|last| last == "mod") || ROOTS.iter().any(|root| parts == [*root]) {
        parts.pop();
    }
    parts
}

/// The shorter paths that `pub use` at a crate's root defines: the name there, and the full path.
fn exports(root: &TokenStream) -> BTreeMap<String, Module> {
    let tokens: Vec<TokenTree> = root.clone().into_iter().collect();
    let mut named = BTreeSet::new();
    for at in 0..tokens.len() {
        if let [TokenTree::Ident(word), TokenTree::Ident(first), rest @ ..] = &tokens[at..]
            && word == "use"
        {
            tree(rest, vec![first.to_string()], &mut named);
        }
    }
    let short = |path: Module| Some((path.last()?.clone(), path));
    named.into_iter().filter_map(short).collect()
}

/// The file of the longest prefix of a path that is a module.
fn resolve(path: &[String], modules: &BTreeMap<Module, PathBuf>) -> Option<PathBuf> {
    (0..=path.len())
        .rev()
        .find_map(|n| modules.get(&path[..n]).cloned())
}

/// Collects the paths among `tokens`, which belong to the module `here`.
fn collect(tokens: TokenStream, here: &[String], named: &mut BTreeSet<Module>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        if is_test(&tokens[at..]) {
            at = after_item(&tokens, at);
            continue;
        }
        match &tokens[at] {
            TokenTree::Group(group) => collect(group.stream(), here, named),
            TokenTree::Ident(word) if word == "mod" => {
                if let Some(TokenTree::Ident(child)) = tokens.get(at + 1) {
                    let child = [child.to_string()];
                    named.insert([here, &child].concat());
                }
            }
            TokenTree::Ident(word) if word == "crate" && is_path(&tokens[at + 1..]) => {
                tree(&tokens[at + 1..], Vec::new(), named)
            }
            TokenTree::Ident(word) if word == "super" && is_path(&tokens[at + 1..]) => {
                let mut above = here.to_vec();
                above.pop();
                while word_after(&tokens[at + 1..]).is_some_and(|word| word == "super") {
                    above.pop();
                    at += 3;
                }
                tree(&tokens[at + 1..], above, named);
            }
            _ => {}
        }
        at += 1;
    }
}

/// Collects the modules that `#[cfg(test)] mod name;` declares.
fn test_modules(tokens: &TokenStream, here: &[String], tests: &mut BTreeSet<Module>) {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    for at in (0..tokens.len()).filter(|&at| is_test(&tokens[at..])) {
        let item = &tokens[at..after_item(&tokens, at)];
        if let [
            ..,
            TokenTree::Ident(word),
            TokenTree::Ident(name),
            TokenTree::Punct(_),
        ] = item
            && word == "mod"
        {
            let mut module = here.to_vec();
            module.push(name.to_string());
            tests.insert(module);
        }
    }
}

/// Whether the tokens start with `#[cfg(test)]`.
fn is_test(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [TokenTree::Punct(hash), TokenTree::Group(attribute), ..]
        if hash.as_char() == '#' && attribute.to_string().replace(' ', "") == "[cfg(test)]")
}

/// The end of the item whose attributes start at `at`: after its braces or its semicolon.
fn after_item(tokens: &[TokenTree], at: usize) -> usize {
    let ends = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == ';',
        _ => false,
    };
    let rest = tokens[at..].iter().position(ends);
    rest.map_or(tokens.len(), |length| at + length + 1)
}

/// Whether the tokens start with `::`; `pub(crate)` does not name a path.
fn is_path(tokens: &[TokenTree]) -> bool {
    let colon = |token: &TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == ':');
    tokens.len() > 1 && tokens[..2].iter().all(colon)
}

/// The word after a `::`.
fn word_after(tokens: &[TokenTree]) -> Option<String> {
    match tokens {
        [
            TokenTree::Punct(a),
            TokenTree::Punct(b),
            TokenTree::Ident(word),
            ..,
        ] if a.as_char() == ':' && b.as_char() == ':' => Some(word.to_string()),
        _ => None,
    }
}

/// Collects the path that starts with `before` and continues in `tokens`, including all branches of
/// a group in braces.
fn tree(mut tokens: &[TokenTree], mut before: Module, named: &mut BTreeSet<Module>) {
    while let Some(word) = word_after(tokens) {
        before.push(word);
        tokens = &tokens[3..];
    }
    if let [
        TokenTree::Punct(_),
        TokenTree::Punct(_),
        TokenTree::Group(group),
        ..,
    ] = tokens
        && group.delimiter() == Delimiter::Brace
    {
        let inside: Vec<TokenTree> = group.stream().into_iter().collect();
        let comma = |token: &TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == ',');
        for branch in inside.split(comma) {
            let Some(TokenTree::Ident(word)) = branch.first() else {
                continue;
            };
            let mut path = before.clone();
            if word != "self" {
                path.push(word.to_string());
            }
            tree(&branch[1..], path, named);
        }
        return;
    }
    named.insert(before);
}
