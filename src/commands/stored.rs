//! A face's records of what people have said.
//!
//! Entry type: [`StoredWords`]. **Never**: shows or deletes the words of a person other than the
//! caller.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::text::Refusal;
use crate::{
    campaign::{NamesOf, Services},
    session::{Speaker, SpeakerId},
};

/// A person's hearing state at a face, and the services that receive their words.
pub struct HeardState {
    /// One or more sentences: whether the person is heard now.
    pub now: String,
    /// True if the person is heard, or would be in a session.
    pub is_heard: bool,
    /// The services of the NPCs.
    pub services: Arc<Services>,
    /// A name of an NPC as it is shown within a text.
    pub named: fn(&str) -> String,
}

/// Words for a face, within the texts about privacy.
#[derive(Clone, Copy)]
pub struct FaceWords {
    /// The name that goes with what a person says.
    pub name: &'static str,
    /// Sentences: what is written down, and where.
    pub written: &'static str,
    /// Sentences: what opting out does.
    pub opting_out: &'static str,
    /// The face's place within a sentence: "on this server".
    pub here: &'static str,
    /// Sentences: what a deletion leaves.
    pub left: &'static str,
}

/// A face's records of what people have said.
pub trait StoredWords {
    /// Words for this face.
    fn face_words(&self) -> FaceWords;

    /// Reports if a person is heard, and the services that receive their words.
    ///
    /// # Errors
    /// The services are unknown.
    fn hearing(&self, speaker: SpeakerId) -> Result<HeardState, Refusal>;

    /// True once all lines at the table so far are on a disk; false if that takes too long for a
    /// person who waits for an answer.
    fn written(&mut self) -> BoxFuture<'static, bool>;

    /// Everything that is stored about `speaker`, as text for them.
    ///
    /// # Errors
    /// The future's: it cannot be read.
    fn own_words(&self, speaker: &Speaker) -> BoxFuture<'static, Result<String, Refusal>>;

    /// Names under which more of `speaker` would be deleted than their lines.
    ///
    /// # Errors
    /// The future's: they cannot be read.
    fn names_of(&self, speaker: &Speaker) -> BoxFuture<'static, Result<NamesOf, Refusal>>;

    /// Deletes what `speaker` has said, the answers, and what was derived from either; the number of lines.
    ///
    /// # Errors
    /// The future's: it is not all deleted yet; says when it will be.
    fn forget(&mut self, speaker: &Speaker) -> BoxFuture<'static, Result<u64, Refusal>>;
}
