//! `--listen` and `--join`: what holds for all harnesses of a command.

use cegar_engine::strategy::Strategy;
use cegar_fuzz::exchange::{Hub, probe};

use super::args::{BudgetArgs, ExchangeArgs};
use super::note;
use crate::config::RunConfig;
use crate::error::Error;
use crate::report::{Level, Reporter};

/// What a command has to do with other machines. The hub, if there is one, ends with it.
#[derive(Default)]
pub(super) struct Exchange {
    /// Where this command's campaigns join.
    pub join: Option<String>,
    _hub: Option<Hub>,
}

/// Begins to listen, or sees whether there is somebody to be joined: before the long part, for which nobody is to wait in vain.
pub(super) fn open(
    args: &ExchangeArgs,
    budget: &BudgetArgs,
    file: &RunConfig,
    reporter: &mut dyn Reporter,
) -> Result<Exchange, Error> {
    if args.listen.is_none() && args.join.is_none() {
        return Ok(Exchange::default());
    }
    if budget.runs.or(file.runs).is_some() {
        return Err(Error::usage(
            "with --runs nothing is exchanged: what comes from other machines is not the same each time",
            "leave out --listen and --join (CEGAR_LISTEN, CEGAR_JOIN), or use --max-time instead of --runs",
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
    let host = match at.ip().is_unspecified() {
        true => "ADDRESS-OF-THIS-MACHINE".to_owned(),
        false => at
            .to_string()
            .trim_end_matches(&format!(":{}", at.port()))
            .to_owned(),
    };
    let text = format!("other machines join with --join {host}:{}", at.port());
    note(reporter, Level::Info, text);
    if !at.ip().is_loopback() {
        let text = format!(
            "whoever reaches {at} can send inputs and read those that are found: there are no passwords"
        );
        note(reporter, Level::Warning, text);
    }
    Ok(Exchange {
        join: Some(hub.here().to_string()),
        _hub: Some(hub),
    })
}
