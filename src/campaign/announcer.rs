//! Announcements, in a voice that is nobody's.
//!
//! Entry type: [`Announcer`]. **Never**: speaks for an NPC.

use std::sync::Arc;

use futures::StreamExt;

use crate::{
    audio::Frame,
    domain::Voice,
    engine::Shaping,
    provider::{Attempts, Error, SpeakRequest, TextToSpeech},
};

/// Says announcements. Cloning shares it.
#[derive(Clone)]
pub struct Announcer {
    tts: Arc<dyn TextToSpeech>,
    voice: Voice,
}

impl Announcer {
    /// Says them in `voice` of `tts`.
    pub fn new(tts: Arc<dyn TextToSpeech>, voice: Voice) -> Self {
        Self { tts, voice }
    }

    /// `text` as frames: 48 kHz, to the end.
    ///
    /// # Errors
    /// The voice's own.
    pub async fn frames(&self, text: &str) -> Result<Vec<Frame>, Error> {
        let mut chunks = self.tts.speak(SpeakRequest {
            text: text.to_owned(),
            voice: self.voice.clone(),
            foreign: None,
            pronunciation: Arc::from([]),
            attempts: Attempts::default(),
        });
        let (mut frames, mut shaping) = (Vec::new(), Shaping::new(1.0));
        while let Some(chunk) = chunks.next().await {
            frames.extend(shaping.push(&chunk?)?);
        }
        frames.extend(shaping.finish());
        Ok(frames)
    }
}
