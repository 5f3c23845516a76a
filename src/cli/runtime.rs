//! Shared setup of commands: the configuration, a runtime, the tools, the log.
//!
//! Entry functions: [`load`], [`block_on`], [`with_tools`], [`log_to_stderr`]. **Never**: knows which
//! command runs.

use std::{
    io::{self, IsTerminal, Write},
    path::Path,
};

use tracing_subscriber::{EnvFilter, layer::SubscriberExt, reload, util::SubscriberInitExt};

use super::{outcome::Failure, shown::complain, stored};
use crate::{
    app::{self, Tools},
    config,
    domain::{redact, revealed},
    tools::builtin,
};

/// The checked configuration, or every problem of every file. Closes files that an earlier version has left
/// readable to other users.
pub fn load(path: Option<&Path>) -> Result<config::Config, Failure> {
    let config =
        config::load(path, &config::environment, builtin::IDENTITIES).map_err(Failure::usage)?;
    for warning in config.unread().into_iter().chain(config.shared_data()) {
        complain(&format!("note: {warning}"));
    }
    stored::close(&config.data_dir);
    Ok(config)
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

/// Standard error, without what the configuration keeps secret: what other programs and servers say is
/// logged too, and they may repeat what they were given, or act on a terminal.
struct Cleaned;

impl Write for Cleaned {
    /// A line comes whole.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        let text = redact::known(&text);
        // Colours are the log's own: it escapes those of others.
        let parts: Vec<String> = text.split('\u{1b}').map(revealed).collect();
        io::stderr().write_all(parts.join("\u{1b}").as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
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
        .with_writer(|| Cleaned);
    // A second start in one process keeps the first subscriber.
    let _ = tracing_subscriber::registry().with(chosen).with(lines).try_init();
    move |level| {
        if !is_fixed {
            // A subscriber that is gone logs nothing anyway.
            let _ = handle.reload(filter(level));
        }
    }
}
