//! Answers of commands, at once or when the table has said how it stands.
//!
//! Entry types: [`Answer`], [`Reply`]. **Never**: sends or prints it.

use futures::{FutureExt, future::BoxFuture};

use super::{
    face::Face,
    text::{Refusal, Text},
};
use crate::session::Status;

/// Text for the caller of a command, or for everybody.
#[derive(Default)]
pub struct Reply {
    /// A heading, where a face has room for one.
    pub title: Option<String>,
    /// The words; empty where `status` says it all.
    pub text: Text,
    /// State of the table, for programs; for people too where `text` is empty.
    pub status: Option<Box<Status>>,
    /// Everybody sees it.
    pub public: bool,
}

impl Reply {
    /// Text that only the caller sees.
    pub fn private(text: impl Into<Text>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Text that everybody sees.
    pub fn public(text: impl Into<Text>) -> Self {
        Self { public: true, ..Self::private(text) }
    }

    /// With a heading.
    pub fn titled(self, title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..self }
    }

    /// Adds the table's status, which programs receive in full.
    pub fn of(self, status: Status) -> Self {
        Self { status: Some(Box::new(status)), ..self }
    }
}

/// Answers once it is known how the table stands.
pub type Next = Box<dyn FnOnce(&mut dyn Face) -> Result<Answer, Refusal> + Send>;

/// The answer of a command.
pub enum Answer {
    /// A reply at once.
    Now(Reply),
    /// The answer that follows when the table has said how it stands.
    Soon(BoxFuture<'static, Next>),
    /// The words of the game master's assistant about this question.
    Ask(String),
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        Self::Now(reply)
    }
}

/// Answers with the reply of `show` to the table's status, once all earlier orders are carried out.
///
/// # Errors
/// No session runs.
pub fn with_status(
    face: &mut dyn Face,
    show: impl FnOnce(&mut dyn Face, Status) -> Result<Reply, Refusal> + Send + 'static,
) -> Result<Answer, Refusal> {
    let next = |status: Result<Status, Refusal>| {
        Box::new(move |face: &mut dyn Face| show(face, status?).map(Answer::Now)) as Next
    };
    Ok(Answer::Soon(face.status()?.map(next).boxed()))
}
