//! Shared setup of commands: configuration, runtime, tools.

use std::path::Path;

use super::{outcome::Failure, shown::complain};
use crate::{
    app::{self, Tools},
    config,
    tools::builtin,
};

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
