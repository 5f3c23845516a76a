use rand::{SeedableRng, rngs::StdRng};

use super::*;

fn track(title: &str, moods: &[&str], layer: Layer) -> Arc<Track> {
    let moods = moods.iter().map(|&mood| mood.to_owned()).collect();
    Arc::new(Track { moods, layer, ..Track::plain(title) })
}

/// The shipped tracks and some of a game master's.
fn library() -> Library {
    use Layer::{Ambience, Effect, Music};
    let tracks = vec![
        track("Lute and Ale", &["tavern"], Music),
        track("Iron March", &["battle", "epic"], Music),
        track("The Long Road", &["travel"], Music),
        track("Hochzeitstanz", &["Fest"], Music),
        track("Zwergenhalle", &["Zwergenstadt"], Music),
        track("Thunder", &["storm"], Effect),
        track("Wolf howl", &["wolf"], Effect),
        track("Rain", &["rain"], Ambience),
        track("Tavern murmur", &["tavern"], Ambience),
        track("Campfire", &["fire", "calm"], Ambience),
        track("Wind", &["wind"], Ambience),
        track("Dungeon drips", &["dungeon", "spooky"], Ambience),
        track("Battle drums", &["battle"], Music),
    ];
    Library { tracks }
}

/// Phrases of models and people, with the titles that fit best.
const PHRASES: &[(&str, &[&str])] = &[
    ("tavern", &["Lute and Ale", "Tavern murmur"]),
    ("play tavern music please", &["Lute and Ale"]),
    ("tavern background noise", &["Tavern murmur"]),
    ("a cozy inn by the fireplace", &["Campfire"]),
    ("something spooky for the crypt", &["Dungeon drips"]),
    ("battle drums!!!", &["Battle drums"]),
    ("epic boss fight", &["Iron March"]),
    ("war drums", &["Battle drums"]),
    ("rain on the roof", &["Rain"]),
    ("a heavy downpour outside", &["Rain"]),
    ("mountain pass in a blizzard", &["Wind"]),
    ("howling winds", &["Wind"]),
    ("dripping water in a dark cave", &["Dungeon drips"]),
    ("calm campfire", &["Campfire"]),
    ("long rest by the fire", &["Campfire"]),
    ("thunder", &["Thunder"]),
    ("play the wolf howl effect", &["Wolf howl"]),
    ("The Long Road", &["The Long Road"]),
    ("travelling music", &["The Long Road"]),
    ("the catacombs", &["Dungeon drips"]),
    ("an ambush! combat starts", &["Iron March", "Battle drums"]),
    ("a dungeoon", &["Dungeon drips"]),
    ("Kampfmusik", &["Iron March", "Battle drums"]),
    ("Spiel bitte Musik für die Taverne", &["Lute and Ale"]),
    ("Wirtshausgeräusche", &["Tavern murmur"]),
    ("ruhige Musik am Lagerfeuer", &["Campfire"]),
    ("etwas Unheimliches für die Gruft", &["Dungeon drips"]),
    ("Sie steigen in die Höhlen hinab", &["Dungeon drips"]),
    ("Regen", &["Rain"]),
    ("Es gibt ein Gewitter mit Regen", &["Rain"]),
    ("ein Schneesturm im Gebirge", &["Wind"]),
    ("Kriegstrommeln", &["Battle drums"]),
    ("die Schlacht beginnt", &["Iron March", "Battle drums"]),
    ("Kneipe", &["Lute and Ale", "Tavern murmur"]),
    ("Musik für eine Hochzeit", &["Hochzeitstanz"]),
    ("Hochzeitstanz", &["Hochzeitstanz"]),
    ("knisterndes Kaminfeuer", &["Campfire"]),
    ("Verlies", &["Dungeon drips"]),
    ("Reisemusik", &["The Long Road"]),
    ("Zwergenstadtmusik", &["Zwergenhalle"]),
    ("Drachenkampf", &["Iron March"]),
    ("Sturm", &["Wind"]),
    ("music", &[]),
    ("play something nice", &[]),
    ("space opera", &[]),
    ("spiel etwas anderes", &[]),
    ("Raumschiffbrücke im Weltall", &[]),
    ("the merchant takes the train by the window", &[]),
    ("", &[]),
    ("!!! ???", &[]),
];

#[test]
fn phrases_find_the_tracks_they_mean() {
    let library = library();
    let wrong: Vec<String> = PHRASES
        .iter()
        .filter_map(|(words, expected)| {
            let found = library.find(words);
            let titles: Vec<&str> = found.iter().map(|track| track.title.as_str()).collect();
            (titles != *expected).then(|| format!("'{words}': {titles:?}, not {expected:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn own_moods_in_any_script_are_found() {
    let library = Library { tracks: vec![track("Песня", &["Таверна"], Layer::Music)] };
    assert_eq!(library.find("таверна").len(), 1);
    assert_eq!(library.find("лес").len(), 0);
}

#[test]
fn choosing_avoids_what_plays_already() {
    let (library, mut rng) = (library(), StdRng::seed_from_u64(1));
    for _ in 0..20 {
        let chosen = library.choose("Kneipe", Some("Lute and Ale"), &mut rng).unwrap();
        assert_eq!(chosen.title, "Tavern murmur");
    }
    assert_eq!(library.choose("Regen", Some("Rain"), &mut rng).unwrap().title, "Rain");
    assert_eq!(library.choose("zebra", None, &mut rng), None);
    let chosen = (0..40).map(|_| library.choose("battle", None, &mut rng).unwrap().title.clone());
    let titles: std::collections::BTreeSet<_> = chosen.collect();
    assert_eq!(titles.len(), 2, "chance decides");
}

#[test]
fn moods_are_listed_once_in_order() {
    let library = library();
    let moods = library.moods();
    assert_eq!(moods.iter().filter(|mood| **mood == "tavern").count(), 1);
    assert_eq!(moods.first(), Some(&"tavern"));
}

#[test]
fn long_requests_are_cut() {
    let long = "x".repeat(100_000) + &" musikhaus".repeat(WORDS_MAX) + " taverne";
    assert_eq!(library().find(&long), []);
}
