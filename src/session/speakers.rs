//! The people at a table.

use serde::{Deserialize, Serialize};

use crate::domain::Player;

/// A person, as the voice channel tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SpeakerId(pub u64);

/// A person at the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Speaker {
    /// Who.
    pub id: SpeakerId,
    /// Name as the table uses it.
    pub name: String,
    /// May steer the NPCs by voice.
    pub is_dm: bool,
}

/// Everyone at the table and whom they play.
#[derive(Clone, Debug, Default)]
pub struct Speakers {
    here: Vec<Speaker>,
    characters: Vec<Player>,
}

impl Speakers {
    /// Nobody yet; `characters` says who plays whom.
    pub fn new(characters: Vec<Player>) -> Self {
        Self { here: Vec::new(), characters }
    }

    /// Somebody sits down; the same id again replaces what was known.
    pub fn join(&mut self, speaker: Speaker) {
        self.here.retain(|known| known.id != speaker.id);
        self.here.push(speaker);
    }

    /// Who `id` is.
    pub fn get(&self, id: SpeakerId) -> Option<&Speaker> {
        self.here.iter().find(|known| known.id == id)
    }

    /// What reports call them.
    pub fn name(&self, id: SpeakerId) -> &str {
        self.get(id).map_or("somebody", |speaker| &speaker.name)
    }

    /// What NPCs call them: the character they play, else their own name.
    pub fn called(&self, id: SpeakerId) -> &str {
        let name = self.name(id);
        let plays = |player: &&Player| player.name.eq_ignore_ascii_case(name);
        self.characters.iter().find(plays).map_or(name, |player| &player.character)
    }

    /// Who NPCs call `called`; anybody at the table when they have left.
    pub fn find(&self, called: &str) -> Option<SpeakerId> {
        let mut ids = self.here.iter().map(|speaker| speaker.id);
        ids.clone().find(|id| self.called(*id) == called).or_else(|| ids.next())
    }

    /// Whether they may steer the NPCs by voice.
    pub fn is_dm(&self, id: SpeakerId) -> bool {
        self.get(id).is_some_and(|speaker| speaker.is_dm)
    }

    /// Players present, the game master not counted.
    pub fn players(&self) -> usize {
        self.here.iter().filter(|speaker| !speaker.is_dm).count()
    }
}
