//! `cargo cegar init --ci SYSTEM`: writes the files for continuous integration.

use std::sync::atomic::AtomicBool;

use super::args::{CiSystem, GlobalArgs, InitArgs};
use super::note;
use super::run::open;
use crate::emit::{for_everyone, only_here};
use crate::error::Error;
use crate::event::{Fan, Level};
use crate::init::ci;
use crate::plan::{self, SourceList};
use crate::store;

/// Writes the files for each named system.
pub(super) fn init_ci(
    global_args: &GlobalArgs,
    args: &InitArgs,
    fan: &mut Fan,
    stop: &AtomicBool,
) -> Result<(), Error> {
    for system in &args.ci {
        // The package is opened again, since it includes what `init` has just written.
        let (project, config) = open(global_args)?;
        let done = match system {
            CiSystem::Github => ci::github(&project)?,
            CiSystem::Clusterfuzzlite => {
                let scratch = project.scratch();
                store::writable_dir(&scratch)?;
                let library = plan::library(&project, &config, SourceList::Current, fan, stop)?;
                let stubs = plan::stub_headers(&scratch)?;
                let harnesses = plan::harnesses(&project, &config, &[], &library, &stubs)?;
                ci::clusterfuzzlite(&project, &harnesses)?
            }
        };
        let here = std::env::current_dir().unwrap_or_default();
        let show = |path: &std::path::PathBuf| {
            let path = path.strip_prefix(&here).unwrap_or(path);
            path.display().to_string()
        };
        for path in &done.written {
            note(fan, Level::Info, format!("wrote {}", show(path)));
        }
        for path in &done.kept {
            let text = format!("kept {}, which was there", show(path));
            note(fan, Level::Info, text);
        }
        if matches!(system, CiSystem::Github)
            && let Some(folder) = only_here(&project.cegar)
        {
            let text = format!(
                "the build there has no {}, where Cargo.toml of `{}` takes cegar-harness from: \
                 change that line to cegar-harness = {}",
                folder.display(),
                project.cegar_name(),
                for_everyone()
            );
            note(fan, Level::Warning, text);
        }
        for what in &done.left_out {
            note(fan, Level::Warning, format!("left out {what}"));
        }
    }
    Ok(())
}
