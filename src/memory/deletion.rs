//! Requested deletions that are not done yet.
//!
//! Entry trait: [`Deletions`]. A deletion is recorded before anything is deleted and its record
//! removed at the end, so a killed program or an unreachable store only delays it.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{StoreFuture, transcript::Utterance};
use crate::domain::{Owner, Scope, SessionId};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgetFrom {
    /// In any campaign of this owner.
    #[serde(serialize_with = "word", deserialize_with = "of_word")]
    pub owner: Owner,
    /// `None`: all of the owner's sessions.
    pub session: Option<SessionId>,
}

/// A deletion of a person's lines, and its progress. Its key is sessions and person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deletion {
    #[serde(flatten)]
    pub from: ForgetFrom,
    /// The person's identity; on Discord the user id.
    pub player: String,
    /// Only lines begun before this Unix time in ms.
    pub before: i64,
    /// Their names at the time of the request, beside those in their lines: earlier versions stored
    /// some data by name.
    pub names: Vec<String>,
    /// Identity of the person to notify at the end; empty: the operator, on the command line.
    pub asker: String,
    /// Deleted by identity from tables and files; only the store is left.
    pub erased: bool,
    /// Sessions whose files could not be changed; tables and all other files are done.
    #[serde(default)]
    pub files: Vec<String>,
    /// Records that have only their names are deleted too, except in `files`. Not stored: the
    /// next start checks again.
    #[serde(skip)]
    pub named: bool,
    #[serde(skip)]
    pub lines: u64,
}

impl Deletion {
    /// A deletion of `player`'s lines in `from`, begun before a Unix time in ms, at their own
    /// request.
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

    pub fn covers(&self, scope: &Scope, line: &Utterance) -> bool {
        scope.owner == self.from.owner
            && self.from.session.as_ref().is_none_or(|session| session.0 == line.session)
            && line.is_of(&self.player, self.before)
    }

    pub const fn progress(&self) -> (i64, bool, bool) {
        (self.before, self.erased, !self.files.is_empty())
    }

    /// True if both have the same key, at any time.
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

pub trait Deletions: Send + Sync {
    /// Records a deletion. For one key the later deletion stays; at equal times, the last written.
    fn put_deletion(&self, deletion: Deletion) -> StoreFuture<'_, ()>;

    /// Deletions of all owners that are not done, oldest first.
    fn deletions(&self) -> StoreFuture<'_, Vec<Deletion>>;

    /// Erases removed data from the disk; only then is a deletion done. Fails while another program
    /// reads it.
    fn purge_removed(&self) -> StoreFuture<'_, ()>;

    fn remove_deletion(&self, deletion: Deletion) -> StoreFuture<'_, ()>;
}
