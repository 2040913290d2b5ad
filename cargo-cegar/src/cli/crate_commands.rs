//! Commands on a crate.
use std::sync::atomic::AtomicBool;

use super::args::{BuildArgs, InitArgs, Manners, ReplayArgs, RunArgs};
use crate::error::Error;
use crate::exit::ExitCode;

fn later() -> Result<ExitCode, Error> {
    Err(Error::engine(
        "this command",
        "it is not part of this build",
    ))
}
pub(super) fn run(_: &Manners, _: &RunArgs, _: &AtomicBool) -> Result<ExitCode, Error> {
    later()
}
pub(super) fn replay(_: &Manners, _: &ReplayArgs, _: &AtomicBool) -> Result<ExitCode, Error> {
    later()
}
pub(super) fn init(_: &Manners, _: &InitArgs) -> Result<ExitCode, Error> {
    later()
}
pub(super) fn build(_: &Manners, _: &BuildArgs, _: &AtomicBool) -> Result<ExitCode, Error> {
    later()
}
pub(super) fn list(_: &Manners) -> Result<ExitCode, Error> {
    later()
}
