//! The people at a table.
//!
//! Entry type: [`Speakers`]. **Never**: forgets the name of somebody who has left: their answers may
//! still be told of.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{Owner, PersonId, Player},
    logic::{language::Language, prompt::SideLine},
};

/// A person, as the voice channel tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SpeakerId(pub u64);

/// A person at the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Speaker {
    /// Id in the voice channel.
    pub id: SpeakerId,
    /// Name as the table uses it.
    pub name: String,
    /// May steer the NPCs by voice.
    pub is_dm: bool,
}

/// Stand-in for a name that is unknown or withheld.
pub const SOMEBODY: &str = "somebody";

/// Everyone at the table and whom they play.
#[derive(Clone, Debug)]
pub struct Speakers {
    /// Owner of the table, which decides their identities.
    owner: Owner,
    here: Vec<Speaker>,
    left: Vec<Speaker>,
    /// Players of the campaign, with their characters.
    characters: Vec<Player>,
    /// Characters named at the table; `None`: they play nobody but themselves.
    played: HashMap<SpeakerId, Option<String>>,
    /// The language in which they spoke last, as an ISO 639-1 code.
    languages: HashMap<SpeakerId, &'static str>,
}

impl Speakers {
    /// Nobody yet; `characters` says who plays whom.
    pub fn new(owner: Owner, characters: Vec<Player>) -> Self {
        let (here, left, played) = (Vec::new(), Vec::new(), HashMap::new());
        Self { owner, here, left, characters, played, languages: HashMap::new() }
    }

    /// From now on the campaign says that these play these; what was said at the table stays.
    pub fn set_characters(&mut self, characters: Vec<Player>) {
        self.characters = characters;
    }

    /// Somebody sits down; the same id again replaces what was known.
    pub fn join(&mut self, speaker: Speaker) {
        self.here.retain(|known| known.id != speaker.id);
        self.left.retain(|known| known.id != speaker.id);
        self.here.push(speaker);
    }

    /// Somebody leaves; their name is kept.
    pub fn leave(&mut self, id: SpeakerId) {
        if let Some(index) = self.here.iter().position(|known| known.id == id) {
            self.left.push(self.here.remove(index));
        }
    }

    /// True if they were here and are no more: sound of theirs may still be on its way.
    pub fn has_left(&self, id: SpeakerId) -> bool {
        self.left.iter().any(|known| known.id == id)
    }

    /// Sets the character they play, over that of the campaign; `None`: nobody but themselves. False if the
    /// same character was set before.
    pub fn play(&mut self, id: SpeakerId, character: Option<String>) -> bool {
        let named = |name: String| Some(name.trim().to_owned()).filter(|name| !name.is_empty());
        let character = character.and_then(named);
        self.played.insert(id, character.clone()) != Some(character)
    }

    /// The speaker `id`, at the table or gone.
    pub fn get(&self, id: SpeakerId) -> Option<&Speaker> {
        self.here.iter().chain(&self.left).find(|known| known.id == id)
    }

    /// All characters that are known to be played.
    pub fn characters(&self) -> Vec<String> {
        let known = self.characters.iter().map(|player| player.character.clone());
        known.chain(self.played.values().flatten().cloned()).collect()
    }

    /// Names of all known players and of their characters, present or not.
    pub fn everybody(&self) -> Vec<String> {
        let players = self.characters.iter().map(|player| player.name.clone());
        let people = self.here.iter().chain(&self.left).map(|speaker| speaker.name.clone());
        let mut names = self.characters();
        names.extend(players.chain(people).filter(|name| !name.trim().is_empty()));
        names
    }

    /// Name in reports.
    pub fn name(&self, id: SpeakerId) -> &str {
        self.get(id).map_or(SOMEBODY, |speaker| &speaker.name)
    }

    /// Identity in stored data.
    pub fn person(&self, id: SpeakerId) -> PersonId {
        self.owner.person(id.0, self.name(id))
    }

    /// The language of `text`, which they say; where that cannot be told ("Bartok?", "2d6"), the one
    /// they spoke before.
    pub fn language(&mut self, id: SpeakerId, text: &str) -> Option<&'static str> {
        if let Some(language) = Language::spoken_in(text) {
            self.languages.insert(id, language.code);
        }
        self.languages.get(&id).copied()
    }

    /// The utterance, as NPCs hear it.
    pub fn side_line(&self, id: SpeakerId, text: &str) -> SideLine {
        let speaker = self.called(id).to_owned();
        SideLine { speaker, by: Some(self.person(id)), text: text.to_owned(), unanswered: false }
    }

    /// Name that NPCs use: the character they play, else their own name.
    pub fn called(&self, id: SpeakerId) -> &str {
        let name = self.name(id);
        if let Some(played) = self.played.get(&id) {
            return played.as_deref().unwrap_or(name);
        }
        let plays = |player: &&Player| player.name.eq_ignore_ascii_case(name);
        self.characters.iter().find(plays).map_or(name, |player| &player.character)
    }

    /// The speaker who is `person`, at the table or gone; never another one.
    pub fn of(&self, person: &PersonId) -> Option<SpeakerId> {
        let mut ids = self.here.iter().chain(&self.left).map(|speaker| speaker.id);
        ids.find(|id| self.person(*id) == *person)
    }

    /// True if they may steer the NPCs by voice.
    pub fn is_dm(&self, id: SpeakerId) -> bool {
        self.get(id).is_some_and(|speaker| speaker.is_dm)
    }

    /// Everyone at the table, by the names it uses.
    pub fn here(&self) -> Vec<(SpeakerId, String)> {
        self.here.iter().map(|speaker| (speaker.id, speaker.name.clone())).collect()
    }

    /// Players present, the game master not counted.
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
