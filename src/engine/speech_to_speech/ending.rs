//! Ends of a voice model's answer.
//!
//! Entry types: [`Ended`], [`NotAnswered`]; entry function: [`meaning`].

use crate::{
    domain::ToolCall,
    engine::{Failure, tool_loop::Before},
    provider::{Error, Kind, SpeechEnding},
};

pub struct NotAnswered {
    pub why: String,
    /// Kind of the failure; `None` if the service did not fail.
    pub kind: Option<Kind>,
    /// Sentences played or queued, fillers included.
    pub sentences: usize,
    pub before: Before,
}

pub enum Ended {
    Whole(Vec<ToolCall>),
    Stopped,
    /// Another engine has to continue; the reason.
    HandedOver(String),
    /// Incomplete; ends the turn.
    Cut(Failure),
}

/// Interprets `ending` for a turn with `calls`; `is_heard` if words were played. Fails if another
/// engine has to answer.
pub fn meaning(
    ending: SpeechEnding,
    calls: Vec<ToolCall>,
    is_heard: bool,
    service: &str,
) -> Result<Ended, Error> {
    let failed = |what: &str| Failure::Model(format!("{service}: {what}"));
    Ok(match ending {
        SpeechEnding::Completed => Ended::Whole(calls),
        SpeechEnding::TooLong if is_heard => Ended::Cut(failed(
            "the answer was cut off: it is as long as one may be (ask for less at once)",
        )),
        SpeechEnding::Withheld if is_heard => Ended::Cut(failed(
            "the service withheld the rest of the answer (its content filter; ask in other words)",
        )),
        SpeechEnding::Failed(why) => return Err(Error::new(Kind::Unavailable, why)),
        SpeechEnding::Cancelled | SpeechEnding::TooLong | SpeechEnding::Withheld => {
            return Err(Error::new(Kind::Unavailable, "the service broke its answer off"));
        }
    })
}
