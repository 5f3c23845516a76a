use super::*;

fn selector() -> TierSelector {
    TierSelector::new(&Keywords::shipped(["en", "de"]))
}

fn select_with(text: &str, change: impl FnOnce(&mut TierInput<'_>)) -> Selection {
    let names = Names::new(
        ["Fireball", "Magic Missile", "grappled"],
        [
            ("The Rusty Tankard", "The Rusty Tankard"),
            ("Duke Aldric", "Duke Aldric"),
            ("Élodie", "Élodie"),
            ("Ravenford", "Ravenford"),
            ("Ravenford", "the city"),
            ("Blackmoor Keep", "the keep"),
            ("Burg Rabenstein", "die Burg"),
            ("Unterwalden", "das Dorf"),
            ("Unterwalden", "der kleine Weiler"),
            ("Der Tanzende Hirsch", "Der Tanzende Hirsch"),
        ]
        .map(|(entity, name)| AbsentName { entity, name }),
    );
    let mut input = TierInput {
        text,
        queue_depth: 0,
        first_turn: false,
        recent_turns: 0,
        has_pictures: false,
        since_deep: None,
        names: &names,
        here: None,
    };
    change(&mut input);
    selector().select(&input)
}

fn select(text: &str) -> Selection {
    select_with(text, |_| {})
}

#[test]
fn ordinary_talk_stays_fast() {
    for text in [
        "",
        "I draw my sword",
        "such a nice inn",
        "a request",
        "I have a request for you",
        "he is a researcher",
        "draw your weapons",
        "das ist eine Suchmaschine",
        "the ruler of this land",
        "we conquest everything",
        "Regelmäßig",
        "dismember it",
    ] {
        let selection = select(text);
        assert_eq!((selection.tier, selection.reason), (Tier::Fast, Reason::Default), "{text}");
        assert_eq!(selection.keyword, None);
    }
}

#[test]
fn every_shipped_keyword_works_inside_a_sentence() {
    for language in ["en", "de"] {
        let keywords = Keywords::shipped([language]);
        assert!(keywords.deep.len() >= 8 && keywords.standard.len() >= 14);
        for (list, tier) in [(&keywords.deep, Tier::Deep), (&keywords.standard, Tier::Standard)] {
            for phrase in list.iter().flat_map(|phrase| forms(phrase)) {
                let text = format!("well, {}! please", phrase.to_uppercase());
                let selection = select(&text);
                assert_eq!(selection.tier, tier, "{text}");
                assert!(selection.keyword.is_some(), "{text}");
            }
        }
    }
}

/// Earlier promises, words and debts require a lookup, in all forms of the word.
#[test]
fn references_to_past_select_standard_tier() {
    for text in [
        "What did I promise you?",
        "She promises the moon",
        "You promised me a horse",
        "I swear I was here",
        "He swears by the river",
        "What did we swear?",
        "You swore an oath",
        "I have sworn it",
        "What do I owe you?",
        "She owes me two gold",
        "What we owed the smith",
        "What did we agree on?",
        "He agrees to it",
        "We agreed on ten silver",
        "What have I told you?",
        "I told you so",
        "What you told me of the duke",
        "Somebody told us of it",
        "Where were we yesterday?",
        "Who was here last week?",
        "Was habe ich dir versprochen?",
        "Ich verspreche es dir",
        "Was versprichst du mir?",
        "Er verspricht viel",
        "Wir versprechen es",
        "Sie versprach uns Gold",
        "Ich schwöre es",
        "Sie schwört Rache",
        "Was haben wir geschworen?",
        "Er schwor bei allem",
        "Was schulde ich dir?",
        "Du schuldest mir Geld",
        "Er schuldet uns zwei Gold",
        "Was haben wir vereinbart?",
        "Es war abgemacht",
        "Was habe ich dir gesagt?",
        "Was hast du mir gesagt?",
        "Hat er uns gesagt, wo?",
        "Ich habe dir erzählt, wer",
        "Du hast mir erzählt, wo",
        "Wer kam gestern?",
        "Letzte Woche am Fluss",
        "Vorige Woche im Wald",
    ] {
        let selection = select(text);
        assert_eq!(selection.tier, Tier::Standard, "{text}");
        assert_eq!(selection.reason, Reason::StandardKeyword, "{text}");
    }
    // Other words stay unchanged.
    for text in ["The compromise is fair", "A power over it", "An agreeable man", "Das Schulhaus"] {
        assert_eq!(select(text).tier, Tier::Fast, "{text}");
    }
}

#[test]
fn rule_and_rules_are_both_keywords() {
    assert_eq!(select("what is the rule here").keyword.as_deref(), Some("rule"));
    assert_eq!(select("what are the Rules?").keyword.as_deref(), Some("rules"));
    assert_eq!(select("Wie sind die REGELN").keyword.as_deref(), Some("Regeln"));
    assert_eq!(select("any quests around").tier, Tier::Standard);
}

#[test]
fn folding_reaches_accents_and_punctuation() {
    assert_eq!(select("Uberleg, gut.").tier, Tier::Deep);
    assert_eq!(select("ÜBERLEG   GUT").tier, Tier::Deep);
    assert_eq!(select("tell me... everything").tier, Tier::Deep);
}

#[test]
fn deep_keyword_wins_unless_deep_turn_was_recent() {
    let selection = select_with("remember, and take your time", |input| input.queue_depth = 5);
    assert_eq!((selection.tier, selection.reason), (Tier::Deep, Reason::DeepKeyword));
    assert_eq!(selection.keyword.as_deref(), Some("take your time"));
    let recent = |seconds| {
        select_with("think carefully", |input| {
            input.since_deep = Some(Duration::from_millis(seconds))
        })
    };
    let demoted = recent(12_400);
    assert_eq!(demoted.tier, Tier::Standard);
    assert_eq!(demoted.reason.to_string(), "deep demoted: last deep turn 12 s ago");
    assert_eq!(recent(29_999).tier, Tier::Standard);
    assert_eq!(recent(30_000).tier, Tier::Deep);
}

#[test]
fn crowd_beats_every_standard_reason() {
    let selection = select_with("who is Duke Aldric", |input| {
        input.queue_depth = 3;
        input.first_turn = true;
    });
    assert_eq!(selection.tier, Tier::Fast);
    assert_eq!(selection.reason.to_string(), "three players waiting");
    let four = select_with("hello", |input| input.queue_depth = 4);
    assert_eq!(four.reason.to_string(), "4 players waiting");
    let two = select_with("who is he", |input| input.queue_depth = 2);
    assert_eq!(two.reason.to_string(), "standard keyword");
}

#[test]
fn names_ask_for_a_look_up() {
    for (text, reason, name) in [
        ("I cast magic missile", Reason::NamesRule, "Magic Missile"),
        ("am I grappled?", Reason::NamesRule, "grappled"),
        ("let's go to the rusty tankard", Reason::NamesAbsent, "The Rusty Tankard"),
        ("rusty tankard it is", Reason::NamesAbsent, "The Rusty Tankard"),
        ("is ELODIE's brother here", Reason::NamesAbsent, "Élodie"),
        ("Duke Aldric sent us", Reason::NamesAbsent, "Duke Aldric"),
    ] {
        let selection = select(text);
        assert_eq!((selection.tier, selection.reason), (Tier::Standard, reason), "{text}");
        assert_eq!(selection.keyword.as_deref(), Some(name));
    }
    assert_eq!(select("the duke is a magic user").tier, Tier::Fast);
    assert_eq!(Reason::NamesRule.to_string(), "names a rule");
    assert_eq!(Reason::NamesAbsent.to_string(), "names someone absent");
}

#[test]
fn common_words_name_other_places_with_article() {
    for text in ["may I keep it", "keep it safe", "a city of thieves", "cities burn", "in city"] {
        assert_eq!(select(text).tier, Tier::Fast, "{text}");
    }
    assert_eq!(select("let's go to the keep").keyword.as_deref(), Some("the keep"));
    for text in ["Burg", "eine Burg aus Sand", "ein Dorf wie jedes", "kleine Weiler gibt es viele"]
    {
        assert_eq!(select(text).tier, Tier::Fast, "{text}");
    }
    for (text, name) in [
        ("wie alt ist die Burg", "die Burg"),
        ("wir gehen zur Burg", "die Burg"),
        ("was ist in der Burg", "die Burg"),
        ("gibt es im Dorf Bier", "das Dorf"),
        ("wir wollen ins Dorf", "das Dorf"),
        ("der kleine Weiler", "der kleine Weiler"),
        ("heute im Tanzenden Hirsch, oder: tanzende Hirsch", "Der Tanzende Hirsch"),
    ] {
        assert_eq!(select(text).keyword.as_deref(), Some(name), "{text}");
    }
    let at = |text, here| select_with(text, |input| input.here = Some(here));
    assert_eq!(at("how old is the city", "ravenford").tier, Tier::Fast);
    assert_eq!(at("how old is Ravenford", "Ravenford").tier, Tier::Fast);
    let both = at("from Ravenford to the keep", "Ravenford");
    assert_eq!(both.keyword.as_deref(), Some("the keep"));
    assert_eq!(at("how old is the city", "Blackmoor Keep").tier, Tier::Standard);
    assert_eq!(at("I cast fireball", "").tier, Tier::Standard);
}

#[test]
fn deep_keywords_match_with_small_words_inside() {
    for (text, keyword) in [
        ("generate an image of it", "generate image"),
        ("generate me an image", "generate image"),
        ("search on the web for it", "search the web"),
        ("please think very carefully", "think carefully"),
        ("explain me everything", "explain everything"),
        ("take all of your time and take your time", "take your time"),
        ("such bitte im Netz", "such im Netz"),
        ("denk doch bitte gut nach", "denk gut nach"),
        ("erzähl mir doch alles", "erzähl mir alles"),
    ] {
        let selection = select(text);
        assert_eq!((selection.tier, selection.keyword.as_deref()), (Tier::Deep, Some(keyword)));
    }
    for text in [
        "generate heat near the image",
        "draw a line for me",
        "think of a carefully made bow",
        "take the time",
    ] {
        assert_ne!(select(text).tier, Tier::Deep, "{text}");
    }
}

#[test]
fn first_turn_is_standard() {
    let selection = select_with("hello there", |input| input.first_turn = true);
    assert_eq!(selection.tier, Tier::Standard);
    assert_eq!(selection.reason.to_string(), "first turn with this npc");
    assert_eq!(Reason::Default.to_string(), "default");
    assert_eq!(Reason::DeepKeyword.to_string(), "deep keyword");
}

#[test]
fn rapid_exchange_is_fast_before_first_turn() {
    let nth = |text, earlier| {
        let selection = select_with(text, |input| {
            input.first_turn = true;
            input.recent_turns = earlier;
        });
        (selection.tier, selection.reason)
    };
    assert_eq!(nth("hello there", 1), (Tier::Standard, Reason::FirstTurn));
    assert_eq!(nth("hello there", 2), (Tier::Fast, Reason::RapidExchange));
    assert_eq!(nth("do you remember", 5), (Tier::Standard, Reason::StandardKeyword));
    assert_eq!(nth("what of Duke Aldric", 5), (Tier::Standard, Reason::NamesAbsent));
    assert_eq!(nth("think carefully", 5), (Tier::Deep, Reason::DeepKeyword));
}

#[test]
fn pictures_are_asked_for_in_plain_words() {
    let tier =
        |text, has_pictures| select_with(text, |input| input.has_pictures = has_pictures).tier;
    for asked in ["Greymantle, show us the ring", "zeig mir den Ring"] {
        assert_eq!((tier(asked, true), tier(asked, false)), (Tier::Deep, Tier::Fast), "{asked}");
    }
    assert_eq!(tier("the show begins", true), Tier::Fast);
}

#[test]
fn only_configured_languages_count() {
    let german = TierSelector::new(&Keywords::shipped(["de-AT", "tlh"]));
    let names = Names::default();
    let input = |text| TierInput {
        text,
        queue_depth: 0,
        first_turn: false,
        recent_turns: 0,
        has_pictures: false,
        since_deep: None,
        names: &names,
        here: None,
    };
    assert_eq!(german.select(&input("who is that")).tier, Tier::Fast);
    assert_eq!(german.select(&input("wer ist das")).tier, Tier::Standard);
}

#[test]
fn override_wins_and_the_ceiling_binds() {
    for selected in Tier::ALL {
        for ceiling in Tier::ALL {
            assert_eq!(effective(selected, ceiling, None), selected.min(ceiling));
            for forced in Tier::ALL {
                assert_eq!(effective(selected, ceiling, Some(forced)), forced);
            }
        }
    }
}
