//! Gender, age and size of a person, by the words of a text about them.
//!
//! Entry type: [`Looks`]. English and German words; what a text leaves open stays open.

use crate::logic::words::fold;

/// Words of a beginning.
const BEGINNING: usize = 15;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gender {
    Female,
    Male,
}

/// Age of a speaker, as far as it is heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    /// Up to about twelve years.
    Child,
    /// Up to about twenty-five.
    Young,
    /// From about sixty on.
    Old,
}

/// Size of a speaker's body, as far as it is heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// A halfling, a goblin.
    Small,
    /// An orc, a giant.
    Large,
}

/// Traits of a person, each with the word that shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Looks {
    pub gender: Option<(Gender, &'static str)>,
    pub age: Option<(Age, &'static str)>,
    pub size: Option<(Size, &'static str)>,
}

const FEMALE: &[&str] = &[
    "female",
    "woman",
    "girl",
    "lady",
    "mother",
    "queen",
    "princess",
    "priestess",
    "witch",
    "matron",
    "weiblich",
    "frau",
    "madchen",
    "mutter",
    "konigin",
    "priesterin",
    "hexe",
];
const MALE: &[&str] = &[
    "male",
    "man",
    "boy",
    "gentleman",
    "father",
    "king",
    "prince",
    "wizard",
    "mannlich",
    "mann",
    "junge",
    "vater",
    "konig",
    "priester",
];
const SHE: &[&str] = &["she", "her", "hers", "herself"];
const HE: &[&str] = &["he", "him", "his", "himself"];
/// Words in a file's own fields and tags.
const CHILD: &[&str] = &["child", "kid", "toddler", "girl", "boy", "madchen"];
const YOUNG: &[&str] = &["young", "teenage", "teenager", "teen", "youth", "jung"];
const OLD: &[&str] = &["old", "elderly", "aged", "elder", "ancient", "alt"];
/// Words in free text, which may mention other people: only phrases that describe a person.
const TOLD_CHILD: &[&str] = &["a child", "toddler", "little girl", "little boy", "ein kind"];
const TOLD_YOUNG: &[&str] = &[
    "young man",
    "young woman",
    "young lady",
    "is young",
    "teenage",
    "teenager",
    "youthful",
    "junge frau",
    "junger mann",
];
const TOLD_OLD: &[&str] = &[
    "old man",
    "old woman",
    "old lady",
    "is old",
    "elderly",
    "crone",
    "is ancient",
    "grey haired",
    "white haired",
    "alte frau",
    "alter mann",
    "greis",
    "greisin",
];
const SMALL: &[&str] = &[
    "halfling", "gnome", "goblin", "kobold", "pixie", "fairy", "sprite", "tiny", "gnom", "winzig",
];
const LARGE: &[&str] = &[
    "orc",
    "half orc",
    "ogre",
    "giant",
    "troll",
    "goliath",
    "dragon",
    "dragonborn",
    "minotaur",
    "huge",
    "hulking",
    "massive",
    "ork",
    "riese",
    "drache",
    "hune",
];

impl Looks {
    /// Looks of a person. `named`: the file's own words ("female", "elf", "72"); `text`: used where they
    /// leave it open.
    pub fn of(named: &[String], text: &str) -> Self {
        let (named, text) = (padded(&named.join(" ")), padded(text));
        let own = Self {
            gender: first(&named, FEMALE, Gender::Female).or(first(&named, MALE, Gender::Male)),
            age: age(&named, [CHILD, YOUNG, OLD]),
            size: size(&named),
        };
        Self {
            gender: own.gender.or_else(|| gender(&text)),
            age: own.age.or_else(|| age(&text, [TOLD_CHILD, TOLD_YOUNG, TOLD_OLD])),
            size: own.size.or_else(|| size(&beginning(&text))),
        }
    }
}

/// Folded words between blanks, so that a whole word is found as " word ".
fn padded(text: &str) -> String {
    format!(" {} ", fold(text))
}

fn count(text: &str, words: &[&str]) -> usize {
    text.split(' ').filter(|word| words.contains(word)).count()
}

/// The first of `words` found in `text`.
fn first<T>(text: &str, words: &'static [&'static str], meant: T) -> Option<(T, &'static str)> {
    words.iter().find(|word| text.contains(&format!(" {word} "))).map(|word| (meant, *word))
}

/// By pronouns; by nouns where there are none.
fn gender(text: &str) -> Option<(Gender, &'static str)> {
    let (she, he) = (count(text, SHE), count(text, HE));
    if she > 2 * he {
        return Some((Gender::Female, "she"));
    }
    if he > 2 * she {
        return Some((Gender::Male, "he"));
    }
    let (female, male) = (count(text, FEMALE), count(text, MALE));
    match female.cmp(&male) {
        std::cmp::Ordering::Greater => first(text, FEMALE, Gender::Female),
        std::cmp::Ordering::Less => first(text, MALE, Gender::Male),
        std::cmp::Ordering::Equal => None,
    }
}

/// By years, else by words for a child, a young or an old person.
fn age(text: &str, words: [&'static [&'static str]; 3]) -> Option<(Age, &'static str)> {
    if let Some(years) = years(text) {
        return match years {
            0..=12 => Some((Age::Child, "years")),
            13..=24 => Some((Age::Young, "years")),
            // An elf of 300 is not old.
            60..=120 => Some((Age::Old, "years")),
            _ => None,
        };
    }
    let [child, young, old] = words;
    let young = || first(text, young, Age::Young);
    first(text, child, Age::Child).or_else(young).or_else(|| first(text, old, Age::Old))
}

/// The number before "years" or behind "age".
fn years(text: &str) -> Option<u32> {
    let words: Vec<&str> = text.split(' ').collect();
    words.windows(2).find_map(|pair| match pair {
        [number, "years" | "year" | "jahre"] | ["age" | "aged" | "alter", number] => {
            number.parse().ok()
        }
        _ => None,
    })
}

/// The first words, which describe the person; later ones may be about others.
fn beginning(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').take(BEGINNING).collect();
    format!("{} ", words.join(" "))
}

fn size(text: &str) -> Option<(Size, &'static str)> {
    first(text, SMALL, Size::Small).or(first(text, LARGE, Size::Large))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(named: &[&str], text: &str) -> Looks {
        Looks::of(&named.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>(), text)
    }

    #[test]
    fn words_of_a_text_say_gender_and_age() {
        let looks = of(&[], "She is an elderly witch. Her cat trusts nobody but her.");
        assert_eq!(looks.gender, Some((Gender::Female, "she")));
        assert_eq!(looks.age, Some((Age::Old, "elderly")));
        assert_eq!(
            of(&[], "Ein alter Mann, groß wie ein Ork.").gender,
            Some((Gender::Male, "mann"))
        );
        assert_eq!(of(&[], "A halfling of 19 years.").age, Some((Age::Young, "years")));
        assert_eq!(of(&[], "A halfling of 30 years old.").age, None);
        assert_eq!(of(&[], "A halfling.").size, Some((Size::Small, "halfling")));
    }

    #[test]
    fn own_words_of_a_file_come_first() {
        let looks = of(&["Male", "72 years"], "She trusts her sister. She is young.");
        assert_eq!(looks.gender, Some((Gender::Male, "male")));
        assert_eq!(looks.age, Some((Age::Old, "years")));
    }

    #[test]
    fn text_that_says_nothing_leaves_it_open() {
        assert_eq!(of(&[], "A shop full of manuals; he and she, she and he."), Looks::default());
        assert_eq!(of(&[], ""), Looks::default());
    }
}
