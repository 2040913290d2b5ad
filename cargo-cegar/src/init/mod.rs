//! Writing the `cegar/` package.
//!
//! It is a package of its own, and a member of the crate's workspace, so that the tests in it run with everyone else's
//! tests and the crate itself does not depend on anything new. What exists is never overwritten: the files are the
//! user's from the moment they are written.

pub mod ci;
mod harness;
mod workspace;

use std::path::{Path, PathBuf};

use crate::emit::Dependency;
use crate::emit::package::Package;
use crate::error::Error;
use crate::project::Project;
use crate::store;

pub use harness::Prototype;

/// What is to be written.
#[derive(Clone, Debug, Default)]
pub struct InitOptions {
    /// The header that declares `function`.
    pub header: Option<PathBuf>,
    /// The function that the first harness calls.
    pub function: Option<String>,
    /// The first harness's name; default: the function's, else the package's.
    pub name: Option<String>,
}

/// What was done.
#[derive(Clone, Debug, Default)]
pub struct Initialised {
    /// Files that were written.
    pub written: Vec<PathBuf>,
    /// Files that were there already.
    pub kept: Vec<PathBuf>,
    /// The workspace manifest, if it was extended.
    pub workspace: Option<PathBuf>,
    /// The harness, and whether it already calls the function.
    pub harness: String,
    /// What the user has to do next in it, if anything.
    pub to_do: Option<String>,
}

/// Writes the package.
pub fn init(project: &Project, options: &InitOptions) -> Result<Initialised, Error> {
    let name = harness_name(project, options)?;
    let header = options
        .header
        .as_deref()
        .map(|path| find_header(project, path))
        .transpose()?;
    let harness = harness::write(header.as_deref(), options.function.as_deref(), &name)?;
    let mut done = Initialised {
        harness: name.clone(),
        to_do: harness.to_do,
        ..Initialised::default()
    };
    for folder in ["harnesses", "tests", "src"] {
        store::writable_dir(&project.cegar.join(folder))?;
    }
    let include = header
        .as_deref()
        .and_then(Path::parent)
        .map(|folder| crate::capture::relative(folder, &project.cegar, &project.workspace));
    let package = Package {
        name: project.cegar_name(),
        dependency: Dependency::of_this_tool(),
        own_workspace: false,
        config: configuration(project, &name, include.as_deref()),
    };
    let harness_file = format!("harnesses/{name}.c");
    let files = package.files();
    let files = files
        .iter()
        .map(|(file, text)| (*file, text))
        .chain([(harness_file.as_str(), &harness.text)]);
    for (file, text) in files {
        let path = project.cegar.join(file);
        let new = store::write_new(&path, text.as_bytes())?;
        if new {
            done.written.push(path)
        } else {
            done.kept.push(path)
        }
    }
    done.workspace = workspace::add_member(&project.workspace, &project.cegar)?;
    Ok(done)
}

fn configuration(project: &Project, name: &str, include: Option<&Path>) -> String {
    let includes = match include {
        Some(folder) => format!("includes = [{:?}]\n", folder.to_string_lossy()),
        None => "# includes = [\"../include\"]\n".to_owned(),
    };
    format!(
        "# What cargo cegar looks at in {of}. Paths are relative to this folder.\n\
         \n\
         [c]\n\
         # The C files that the crate's own build compiles, with its defines and include paths; `cargo cegar build`\n\
         # captures them into captured.json. Or list them: sources = [\"../src/a.c\"]\n\
         sources_from = \"captured\"\n\
         {includes}\
         # defines = [\"NDEBUG\", \"SIZE=64\"]\n\
         \n\
         [harness.{name}]\n\
         file = \"harnesses/{name}.c\"\n\
         # property = [\"memory\", \"overflow\"]   # or \"assertion\", \"all\"; assertions are always checked\n\
         # max_len = 4096                        # longest input, in bytes\n\
         # timeout = \"1s\"                        # a run that takes longer is a hang\n",
        of = project.name,
    )
}

fn harness_name(project: &Project, options: &InitOptions) -> Result<String, Error> {
    let given = options.name.as_deref().or(options.function.as_deref());
    let name = match given {
        Some(name) => name.to_owned(),
        None => project.name.replace('-', "_"),
    };
    let first = name
        .chars()
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if first && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        Ok(name)
    } else {
        Err(Error::usage(
            format!("`{name}` cannot be a harness's name"),
            "a name is letters, digits and underscores, as in C; choose one with --name",
        ))
    }
}

fn find_header(project: &Project, header: &Path) -> Result<PathBuf, Error> {
    let here = std::path::absolute(header).map_err(|why| Error::io("read", header, why))?;
    [here, project.root.join(header)]
        .into_iter()
        .find(|path| path.is_file())
        .ok_or_else(|| {
            Error::nothing(
                format!("there is no header `{}`", header.display()),
                "its path is relative to the current folder or to the crate",
            )
        })
}
