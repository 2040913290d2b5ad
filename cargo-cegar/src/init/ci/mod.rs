//! Writes files for continuous integration: a workflow for GitHub, and the files for
//! ClusterFuzzLite.
//!
//! They are written once and belong to the user from then on, like everything that `init` writes.
//! The workflow installs the tool with its own set-up command, so that the versions are defined in
//! one place. ClusterFuzzLite has its own engines and sanitizers and does not support mock
//! environments. It can use harnesses with `LLVMFuzzerTestOneInput`; the others are reported and
//! left out.

mod clusterfuzzlite;

use std::path::{Path, PathBuf};

use crate::capture::relative;
use crate::error::Error;
use crate::options::Harness;
use crate::project::Project;
use crate::store;

const GITHUB: &str = include_str!("github.yml");

/// The result of writing the files.
#[derive(Clone, Debug, Default)]
pub struct Done {
    /// The files that were written.
    pub written: Vec<PathBuf>,
    /// The files that existed already and were kept.
    pub kept: Vec<PathBuf>,
    /// The harnesses that are left out, with the reasons.
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

/// The root folder of the repository: the one with `.git`, or else the workspace.
pub fn repository(project: &Project) -> PathBuf {
    let mut above = project.workspace.ancestors();
    let found = above.find(|folder| folder.join(".git").exists());
    found.unwrap_or(&project.workspace).to_owned()
}

/// Writes the GitHub workflow.
pub fn github(project: &Project) -> Result<Done, Error> {
    let mut done = Done::default();
    let root = repository(project);
    let path = root.join(".github/workflows/cegar.yml");
    done.write(path, &workflow(project, &root))?;
    Ok(done)
}

fn workflow(project: &Project, root: &Path) -> String {
    // The workflow runs in the workspace, where cargo finds every member and the target folder.
    let folder = below(&project.workspace, root);
    let prefix = match folder.as_str() {
        "." => String::new(),
        folder => format!("{folder}/"),
    };
    let target = below(&project.target, root);
    // The user's target folder may lie outside the repository; the build in CI does not use it
    // then.
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

/// A folder relative to the root of the repository, `.` for the root itself.
fn below(folder: &Path, root: &Path) -> String {
    let path = relative(folder, root, root).to_string_lossy().into_owned();
    match path.as_str() {
        "" => ".".to_owned(),
        _ => path,
    }
}

/// Writes the files with which ClusterFuzzLite builds the harnesses.
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
