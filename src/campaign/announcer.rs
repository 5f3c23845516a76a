//! Announcements, in a voice that is nobody's.
//!
//! Entry type: [`Announcer`]. **Never**: speaks for an NPC.

use std::sync::Arc;

use futures::StreamExt;

use crate::{
    audio::Frame,
    domain::Voice,
    engine::{Shaping, VoiceKey, VoiceLevels},
    provider::{Attempts, Error, SpeakRequest, TextToSpeech},
};

/// An announcement in its languages.
#[derive(Clone, Debug)]
pub struct Announcement {
    /// In English.
    pub english: String,
    /// In German, where everybody at the table speaks it.
    pub german: Option<String>,
}

/// Says announcements. Cloning shares it.
#[derive(Clone)]
pub struct Announcer {
    english: Speaks,
    /// `None`: German is not spoken.
    german: Option<Speaks>,
    /// Brings them to the loudness of NPCs; `None`: they stay as the service makes them.
    levels: Option<VoiceLevels>,
}

/// A voice, and the service that has it.
type Speaks = (Arc<dyn TextToSpeech>, Voice);

impl Announcer {
    /// Says them in `voice` of `tts`.
    pub fn new(tts: Arc<dyn TextToSpeech>, voice: Voice) -> Self {
        Self { english: (tts, voice), german: None, levels: None }
    }

    /// Says those in German in `voice` of `tts`.
    pub fn and_german(self, tts: Arc<dyn TextToSpeech>, voice: Voice) -> Self {
        Self { german: Some((tts, voice)), ..self }
    }

    /// Brings announcements to the loudness of all voices, measured in `levels`.
    #[must_use]
    pub fn levelled_by(self, levels: &VoiceLevels) -> Self {
        Self { levels: Some(levels.clone()), ..self }
    }

    /// `text` as frames: 48 kHz, to the end.
    ///
    /// # Errors
    /// The voice's own.
    pub async fn frames(&self, text: &str) -> Result<Vec<Frame>, Error> {
        self.said(&self.english, text).await
    }

    /// `announcement` as frames: in German where it is, and something on this machine speaks it.
    ///
    /// # Errors
    /// The voice's own.
    pub async fn announce(&self, announcement: &Announcement) -> Result<Vec<Frame>, Error> {
        if let (Some(voice), Some(text)) = (&self.german, &announcement.german) {
            match self.said(voice, text).await {
                Ok(frames) => return Ok(frames),
                Err(error) => tracing::info!(%error, "an announcement is made in English"),
            }
        }
        self.frames(&announcement.english).await
    }

    async fn said(&self, (tts, voice): &Speaks, text: &str) -> Result<Vec<Frame>, Error> {
        let mut chunks = tts.speak(SpeakRequest {
            text: text.to_owned(),
            voice: voice.clone(),
            foreign: None,
            pronunciation: Arc::from([]),
            attempts: Attempts::default(),
        });
        let (mut frames, mut shaping) = (Vec::new(), Shaping::new(1.0));
        if let Some(levels) = &self.levels {
            shaping.level(levels, VoiceKey::of(voice));
        }
        while let Some(chunk) = chunks.next().await {
            frames.extend(shaping.push(&chunk?)?);
        }
        frames.extend(shaping.finish());
        Ok(frames)
    }
}
