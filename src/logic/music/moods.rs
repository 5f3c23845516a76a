//! Words for moods, English and German: `mask` returns the moods that a word may mean.
//!
//! A word counts in any light form ("storms", "Höhlen") and as a part of a German compound
//! ("Kampfmusik").

use std::{collections::HashMap, sync::LazyLock};

use super::Layer;
use crate::logic::trigrams::is_alike;

/// Words for one mood, folded as [`crate::logic::words::Words`] folds.
const MOODS: &[&[&str]] = &[
    &[
        "tavern",
        "inn",
        "pub",
        "bar",
        "taproom",
        "alehouse",
        "barkeep",
        "innkeeper",
        "taverne",
        "kneipe",
        "wirtshaus",
        "gasthaus",
        "gaststube",
        "schenke",
        "schanke",
        "spelunke",
        "wirt",
    ],
    &[
        "battle",
        "fight",
        "combat",
        "war",
        "attack",
        "brawl",
        "skirmish",
        "ambush",
        "duel",
        "clash",
        "fought",
        "kampf",
        "schlacht",
        "krieg",
        "gefecht",
        "angriff",
        "gemetzel",
        "hinterhalt",
        "uberfall",
        "duell",
    ],
    &["drum", "drumming", "percussion", "trommel", "trommeln", "pauke"],
    &[
        "dungeon",
        "cave",
        "cavern",
        "crypt",
        "tomb",
        "catacomb",
        "underground",
        "underdark",
        "cellar",
        "sewer",
        "vault",
        "grotto",
        "mineshaft",
        "hohle",
        "hoehle",
        "verlies",
        "gruft",
        "grotte",
        "katakombe",
        "kerker",
        "keller",
        "stollen",
        "unterirdisch",
        "gewolbe",
        "kanalisation",
        "bergwerk",
    ],
    &["drip", "dripping", "tropfen", "tropfend", "getropfel"],
    &[
        "spooky",
        "scary",
        "creepy",
        "eerie",
        "haunted",
        "horror",
        "ghost",
        "undead",
        "dark",
        "darkness",
        "sinister",
        "ominous",
        "gruselig",
        "unheimlich",
        "geister",
        "spuk",
        "schaurig",
        "duster",
        "finster",
        "untot",
        "untote",
        "dunkel",
        "dunkelheit",
    ],
    &[
        "rain",
        "storm",
        "thunderstorm",
        "rainstorm",
        "drizzle",
        "downpour",
        "shower",
        "thunder",
        "lightning",
        "regen",
        "gewitter",
        "niesel",
        "unwetter",
        "donner",
        "blitz",
    ],
    &[
        "fire",
        "campfire",
        "fireplace",
        "fireside",
        "hearth",
        "camp",
        "bonfire",
        "flame",
        "feuer",
        "lagerfeuer",
        "kamin",
        "kaminfeuer",
        "crackle",
        "crackling",
        "knistern",
        "flamme",
        "nachtlager",
    ],
    &[
        "wind",
        "storm",
        "gust",
        "mountain",
        "blizzard",
        "snow",
        "snowstorm",
        "winter",
        "highland",
        "cliff",
        "gale",
        "breeze",
        "tundra",
        "sturm",
        "berg",
        "gebirge",
        "schnee",
        "schneesturm",
        "orkan",
        "brise",
        "gipfel",
    ],
    &["forest", "wood", "woodland", "jungle", "grove", "wald", "hain", "dschungel"],
    &[
        "calm",
        "quiet",
        "peaceful",
        "relaxing",
        "relaxed",
        "soothing",
        "gentle",
        "cozy",
        "cosy",
        "ruhig",
        "ruhe",
        "friedlich",
        "entspannt",
        "entspannend",
        "sanft",
        "leise",
        "gemutlich",
    ],
    &[
        "sea", "ocean", "ship", "harbor", "harbour", "wave", "meer", "hafen", "schiff", "welle",
        "kuste",
    ],
    &[
        "city",
        "town",
        "market",
        "marketplace",
        "crowd",
        "bazaar",
        "stadt",
        "markt",
        "marktplatz",
        "basar",
    ],
    &["travel", "travelling", "traveling", "journey", "road", "reise", "wanderung", "strasse"],
    &[
        "epic",
        "boss",
        "heroic",
        "dragon",
        "final",
        "finale",
        "climax",
        "episch",
        "heldenhaft",
        "drache",
        "drachen",
        "endgegner",
    ],
    &["dance", "feast", "wedding", "festival", "celebration", "tanz", "fest", "feier", "hochzeit"],
    &[
        "sad",
        "mourning",
        "funeral",
        "grief",
        "sorrow",
        "melancholy",
        "traurig",
        "trauer",
        "begrabnis",
    ],
    &[
        "tense",
        "suspense",
        "tension",
        "mystery",
        "mysterious",
        "spannung",
        "spannend",
        "geheimnis",
        "geheimnisvoll",
        "ratselhaft",
    ],
    &["temple", "church", "monastery", "sacred", "holy", "tempel", "kirche", "kloster", "heilig"],
    &[
        "magic",
        "magical",
        "arcane",
        "enchanted",
        "mystical",
        "magie",
        "magisch",
        "zauber",
        "mystisch",
    ],
];

/// Words for a layer, which are no mood.
const LAYERS: &[(Layer, &[&str])] = &[
    (Layer::Music, &["music", "song", "tune", "melody", "musik", "lied", "lieder", "melodie"]),
    (
        Layer::Ambience,
        &[
            "ambience",
            "ambiance",
            "ambient",
            "sounds",
            "noise",
            "noises",
            "atmosphere",
            "background",
            "gerausch",
            "gerausche",
            "klange",
            "hintergrund",
            "gerauschkulisse",
            "atmosphare",
        ],
    ),
    (Layer::Effect, &["effect", "effects", "sfx", "effekt", "effekte", "soundeffekt"]),
];

/// Last parts of compounds that say nothing about mood.
const ENDINGS: &[&str] = &[
    "musik",
    "lied",
    "lieder",
    "gerausch",
    "gerausche",
    "klang",
    "klange",
    "stimmung",
    "szene",
    "thema",
    "larm",
    "ambiente",
    "atmosphare",
    "trommeln",
    "melodie",
];

/// Letters between the parts of a German compound.
const LINKS: &[&str] = &["", "s", "n", "en", "er", "es"];

const FORMS: &[&str] = &["ings", "ing", "en", "er", "es", "em", "ed", "e", "y", "s"];

/// Longest word that is split, in bytes.
const COMPOUND_MAX: usize = 40;

/// Every word and its stem, with a bit for each mood.
static KNOWN: LazyLock<HashMap<&'static str, u64>> = LazyLock::new(|| {
    let mut known = HashMap::new();
    for (index, words) in MOODS.iter().enumerate() {
        for word in *words {
            for form in [word, stem(word)] {
                *known.entry(form).or_insert(0) |= 1u64 << (index % 64);
            }
        }
    }
    known
});

/// The moods that a folded `word` may mean, as bits; 0 for none.
pub fn mask(word: &str) -> u64 {
    let (first, second) = parts(word);
    first | second
}

/// The moods of a compound's two parts; a simple word has only the first.
pub fn parts(word: &str) -> (u64, u64) {
    let whole = whole(word);
    if whole == 0 { compound(word) } else { (whole, 0) }
}

/// The moods of a word that may be misspelt.
pub fn near_mask(word: &str) -> u64 {
    let mut mask = 0;
    for (index, words) in MOODS.iter().enumerate() {
        if words.iter().any(|known| is_near(word, known)) {
            mask |= 1u64 << (index % 64);
        }
    }
    mask
}

/// True if `word` is likely `known`, misspelt or misheard.
pub fn is_near(word: &str, known: &str) -> bool {
    word.len().abs_diff(known.len()) <= 2
        && word.as_bytes().first() == known.as_bytes().first()
        && is_alike(word, known)
}

pub fn layer(word: &str) -> Option<Layer> {
    let says = |words: &[&str]| {
        words.iter().any(|it| word == *it || (it.len() >= 5 && word.ends_with(*it)))
    };
    LAYERS.iter().find(|(_, words)| says(words)).map(|(layer, _)| *layer)
}

pub fn is_layer(word: &str) -> bool {
    LAYERS.iter().any(|(_, words)| words.contains(&word))
}

/// `word` without a light ending, if enough remains.
pub fn stem(word: &str) -> &str {
    let least = |form: &str| if form == "s" { 3 } else { 4 };
    let mut cut = FORMS.iter().filter_map(|form| {
        let stem = word.strip_suffix(form)?;
        (stem.len() >= least(form)).then_some(stem)
    });
    cut.next().unwrap_or(word)
}

fn whole(word: &str) -> u64 {
    let known = |word: &str| KNOWN.get(word).copied().unwrap_or_default();
    known(word) | known(stem(word))
}

/// The moods of a first part of five letters, a last one of six, or two known parts.
fn compound(word: &str) -> (u64, u64) {
    if word.len() > COMPOUND_MAX {
        return (0, 0);
    }
    let mut found = (0, 0);
    for (head, rest) in (3..word.len()).filter_map(|at| word.split_at_checked(at)) {
        let first = if head.len() >= 4 { whole(head) } else { 0 };
        let known = |rest: &str| {
            let mask = whole(rest);
            let counts = rest.len() >= 4 && (mask != 0 || ENDINGS.contains(&rest));
            counts.then_some((rest.len(), mask))
        };
        let second = LINKS.iter().filter_map(|link| rest.strip_prefix(link)).find_map(known);
        match second {
            Some((_, second)) if first != 0 => return (first, second),
            Some((6.., second)) => found.1 |= second,
            _ if head.len() >= 5 => found.0 |= first,
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_folded_and_moods_fit_the_bits() {
        assert!(MOODS.len() <= 64);
        for word in MOODS.iter().copied().flatten() {
            assert_eq!(crate::logic::words::fold(word), *word);
        }
    }

    #[test]
    fn forms_and_compounds_mean_what_their_stems_do() {
        for (word, same) in [
            ("storms", "storm"),
            ("rainy", "rain"),
            ("caves", "cave"),
            ("hohlen", "hohle"),
            ("fighting", "fight"),
            ("kampfe", "kampf"),
            ("kampfmusik", "kampf"),
            ("tavernengerausche", "taverne"),
            ("burgverlies", "verlies"),
            ("battlefield", "battle"),
            ("regenlied", "regen"),
        ] {
            assert_eq!(mask(word), mask(same), "{word}");
            assert_ne!(mask(word), 0, "{word}");
        }
    }

    #[test]
    fn words_that_only_contain_one_mean_nothing() {
        for word in ["train", "window", "merchant", "firearm", "innen", "waren", "brain", "", "x"] {
            assert_eq!(mask(word), 0, "{word}");
        }
    }

    #[test]
    fn layers_are_named_in_compounds_too() {
        assert_eq!(layer("tavernenmusik"), Some(Layer::Music));
        assert_eq!(layer("regengerausche"), Some(Layer::Ambience));
        assert_eq!(layer("mitglied"), None);
        assert_eq!(layer("tavern"), None);
    }
}
