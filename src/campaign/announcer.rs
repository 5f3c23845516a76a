//! Announcements, in a voice of their own. Entry type: [`Announcer`].

use std::sync::Arc;

use futures::StreamExt;

use crate::{
    audio::Frame,
    domain::Voice,
    engine::{Shaping, VoiceKey, VoiceLevels},
    provider::{Attempts, Error, SpeakRequest, TextToSpeech},
};

#[derive(Clone, Debug)]
pub struct Announcement {
    pub english: String,
    /// In German, for tables where everyone speaks it.
    pub german: Option<String>,
}

/// Speaks announcements. Cloning shares it.
#[derive(Clone)]
pub struct Announcer {
    english: Speaks,
    /// `None`: German is not spoken.
    german: Option<Speaks>,
    /// Matches their loudness to the NPCs'; `None`: leaves it as the service makes it.
    levels: Option<VoiceLevels>,
}

type Speaks = (Arc<dyn TextToSpeech>, Voice);

impl Announcer {
    /// Speaks with `voice` of `tts`.
    pub fn new(tts: Arc<dyn TextToSpeech>, voice: Voice) -> Self {
        Self { english: (tts, voice), german: None, levels: None }
    }

    /// Speaks German announcements with `voice` of `tts`.
    pub fn and_german(self, tts: Arc<dyn TextToSpeech>, voice: Voice) -> Self {
        Self { german: Some((tts, voice)), ..self }
    }

    /// Matches announcements to the loudness of all voices, measured in `levels`.
    #[must_use]
    pub fn levelled_by(self, levels: &VoiceLevels) -> Self {
        Self { levels: Some(levels.clone()), ..self }
    }

    /// `text` as 48 kHz frames, to the end.
    ///
    /// # Errors
    /// The voice's own.
    pub async fn frames(&self, text: &str) -> Result<Vec<Frame>, Error> {
        self.said(&self.english, text).await
    }

    /// `announcement` as frames: in German if it has a German text and a German voice.
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
            style: None,
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
