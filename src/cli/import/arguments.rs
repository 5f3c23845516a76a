//! Arguments of `glyphoxa import`.
//!
//! Entry type: [`Arguments`].

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::super::whose::Whose;
use crate::{campaign::key_of, config::Config, domain::Scope};

#[derive(Args)]
#[command(after_help = "examples:
  glyphoxa import campaigns/ravenford.yaml
  glyphoxa import people.yaml places.yaml --dry-run
  glyphoxa import luna.png vault/ world.zip --dry-run
  glyphoxa import captain.json --secrets npc
  glyphoxa import backup
  glyphoxa import saltmarsh.yaml --campaign 'Ghosts of Saltmarsh'

docs/import.md names the programs, and how to export from them.")]
pub struct Arguments {
    /// Campaign files, or files, folders and ZIPs of other programs: character cards, Foundry VTT, Roll20,
    /// Markdown notes; imports all or none. A folder of `glyphoxa export` comes alone.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Campaign to import into, by name [default: the configured one, an export's own].
    #[arg(long, value_name = "NAME")]
    pub campaign: Option<String>,
    #[command(flatten)]
    whose: Whose,
    /// Readers of texts that a file marks as secret.
    #[arg(long, value_name = "WHO", default_value = "dm")]
    pub secrets: Secrets,
    /// Only print the changes.
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

impl Arguments {
    /// The scope that an export names, unless options name another.
    pub fn scope_of(&self, export: Scope) -> Scope {
        let owner = self.whose.owner().unwrap_or(export.owner);
        let campaign = self.campaign.as_deref().map_or(export.campaign, key_of);
        Scope { owner, campaign }
    }

    pub fn scope(&self, config: &Config) -> Scope {
        let scope = self.whose.scope(config);
        match &self.campaign {
            Some(name) => Scope { campaign: key_of(name), ..scope },
            None => scope,
        }
    }
}

/// Readers of texts that a file marks as secret.
#[derive(Clone, Copy, ValueEnum)]
pub enum Secrets {
    /// Only you.
    Dm,
    /// The NPC itself, in its own prompt.
    Npc,
}

impl Secrets {
    pub const fn is_of_npc(self) -> bool {
        matches!(self, Self::Npc)
    }
}
