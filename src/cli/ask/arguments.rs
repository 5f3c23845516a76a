//! Arguments of `glyphoxa ask`. Entry types: [`Arguments`], [`Files`].

use std::path::PathBuf;

use clap::Args;

use super::{inputs::PLAYER, print::Form, terminal::Approve};
use crate::{config::Agreements, domain::Tier};

#[derive(Args)]
#[command(after_help = "examples:
  glyphoxa ask --text 'Bartok, roll two d six plus three'
  glyphoxa ask --in question.wav --out answer.wav --json
  glyphoxa ask --speaker Anna --in a.wav --speaker Ben --at 1.5 --in b.wav
  glyphoxa ask --assistant --text 'how does grappling work?'
  glyphoxa ask                      (type to the cast)")]
pub struct Arguments {
    /// Address this NPC with every input [default: the NPC named in it].
    #[arg(long)]
    pub npc: Option<String>,
    /// Recorded speech (WAV, FLAC, MP3, M4A, AAC, Ogg or WebM; up to 512 MiB and 2 hours; - reads stdin);
    /// may be repeated.
    #[arg(long = "in", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Written line, or a command such as '/npc mute Mira'; may be repeated.
    #[arg(long = "text", value_name = "TEXT")]
    pub texts: Vec<String>,
    /// Speaker of the following inputs, or of typed lines [default: Player].
    #[arg(long, value_name = "NAME")]
    pub speaker: Vec<String>,
    /// Start of the next input, in seconds; runs in real time.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub at: Vec<f64>,
    /// Speak as the game master, who may direct the NPCs.
    #[arg(long)]
    pub as_dm: bool,
    /// Ask the game master's assistant with each --text; it answers in writing.
    #[arg(long, requires = "texts", conflicts_with_all = ["files", "npc", "at", "out", "tier"])]
    pub assistant: bool,
    /// Continue this saved session, or start a new one.
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Save all replies as one recording: 48 kHz mono, 16-bit PCM.
    #[arg(long, value_name = "FILE.wav")]
    pub out: Option<PathBuf>,
    /// Play nothing aloud [default: play replies live, on a terminal].
    #[arg(long)]
    pub silent: bool,
    /// Tier of every turn, set by the game master.
    #[arg(long)]
    pub tier: Option<Tier>,
    /// Decide in advance on calls that need approval [default: ask, on a terminal].
    #[arg(long, value_name = "all|none")]
    pub approve: Option<Approve>,
    /// Feed sound at its own pace.
    #[arg(long)]
    pub realtime: bool,
    /// Print tools, tiers and times too.
    #[arg(long)]
    pub verbose: bool,
    /// Print one JSON object per turn.
    #[arg(long)]
    pub json: bool,
}

impl Arguments {
    /// The speaker of typed lines.
    pub fn typist(&self) -> &str {
        self.speaker.last().map_or(PLAYER, String::as_str)
    }

    pub const fn form(&self) -> Form {
        match (self.json, self.verbose) {
            (true, _) => Form::Json,
            (false, true) => Form::Everything,
            (false, false) => Form::Play,
        }
    }
}

/// Source of the configuration, and the effect of its changes.
pub struct Files<'a> {
    /// Named on the command line.
    pub path: Option<PathBuf>,
    /// The user's agreements.
    pub agreed: Agreements,
    /// Sets the level of the log.
    pub set_level: &'a (dyn Fn(&str) + Send + Sync),
}
