//! What commands run on: the configuration, a runtime, the tools, the log.
//!
//! Entry functions: [`load`], [`block_on`], [`with_tools`], [`log_to_stderr`]. **Never**: knows which
//! command runs.

use std::io::{self, IsTerminal};

use tracing_subscriber::{EnvFilter, layer::SubscriberExt, reload, util::SubscriberInitExt};

use super::outcome::Failure;
use crate::{
    app::{self, Tools},
    config,
    tools::builtin,
};

/// The checked configuration, or every problem of every file.
pub fn load(path: Option<&std::path::Path>) -> Result<config::Config, Failure> {
    config::load(path, &config::environment, builtin::IDENTITIES)
        .map_err(|report| Failure::Usage(report.to_string()))
}

/// Runs `work` on a runtime of its own. Recognisers and voices that are still at work then are not
/// waited for.
pub fn block_on(work: impl Future<Output = Result<u8, Failure>>) -> Result<u8, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let status = runtime.block_on(work);
    runtime.shutdown_background();
    status
}

/// Opens the tools of `config` for as long as `work` wants them.
pub fn with_tools(
    config: &config::Config,
    work: impl AsyncFnOnce(&Tools) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    block_on(async {
        let tools = app::open_tools(config, app::Playing::Here(None), rand::random(), None)?;
        let status = work(&tools).await;
        tools.close().await;
        status
    })
}

/// Logs to stderr from `level` on; what comes back sets another level.
pub fn log_to_stderr(level: &str) -> impl Fn(&str) + Send + Sync + use<> {
    let filter =
        |level: &str| EnvFilter::new(format!("warn,rmcp=off,songbird=error,glyphoxa={level}"));
    let by_environment = EnvFilter::try_from_default_env().ok();
    let is_fixed = by_environment.is_some();
    let (chosen, handle) = reload::Layer::new(by_environment.unwrap_or_else(|| filter(level)));
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(io::stderr().is_terminal())
        .with_writer(io::stderr);
    // A second start in one process keeps the first subscriber.
    let _ = tracing_subscriber::registry().with(chosen).with(lines).try_init();
    move |level| {
        if !is_fixed {
            // A subscriber that is gone logs nothing anyway.
            let _ = handle.reload(filter(level));
        }
    }
}
