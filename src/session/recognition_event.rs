//! Events of a recogniser.
//!
//! Entry type: [`RecognitionEvent`]. **Never**: decides what follows from it.

use crate::{
    logic::turn::Judgement,
    provider::{Error, SpeechEvent},
};

/// Something that a recogniser says of one utterance.
pub struct RecognitionEvent {
    /// Number of the recognition that it is of.
    pub recognition: u64,
    /// The event.
    pub news: News,
}

/// An event of a recogniser.
pub enum News {
    /// Text that was understood.
    Said(SpeechEvent),
    /// It gave up.
    Failed(Error),
    /// Nothing more comes.
    Over,
    /// The sound model's judgement of the sound until the pause.
    Sounds(Judgement),
}
