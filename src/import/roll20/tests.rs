use proptest::prelude::*;
use serde_json::json;

use super::*;

fn drafts(document: Value) -> Drafts {
    assert!(is_roll20(&document), "{document}");
    let mut drafts = Drafts::default();
    read("x.json", document, &mut drafts);
    drafts
}

fn texts(passages: &[Passage]) -> String {
    passages.iter().map(|it| it.text.as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn character_of_vttes_becomes_a_seat() {
    let drafts = drafts(json!({
        "schema_version": 3,
        "type": "character",
        "character": {
            "oldId": "-Kw7paEA",
            "name": "Mira\u{202e}\u{0} the Red",
            "bio": "%3Cp%3ESells%20cloth.%3C/p%3E",
            "gmnotes": "%3Cp%3EA%20SPY%20%u2014%20paid.%3C/p%3E",
            "tags": "[\"town\"]",
            "controlledby": "",
            "attribs": [
                {"name": "npc", "current": 1},
                {"name": "npc_languages", "current": "Common"},
                {"name": "flaws", "current": "Greedy"},
                {"name": "gender", "current": "female"},
            ],
            "abilities": [{"name": "Hit", "action": "/r 1d20"}],
        },
    }));
    let [npc] = drafts.npcs.as_slice() else { panic!("{drafts:?}") };
    assert_eq!(
        (npc.name.as_str(), npc.source.as_str()),
        ("Mira the Red", "roll20:character:-Kw7paEA")
    );
    assert_eq!(texts(&npc.personality), "Sells cloth.\nflaws: Greedy");
    assert_eq!(texts(&npc.knowledge), "languages: Common");
    assert_eq!(texts(&npc.secrets), "A SPY — paid.");
    assert_eq!(
        (npc.looks.as_slice(), npc.tags.as_slice()),
        (&["gender: female".to_owned()][..], &["town".to_owned()][..])
    );
    assert_eq!(drafts.left_out[0].what, "1 ability");
}

#[test]
fn notes_on_a_token_are_secret() {
    let notes = "%3Cp%3EA%20SPY%3C/p%3E";
    let token = json!({"name": "Mira", "gmnotes": notes});
    let text = token.to_string();
    for (token, secret, is_lost) in [
        (token, "A SPY", false),
        (json!(text), "A SPY", false),
        (json!("{\"gmnotes\": \"A SP"), "", true),
        (json!(""), "", false),
        (json!({"bar1_value": 45}), "", false),
    ] {
        let document =
            json!({"name": "Mira", "bio": "Tall.", "attribs": [], "defaulttoken": token});
        let drafts = drafts(document);
        assert_eq!(texts(&drafts.npcs[0].secrets), secret);
        assert_eq!(drafts.left_out.len(), usize::from(is_lost), "{drafts:?}");
    }
}

#[test]
fn texts_that_not_all_players_read_are_secret() {
    let drafts = drafts(json!({
        "campaign_title": "Mire",
        "characters": [
            {"id": "-a", "name": "Hero", "bio": "HEIR", "gmnotes": "", "controlledby": ["-p"], "attribs": []},
            {"id": "-f", "name": "Ally", "bio": "Tall", "gmnotes": "", "controlledby": "-p", "attribs": [],
             "inplayerjournals": "all"},
            {"id": "-b", "name": ""},
            7,
        ],
        "handouts": [
            {"id": "-c", "name": "Map", "notes": "<p>Open</p>", "gmnotes": "TRAP", "inplayerjournals": ["all"]},
            {"id": "-d", "name": "Plot", "notes": "DOOM", "gmnotes": "", "inplayerjournals": []},
            {"id": "-e", "name": "Letter", "notes": "PSST", "gmnotes": "", "inplayerjournals": "-p"},
        ],
        "pages": [{}, {}],
        "macros": [],
    }));
    assert!(drafts.npcs.is_empty());
    let [hero, ally, map, plot, letter] = drafts.entities.as_slice() else { panic!("{drafts:?}") };
    assert_eq!(hero.kind, EntityKind::Player);
    assert_eq!((texts(&hero.text).as_str(), texts(&hero.secrets).as_str()), ("", "HEIR"));
    assert_eq!(texts(&ally.text), "Tall");
    assert_eq!((texts(&map.text).as_str(), texts(&map.secrets).as_str()), ("Open", "TRAP"));
    assert!(!map.dm_only && plot.dm_only && letter.dm_only);
    assert_eq!(drafts.mistakes[0].place, "characters/3");
    let what: Vec<&str> = drafts.left_out.iter().map(|it| it.what.as_str()).collect();
    assert_eq!(what, ["characters/2", "2 maps"]);
}

#[test]
fn other_json_is_no_roll20() {
    for document in [json!([]), json!({"name": "x"}), json!({"characters": [], "name": "x"})] {
        assert!(!is_roll20(&document), "{document}");
    }
}

proptest! {
    #[test]
    fn wrong_kinds_never_panic(text in "\\PC{0,40}", number in any::<i64>(), which in 0..6usize) {
        let values = [json!(text), json!(number), json!(null), json!([text]), json!({"a": number}), json!(true)];
        let at = |shift: usize| values[(which + shift) % values.len()].clone();
        let character = json!({"name": text, "bio": at(0), "gmnotes": at(1), "tags": at(2),
            "controlledby": at(3), "attribs": at(4), "abilities": at(5), "id": at(0)});
        let mut drafts = Drafts::default();
        read("x", json!({"character": character.clone()}), &mut drafts);
        read("x", json!({"campaign_title": at(0), "characters": at(1), "handouts": [character, at(2)]}), &mut drafts);
    }
}
