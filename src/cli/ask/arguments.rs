//! What `glyphoxa ask` is given.
//!
//! Entry types: [`Arguments`], [`Files`].

use std::path::PathBuf;

use clap::Args;

use super::{inputs::PLAYER, print::Form, terminal::Approve};
use crate::domain::Tier;

#[derive(Args)]
#[command(after_help = "examples:
  glyphoxa ask --text 'Bartok, roll two d six plus three'
  glyphoxa ask --in question.wav --out answer.wav --json
  glyphoxa ask --speaker Anna --in a.wav --speaker Ben --at 1.5 --in b.wav
  glyphoxa ask --assistant --text 'how does grappling work?'
  glyphoxa ask                      (type to the cast)")]
pub struct Arguments {
    /// Everything is said to this NPC [default: whoever is addressed].
    #[arg(long)]
    pub npc: Option<String>,
    /// A recording of somebody speaking (WAV, FLAC, MP3, M4A, AAC, Ogg or WebM; up to 512 MiB and 2
    /// hours; - reads stdin); may be repeated.
    #[arg(long = "in", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Something said in writing; may be repeated.
    #[arg(long = "text", value_name = "TEXT")]
    pub texts: Vec<String>,
    /// Who says what follows, or what is typed [default: Player].
    #[arg(long, value_name = "NAME")]
    pub speaker: Vec<String>,
    /// When the next input begins, in seconds; the clock then runs as for real.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub at: Vec<f64>,
    /// The speaker is the game master and may steer the NPCs by voice.
    #[arg(long)]
    pub as_dm: bool,
    /// The texts are questions of the game master to the assistant, answered in writing.
    #[arg(long, requires = "texts", conflicts_with_all = ["files", "npc", "at", "out", "tier"])]
    pub assistant: bool,
    /// Continue a kept session, or begin one with this name.
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// All replies as one recording: 48 kHz mono, 16-bit PCM.
    #[arg(long, value_name = "FILE.wav")]
    pub out: Option<PathBuf>,
    /// Play nothing aloud [default: heard while it is spoken, on a terminal].
    #[arg(long)]
    pub silent: bool,
    /// The game master's tier for every turn.
    #[arg(long)]
    pub tier: Option<Tier>,
    /// Decide calls that need the game master's approval beforehand [default: ask, on a terminal].
    #[arg(long, value_name = "all|none")]
    pub approve: Option<Approve>,
    /// Feed sound at its own pace.
    #[arg(long)]
    pub realtime: bool,
    /// Tools, tiers and times too; without it, only what is said.
    #[arg(long)]
    pub verbose: bool,
    /// One JSON object a turn.
    #[arg(long)]
    pub json: bool,
}

impl Arguments {
    /// The speaker of typed lines.
    pub fn typist(&self) -> &str {
        self.speaker.last().map_or(PLAYER, String::as_str)
    }

    /// What of each turn is shown.
    pub const fn form(&self) -> Form {
        match (self.json, self.verbose) {
            (true, _) => Form::Json,
            (false, true) => Form::Everything,
            (false, false) => Form::Play,
        }
    }
}

/// Where the configuration came from, and what follows when it changes.
pub struct Files<'a> {
    /// Named on the command line.
    pub path: Option<PathBuf>,
    /// Sets what is logged.
    pub set_level: &'a (dyn Fn(&str) + Send + Sync),
}
