//! Contents of a store: seeded, the same in every run and every store.
//!
//! Words are as often as in a language (Zipf's law over 30,000 of them), a line has 8 to 22 of them,
//! a session about 1,200 lines. Scenes of 60 lines have some of the six NPCs present.

use std::collections::BTreeMap;

use glyphoxa::measure::{
    Change, Entity, EntityKind, Item, ItemKind, ItemStatus, Present, Provenance, Relation,
    RelationKey, Uid, Utterance, Vector, Visibility,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// Different words.
const WORDS: usize = 30_000;
/// Lines of a session.
const SESSION: u64 = 1_200;
/// Lines of a scene, whose people do not change.
const SCENE: u64 = 60;
/// Unix time of the first line, in ms.
const BEGINNING: i64 = 1_500_000_000_000;
/// Between two lines, in ms.
const LINE: i64 = 4_000;
/// Between the beginnings of two sessions, in ms.
const WEEK: i64 = 7 * 86_400_000;
/// Players: id, name and character.
const PLAYERS: [(&str, &str, &str); 4] = [
    ("101", "Anna", "Rhea"),
    ("102", "Ben", "Thokk"),
    ("103", "Cleo", "Vex"),
    ("104", "Dario", "Sister Agnes"),
];
/// NPCs. The first is present in about half of all scenes.
pub const NPCS: [&str; 6] =
    ["Bartok the Barkeep", "Mira", "Old Nessa", "Captain Hale", "Vesper", "Grimble"];

/// Size of the world that a store is filled with.
#[derive(Clone, Copy)]
pub struct World {
    /// Entities.
    pub entities: usize,
    relations: usize,
    /// Pieces of conversation with vectors.
    chunks: usize,
}

impl World {
    /// The world beside `lines` lines: a tenth of it where there are fewer than its chunks have.
    pub const fn of(lines: u64) -> Self {
        match lines {
            0..30_000 => Self { entities: 1_000, relations: 5_000, chunks: 500 },
            _ => Self { entities: 10_000, relations: 50_000, chunks: 5_000 },
        }
    }
}

/// Dimension of these vectors.
pub const DIMENSION: usize = 384;
/// The model they are of.
pub const MODEL: &str = "bench";

/// The words of the table, the commonest first.
pub struct Vocabulary {
    words: Vec<String>,
    /// Share of the words up to each one.
    shares: Vec<f64>,
}

impl Vocabulary {
    /// All of them.
    pub fn new() -> Self {
        let mut sum = 0.0;
        let mut shares: Vec<f64> = (1..=WORDS)
            .map(|rank| {
                sum += 1.0 / rank as f64;
                sum
            })
            .collect();
        shares.iter_mut().for_each(|share| *share /= sum);
        Self { words: (0..WORDS).map(word).collect(), shares }
    }

    /// The word of a rank, from 0.
    pub fn at(&self, rank: usize) -> &str {
        &self.words[rank]
    }

    /// `count` words as they are said.
    pub fn said(&self, dice: &mut StdRng, count: usize) -> String {
        let mut text = String::new();
        for _ in 0..count {
            let share: f64 = dice.random_range(0.0..1.0);
            let rank = self.shares.partition_point(|up_to| *up_to < share).min(WORDS - 1);
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&self.words[rank]);
        }
        text
    }
}

/// A word of four letters or more, unlike any other.
fn word(nth: usize) -> String {
    const FIRST: &[u8] = b"bdfghjklmnprstvw";
    const THEN: &[u8] = b"aeiou";
    let mut word = String::new();
    // Spread, so that words of near ranks do not begin alike; 40,009 is a prime.
    let mut rest = (nth + 1) * 17_389 % 40_009;
    while rest > 0 || word.len() < 4 {
        word.push(char::from(FIRST[rest % FIRST.len()]));
        rest /= FIRST.len();
        word.push(char::from(THEN[rest % THEN.len()]));
        rest /= THEN.len();
    }
    word
}

/// Lines of one campaign in their order.
pub struct Lines<'a> {
    words: &'a Vocabulary,
    dice: StdRng,
    campaign: String,
    next: u64,
    present: Vec<Present>,
}

impl<'a> Lines<'a> {
    /// Those of `campaign` after the first `skipped`.
    pub fn new(words: &'a Vocabulary, campaign: &str, skipped: u64) -> Self {
        let dice = StdRng::seed_from_u64(7 + skipped);
        Self { words, dice, campaign: campaign.to_owned(), next: skipped, present: Vec::new() }
    }
}

impl Iterator for Lines<'_> {
    type Item = Utterance;

    fn next(&mut self) -> Option<Utterance> {
        let nth = self.next;
        self.next += 1;
        if nth.is_multiple_of(SCENE) || self.present.is_empty() {
            let players = PLAYERS.iter().map(|(id, name, _)| Present {
                name: (*name).to_owned(),
                player: Some((*id).to_owned()),
            });
            self.present = players.collect();
            for npc in NPCS {
                if self.dice.random_range(0..2) == 0 {
                    self.present.push(Present { name: npc.to_owned(), player: None });
                }
            }
        }
        let (session, place) = (nth / SESSION, nth % SESSION);
        let npc = NPCS[self.dice.random_range(0..NPCS.len())];
        let (id, player, character) = PLAYERS[self.dice.random_range(0..PLAYERS.len())];
        let is_player = place.is_multiple_of(2);
        let count = self.dice.random_range(8..=22);
        Some(Utterance {
            uid: Uid(format!("{}-{session}-{place}", self.campaign)),
            session: format!("evening-{session}"),
            turn: place / 2 + 1,
            at: BEGINNING + session.cast_signed() * WEEK + place.cast_signed() * LINE,
            duration: 2_500,
            speaker_id: is_player.then(|| id.to_owned()),
            speaker: if is_player { player } else { npc }.to_owned(),
            character: is_player.then(|| character.to_owned()),
            npc: Some(npc.to_owned()),
            text: self.words.said(&mut self.dice, count),
            raw: None,
            present: self.present.clone(),
            outcome: "spoken".to_owned(),
            tools: serde_json::Value::Null,
            visibility: Visibility::Everyone,
            asked: None,
        })
    }
}

/// The name of the `nth` entity.
pub fn name_of(words: &Vocabulary, nth: usize) -> String {
    match NPCS.get(nth) {
        Some(npc) => (*npc).to_owned(),
        None => format!("{} {}", words.at(100 + nth), words.at(29_000 - nth)),
    }
}

/// Entities with ten relations each, on average, five of them outgoing.
pub fn world(words: &Vocabulary, World { entities, relations, .. }: World) -> Vec<Change> {
    let mut dice = StdRng::seed_from_u64(11);
    let kinds = [EntityKind::Npc, EntityKind::Location, EntityKind::Item, EntityKind::Faction];
    let mut world: Vec<Change> = (0..entities)
        .map(|nth| {
            Change::Put(Entity {
                id: format!("e{nth}"),
                kind: kinds[nth % kinds.len()],
                name: name_of(words, nth),
                aliases: Vec::new(),
                description: words.said(&mut dice, 20),
                attributes: BTreeMap::new(),
                tags: vec!["north".to_owned()],
                knowledge: Vec::new(),
                visibility: Visibility::Everyone,
                source: None,
            })
        })
        .collect();
    world.extend((0..relations).map(|nth| {
        let kind = ["knows", "lives_in", "owns", "serves", "fears"][nth % 5];
        Change::Tie(Relation {
            key: RelationKey {
                from: format!("e{}", dice.random_range(0..entities)),
                kind: kind.to_owned(),
                to: format!("e{}", dice.random_range(0..entities)),
            },
            attributes: BTreeMap::new(),
            visibility: Visibility::Everyone,
            provenance: Provenance { confidence: 1.0, ..Provenance::default() },
        })
    }));
    world
}

/// Chunks of six lines each of the first sessions of a campaign.
pub fn chunks(words: &Vocabulary, world: World) -> Vec<Item> {
    let mut dice = StdRng::seed_from_u64(13);
    let each = SESSION / 6;
    (0..world.chunks as u64)
        .map(|nth| Item {
            id: format!("chunk-{nth}"),
            kind: ItemKind::Chunk,
            text: words.said(&mut dice, 90),
            session: Some(format!("evening-{}", nth / each)),
            lines: Some((nth % each * 6 + 1, nth % each * 6 + 6)),
            visibility: Visibility::Everyone,
            status: ItemStatus::Accepted,
            made: BEGINNING,
        })
        .collect()
}

/// Vectors of them, in groups as texts about the same thing are.
pub fn vectors(world: World) -> Vec<Vector> {
    (0..world.chunks)
        .map(|nth| Vector { item: format!("chunk-{nth}"), values: vector(nth as u64) })
        .collect()
}

/// A vector near those whose numbers leave the same remainder by 200.
pub fn vector(nth: u64) -> Vec<f32> {
    let mut group = StdRng::seed_from_u64(nth % 200);
    let mut own = StdRng::seed_from_u64(1_000 + nth);
    let number = |dice: &mut StdRng, most: f32| dice.random_range(-most..most);
    (0..DIMENSION).map(|_| number(&mut group, 1.0) + number(&mut own, 0.5)).collect()
}
