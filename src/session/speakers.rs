//! The people at a table.
//!
//! Entry type: [`Speakers`]. Keeps the names of people who left, because their answers may still be
//! reported.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{Owner, PersonId, Player},
    logic::{
        language::Language,
        prompt::SideLine,
        words::{Words, fold},
    },
};

/// A person's id in the voice channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SpeakerId(pub u64);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Speaker {
    pub id: SpeakerId,
    pub name: String,
    pub is_dm: bool,
}

/// Stand-in for an unknown or withheld name.
pub const SOMEBODY: &str = "somebody";

/// Everyone at the table, with their characters.
#[derive(Clone, Debug)]
pub struct Speakers {
    /// Owner of the table; part of the identities.
    owner: Owner,
    here: Vec<Speaker>,
    left: Vec<Speaker>,
    /// Players of the campaign, with their characters.
    characters: Vec<Player>,
    /// Characters chosen at the table; `None`: only themselves.
    played: HashMap<SpeakerId, Option<String>>,
    /// Last language of each, as an ISO 639-1 code.
    languages: HashMap<SpeakerId, &'static str>,
}

impl Speakers {
    pub fn new(owner: Owner, characters: Vec<Player>) -> Self {
        let (here, left, played) = (Vec::new(), Vec::new(), HashMap::new());
        Self { owner, here, left, characters, played, languages: HashMap::new() }
    }

    /// Replaces the campaign's characters; those chosen at the table are unchanged.
    pub fn set_characters(&mut self, characters: Vec<Player>) {
        self.characters = characters;
    }

    pub fn join(&mut self, speaker: Speaker) {
        self.here.retain(|known| known.id != speaker.id);
        self.left.retain(|known| known.id != speaker.id);
        self.here.push(speaker);
    }

    pub fn leave(&mut self, id: SpeakerId) {
        if let Some(index) = self.here.iter().position(|known| known.id == id) {
            self.left.push(self.here.remove(index));
        }
    }

    /// True if they have left; their sound may still arrive.
    pub fn has_left(&self, id: SpeakerId) -> bool {
        self.left.iter().any(|known| known.id == id)
    }

    /// Sets the character they play, over that of the campaign; `None`: only themselves. False if
    /// unchanged.
    pub fn play(&mut self, id: SpeakerId, character: Option<String>) -> bool {
        let named = |name: String| Some(name.trim().to_owned()).filter(|name| !name.is_empty());
        let character = character.and_then(named);
        self.played.insert(id, character.clone()) != Some(character)
    }

    pub fn get(&self, id: SpeakerId) -> Option<&Speaker> {
        self.here.iter().chain(&self.left).find(|known| known.id == id)
    }

    pub fn characters(&self) -> Vec<String> {
        let known = self.characters.iter().map(|player| player.character.clone());
        known.chain(self.played.values().flatten().cloned()).collect()
    }

    /// Names of all known players and their characters, present or not.
    pub fn everybody(&self) -> Vec<String> {
        let players = self.characters.iter().map(|player| player.name.clone());
        let people = self.here.iter().chain(&self.left).map(|speaker| speaker.name.clone());
        let mut names = self.characters();
        names.extend(players.chain(people).filter(|name| !name.trim().is_empty()));
        names
    }

    pub fn name(&self, id: SpeakerId) -> &str {
        self.get(id).map_or(SOMEBODY, |speaker| &speaker.name)
    }

    pub fn person(&self, id: SpeakerId) -> PersonId {
        self.owner.person(id.0, self.name(id))
    }

    /// The language of `text`; if that is unclear ("Bartok?", "2d6"), their previous one.
    pub fn language(&mut self, id: SpeakerId, text: &str) -> Option<&'static str> {
        if let Some(language) = Language::spoken_in(text) {
            self.languages.insert(id, language.code);
        }
        self.languages.get(&id).copied()
    }

    /// The utterance as NPCs overhear it.
    pub fn side_line(&self, id: SpeakerId, text: &str) -> SideLine {
        let speaker = self.called(id).to_owned();
        SideLine { speaker, by: Some(self.person(id)), text: text.to_owned(), unanswered: false }
    }

    /// Name that NPCs use: character, else own name.
    pub fn called(&self, id: SpeakerId) -> &str {
        let name = self.name(id);
        if let Some(played) = self.played.get(&id) {
            return played.as_deref().unwrap_or(name);
        }
        let plays = |player: &&Player| player.name.eq_ignore_ascii_case(name);
        self.characters.iter().find(plays).map_or(name, |player| &player.character)
    }

    /// The speaker with this identity, at the table or gone.
    pub fn of(&self, person: &PersonId) -> Option<SpeakerId> {
        let mut ids = self.here.iter().chain(&self.left).map(|speaker| speaker.id);
        ids.find(|id| self.person(*id) == *person)
    }

    /// People whose name or character is in `text`, at the table or gone.
    pub fn named_in(&self, text: &str) -> Vec<PersonId> {
        let words = Words::of(text);
        let has = |name: &str| {
            let name = fold(name);
            (0..words.len()).any(|at| words.phrase_at(at, &name).is_some())
        };
        let people = self.here.iter().chain(&self.left);
        let named = people.filter(|it| has(&it.name) || has(self.called(it.id)));
        named.map(|it| self.person(it.id)).collect()
    }

    pub fn is_dm(&self, id: SpeakerId) -> bool {
        self.get(id).is_some_and(|speaker| speaker.is_dm)
    }

    pub fn here(&self) -> Vec<(SpeakerId, String)> {
        self.here.iter().map(|speaker| (speaker.id, speaker.name.clone())).collect()
    }

    /// Number of players present, without game masters.
    pub fn players(&self) -> usize {
        self.here.iter().filter(|speaker| !speaker.is_dm).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unclear_utterance_uses_speakers_last_language() {
        let mut speakers = Speakers::new(Owner::Local, Vec::new());
        let (anna, ben) = (SpeakerId(1), SpeakerId(2));
        assert_eq!(speakers.language(anna, "Bartok?"), None);
        assert_eq!(speakers.language(anna, "Guten Abend, Bartok"), Some("de"));
        assert_eq!(speakers.language(anna, "2d6"), Some("de"));
        assert_eq!(speakers.language(ben, "2d6"), None, "somebody else has not spoken");
        assert_eq!(speakers.language(anna, "what do you think?"), Some("en"));
        assert_eq!(speakers.language(anna, "Bartok?"), Some("en"));
    }
}
