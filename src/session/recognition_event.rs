//! Events of a recogniser.
//!
//! Entry type: [`RecognitionEvent`].

use crate::{
    logic::turn::Judgement,
    provider::{Error, SpeechEvent},
};

pub struct RecognitionEvent {
    pub recognition: u64,
    pub news: News,
}

pub enum News {
    Said(SpeechEvent),
    Failed(Error),
    Over,
    Sounds(Judgement),
}
