//! Campaign files are taken into the memory, whole or not at all, through the real program.

use serde_json::Value;

use crate::support::program::{Place, Ran};

const SCRIPTED: &str = "providers: { llm: { name: scripted } }\n\
                        npcs: [{ name: Bartok, lines: [{ say: Hello. }] }]\n";

fn import(place: &Place, more: &[&str]) -> Ran {
    place.run(&[&["import", "--json"], more].concat())
}

/// Counts of an import: added, changed, removed.
#[track_caller]
fn done(ran: Ran) -> [u64; 3] {
    let report = ran.ends_with(0).line();
    assert_eq!(report["ok"], true, "{report:#}");
    ["added", "changed", "removed"].map(|key| report[key].as_u64().unwrap())
}

fn entity(place: &Place, name: &str) -> Value {
    place.run(&["memory", "entity", name, "--json"]).ends_with(0).line()
}

fn saltmarsh() -> String {
    "campaign: { name: Saltmarsh, description: A harbour, system: 5e }\n\
     entities:\n\
     - { id: anders, name: Anders Solmor, type: npc, aliases: [the shipowner], tags: [council],\n    \
         properties: { age: 22 }, pronunciation: anders solmore,\n    \
         relationships: [{ target: The Alchemist, type: suspects },\n                    \
                         { target_id: eda, type: allied_with, bidirectional: true }] }\n\
     - { id: eda, name: Eda Oweland, type: npc }\n\
     - { name: The Alchemist, type: npc, description: A spy., visibility: dm }\n\
     - { name: Red Key, type: item, visibility: [Bartok] }\n"
        .to_owned()
}

#[test]
fn repeated_import_changes_nothing() {
    let place = Place::with_config(SCRIPTED);
    place.write("s.yaml", saltmarsh());
    let here = ["s.yaml", "--campaign", "default"];
    assert_eq!(done(import(&place, &["s.yaml", "--dry-run"])), [7, 0, 0]);
    place.run(&["memory", "entity", "Anders Solmor"]).ends_with(1);
    assert_eq!(done(import(&place, &here)), [7, 0, 0]);
    let anders = entity(&place, "the shipowner");
    assert_eq!(anders["entity"]["attributes"]["age"], "22", "{anders:#}");
    let ties = anders["ties"].as_array().unwrap();
    let ties: Vec<[&str; 3]> =
        ties.iter().map(|it| ["from", "kind", "to"].map(|key| it[key].as_str().unwrap())).collect();
    assert_eq!(
        ties,
        [
            ["anders", "allied_with", "eda"],
            ["anders", "suspects", "the-alchemist"],
            ["eda", "allied_with", "anders"],
        ]
    );
    assert_eq!(entity(&place, "The Alchemist")["entity"]["visibility"], "dm");
    let key = entity(&place, "red key");
    assert_eq!(key["entity"]["visibility"]["npcs"][0], "Bartok", "{key:#}");

    assert_eq!(done(import(&place, &here)), [0, 0, 0]);
    let moved = saltmarsh().replace("A spy.", "A smuggler.").replace("suspects", "trusts");
    place.write("s.yaml", moved);
    assert_eq!(done(import(&place, &here)), [1, 1, 1], "one relation for another");
    assert_eq!(done(import(&place, &here)), [0, 0, 0]);
    place.write(
        "more.yaml",
        "entities: [{ name: Sea Ghost, type: item, relationships: [{ target: eda oweland, type: t }] }]",
    );
    assert_eq!(done(import(&place, &["more.yaml"])), [2, 0, 0], "related to what is there already");
    let people = place.run(&[&["import"], &here[..]].concat()).ends_with(0);
    assert_eq!(
        people.stdout,
        "default: 4 entities and 3 relations in s.yaml: 0 added, 0 changed, 0 removed\n"
    );
    let tried = place.run(&["import", "s.yaml", "--dry-run"]).ends_with(0);
    assert!(tried.stderr.contains("s.yaml belongs to 'Saltmarsh'"), "{tried:#?}");
    assert_eq!(done(import(&place, &["s.yaml", "--campaign", "Saltmarsh"])), [7, 0, 0]);
}

#[test]
fn import_into_other_campaign_needs_a_flag() {
    let place = Place::with_config(SCRIPTED);
    place.write("s.yaml", saltmarsh());
    let refused = place.run(&["import", "s.yaml"]).ends_with(1);
    let why = "s.yaml:1:1: the file belongs to 'Saltmarsh', but 'default' is configured (use --campaign 'Saltmarsh'";
    assert!(refused.stderr.contains(why), "{refused:#?}");
    assert!(refused.stderr.contains("nothing was imported"), "{refused:#?}");
    let report = import(&place, &["s.yaml"]).ends_with(1).line();
    let message = "the file belongs to 'Saltmarsh', but 'default' is configured";
    assert_eq!(
        (&report["ok"], &report["problems"][0]["message"]),
        (&false.into(), &message.into())
    );
    place.run(&["memory", "entity", "Eda Oweland"]).ends_with(1);
    assert_eq!(done(import(&place, &["s.yaml", "--campaign", "Saltmarsh"])), [7, 0, 0]);
    place.run(&["memory", "entity", "Eda Oweland"]).ends_with(1);
    assert_eq!(done(import(&place, &["s.yaml", "--campaign", "default"])), [7, 0, 0]);
    entity(&place, "Eda Oweland");
    // The campaign that is configured needs no word.
    let own = Place::with_config(&format!("campaign: c.yaml\n{SCRIPTED}"));
    own.write("c.yaml", saltmarsh());
    assert_eq!(done(import(&own, &["c.yaml"])), [0, 0, 0]);
}

#[test]
fn one_bad_entity_is_named_and_stops_the_import() {
    let place = Place::with_config(SCRIPTED);
    let mut text = "entities:\n".to_owned();
    for number in 0..200 {
        let kind = if number == 150 { "dragn" } else { "lore" };
        text.push_str(&format!("- {{ name: Tale {number}, type: {kind} }}\n"));
    }
    place.write("good.yaml", "entities: [{ name: Fine, type: lore }]");
    place.write("bad.yaml", &text);
    let ran = place.run(&["import", "good.yaml", "bad.yaml"]).ends_with(1);
    assert!(ran.stderr.contains("bad.yaml:152:27: 'entities.type' is 'dragn'"), "{ran:#?}");
    assert!(ran.stderr.contains("nothing was imported") && ran.stdout.is_empty(), "{ran:#?}");
    place.run(&["memory", "entity", "Fine"]).ends_with(1);
    let report = import(&place, &["bad.yaml"]).ends_with(1).line();
    assert_eq!((&report["ok"], &report["problems"][0]["line"]), (&false.into(), &152.into()));
    let none = place.run(&["import", "none.yaml"]).ends_with(1);
    assert!(none.stderr.contains("none.yaml:1:1: no such file"), "{none:#?}");
}

#[test]
fn campaign_file_wins_over_imported_entities() {
    let place = Place::with_config(&format!("campaign: c.yaml\n{SCRIPTED}"));
    place.write("c.yaml", saltmarsh());
    let eda = entity(&place, "Eda Oweland");
    assert_eq!(eda["ties"].as_array().unwrap().len(), 2, "its relations are known: {eda:#}");
    assert_eq!(done(import(&place, &["c.yaml"])), [0, 0, 0], "the same file");
    place.write("other.yaml", "entities: [{ id: eda, name: Eda, type: npc }]");
    let ran = place.run(&["import", "other.yaml"]).ends_with(1);
    assert!(
        ran.stderr.contains("other.yaml:1:12: 'Eda' is described differently in the campaign file"),
        "{ran:#?}"
    );
    place.write(
        "c.yaml",
        "campaign: { name: Saltmarsh }\nentities: [{ name: Inn, type: location }]",
    );
    entity(&place, "Inn");
    place.run(&["memory", "entity", "Eda Oweland"]).ends_with(1);
}

#[test]
fn imported_names_are_known_at_the_table() {
    let place = Place::with_config(SCRIPTED);
    let tier =
        || place.run(&["tier", "--text", "where is the Zolvaran?", "--json"]).ends_with(0).line();
    let before = tier();
    place.write("z.yaml", "entities: [{ name: Zolvaran, type: location }]");
    assert_eq!(done(import(&place, &["z.yaml"])), [1, 0, 0]);
    assert_ne!(tier(), before, "its name raises the tier");
}
