//! Deletions that people have asked for and that are not done yet.
//!
//! Entry trait: [`Deletions`]. A deletion is recorded before anything is deleted, and its record goes
//! when all is done, so that a killed program or a store that was away delays it, and no more.
//! **Never**: deletes what was said.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{reply::StoreFuture, transcript::Utterance};
use crate::domain::{Owner, Scope, SessionId};

/// Sessions whose lines are forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgetFrom {
    /// In sessions of this owner, whichever campaign they played.
    #[serde(serialize_with = "word", deserialize_with = "of_word")]
    pub owner: Owner,
    /// In this session alone; `None`: in all of theirs.
    pub session: Option<SessionId>,
}

/// A deletion of what a person has said, and how far it has come. Its key is sessions and person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deletion {
    /// Sessions in which it was said.
    #[serde(flatten)]
    pub from: ForgetFrom,
    /// The person, by identity: on Discord their id.
    pub player: String,
    /// Only what they began to say before this Unix time in ms.
    pub before: i64,
    /// Their names when it was asked for, beside those in their lines: for what earlier versions have kept
    /// by name.
    pub names: Vec<String>,
    /// Identity of the person to notify once it is done; empty: the operator, on the command line.
    pub asker: String,
    /// Tables and files have forgotten them by identity; what is left to do needs the store.
    pub erased: bool,
    /// Sessions whose files could not be changed; tables and all other files have forgotten the person.
    #[serde(default)]
    pub files: Vec<String>,
    /// Records with only their names are forgotten too, except in `files`. Not stored: the next start looks
    /// again.
    #[serde(skip)]
    pub named: bool,
    /// Number of lines that attempts of this run have deleted. Not stored.
    #[serde(skip)]
    pub lines: u64,
}

impl Deletion {
    /// What `player` has said in sessions of `from` before a Unix time in ms, as they request it; nothing is
    /// done yet.
    pub fn of(player: String, from: ForgetFrom, before: i64) -> Self {
        Self {
            from,
            before,
            names: Vec::new(),
            asker: player.clone(),
            player,
            erased: false,
            files: Vec::new(),
            named: false,
            lines: 0,
        }
    }

    /// True if `line` of `scope` is one of the lines to delete.
    pub fn covers(&self, scope: &Scope, line: &Utterance) -> bool {
        scope.owner == self.from.owner
            && self.from.session.as_ref().is_none_or(|session| session.0 == line.session)
            && line.is_of(&self.player, self.before)
    }

    /// Time and progress, to compare records of one key.
    pub const fn progress(&self) -> (i64, bool, bool) {
        (self.before, self.erased, !self.files.is_empty())
    }

    /// True if both have the same key, whatever their time.
    pub fn is_like(&self, other: &Self) -> bool {
        self.from == other.from && self.player == other.player
    }
}

fn word<S: Serializer>(owner: &Owner, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&owner.word())
}

fn of_word<'de, D: Deserializer<'de>>(from: D) -> Result<Owner, D::Error> {
    let word = String::deserialize(from)?;
    Owner::of_word(&word).ok_or_else(|| D::Error::custom(format!("unknown owner '{word}'")))
}

/// Records of deletions.
pub trait Deletions: Send + Sync {
    /// Records a deletion. Of two with one key the later stays; of one time, the one written last.
    fn put_deletion(&self, deletion: Deletion) -> StoreFuture<'_, ()>;

    /// Deletions that are not done, of all owners, the oldest first.
    fn deletions(&self) -> StoreFuture<'_, Vec<Deletion>>;

    /// Erases from the disk what was removed before; only then is a deletion done.
    ///
    /// # Errors
    /// Another program still reads what was removed.
    fn purge_removed(&self) -> StoreFuture<'_, ()>;

    /// Removes the record of a deletion that is done, unless a later one has taken its place.
    fn remove_deletion(&self, deletion: Deletion) -> StoreFuture<'_, ()>;
}
