//! Shared setup and results of commands: configuration, runtime, tools, exit status.

use std::{fmt, io, path::Path};

use super::shown::complain;
use crate::{
    app::{self, Tools},
    config,
    tools::builtin,
};

/// Exit status of success.
pub const DONE: u8 = 0;
/// Exit status of a failure.
pub const FAILED: u8 = 1;
/// Exit status of wrong usage or configuration.
pub const WRONG: u8 = 2;

#[derive(Debug)]
pub enum Failure {
    /// Wrong usage or configuration.
    Usage(String),
    /// A failed attempt.
    Failed(anyhow::Error),
}

impl Failure {
    pub fn usage(why: impl fmt::Display) -> Self {
        Self::Usage(why.to_string())
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// The reader of our output has closed the pipe (`glyphoxa … | head`).
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// The checked configuration. Makes files private that an earlier version left readable.
pub fn load(path: Option<&Path>) -> Result<config::Config, Failure> {
    let config =
        config::load(path, &config::environment, builtin::IDENTITIES).map_err(Failure::usage)?;
    for warning in config.unread().into_iter().chain(config.shared_data()) {
        complain(&format!("note: {warning}"));
    }
    config::close_stored(&config.data_dir);
    Ok(config)
}

/// Runs `work` on its own runtime. Does not wait for recognisers and voices in use.
pub fn block_on(work: impl Future<Output = Result<u8, Failure>>) -> Result<u8, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let status = runtime.block_on(work);
    runtime.shutdown_background();
    status
}

/// Opens the tools of `config` while `work` runs.
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
