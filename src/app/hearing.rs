//! A table's recogniser and turn judge. Entry functions: [`table_recogniser`], [`turn_judge`].

use std::sync::Arc;

use crate::{
    config::Config,
    provider::{Error, RecogniserEntry, Registry, SpeechToText, TurnJudge},
};

pub struct TableRecogniser {
    /// Loaded, unless it cannot hear or need not.
    pub stt: Arc<dyn SpeechToText>,
    /// Why it hears no one, with the fix: missing or broken model files. The table opens anyway.
    pub cannot_hear: Option<String>,
}

/// Opens the recogniser of a table of `config`, and loads it if the table `is_heard`.
///
/// # Errors
/// An address or key that makes no request; a service that cannot be used.
pub async fn table_recogniser(
    services: &Registry,
    config: &Config,
    is_heard: bool,
) -> Result<TableRecogniser, Error> {
    let stt = services.recogniser(&config.services)?;
    if !is_heard {
        return Ok(TableRecogniser { stt, cannot_hear: None });
    }
    let cannot_hear = match (stt.ready().await, &config.services.recogniser) {
        (Ok(()), _) => None,
        (Err(error), RecogniserEntry::Local(_)) => Some(error.to_string()),
        (Err(error), _) => return Err(error),
    };
    Ok(TableRecogniser { stt, cannot_hear })
}

/// Judges pauses by sound, if `turn.detector` asks for it. Logs a failure; then words decide.
pub async fn turn_judge(services: &Registry, config: &Config) -> Option<Arc<dyn TurnJudge>> {
    if !config.session.detector.listens() {
        return None;
    }
    let judge = services.turn_judge(&config.services).await;
    judge
        .inspect_err(|error| {
            tracing::warn!(%error, "turn.detector cannot be used; turns end by the words, as with \
                                    'text'");
        })
        .ok()
}
