//! Files as Foundry VTT exports them, from version 9 to 13.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Reading, is_foundry, read};
use crate::{
    domain::EntityKind,
    import::draft::{Drafts, EntityDraft, NpcDraft, Passage, RelationTarget},
};

fn drafts(document: Value) -> Drafts {
    assert!(is_foundry(&document), "{document}");
    let mut drafts = Drafts::default();
    read("world.json", document, &mut drafts);
    assert!(drafts.mistakes.is_empty(), "{:?}", drafts.mistakes);
    drafts
}

fn texts(passages: &[Passage]) -> Vec<&str> {
    passages.iter().map(|it| it.text.as_str()).collect()
}

fn npc(document: Value) -> NpcDraft {
    let mut drafts = drafts(document);
    assert_eq!(drafts.npcs.len(), 1, "{drafts:?}");
    drafts.npcs.remove(0)
}

fn entity(document: Value) -> EntityDraft {
    let mut drafts = drafts(document);
    assert_eq!((drafts.npcs.len(), drafts.entities.len()), (0, 1), "{drafts:?}");
    drafts.entities.remove(0)
}

/// An NPC of dnd5e under version 13.
fn vera() -> Value {
    json!({
        "_id": "veraveraveravera", "name": "Vera Holt (Spy)", "type": "npc", "img": "vera.webp",
        "system": {
            "abilities": {"int": {"value": 17}, "cha": {"value": 10}},
            "details": {
                "biography": {
                    "value": "<p>Sells @UUID[Actor.oldoldoldoldold1]{old Tom}'s maps &amp; &amp;Reference[poison].\
                              </p><section class=\"secret\"><p>Works for the duke.</p></section>",
                    "public": "<p>Runs the map shop with @UUID[Actor.tomtomtomtomtom1]{Tom}.</p>\
                               <p class=secret>And with @UUID[Actor.annannannannann1].</p>",
                },
                "ideal": "Truth", "bond": "", "flaw": "Greedy", "alignment": "Neutral",
                "type": {"value": "humanoid", "subtype": "elf"}, "race": null, "gender": "female",
            },
            "traits": {"languages": {"value": ["common", "elvish"], "custom": "Thieves' cant"}},
        },
        "items": [
            {"name": "Dagger", "type": "weapon", "system": {}},
            {"name": "Mimicry", "type": "feat",
             "system": {"description": {"value": "<p>Mimics voices, [[/r 1d4]] at once.</p>"}}},
        ],
        "effects": [], "folder": null, "ownership": {"default": 0},
        "prototypeToken": {"name": "Vera"},
    })
}

#[test]
fn actor_becomes_an_npc_and_secrets_stay_apart() {
    let all = drafts(vera());
    let npc = &all.npcs[0];
    assert_eq!(npc.source, "foundry:actor:veraveraveravera");
    assert_eq!(
        (npc.name.as_str(), &npc.aliases),
        ("Vera Holt (Spy)", &vec!["Vera".to_owned(), "Vera Holt".to_owned()])
    );
    assert_eq!(
        texts(&npc.personality),
        [
            "Sells old Tom's maps & poison.",
            "Ideal: Truth",
            "Flaw: Greedy",
            "Runs the map shop with Tom.",
            "Alignment: Neutral",
            "Languages: common, elvish, Thieves' cant",
            "Quick of mind: chooses words precisely.",
            "Mimicry: Mimics voices, 1d4 at once.",
        ]
    );
    assert_eq!(npc.personality[0].from, "system.details.biography.value");
    assert_eq!(texts(&npc.secrets), ["Works for the duke.", "And with …."]);
    assert_eq!(npc.looks, ["female", "humanoid", "elf"]);
    let public = &all.entities[0];
    assert_eq!((public.kind, public.dm_only), (EntityKind::Npc, false));
    assert_eq!(texts(&public.text), ["Runs the map shop with Tom."]);
    let target = RelationTarget::Source("foundry:actor:tomtomtomtomtom1".to_owned());
    assert_eq!(all.relations.len(), 1);
    assert_eq!(all.relations[0].to, target);
    let left: Vec<&str> = all.left_out.iter().map(|it| it.what.as_str()).collect();
    assert_eq!(left, ["items of actors (2)", "pictures (1)"]);
}

#[test]
fn version_9_has_other_names() {
    let npc = npc(json!({
        "name": "Tom", "type": "npc", "permission": {"default": 0}, "token": {"name": "Tom"}, "items": [],
        "data": {"details": {"biography": "Plain text.\nOf two lines.", "trait": "Hums."}},
    }));
    assert_eq!(texts(&npc.personality), ["Plain text.\nOf two lines.", "Traits: Hums."]);
    assert_eq!(npc.personality[0].from, "data.details.biography");
    assert!(npc.aliases.is_empty());
}

#[test]
fn pf2e_and_other_systems_are_read() {
    let pathfinder = npc(json!({
        "name": "Ilse", "type": "npc", "items": [], "prototypeToken": {},
        "system": {
            "abilities": {"int": {"mod": 4}},
            "details": {
                "blurb": "Captain of the watch", "publicNotes": "<p>Fair.</p>",
                "privateNotes": "<p>Takes bribes.</p>", "languages": {"value": ["common"], "details": ""},
            },
            "traits": {"value": ["human", "humanoid"]},
        },
    }));
    assert_eq!(
        texts(&pathfinder.personality),
        [
            "Captain of the watch",
            "Fair.",
            "Languages: common",
            "Quick of mind: chooses words precisely."
        ]
    );
    assert_eq!(texts(&pathfinder.secrets), ["Takes bribes."]);
    assert_eq!(pathfinder.looks, ["human", "humanoid"]);
    let other = npc(json!({
        "name": "Kit", "type": "character", "items": [], "ownership": {"default": 0},
        "system": {"bio": {"notes": {"value": "<p>Fixes engines on the old line, day and night, for little money.</p>"}},
                   "gmNotes": "A clone.", "stats": {"hp": {"value": "12"}}, "career": {"occupation": "Smith"}},
    }));
    assert_eq!(
        texts(&other.personality),
        ["Fixes engines on the old line, day and night, for little money.", "occupation: Smith"]
    );
    assert_eq!(texts(&other.secrets), ["A clone."]);
}

#[test]
fn journal_pages_follow_their_ownership() {
    let page = |id: &str, name: &str, level: i64| {
        json!({"_id": id, "name": name, "type": "text", "ownership": {"default": level},
               "text": {"format": 1, "content": format!("<p>About {name}.</p><p class=secret>Hidden.</p>")}})
    };
    let all = drafts(json!({
        "_id": "jjjjjjjjjjjjjjjj", "name": "Town", "ownership": {"default": 0},
        "pages": [page("a", "Overview", -1), page("b", "Old Mill", 2), {"name": "Map", "type": "image", "src": "m.webp"}],
    }));
    let told: Vec<(&str, bool)> =
        all.entities.iter().map(|it| (it.name.as_str(), it.dm_only)).collect();
    assert_eq!(told, [("Town: Overview", true), ("Town: Old Mill", false)]);
    assert_eq!(all.entities[1].source, "foundry:page:jjjjjjjjjjjjjjjj.b");
    assert_eq!(all.entities[1].aliases, ["Old Mill"]);
    assert_eq!(texts(&all.entities[1].text), ["About Old Mill."]);
    assert_eq!(texts(&all.entities[1].secrets), ["Hidden."]);
    assert_eq!(all.left_out[0].what, "pages without text (1)");
    let former = entity(json!({"name": "Inn", "content": "Warm.", "permission": {"default": 2}}));
    assert_eq!((former.name.as_str(), former.dm_only), ("Inn", false));
    let empty = drafts(json!({"name": "Empty", "pages": [], "ownership": {"default": 0}}));
    assert_eq!((empty.entities.len(), empty.left_out.len()), (0, 1));
}

#[test]
fn sheet_of_a_thing_stays_the_game_masters() {
    let ship = |level: i64| {
        entity(
            json!({"name": "Gull", "type": "vehicle", "items": [], "ownership": {"default": level},
                      "system": {"details": {"publicNotes": "A cutter.", "alignment": "evil"}}}),
        )
    };
    assert_eq!((ship(0).dm_only, ship(0).properties.len()), (false, 0));
    assert_eq!(ship(2).properties, [("alignment".to_owned(), "evil".to_owned())]);
}

#[test]
fn more_values_than_memory_holds_are_refused() {
    let journal = |id: &str, number: usize| {
        let mut journal = json!({"_id": id, "name": "Gate", "ownership": {"default": 2},
                                 "pages": [{"_id": "p", "name": "Gate", "text": {"content": "Shut."}}]});
        journal["pages"][0]["junk"] = Value::Array(vec![Value::Null; number]);
        journal
    };
    let (mut reading, mut drafts) = (Reading::default(), Drafts::default());
    for (id, number) in [("a", 10), ("b", 2_000_000), ("c", 10)] {
        reading.add(id, journal(id, number));
    }
    reading.finish(&mut drafts);
    assert_eq!((drafts.mistakes.len(), drafts.entities.len()), (1, 1));
    assert_eq!(drafts.mistakes[0].file, "b");
}

#[test]
fn adventure_is_taken_apart_and_linked() {
    let all = drafts(json!({
        "_id": "advadvadvadvadva", "name": "Adventure", "caption": "", "scenes": [{}, {}],
        "folders": [
            {"_id": "outer", "name": "People", "type": "Actor"},
            {"_id": "inner", "name": "Guards", "type": "Actor", "folder": "outer"},
        ],
        "actors": [
            {"_id": "a1", "name": "Bo", "type": "npc", "folder": "inner", "system": {}},
            {"name": "Cy", "type": "npc", "system": {"details": {"publicNotes": "Knows @Actor[Bo] and @UUID[JournalEntry.j1]."}}},
            {"name": "Cy", "type": "npc", "system": {}},
            {"_id": "a1", "name": "Bo", "type": "npc", "system": {}},
        ],
        "journal": [{"_id": "j1", "name": "Gate", "pages": [{"_id": "p", "name": "Gate", "text": {"content": "Shut."}}]}],
    }));
    assert_eq!(all.npcs[0].tags, ["Guards", "People"]);
    assert_eq!(texts(&all.npcs[1].personality), ["Knows Bo and Gate."]);
    let to: Vec<&RelationTarget> = all.relations.iter().map(|it| &it.to).collect();
    let page = RelationTarget::Source("foundry:page:j1.p".to_owned());
    assert_eq!(to, [&RelationTarget::Name("Bo".to_owned()), &page]);
    assert_eq!(all.npcs.len(), 3);
    assert_eq!(all.npcs[2].source, format!("{}-2", all.npcs[1].source));
    let left: Vec<&str> = all.left_out.iter().map(|it| it.what.as_str()).collect();
    assert_eq!(left, ["scenes (2)", "second copies of documents (1)"]);
}

#[test]
fn creature_of_a_pack_takes_no_seat() {
    let creature = |biography: &str| {
        json!({"_id": "wolfwolfwolfwolf", "_key": "!actors!wolfwolfwolfwolf", "name": "Wolf", "type": "npc",
               "folder": "ffffffffffffffff", "system": {"details": {
                   "biography": {"value": biography}, "cr": 0.25, "type": {"value": "beast"}}}})
    };
    let wolf = entity(creature(""));
    assert_eq!((wolf.kind, wolf.dm_only), (EntityKind::Npc, true));
    assert!(wolf.properties.contains(&("challenge rating".to_owned(), "0.25".to_owned())));
    assert_eq!(texts(&npc(creature("<p>Talks.</p>")).personality), ["Talks."]);
    let mut reading = Reading::default();
    let folder = json!({"_id": "ffffffffffffffff", "_key": "!folders!ffffffffffffffff", "name": "Beasts", "type": "Actor"});
    assert!(is_foundry(&folder));
    reading.add("beasts/wolf.yml", creature(""));
    reading.add("beasts/_folder.yml", folder);
    let mut drafts = Drafts::default();
    reading.finish(&mut drafts);
    assert_eq!(drafts.entities[0].tags, ["Beasts"]);
}

#[test]
fn faults_have_their_place() {
    let mut drafts = Drafts::default();
    let document = json!({"actors": [7, {"name": "", "system": {}}, {"name": "Al", "system": "x"}], "journal": []});
    read("w.json", document, &mut drafts);
    let places: Vec<&str> = drafts.mistakes.iter().map(|it| it.place.as_str()).collect();
    assert_eq!(places, ["actors/0", "actors/1/name", "actors/2/system"]);
    assert!(drafts.npcs.is_empty());
}

#[test]
fn hostile_names_and_texts_stay_characters() {
    let npc = npc(json!({
        "name": format!("../\u{202e}{}\u{0}\n{}", "<b>Eve</b>", "x".repeat(200)), "type": "npc", "items": [],
        "prototypeToken": {"name": "\u{200b}"},
        "system": {"details": {"biography": {"value": "Costs ${DISCORD_TOKEN} and {dice}."}}},
    }));
    assert!(npc.name.starts_with("../Eve x") && npc.name.chars().count() == 80, "{}", npc.name);
    assert_eq!(texts(&npc.personality), ["Costs ${DISCORD_TOKEN} and {dice}."]);
    let deep = (0..120).fold(json!("x"), |value, _| json!({ "bio": value }));
    let document =
        json!({"name": "A", "type": "npc", "system": deep, "items": [], "prototypeToken": {}});
    assert!(!drafts(document).npcs.is_empty());
}

#[test]
fn files_of_other_programs_are_not_taken() {
    for document in [
        json!(null),
        json!([]),
        json!({}),
        json!({"name": "Luna", "description": "A cat.", "first_mes": "Hi"}),
        json!({"spec": "chara_card_v2", "data": {"name": "Luna"}, "ownership": {}}),
        json!({"schema_version": 3, "type": "character", "character": {}}),
        json!({"campaign_title": "X", "characters": [], "handouts": [], "pages": []}),
        json!({"_id": "5f", "name": "Page", "content": "Text"}),
        json!([{"index": "wolf", "name": "Wolf", "type": "beast"}]),
    ] {
        assert!(!is_foundry(&document), "{document}");
    }
}

#[test]
fn hidden_parts_of_a_biography_are_secrets() {
    let npc = npc(json!({
        "name": "Ilse", "type": "character", "items": [], "prototypeToken": {},
        "system": {"details": {"biography": {
            "appearance": "<p>Tall, [[lookup @details.biography.backstory]].</p>",
            "backstory": "Stole the crown.", "birthPlace": "Riga", "likes": "Tea", "allies": "Old Tom",
            "campaignNotes": "Will betray them.",
            "visibility": {"appearance": true, "backstory": false, "personality": true, "campaign": false},
        }}},
    }));
    assert_eq!(texts(&npc.personality), ["Appearance: Tall, ….", "Likes: Tea"]);
    assert_eq!(
        texts(&npc.secrets),
        ["Stole the crown.", "Place of birth: Riga", "Allies: Old Tom", "Will betray them."]
    );
    assert!(npc.for_dm.is_empty());
}

#[test]
fn notes_of_modules_are_secrets() {
    let flags = |module: &str| json!({ module: {"notes": "<p>A spy.</p>", "tab": "notes"}, "core": {"x": "y"} });
    for module in ["gm-notes", "GMNotes"] {
        let npc = npc(json!({
            "name": "Ilse", "type": "npc", "items": [], "prototypeToken": {}, "flags": flags(module),
            "system": {"details": {"biography": {"value": "Fair."}}},
        }));
        assert_eq!((texts(&npc.personality), texts(&npc.secrets)), (vec!["Fair."], vec!["A spy."]));
    }
    let all = drafts(json!({
        "_id": "j", "name": "Inn", "ownership": {"default": 2}, "flags": {"m": {"gmnotes": "It burns."}},
        "pages": [
            {"_id": "p", "name": "Bar", "text": {"content": "Warm."}, "flags": flags("gm-notes")},
            {"_id": "q", "name": "Map", "type": "image", "flags": flags("gm-notes")},
        ],
    }));
    let told: Vec<_> = all.entities.iter().map(|it| (it.name.as_str(), it.dm_only)).collect();
    assert_eq!(told, [("Inn: Bar", false), ("Inn: Map", false), ("Inn: GM Notes", true)]);
    assert_eq!(texts(&all.entities[0].secrets), ["A spy."]);
    assert_eq!((all.entities[1].text.len(), all.entities[1].secrets.len()), (0, 1));
    assert_eq!(texts(&all.entities[2].text), ["It burns."]);
}

#[test]
fn texts_of_other_systems_are_read_or_listed() {
    let all = drafts(json!({
        "name": "Ilse", "type": "npc", "items": [], "ownership": {"default": 0},
        "system": {
            "biography": {"looks": {"value": "<p>Grey eyes.</p>"}, "height": "6 ft"},
            "history": [
                {"title": "Fear", "value": "Fire"},
                {"title": "Keeper notes", "value": "Mad."},
            ],
            "description": {"keeper": "<p>A cultist.</p>", "private": ["Owes", "money"]},
            "lore": {"rumour": "They say that she never sleeps.", "formula": "@a.b + 2 * @c.d"},
            "skills": {"spot": {"text": "Sees whatever moves in the dark."}},
        },
    }));
    let npc = &all.npcs[0];
    assert_eq!(texts(&npc.personality), ["looks: Grey eyes.", "Fear: Fire"]);
    assert_eq!(texts(&npc.secrets), ["Mad.", "A cultist.", "Owes", "money"]);
    let left: Vec<&str> = all.left_out.iter().map(|it| it.what.as_str()).collect();
    assert_eq!(left, ["texts of unknown fields (2)"]);
}

#[test]
fn lists_in_place_of_a_text_are_read() {
    let npc = npc(json!({
        "name": "Ilse", "type": "npc", "items": [], "prototypeToken": {},
        "system": {"details": {
            "privateNotes": ["A thief."], "publicNotes": [],
            "biography": {"anathema": ["Lie to a child", "Steal"]},
        }},
    }));
    assert_eq!(texts(&npc.secrets), ["A thief."]);
    assert_eq!(texts(&npc.personality), ["Would never: Lie to a child", "Would never: Steal"]);
}

#[test]
fn comments_and_cut_texts_are_never_open() {
    let deep = format!("Open.<!-- gm: a spy --!>{}", "<div>".repeat(20_000));
    let all = drafts(json!({
        "name": "Ilse", "type": "npc", "items": [], "prototypeToken": {},
        "system": {"details": {"biography": {
            "value": format!("{deep}<section class=secret>SUNK</section>"),
        }}},
    }));
    assert_eq!(texts(&all.npcs[0].personality), ["Open."]);
    assert_eq!(texts(&all.npcs[0].secrets), ["gm: a spy"]);
    assert!(!format!("{all:?}").contains("SUNK"));
    assert_eq!(all.left_out[0].what, "texts that were cut (1)");
}

#[test]
fn secrets_of_markdown_pages_are_kept() {
    let page = |html: &str| {
        entity(json!({"_id": "j", "name": "Shrine", "ownership": {"default": 2}, "pages": [{
            "_id": "p", "name": "Shrine", "text": {
                "format": 2, "content": html,
                "markdown": "# Shrine\n\nOld. <section class=\"secret\">\n\nIt is *cursed*.\n\n</section>\n",
            },
        }]}))
    };
    for (html, open) in [
        ("<h1>Shrine</h1><p>Old.</p>", "Shrine\n\nOld."),
        (
            "<h1>Shrine</h1><p>Old.</p><section class=secret><p>It is <i>cursed</i>.</section>",
            "Shrine\n\nOld.",
        ),
        ("<h1>Shrine</h1><p>Old.</p><p>It is <i>cursed</i>.</p>", "# Shrine Old."),
        ("<p></p>", "# Shrine Old."),
    ] {
        let page = page(html);
        assert_eq!(texts(&page.text), [open], "{html}");
        assert_eq!(page.secrets.len(), 1, "{html}");
        assert!(page.secrets[0].text.contains("cursed"), "{html}");
    }
}

#[test]
fn adventures_description_is_the_game_masters() {
    let all = drafts(json!({
        "_id": "a", "name": "The Mine", "caption": "<p>Part 2</p>", "description": "<p>Glass is the wizard.</p>",
        "ownership": {"default": 2}, "actors": [], "journal": [], "scenes": [],
    }));
    let [entity] = all.entities.as_slice() else { panic!("{all:?}") };
    assert_eq!((entity.name.as_str(), entity.dm_only), ("The Mine", true));
    assert_eq!(texts(&entity.text), ["Glass is the wizard.", "Part 2"]);
    assert_eq!(entity.text[0].from, "description");
    assert!(all.left_out.is_empty());
}

/// Values with names that occur in documents.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        "(\\PC|<p>|@UUID\\[a\\]|<section class=secret>){0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        let name = prop::sample::select(vec![
            "_id",
            "_key",
            "actors",
            "biography",
            "data",
            "description",
            "details",
            "flags",
            "folder",
            "gm-notes",
            "items",
            "journal",
            "languages",
            "name",
            "ownership",
            "pages",
            "prototypeToken",
            "system",
            "text",
            "type",
            "value",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..8).prop_map(|members: Vec<(&str, Value)>| {
                let members = members.into_iter().map(|(name, value)| (name.to_owned(), value));
                Value::Object(members.collect())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_document_is_read_the_same_twice(document in value()) {
        let (mut first, mut second) = (Drafts::default(), Drafts::default());
        is_foundry(&document);
        read("a.json", document.clone(), &mut first);
        read("a.json", document, &mut second);
        prop_assert_eq!(&first, &second);
        prop_assert!(first.npcs.iter().all(|npc| !npc.name.is_empty()));
    }
}
