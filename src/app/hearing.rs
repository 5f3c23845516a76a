//! What hears, tuned to the names of a campaign.
//!
//! Entry type and function: [`Hearing`], [`hearing`]. **Never**: loads a model that the one before it
//! would have done for.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{
    config::{Config, SttChoice},
    domain::{EntityKind, LineWhen},
    logic::words::fold,
    provider::{
        Error, SpeechToText,
        local::{self, Local},
        openai,
    },
};

/// What hears, as configured; nothing is loaded yet.
///
/// # Errors
/// An address or key that makes no request.
pub fn hearing(config: &Config) -> Result<Arc<dyn SpeechToText>, Error> {
    Ok(match &config.stt {
        SttChoice::Local => Arc::new(Local::new(local::Options::default(), vocabulary(config))),
        SttChoice::OpenAi { options, language } => {
            Arc::new(openai::Transcription::new(options.clone(), Some(language.clone()))?)
        }
    })
}

/// What hears at the tables of a program run, one after the other.
#[derive(Default)]
pub struct Hearing {
    /// What the recogniser of this machine listens for, as the last table had it.
    latest: Mutex<Option<(local::Vocabulary, Arc<dyn SpeechToText>)>>,
}

impl Hearing {
    /// What hears the names of `config`; nothing is loaded yet.
    ///
    /// # Errors
    /// An address or key that makes no request.
    pub fn new(config: &Config) -> Result<Self, Error> {
        let hearing = Self::default();
        hearing.of(config).map(|_| hearing)
    }

    /// What hears the names of `config`: the last one where it listens for the same. A service has
    /// nothing to load, and is told its names by the table.
    ///
    /// # Errors
    /// An address or key that makes no request.
    pub fn of(&self, config: &Config) -> Result<Arc<dyn SpeechToText>, Error> {
        if config.stt != SttChoice::Local {
            return hearing(config);
        }
        let wanted = vocabulary(config);
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let known = latest.take().filter(|(names, _)| *names == wanted);
        let (names, stt) = match known {
            Some(known) => known,
            None => (wanted, hearing(config)?),
        };
        *latest = Some((names, Arc::clone(&stt)));
        Ok(stt)
    }
}

/// What the recogniser should expect to hear.
pub fn vocabulary(config: &Config) -> local::Vocabulary {
    let name = |text: &str, respelling: Option<&str>| local::Name {
        text: text.to_owned(),
        respelling: respelling.map(str::to_owned),
    };
    let mut vocabulary = local::Vocabulary::default();
    for npc in &config.npcs {
        for called in std::iter::once(&npc.name).chain(&npc.aliases) {
            let said = npc.pronunciation.iter().find(|p| fold(&p.word) == fold(called));
            vocabulary.names.push(name(called, said.map(|p| p.respelling.as_str())));
        }
        for said in &npc.pronunciation {
            vocabulary.names.push(name(&said.word, Some(&said.respelling)));
        }
        let lines = npc.lines.iter().filter_map(|line| match &line.when {
            Some(LineWhen::Phrases(phrases)) => Some(phrases),
            _ => None,
        });
        vocabulary.lines.extend(lines.flatten().cloned());
    }
    for entity in &config.campaign.entities {
        for called in std::iter::once(&entity.name).chain(&entity.aliases) {
            let entry = name(called, entity.pronunciation.as_deref());
            match entity.kind {
                EntityKind::Npc | EntityKind::Player => vocabulary.people.push(entry),
                EntityKind::Location => vocabulary.places.push(entry),
                _ => vocabulary.things.push(called.clone()),
            }
        }
    }
    vocabulary.things.extend(config.rules.own_names().map(str::to_owned));
    vocabulary.people.extend(config.campaign.players.iter().map(|p| name(&p.character, None)));
    vocabulary.keywords.extend(config.tiers.deep.iter().chain(&config.tiers.standard).cloned());
    vocabulary
}
