//! What was said, line by line.
//!
//! Entry trait: [`Transcript`]. **Never**: changes a line that stands, other than by withdrawing or
//! forgetting it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CampaignKey, StoreFuture, Viewer, Visibility};

/// The identity of an utterance, made before it is first written: 1 to 64 characters, unlike any
/// other in any session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Uid(pub String);

/// A play session. What is `None` or empty leaves what is there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its name, of the campaign.
    pub id: String,
    /// The guild it was played in.
    pub guild: Option<u64>,
    /// What people call it.
    pub title: Option<String>,
    /// Unix time in ms.
    pub started: Option<i64>,
    /// Unix time in ms; `None` while it goes on.
    pub ended: Option<i64>,
    /// What happened, in a few sentences that players may read.
    pub summary: Option<String>,
}

/// A session and what there is of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEntry {
    /// The session.
    #[serde(flatten)]
    pub session: Session,
    /// Its lines, without withdrawn and forgotten ones.
    pub lines: u64,
    /// Those of them that no chunk holds yet.
    pub unindexed: u64,
    /// When its last line was said, in Unix time in ms.
    pub last_at: Option<i64>,
}

/// Which sessions.
#[derive(Clone, Debug, Default)]
pub struct SessionFilter {
    /// The one of this id.
    pub id: Option<String>,
    /// Those of a guild.
    pub guild: Option<u64>,
    /// At most so many, the latest; 0: all.
    pub limit: usize,
}

/// Someone who heard a line.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Present {
    /// As the table calls it.
    pub name: String,
    /// A player's identity; `None`: an NPC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player: Option<String>,
}

/// Something said, as it is first written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Utterance {
    /// Its identity.
    pub uid: Uid,
    /// The session's id.
    pub session: String,
    /// The turn at the table it belongs to, from 1.
    pub turn: u64,
    /// When it began, in Unix time in ms.
    pub at: i64,
    /// How long it lasted, in ms.
    pub duration: u64,
    /// The player's identity; `None`: an NPC said it.
    pub speaker_id: Option<String>,
    /// Who said it, as the table calls them.
    pub speaker: String,
    /// Whom the player plays.
    pub character: Option<String>,
    /// Of a player's line: who was addressed. Of an NPC's: itself.
    pub npc: Option<String>,
    /// As it was heard, names corrected.
    pub text: String,
    /// As the recogniser gave it; `None`: the same.
    pub raw: Option<String>,
    /// Who heard it.
    pub present: Vec<Present>,
    /// What became of it.
    pub outcome: String,
    /// Tool calls it led to: a JSON array, or null.
    pub tools: Value,
    /// Who may see it.
    pub visibility: Visibility,
}

impl Utterance {
    /// Who said it, as NPCs know them: the character, else the speaker.
    pub fn who(&self) -> &str {
        self.character.as_ref().unwrap_or(&self.speaker)
    }
}

/// A written line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TranscriptLine {
    /// Its number in the session, from 1, without gaps; given by the store.
    pub seq: u64,
    /// What it says. Of a withdrawn or forgotten one: nothing.
    #[serde(flatten)]
    pub said: Utterance,
    /// It was taken back; only its place is left.
    pub withdrawn: bool,
}

/// Which part of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pick {
    /// All of it.
    #[default]
    All,
    /// Lines `from` to `to`, both included.
    Range {
        /// The first.
        from: u64,
        /// The last.
        to: u64,
    },
    /// Those that no chunk holds yet.
    Unindexed,
}

/// Which lines, in the order they were said.
#[derive(Clone, Debug, Default)]
pub struct LineFilter {
    /// Of one session; `None`: of all.
    pub session: Option<String>,
    /// Which part.
    pub pick: Pick,
    /// Of one player, by identity.
    pub player: Option<String>,
    /// Places of withdrawn and forgotten lines too.
    pub gaps: bool,
    /// At most so many, the last (of unindexed ones: the first); 0: all.
    pub limit: usize,
}

/// A ranked search.
#[derive(Clone, Debug, Default)]
pub struct LineQuery {
    /// Words, as somebody types or says them; one of them suffices.
    pub text: String,
    /// Within one session.
    pub session: Option<String>,
    /// Said at or after this Unix time in ms.
    pub from: Option<i64>,
    /// Said before this Unix time in ms.
    pub to: Option<i64>,
    /// Said by: name of a player, a character or an NPC, or a player's identity; case is nothing.
    pub speaker: Option<String>,
    /// At most so many.
    pub limit: usize,
}

/// A line found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LineHit {
    /// The line.
    #[serde(flatten)]
    pub line: TranscriptLine,
    /// The higher the better; comparable within one answer.
    pub score: f64,
}

/// What is forgotten for good, with what was derived from it.
#[derive(Clone, Debug)]
pub enum Forget {
    /// A player, by identity: their lines (the places stay), and that they were there.
    Player(String),
    /// A session.
    Session(String),
    /// Sessions whose last line was said before this Unix time in ms.
    Before(i64),
}

/// What was forgotten or withdrawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    /// Sessions.
    pub sessions: u64,
    /// Lines.
    pub lines: u64,
    /// Items and relations that came from them.
    pub derived: u64,
}

/// How many there are of something, and of what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Of what ("npc", "chunk", a model).
    pub of: String,
    /// How many.
    pub count: u64,
}

/// How much there is of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Sessions.
    pub sessions: u64,
    /// Lines, without withdrawn and forgotten ones.
    pub lines: u64,
    /// Items by kind.
    pub items: Vec<Count>,
    /// Vectors by model.
    pub vectors: Vec<Count>,
    /// Entities by type.
    pub entities: Vec<Count>,
    /// Relations.
    pub relations: u64,
}

/// The first layer: append-only lines.
pub trait Transcript: Send + Sync {
    /// Opens a session, or changes what is given of it.
    fn put_session<'a>(
        &'a self,
        campaign: &'a CampaignKey,
        session: Session,
    ) -> StoreFuture<'a, ()>;

    /// Writes lines in their order, and the sessions they name where there are none; gives their
    /// numbers. A line whose uid is there already is not written again and gives the number it has.
    /// Once this has answered they outlast a crash and a power cut; before, all of them or none.
    fn append<'a>(
        &'a self,
        campaign: &'a CampaignKey,
        lines: Vec<Utterance>,
    ) -> StoreFuture<'a, Vec<u64>>;

    /// Sessions, the latest first.
    fn sessions<'a>(
        &'a self,
        campaign: &'a CampaignKey,
        filter: SessionFilter,
    ) -> StoreFuture<'a, Vec<SessionEntry>>;

    /// Lines, by session and number.
    fn lines<'a>(
        &'a self,
        campaign: &'a CampaignKey,
        filter: LineFilter,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<TranscriptLine>>;

    /// Lines that hold words, the best first. Words that most lines hold count only where there are
    /// no others. Of words that thousands of lines hold the latest lines come first, and of the rest
    /// those with several of the words.
    fn search<'a>(
        &'a self,
        campaign: &'a CampaignKey,
        query: LineQuery,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<LineHit>>;

    /// Takes these lines back: their text, what search finds, and what was derived from them; their places
    /// stay.
    fn withdraw<'a>(
        &'a self,
        campaign: &'a CampaignKey,
        lines: Vec<Uid>,
    ) -> StoreFuture<'a, Forgotten>;

    /// Forgets for good.
    fn forget<'a>(&'a self, campaign: &'a CampaignKey, what: Forget) -> StoreFuture<'a, Forgotten>;

    /// How much there is.
    fn counts<'a>(&'a self, campaign: &'a CampaignKey) -> StoreFuture<'a, Counts>;
}
