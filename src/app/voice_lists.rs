//! Lists of voices, asked of their services.
//!
//! Entry type: [`VoiceLists`]. A list of a service that is not on this machine is stored for a day,
//! in a file of `data_dir` that counts as empty if it is broken. A voice that the list lacks is
//! looked for in a new one before it is refused.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use crate::{
    campaign::{ChangeError, FoundVoice, KnownVoice, WantedVoice, now, unknown_voice},
    files,
    provider::{Error, Kind, ListedVoice, NamedEntry, VoiceEntry, VoiceList, VoiceService},
};

/// Name of the file in `data_dir`.
const STORED: &str = "voice-lists.json";
/// Limit of the file, in bytes; a service has at most some thousand voices.
const BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Age at which a service's list is asked for again, in ms: a day.
const FRESH: i64 = 24 * 60 * 60 * 1_000;
/// The same for services on this machine, so that a whole cast needs one list: 5 s.
const FRESH_HERE: i64 = 5 * 1_000;
/// Shortest time between two background requests to a service, in ms.
const RETRY: i64 = 60 * 1_000;
/// Longest wait for a list.
const PATIENCE: Duration = Duration::from_secs(20);

/// Lists of a program run. Cloning shares them.
#[derive(Clone)]
pub struct VoiceLists(Arc<Shared>);

struct Shared {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By service and address.
    lists: BTreeMap<String, StoredList>,
    /// Times of background requests.
    asked: BTreeMap<String, i64>,
}

#[derive(Clone, Serialize, Deserialize)]
struct StoredList {
    /// Unix time in ms.
    at: i64,
    voices: Vec<ListedVoice>,
}

/// Result of a look for a voice in its service's list.
#[derive(Debug, PartialEq, Eq)]
pub enum Lookup {
    Listed,
    /// The voices it has instead.
    Missing(Vec<ListedVoice>),
    /// It has no list.
    NoList,
}

impl VoiceLists {
    pub fn open(data_dir: &Path) -> Self {
        let path = data_dir.join(STORED);
        let bytes = files::read(&path, BYTES_MAX).unwrap_or_default();
        let lists = serde_json::from_slice(&bytes).unwrap_or_default();
        let state = Mutex::new(State { lists, ..State::default() });
        Self(Arc::new(Shared { path, state }))
    }

    /// Voices of `entries` as far as they are known; never waits.
    pub fn known(&self, entries: &VoiceList) -> Vec<KnownVoice> {
        let state = self.state();
        let mut known = Vec::new();
        for NamedEntry { name, entry } in entries.named() {
            let voices = state.lists.get(&key(entry)).map(|list| list.voices.as_slice());
            let of =
                |voice: &ListedVoice| KnownVoice { service: name.clone(), voice: voice.clone() };
            known.extend(voices.unwrap_or_default().iter().map(of));
        }
        known
    }

    /// Asks services of `entries` in the background for lists that are missing or old.
    pub fn refresh_soon(&self, entries: &VoiceList) {
        let now = now();
        for entry in entries.iter().filter(|entry| self.begins(entry, now)) {
            let (lists, entry) = (self.clone(), entry.clone());
            tokio::spawn(async move {
                if let Err(error) = lists.fresh(&entry).await {
                    tracing::info!(%error, service = entry.name(), "voices cannot be listed");
                }
            });
        }
    }

    /// Voices of a service: stored, or asked for; `None`: it has no list.
    pub async fn of(&self, entry: &VoiceEntry) -> Result<Option<Vec<ListedVoice>>, Error> {
        match self.stored(entry, now()) {
            Some(voices) => Ok(Some(voices)),
            None => self.fresh(entry).await,
        }
    }

    /// Looks for the voice `id` in the stored list of `entry`'s service, then in a new one.
    pub async fn look_up(&self, entry: &VoiceEntry, id: &str) -> Result<Lookup, Error> {
        let stored = self.stored(entry, now());
        if stored.is_some_and(|voices| entry.has(&voices, id)) {
            return Ok(Lookup::Listed);
        }
        Ok(match self.fresh(entry).await? {
            Some(voices) if entry.has(&voices, id) => Lookup::Listed,
            Some(voices) => Lookup::Missing(voices),
            None => Lookup::NoList,
        })
    }

    /// The voice `wanted` of a service in `entries`, that of `own` before the others.
    pub async fn find(
        &self,
        entries: &VoiceList,
        own: &str,
        wanted: WantedVoice,
    ) -> Result<FoundVoice, ChangeError> {
        let WantedVoice { service: named, id } = with_entry(entries, wanted);
        let own = entries.get(own).map_or(own, |entry| entry.name.as_str());
        let mut candidates = entries.called(named.as_deref());
        candidates.sort_by_key(|entry| (named.as_ref() != Some(&entry.name), entry.name != own));
        let Some(first) = candidates.first().copied() else {
            let known = entries.named().iter().map(|entry| entry.name.as_str());
            let known = known.collect::<Vec<_>>().join(", ");
            return Err(ChangeError::NoVoiceService { service: named.unwrap_or_default(), known });
        };
        let (mut others, mut is_unsure) = (Vec::new(), false);
        for NamedEntry { name, entry } in candidates {
            match self.look_up(entry, &id).await {
                Ok(Lookup::Listed) => {
                    return Ok(FoundVoice { service: name.clone(), id, is_listed: true });
                }
                Ok(Lookup::Missing(voices)) if entry.lists_all() => others.extend(voices),
                // Only the service knows.
                Ok(Lookup::Missing(_) | Lookup::NoList) | Err(_) => {
                    is_unsure |= *name == first.name;
                }
            }
        }
        if is_unsure {
            return Ok(FoundVoice { service: first.name.clone(), id, is_listed: false });
        }
        let service = named.as_deref().unwrap_or(&first.name);
        let (what, fix) = unknown_voice(&id, service, &others);
        Err(ChangeError::UnknownVoice(format!("{what} ({fix})")))
    }

    /// Asks a service for its list, and stores it.
    async fn fresh(&self, entry: &VoiceEntry) -> Result<Option<Vec<ListedVoice>>, Error> {
        let late = || format!("{} listed no voices in {} s", entry.info(), PATIENCE.as_secs());
        let listed = timeout(PATIENCE, entry.list()).await;
        let listed = listed.map_err(|_| Error::new(Kind::Timeout, late()))??;
        if let Some(voices) = &listed {
            self.keep(entry, voices.clone());
        }
        Ok(listed)
    }

    /// The list of a service, unless it is old.
    fn stored(&self, entry: &VoiceEntry, now: i64) -> Option<Vec<ListedVoice>> {
        let age = if is_here(entry) { FRESH_HERE } else { FRESH };
        let state = self.state();
        let list = state.lists.get(&key(entry)).filter(|list| list.is_within(age, now));
        list.map(|list| list.voices.clone())
    }

    /// True if a request to the service is due, which counts as begun.
    fn begins(&self, entry: &VoiceEntry, now: i64) -> bool {
        let mut state = self.state();
        let key = key(entry);
        let is_known = state.lists.get(&key).is_some_and(|list| list.is_within(FRESH, now));
        let was_asked = state.asked.get(&key).is_some_and(|at| (0..RETRY).contains(&(now - at)));
        let is_due = !was_asked && (is_here(entry) || !is_known);
        if is_due {
            state.asked.insert(key, now);
        }
        is_due
    }

    fn keep(&self, entry: &VoiceEntry, voices: Vec<ListedVoice>) {
        let mut state = self.state();
        state.lists.insert(key(entry), StoredList { at: now(), voices });
        // A list alone is no reason to create `data_dir`.
        if is_here(entry) || !self.0.path.parent().is_some_and(Path::is_dir) {
            return;
        }
        let outside =
            |(key, _): &(&String, &StoredList)| !VoiceService::HERE.contains(&key.as_str());
        let lists: BTreeMap<&String, &StoredList> = state.lists.iter().filter(outside).collect();
        let json = serde_json::to_vec(&lists).unwrap_or_default();
        if u64::try_from(json.len()).is_ok_and(|length| length > BYTES_MAX) {
            return;
        }
        if let Err(error) = files::replace_private(&self.0.path, &json) {
            let path = self.0.path.display();
            tracing::info!(%error, %path, "lists of voices are not stored (they are asked for again)");
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StoredList {
    /// True if it is younger than `age`; a clock set back makes it old.
    fn is_within(&self, age: i64, now: i64) -> bool {
        (0..age).contains(&now.saturating_sub(self.at))
    }
}

/// `wanted`, whose id may begin with the name of an entry.
fn with_entry(entries: &VoiceList, wanted: WantedVoice) -> WantedVoice {
    let is_named = |name: &str| entries.named().iter().any(|entry| entry.name == name);
    match wanted.id.split_once(char::is_whitespace) {
        Some((name, id)) if wanted.service.is_none() && is_named(name) => {
            WantedVoice { service: Some(name.to_owned()), id: id.trim().to_owned() }
        }
        _ => wanted,
    }
}

/// True if the voices of `entry` are listed by this machine itself.
fn is_here(entry: &VoiceEntry) -> bool {
    VoiceService::HERE.contains(&entry.name())
}

/// Name of a service here; of another one its address too.
fn key(entry: &VoiceEntry) -> String {
    match is_here(entry) {
        true => entry.name().to_owned(),
        false => format!("{} {}", entry.name(), entry.info()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::{PiperOptions, wyoming};

    fn piper(models: &Path, voices: &[&str]) -> VoiceEntry {
        for voice in voices {
            let folder = models.join(voice);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("a.onnx"), "").unwrap();
            std::fs::write(folder.join("a.onnx.json"), "{}").unwrap();
        }
        VoiceEntry::Piper(PiperOptions { models: vec![models.to_owned()] })
    }

    /// A service that does not answer.
    fn away() -> VoiceEntry {
        VoiceEntry::Wyoming(wyoming::Options {
            address: "tcp://127.0.0.1:1".to_owned(),
            model: None,
            first_byte_timeout: PATIENCE,
            idle_timeout: PATIENCE,
        })
    }

    fn listed(id: &str) -> Vec<ListedVoice> {
        vec![ListedVoice { id: id.to_owned(), ..ListedVoice::default() }]
    }

    fn wanted(text: &str) -> WantedVoice {
        WantedVoice::read(text)
    }

    #[tokio::test]
    async fn voices_here_are_always_current() {
        let dir = tempfile::tempdir().unwrap();
        let lists = VoiceLists::open(dir.path());
        let entry = piper(dir.path(), &["joe"]);
        assert_eq!(lists.look_up(&entry, "joe").await.unwrap(), Lookup::Listed);
        assert!(matches!(lists.look_up(&entry, "amy").await.unwrap(), Lookup::Missing(_)));
        // A voice that the list lacks is looked for in a new one.
        piper(dir.path(), &["amy"]);
        assert_eq!(lists.look_up(&entry, "amy").await.unwrap(), Lookup::Listed);
        assert_eq!(lists.known(&VoiceList::of(entry)).len(), 2);
        assert!(!dir.path().join(STORED).exists(), "only lists of services are stored");
    }

    #[tokio::test]
    async fn lists_of_services_last_a_day() {
        let dir = tempfile::tempdir().unwrap();
        let (lists, entry) = (VoiceLists::open(dir.path()), away());
        lists.keep(&entry, listed("amy"));
        let again = VoiceLists::open(dir.path());
        assert_eq!(again.of(&entry).await.unwrap(), Some(listed("amy")));
        assert_eq!(again.known(&VoiceList::of(entry.clone())).len(), 1);
        let later = now() + FRESH;
        assert!(again.stored(&entry, later).is_none() && again.begins(&entry, later));
        assert!(!again.begins(&entry, later + RETRY - 1), "once a minute");
        assert!(again.begins(&entry, later + RETRY));
        std::fs::write(dir.path().join(STORED), "{\"a\": 1}").unwrap();
        assert!(VoiceLists::open(dir.path()).known(&VoiceList::of(entry)).is_empty());
        let nowhere = VoiceLists::open(&dir.path().join("none"));
        nowhere.keep(&away(), listed("amy"));
        assert!(!dir.path().join("none").exists());
    }

    #[tokio::test]
    async fn voice_is_found_or_refused_with_near_ones() {
        let dir = tempfile::tempdir().unwrap();
        let lists = VoiceLists::open(dir.path());
        let joe = piper(dir.path(), &["joe", "en_US-lessac-medium"]);
        let named = |name: &str, entry| NamedEntry { name: name.to_owned(), entry };
        let entries = vec![named("piper", joe), named("wyoming", away()), named("attic", away())];
        let entries = VoiceList::new(entries);
        lists.keep(&away(), listed("amy"));
        let find = async |own: &str, text: &str| lists.find(&entries, own, wanted(text)).await;
        let found = find("wyoming", "joe").await.unwrap();
        assert_eq!((found.service.as_str(), found.is_listed), ("piper", true));
        let found = find("piper", "attic amy").await.unwrap();
        assert_eq!((found.service.as_str(), found.id.as_str()), ("attic", "amy"));
        assert_eq!(find("attic", "amy").await.unwrap().service, "attic", "its own first");
        assert_eq!(find("piper", "wyoming amy").await.unwrap().service, "wyoming");
        let error = find("piper", "piper lessac").await.unwrap_err().to_string();
        let expected = "unknown voice 'lessac' of piper (nearest: en_US-lessac-medium, joe; all: \
                        glyphoxa voices --provider piper)";
        assert_eq!(error, expected);
        let unsure = find("wyoming", "wyoming bob").await.unwrap();
        assert!(!unsure.is_listed, "a service that is away may have it");
        let error = find("piper", "kokoro af_sky").await.unwrap_err().to_string();
        assert!(
            error.ends_with("is not configured (use one of: piper, wyoming, attic)"),
            "{error}"
        );
    }
}
