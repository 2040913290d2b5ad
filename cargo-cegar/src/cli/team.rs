//! The processes and machines that work on a command's harnesses: `--jobs`, and the other machines
//! of `--listen` and `--join`.

use cegar_fuzz::exchange::{Hub, probe};
use cegar_search::strategy::Strategy;

use clap::Args;

use super::args::BudgetArgs;
use super::note;
use crate::config::RunConfig;
use crate::error::Error;
use crate::event::{Level, Reporter};
use crate::options::RunOptions;

/// Processes here, and other machines.
#[derive(Debug, Default, Args)]
pub struct TeamArgs {
    /// Harnesses that run at a time, each in a process of its own; what is left over fuzzes the
    /// same harness, unless --runs is given [default: 1]
    #[arg(
        short,
        long,
        value_name = "N",
        env = "CEGAR_JOBS",
        hide_env_values = true,
        value_parser = jobs
    )]
    pub jobs: Option<usize>,
    /// Be the first of several machines: others join here. PORT alone: campaigns on this machine
    /// only. There are no passwords: use an address of a network that you trust
    #[arg(
        long,
        value_name = "[ADDRESS:]PORT",
        env = "CEGAR_LISTEN",
        hide_env_values = true,
        value_parser = address,
        conflicts_with = "join",
        help_heading = "Several machines"
    )]
    pub listen: Option<String>,
    /// Exchange inputs with the machine that was started with --listen, and with all that joined
    /// it. They work on the same build of the same harness; other harnesses and other builds are
    /// left out
    #[arg(
        long,
        value_name = "[HOST:]PORT",
        env = "CEGAR_JOIN",
        hide_env_values = true,
        value_parser = address,
        help_heading = "Several machines"
    )]
    pub join: Option<String>,
}

/// The connection of a command to other machines. The hub, if there is one, ends when this is
/// dropped.
#[derive(Default)]
pub(super) struct Exchange {
    /// The address that this command's campaigns join.
    join: Option<String>,
    _hub: Option<Hub>,
}

impl Exchange {
    /// Sets the number of jobs and the address to join in a command's options.
    pub fn apply(&self, args: &TeamArgs, options: &mut RunOptions) {
        options.jobs = args.jobs.unwrap_or(1);
        options.settings.join.clone_from(&self.join);
    }
}

/// Starts to listen, or tests whether joining works. This is done before the long part, which would
/// be in vain if it fails.
pub(super) fn open(
    args: &TeamArgs,
    budget: &BudgetArgs,
    file: &RunConfig,
    reporter: &mut dyn Reporter,
) -> Result<Exchange, Error> {
    if args.listen.is_none() && args.join.is_none() {
        return Ok(Exchange::default());
    }
    if budget.runs.or(file.runs).is_some() {
        return Err(Error::usage(
            "with --runs nothing is exchanged: what comes from other machines is not the same each \
             time",
            "leave out --listen and --join (CEGAR_LISTEN, CEGAR_JOIN), or use --max-time instead \
             of --runs",
        ));
    }
    let strategy = budget.strategy.or(file.strategy).unwrap_or_default();
    if strategy != Strategy::Auto {
        return Err(Error::usage(
            format!("the strategy `{strategy}` works alone: it has nothing to exchange"),
            "leave out --listen and --join, or say --strategy auto",
        ));
    }
    if let Some(address) = &args.join {
        probe(address).map_err(Error::exchange)?;
        return Ok(Exchange {
            join: Some(address.clone()),
            _hub: None,
        });
    }
    let address = args.listen.as_deref().unwrap_or_default();
    let me = std::env::current_exe().map_err(|why| Error::io("find", "cargo-cegar", why))?;
    let hub = Hub::start(&me, address).map_err(Error::exchange)?;
    let at = hub.address();
    let join = match at.ip().is_unspecified() {
        true => format!("ADDRESS-OF-THIS-MACHINE:{}", at.port()),
        false => at.to_string(),
    };
    let text = format!("other machines join with --join {join}");
    note(reporter, Level::Info, text);
    if !at.ip().is_loopback() {
        let text = format!(
            "whoever reaches {at} can send inputs and read those that are found: there are no \
             passwords"
        );
        note(reporter, Level::Warning, text);
    }
    Ok(Exchange {
        join: Some(hub.here().to_string()),
        _hub: Some(hub),
    })
}

/// The largest number of jobs, since each has its own processes and threads.
const MOST_JOBS: usize = 1024;

fn jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(jobs) if (1..=MOST_JOBS).contains(&jobs) => Ok(jobs),
        _ => Err(format!("a number from 1 to {MOST_JOBS}")),
    }
}

/// Normalises `HOST:PORT`, `[V6]:PORT` or `PORT` to `HOST:PORT`.
fn address(text: &str) -> Result<String, String> {
    let (host, port) = text.rsplit_once(':').unwrap_or(("127.0.0.1", text));
    let whole = !host.is_empty() && (!host.contains(':') || host.starts_with('['));
    match port.parse::<u16>() {
        Ok(port) if whole => Ok(format!("{host}:{port}")),
        _ => Err("an address and a port, as 192.168.1.7:4242 or [::1]:4242, or a port".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_as_people_write_them() {
        let known = |text: &str| address(text).ok();
        assert_eq!(known("4242").as_deref(), Some("127.0.0.1:4242"));
        assert_eq!(known("host.local:1").as_deref(), Some("host.local:1"));
        assert_eq!(known("[::1]:0").as_deref(), Some("[::1]:0"));
        for wrong in ["", ":", ":1", "host", "host:", "host:65536", "::1", "a:b:1"] {
            assert_eq!(known(wrong), None, "{wrong}");
        }
    }
}
