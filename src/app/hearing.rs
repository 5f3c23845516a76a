//! A table's recognisers and turn judge. Entry functions: [`table_recogniser`], [`turn_judge`].

use std::sync::Arc;

use crate::{
    config::Config,
    provider::{Chain, Error, Registry, SpeechToText, TurnJudge},
};

pub struct TableRecogniser {
    /// Loaded, unless they cannot hear or need not.
    pub stt: Chain<dyn SpeechToText>,
    /// Why it hears no one, with the fix: missing or broken model files. The table opens anyway.
    pub cannot_hear: Option<String>,
}

/// Opens the recognisers of a table of `config`, and loads them if the table `is_heard`. One of them
/// suffices.
///
/// # Errors
/// An address or key that makes no request; services of which none can be used.
pub async fn table_recogniser(
    services: &Registry,
    config: &Config,
    is_heard: bool,
) -> Result<TableRecogniser, Error> {
    let stt = services.recognisers(&config.services)?;
    if !is_heard {
        return Ok(TableRecogniser { stt, cannot_hear: None });
    }
    let cannot_hear = match (stt.ready().await, config.services.recognisers.only_here()) {
        (Ok(()), _) => None,
        (Err(error), Some(_)) => Some(error.to_string()),
        (Err(error), None) => return Err(error),
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
