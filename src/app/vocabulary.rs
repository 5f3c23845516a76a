//! The words that a campaign adds to those a recogniser knows.
//!
//! Entry functions: [`vocabulary`], [`recogniser`]. **Never**: loads a model.

use std::sync::Arc;

use crate::{
    config::Config,
    domain::{EntityKind, LineWhen},
    logic::words::fold,
    provider::{Error, Registry, SpeechToText, local},
};

/// The recogniser of `config` for a table of its campaign; nothing is loaded yet.
///
/// # Errors
/// An address or key that makes no request.
pub fn recogniser(services: &Registry, config: &Config) -> Result<Arc<dyn SpeechToText>, Error> {
    services.recogniser(&config.services, || vocabulary(config))
}

/// The names and phrases that are likely to be said at a table of `config`.
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
