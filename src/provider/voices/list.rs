//! Voice services of a configuration in order of preference, and the voices that replace others.
//!
//! Entry type: [`VoiceList`]. **Never**: opens anything.

use std::{mem, path::PathBuf};

use super::{KokoroOptions, PiperOptions, VoiceEntry, VoiceService};
use crate::{
    domain::{Npc, Voice},
    provider::{DefaultId, NamedEntry},
};

/// The voice that replaces a failed one of `entry`.
#[derive(Clone, Debug, PartialEq)]
pub struct Replacement {
    /// Name of the failed voice's entry.
    pub entry: String,
    /// `None`: each voice without a replacement of its own.
    pub voice_id: Option<String>,
    pub by: Voice,
}

/// Voice services that NPCs may name: the configured ones in order of preference, then those that
/// need no settings. Their names are unique.
#[derive(Clone, Debug, PartialEq)]
pub struct VoiceList {
    entries: Vec<NamedEntry<VoiceEntry>>,
    /// Number of configured entries; at least one.
    configured: usize,
    replacements: Vec<Replacement>,
}

impl Default for VoiceList {
    fn default() -> Self {
        Self::of(VoiceEntry::default())
    }
}

impl VoiceList {
    pub fn of(entry: VoiceEntry) -> Self {
        Self::new(vec![NamedEntry { name: entry.name().to_owned(), entry }])
    }

    /// The default service if `entries` is empty.
    pub fn new(entries: Vec<NamedEntry<VoiceEntry>>) -> Self {
        if entries.is_empty() {
            return Self::default();
        }
        Self { configured: entries.len(), entries, replacements: Vec::new() }
    }

    #[must_use]
    pub fn replacing(self, replacements: Vec<Replacement>) -> Self {
        Self { replacements, ..self }
    }

    /// Adds services that need only the folders of `models`. `slow`: longest synthesis of a
    /// network, in seconds per second of speech.
    #[must_use]
    pub fn with_models(mut self, models: &[PathBuf], slow: f32) -> Self {
        let here = |service| {
            let models = models.to_owned();
            match service {
                VoiceService::Piper => Some(VoiceEntry::Piper(PiperOptions { models })),
                VoiceService::Kokoro => {
                    Some(VoiceEntry::Kokoro(KokoroOptions { models, slowest: slow }))
                }
                other => other.without_settings(),
            }
        };
        for named in &mut self.entries {
            if let Some(entry) = here(named.entry.service()) {
                named.entry = entry;
            }
        }
        for service in VoiceService::ALL {
            if self.get(service.name()).is_none()
                && let Some(entry) = here(service)
            {
                self.entries.push(NamedEntry { name: service.name().to_owned(), entry });
            }
        }
        self
    }

    pub fn iter(&self) -> impl Iterator<Item = &VoiceEntry> {
        self.entries.iter().map(|named| &named.entry)
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut VoiceEntry> {
        self.entries.iter_mut().map(|named| &mut named.entry)
    }

    pub fn named(&self) -> &[NamedEntry<VoiceEntry>] {
        &self.entries
    }

    /// The configured ones, in order of preference.
    pub fn configured(&self) -> &[NamedEntry<VoiceEntry>] {
        self.entries.get(..self.configured).unwrap_or_default()
    }

    /// The service of NPCs that name none.
    pub fn first(&self) -> Option<&NamedEntry<VoiceEntry>> {
        self.entries.first()
    }

    /// The entry called `name`, else the first of the service `name`.
    pub fn get(&self, name: &str) -> Option<&NamedEntry<VoiceEntry>> {
        let mut all = self.entries.iter();
        let called = all.clone().find(|named| named.name == name);
        called.or_else(|| all.find(|named| named.entry.name() == name))
    }

    /// Entries called `name` or of the service `name`; `None`: all.
    pub fn called(&self, name: Option<&str>) -> Vec<&NamedEntry<VoiceEntry>> {
        let is_it = |named: &&NamedEntry<VoiceEntry>| {
            name.is_none_or(|name| named.name == name || named.entry.name() == name)
        };
        self.entries.iter().filter(is_it).collect()
    }

    /// Voices of `npc` in order of preference: its own, its fallback, the replacements of these,
    /// and the other configured entries. Services that are not configured are left out.
    pub fn speaks(&self, npc: &Npc) -> Vec<Voice> {
        let own = Voice { fallback: None, ..npc.voice.clone() };
        let second = npc.voice.fallback.as_deref().cloned();
        let behind: Vec<Voice> = self.behind(&own, &npc.language).collect();
        let mut all: Vec<Voice> = Vec::new();
        let mut next: Vec<Voice> = [own].into_iter().chain(second).collect();
        // Each voice comes once, so that replacements end.
        while !next.is_empty() {
            for voice in mem::take(&mut next) {
                if self.get(&voice.provider).is_some() && all.iter().all(|it| !is_same(it, &voice))
                {
                    next.extend(self.replacement(&voice));
                    all.push(voice);
                }
            }
        }
        for voice in behind {
            if all.iter().all(|it| !is_same(it, &voice)) {
                all.push(voice);
            }
        }
        all
    }

    fn replacement(&self, voice: &Voice) -> Option<Voice> {
        let entry = &self.get(&voice.provider)?.name;
        let its = |it: &&Replacement| it.entry == *entry;
        let mut own = self.replacements.iter().filter(its);
        let named = own.clone().find(|it| it.voice_id.as_ref() == Some(&voice.voice_id));
        let found = named.or_else(|| own.find(|it| it.voice_id.is_none()))?;
        Some(found.by.clone())
    }

    /// Voices of the other configured entries that may replace `own`, if its entry is configured:
    /// the same voice at another entry of its service, else the entry's default voice.
    fn behind(&self, own: &Voice, language: &str) -> impl Iterator<Item = Voice> {
        let configured = self.configured().iter();
        let mine = self.get(&own.provider);
        let is_listed = mine.is_some_and(|mine| configured.clone().any(|it| it.name == mine.name));
        let others =
            configured.filter(move |it| is_listed && mine.is_none_or(|m| m.name != it.name));
        others.filter_map(move |other| {
            let service = other.entry.service();
            let traits = service.traits();
            let is_same = mine.is_some_and(|mine| mine.entry.service() == service);
            let voice_id = match traits.default_id {
                _ if is_same => own.voice_id.as_str(),
                _ if traits.english_only && language != "en" => return None,
                DefaultId::Fixed(id) => id,
                DefaultId::Language => language,
                DefaultId::Required => return None,
            };
            let formant_shift = if traits.shifts_formants { own.formant_shift } else { 0.0 };
            let (provider, voice_id) = (other.name.clone(), voice_id.to_owned());
            Some(Voice { provider, voice_id, formant_shift, ..own.clone() })
        })
    }
}

fn is_same(one: &Voice, other: &Voice) -> bool {
    (&one.provider, &one.voice_id) == (&other.provider, &other.voice_id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::openai::VoiceOptions;

    fn server(port: u16) -> VoiceEntry {
        VoiceEntry::OpenAi(VoiceOptions::at(&format!("http://127.0.0.1:{port}/v1")))
    }

    fn named(name: &str, entry: VoiceEntry) -> NamedEntry<VoiceEntry> {
        NamedEntry { name: name.to_owned(), entry }
    }

    fn npc(voice: Voice) -> Npc {
        Npc { voice, ..Npc::plain("Bartok") }
    }

    fn order(list: &VoiceList, voice: Voice) -> Vec<String> {
        let all = list.speaks(&npc(voice)).into_iter();
        all.map(|it| format!("{}/{}", it.provider, it.voice_id)).collect()
    }

    #[test]
    fn own_fallback_precedes_entries_and_list() {
        let replaces = |id: Option<&str>, by: &str| Replacement {
            entry: "main".to_owned(),
            voice_id: id.map(str::to_owned),
            by: Voice::as_is("flite", by),
        };
        let entries = vec![named("main", server(1)), named("spare", server(2))];
        let replaced = vec![replaces(Some("alloy"), "slt"), replaces(None, "rms")];
        let list = VoiceList::new(entries).replacing(replaced);
        let list = list.with_models(&[], 0.8);
        let alloy = || Voice::as_is("main", "alloy");
        assert_eq!(order(&list, alloy()), ["main/alloy", "flite/slt", "spare/alloy"]);
        assert_eq!(order(&list, Voice::as_is("openai", "onyx"))[1], "flite/rms");
        let fallback = Some(Box::new(Voice::as_is("espeak", "en+m3")));
        let own = order(&list, Voice { fallback, ..alloy() });
        assert_eq!(own, ["main/alloy", "espeak/en+m3", "flite/slt", "spare/alloy"]);
        assert_eq!(order(&list, Voice::as_is("spare", "alloy"))[1..], ["main/alloy"]);
    }

    #[test]
    fn voices_outside_the_list_stay_by_themselves() {
        let list = VoiceList::of(server(1)).with_models(&[], 0.8);
        assert_eq!(order(&list, Voice::as_is("flite", "slt")), ["flite/slt"]);
        assert_eq!(order(&list, Voice::as_is("openai", "alloy")), ["openai/alloy"]);
        assert!(order(&list, Voice::as_is("wyoming", "joe")).is_empty());
    }

    #[test]
    fn default_voice_replaces_one_of_another_service() {
        let entries = vec![named("main", server(1)), named("flite", VoiceEntry::Flite)];
        let list = VoiceList::new(entries);
        let alloy = Voice { pitch_shift: 2.0, formant_shift: 1.0, ..Voice::as_is("main", "alloy") };
        let all = list.speaks(&npc(alloy.clone()));
        let [_, second] = all.as_slice() else { unreachable!("two voices: {all:?}") };
        assert_eq!((&*second.provider, second.pitch_shift), ("flite", 2.0));
        assert!(second.formant_shift.abs() < f32::EPSILON, "flite has none");
        let german = Npc { language: "de".to_owned(), ..npc(alloy) };
        assert_eq!(list.speaks(&german).len(), 1, "its voices are English");
    }

    #[test]
    fn replacements_in_a_circle_end() {
        let replaces =
            |entry: &str, by: Voice| Replacement { entry: entry.to_owned(), voice_id: None, by };
        let entries = vec![named("a", server(1)), named("b", server(2))];
        let to = |name| Voice::as_is(name, "x");
        let list =
            VoiceList::new(entries).replacing(vec![replaces("a", to("b")), replaces("b", to("a"))]);
        assert_eq!(order(&list, to("a")), ["a/x", "b/x"]);
    }
}
