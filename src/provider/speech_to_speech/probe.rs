//! Checks a service by opening sessions without a word, which costs nothing.
//!
//! Entry function: [`probe`]. **Never**: asks for an answer.

use std::{collections::BTreeSet, sync::Arc};

use futures::StreamExt;
use tokio::time::Instant;

use super::{SpeechSetup, SpeechToSpeech};
use crate::provider::Error;

/// Checks that `service` accepts the key, the model and these voices; returns one line for a
/// report.
pub async fn probe(
    service: &dyn SpeechToSpeech,
    voices: &BTreeSet<String>,
) -> Result<String, Error> {
    let begun = Instant::now();
    look(service, None).await?;
    let took = begun.elapsed();
    for voice in voices {
        let refused =
            |error: Error| Error::new(error.kind(), format!("voice \"{voice}\": {error}"));
        look(service, Some(voice.clone())).await.map_err(refused)?;
    }
    Ok(format!("opens a session of \"{}\" in {} ms", service.model(), took.as_millis()))
}

/// Opens a session in `voice` and closes it.
async fn look(service: &dyn SpeechToSpeech, voice: Option<String>) -> Result<(), Error> {
    let setup = SpeechSetup {
        instructions: String::new(),
        voice,
        tools: Arc::from([]),
        max_tokens: 1,
        before: Vec::new(),
    };
    let mut session = service.connect(setup).await?;
    drop(session.control);
    while session.events.next().await.is_some() {}
    Ok(())
}
