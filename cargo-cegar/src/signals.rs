//! Ctrl-C: the first asks, the second insists.
//!
//! The first sets a flag that every loop polls, so that a campaign ends the normal way: findings
//! and corpus are on disk already, the table is printed. The second ends the process at once, for
//! when a loop does not poll.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::ExitCode;

/// Installs the handler (SIGINT, SIGTERM, SIGHUP) and gives the flag that it sets. Where a handler
/// cannot be installed the flag just never changes, and the signal ends the process as usual.
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
