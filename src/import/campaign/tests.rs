//! Reading of campaign files, and links between their entities.

use super::*;

fn read(text: &str, cast: &[Npc]) -> World {
    let (world, problems) = campaign_file("c.yaml", text.as_bytes().to_vec(), cast);
    assert!(problems.is_empty(), "{problems:#?}");
    world.unwrap()
}

fn shown(problems: Vec<Problem>) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

fn problems(text: &str) -> Vec<String> {
    let cast = [Npc { aliases: vec!["the barkeep".into()], ..Npc::plain("Bartok") }];
    let (world, mut found) = campaign_file("c.yaml", text.as_bytes().to_vec(), &cast);
    found.extend(world.and_then(|it| link(&[it], &[]).err()).into_iter().flatten());
    found.sort();
    shown(found)
}

/// `from kind to`, sorted.
fn edges(worlds: &[World], known: &[KnownEntity]) -> Vec<String> {
    let edges = link(worlds, known).unwrap();
    edges.iter().map(|Edge { from, kind, to, .. }| format!("{from} {kind} {to}")).collect()
}

#[test]
fn file_of_an_npc_is_called_so() {
    let found = problems("name: Luna\npersonality: Kind.\n");
    let wanted = "c.yaml:1:1: this is the file of an NPC, not of a campaign (put it into the folder of NPCs, \
                  npc_dir)";
    assert_eq!(found, [wanted]);
}

#[test]
fn relations_resolve_by_name_alias_and_id() {
    let world = read(
        "entities:\n\
         - { id: mill, name: The Old Mill, type: location }\n\
         - name: Sister Maren\n  type: npc\n  relationships:\n  \
           - { target: the old  MILL, type: tends }\n  \
           - { target_id: duke, type: sibling_of, bidirectional: true }\n  \
           - { target: Elara, type: knows }\n\
         - { id: duke, name: Aldric, type: npc, aliases: [His Grace], \
           relationships: [{ target: Sister Maren, type: Sibling_of }] }\n",
        &[],
    );
    let known = [
        KnownEntity { id: "elara".into(), names: vec!["Elara".into()] },
        KnownEntity { id: "duke".into(), names: vec!["The old mill".into()] },
    ];
    assert_eq!(
        edges(&[world], &known),
        [
            "duke sibling_of sister-maren",
            "sister-maren knows elara",
            "sister-maren sibling_of duke",
            "sister-maren tends mill",
        ],
        "one that is in the file is what the file says, whatever was known of it"
    );
}

#[test]
fn relations_lead_from_one_file_to_another() {
    let one =
        read("entities: [{ name: A, type: npc, relationships: [{ target: B, type: t }] }]", &[]);
    let other = World { file: "d.yaml".into(), ..read("entities: [{ name: B, type: lore }]", &[]) };
    assert_eq!(edges(&[one.clone(), other.clone()], &[]), ["a t b"]);
    let twice = link(&[other, one.clone(), one], &[]).unwrap_err();
    assert_eq!(
        shown(twice),
        ["c.yaml:1:12: id 'a' appears twice (it is already at line 1; give each its own 'id')"]
    );
}

#[test]
fn visibility_lists_resolve_to_full_names() {
    let cast = [Npc { aliases: vec!["the barkeep".into()], ..Npc::plain("Bartok the Bold") }];
    let world = read(
        "entities:\n\
         - { id: bart, name: The Barkeep, type: npc }\n\
         - { id: maren, name: Sister Maren, type: npc }\n\
         - { name: Key, type: item, visibility: [bart, maren] }\n\
         - { name: Plot, type: lore, visibility: dm }\n\
         - { name: Inn, type: location, visibility: all }\n",
        &cast,
    );
    let seen: Vec<_> =
        world.entities.iter().map(|it| (it.entity.dm_only, it.entity.known_to.join("+"))).collect();
    let nobody = String::new();
    assert_eq!(
        seen[2..],
        [(true, "Bartok the Bold+Sister Maren".into()), (true, nobody.clone()), (false, nobody)]
    );
}

#[test]
fn every_mistake_has_its_place() {
    assert_eq!(
        problems(
            "campaign: { name: C }\nentities:\n\
             - { id: a, name: Elara, type: npc, visibility: [Bartock] }\n\
             - { id: a, name: Thorin, type: npc, relationships: [{ target: Elarra, type: t }] }\n\
             - { name: Grump, typ: npc, relationships: [{ target_id: b, type: t }] }\n\
             - { name: Inn, type: place, properties: { rooms: [1] } }\n\
             - { name: '!?', type: lore, relationships: [{ target: Grump, type: t }, { type: t }] }\n\
             - { name: Elara, type: npc, pronunciation: e-1 }\n\
             - { name: Cat, type: npc, relationships: [{ target: Elara, type: owns }] }\n"
        ),
        [
            "c.yaml:3:49: unknown npc 'Bartock' (did you mean 'Bartok'?)",
            "c.yaml:4:3: id 'a' appears twice (it is already at line 3; give each its own 'id')",
            "c.yaml:4:63: unknown entity 'Elarra' (did you mean 'Elara'?)",
            "c.yaml:5:3: missing key 'type' of 'entities' (type: npc or player or location or item \
             or faction or event or quest or concept or lore)",
            "c.yaml:5:18: unknown key 'typ' in 'entities' (did you mean 'type'?)",
            "c.yaml:6:22: 'entities.type' is 'place' (expected npc or player or location or item or \
             faction or event or quest or concept or lore; did you mean 'player'?)",
            "c.yaml:6:50: 'entities.properties.rooms' is a list (expected text)",
            "c.yaml:7:11: the name '!?' cannot be turned into an id (give it an 'id')",
            "c.yaml:7:73: a relationship needs a target (add 'target', a name, or 'target_id', an \
             id)",
            "c.yaml:8:44: respelling 'e-1' cannot be read aloud (use plain letters and blanks, \
             such as gray mantle)",
            "c.yaml:9:53: 2 entities are called 'Elara' (name one by target_id: a, elara)",
        ]
    );
}

#[test]
fn bombs_large_files_and_non_text_are_refused() {
    let refused = |bytes: Vec<u8>| {
        let (world, problems) = campaign_file("c.yaml", bytes, &[]);
        assert!(world.is_none());
        shown(problems).join("\n")
    };
    let mut bomb = "entities:\n- &a { name: a, type: lore }\n".to_owned();
    bomb.push_str("- &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\n");
    for level in b'c'..b'n' {
        let (level, below) = (char::from(level), char::from(level - 1));
        bomb.push_str(&format!("- &{level} [{}]\n", vec![format!("*{below}"); 10].join(", ")));
    }
    let said = refused(bomb.into_bytes());
    assert!(said.starts_with("c.yaml:") && said.contains("values"), "{said}");
    let large = refused(vec![b' '; BYTES_MAX + 1]);
    assert_eq!(large, "c.yaml:1:1: larger than 10 MiB (is this the right file?)");
    assert_eq!(
        refused(b"campaign:\n  name: \xff".to_vec()),
        "c.yaml:2:9: not UTF-8 text from here on (save it as UTF-8)"
    );
}

#[test]
fn unused_sections_are_listed() {
    let world = read("players: [{ name: A, character: B }]\nscenes: [{ name: inn }]\n", &[]);
    assert_eq!(world.unused, ["players", "scenes"]);
    assert_eq!(hyphened("  Ærwyn's “Old” Mill 2"), "ærwyn-s-old-mill-2");
}
