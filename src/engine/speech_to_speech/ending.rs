//! End of a voice model's answer, and turns that another engine has to end.
//!
//! Entry types: [`Ended`], [`NotAnswered`]; entry function: [`meaning`]. **Never**: ends one.

use crate::{
    domain::ToolCall,
    engine::{Failure, tool_loop::Before},
    provider::{Error, Kind, SpeechEnding},
};

/// A turn that another engine has to end.
pub struct NotAnswered {
    /// Reason, for the game master.
    pub why: String,
    /// The kind of the failure; `None`: the service has not failed.
    pub kind: Option<Kind>,
    /// Sentences that were played or are about to be, fillers included.
    pub sentences: usize,
    /// Its words and calls so far.
    pub before: Before,
}

/// Outcome of an answer of the service.
pub enum Ended {
    /// It is whole, with these calls.
    Whole(Vec<ToolCall>),
    /// The turn is over.
    Stopped,
    /// Another engine has to go on, because of this.
    HandedOver(String),
    /// It is not whole, and the turn ends with it.
    Cut(Failure),
}

/// The meaning of `ending` for a turn with these calls, of which words were heard if `is_heard`; `service` said it.
///
/// # Errors
/// Another engine has to answer.
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
