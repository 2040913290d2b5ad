//! Gives an object its input after it was created.

use super::FEEDS;
use crate::init::api::Declared;
use crate::init::drive::{Body, Main, OUTPUT, has_word};

impl<'a> Body<'a> {
    /// Sets the buffers of a structure with `next_in` and `avail_in`, or `next_out` and
    /// `avail_out`.
    pub(super) fn streamed(&mut self, object: &str, function: &Declared, identity: &str) {
        let Some(record) = self.api.record(identity).cloned() else {
            return;
        };
        if self.nested > 0 || self.main.is_some() || self.has_input(function) {
            return;
        }
        let field = |name: &str| record.fields.iter().find(|(field, _)| field == name);
        let access = match object.strip_prefix('&') {
            Some(name) => format!("{name}."),
            None => format!("{object}->"),
        };
        if let (Some((_, next)), Some((_, avail))) = (field("next_in"), field("avail_in")) {
            let constant = self.api.pointee(next).is_some_and(|to| to.constant);
            self.main = Some(Main { wide: None });
            let words = &next.words;
            let cast = if constant || !words.starts_with("const ") {
                words.clone()
            } else {
                words.trim_start_matches("const ").to_owned()
            };
            self.lines_after_input
                .push(format!("{access}next_in = ({cast})data;"));
            self.lines_after_input
                .push(format!("{access}avail_in = ({})size;", avail.words));
        }
        if let (Some((_, next)), Some((_, avail))) = (field("next_out"), field("avail_out")) {
            let name = self.name("output");
            let room = self.name("output_size");
            self.lines
                .push(format!("size_t {room} = crunner_size(0, {OUTPUT});"));
            self.lines
                .push(format!("uint8_t *{name} = malloc({room});"));
            self.lines_after_input
                .push(format!("{access}next_out = ({}){name};", next.words));
            self.lines_after_input
                .push(format!("{access}avail_out = ({}){room};", avail.words));
            self.cleanup.push(format!("free({name});"));
        }
    }

    /// Passes the main input to an object through another function, if the driven function takes no
    /// input itself.
    pub(super) fn fed(&mut self, object: &str, function: &Declared, identity: &str, depth: usize) {
        if self.nested > 0
            || depth > 0
            || self.main.is_some()
            || self.has_input(function)
            || function.name != self.function.name
        {
            return;
        }
        let feeder = self.api.all_functions().find(|feeder| {
            let first = feeder.params.first();
            first.is_some_and(|param| self.api.identity(&param.ty).as_deref() == Some(identity))
                && feeder.name != function.name
                && feeder.params.len() <= 4
                && !feeder.variadic
                && self.is_usable(feeder)
                && has_word(&feeder.name, FEEDS)
                && self.has_input(feeder)
        });
        let Some(feeder) = feeder else { return };
        let before = self.clone();
        match self.arguments(feeder, &[(0, object.to_owned())], depth + 1) {
            Ok(arguments) if self.main.is_some() => {
                self.fed = true;
                self.lines_after_input
                    .push(format!("{}({});", feeder.name, arguments.join(", ")));
            }
            _ => *self = before,
        }
    }
}
