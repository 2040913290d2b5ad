//! Files for continuous integration: a workflow for GitHub, and what ClusterFuzzLite wants.
//!
//! They are written once and are the user's then, as everything that `init` writes. The workflow
//! installs the tool as its own set-up does, so that versions stand in one place. ClusterFuzzLite
//! brings engines and sanitizers of its own: of a harness it can use `LLVMFuzzerTestOneInput`, and
//! knows nothing of mocks, so the others are named and left out.

mod clusterfuzzlite;

use std::path::{Path, PathBuf};

use crate::capture::relative;
use crate::error::Error;
use crate::options::Harness;
use crate::project::Project;
use crate::store;

const GITHUB: &str = include_str!("github.yml");

/// What was done.
#[derive(Clone, Debug, Default)]
pub struct Done {
    /// Files that were written.
    pub written: Vec<PathBuf>,
    /// Files that were there already.
    pub kept: Vec<PathBuf>,
    /// What is left out, and why.
    pub left_out: Vec<String>,
}

impl Done {
    fn write(&mut self, path: PathBuf, text: &str) -> Result<(), Error> {
        if let Some(folder) = path.parent() {
            store::writable_dir(folder)?;
        }
        match store::write_new(&path, text.as_bytes())? {
            true => self.written.push(path),
            false => self.kept.push(path),
        }
        Ok(())
    }
}

/// The folder that the repository starts in: where `.git` is, else the workspace.
pub fn repository(project: &Project) -> PathBuf {
    let mut above = project.workspace.ancestors();
    let found = above.find(|folder| folder.join(".git").exists());
    found.unwrap_or(&project.workspace).to_owned()
}

/// Writes the workflow.
pub fn github(project: &Project) -> Result<Done, Error> {
    let mut done = Done::default();
    let root = repository(project);
    let path = root.join(".github/workflows/cegar.yml");
    done.write(path, &workflow(project, &root))?;
    Ok(done)
}

fn workflow(project: &Project, root: &Path) -> String {
    // From the workspace: there cargo finds every member, and its target folder.
    let folder = below(&project.workspace, root);
    let prefix = match folder.as_str() {
        "." => String::new(),
        folder => format!("{folder}/"),
    };
    let target = below(&project.target, root);
    // The user's target folder need not be that of the build.
    let target = match Path::new(&target).is_absolute() || target.starts_with("..") {
        true => format!("{prefix}target"),
        false => target,
    };
    let option = match project.root == project.workspace {
        true => String::new(),
        false => format!(" -p {}", project.name),
    };
    GITHUB
        .replace("@PACKAGE@", &project.name)
        .replace("@PACKAGE_OPTION@", &option)
        .replace("@VERSION@", env!("CARGO_PKG_VERSION"))
        .replace("@REPOSITORY@", env!("CARGO_PKG_REPOSITORY"))
        .replace("@FOLDER@", &folder)
        .replace("@PREFIX@", &prefix)
        .replace("@SCRATCH@", &format!("{target}/{}", project.scratch_name()))
        .replace("@TESTS@", &below(&project.cegar, root))
}

/// A folder as seen from the repository's, `.` for that itself.
fn below(folder: &Path, root: &Path) -> String {
    let path = relative(folder, root, root).to_string_lossy().into_owned();
    match path.as_str() {
        "" => ".".to_owned(),
        _ => path,
    }
}

/// Writes what ClusterFuzzLite builds the harnesses with.
pub fn clusterfuzzlite(project: &Project, harnesses: &[Harness]) -> Result<Done, Error> {
    let root = repository(project);
    let files = clusterfuzzlite::files(project, &root, harnesses);
    let mut done = Done {
        left_out: files.left_out,
        ..Done::default()
    };
    let folder = root.join(".clusterfuzzlite");
    done.write(folder.join("Dockerfile"), &files.dockerfile)?;
    done.write(folder.join("project.yaml"), &files.project)?;
    let script = folder.join("build.sh");
    let new = !script.exists();
    done.write(script.clone(), &files.build)?;
    if new {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755))
            .map_err(|why| Error::io("make executable", &script, why))?;
    }
    done.write(root.join(".github/workflows/cflite.yml"), &files.workflow)?;
    Ok(done)
}
