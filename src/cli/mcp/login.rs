//! `glyphoxa mcp login`: logs a person in to a server.

use std::{io::IsTerminal, sync::Arc, time::Duration};

use clap::Args;

use super::super::{DONE, Failure, complain};
use crate::{
    config::Config,
    tools::connection::oauth::{CredentialStore, Loopback, authorizer, login_path},
};

#[derive(Args)]
#[command(after_help = "example: glyphoxa mcp login home")]
pub struct Arguments {
    /// Name of the server in glyphoxa.yaml.
    name: String,
    /// Print the address of the login page instead of opening a browser.
    #[arg(long)]
    no_open: bool,
    /// Longest wait for the login, in seconds.
    #[arg(long, value_name = "S", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
}

/// Opens the login and stores the token. Fails without such a server.
pub async fn run(config: &Config, arguments: &Arguments) -> Result<u8, Failure> {
    let servers = &config.mcp.servers;
    let Some(options) = servers.iter().find(|server| server.name == arguments.name) else {
        let known: Vec<&str> = servers.iter().map(|server| &*server.name).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let name = &arguments.name;
        return Err(Failure::Usage(format!(
            "unknown server '{name}' (servers under mcp.servers: {known})"
        )));
    };
    let path = login_path(&config.data_dir, &options.name);
    let authorizer =
        authorizer(options, |_| CredentialStore::at(path.clone())).map_err(Failure::usage)?;
    let opens = !arguments.no_open && std::io::stderr().is_terminal();
    let show = move |url: &str| {
        complain(&format!("log in here, then come back:\n{url}"));
        // The address is printed too, for users without a browser here.
        if opens && let Err(error) = browser::that_detached(url) {
            tracing::debug!(%error, "could not open a browser");
        }
    };
    let consent = Loopback::new(Duration::from_secs(arguments.timeout), show).await?;
    let authorizer = authorizer.with_consent(Arc::new(consent));
    authorizer.log_in().await?;
    complain(&format!(
        "logged in to '{}'; the login is stored in '{}'",
        options.name,
        path.display()
    ));
    Ok(DONE)
}
