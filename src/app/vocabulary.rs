//! What hears a table: the recogniser with the words of the campaign, and what judges pauses.
//!
//! Entry functions: [`vocabulary`], [`recogniser`], [`turn_judge`]. **Never**: loads a model.

use std::sync::Arc;

use crate::{
    config::Config,
    domain::{EntityKind, LineWhen, ScriptedLine},
    logic::{language::Language, words::fold},
    provider::{Error, Registry, SpeechToText, TurnJudge, local},
};

/// The recogniser of `config` for a table of its campaign; nothing is loaded yet.
///
/// # Errors
/// An address or key that makes no request.
pub fn recogniser(services: &Registry, config: &Config) -> Result<Arc<dyn SpeechToText>, Error> {
    services.recogniser(&config.services, || vocabulary(config))
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

/// Whether `text` may be said by somebody who speaks English, which is all that the recogniser of this
/// vocabulary hears: words of another language would only be heard by mistake.
fn is_english(text: &str) -> bool {
    Language::spoken_in(text).is_none_or(|it| it.code == Language::english().code)
}

/// The names and phrases that are likely to be said, in English, at a table of `config`.
pub fn vocabulary(config: &Config) -> local::Vocabulary {
    let name = |text: &str, respelling: Option<&str>| local::Name {
        text: text.to_owned(),
        respelling: respelling.map(str::to_owned),
    };
    let mut vocabulary = local::Vocabulary::default();
    for npc in &config.npcs {
        let aliases = npc.aliases.iter().filter(|alias| is_english(alias));
        for called in std::iter::once(&npc.name).chain(aliases) {
            let said = npc.pronunciation.iter().find(|p| fold(&p.word) == fold(called));
            vocabulary.names.push(name(called, said.map(|p| p.respelling.as_str())));
        }
        for said in &npc.pronunciation {
            vocabulary.names.push(name(&said.word, Some(&said.respelling)));
        }
        let english = Language::english().code;
        let spoken = |line: &&ScriptedLine| line.language.as_deref().is_none_or(|it| it == english);
        let lines = npc.lines.iter().filter(spoken).filter_map(|line| match &line.when {
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
    let keywords = config.tiers.deep.iter().chain(&config.tiers.standard);
    vocabulary.keywords.extend(keywords.filter(|phrase| is_english(phrase)).cloned());
    vocabulary
}
