//! Engines and voices of NPCs, changed by the game master during a session.
//!
//! Entry trait: [`Engines`], implemented by `app` for each table. **Never**: changes a file.

use std::{collections::BTreeSet, fmt, sync::Arc};

use futures::{
    FutureExt,
    future::{BoxFuture, ready},
};

use super::voices::{FoundVoice, KnownVoice, WantedVoice};
use crate::{
    domain::EngineKind,
    logic::budget::{ANSWERS, HourCost, MINUTES_RECEIVED, MINUTES_SPOKEN},
    provider::{Error, ServiceInfo, Services},
};

/// The engines and voices of one table's NPCs. A table without voices to choose from keeps the
/// defaults.
pub trait Engines: Send + Sync {
    /// The NPCs' current services.
    fn services(&self) -> Arc<Services>;

    /// Records outside services the table has been notified of, by their names in notices.
    fn announced(&self, services: &BTreeSet<String>);

    /// Price of this NPC with `engine`, and where the players' voices would go.
    ///
    /// # Errors
    /// It cannot have that engine, or already has it.
    fn offer(&self, npc: &str, engine: EngineKind) -> Result<EngineOffer, ChangeError>;

    /// Changes this NPC's engine from its next turn on, until the session ends or its entry in the
    /// files changes.
    ///
    /// # Errors
    /// It cannot have that engine, or already has it; nothing has changed.
    fn change(&self, npc: &str, engine: EngineKind) -> Result<(), ChangeError>;

    /// Voices of the configured services as far as they are known; never waits. Asks for missing
    /// lists in the background.
    fn known_voices(&self) -> Vec<KnownVoice> {
        Vec::new()
    }

    /// The voice `wanted` for this NPC. May ask services for their lists, each for at most 20 s.
    ///
    /// # Errors
    /// No service has it, or its service is not configured.
    fn find_voice(
        &self,
        npc: &str,
        _wanted: WantedVoice,
    ) -> BoxFuture<'static, Result<FoundVoice, ChangeError>> {
        ready(Err(ChangeError::Gone(npc.to_owned()))).boxed()
    }

    /// Changes this NPC's voice from its next turn on, until the session ends or its entry in the
    /// files changes. Its volume and fallback stay.
    ///
    /// # Errors
    /// It already has that voice, or its service cannot be opened; nothing has changed.
    fn change_voice(&self, npc: &str, _found: &FoundVoice) -> Result<(), ChangeError> {
        Err(ChangeError::Gone(npc.to_owned()))
    }
}

/// Reason an NPC's engine or voice cannot be changed, with the fix.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// No model hears and speaks.
    #[error(
        "no speech-to-speech service is configured (add providers.speech_to_speech: {{ model: \
         gpt-realtime-2.1, api_key: … }}, then start again)"
    )]
    NoService,
    /// Its service was added to the files after the start.
    #[error("the service '{service}' of {npc} was added after the start (start again to use it)")]
    AddedLater {
        /// The NPC.
        npc: String,
        /// Name of its service in files.
        service: String,
    },
    /// The cascade's opener needs two chat models.
    #[error("{0} has no models for it (add cascade: {{ opener: NAME, strong: NAME }} to its file)")]
    NoOpener(String),
    /// Some topics may never be brought up.
    #[error(
        "lines_and_veils are set, so the cascade would answer anyway: nothing checks a voice model's \
         words before they are heard"
    )]
    Guarded,
    /// It already has that engine.
    #[error("{npc} has the engine {} already", .engine.short())]
    Same {
        /// The NPC.
        npc: String,
        /// The requested engine.
        engine: EngineKind,
    },
    /// The voice's service is not configured.
    #[error("voice service '{service}' is not configured (use one of: {known})")]
    NoVoiceService {
        /// Its name.
        service: String,
        /// Names of the configured ones.
        known: String,
    },
    /// Its service lists all its voices, and not this one.
    #[error("{0}")]
    UnknownVoice(String),
    /// It already has that voice.
    #[error("{npc} has the voice {voice} already")]
    SameVoice {
        /// The NPC.
        npc: String,
        /// The requested voice.
        voice: String,
    },
    /// It has left the table.
    #[error("{0} is not at the table any more")]
    Gone(String),
    /// Files are being reread, which may change its entry.
    #[error("the files are just being read again (try again in a moment)")]
    Busy,
    /// The table is closed or overloaded.
    #[error("the table does not answer (try again in a moment)")]
    Silent,
    /// Invalid address or key of a service.
    #[error(transparent)]
    Service(#[from] Error),
}

/// Price and privacy of an engine for an NPC, shown before the change.
#[derive(Clone, Debug)]
pub struct EngineOffer {
    /// The NPC.
    pub npc: String,
    /// Price per hour; else the models without a price.
    pub hour: Result<HourCost, Vec<String>>,
    /// Hear the players with either engine, in order of preference.
    pub hears: Vec<ServiceInfo>,
    /// Services that receive the players' sound or words.
    pub given: Given,
}

/// Services that receive the players' sound or words.
#[derive(Clone, Debug)]
pub enum Given {
    Voices(ServiceInfo),
    Words(Vec<ServiceInfo>),
}

impl fmt::Display for EngineOffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { npc, hour, hears, given } = self;
        write!(
            f,
            "An hour in which players talk to {npc} for {MINUTES_RECEIVED} minutes and are answered for \
             {MINUTES_SPOKEN}, in {ANSWERS} answers, "
        )?;
        match hour {
            Ok(cost) => write!(f, "costs {cost} at the configured prices.")?,
            Err(models) => {
                write!(f, "has no known cost: no price is configured for {}.", models.join(", "))?;
            }
        }
        let hears = ServiceInfo::in_turn(hears);
        match given {
            Given::Voices(model) => write!(
                f,
                " Long talks without a pause cost more. The players' own voices are sent to {}, with \
                 what {npc} knows, its secrets and the conversation; as for every NPC, {hears} hears \
                 them as well.",
                model.where_it_is()
            ),
            Given::Words(models) => {
                let models: Vec<String> = models.iter().map(ServiceInfo::where_it_is).collect();
                let models = models.join(" and ");
                write!(
                    f,
                    " The players' voices are sent to no other service than {hears}, which hears for \
                     every NPC; their words may be sent to {models}."
                )
            }
        }
    }
}

pub fn engine_changed(npc: &str, engine: EngineKind) -> String {
    let engine = engine.short();
    format!(
        "{npc} speaks by the engine {engine} from the next turn on and forgets nothing, until the session \
         ends; write `engine: {engine}` into its file to keep it."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Money;

    fn offer(hour: Result<HourCost, Vec<String>>, given: Given) -> String {
        let hears = vec![ServiceInfo::here("Whisper")];
        EngineOffer { npc: "Odo".to_owned(), hour, hears, given }.to_string()
    }

    #[test]
    fn offer_says_the_price_and_what_leaves() {
        let model = ServiceInfo::at("gpt-realtime-2.1", "https://api.openai.com/v1");
        let cost = HourCost { least: Money::of(1.18), most: Money::of(2.26) };
        expect_test::expect!["An hour in which players talk to Odo for 15 minutes and are answered for 10, in 100 answers, costs about 1.18 to 2.26 at the configured prices. Long talks without a pause cost more. The players' own voices are sent to gpt-realtime-2.1 at api.openai.com (an outside service), with what Odo knows, its secrets and the conversation; as for every NPC, Whisper (here, local) hears them as well."]
            .assert_eq(&offer(Ok(cost), Given::Voices(model)));
        let lines = vec![ServiceInfo::here("written lines")];
        let words = offer(Ok(HourCost::default()), Given::Words(lines));
        expect_test::expect!["An hour in which players talk to Odo for 15 minutes and are answered for 10, in 100 answers, costs nothing at the configured prices. The players' voices are sent to no other service than Whisper (here, local), which hears for every NPC; their words may be sent to written lines (here, local)."]
            .assert_eq(&words);
    }

    #[test]
    fn unknown_price_is_never_nothing() {
        let text = offer(Err(vec!["gpt-5".to_owned()]), Given::Words(Vec::new()));
        assert!(text.contains("no known cost: no price is configured for gpt-5."), "{text}");
    }
}
