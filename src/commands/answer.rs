//! Answers of commands, immediate or after the table's status. Entry types: [`Answer`], [`Reply`].

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};

use super::{
    face::Face,
    text::{Refusal, Text},
};
use crate::{
    campaign::SentFile,
    session::{Explanation, SpeakerId, Status},
};

/// Something that the caller may do next. A face shows a button for it, or the line to type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Hears the caller, or hears them no longer.
    Hear(bool),
    /// Removes an entity, or keeps it.
    RemoveEntity {
        /// Its id.
        id: String,
        /// Its name, as it was given.
        name: String,
    },
    /// Imports a previewed file.
    Import {
        key: String,
        /// It may also let NPCs know their own secrets.
        has_secrets: bool,
        /// The command that showed it.
        line: String,
    },
    /// Deletes what this person, the caller, has said.
    DeleteOwn(SpeakerId),
    /// Lets an NPC say how it sounds.
    HearVoice {
        /// Its name.
        npc: String,
        /// The command that does the same.
        line: String,
    },
}

impl NextStep {
    /// The line that does it; `None`: the text of the reply names the commands.
    pub fn line(&self) -> Option<String> {
        match self {
            Self::Hear(_) => None,
            Self::RemoveEntity { name, .. } => Some(format!("/entity remove {name} confirm")),
            Self::Import { line, .. } => Some(with_flag(line, "confirm")),
            Self::HearVoice { line, .. } => Some(line.clone()),
            Self::DeleteOwn(_) => Some("/privacy delete confirm".to_owned()),
        }
    }

    /// The line that does it and lets NPCs know their own secrets; `None`: there are none.
    pub fn line_with_secrets(&self) -> Option<String> {
        match self {
            Self::Import { has_secrets: true, line, .. } => {
                Some(with_flag(&with_flag(line, "secrets"), "confirm"))
            }
            _ => None,
        }
    }
}

/// A command with a flag, which needs its label behind another value with one.
pub fn with_flag(line: &str, flag: &str) -> String {
    let label = if line.contains(" voice:") { ":true" } else { "" };
    format!("{line} {flag}{label}")
}

/// Text for the caller of a command, or for everyone.
#[derive(Default)]
pub struct Reply {
    /// A heading, if the face has room for one.
    pub title: Option<String>,
    /// Empty if `status` says everything.
    pub text: Text,
    /// State of the table, for programs; also for people if `text` is empty.
    pub status: Option<Box<Status>>,
    /// Prompt parts, recalled lines and calls of an answer, for programs.
    pub explanation: Option<Arc<Explanation>>,
    pub public: bool,
    /// Next step offered to the caller.
    pub next_step: Option<NextStep>,
    /// A file for the caller alone.
    pub file: Option<SentFile>,
}

impl Reply {
    /// Only the caller sees it.
    pub fn private(text: impl Into<Text>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Everyone sees it.
    pub fn public(text: impl Into<Text>) -> Self {
        Self { public: true, ..Self::private(text) }
    }

    pub fn titled(self, title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..self }
    }

    /// With something that the caller may do next.
    pub fn followed_by(self, next_step: NextStep) -> Self {
        Self { next_step: Some(next_step), ..self }
    }

    /// With a file.
    pub fn with_file(self, name: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self { file: Some(SentFile { name: name.into(), bytes }), ..self }
    }

    /// Adds the table's status, which programs receive in full.
    pub fn of(self, status: Status) -> Self {
        Self { status: Some(Box::new(status)), ..self }
    }
}

/// Builds the answer after a short wait.
pub type Next = Box<dyn FnOnce(&mut dyn Face) -> Result<Answer, Refusal> + Send>;

/// Puts the result of some work in place, and replies.
pub type Then = Box<dyn FnOnce(&mut dyn Face) -> Result<Reply, Refusal> + Send>;

/// The answer of a command.
pub enum Answer {
    /// An immediate reply.
    Now(Reply),
    /// The answer after a short wait: for the table's status, or until a line is stored.
    Soon(BoxFuture<'static, Next>),
    /// The reply that follows some work, which may take a while.
    Later(BoxFuture<'static, Then>),
    /// The words of the game master's assistant about this question.
    Ask(String),
}

impl Answer {
    /// The reply that `then` makes of the face and the result of `work`.
    pub fn after<T: Send + 'static>(
        work: impl Future<Output = T> + Send + 'static,
        then: impl FnOnce(&mut dyn Face, T) -> Result<Reply, Refusal> + Send + 'static,
    ) -> Self {
        let work = work.map(|done| Box::new(move |face: &mut dyn Face| then(face, done)) as Then);
        Self::Later(work.boxed())
    }
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        Self::Now(reply)
    }
}

/// Answers with `show` of the table's status, after all earlier orders. Fails if no session runs.
pub fn with_status<A: Into<Answer>>(
    face: &mut dyn Face,
    show: impl FnOnce(&mut dyn Face, Status) -> Result<A, Refusal> + Send + 'static,
) -> Result<Answer, Refusal> {
    let next = |status: Result<Status, Refusal>| {
        Box::new(move |face: &mut dyn Face| show(face, status?).map(Into::<Answer>::into)) as Next
    };
    Ok(Answer::Soon(face.status()?.map(next).boxed()))
}
