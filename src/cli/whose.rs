//! Options for the owner of a command's data. Entry type: [`Whose`].

use clap::Args;

use crate::{
    app,
    config::Config,
    domain::{Owner, Scope},
};

/// Options for the owner of the data that a command uses.
#[derive(Args)]
pub struct Whose {
    /// Use the data of this Discord server [default: of the sessions on this machine].
    #[arg(long, value_name = "ID", global = true)]
    guild: Option<u64>,
}

impl Whose {
    /// The server of the option.
    pub fn owner(&self) -> Option<Owner> {
        self.guild.map(Owner::Guild)
    }

    /// The owner's scope of the configured campaign.
    pub fn scope(&self, config: &Config) -> Scope {
        let owner = self.guild.map_or(Owner::Local, Owner::Guild);
        Scope { owner, ..app::local_scope(config) }
    }
}
