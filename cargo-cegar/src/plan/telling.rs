//! The messages while a build is captured.

use super::SourceList;
use crate::event::{Event, Level, Reporter};
use crate::project::Project;

/// Reports that `captured.json` differs from what the build compiles.
pub(super) fn tell_changed(project: &Project, wanted: SourceList<'_>, reporter: &mut dyn Reporter) {
    let (level, end) = match wanted {
        SourceList::CurrentIn(folder) => (
            Level::Warning,
            format!(
                "the list of now is in {}, and the committed tests are built from it here; `cargo \
                 cegar build` renews the committed one",
                folder.display()
            ),
        ),
        _ => (Level::Info, "it was captured again".to_owned()),
    };
    let message = format!(
        "the build of `{}` no longer compiles what {} says: {end}",
        project.name,
        project.cegar.join("captured.json").display()
    );
    reporter.event(&Event::Note { level, message });
}

/// Reports the progress of cargo while the build is captured.
pub(super) fn capturing<'a>(
    project: &'a Project,
    reporter: &'a mut dyn Reporter,
) -> impl FnMut(u64, &str) + use<'a> {
    |seconds, doing| {
        reporter.event(&Event::Capturing {
            package: project.name.clone(),
            doing: doing.to_owned(),
            seconds,
        });
    }
}
