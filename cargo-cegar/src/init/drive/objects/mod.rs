//! Objects that the header's own functions create, feed and release: contexts, parsers, streams.
//!
//! A function's name indicates its purpose, and its types indicate the objects that it handles. A
//! function that creates an object is called its maker. If an object has several makers, the one
//! whose name is most similar to the driven function's is used: `BZ2_bzCompressInit` for
//! `BZ2_bzCompress`.

mod constants;
mod feeding;
mod filling;
mod opening;
mod owned;
mod plain;
mod results;
mod variants;

use super::sides::{is_opposed, is_other_side};
use super::{Body, DEPTH, Success, common, has_outer_word, has_word, or};
use crate::init::api::{Declared, Parameter};
use crate::init::ctype::{Kind, Written};
use crate::init::pairs;
use owned::place_of_closing;
use variants::chosen;

/// Words in the names of functions that create an object.
const MAKES: &[&str] = &[
    "create", "new", "init", "open", "alloc", "make", "start", "begin",
];
/// Words in the names of functions that initialise a variable of the caller's.
const FILLS: &[&str] = &["create", "init", "open", "setup"];
/// Words in the names of functions that put default values into a variable of the caller's and
/// return it: `struct error_mgr *std_error(struct error_mgr *)`.
const USUAL: &[&str] = &["std", "standard", "default", "defaults", "preset"];
/// Words in the names of functions that certainly release an object.
const ENDS: &[&str] = &["destroy", "free", "delete", "del", "close", "dispose"];
/// Words in the names of functions that may release an object.
const GIVES_BACK: &[&str] = &[
    "destroy", "free", "delete", "del", "close", "release", "cleanup", "fini", "unref", "dispose",
    "deinit", "uninit",
];
/// Words that mark a releasing function only as the first or last word of its name: `parser_end`
/// and `endParser`, but not `inflate_end_headers`.
const GIVES_BACK_LAST: &[&str] = &["end", "term", "clear", "done"];
/// Words in the names of parameters that point to the place where an object is stored.
const OUTPUTS: &[&str] = &[
    "out", "output", "result", "res", "ret", "new", "created", "handle", "pp",
];
/// Words in the names of functions that take input to process.
const FEEDS: &[&str] = &[
    "input",
    "feed",
    "parse",
    "update",
    "write",
    "load",
    "push",
    "read_from",
    "src",
    "source",
];

/// The minimum length of the common prefix of functions for one kind of object.
const PREFIX: usize = 7;

/// How a maker delivers the object.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// The function returns it.
    Returns,
    /// The function stores it where this parameter points.
    Sets(usize),
    /// The function initialises a variable of the caller's.
    Initialises,
}

impl<'a> Body<'a> {
    /// Creates an object with another function of the header, and releases it at the end.
    pub(super) fn made(
        &mut self,
        function: &Declared,
        param: &Parameter,
        to: &Written,
        identity: &str,
        depth: usize,
    ) -> Result<String, String> {
        if depth >= DEPTH {
            return Err(format!("what makes a `{}` needs too much itself", to.words));
        }
        if self.making.iter().any(|one| one == identity) {
            return Err(format!("what makes a `{}` needs one itself", to.words));
        }
        let prepares = matches!(self.makes(function, identity), Some(Way::Initialises));
        if prepares && depth == 0 {
            // The driven function itself initialises the object.
            let name = self.name(or(&param.name, "object"));
            self.lines.push(format!("{} {name} = {{0}};", to.words));
            if let Some(record) = self.api.record(identity).cloned() {
                self.given_members(function, &name, &record);
            }
            if let Some(back) = self.releaser_of(identity, &function.name) {
                let call = self.release_call(back, &format!("&{name}"));
                self.cleanup.insert(0, format!("{call};"));
            }
            return Ok(format!("&{name}"));
        }
        let makers = self.ranked_makers(function, identity);
        let mut reason = format!("nothing in the header makes a `{}`", to.words);
        // An object that the library itself defines.
        let own = self.api.variables.iter().find(|(_, ty)| {
            let constant = self.api.pointee(ty).is_some_and(|to| to.constant);
            self.api.identity(ty).as_deref() == Some(identity) && (!constant || to.constant)
        });
        if let Some((name, _)) = own
            && makers.is_empty()
        {
            return Ok(name.clone());
        }
        if makers.is_empty()
            && let Some(own) = self.own_objects(to, identity)
        {
            return Ok(own);
        }
        for (_, maker, way) in makers {
            let before = self.clone();
            match self.made_by(maker, way, param, to, identity, depth) {
                Ok(made) => {
                    self.handles += 1;
                    self.opened(&made, (maker, function), identity, depth);
                    self.streamed(&made, function, identity);
                    self.fed(&made, function, identity, depth);
                    self.stocked(&made, (maker, function), identity, depth);
                    return Ok(made);
                }
                Err(why) => {
                    *self = before;
                    reason = format!("`{}`, which makes a `{}`: {why}", maker.name, to.words);
                }
            }
        }
        Err(reason)
    }

    /// The makers of an object, the most suitable ones first, each with its cost and how it
    /// delivers the object.
    fn ranked_makers(&self, function: &Declared, identity: &str) -> Vec<(i32, &'a Declared, Way)> {
        let mut makers: Vec<(i32, &'a Declared, Way)> = Vec::new();
        for maker in self.api.all_functions() {
            if maker.name == function.name
                || maker.name == self.function.name
                || maker.variadic
                || !self.is_usable(maker)
            {
                continue;
            }
            if let Some(way) = self.makes(maker, identity) {
                let kind = match way {
                    Way::Initialises => 50,
                    Way::Sets(_) if !has_word(&maker.name, MAKES) => 40,
                    _ => 0,
                };
                // Prefers `BZ2_bzCompressInit` for `BZ2_bzCompress`, not `BZ2_bzDecompressInit`.
                let near = common(&maker.name, &self.function.name) as i32;
                let far = if maker.sibling_header.is_some() {
                    100
                } else {
                    0
                };
                let other = if is_other_side(&maker.name, &self.function.name) {
                    2000
                } else {
                    0
                };
                let seen = if self.preferred.contains(&maker.name) {
                    -1000
                } else {
                    0
                };
                makers.push((
                    far + other + seen + kind - 4 * near
                        + 4 * maker.params.len() as i32
                        + maker.name.len() as i32 / 4,
                    maker,
                    way,
                ));
            }
        }
        makers.sort_by_key(|(cost, maker, _)| (*cost, maker.name.clone()));
        makers
    }

    pub(super) fn is_usable(&self, function: &Declared) -> bool {
        function.inline || self.usable.contains(&function.name)
    }

    /// The identity of a numeric handle, if the parameter is one: `cs_open(..., csh *)` creates a
    /// `csh`.
    pub(super) fn number_handle(&self, param: &Parameter) -> Option<String> {
        let identity = self.api.number_identity(&param.ty)?;
        let sets = |maker: &Declared| matches!(self.makes(maker, &identity), Some(Way::Sets(_)));
        let mut all = self.api.all_functions();
        all.any(sets).then_some(identity)
    }

    /// How a function delivers an object of this identity, if it creates one.
    pub(super) fn makes(&self, maker: &Declared, identity: &str) -> Option<Way> {
        let is = |ty: &Written| self.api.handle(ty).as_deref() == Some(identity);
        let named = has_word(&maker.name, MAKES);
        let takes = maker.params.iter().any(|param| is(&param.ty));
        if is(&maker.returns)
            && !self
                .api
                .pointee(&maker.returns)
                .is_some_and(|to| to.constant)
            && !takes
            && (named || maker.params.is_empty() || self.is_made_of_values(maker))
        {
            return Some(Way::Returns);
        }
        let through = maker.params.iter().position(|param| {
            self.api
                .pointee(&param.ty)
                .is_some_and(|to| !to.constant && is(&to))
        });
        // If the function's name does not show that it creates an object, the parameter's name may:
        // `int decoder(T **out)`. If neither does, the function may expect an object there.
        let outputs = maker.params.iter().filter(|param| {
            let to = self.api.pointee(&param.ty);
            to.is_some_and(|to| !to.constant && is(&to))
        });
        let only = outputs.count() == 1 && !takes && !has_word(&maker.name, GIVES_BACK);
        if let Some(i) = through
            && (named || (only && has_word(&maker.params[i].name, OUTPUTS)))
        {
            return Some(Way::Sets(i));
        }
        let whole = self.api.record(identity).is_some();
        let first = maker.params.first().is_some_and(|param| {
            let to = self.api.pointee(&param.ty);
            is(&param.ty) && to.is_some_and(|to| !to.constant)
        });
        // `int image_alloc(struct image *v, int width, int height)`, given back by another
        // function.
        let is_number =
            |param: &Parameter| matches!(self.api.resolve(&param.ty).kind, Kind::Int { .. });
        // `gives_back` asks `makes` in turn, so names of functions that may give back are excluded.
        let allocates = || {
            has_word(&maker.name, &["alloc", "allocate"])
                && !has_word(&maker.name, GIVES_BACK)
                && !has_outer_word(&maker.name, GIVES_BACK_LAST)
                && !matches!(self.api.resolve(&maker.returns).kind, Kind::Pointer(_))
                && maker.params.iter().skip(1).all(is_number)
                && (self.api.all_functions())
                    .any(|back| self.gives_back(back).as_deref() == Some(identity))
        };
        let usual = is(&maker.returns) && maker.params.len() == 1 && has_word(&maker.name, USUAL);
        let fills = || usual || has_word(&maker.name, FILLS) || allocates();
        (whole && first && fills()).then_some(Way::Initialises)
    }

    fn made_by(
        &mut self,
        maker: &Declared,
        way: Way,
        param: &Parameter,
        to: &Written,
        identity: &str,
        depth: usize,
    ) -> Result<String, String> {
        let name = self.name(or(&param.name, "object"));
        let earlier = std::mem::take(&mut self.cleanup);
        let began = self.lines.len();
        self.nested += 1;
        self.making.push(identity.to_owned());
        let made = self.made_as(maker, way, &name, param, to, depth);
        self.making.pop();
        self.nested -= 1;
        made?;
        let object = if matches!(way, Way::Initialises) {
            format!("&{name}")
        } else {
            name.clone()
        };
        let is_kept = self.api.orders.is_kept(&self.function.name)
            || self.nested == 0
                && (self.may_own(param, identity) || self.takes_over(self.function));
        if let Some(back) = self.releaser_of(identity, &maker.name)
            && !(is_kept && depth == 0 && self.preferred.is_empty())
        {
            let call = self.release_call(back, &name);
            let call = if matches!(way, Way::Initialises) {
                call.replacen(&format!("({name})"), &format!("({object})"), 1)
            } else {
                call
            };
            self.cleanup.insert(0, format!("{call};"));
        }
        let own = std::mem::replace(&mut self.cleanup, earlier);
        let lines = &self.lines[began..];
        let at = place_of_closing(&self.cleanup, lines, depth);
        self.cleanup.splice(at..at, own);
        Ok(object)
    }

    fn made_as(
        &mut self,
        maker: &Declared,
        way: Way,
        name: &str,
        param: &Parameter,
        to: &Written,
        depth: usize,
    ) -> Result<(), String> {
        let declared = match (&param.ty.kind, &to.kind) {
            // `typedef void *handle;` and `typedef struct parser *parser;`
            (Kind::Named(typedef), _) => format!("{typedef} "),
            _ => format!("{} *", to.words),
        };
        let nothing = match self.api.resolve(&param.ty).kind {
            Kind::Pointer(_) => "NULL",
            _ => "0",
        };
        match way {
            Way::Returns => {
                let arguments = self.arguments(maker, &[], depth + 1)?;
                let call = format!("{}({})", maker.name, arguments.join(", "));
                let others = self.calls_of_others(maker, depth);
                let declared = format!("{declared}{name}");
                match &others[..] {
                    [] => self.lines.push(format!("{declared} = {call};")),
                    _ => self.lines.extend(chosen(&declared, name, &call, &others)),
                }
                self.lines.push(format!("if (!{name})\n        return 0;"));
            }
            Way::Sets(i) => {
                let mut given = vec![(i, format!("&{name}"))];
                // A parameter of the same type is the enclosing object, and may be NULL.
                let outer = self.api.handle(&param.ty);
                let others = maker.params.iter().enumerate();
                given.extend(
                    others
                        .filter(|(_, other)| {
                            outer.is_some() && self.api.identity(&other.ty) == outer
                        })
                        .map(|(other, _)| (other, "NULL".to_owned())),
                );
                let arguments = self.arguments(maker, &given, depth + 1)?;
                self.lines.push(format!("{declared}{name} = {nothing};"));
                self.lines
                    .push(format!("{}({});", maker.name, arguments.join(", ")));
                self.lines.push(format!("if (!{name})\n        return 0;"));
            }
            Way::Initialises => {
                let given = [(0, format!("&{name}"))];
                let arguments = self.arguments(maker, &given, depth + 1)?;
                self.lines.push(format!("{} {name} = {{0}};", to.words));
                // Members that a trial required to be set before the initialisation.
                let tag = self.api.handle(&param.ty).unwrap_or_default();
                let record = self.api.record(&tag).cloned();
                if let Some(record) = &record {
                    self.given_members(maker, name, record);
                }
                let call = format!("{}({})", maker.name, arguments.join(", "));
                let success = match self.adjust.unchecked {
                    true => Success::Any,
                    false => self.success(maker),
                };
                self.lines.push(success.checked(&call));
                let is_read = self.api.pointee(&param.ty).is_some_and(|to| to.constant);
                match record {
                    // An initialised table of callbacks is empty: the caller supplies them.
                    Some(record) if is_read && self.has_only_functions(&record) => {
                        self.options(name, &record);
                    }
                    // An initialiser that reads data may have checked the members.
                    Some(record) if !self.has_input(maker) => {
                        self.caller_members(name, &tag, &record);
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Whether a function takes bytes to read.
    pub(super) fn has_input(&self, declared: &Declared) -> bool {
        pairs::lengths(self.api, &declared.params)
            .iter()
            .zip(&declared.params)
            .any(|(length, param)| {
                let to = self.api.pointee(&param.ty);
                let bytes = |to: &Written| {
                    matches!(
                        self.api.resolve(to).kind,
                        Kind::Int { size: 1, .. } | Kind::Void
                    )
                };
                length.is_some() && to.is_some_and(|to| to.constant && bytes(&to))
            })
    }

    /// The function that releases an object. Prefers the one whose name begins like its maker's.
    pub(super) fn releaser_of(&self, identity: &str, maker: &str) -> Option<&'a Declared> {
        let all = self.api.all_functions().filter(|back| {
            self.gives_back(back).as_deref() == Some(identity)
                && self.is_usable(back)
                && back.name != self.function.name
                && !is_opposed(&back.name, maker)
        });
        let made = self
            .api
            .all_functions()
            .find(|function| function.name == maker);
        let made = made.and_then(|function| self.makes(function, identity));
        let is_fitting = |back: &&Declared| {
            !matches!(made, Some(Way::Initialises))
                || !self.belongs_to_returned(back, identity, maker)
        };
        all.filter(is_fitting).max_by_key(|back| {
            let sure = if has_word(&back.name, ENDS) { 3 } else { 0 };
            // A function that frees the object itself is unsuitable for a variable if another
            // function releases only the contents.
            let frees = has_word(&back.name, &["destroy", "free", "delete"]);
            (
                !(frees && matches!(made, Some(Way::Initialises))),
                common(&back.name, maker) + sure,
                std::cmp::Reverse(back.name.len()),
            )
        })
    }

    /// Whether the name of a releasing function matches another maker better, one that returns an
    /// object from the heap: `alc_dyn_free` belongs to `alc_dyn_new`, not to a variable that
    /// `alc_pool_init` initialised.
    fn belongs_to_returned(&self, back: &Declared, identity: &str, maker: &str) -> bool {
        let words = |other: &str| back.name[..common(&back.name, other)].matches('_').count();
        let mut makers = self.api.all_functions();
        makers.any(|other| {
            matches!(self.makes(other, identity), Some(Way::Returns))
                && words(&other.name) > words(maker)
        })
    }

    /// The identity of the object that a function releases, derived from its name and its only
    /// parameter.
    pub(super) fn gives_back(&self, function: &Declared) -> Option<String> {
        let [param] = &function.params[..] else {
            return None;
        };
        // `write_end` only ends a part of the output.
        let part = [
            "write", "read", "chunk", "section", "element", "array", "object", "block",
        ];
        let lower = function.name.to_lowercase();
        // Finishing an object does not release it yet.
        let is_part = lower.ends_with("end") && part.iter().any(|word| lower.contains(word))
            || lower.contains("finish");
        let gives_back =
            has_word(&function.name, GIVES_BACK) || has_outer_word(&function.name, GIVES_BACK_LAST);
        // A function that returns information about a constant object leaves it unchanged.
        let is_read = self.api.pointee(&param.ty).is_some_and(|to| to.constant)
            && self.api.resolve(&function.returns).kind != Kind::Void;
        // A function that returns an object continues to use it.
        let goes_on = self.api.identity(&function.returns).is_some();
        if !gives_back || is_part || is_read || goes_on || self.ends_a_step(function) {
            return None;
        }
        let through = || self.api.handle(&self.api.pointee(&param.ty)?);
        let identity = self.api.handle(&param.ty).or_else(through)?;
        // `FT_Init_FreeType` creates the object that its parameter points to.
        match self.makes(function, &identity) {
            Some(Way::Sets(_)) => None,
            _ => Some(identity),
        }
    }

    /// Whether a function frees memory that another function of the library allocated:
    /// `nng_free(void *, size_t)`.
    pub(super) fn frees(&self, function: &Declared) -> bool {
        let first = function.params.first();
        let to = first.and_then(|param| self.api.pointee(&param.ty));
        let plain = to.is_some_and(|to| !to.constant && to.kind == Kind::Void);
        let returns = self.api.resolve(&function.returns).kind == Kind::Void;
        plain && returns && has_word(&function.name, &["free", "dealloc", "release"])
    }

    pub(super) fn release_call(&self, back: &Declared, name: &str) -> String {
        let first = back.params.first();
        let through = first.is_some_and(|param| self.api.handle(&param.ty).is_none());
        let star = if through { "&" } else { "" };
        format!("{}({star}{name})", back.name)
    }
}
