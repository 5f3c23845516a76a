//! The transcript of a campaign, line by line.
//!
//! Entry trait: [`Transcript`]. **Never**: changes a written line, other than by withdrawing or
//! deleting it, or by adding what came of it ([`ASKED`]).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::{Scope, is_framed};

use super::{StoreFuture, Viewer, Visibility};

/// The outcome of open words, which are written before their turn ends: writing them again then
/// gives the line its turn, outcome and calls.
pub const ASKED: &str = "asked";

/// The outcome of [`ASKED`] words whose process ended before their turn did.
pub const CANCELLED: &str = "cancelled";

/// The identity of an utterance, made before its first write: 1 to 64 characters, unique across
/// sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Uid(pub String);

/// A play session. When written, `None` and empty fields leave the stored ones unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub id: String,
    pub title: Option<String>,
    pub started: Option<i64>,
    /// Unix time in ms; `None` while it runs.
    pub ended: Option<i64>,
    /// For players, in a few sentences.
    pub summary: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEntry {
    #[serde(flatten)]
    pub session: Session,
    /// Without withdrawn and deleted ones.
    pub lines: u64,
    /// Lines in no chunk yet.
    pub unindexed: u64,
    pub last_at: Option<i64>,
}

#[derive(Clone, Debug, Default)]
pub struct SessionFilter {
    pub id: Option<String>,
    /// Most to return, latest first; 0: all.
    pub limit: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Present {
    pub name: String,
    /// A player's identity; `None`: an NPC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player: Option<String>,
}

/// A spoken or written line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Utterance {
    /// Makes repeated writes of the line harmless.
    pub uid: Uid,
    pub session: String,
    /// The turn it belongs to, from 1; 0 in words whose turn has not ended, or was cut off with its
    /// process.
    pub turn: u64,
    pub at: i64,
    pub duration: u64,
    /// The player's identity; `None`: an NPC said it.
    pub speaker_id: Option<String>,
    pub speaker: String,
    pub character: Option<String>,
    /// In a player's line the addressee, in an NPC's the NPC itself.
    pub npc: Option<String>,
    /// The recognised text with corrected names.
    pub text: String,
    /// The recogniser's text, or a question with its frames; `None`: equal to `text`.
    pub raw: Option<String>,
    pub present: Vec<Present>,
    pub outcome: String,
    /// Its tool calls: a JSON array, or null.
    pub tools: Value,
    pub visibility: Visibility,
    /// The words that an NPC's line answers, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
}

/// Words of a player that an NPC's line answers; they are deleted together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    pub by: String,
    /// Start of the words, in Unix time in ms; for a late result, start of its call.
    pub at: i64,
}

impl Utterance {
    /// True if `player` said it before a Unix time in ms, or it answers such words.
    pub fn is_of(&self, player: &str, before: i64) -> bool {
        let said = self.speaker_id.as_deref().map(|by| (by, self.at));
        let asked = || self.asked.as_ref().map(|asked| (asked.by.as_str(), asked.at));
        said.or_else(asked).is_some_and(|(by, at)| by == player && at < before)
    }

    /// True if some of it is a question of a program outside: models read it in a frame.
    pub fn is_from_outside(&self) -> bool {
        self.raw.as_deref().is_some_and(is_framed)
    }

    /// True if its turn may still go on in `session`: that turn must not find its own words.
    pub fn is_open_in(&self, session: &str) -> bool {
        self.outcome == ASKED && self.session == session
    }

    /// Name of the speaker as NPCs know it: the character, else the speaker.
    pub fn who(&self) -> &str {
        self.character.as_ref().unwrap_or(&self.speaker)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TranscriptLine {
    /// Its number in the session, from 1, without gaps; assigned by the store.
    pub seq: u64,
    /// Empty once withdrawn or deleted.
    #[serde(flatten)]
    pub said: Utterance,
    pub withdrawn: bool,
}

/// Part of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pick {
    #[default]
    All,
    Range {
        from: u64,
        to: u64,
    },
    /// Lines in no chunk yet.
    Unindexed,
}

/// Filter for lines.
#[derive(Clone, Debug, Default)]
pub struct LineFilter {
    pub session: Option<String>,
    /// Applies to each session.
    pub pick: Pick,
    pub player: Option<String>,
    /// Includes withdrawn and deleted lines, which are empty.
    pub gaps: bool,
    /// Most to return: the last ones, or the first of unindexed ones; 0: all.
    pub limit: usize,
}

#[derive(Clone, Debug, Default)]
pub struct LineQuery {
    /// Words as typed or spoken; one match suffices.
    pub text: String,
    pub session: Option<String>,
    /// Said at or after this Unix time in ms.
    pub from: Option<i64>,
    /// Said before this Unix time in ms.
    pub to: Option<i64>,
    /// Name of a player, character or NPC, in any case; or a player's identity.
    pub speaker: Option<String>,
    pub limit: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LineHit {
    #[serde(flatten)]
    pub line: TranscriptLine,
    pub score: f64,
}

/// Lines to delete, with everything derived from them.
#[derive(Clone, Debug)]
pub enum Forget {
    /// A player's lines and NPCs' answers to them (the numbers stay), the player's presence, and
    /// their id in runs and schedules.
    Player {
        id: String,
        /// Only lines begun before this Unix time in ms, with their answers; and only runs and
        /// schedules made before it.
        before: i64,
    },
    Session(String),
    /// Sessions whose last line was said before this Unix time in ms, and runs begun before it.
    Before(i64),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    pub sessions: u64,
    /// For a player, the spoken lines without the answers.
    pub lines: u64,
    /// Derived items and relations.
    pub derived: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// "npc", "chunk", or a model.
    pub of: String,
    pub count: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub sessions: u64,
    /// Without withdrawn and deleted ones.
    pub lines: u64,
    pub items: Vec<Count>,
    pub vectors: Vec<Count>,
    pub entities: Vec<Count>,
    pub relations: u64,
}

/// The first layer: append-only lines.
pub trait Transcript: Send + Sync {
    /// Opens a session, or changes the given fields. With a start, [`ASKED`] words said before it
    /// become [`CANCELLED`]: the process that was to answer them has ended, and this one goes on.
    fn put_session<'a>(&'a self, scope: &'a Scope, session: Session) -> StoreFuture<'a, ()>;

    /// Writes lines in order, creates their sessions, and returns the lines' numbers. A known uid
    /// is not written again and keeps its number, but [`ASKED`] words that are still there get the
    /// turn, the outcome and the calls of the given line. Once answered, lines survive a crash and a
    /// power cut; before that, all are written or none.
    fn append<'a>(&'a self, scope: &'a Scope, lines: Vec<Utterance>) -> StoreFuture<'a, Vec<u64>>;

    /// Like [`Self::append`], for lines said while this process served their server, even if another
    /// one does by now.
    fn append_late<'a>(
        &'a self,
        scope: &'a Scope,
        lines: Vec<Utterance>,
    ) -> StoreFuture<'a, Vec<u64>>;

    fn sessions<'a>(
        &'a self,
        scope: &'a Scope,
        filter: SessionFilter,
    ) -> StoreFuture<'a, Vec<SessionEntry>>;

    fn lines<'a>(
        &'a self,
        scope: &'a Scope,
        filter: LineFilter,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<TranscriptLine>>;

    /// Lines with words of the query, best first. Very common words count only in a query of
    /// nothing else. For words in thousands of lines, only lines with several of the words and the
    /// latest lines are ranked.
    fn search<'a>(
        &'a self,
        scope: &'a Scope,
        query: LineQuery,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<LineHit>>;

    /// Withdraws these lines: removes their text, index entries and derived data. Their numbers
    /// stay.
    fn withdraw<'a>(&'a self, scope: &'a Scope, lines: Vec<Uid>) -> StoreFuture<'a, Forgotten>;

    fn forget<'a>(&'a self, scope: &'a Scope, what: Forget) -> StoreFuture<'a, Forgotten>;

    fn counts<'a>(&'a self, scope: &'a Scope) -> StoreFuture<'a, Counts>;
}
