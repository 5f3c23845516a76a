use proptest::prelude::*;

use super::*;

const NAMES: [&str; 6] =
    ["Bartok the Barkeep", "Greymantle the Sage", "Elara", "Thorin", "Duke Aldric", "Ravenford"];

fn correct(text: &str) -> Corrected {
    Glossary::new(NAMES, "en").correct(text)
}

#[test]
fn misheard_names_become_names() {
    for (heard, right) in [
        ("grey mantle, tell me a tale", "Greymantle, tell me a tale"),
        ("I asked grey mantle about it", "I asked Greymantle about it"),
        ("gray man tell what do you know", "Greymantle what do you know"),
        ("hey gray man tell what do you know", "hey Greymantle what do you know"),
        ("I think gray mantel lies", "I think Greymantle lies"),
        ("bar talk roll two d six", "Bartok roll two d six"),
        ("hey, Bar-talk, a beer", "hey, Bartok, a beer"),
        ("what do you have Bartock?", "what do you have Bartok?"),
        ("we trust Bartock with it", "we trust Bartok with it"),
        ("tell me, bar talk, about him", "tell me, Bartok, about him"),
        ("is Ellara’s sword here", "is Elara’s sword here"),
        ("so Thoren went home", "so Thorin went home"),
        ("the road to raven ford is long", "the road to Ravenford is long"),
    ] {
        let corrected = correct(heard);
        assert_eq!(corrected.text, right);
        assert_eq!(corrected.changes.len(), 1, "{heard}");
        assert!(heard.contains(&corrected.changes[0].understood));
    }
}

#[test]
fn ordinary_words_stay() {
    for text in [
        "",
        "I barter with him over a bar of soap",
        "barter is all they do",
        "a thorn in my side",
        "thorn bushes grow here",
        "I need a lawyer now",
        "a lawyer would help",
        "the lara croft thing",
        "I heard bar talk all evening long",
        "the bark of the tree is part of it",
        "he is torn and we turn around",
        "the barkeep is a sage and a duke",
        "Darin and Elena are other people",
        "an old rick and all dreck",
        "the grey mantis tells",
        "raven, ford the river",
        "that is the alarm",
        "Thorn, can you hear me?",
        "I'm Thoren",
        "My name is Ellara.",
        "Please call me Bartock",
        "I open the door and search the room",
    ] {
        assert_eq!(correct(text), Corrected { text: text.to_owned(), changes: vec![] });
    }
}

#[test]
fn words_of_both_languages_stay_at_every_place() {
    let names =
        ["Bartok", "Greymantle the Sage", "Weiser", "Captain Hale", "Hale", "Mira", "Marta"];
    for language in ["en", "de"] {
        let glossary = Glossary::new(names, language);
        for text in [
            "Leiser bitte",
            "Leiser, bitte.",
            "Bitte leiser!",
            "Weißer Wein, bitte",
            "Wir gehen weiter",
            "Bartok, mach es bitte leiser",
            "Holt, wir gehen weiter",
            "Halt!",
            "Hell, that was close",
            "A hole, here?",
            "Mirror, show me the way",
            "Odo, how are you",
            "Odo, hol mir ein Bier",
            "Ich bin Mara",
            "I am Mara",
            "I’m Mara, a ranger",
            "Guten Abend, ich heiße Mara.",
            "Ich bin die Mara aus Lauterbach",
            "My name is Martha",
            "Call me Martha",
        ] {
            assert_eq!(glossary.correct(text).text, text, "{language}");
        }
        for (heard, right) in [
            ("Bartock, ein Bier", "Bartok, ein Bier"),
            ("a beer please, Bartock", "a beer please, Bartok"),
        ] {
            assert_eq!(glossary.correct(heard).text, right, "{language}");
        }
    }
}

#[test]
fn known_names_are_left_as_they_are() {
    for text in ["bartok and ELARA meet Greymantle the Sage", "Elara's", "Bartok", "duke aldric"] {
        assert!(correct(text).changes.is_empty(), "{text}");
    }
}

#[test]
fn two_names_as_near_are_no_evidence() {
    let glossary = Glossary::new(["Marina", "Merina"], "en");
    assert!(glossary.correct("hello Murina").changes.is_empty());
    assert_eq!(glossary.correct("hello Marinna").text, "hello Marina");
}

#[test]
fn german_is_heard_in_german() {
    let glossary = Glossary::new(["Schattenfels", "Meike", "Wilhelm der Wirt"], "de");
    assert_eq!(glossary.correct("Villhelm, ein Bier bitte").text, "Wilhelm, ein Bier bitte");
    assert_eq!(
        glossary.correct("wir gehen nach Schatten Fels").text,
        "wir gehen nach Schattenfels"
    );
    assert_eq!(glossary.correct("Maike, komm her").text, "Meike, komm her");
    for text in ["wir wollen helfen", "der Schatten fällt", "ein wilder Helm", "meine Güte"] {
        assert!(glossary.correct(text).changes.is_empty(), "{text}");
    }
}

#[test]
fn parts_of_names() {
    let ear = NameLanguage::new("en");
    let parts = |name| {
        name_parts(name, &ear).iter().map(|p| (p.word, p.strength == Strength::Full)).collect()
    };
    let check = |name: &'static str, expected: &[(&str, bool)]| {
        let found: Vec<(&str, bool)> = parts(name);
        assert_eq!(found, expected);
    };
    check("Bartok the Barkeep", &[("Bartok", true), ("Barkeep", false)]);
    check("Old Tamsin Thorn", &[("Old", false), ("Tamsin", true), ("Thorn", false)]);
    check("Rose the Florist", &[("Rose", true), ("Florist", true)]);
    check("Greymantle", &[]);
    check("Sir Al of X", &[("Sir", false)]);
}

#[test]
fn every_ordinary_word_alone_mid_sentence_stays() {
    let glossary = Glossary::new(NAMES, "en");
    for word in include_str!("../language/en/ordinary.txt").split_whitespace() {
        let text = format!("I saw {word} there once");
        assert_eq!(glossary.correct(&text).text, text);
    }
}

proptest! {
    #[test]
    fn any_text_is_taken_and_only_names_change(text in "(\\PC{0,6}|bar|talk|grey|mantle|, | ){0,20}") {
        let corrected = correct(&text);
        if corrected.changes.is_empty() {
            prop_assert_eq!(&corrected.text, &text);
        }
        for change in &corrected.changes {
            prop_assert!(corrected.text.contains(&change.name) && text.contains(&change.understood));
        }
    }
}
