//! Ctrl-C: the first one asks to stop, the second one forces it.
//!
//! The first one sets a flag that every loop polls, so that a campaign ends normally: findings and
//! corpus are on disk already, and the summary is printed. The second one ends the process at once,
//! in case a loop does not poll.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::ExitCode;

/// Installs the handler (SIGINT, SIGTERM, SIGHUP) and returns the flag that it sets. If the handler
/// cannot be installed, the flag never changes, and a signal ends the process as usual.
pub fn install() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let installed = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(ExitCode::Interrupted.code()));
        }
    });
    if let Err(why) = installed {
        tracing::warn!("no signal handler: {why}");
    }
    stop
}
