//! Whose things a command is about.
//!
//! Entry type: [`Whose`].

use clap::Args;

use crate::{
    app,
    config::Config,
    domain::{Owner, Scope},
};

/// Whose things a command is about.
#[derive(Args)]
pub struct Whose {
    /// What is kept of this Discord server, by its id [default: what is kept of this machine's own
    /// sessions].
    #[arg(long, value_name = "ID", global = true)]
    guild: Option<u64>,
}

impl Whose {
    /// The configured campaign, as it is played there.
    pub fn scope(&self, config: &Config) -> Scope {
        let owner = self.guild.map_or(Owner::Local, Owner::Guild);
        Scope { owner, ..app::local_scope(config) }
    }
}
