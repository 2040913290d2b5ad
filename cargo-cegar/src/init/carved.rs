//! `init --from-tests`: turns carved harnesses into files of the package.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use super::carve::{self, Library};
use super::{Harness, InitOptions, Initialised, Known, api};
use crate::config::Config;
use crate::error::Error;
use crate::project::Project;
use crate::{list, store};

/// Recorded inputs.
pub(super) enum Seeds {
    /// Inputs of one carved harness, by name.
    Of(String, Vec<Vec<u8>>),
    /// An input of every harness that takes only the data of this function.
    Data(String, Vec<u8>),
}

impl Known<'_> {
    /// Carves harnesses and their inputs from the crate's tests.
    pub(super) fn carved(
        &mut self,
        header: Option<PathBuf>,
        options: &InitOptions,
        done: &mut Initialised,
        stop: &AtomicBool,
    ) -> Result<(Vec<Harness>, Vec<Seeds>), Error> {
        let header = match header.or_else(|| self.own_header(&[], done)) {
            Some(header) => header,
            None => {
                let notes = done.notes.join("\n");
                return Err(Error::nothing(
                    format!("the library's header is not known\n{notes}"),
                    "name it with --header",
                ));
            }
        };
        let Some(compiler) = self.compiler else {
            return Ok((Vec::new(), Vec::new()));
        };
        done.header = Some(header.clone());
        let include = self.include(&header);
        let api = api::read(compiler, &header, &self.flags)?;
        let library = self.library(compiler, (&header, &include), stop);
        let defined = library.defined(&mut done.notes);
        let defined = defined.map(|defined| defined.functions.into_keys().collect());
        let result = carve::carve(
            &Library {
                project: self.project,
                compiler,
                api: &api,
                defined: defined.as_ref(),
                include: &include,
                flags: &self.flags,
            },
            options.most,
            stop,
        )?;
        done.notes.extend(result.notes);
        let (mut harnesses, mut seeds) = (Vec::new(), Vec::new());
        for one in result.harnesses {
            if let Some(why) = library.compiles(&one.name, &one.text) {
                let text = format!("its harness does not compile: {why}");
                done.skipped.push((one.name, text));
                continue;
            }
            seeds.push(Seeds::Of(one.name.clone(), one.seeds));
            harnesses.push(Harness {
                file: PathBuf::from(format!("harnesses/{}.c", one.name)),
                text: Some(one.text),
                what: one.what,
                name: one.name,
                drives: None,
                defines: Vec::new(),
                max_len: None,
            });
        }
        if harnesses.is_empty() {
            done.notes.push(
                "no test calls the library in a way that a harness could be carved from".to_owned(),
            );
        }
        let data = result.data.into_iter();
        seeds.extend(data.map(|(function, bytes)| Seeds::Data(function, bytes)));
        Ok((harnesses, seeds))
    }
}

/// Adds inputs to the corpora of the carved harnesses, and of existing harnesses that take only the
/// data of a recorded function.
pub(super) fn put_seeds(
    project: &Project,
    config: &Config,
    seeds: Vec<Seeds>,
    done: &mut Initialised,
) -> Result<(), Error> {
    if seeds.is_empty() {
        return Ok(());
    }
    let there = list::harnesses(project, config)?;
    let (mut new, mut names) = (0, Vec::new());
    let mut put = |name: &str, bytes: &[u8]| -> Result<(), Error> {
        let corpus = project.cegar.join("corpus").join(name);
        store::writable_dir(&corpus)?;
        if store::add_entry(&corpus, bytes)? {
            new += 1;
            if !names.contains(&name.to_owned()) {
                names.push(name.to_owned());
            }
        }
        Ok(())
    };
    for one in &seeds {
        match one {
            Seeds::Of(name, inputs) => {
                for bytes in inputs {
                    put(name, bytes)?;
                }
            }
            Seeds::Data(function, bytes) => {
                for (name, file) in &there {
                    if carve::takes_data_alone(file, function) {
                        put(name, bytes)?;
                    }
                }
            }
        }
    }
    if new > 0 {
        done.notes
            .push(format!("{new} recorded inputs for {}", names.join(", ")));
    }
    Ok(())
}
