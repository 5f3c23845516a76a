//! Arguments of `glyphoxa export`.
//!
//! Entry type: [`Arguments`].

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::super::whose::Whose;
use crate::{campaign::key_of, config::Config, domain::Scope};

#[derive(Args)]
#[command(after_help = "examples:
  glyphoxa export backup
  glyphoxa export evenings --transcripts md,vtt
  glyphoxa export people --cards --campaign 'Ghosts of Saltmarsh'
  glyphoxa import backup

The folder holds your secrets; only its parts 'transcripts' and 'cards' are for others.")]
pub struct Arguments {
    /// A new folder, or an empty one.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Campaign to export, by name [default: the configured one].
    #[arg(long, value_name = "NAME")]
    pub campaign: Option<String>,
    #[command(flatten)]
    whose: Whose,
    /// Add transcripts for players, without secrets and without people who opted out.
    #[arg(long, value_name = "FORMATS", value_delimiter = ',')]
    pub transcripts: Vec<Format>,
    /// Add each NPC as a character card, without its secrets.
    #[arg(long)]
    pub cards: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

impl Arguments {
    pub fn scope(&self, config: &Config) -> Scope {
        let scope = self.whose.scope(config);
        match &self.campaign {
            Some(name) => Scope { campaign: key_of(name), ..scope },
            None => scope,
        }
    }
}

/// Formats of a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Markdown, to read.
    Md,
    /// WebVTT, as subtitles.
    Vtt,
    /// JSON with speakers and times.
    Json,
}

impl Format {
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Md => "md",
            Self::Vtt => "vtt",
            Self::Json => "json",
        }
    }
}
