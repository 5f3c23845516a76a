//! What hears a table: the recogniser, and what judges pauses.
//!
//! Entry functions: [`heard_by`], [`turn_judge`].

use std::sync::Arc;

use crate::{
    config::Config,
    provider::{Error, RecogniserEntry, Registry, SpeechToText, TurnJudge},
};

/// What hears a table.
pub struct HeardBy {
    /// The recogniser, loaded.
    pub stt: Arc<dyn SpeechToText>,
    /// Why it hears nobody, and what to do about it: the model files of this machine are missing, or
    /// cannot be used. The table opens all the same.
    pub cannot_hear: Option<String>,
}

/// What hears a table of `config`.
///
/// # Errors
/// An address or key that makes no request; a service that cannot be used.
pub async fn heard_by(services: &Registry, config: &Config) -> Result<HeardBy, Error> {
    let stt = services.recogniser(&config.services)?;
    let cannot_hear = match (stt.ready().await, &config.services.recogniser) {
        (Ok(()), _) => None,
        (Err(error), RecogniserEntry::Local(_)) => Some(error.to_string()),
        (Err(error), _) => return Err(error),
    };
    Ok(HeardBy { stt, cannot_hear })
}

/// What judges how pauses sound, where `turn.detector` wants it. Where it cannot be used, that is said
/// here and words count instead.
pub async fn turn_judge(services: &Registry, config: &Config) -> Option<Arc<dyn TurnJudge>> {
    if !config.session.detector.listens() {
        return None;
    }
    let judge = services.turn_judge(&config.services).await;
    judge
        .inspect_err(|error| {
            tracing::warn!(%error, "turn.detector: turns end by what was said, as with 'text'");
        })
        .ok()
}
