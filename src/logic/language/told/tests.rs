use super::*;

/// Utterances with their language's code; "" where it is unclear.
const SAID: &[(&str, &str)] = &[
    ("Hallo Bartok", "de"),
    ("Guten Abend, Wirt!", "de"),
    ("Grüß dich, Mira", "de"),
    ("Servus Hale", "de"),
    ("Wer bist du?", "de"),
    ("Wie heißt du", "de"),
    ("Danke, Bartok", "de"),
    ("Vielen Dank, Hauptmann", "de"),
    ("Auf Wiedersehen", "de"),
    ("Tschüss, Mira", "de"),
    ("Gute Nacht", "de"),
    ("Bartok, zwei W sechs plus drei", "de"),
    ("Bartok, 2w6+3", "de"),
    ("Wirf einen W20 mit Vorteil", "de"),
    ("Würfle 2d6", "de"),
    ("Was weißt du von der Karawane?", "de"),
    ("Bartok, die Karawane", "de"),
    ("Wo ist der Ring?", "de"),
    ("Hast du den Ring?", "de"),
    ("Was habe ich dir versprochen?", "de"),
    ("Mira, was schulde ich dir", "de"),
    ("Was macht gegriffen?", "de"),
    ("Wie funktioniert Deckung", "de"),
    ("Was bringt mir ein Plattenpanzer?", "de"),
    ("Ich nehme ein Bier", "de"),
    ("Was kostet ein Zimmer?", "de"),
    ("Ein Bier, bitte", "de"),
    ("Wer ist Elara?", "de"),
    ("Kennst du Thorin?", "de"),
    ("Erzähl mir von Marrow", "de"),
    ("Was ist im Keller?", "de"),
    ("Sag mal, stimmt das?", "de"),
    ("Nein danke", "de"),
    ("Ja, genau", "de"),
    ("Warum?", "de"),
    ("Und weiter?", "de"),
    ("Vesper, wo sind die Wagen?", "de"),
    ("Ich ziehe mein Schwert", "de"),
    ("Ich frage den Wirt nach Arbeit", "de"),
    ("Mein Name ist Wren", "de"),
    ("Das war alles", "de"),
    ("Blumenkohl schmeckt mir nicht", "de"),
    ("Die Verpflegung war furchtbar", "de"),
    ("Hale, warum war die Patrouille weg?", "de"),
    ("Hello Bartok", "en"),
    ("Good evening, barkeep!", "en"),
    ("Hey Mira", "en"),
    ("Who are you?", "en"),
    ("Thanks, captain", "en"),
    ("Goodbye, Vesper", "en"),
    ("Bartok, two d six plus three", "en"),
    ("Bartok, roll 2d6+3", "en"),
    ("Roll a die", "en"),
    ("A d twenty with advantage", "en"),
    ("What do you know about the caravan?", "en"),
    ("Where is the ring?", "en"),
    ("What did I promise you?", "en"),
    ("What does grappled do?", "en"),
    ("Greymantle, plate armour AC", "en"),
    ("I want a beer", "en"),
    ("Was it Marrow?", "en"),
    ("Die, villain!", "en"),
    ("The man in the hat was here", "en"),
    ("War will come in winter", "en"),
    ("An arm and a hand", "en"),
    ("Fall back, all of you", "en"),
    ("So what?", "en"),
    ("How much for a room", "en"),
    ("Tell me more", "en"),
    ("Why?", "en"),
    ("No", "en"),
    ("Yes, captain", "en"),
    ("Mira, you took the ring, and nobody in this city believes your stories about it", "en"),
    ("Am I in the old tower?", "en"),
    ("I also met a gang", "en"),
    ("Do not roll the dice, my d20 is gone", "en"),
    ("Bartok?", ""),
    ("2d6+3", ""),
    ("17", ""),
    ("Hm", ""),
    ("", ""),
    ("Mira, Hale!", ""),
];

#[test]
fn utterance_language_is_detected_in_98_percent() {
    let code = |text: &str| Language::spoken_in(text).map_or("", |it| it.code);
    let wrong: Vec<_> = SAID.iter().filter(|(text, is)| code(text) != *is).collect();
    println!("{} of {} right, wrong: {wrong:#?}", SAID.len() - wrong.len(), SAID.len());
    assert!(wrong.len() * 50 <= SAID.len(), "more than 2 %: {wrong:#?}");
    let mistaken =
        |(text, is): &&(&str, &str)| ["de", "en"].contains(&code(text)) && code(text) != *is;
    assert_eq!(SAID.iter().find(mistaken), None, "none is taken for another language");
}

#[test]
fn every_language_can_be_named_in_files() {
    let codes: Vec<&str> = ALL.iter().map(|language| language.code).collect();
    assert_eq!(codes, super::super::CODES);
    for code in codes {
        assert!(Language::of(code).is_some(), "{code}");
    }
}
