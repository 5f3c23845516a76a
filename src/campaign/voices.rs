//! Voices that an NPC may be given during a session.
//!
//! Entry types: [`KnownVoice`], [`WantedVoice`], [`FoundVoice`]; [`super::Engines`] finds and
//! changes them. **Never**: changes a file.

use crate::{
    domain::visible,
    provider::{ListedVoice, VoiceService, nearest_names},
};

/// Longest line of a voice, in characters: Discord's limit of a choice.
pub const VOICE_LINE_MAX: u16 = 100;
/// Separates the id of a voice from its name and description.
const SEPARATOR: &str = " · ";

/// A voice in the list of a configured service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownVoice {
    /// Name of its entry: that of its service, unless the configuration gives another.
    pub service: String,
    pub voice: ListedVoice,
}

impl KnownVoice {
    /// "piper joe · Joe, American": service and id, then [`Self::about`] as far as it fits.
    pub fn line(&self) -> String {
        let mut line = format!("{} {}", self.service, visible(&self.voice.id));
        let about = self.about();
        let room = usize::from(VOICE_LINE_MAX).saturating_sub(line.chars().count());
        if !about.is_empty() && room > SEPARATOR.chars().count() {
            line.extend(SEPARATOR.chars().chain(about.chars()).take(room));
        }
        line
    }

    /// "Joe, American": its name, unless that is its id, and its description; may be empty.
    pub fn about(&self) -> String {
        let ListedVoice { id, name, about, .. } = &self.voice;
        let name = Some(visible(name)).filter(|name| name != id);
        let told = name.into_iter().chain([visible(about)]).filter(|it| !it.is_empty());
        told.collect::<Vec<_>>().join(", ")
    }
}

/// A voice as a game master names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedVoice {
    /// `None`: the service that has it, or the one whose name precedes the id.
    pub service: Option<String>,
    pub id: String,
}

impl WantedVoice {
    /// Reads "joe", "piper joe" or a line of a [`KnownVoice`].
    pub fn read(text: &str) -> Self {
        let text = text.split(SEPARATOR).next().unwrap_or(text).trim();
        let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match VoiceService::named(first).filter(|_| !rest.is_empty()) {
            Some(service) => {
                Self { service: Some(service.name().to_owned()), id: rest.trim().to_owned() }
            }
            None => Self { service: None, id: text.to_owned() },
        }
    }
}

/// A voice that an NPC can be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundVoice {
    /// Name of its entry, for the provider of a voice.
    pub service: String,
    pub id: String,
    /// False if only the service knows whether it has this voice.
    pub is_listed: bool,
}

/// Problem of a voice that `service` does not have, with the fix.
pub fn unknown_voice(id: &str, service: &str, listed: &[ListedVoice]) -> (String, String) {
    let (near, _) = nearest_names(id, listed.iter().map(|voice| voice.id.as_str()));
    let fix = match near.as_slice() {
        [] => format!("it has no voices here; see: glyphoxa voices --provider {service}"),
        near => {
            let near = near.join(", ");
            format!("nearest: {near}; all: glyphoxa voices --provider {service}")
        }
    };
    (format!("unknown voice '{id}' of {service}"), fix)
}

pub fn voice_changed(npc: &str, found: &FoundVoice) -> String {
    let FoundVoice { service, id, is_listed } = found;
    let doubt = match is_listed {
        true => String::new(),
        false => format!(" {service} doesn't list it, and may refuse it."),
    };
    format!(
        "{npc} speaks as {service} {id} from the next turn on, until the session ends; write `voice: {{ \
         provider: {service}, voice_id: {id} }}` into its file to keep it.{doubt}"
    )
}

/// A sentence in which `npc` says how it sounds, in `language`.
pub fn sample_line(language: &str, npc: &str) -> String {
    match language {
        "de" => format!("Seid gegrüßt! Ich bin {npc}, und so klinge ich."),
        _ => format!("Well met! I am {npc}, and this is how I sound."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joe() -> KnownVoice {
        let voice = ListedVoice {
            id: "joe".to_owned(),
            name: "Joe".to_owned(),
            languages: vec!["en".to_owned()],
            about: "male, American".to_owned(),
        };
        KnownVoice { service: "piper".to_owned(), voice }
    }

    #[test]
    fn line_of_a_voice_names_it_again() {
        let mut joe = joe();
        assert_eq!(joe.line(), "piper joe · Joe, male, American");
        let wanted = WantedVoice { service: Some("piper".to_owned()), id: "joe".to_owned() };
        assert_eq!(WantedVoice::read(&joe.line()), wanted);
        assert_eq!(WantedVoice::read(" piper  joe "), wanted);
        joe.voice.about = "a".repeat(200);
        assert_eq!(joe.line().chars().count(), 100);
        assert_eq!(WantedVoice::read(&joe.line()), wanted);
        joe.voice.id = "b".repeat(120);
        assert!(joe.line().ends_with('b'), "an id is whole");
        joe.voice = ListedVoice { id: "a b".to_owned(), ..ListedVoice::default() };
        assert_eq!(joe.line(), "piper a b");
        assert_eq!(WantedVoice::read("piper a b").id, "a b");
        for text in ["joe", "piper"] {
            let wanted = WantedVoice { service: None, id: text.to_owned() };
            assert_eq!(WantedVoice::read(text), wanted);
        }
    }

    #[test]
    fn unknown_voice_has_the_nearest_names() {
        let (what, fix) = unknown_voice("jo", "piper", &[joe().voice]);
        assert_eq!(what, "unknown voice 'jo' of piper");
        assert_eq!(fix, "nearest: joe; all: glyphoxa voices --provider piper");
        assert!(unknown_voice("jo", "piper", &[]).1.starts_with("it has no voices here; see: "));
    }
}
