use proptest::prelude::*;

use super::{card::CardWords, *};

fn npc(name: &str, aliases: &[&str]) -> Npc {
    Npc {
        name: name.into(),
        aliases: aliases.iter().map(|&alias| alias.into()).collect(),
        ..tests_npc()
    }
}

fn cast() -> Vec<NpcNames> {
    NpcNames::of(&[
        npc("Bartok the Barkeep", &["barkeeper", "old boar"]),
        npc("Greymantle the Sage", &[]),
        npc("Élodie of the Old Mill", &["The Miller"]),
        npc("Guard Captain Holt", &[]),
        npc("Guard Rolf", &[]),
    ])
}

fn parsed(text: &str) -> Option<Command> {
    parse(text, &cast())
}

#[test]
fn every_form_is_understood() {
    for (text, command) in [
        ("Mute Bartok.", Command::Mute(0)),
        ("bartok the barkeep, be quiet!", Command::Mute(0)),
        ("Be quiet, old boar", Command::Mute(0)),
        ("please mute the miller now", Command::Mute(2)),
        ("Elodie, sei still!", Command::Mute(2)),
        ("Bartok stumm", Command::Mute(0)),
        ("unmute grey mantle", Command::Unmute(1)),
        ("everyone stop", Command::MuteAll),
        ("Alle still!", Command::MuteAll),
        ("Alle stopp", Command::MuteAll),
        ("Everyone, continue.", Command::UnmuteAll),
        ("alle weiter", Command::UnmuteAll),
        ("Think carefully, Greymantle", Command::Think(1)),
        ("Greymantle, think carefully.", Command::Think(1)),
        ("Denk gut nach, Bartok", Command::Think(0)),
        ("Bartok, überleg gut", Command::Think(0)),
        ("Go faster!", Command::Faster),
        ("Schneller!", Command::Faster),
        ("Next scene: The Tilted Tankard.", Command::Scene("The Tilted Tankard".into())),
        ("Nächste Szene Hafen", Command::Scene("Hafen".into())),
    ] {
        assert_eq!(parsed(text), Some(command), "{text}");
    }
}

#[test]
fn words_that_end_an_x_card_are_told_apart() {
    for (text, goes_on) in [
        ("everyone continue", true),
        ("Everyone, please continue.", true),
        ("okay let's go on", true),
        ("Alright, carry on everybody", true),
        ("we can continue", true),
        ("everyone may speak again", true),
        ("you can all talk again now", true),
        ("could everyone please go on", true),
        ("unmute everyone", true),
        ("I'm fine, let's resume the game", true),
        ("please keep playing", true),
        ("I would like to continue", true),
        ("alle weiter", true),
        ("Weiter geht's!", true),
        ("Ihr könnt weitermachen", true),
        ("alle dürfen wieder sprechen", true),
        ("Gut, wir können das Spiel fortsetzen", true),
        ("bitte alle weiterreden", true),
        ("macht bitte weiter", true),
        ("Lasst uns weiterspielen", true),
        ("von mir aus geht es weiter", true),
        ("don't continue", false),
        ("we can't go on", false),
        ("not yet, continue later", false),
        ("can we continue", false),
        ("should we go on", false),
        ("Do you want to continue?", false),
        ("Können wir weitermachen?", false),
        ("geht's weiter", false),
        ("geht es weiter", false),
        ("nicht weiter", false),
        ("Wir machen noch nicht weiter", false),
        ("go on a journey with me", false),
        ("Bartok, continue the tale of the mill", false),
        ("How far is it to Ravenford", false),
        ("everyone", false),
        ("", false),
    ] {
        assert_eq!(is_go_on(text), goes_on, "{text}");
    }
}

#[test]
fn say_keeps_the_words_as_spoken() {
    for (text, npc, said) in [
        ("Bartok, say: \"Welcome, weary Travellers!\"", 0, "Welcome, weary Travellers!"),
        ("Bartok say that again please", 0, "that again please"),
        ("Greymantle sag Der Turm fällt, nicht wahr?", 1, "Der Turm fällt, nicht wahr?"),
        ("old boar say 'tis \"late\"", 0, "'tis \"late\""),
        ("please Holt say don't move", 3, "don't move"),
    ] {
        assert_eq!(parsed(text), Some(Command::Say { npc, text: said.into() }), "{text}");
    }
    assert_eq!(parsed("Bartok say"), None);
    assert_eq!(parsed("Bartok say!"), None);
}

#[test]
fn ordinary_sentences_are_no_commands() {
    for text in [
        "",
        "...",
        "please",
        "mute the music",
        "mute",
        "Bartok",
        "mute Bartok's lute",
        "mute Bartok's",
        "mute Bartok and Greymantle",
        "I want to mute Bartok",
        "Bartok says hello",
        "Bartok, be quiet about the duke",
        "everyone stop the cart",
        "does everyone continue",
        "we must go faster",
        "think carefully",
        "next scene",
        "say hello Bartok",
        "mute the guard",
        "mute old",
    ] {
        assert_eq!(parsed(text), None, "{text}");
    }
    assert_eq!(parse("mute Bartok", &[]), None);
}

#[test]
fn only_telling_words_are_names_of_their_own() {
    let names = cast();
    assert_eq!(names[3].forms, ["guardcaptainholt", "captain", "holt"]);
    assert_eq!(names[4].forms, ["guardrolf", "rolf"]);
    assert_eq!(names[2].forms, ["elodieoftheoldmill", "themiller", "elodie", "mill"]);
}

#[test]
fn x_card_is_a_whole_utterance() {
    for said in ["x card", "X-Card!", "ex card", "  x   card.", "X-Karte", "xcard"] {
        assert!(is_x_card(said), "{said}");
    }
    for said in ["play the x card", "x card please", "card", "x", "", "Bartok, x card", "six cards"]
    {
        assert!(!is_x_card(said), "{said}");
    }
}

#[test]
fn x_card_within_sentence_is_found() {
    let found = |before, all| Some(CardWords { before, all });
    let cases = [
        ("X-card!", found(0, 2)),
        ("Bartok, tell me: X card. Please stop.", found(3, 7)),
        ("ich spiele die X-Karte", found(3, 5)),
        ("the xcard", found(1, 2)),
        ("six cards, a fax card and an x", None),
        ("", None),
    ];
    for (said, card) in cases {
        assert_eq!(x_card_in(said), card, "{said}");
    }
}

#[test]
fn typed_x_card_is_told_from_talk_about_it() {
    for typed in [
        "X-Karte!",
        "I'd rather use the X card here, can we skip the spiders?",
        "Can we leave the torture out? X-card.",
        "x card please, not this",
        "I don't want this, X card",
        "no x card",
        "Bartok, stop. I am using the X card.",
        "what was that i want to use the x card",
        "Could we use the X card?",
        "Is it okay if I play the X card now?",
        "I need the x-card for this scene",
        "Können wir das bitte überspringen? X-Karte.",
        "ich würde hier lieber die X-Karte nehmen",
        "Darf ich die X-Karte spielen?",
        "Ist es okay, wenn ich die X-Karte spiele?",
        "bitte keine Spinnen, X-Karte",
        "mir reicht es x karte",
        "Ich spiele die X-Karte, nicht weiter bitte",
        "bitte nicht x karte",
        "what the hell i play the x card",
        "why are you doing this i'm using the x card",
        "warum machst du das ich spiele die x karte",
    ] {
        assert!(typed_x_card_in(typed).is_some(), "{typed}");
    }
    for typed in [
        "what does the X card do?",
        "Bartok what is an x card",
        "What happens if I use the X card?",
        "How do I play the X-card?",
        "Who knows how we use the X card?",
        "Who used the X card last week?",
        "Do we have an X card at this table?",
        "tell me what the x card is",
        "Can you explain the X card?",
        "I have a question about the X card",
        "you can always play the X card",
        "If anyone needs the X card, say so",
        "we don't need the X card",
        "No X card needed, go on",
        "The X card isn't needed",
        "never mind the X card",
        "Was macht die X-Karte?",
        "Was passiert, wenn ich die X-Karte spiele?",
        "Gibt es hier eine X-Karte?",
        "Erklär mir bitte die X-Karte",
        "Weißt du, was die X-Karte ist?",
        "Ihr könnt jederzeit die X-Karte spielen",
        "Falls jemand die X-Karte braucht: sagt es",
        "wir brauchen keine X-Karte",
        "Die X-Karte brauchen wir nicht",
        "Ich spiele die X-Karte nicht",
        "six cards on the table",
        "",
    ] {
        assert_eq!(typed_x_card_in(typed), None, "{typed}");
    }
}

/// Each is read with the words around it, not with the whole text.
#[test]
fn many_denied_x_cards_play_none() {
    assert_eq!(typed_x_card_in(&"no the x card ".repeat(4_000)), None);
}

proptest! {
    #[test]
    fn parse_never_panics_and_names_only_known_npcs(
        text in "(mute|say|Bartok|'|\"| |next scene|Élodie|die|please|,|ß|\\PC){0,12}",
    ) {
        let names = cast();
        match parse(&text, &names) {
            Some(Command::Mute(npc) | Command::Unmute(npc) | Command::Think(npc)) => {
                prop_assert!(npc < names.len());
            }
            Some(Command::Say { npc, text: said }) => {
                prop_assert!(npc < names.len() && text.contains(&said) && !said.is_empty());
            }
            Some(Command::Scene(name)) => prop_assert!(text.contains(&name)),
            _ => {}
        }
    }
}
