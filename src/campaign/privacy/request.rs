//! Requests to forget a person.
//!
//! Entry type: [`ForgetRequest`].

use crate::{
    domain::{Owner, PersonId, SessionId},
    memory::Deletion,
};

/// The person whose lines are forgotten, and which of them.
#[derive(Clone, Debug)]
pub struct ForgetRequest {
    /// The person, by their identity: on Discord their id.
    pub player: String,
    /// Their current names, beside those in their lines.
    pub names: Vec<String>,
    /// Sessions in which the lines were said.
    pub from: ForgetFrom,
    /// When it was asked for, in Unix time in ms: what they say later stays.
    pub before: i64,
    /// The person who requested it; notified if it completes late.
    pub asker: String,
}

impl ForgetRequest {
    /// The request as it is recorded, with nothing done of it.
    pub fn recorded(self) -> Deletion {
        Deletion {
            owner: self.from.owner,
            player: self.player,
            session: self.from.session.map(|session| session.0),
            before: self.before,
            names: self.names,
            asker: self.asker,
            erased: false,
            files: Vec::new(),
            named: false,
        }
    }

    /// The request that `deletion` records.
    pub fn of(deletion: &Deletion) -> Self {
        let session = deletion.session.clone().map(SessionId);
        Self {
            player: deletion.player.clone(),
            names: deletion.names.clone(),
            from: ForgetFrom { owner: deletion.owner, session },
            before: deletion.before,
            asker: deletion.asker.clone(),
        }
    }
}

/// A delayed deletion that is now complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deleted {
    /// Owner of the sessions.
    pub owner: Owner,
    /// The person who requested it.
    pub asker: PersonId,
}

/// Sessions whose lines are forgotten.
#[derive(Clone, Debug)]
pub struct ForgetFrom {
    /// In sessions of this owner, whichever campaign they played.
    pub owner: Owner,
    /// In this session alone; `None`: in all of theirs.
    pub session: Option<SessionId>,
}

/// Names of a person where earlier versions have kept things by name: conversations of NPCs, and calls of
/// tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamesOf {
    /// Theirs alone: what is kept under these goes with their lines.
    pub own: Vec<String>,
    /// Somebody else's too: what is kept under these stays.
    pub shared: Vec<String>,
}
