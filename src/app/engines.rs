//! Engines and voices of a table's NPCs, changed by its game master. Entry type: [`SeatedTable`].

use std::{collections::BTreeSet, sync::Arc};

use futures::{FutureExt, future::BoxFuture};

use super::seats::SeatedTable;
use crate::{
    campaign::{ChangeError, EngineOffer, Engines, FoundVoice, Given, KnownVoice, WantedVoice},
    config::Config,
    domain::{EngineKind, Npc, Voice},
    logic::budget::HourCost,
    provider::Services,
    session::Command,
};

impl Engines for SeatedTable {
    fn services(&self) -> Arc<Services> {
        self.services.load_full()
    }

    fn announced(&self, services: &BTreeSet<String>) {
        self.announced.store(Arc::new(services.clone()));
    }

    fn offer(&self, npc: &str, engine: EngineKind) -> Result<EngineOffer, ChangeError> {
        let config = self.config.try_lock().map_err(|_| ChangeError::Busy)?;
        let npc = with_engine(&config, npc, engine)?;
        let services = config.describe(std::slice::from_ref(&npc));
        let work = self.seats.paid_work(&config, &npc)?;
        let given = match services.speaks_and_hears.into_iter().next() {
            Some(it) => Given::Voices(it.service),
            None => Given::Words(services.thinks),
        };
        Ok(EngineOffer {
            npc: npc.name,
            hour: HourCost::of(&config.budget, &work),
            hears: services.hears,
            given,
        })
    }

    fn change(&self, npc: &str, engine: EngineKind) -> Result<(), ChangeError> {
        let mut config = self.config.try_lock().map_err(|_| ChangeError::Busy)?;
        let changed = with_engine(&config, npc, engine)?;
        self.cast(&mut config, &changed).ok_or(ChangeError::Silent)
    }

    fn known_voices(&self) -> Vec<KnownVoice> {
        // Files are being reread.
        let Ok(config) = self.config.try_lock() else { return Vec::new() };
        let entries = &config.services.voices;
        self.lists.refresh_soon(entries);
        self.lists.known(entries)
    }

    fn find_voice(
        &self,
        npc: &str,
        wanted: WantedVoice,
    ) -> BoxFuture<'static, Result<FoundVoice, ChangeError>> {
        let (lists, config, npc) = (self.lists.clone(), Arc::clone(&self.config), npc.to_owned());
        async move {
            let config = Arc::clone(&*config.lock().await);
            let found = config.npcs.iter().find(|it| it.name == npc);
            let own = &found.ok_or(ChangeError::Gone(npc))?.voice.provider;
            lists.find(&config.services.voices, own, wanted).await
        }
        .boxed()
    }

    fn change_voice(&self, npc: &str, found: &FoundVoice) -> Result<(), ChangeError> {
        let mut config = self.config.try_lock().map_err(|_| ChangeError::Busy)?;
        let changed = with_voice(&config, npc, found)?;
        // An address or key that makes no request is refused here.
        self.seats.services.voice(&config.services, &changed.voice)?;
        self.cast(&mut config, &changed).ok_or(ChangeError::Silent)
    }
}

impl SeatedTable {
    /// Casts `changed` at the table, and in its configuration; `None`: the table is closed or
    /// overloaded, and nothing has changed.
    fn cast(&self, config: &mut Arc<Config>, changed: &Npc) -> Option<()> {
        let mut fresh = Config::clone(config);
        let same = fresh.npcs.iter_mut().filter(|it| it.name == changed.name);
        same.for_each(|it| it.clone_from(changed));
        let fresh = Arc::new(fresh);
        let commands = self.commands.upgrade()?;
        let order = commands.try_reserve().ok()?;
        // The table waits until notices have named the outside services.
        self.services.store(Arc::new(fresh.describe(&fresh.npcs)));
        order.send(Command::Cast(self.role(&fresh, changed)));
        *config = fresh;
        Some(())
    }
}

/// The NPC with another voice as it is; its own volume and fallback stay.
fn with_voice(config: &Config, npc: &str, found: &FoundVoice) -> Result<Npc, ChangeError> {
    let known = config.npcs.iter().find(|it| it.name == npc);
    let known = known.ok_or_else(|| ChangeError::Gone(npc.to_owned()))?;
    let FoundVoice { service, id, .. } = found;
    let own = config.services.voices.get(&known.voice.provider);
    if own.is_some_and(|own| own.name == *service) && known.voice.voice_id == *id {
        let voice = format!("{service} {id}");
        return Err(ChangeError::SameVoice { npc: npc.to_owned(), voice });
    }
    let (volume, fallback) = (known.voice.volume, known.voice.fallback.clone());
    let voice = Voice { volume, fallback, ..Voice::as_is(service, id) };
    Ok(Npc { voice, ..known.clone() })
}

fn with_engine(config: &Config, npc: &str, engine: EngineKind) -> Result<Npc, ChangeError> {
    let found = config.npcs.iter().find(|it| it.name == npc);
    let found = found.ok_or_else(|| ChangeError::Gone(npc.to_owned()))?;
    if found.engine == engine {
        return Err(ChangeError::Same { npc: npc.to_owned(), engine });
    }
    if engine == EngineKind::SentenceCascade && found.cascade.is_none() {
        return Err(ChangeError::NoOpener(npc.to_owned()));
    }
    if engine == EngineKind::SpeechToSpeech {
        if config.services.speech_to_speech_of(found).is_none() {
            return Err(match &found.s2s.provider {
                Some(service) if !config.services.speech_to_speech.is_empty() => {
                    ChangeError::AddedLater { npc: npc.to_owned(), service: service.clone() }
                }
                _ => ChangeError::NoService,
            });
        }
        if !config.campaign.lines_and_veils.is_empty() {
            return Err(ChangeError::Guarded);
        }
    }
    Ok(Npc { engine, ..found.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config, tools::builtin};

    const TEXT: &str = "
providers:
  speech_to_speech:
    - { name: openai-realtime, model: a, base_url: 'http://127.0.0.1:9' }
    - { name: gemini-live, model: b, base_url: 'http://127.0.0.1:9' }
npcs:
  - { name: Gisela, s2s: { provider: gemini-live }, lines: [{ say: Hm. }] }
";

    #[test]
    fn changed_voice_keeps_volume_and_fallback() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("glyphoxa.yaml");
        let text = "npcs: [{ name: Odo, lines: [{ say: Hm. }], voice: { provider: espeak, voice_id: de, \
                    volume: 0.5, pitch_shift: 3, fallback: { provider: flite } } }]";
        std::fs::write(&path, text).unwrap();
        let config = config::load(Some(&path), &|_| None, builtin::IDENTITIES).unwrap();
        let found = |id: &str| {
            let (service, id) = ("espeak".to_owned(), id.to_owned());
            FoundVoice { service, id, is_listed: true }
        };
        let changed = with_voice(&config, "Odo", &found("en-gb")).unwrap().voice;
        assert_eq!((changed.voice_id.as_str(), changed.pitch_shift), ("en-gb", 0.0));
        assert!(changed.volume < 1.0 && changed.fallback.is_some(), "{changed:?}");
        let error = with_voice(&config, "Odo", &found("de")).unwrap_err().to_string();
        assert_eq!(error, "Odo has the voice espeak de already");
        assert!(matches!(with_voice(&config, "Ida", &found("de")), Err(ChangeError::Gone(_))));
    }

    #[test]
    fn engine_without_its_own_service_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("glyphoxa.yaml");
        std::fs::write(&path, TEXT).unwrap();
        let mut config = config::load(Some(&path), &|_| None, builtin::IDENTITIES).unwrap();
        let changed = |config: &Config| with_engine(config, "Gisela", EngineKind::SpeechToSpeech);
        assert_eq!(changed(&config).unwrap().engine, EngineKind::SpeechToSpeech);
        // As if the second was added while the first ran.
        config.services.speech_to_speech.truncate(1);
        let why = changed(&config).unwrap_err().to_string();
        let wanted =
            "the service 'gemini-live' of Gisela was added after the start (start again to use it)";
        assert_eq!(why, wanted);
        config.services.speech_to_speech.clear();
        assert!(matches!(changed(&config), Err(ChangeError::NoService)));
    }
}
