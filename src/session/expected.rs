//! Names that are likely to be spoken next, for recognisers that accept hints.
//!
//! Entry function: [`expected`].

use std::sync::Arc;

use super::{SeatId, scene::Whereabouts};
use crate::{
    domain::{Campaign, Entity, EntityKind, LineWhen, Npc, ScriptedLine},
    logic::{
        language::{is_any, is_everyday},
        words::fold,
    },
};

/// Most names; services take fewer, and it bounds the search of a large world.
const NAMES_MAX: usize = 100;
/// Most words of scripted lines; each slows a local recogniser in every utterance.
const WORDS_MAX: usize = 8;
const SHORTEST_WORD: usize = 3;

/// Names, likeliest first: NPCs present, players' characters, the place, words that NPCs present
/// listen for, things of the place, everything else, and last names that only the game master
/// knows. Omits a name within a longer one.
pub fn expected(
    npcs: &[(SeatId, &Npc)],
    campaign: &Campaign,
    scene: &Whereabouts,
    characters: &[String],
) -> Vec<String> {
    let (there, away): (Vec<_>, Vec<_>) =
        npcs.iter().copied().partition(|(seat, _)| scene.is_present(*seat));
    let there: Vec<&Npc> = there.into_iter().map(|(_, npc)| npc).collect();
    let mut entities = entities(campaign, scene, &there);
    let others = entities.split_off(entities.partition_point(|(distance, _)| *distance == NEAR));
    let mut names = Names::default();
    there.iter().for_each(|npc| names.add_all(&npc.name, &npc.aliases));
    characters.iter().for_each(|name| names.add(name));
    scene.location().into_iter().for_each(|name| names.add(name));
    listened_for(&there).into_iter().for_each(|word| names.add(word));
    entities.iter().for_each(|(_, it)| names.add_all(&it.name, &it.aliases));
    away.iter().for_each(|(_, npc)| names.add_all(&npc.name, &npc.aliases));
    others.iter().for_each(|(_, it)| names.add_all(&it.name, &it.aliases));
    names.all.into_iter().map(|(name, _)| name).collect()
}

/// Uncommon words that scripted lines of `there` answer, such as "ale". Shortest first: they are
/// most easily misheard as parts of others ("a nail").
fn listened_for<'n>(there: &[&'n Npc]) -> Vec<&'n str> {
    let lines = there.iter().flat_map(|&npc| {
        let is_spoken =
            move |line: &&ScriptedLine| line.language.as_ref().is_none_or(|it| *it == npc.language);
        npc.lines.iter().filter(is_spoken)
    });
    let phrases = lines.flat_map(|line| match &line.when {
        Some(LineWhen::Phrases(phrases)) => phrases.as_slice(),
        _ => &[],
    });
    let is_rare = |word: &&str| {
        let folded = fold(word);
        let is_word = word.chars().all(char::is_alphabetic) && folded.len() >= SHORTEST_WORD;
        is_word && !is_everyday(&folded) && !is_any(|it| it.roles, &folded)
    };
    let mut words: Vec<&str> = Vec::new();
    for word in phrases.map(String::as_str).filter(is_rare) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.sort_by_key(|word| word.len());
    words.truncate(WORDS_MAX);
    words
}

pub fn expected_at_first(npcs: &[Npc], campaign: &Campaign) -> Vec<String> {
    let campaign = Arc::new(campaign.clone());
    let scene = Whereabouts::new(&campaign, npcs.iter().map(|npc| npc.name.clone()).collect());
    let npcs: Vec<_> = npcs.iter().enumerate().map(|(seat, npc)| (SeatId(seat), npc)).collect();
    let characters: Vec<String> =
        campaign.players.iter().map(|player| player.character.clone()).collect();
    expected(&npcs, &campaign, &scene, &characters)
}

const NEAR: u8 = 0;

/// Entities with their distance from the scene, nearest first. Near are the place, entities named
/// in the description of the place or of an NPC present, and entities that name the place.
fn entities<'c>(
    campaign: &'c Campaign,
    scene: &Whereabouts,
    there: &[&Npc],
) -> Vec<(u8, &'c Entity)> {
    let place = scene.location().map(fold).unwrap_or_default();
    let is_place = |it: &&Entity| !place.is_empty() && fold(&it.name) == place;
    let described = campaign.entities.iter().filter(is_place).map(|it| &it.description);
    let described = described.chain(there.iter().map(|npc| &npc.personality));
    let told: Vec<String> = described.map(|text| fold(text)).collect();
    let is_near = |it: &Entity| {
        let name = fold(&it.name);
        name == place
            || told.iter().any(|text| holds(text, &name))
            || holds(&fold(&it.description), &place)
    };
    let distance = |it: &Entity| match (it.dm_only, is_near(it)) {
        (false, true) => NEAR,
        (false, false) => 1,
        (true, _) => 2,
    };
    let mut all: Vec<_> = campaign.entities.iter().map(|it| (distance(it), it)).collect();
    all.sort_by_key(|(distance, it)| (*distance, rank(it.kind)));
    all
}

/// Lower rank: more likely to be named.
const fn rank(kind: EntityKind) -> u8 {
    match kind {
        EntityKind::Npc | EntityKind::Player => 0,
        EntityKind::Location => 1,
        EntityKind::Item | EntityKind::Faction => 2,
        EntityKind::Quest | EntityKind::Event | EntityKind::Concept | EntityKind::Lore => 3,
    }
}

/// True if `text` contains `words`; both are folded.
fn holds(text: &str, words: &str) -> bool {
    !words.is_empty() && format!(" {text} ").contains(&format!(" {words} "))
}

#[derive(Default)]
struct Names {
    all: Vec<(String, String)>,
}

impl Names {
    fn add_all(&mut self, name: &str, aliases: &[String]) {
        // Recognisers know words such as "barkeep" or "Wirt" anyway.
        let is_name = |alias: &&String| {
            alias.chars().any(char::is_uppercase) && !is_any(|it| it.roles, &fold(alias))
        };
        let aliases = aliases.iter().filter(is_name);
        let called: Vec<&str> = std::iter::once(name).chain(aliases.map(String::as_str)).collect();
        let folded: Vec<String> = called.iter().map(|it| fold(it)).collect();
        for (name, short) in called.iter().zip(&folded) {
            let is_within = folded.iter().any(|it| it.len() > short.len() && holds(it, short));
            if !is_within {
                self.add(name);
            }
        }
    }

    fn add(&mut self, name: &str) {
        let folded = fold(name);
        let is_new = !self.all.iter().any(|(_, known)| holds(known, &folded));
        if is_new && !folded.is_empty() && self.all.len() < NAMES_MAX {
            self.all.push((name.trim().to_owned(), folded));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::domain::Scene;

    fn entity(kind: EntityKind, name: &str, description: &str, dm_only: bool) -> Entity {
        Entity {
            kind,
            name: name.to_owned(),
            aliases: Vec::new(),
            description: description.to_owned(),
            pronunciation: None,
            dm_only,
            known_to: Vec::new(),
        }
    }

    fn line(when: &[&str], language: Option<&str>) -> ScriptedLine {
        ScriptedLine {
            when: Some(LineWhen::Phrases(when.iter().map(|&it| it.to_owned()).collect())),
            language: language.map(str::to_owned),
            say: Vec::new(),
            tool: None,
            otherwise: Vec::new(),
            once: false,
            weight: 1,
        }
    }

    #[test]
    fn rare_words_of_lines_are_expected() {
        let lines = vec![
            line(&["hello", "good evening", "how"], None),
            line(&["signet", "ale", "a drink", "beer", "ale"], Some("en")),
            line(&["krug"], Some("de")),
        ];
        let pip = Npc { lines: lines.into(), personality: String::new(), ..Npc::plain("Pip") };
        let names = expected_at_first(std::slice::from_ref(&pip), &Campaign::default());
        assert_eq!(names, ["Pip", "ale", "signet"]);
    }

    #[test]
    fn present_npcs_and_entities_come_first() {
        let npc = |name: &str, aliases: &[&str]| Npc {
            aliases: aliases.iter().map(|&it| it.to_owned()).collect(),
            personality: "Dull.".to_owned(),
            ..Npc::plain(name)
        };
        let (bartok, mira) = (npc("Bartok", &["Bartok the Barkeep", "barkeep"]), npc("Mira", &[]));
        let scene = |name: &str, npc: &Npc| Scene {
            name: name.to_owned(),
            npcs: vec![npc.name.clone()],
            music: None,
        };
        let campaign = Arc::new(Campaign {
            entities: vec![
                entity(EntityKind::Quest, "Tithe", "A tax.", false),
                entity(EntityKind::Location, "Vault", "Under the Mill.", true),
                entity(EntityKind::Location, "Tankard", "An inn; the Blackvein drink here.", false),
                entity(EntityKind::Npc, "Elara", "A duchess.", false),
                entity(EntityKind::Faction, "Blackvein", "Smugglers.", false),
            ],
            scenes: vec![scene("Tankard", &bartok), scene("Mill", &mira)],
            ..Campaign::default()
        });
        let names = vec![bartok.name.clone(), mira.name.clone()];
        let mut here = Whereabouts::new(&campaign, names);
        let all = |here: &Whereabouts| {
            expected(
                &[(SeatId(0), &bartok), (SeatId(1), &mira)],
                &campaign,
                here,
                &["Thorin".to_owned()],
            )
        };
        assert_eq!(
            all(&here),
            [
                "Bartok the Barkeep",
                "Thorin",
                "Tankard",
                "Blackvein",
                "Mira",
                "Elara",
                "Tithe",
                "Vault"
            ]
        );
        here.set(Some("Mill"), None);
        assert_eq!(all(&here)[..5], ["Mira", "Thorin", "Mill", "Bartok the Barkeep", "Elara"]);
    }
}
