//! Writes the package: its files, and its entries in `cegar.toml`.

use std::path::{Path, PathBuf};

use cegar_harness::build::portable;
use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::known::Known;
use super::workspace;
use super::{Harness, Initialised, Written};
use crate::capture;
use crate::config::Config;
use crate::contracts::Contracts;
use crate::emit::package::Package;
use crate::emit::{Dependency, for_everyone, only_here};
use crate::error::Error;
use crate::project::Project;
use crate::store;

/// Writes all files, and extends `cegar.toml` and the other files that exist already.
pub(super) fn write(
    known: &Known<'_>,
    harnesses: &[Harness],
    done: &mut Initialised,
) -> Result<(), Error> {
    let project = known.project;
    for folder in ["harnesses", "tests", "src"] {
        store::writable_dir(&project.cegar.join(folder))?;
    }
    let package = Package {
        name: project.cegar_name(),
        dependency: Dependency::of_this_tool(),
        config: configuration(project),
    };
    let mut put = |path: PathBuf, bytes: &[u8]| -> Result<bool, Error> {
        let new = store::write_new(&path, bytes)?;
        if new {
            done.written.push(path)
        } else {
            done.kept.push(path)
        }
        Ok(new)
    };
    for (file, text) in package.files() {
        put(project.cegar.join(file), text.as_bytes())?;
    }
    if let Some((name, text)) = &known.declared
        && harnesses.iter().any(|harness| harness.includes(name))
    {
        put(project.cegar.join("harnesses").join(name), text.as_bytes())?;
    }
    for harness in harnesses {
        let path = project.cegar.join(&harness.file);
        if let Some(text) = &harness.text {
            put(path, text.as_bytes())?;
        }
    }
    let manifest = project.cegar.join("Cargo.toml");
    if done.written.contains(&manifest)
        && let Some(folder) = only_here(&project.cegar)
    {
        done.notes.push(format!(
            "{} takes cegar-harness from {}; before others build the package, change that one line \
             to cegar-harness = {}",
            manifest.display(),
            folder.display(),
            for_everyone()
        ));
    }
    for harness in harnesses {
        done.harnesses.push(Written {
            name: harness.name.clone(),
            file: project.cegar.join(&harness.file),
            what: harness.what.clone(),
        });
    }
    let header = done.header.as_deref().filter(|header| {
        let folder = header
            .parent()
            .map(|folder| format!("-I{}", folder.display()));
        // A folder at the front of the flags was not among the library's own include folders.
        folder.as_deref() == known.flags.first().map(String::as_str)
    });
    let folder = header.and_then(Path::parent);
    let folder = folder.map(|folder| capture::relative(folder, &project.cegar, &project.workspace));
    extend(
        &project.cegar.join("cegar.toml"),
        harnesses,
        folder.as_deref(),
        known.config,
    )?;
    let mut contracts = Contracts::load(&project.cegar)?;
    contracts.add(done.learnt.iter().cloned());
    if !done.learnt.is_empty() {
        contracts.save(&project.cegar)?;
    }
    if let Some(captured) = &known.captured {
        capture::Kept::of(captured, project)?.save()?;
    }
    done.workspace = workspace::keep_apart(&project.workspace, &project.cegar)?;
    Ok(())
}

/// Adds harnesses and an include folder to `cegar.toml` unless they are there already.
pub(super) fn extend(
    path: &Path,
    harnesses: &[Harness],
    include: Option<&Path>,
    config: &Config,
) -> Result<(), Error> {
    let text = store::read_text(path)?;
    let bad = |why: String| {
        Error::usage(
            format!("`{}` cannot be extended: {why}", path.display()),
            "mend it first",
        )
    };
    let mut document: DocumentMut = text
        .parse()
        .map_err(|why: toml_edit::TomlError| bad(why.to_string()))?;
    if let Some(include) = include {
        let include = include.to_string_lossy().into_owned();
        let known = config
            .c
            .includes
            .iter()
            .flatten()
            .any(|one| *one == include);
        if !known {
            let c = document
                .entry("c")
                .or_insert_with(|| Item::Table(Table::new()));
            let c = c
                .as_table_like_mut()
                .ok_or_else(|| bad("`c` is not a table".to_owned()))?;
            let list = c.entry("includes").or_insert_with(|| value(Array::new()));
            let list = list
                .as_array_mut()
                .ok_or_else(|| bad("`c.includes` is not a list".to_owned()))?;
            // Cargo's folder has another path on other machines.
            list.push(portable(&include, path.parent().unwrap_or(path)));
        }
    }
    let tables = document.entry("harness").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let tables = tables
        .as_table_mut()
        .ok_or_else(|| bad("`harness` is not a table".to_owned()))?;
    for harness in harnesses {
        if tables.contains_key(&harness.name) {
            continue;
        }
        let mut table = Table::new();
        table.insert("file", value(harness.file.to_string_lossy().into_owned()));
        if let Some(function) = &harness.drives {
            table.insert("drives", value(function.clone()));
        }
        if !harness.defines.is_empty() {
            let list: Array = harness.defines.iter().collect();
            table.insert("defines", value(list));
        }
        if let Some(most) = harness.max_len {
            // TOML has no numbers beyond 64 bits with a sign, and an input is far shorter.
            table.insert("max_len", value(most.cast_signed()));
        }
        tables.insert(&harness.name, Item::Table(table));
    }
    Ok(store::write(path, document.to_string().as_bytes())?)
}

pub(super) fn configuration(project: &Project) -> String {
    format!(
        "# What cargo cegar looks at in {of}. Paths are relative to this folder.\n#\n\
         # For a harness, besides its file:\n\
         # property = [\"memory\", \"overflow\"]   # or \"assertion\", \"all\"; assertions are \
         always checked\n# max_len = 4096                        # longest input, in bytes\n\
         # timeout = \"1s\"                        # a run that takes longer is a hang\n\
         # dict = \"words.dict\"                   # words for the fuzzer, as libFuzzer and AFL++ \
         have them\n# seeds = [\"samples\", \"corpus.zip\"]    # inputs to begin with\n\n[c]\n\
         # The C files that the crate's own build compiles, with its defines and include paths; \
         `cargo cegar build`\n\
         # captures them into captured.json. Or list them: sources = [\"../src/a.c\"]\n\
         # More: includes = [\"../include\"], defines = [\"NDEBUG\", \"SIZE=64\"]\n\
         sources_from = \"captured\"\n",
        of = project.name,
    )
}
