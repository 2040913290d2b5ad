//! Which package, and where its things are, as cargo says.

use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, MetadataCommand, Package};
use miette::Diagnostic;
use thiserror::Error;

/// Why no package could be chosen.
#[derive(Debug, Error, Diagnostic)]
pub enum ProjectError {
    /// `cargo metadata` failed.
    #[error("cargo metadata failed: {said}")]
    #[diagnostic(
        code(cegar::metadata),
        help("run this in a cargo package, or say which with --manifest-path")
    )]
    Metadata {
        /// What it said.
        said: String,
    },
    /// There is no package of that name.
    #[error("there is no package `{name}` here")]
    #[diagnostic(code(cegar::no_package))]
    NoPackage {
        /// What was asked for.
        name: String,
        /// What there is.
        #[help]
        help: String,
    },
    /// There are several.
    #[error("which package? the workspace has several")]
    #[diagnostic(code(cegar::which_package))]
    WhichPackage {
        /// What there is.
        #[help]
        help: String,
    },
}

impl From<cargo_metadata::Error> for ProjectError {
    fn from(why: cargo_metadata::Error) -> Self {
        let said = match &why {
            cargo_metadata::Error::CargoMetadata { stderr } => {
                stderr.trim().trim_start_matches("error: ").to_owned()
            }
            other => other.to_string(),
        };
        ProjectError::Metadata { said }
    }
}

/// The package whose C code is looked at.
#[derive(Clone, Debug)]
pub struct Project {
    /// Its name.
    pub name: String,
    /// Its `Cargo.toml`.
    pub manifest: PathBuf,
    /// Its folder.
    pub root: PathBuf,
    /// The workspace that it is used from.
    pub workspace: PathBuf,
    /// The native library that it says it links.
    pub links: Option<String>,
    /// Cargo's target folder.
    pub target: PathBuf,
    /// Whether it is a member of the workspace; else a dependency.
    pub member: bool,
    /// The committed package with harnesses and tests: `cegar/` in the package, or `cegar-NAME/` in the workspace for
    /// a dependency, whose own folder is not ours to write to.
    pub cegar: PathBuf,
}

impl Project {
    /// Asks cargo. `package` may name a dependency.
    pub fn load(
        manifest_path: Option<&Path>,
        package: Option<&str>,
        target_dir: Option<&Path>,
    ) -> Result<Self, ProjectError> {
        let mut command = MetadataCommand::new();
        if let Some(path) = manifest_path {
            command.manifest_path(path);
        }
        command.no_deps();
        let mut metadata = command.exec()?;
        let known =
            |metadata: &Metadata, name: &str| metadata.packages.iter().any(|p| *p.name == name);
        // Dependencies cost a resolution: only where they are asked for.
        if package.is_some_and(|name| !known(&metadata, name)) {
            let mut command = MetadataCommand::new();
            if let Some(path) = manifest_path {
                command.manifest_path(path);
            }
            metadata = command.exec()?;
        }
        let chosen = choose(&metadata, package)?;
        Ok(Self::new(&metadata, chosen, target_dir))
    }

    fn new(metadata: &Metadata, package: &Package, target_dir: Option<&Path>) -> Self {
        let manifest = package.manifest_path.clone().into_std_path_buf();
        let root = manifest.parent().map(Path::to_owned).unwrap_or_default();
        let member = metadata.workspace_members.contains(&package.id);
        let workspace = metadata.workspace_root.clone().into_std_path_buf();
        let cegar = if member {
            root.join("cegar")
        } else {
            workspace.join(format!("cegar-{}", package.name))
        };
        let target = match target_dir {
            Some(dir) => std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned()),
            None => metadata.target_directory.clone().into_std_path_buf(),
        };
        Project {
            name: package.name.to_string(),
            manifest,
            links: package.links.clone(),
            root,
            workspace,
            target,
            member,
            cegar,
        }
    }

    /// Scratch: `target/cegar`.
    pub fn scratch(&self) -> PathBuf {
        self.target.join("cegar")
    }

    /// The name of the package in `cegar/`.
    pub fn cegar_name(&self) -> String {
        format!("{}-cegar", self.name)
    }
}

fn choose<'a>(metadata: &'a Metadata, name: Option<&str>) -> Result<&'a Package, ProjectError> {
    let members = || {
        let names: Vec<_> = metadata
            .workspace_packages()
            .iter()
            .map(|p| p.name.to_string())
            .collect();
        format!("choose with -p: {}", names.join(", "))
    };
    if let Some(name) = name {
        let mut matching = metadata.packages.iter().filter(|p| *p.name == name);
        return matching.next().ok_or_else(|| ProjectError::NoPackage {
            name: name.to_owned(),
            help: members(),
        });
    }
    let root = metadata.root_package();
    // Standing in the generated package means its crate.
    let named = root.and_then(|p| p.name.strip_suffix("-cegar"));
    if let Some(owner) = named.and_then(|n| metadata.packages.iter().find(|p| *p.name == n)) {
        return Ok(owner);
    }
    if let Some(root) = root {
        return Ok(root);
    }
    let mut candidates = metadata.workspace_packages();
    candidates.retain(|p| !p.name.ends_with("-cegar"));
    if let [only] = candidates[..] {
        return Ok(only);
    }
    let set_up = |p: &&&Package| {
        p.manifest_path
            .parent()
            .is_some_and(|dir| dir.join("cegar/cegar.toml").exists())
    };
    let ready: Vec<&&Package> = candidates.iter().filter(set_up).collect();
    match ready[..] {
        [only] => Ok(only),
        _ => Err(ProjectError::WhichPackage { help: members() }),
    }
}
