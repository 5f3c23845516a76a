//! Gender, age and size of a person, by the words of a text about them.
//!
//! Entry items: [`Looks`], [`is_look`]. English and German words; what a text leaves open stays open.

use crate::logic::words::fold;

/// Words of a text's beginning, which describe the person; later ones may be about others.
const BEGINNING: usize = 15;
/// Like [`BEGINNING`], for the words of an age.
const AGE_BEGINNING: usize = 40;

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

const FEMALE: &[&str] = &["female", "woman", "girl", "lady", "weiblich", "frau", "madchen"];
const MALE: &[&str] = &["male", "man", "boy", "gentleman", "mannlich", "mann", "junge"];
/// Titles, which do not always tell: a wizard may be a woman.
const FEMALE_TITLES: &[&str] = &[
    "mother",
    "queen",
    "princess",
    "priestess",
    "witch",
    "matron",
    "mutter",
    "konigin",
    "priesterin",
    "hexe",
];
const MALE_TITLES: &[&str] = &["father", "king", "prince", "wizard", "vater", "konig", "priester"];
/// Before years that are another person's, or another time's.
const NOT_NOW: &[&str] = &[
    "was", "were", "at", "from", "since", "until", "by", "turned", "war", "her", "his", "their",
    "ihre", "seine", "seit", "im",
];
const SHE: &[&str] = &["she", "her", "hers", "herself"];
const HE: &[&str] = &["he", "him", "his", "himself"];
/// Words in a file's own fields and tags; many a "girl" or "boy" there is grown up.
const CHILD: &[&str] = &["child", "toddler", "little girl", "little boy"];
const YOUNG: &[&str] = &["young", "teenage", "teenager", "teen", "youth", "jung"];
const OLD: &[&str] = &["old", "elderly", "aged", "elder", "ancient", "alt"];
/// Words in free text, which may mention other people and earlier times: only phrases that describe a person.
const TOLD_CHILD: &[&str] = &[
    "is a child",
    "is still a child",
    "is a little girl",
    "is a little boy",
    "is a toddler",
    "ist ein kind",
    "ist noch ein kind",
];
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
        let number = || named.iter().find_map(|it| it.trim().parse::<u32>().ok());
        let (text, all) = (padded(text), padded(&named.join(" ")));
        let own = Self {
            gender: named_gender(&all),
            age: of_years(years(&all).or_else(number)).or_else(|| age(&all, [CHILD, YOUNG, OLD])),
            size: size(&all),
        };
        let told_age = || {
            let told = [TOLD_CHILD, TOLD_YOUNG, TOLD_OLD];
            of_years(told_years(&text)).or_else(|| age(&beginning(&text, AGE_BEGINNING), told))
        };
        let by_title = || by_nouns(&all, FEMALE_TITLES, MALE_TITLES);
        Self {
            gender: own.gender.or_else(|| gender(&text)).or_else(by_title),
            age: own.age.or_else(told_age),
            size: own.size.or_else(|| size(&beginning(&text, BEGINNING))),
        }
    }
}

/// True for a tag that says by itself how a person sounds: "female", "npc/old".
pub fn is_look(tag: &str) -> bool {
    let word = fold(tag.rsplit('/').next().unwrap_or_default());
    let all = [FEMALE, MALE, CHILD, YOUNG, OLD, SMALL, LARGE];
    all.iter().any(|words| words.contains(&word.as_str()))
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

/// By words for it, then by pronouns ("she/her").
fn named_gender(named: &str) -> Option<(Gender, &'static str)> {
    let words = [(FEMALE, Gender::Female), (MALE, Gender::Male)];
    let pronouns = [(SHE, Gender::Female), (HE, Gender::Male)];
    words.into_iter().chain(pronouns).find_map(|(words, gender)| first(named, words, gender))
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
    by_nouns(text, FEMALE, MALE).or_else(|| by_nouns(text, FEMALE_TITLES, MALE_TITLES))
}

type Words = &'static [&'static str];

/// The gender of more of these nouns.
fn by_nouns(text: &str, female: Words, male: Words) -> Option<(Gender, &'static str)> {
    match count(text, female).cmp(&count(text, male)) {
        std::cmp::Ordering::Greater => first(text, female, Gender::Female),
        std::cmp::Ordering::Less => first(text, male, Gender::Male),
        std::cmp::Ordering::Equal => None,
    }
}

/// Age that years tell; those of grown-ups say nothing about a voice.
fn of_years(years: Option<u32>) -> Option<(Age, &'static str)> {
    match years? {
        0..=12 => Some((Age::Child, "years")),
        13..=24 => Some((Age::Young, "years")),
        // An elf of 300 is not old.
        60..=120 => Some((Age::Old, "years")),
        _ => None,
    }
}

/// By words for a child, a young or an old person.
fn age(text: &str, words: [Words; 3]) -> Option<(Age, &'static str)> {
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

/// The years in a text: "is 72 years old", "age 72"; not "10 years ago", "was 12 years old" or "at age 12".
fn told_years(text: &str) -> Option<u32> {
    let words: Vec<&str> = text.split(' ').collect();
    words.windows(4).find_map(|part| match part {
        [before, number, "years" | "year" | "jahre", "old" | "alt"]
            if !NOT_NOW.contains(before) =>
        {
            number.parse().ok()
        }
        [before, "age" | "aged" | "alter", number, _] if !NOT_NOW.contains(before) => {
            number.parse().ok()
        }
        _ => None,
    })
}

/// The first `most` words.
fn beginning(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split(' ').take(most).collect();
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
        assert_eq!(of(&[], "A halfling, 19 years old.").age, Some((Age::Young, "years")));
        assert_eq!(of(&[], "[Age: 72] A baker.").age, Some((Age::Old, "years")));
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
    fn earlier_times_and_others_are_not_the_person() {
        for text in [
            "He came 10 years ago, orphaned as a child.",
            "When he was 7 years old he fled; at age 9 he was a thief.",
            "His 80 years old father lives with him.",
        ] {
            assert_eq!(of(&[], text).age, None, "{text}");
        }
        assert_eq!(of(&["girl"], "").age, None);
        assert_eq!(of(&["72"], "").age, Some((Age::Old, "years")));
    }

    #[test]
    fn title_tells_less_than_a_pronoun() {
        let gender = |named: &[&str], text| of(named, text).gender.map(|it| it.0);
        assert_eq!(gender(&["wizard"], "She reads her books."), Some(Gender::Female));
        assert_eq!(gender(&["wizard"], "Reads books."), Some(Gender::Male));
        assert_eq!(gender(&["Pronouns: she/her"], "He and his dog."), Some(Gender::Female));
        for (tag, is) in [("npc/female", true), ("location/old-town", false), ("Male POV", false)] {
            assert_eq!(is_look(tag), is, "{tag}");
        }
    }

    #[test]
    fn text_that_says_nothing_leaves_it_open() {
        assert_eq!(of(&[], "A shop full of manuals; he and she, she and he."), Looks::default());
        assert_eq!(of(&[], ""), Looks::default());
    }
}
