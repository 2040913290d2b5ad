//! The package to work on and its folders, according to cargo.

use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};
use miette::Diagnostic;
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::config::nearest;
use crate::store;

/// The reasons why no package can be chosen.
#[derive(Debug, Error, Diagnostic)]
pub enum ProjectError {
    /// `cargo metadata` failed.
    #[error("cargo metadata failed: {said}")]
    #[diagnostic(code(cegar::metadata))]
    Metadata {
        /// The message of cargo.
        said: String,
        /// What to do.
        #[help]
        help: String,
    },
    /// There is no package of that name.
    #[error("there is no package `{name}` here")]
    #[diagnostic(code(cegar::no_package))]
    NoPackage {
        /// The requested name.
        name: String,
        /// The available names.
        #[help]
        help: String,
    },
    /// The workspace has several packages.
    #[error("which package? the workspace has several")]
    #[diagnostic(code(cegar::which_package))]
    WhichPackage {
        /// The available names.
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
        let help = advice(&said);
        ProjectError::Metadata { said, help }
    }
}

/// Advice for a failure of `cargo metadata`.
fn advice(said: &str) -> String {
    if said.contains("cegar-harness") || said.contains("/harness/Cargo.toml") {
        // The generated package is a member of the workspace: no cargo command works there until
        // this is fixed.
        return format!(
            "`cegar-harness` in the Cargo.toml of the generated package (`cegar/`) is a folder of \
             the machine that wrote it, or a version that no registry has: make it {}, or a path \
             to your own checkout",
            crate::emit::for_everyone()
        );
    }
    if said.contains("could not find `Cargo.toml`") {
        return "run this in a cargo package, or say which with --manifest-path".to_owned();
    }
    "what cargo says is about the workspace: `cargo metadata` says the same, and has to work first"
        .to_owned()
}

/// The package whose C code is checked.
#[derive(Clone, Debug)]
pub struct Project {
    /// Its name.
    pub name: String,
    /// Its version, since the lock file may contain several.
    pub version: String,
    /// Its `Cargo.toml`.
    pub manifest: PathBuf,
    /// Its folder.
    pub root: PathBuf,
    /// Its build script, if it has one.
    pub build_script: Option<PathBuf>,
    /// The workspace from which it is used.
    pub workspace: PathBuf,
    /// The native library that it links (`links`).
    pub links: Option<String>,
    /// Cargo's target folder.
    pub target: PathBuf,
    /// Whether it is a member of the workspace; otherwise it is a dependency.
    pub member: bool,
    /// The folders of the packages that depend on it, among those that cargo was asked about.
    pub callers: Vec<PathBuf>,
    /// Additional arguments of cargo for capturing the build.
    pub cargo_args: Vec<String>,
    /// The committed package with harnesses and tests: `cegar/` in the package or, for a
    /// dependency, whose own folder must not be changed, `cegar-NAME/` in the workspace.
    pub cegar: PathBuf,
}

impl Project {
    /// Loads the package with `cargo metadata`. `package` may name a dependency.
    pub fn load(
        manifest_path: Option<&Path>,
        package: Option<&str>,
        target_dir: Option<&Path>,
    ) -> Result<Self, ProjectError> {
        let folder = match manifest_path {
            Some(path) => folder_of(path),
            None => nearest_package(),
        };
        let generated = folder.as_deref().and_then(GeneratedPackage::of);
        let manifest_path = generated
            .as_ref()
            .map_or(manifest_path, |found| Some(&*found.manifest));
        let package = package.or(generated
            .as_ref()
            .and_then(|found| found.package.as_deref()));
        let mut command = MetadataCommand::new();
        if let Some(path) = manifest_path {
            command.manifest_path(path);
        }
        command.no_deps();
        let mut metadata = command.exec()?;
        let known = |metadata: &Metadata, name: &str| {
            let plain = name.split('@').next().unwrap_or(name);
            metadata.packages.iter().any(|p| *p.name == plain)
        };
        // Dependencies require a resolution, so they are loaded only if needed.
        if package.is_some_and(|name| !known(&metadata, name)) {
            let mut command = MetadataCommand::new();
            if let Some(path) = manifest_path {
                command.manifest_path(path);
            }
            metadata = command.exec()?;
        }
        let folder = match &generated {
            Some(found) => folder_of(&found.manifest),
            None => folder,
        };
        let chosen = choose(&metadata, package, folder.as_deref())?;
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
        let depends = |other: &&Package| {
            let mut all = other.dependencies.iter();
            all.any(|one| one.name == *package.name && one.kind != DependencyKind::Build)
        };
        let callers = metadata.packages.iter().filter(depends).map(|other| {
            let manifest = other.manifest_path.as_std_path();
            manifest.parent().map(Path::to_owned).unwrap_or_default()
        });
        let script = package
            .targets
            .iter()
            .find(|target| target.is_custom_build());
        Project {
            build_script: script.map(|target| target.src_path.clone().into_std_path_buf()),
            callers: callers.collect(),
            name: package.name.to_string(),
            version: package.version.to_string(),
            manifest,
            links: package.links.clone(),
            root,
            workspace,
            target,
            member,
            cargo_args: Vec::new(),
            cegar,
        }
    }

    /// The scratch folder: [`Self::scratch_name`] in the target folder. A target folder outside of
    /// the workspace may be shared by several workspaces, so there the name includes a hash of the
    /// manifest's path. This way results of one package are never used for another package, whose
    /// harnesses may have the same names.
    pub fn scratch(&self) -> PathBuf {
        let mut name = self.scratch_name();
        if !self.target.starts_with(&self.workspace) {
            let path = self.manifest.as_os_str().as_encoded_bytes();
            name += &format!("-{}", store::hex(&Sha256::digest(path)[..4]));
        }
        self.target.join(name)
    }

    /// `cegar` for the package at the root of its workspace, `cegar-NAME` for another member or a
    /// dependency.
    pub fn scratch_name(&self) -> String {
        match self.root == self.workspace {
            true => "cegar".to_owned(),
            false => format!("cegar-{}", self.name),
        }
    }

    /// Dependencies of the workspace for which `init -p NAME` was called.
    pub fn dependencies_set_up(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.workspace).into_iter().flatten();
        let mut names: Vec<String> = entries
            .flatten()
            .filter(|entry| entry.path().join("cegar.toml").is_file())
            .filter_map(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                name.strip_prefix("cegar-").map(str::to_owned)
            })
            .collect();
        names.sort();
        names
    }

    /// The name of the package in `cegar/`.
    pub fn cegar_name(&self) -> String {
        format!("{}-cegar", self.name)
    }
}

/// The folder of a manifest, without symbolic links and `..`.
fn folder_of(manifest: &Path) -> Option<PathBuf> {
    let manifest = std::path::absolute(manifest).ok()?;
    manifest.parent()?.canonicalize().ok()
}

/// The folder of the package or workspace that contains the current folder.
fn nearest_package() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let found = here
        .ancestors()
        .find(|folder| folder.join("Cargo.toml").is_file())?;
    found.canonicalize().ok()
}

/// The crate to which a generated package belongs. A generated package is a separate workspace, so
/// cargo does not find the crate from there.
struct GeneratedPackage {
    /// The manifest of the crate, or of the workspace for whose dependency it was generated.
    manifest: PathBuf,
    /// The name of the dependency.
    package: Option<String>,
}

impl GeneratedPackage {
    /// Determines what this folder was generated for: `cegar/` is in the crate, `cegar-NAME/` in
    /// the workspace that depends on NAME.
    fn of(folder: &Path) -> Option<Self> {
        if !folder.join("cegar.toml").is_file() {
            return None;
        }
        let name = folder.file_name()?.to_str()?;
        let package = match name.strip_prefix("cegar")? {
            "" => None,
            rest => Some(rest.strip_prefix('-')?.to_owned()),
        };
        let manifest = folder.parent()?.join("Cargo.toml");
        manifest
            .is_file()
            .then_some(GeneratedPackage { manifest, package })
    }
}

/// The most similar package name: `bzip2-sys` for `bzip2`, or the correction of a typing error.
fn similar<'a>(name: &str, all: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let all: Vec<&str> = all.filter(|known| !known.ends_with("-cegar")).collect();
    let sys = |known: &&str| {
        ["-sys", "_sys", "-src", "_src"]
            .iter()
            .any(|end| known.strip_suffix(end) == Some(name))
    };
    all.iter()
        .copied()
        .find(sys)
        .or_else(|| nearest(name, all.into_iter()))
}

/// Whether a package is a member of the workspace, or a direct dependency of one.
fn is_direct(metadata: &Metadata, package: &Package) -> bool {
    let members = &metadata.workspace_members;
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let mut own = nodes.filter(|node| members.contains(&node.id));
    members.contains(&package.id) || own.any(|node| node.dependencies.contains(&package.id))
}

/// The package of that name, or else the one in `folder`, as cargo would choose it, or else the
/// only one.
fn choose<'a>(
    metadata: &'a Metadata,
    name: Option<&str>,
    folder: Option<&Path>,
) -> Result<&'a Package, ProjectError> {
    let members = || {
        let names: Vec<_> = metadata
            .workspace_packages()
            .iter()
            .map(|p| p.name.to_string())
            .filter(|name| !name.ends_with("-cegar"))
            .collect();
        format!("choose with -p: {}", names.join(", "))
    };
    if let Some(name) = name {
        let (plain, version) = match name.split_once('@') {
            Some((plain, version)) => (plain, Some(version)),
            None => (name, None),
        };
        let matching = metadata.packages.iter().filter(|p| {
            *p.name == plain && version.is_none_or(|version| p.version.to_string() == version)
        });
        // Among several versions, the one that a member depends on directly.
        let found = matching.max_by_key(|p| (is_direct(metadata, p), p.version.clone()));
        return found.ok_or_else(|| {
            let all = metadata.packages.iter().map(|p| p.name.as_str());
            let help = match similar(name, all) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("{}; or a dependency of one of them", members()),
            };
            ProjectError::NoPackage {
                name: name.to_owned(),
                help,
            }
        });
    }
    let stands_here = |p: &&&Package| {
        folder.is_some() && folder_of(p.manifest_path.as_std_path()).as_deref() == folder
    };
    let members_here = metadata.workspace_packages();
    let here = members_here.iter().find(stands_here).copied();
    let root = here.or_else(|| metadata.root_package());
    // In the folder of the generated package, its crate is meant.
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
