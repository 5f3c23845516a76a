//! The transcript of a campaign, line by line.
//!
//! Entry trait: [`Transcript`]. **Never**: changes a line that stands, other than by withdrawing or
//! forgetting it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::Scope;

use super::{
    reply::StoreFuture,
    viewer::{Viewer, Visibility},
};

/// The identity of an utterance, made before it is first written: 1 to 64 characters, unlike any
/// other in any session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Uid(pub String);

/// A play session. Fields that are `None` or empty leave the stored ones as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its id within the scope.
    pub id: String,
    /// A title for people.
    pub title: Option<String>,
    /// Start, in Unix time in ms.
    pub started: Option<i64>,
    /// End, in Unix time in ms; `None` while it goes on.
    pub ended: Option<i64>,
    /// Summary for players, in a few sentences.
    pub summary: Option<String>,
}

/// A session with figures of its lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEntry {
    /// The session as it was written.
    #[serde(flatten)]
    pub session: Session,
    /// Its lines, without withdrawn and forgotten ones.
    pub lines: u64,
    /// Lines that no chunk holds yet.
    pub unindexed: u64,
    /// Time of its last line, in Unix time in ms.
    pub last_at: Option<i64>,
}

/// Narrows a list of sessions; the default takes all.
#[derive(Clone, Debug, Default)]
pub struct SessionFilter {
    /// Only the session with this id.
    pub id: Option<String>,
    /// The most to return, the latest; 0: all.
    pub limit: usize,
}

/// Someone who heard a line.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Present {
    /// The name used at the table.
    pub name: String,
    /// A player's identity; `None`: an NPC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player: Option<String>,
}

/// Something said, as it is first written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Utterance {
    /// By which it is written once, however often it is sent.
    pub uid: Uid,
    /// The session's id.
    pub session: String,
    /// The turn at the table it belongs to, from 1.
    pub turn: u64,
    /// Start, in Unix time in ms.
    pub at: i64,
    /// Length in ms.
    pub duration: u64,
    /// The player's identity; `None`: an NPC said it.
    pub speaker_id: Option<String>,
    /// Name of the speaker at the table.
    pub speaker: String,
    /// Name of the player's character.
    pub character: Option<String>,
    /// Of a player's line: who was addressed. Of an NPC's: itself.
    pub npc: Option<String>,
    /// The text as it was heard, names corrected.
    pub text: String,
    /// The text as the recogniser gave it; `None`: the same.
    pub raw: Option<String>,
    /// Those who heard it.
    pub present: Vec<Present>,
    /// Outcome of its turn.
    pub outcome: String,
    /// Tool calls it led to: a JSON array, or null.
    pub tools: Value,
    /// Viewers that may see it.
    pub visibility: Visibility,
    /// Words that an NPC's line answers; `None`: it answers none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
}

/// Words of a player that an NPC's line answers, and with which it is deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The player's identity.
    pub by: String,
    /// Start of the words, in Unix time in ms; for a late result, start of its call.
    pub at: i64,
}

impl Utterance {
    /// True if it is something that a player said before a Unix time in ms, or an answer to that.
    pub fn is_of(&self, player: &str, before: i64) -> bool {
        let said = self.speaker_id.as_deref().map(|by| (by, self.at));
        let asked = || self.asked.as_ref().map(|asked| (asked.by.as_str(), asked.at));
        said.or_else(asked).is_some_and(|(by, at)| by == player && at < before)
    }

    /// Name of the speaker as NPCs know them: the character, else the speaker.
    pub fn who(&self) -> &str {
        self.character.as_ref().unwrap_or(&self.speaker)
    }
}

/// A written line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TranscriptLine {
    /// Its number in the session, from 1, without gaps; given by the store.
    pub seq: u64,
    /// Its content; empty once it is withdrawn or forgotten.
    #[serde(flatten)]
    pub said: Utterance,
    /// It was taken back; only its number is left.
    pub withdrawn: bool,
}

/// Part of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pick {
    /// All of it.
    #[default]
    All,
    /// Lines `from` to `to`, both included.
    Range {
        /// Number of the first line.
        from: u64,
        /// Number of the last line, included.
        to: u64,
    },
    /// Lines that no chunk holds yet.
    Unindexed,
}

/// Filter for lines, in the order they were said.
#[derive(Clone, Debug, Default)]
pub struct LineFilter {
    /// Only of this session.
    pub session: Option<String>,
    /// Only this part of each session.
    pub pick: Pick,
    /// Only of this player, by identity.
    pub player: Option<String>,
    /// Includes withdrawn and forgotten lines, which are empty.
    pub gaps: bool,
    /// The most to return: the last ones, or the first of unindexed ones; 0: all.
    pub limit: usize,
}

/// A ranked search.
#[derive(Clone, Debug, Default)]
pub struct LineQuery {
    /// Words as typed or said; one match suffices.
    pub text: String,
    /// Only within this session.
    pub session: Option<String>,
    /// Said at or after this Unix time in ms.
    pub from: Option<i64>,
    /// Said before this Unix time in ms.
    pub to: Option<i64>,
    /// Name of its speaker: a player, a character or an NPC, or a player's identity; case does not
    /// matter.
    pub speaker: Option<String>,
    /// The most to return.
    pub limit: usize,
}

/// A search result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LineHit {
    /// The line that was found.
    #[serde(flatten)]
    pub line: TranscriptLine,
    /// Higher is better; comparable within one answer.
    pub score: f64,
}

/// Lines to delete for good, with everything derived from them.
#[derive(Clone, Debug)]
pub enum Forget {
    /// A player's lines and NPCs' answers to them (the numbers stay), and their presence in all lines.
    Player {
        /// Their identity.
        id: String,
        /// Only lines that began before this Unix time in ms, with their answers.
        before: i64,
    },
    /// Everything of the session with this id.
    Session(String),
    /// Sessions whose last line was said before this Unix time in ms.
    Before(i64),
}

/// Counts of everything forgotten or withdrawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    /// Sessions that are gone.
    pub sessions: u64,
    /// Lines that are gone; of a player, those they said, without the answers.
    pub lines: u64,
    /// Items and relations that came from them.
    pub derived: u64,
}

/// Count of things of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// The kind: "npc", "chunk", or a model.
    pub of: String,
    /// Number of things of that kind.
    pub count: u64,
}

/// Totals of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Sessions of the campaign.
    pub sessions: u64,
    /// Lines, without withdrawn and forgotten ones.
    pub lines: u64,
    /// Items by kind.
    pub items: Vec<Count>,
    /// Vectors by model.
    pub vectors: Vec<Count>,
    /// Entities by type.
    pub entities: Vec<Count>,
    /// Relations between its entities.
    pub relations: u64,
}

/// The first layer: append-only lines.
pub trait Transcript: Send + Sync {
    /// Opens a session, or changes the fields that are given.
    fn put_session<'a>(&'a self, scope: &'a Scope, session: Session) -> StoreFuture<'a, ()>;

    /// Writes lines in their order, and the sessions they name where there are none; gives their
    /// numbers. A line whose uid is there already is not written again and gives the number it has.
    /// After the answer they survive a crash and a power cut; before it, all are written or none.
    fn append<'a>(&'a self, scope: &'a Scope, lines: Vec<Utterance>) -> StoreFuture<'a, Vec<u64>>;

    /// Sessions, the latest first.
    fn sessions<'a>(
        &'a self,
        scope: &'a Scope,
        filter: SessionFilter,
    ) -> StoreFuture<'a, Vec<SessionEntry>>;

    /// Lines, by session and number.
    fn lines<'a>(
        &'a self,
        scope: &'a Scope,
        filter: LineFilter,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<TranscriptLine>>;

    /// Lines with the words of the query, best first. Words that most lines hold count only in a
    /// query of nothing else; for words in thousands of lines, the latest lines come first, and
    /// otherwise those that hold several of the words.
    fn search<'a>(
        &'a self,
        scope: &'a Scope,
        query: LineQuery,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<LineHit>>;

    /// Withdraws these lines: removes their text, their index entries and what was derived from
    /// them. Their numbers stay.
    fn withdraw<'a>(&'a self, scope: &'a Scope, lines: Vec<Uid>) -> StoreFuture<'a, Forgotten>;

    /// Forgets for good.
    fn forget<'a>(&'a self, scope: &'a Scope, what: Forget) -> StoreFuture<'a, Forgotten>;

    /// Figures of the campaign.
    fn counts<'a>(&'a self, scope: &'a Scope) -> StoreFuture<'a, Counts>;
}
