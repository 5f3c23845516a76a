//! Accuracy of addressing in the utterances of `tests/data/addresses_*.txt`.
//!
//! Run with `--nocapture` to read the figures.

use super::*;
use crate::logic::{
    names::Glossary,
    tally::{Figures, Judged, UNSEEN},
};

const SETS: [(&str, &str); 5] = [
    ("tuning", include_str!("../../../../tests/data/addresses_tuning.txt")),
    ("held out", include_str!("../../../../tests/data/addresses_held_out.txt")),
    ("second held out", include_str!("../../../../tests/data/addresses_german.txt")),
    ("third held out", include_str!("../../../../tests/data/addresses_german_third.txt")),
    (UNSEEN, include_str!("../../../../tests/data/addresses_unseen.txt")),
];

/// The NPCs of a scene: full name, aliases.
type Cast = &'static [(&'static str, &'static [&'static str])];

const TAVERN: Cast = &[
    ("Bartok the Barkeep", &["Bartok", "barkeep", "innkeeper"]),
    ("Greymantle the Sage", &["Greymantle", "sage", "old sage"]),
    ("Captain Hale", &["Hale", "captain"]),
    ("Mira Quickfingers", &["Mira", "Quickfingers"]),
    ("Vesper of the Glass", &["Vesper", "the lens voice"]),
];
const STUBE: Cast = &[
    ("Bärbel die Wirtin", &["Bärbel", "Wirtin"]),
    ("Hauptmann Wilhelm", &["Wilhelm", "Hauptmann"]),
    ("Odo der Schmied", &["Odo", "Schmied"]),
];

struct Row<'t> {
    language: &'t str,
    cast: Cast,
    talking: Option<&'t str>,
    alone: Option<&'t str>,
    answers: &'t str,
    said: &'t str,
}

impl<'t> Row<'t> {
    fn read(row: &'t str) -> Self {
        let mut cells = row.splitn(4, '|').map(str::trim);
        let mut cell = || cells.next().unwrap_or_else(|| panic!("a cell is missing: {row}"));
        let (language, scene, answers, said) = (cell(), cell(), cell(), cell());
        let (place, talking) = scene.split_once('+').map_or((scene, None), |(p, t)| (p, Some(t)));
        let (place, alone) = place.split_once('=').map_or((place, None), |(p, a)| (p, Some(a)));
        let cast = if place == "tavern" { TAVERN } else { STUBE };
        Self { language, cast, talking, alone, answers, said }
    }

    /// Name of the NPC that answers, if any.
    fn answered(&self) -> Option<&'static str> {
        let aliases: Vec<Vec<String>> = self
            .cast
            .iter()
            .map(|(_, all)| all.iter().map(|it| (*it).to_owned()).collect())
            .collect();
        let npcs: Vec<Called<'_>> = self
            .cast
            .iter()
            .zip(&aliases)
            .map(|((name, _), aliases)| Called { name, aliases })
            .collect();
        let players = ["Wren", "Dagny", "Lucan", "Sable"];
        let names = self.cast.iter().flat_map(|(name, all)| std::iter::once(name).chain(*all));
        let text = Glossary::new(names.chain(&players).copied(), self.language).correct(self.said);
        let seat = |called: &str| self.cast.iter().position(|(name, _)| name.contains(called));
        let candidates: Vec<Candidate> = (0..self.cast.len())
            .map(|at| Candidate {
                mode: if at == 4 { AddressMode::NameOnly } else { AddressMode::Adaptive },
                present: self.alone.is_none_or(|alone| seat(alone) == Some(at)),
                muted: false,
            })
            .collect();
        let players = players.map(|name| Called { name, aliases: &[] });
        let input = AddressInput {
            text: &text.text,
            candidates: &candidates,
            conversation: self.talking.and_then(seat).map(|at| (at, Duration::from_secs(10))),
            pinned: None,
            players_present: if self.alone.is_some() { 1 } else { 3 },
        };
        match Addresser::new(&npcs, &players, self.language).address(&input) {
            Address::Npc { index, .. } => Some(self.cast[index].0),
            Address::Player(_) | Address::Nobody(_) => None,
        }
    }
}

#[test]
fn addressed_npc_answers() {
    let mut figures = Figures::new("false answers", "lines that are for nobody are answered");
    for (set, text) in SETS {
        for row in text.lines().filter(|row| !row.starts_with('#')).map(Row::read) {
            let answered = row.answered();
            let is_for_nobody = row.answers == "-";
            let is_right =
                answered.map_or(is_for_nobody, |name| !is_for_nobody && name.contains(row.answers));
            let is_unwanted = !is_right && answered.is_some();
            figures.add(set, row.language, Judged { is_right, is_unwanted, is_for_nobody });
            if !is_right {
                println!("{set}: {answered:?} answers {:?}, not {}", row.said, row.answers);
            }
        }
    }
    figures.print();
    figures.hold(150);
}
