//! Gender, age and kind of a card's character, for choosing a voice.
//!
//! Entry functions: [`looks`], [`is_for_adults`].

/// Names of fields in descriptions ("Age: 22", "Gender(\"Female\")"), in languages of cards.
const FIELDS: &[&str] = &[
    "gender",
    "sex",
    "age",
    "species",
    "race",
    "voice",
    "pronouns",
    "geschlecht",
    "alter",
    "rasse",
    "spezies",
    "stimme",
    "genre",
    "âge",
    "espèce",
    "género",
    "edad",
    "raza",
];
/// Tags that say such a thing by themselves.
const TAGS: &[&str] = &[
    "female",
    "male",
    "woman",
    "man",
    "girl",
    "boy",
    "nonbinary",
    "non-binary",
    "elf",
    "dwarf",
    "orc",
    "goblin",
    "human",
    "robot",
    "android",
    "dragon",
    "demon",
    "angel",
    "monster",
    "cat",
    "catgirl",
    "halfling",
    "gnome",
    "giant",
    "vampire",
    "ghost",
    "undead",
    "witch",
    "wizard",
    "mage",
    "old",
    "young",
    "elderly",
    "child",
    "teen",
    "adult man",
    "adult woman",
    "granny",
];
/// Tags of content for adults.
const ADULT: &[&str] =
    &["nsfw", "18+", "adult", "explicit", "porn", "erotic", "erotica", "smut", "hentai", "sex"];
/// Longest value kept, in characters.
const VALUE_MAX: usize = 80;
/// Most values kept.
const LOOKS_MAX: usize = 12;

/// Lines of `description` and `tags` that tell how the character may sound.
pub fn looks(description: &str, tags: &[String]) -> Vec<String> {
    let lines = description.lines().filter_map(|line| {
        let line = line.trim_matches(|c: char| c.is_whitespace() || "[]{}()-•*\"".contains(c));
        let (name, value) = line.split_once([':', '=', '('])?;
        let name = name.trim();
        let is_field = name.len() <= 20 && FIELDS.contains(&name.to_lowercase().as_str());
        let value = value.trim_matches(|c: char| c.is_whitespace() || "\"[](){}".contains(c));
        let value: String = value.chars().take(VALUE_MAX).collect();
        (is_field && !value.is_empty()).then(|| format!("{name}: {value}"))
    });
    let tags = tags.iter().filter(|tag| TAGS.contains(&tag.to_lowercase().as_str())).cloned();
    lines.chain(tags).take(LOOKS_MAX).collect()
}

/// True if the author marks the character as one for adults.
pub fn is_for_adults(tags: &[String]) -> bool {
    tags.iter().any(|tag| ADULT.contains(&tag.to_lowercase().as_str()))
}
