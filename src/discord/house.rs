//! What the bot needs of the program around it.
//!
//! Entry type: [`House`]. **Never**: knows how a table is put together.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::{sync::mpsc, task::JoinHandle};

use crate::{
    audio::Frame,
    campaign::{
        AddedServer, Fact, FactId, ForgetRequest, GuildSettings, PlayedCampaign, Services, Verdict,
        WaitingFacts, WantedFacts, WorldAnswer, WorldOrder,
    },
    domain::{Campaign, Npc, SessionId},
    logic::dice::{DiceError, Outcome},
    session::{Kept, Pace, TableEvent, TableHandle, TurnLine, VoiceOut},
    tools::{
        CastChanges, Effects, Report, ToolHost,
        connection::{ServerOptions, Servers},
    },
};

/// What a table is opened with.
pub struct Opening {
    /// The play session.
    pub session: SessionId,
    /// The guild it is played in.
    pub guild: u64,
    /// The session whose conversations it goes on from.
    pub after: Option<SessionId>,
    /// Where speech goes.
    pub out: Box<dyn VoiceOut>,
    /// How fast it goes there.
    pub pace: Pace,
    /// What tools may do to the table.
    pub effects: Arc<dyn Effects>,
    /// Where lines and notices go.
    pub events: mpsc::Sender<TableEvent>,
    /// What the game master has changed about the NPCs' tools.
    pub tools: CastChanges,
    /// The campaign; `None`: the one that is configured.
    pub campaign: Option<PlayedCampaign>,
}

/// Which recap is wanted.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The guild.
    pub guild: u64,
    /// The session; `None`: the guild's last.
    pub session: Option<String>,
    /// With what only game masters may see.
    pub for_dm: bool,
    /// A model may be paid for it; otherwise what is there already, or an extract.
    pub paid: bool,
}

/// What the assistant has written.
#[derive(Clone, Debug)]
pub struct Written {
    /// The answer.
    pub text: String,
    /// Identities of the tools it called.
    pub tools: Vec<String>,
}

/// A table that runs.
pub struct Opened {
    /// How it is reached.
    pub handle: TableHandle,
    /// Its task.
    pub task: JoinHandle<Kept>,
    /// The NPCs at it, in the order of its seats.
    pub cast: Vec<Arc<Npc>>,
}

/// The program around the bot.
pub trait House: Send + Sync + 'static {
    /// A name for a session of a guild that begins now.
    fn name_session(&self, guild: u64) -> SessionId;

    /// What a guild has set. What cannot be read is said in one line.
    fn settings(&self, guild: u64) -> BoxFuture<'static, Result<GuildSettings, String>>;

    /// Keeps what a guild has set, on a disk; of two that are kept at once the later revision stays.
    /// What cannot be kept is said in one line.
    fn keep_settings(
        &self,
        guild: u64,
        settings: GuildSettings,
    ) -> BoxFuture<'static, Result<(), String>>;

    /// Opens a table. What cannot be is said in one line.
    fn open(&self, opening: Opening) -> BoxFuture<'static, Result<Opened, String>>;

    /// Writes down what was said and what a turn called. What cannot be is logged.
    fn record(&self, session: &SessionId, line: &TurnLine);

    /// Takes back what was written down of these turns, by their numbers.
    fn take_back(&self, session: &SessionId, turns: &[u64]);

    /// Keeps what is worth keeping of a closed table.
    fn keep(&self, session: &SessionId, kept: Kept) -> BoxFuture<'static, Result<(), String>>;

    /// Everything `user` has said, as text for them. What cannot be read is said in one line.
    fn own_lines(&self, user: u64) -> BoxFuture<'static, Result<String, String>>;

    /// Forgets a person's lines and what was derived from them, in tables that run too; how many
    /// lines there were. What cannot be is said in one line.
    fn forget(&self, what: ForgetRequest) -> BoxFuture<'static, Result<u64, String>>;

    /// What happened in a session, as text. What cannot be is said in one line. Cancel safe.
    fn recap(&self, wish: Wish) -> BoxFuture<'static, Result<String, String>>;

    /// What follows the session when it is kept: its summary, and the facts that are proposed of it
    /// and wait now. Taken before [`Self::keep`], which closes its purse; asks a model when it is
    /// awaited. Nothing where nothing is to be proposed; what cannot be is said in one line. Cancel
    /// safe.
    fn consolidate(&self, session: &SessionId) -> BoxFuture<'static, Result<Vec<Fact>, String>>;

    /// Facts that wait for the game master. What cannot be read is said in one line.
    fn waiting(&self, wanted: WantedFacts) -> BoxFuture<'static, Result<WaitingFacts, String>>;

    /// A fact, whatever became of it. What cannot be read is said in one line.
    fn fact(&self, id: FactId) -> BoxFuture<'static, Result<Fact, String>>;

    /// Decides about a fact that waits; the fact, and whether it had waited: what was decided before
    /// stays. What cannot be is said in one line.
    fn decide(
        &self,
        id: FactId,
        verdict: Verdict,
    ) -> BoxFuture<'static, Result<(Fact, bool), String>>;

    /// The NPCs, as configured now.
    fn cast(&self) -> Vec<Arc<Npc>>;

    /// Throws what `text` says, in dice notation or in words. What cannot be thrown is said in one
    /// line.
    ///
    /// # Errors
    /// Where the text is no dice, and why.
    fn roll(&self, text: &str) -> Result<Outcome, DiceError>;

    /// The world.
    fn campaign(&self) -> Arc<Campaign>;

    /// Does `order` in the world of `played`, or of the configured campaign. What is wrong with it is
    /// said, a problem a line.
    fn world(
        &self,
        played: Option<PlayedCampaign>,
        order: WorldOrder,
    ) -> BoxFuture<'static, Result<WorldAnswer, String>>;

    /// The tools.
    fn tools(&self) -> &ToolHost;

    /// The servers behind them.
    fn servers(&self) -> &Servers;

    /// What the program works with.
    fn services(&self) -> Services;

    /// What a session may spend; `None`: no cap.
    fn session_cap(&self) -> Option<f64>;

    /// Has the assistant answer a question of the game master, paid for by `session`; `effects` is
    /// what its tools reach. Why there is no answer is said in one line. Cancel safe.
    fn ask(
        &self,
        session: Option<&SessionId>,
        text: String,
        effects: Arc<dyn Effects>,
    ) -> BoxFuture<'static, Result<Written, String>>;

    /// How a server that was added is reached. What is wrong with it is said, a problem a line.
    ///
    /// # Errors
    /// What is wrong with it, with the way out.
    fn server(&self, name: &str, added: &AddedServer) -> Result<ServerOptions, String>;

    /// Measured figures of tools; reads a file.
    fn figures(&self) -> Report;

    /// `text` in a voice that is nobody's, to the end; what cannot be is said in one line.
    fn announce(&self, text: String) -> BoxFuture<'static, Result<Vec<Frame>, String>>;
}
