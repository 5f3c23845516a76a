use super::*;
use crate::archives::zipped;

fn given(file: &str, bytes: &[u8]) -> Given {
    Given { file: file.to_owned(), inside: String::new(), bytes: bytes.to_vec() }
}

/// Each mistake as "file · place · message".
fn mistakes(files: Vec<Given>) -> Vec<String> {
    let told = |it: Mistake| format!("{} · {} · {}", it.file, it.place, it.message);
    read(files).mistakes.into_iter().map(told).collect()
}

#[test]
fn campaign_files_come_first() {
    let is = |text: &str| is_ours(&given("x", text.as_bytes()));
    assert!(is("campaign: { name: A }\nentities: []\n") && is("{\"entities\": []}"));
    assert!(is("npcs: [{ name: A }]\n"), "its reader says what is wrong");
    assert!(is("entities: [\n"), "its reader says where");
    for text in ["", "null", "{\"name\": \"Luna\"}", "[1]", "{\"entities\": [], \"actors\": []}"] {
        assert!(!is(text), "{text}");
    }
}

#[test]
fn yaml_of_ours_with_marks_of_notes_stays_ours() {
    let is = |file: &str, text: &str| is_ours(&given(file, text.as_bytes()));
    assert!(is("x", "entities:\n- name: A\n  description: |\n    [[Inn]]\n    ## Day\n"));
    assert!(is("x", "name: A\npersonality: |\n  ## Day\n"));
    assert!(!is("x", "---\nname: A\nvoice: gruff\n---\n## Day\n"));
    assert!(!is("x.md", "name: A\nvoice: gruff\n"));
}

#[test]
fn campaign_of_go_is_not_taken_for_ours() {
    let text = "campaign: {name: M}\nentities:\n- {name: A, type: npc, attributes: {a: b}}\n";
    let go = given("x.yaml", text.as_bytes());
    assert!(!is_ours(&go));
    let found = read(vec![go]);
    assert!(found.mistakes.is_empty() && found.npcs.is_empty(), "{found:?}");
    assert_eq!(found.entities[0].name, "A");
}

#[test]
fn folder_itself_may_be_the_game_masters() {
    let note = Given { inside: "Vex.md".to_owned(), ..given("vault/GM Notes/", b"He lies.") };
    assert!(read(vec![note]).entities[0].dm_only);
    let zip = zipped(&[("Vex.md", b"He lies.")]);
    assert!(read(vec![given("DM.zip", &zip)]).entities[0].dm_only);
    let note = Given { inside: "Vex.md".to_owned(), ..given("vault/NPCs", b"He lies.") };
    assert_eq!(read(vec![note]).npcs[0].name, "Vex");
}

#[test]
fn documents_of_foundry_link_across_files() {
    let text = "Knows @UUID[JournalEntry.j1].";
    let actor = serde_json::json!({
        "name": "Cy", "type": "npc", "system": {"details": {"publicNotes": text}},
    });
    let journal = serde_json::json!({
        "_id": "j1", "name": "Gate", "ownership": {"default": 2},
        "pages": [{"_id": "p", "name": "Gate", "text": {"content": "Shut."}}],
    });
    let files = [("a.json", actor), ("b.json", journal)];
    let files = files.map(|(file, it)| given(file, it.to_string().as_bytes()));
    let found = read(files.to_vec());
    assert!(found.mistakes.is_empty(), "{found:?}");
    assert_eq!(found.npcs[0].personality[0].text, "Knows Gate.");
    assert_eq!(found.relations.len(), 1);
}

#[test]
fn later_lines_of_a_database_win() {
    let actor = |id: &str, text: &str| {
        let system = serde_json::json!({"details": {"biography": text}});
        serde_json::json!({"_id": id, "name": id, "type": "npc", "system": system})
    };
    let removed = serde_json::json!({"$$deleted": true, "_id": "b"});
    let lines = [actor("a", "Old."), actor("b", "Gone."), actor("a", "New."), removed];
    let text = lines.map(|line| line.to_string()).join("\r\n");
    let found = read(vec![given("actors.db", text.as_bytes())]);
    assert!(found.mistakes.is_empty() && found.left_out.is_empty(), "{found:?}");
    assert_eq!((found.npcs.len(), found.npcs[0].name.as_str()), (1, "a"));
    assert_eq!(found.npcs[0].personality[0].text, "New.");
}

#[test]
fn creatures_come_before_rules_that_are_refused() {
    let owl = br#"[{"index": "owl", "name": "Owl", "hit_points": 1, "challenge_rating": 0,
                    "url": "/api/monsters/owl"}]"#;
    let found = read(vec![given("m.json", owl)]);
    assert_eq!((found.entities.len(), found.mistakes.len()), (1, 0), "{found:?}");
    let spell = br#"[{"index": "fly", "name": "Fly", "url": "/api/spells/fly"}]"#;
    assert!(mistakes(vec![given("s.json", spell)])[0].contains("rules of 5e-database"));
}

#[test]
fn documents_with_one_id_lose_no_secret() {
    let handout = |name: &str, notes: &str, readers: &[&str]| {
        serde_json::json!({
            "id": "-H", "name": name, "notes": notes, "gmnotes": "", "inplayerjournals": readers,
        })
    };
    let campaign = serde_json::json!({"campaign_title": "d", "characters": [], "handouts": [
        handout("Same", "open", &["all"]), handout("Same", "SPY", &[]), handout("Same", "SPY", &[]),
        handout("Same", "open again", &["all"]), handout("Other", "open", &["all"]),
    ]});
    let found = read(vec![given("c.json", campaign.to_string().as_bytes())]);
    let source = |at: usize| found.entities[at].source.as_str();
    assert!(found.mistakes.is_empty() && found.entities[1].dm_only, "{found:?}");
    assert_eq!((source(1), source(0)), (source(2), source(3)), "copies stay");
    let all: BTreeSet<&str> = (0..5).map(source).collect();
    assert_eq!(all.len(), 3, "{all:?}");
}

#[test]
fn broken_json_is_no_note_of_links() {
    let deep = "[".repeat(1_000) + &"]".repeat(1_000);
    let cut = "{\"name\": \"A\", \"formula\": \"[[/r 1d20]]\",\n## x";
    for text in [deep.as_str(), "[[1, 2], [3]], 4", "[{\"a\": [[1]]},", cut] {
        let found = mistakes(vec![given("a.json", text.as_bytes())]);
        assert!(found[0].contains("not valid JSON"), "{text}: {found:?}");
        assert!(!is_ours(&given("a.json", text.as_bytes())));
    }
    for text in ["[[Inn]] is old", "[!dm] x\n## Day"] {
        let found = read(vec![given("a", text.as_bytes())]);
        assert_eq!((found.entities.len(), found.mistakes.len()), (1, 0), "{found:?}");
    }
}

#[test]
fn file_without_content_is_a_mistake() {
    for bytes in ["", "null", "[]"] {
        let found = mistakes(vec![given("a", bytes.as_bytes())]);
        assert_eq!(found, ["a ·  · an empty file, which is not imported"]);
    }
}

#[test]
fn members_beside_the_rest_are_left_out() {
    let zip = zipped(&[
        (".obsidian/app.json", b"{}"),
        ("map.png", b"\x89PNG\r\n\x1a\n"),
        ("again.zip", &zipped(&[("a", b"a")])),
    ]);
    let found = read(vec![given("vault.zip", &zip)]);
    let left: Vec<_> = found.left_out.iter().map(|it| it.what.as_str()).collect();
    assert_eq!(
        left,
        ["a ZIP inside another", "a hidden file", "a picture without a character card"]
    );
    assert_eq!(found.mistakes.len(), 1, "nothing was of use: {:?}", found.mistakes);
    assert_eq!(found.mistakes[0].message, "nothing in it could be used");
}

#[test]
fn hostile_archive_is_named_with_its_member() {
    let slip = zipped(&[("../../.bashrc", b"x")]);
    let found = mistakes(vec![given("a.zip", &slip)]);
    assert_eq!(found, ["a.zip · ../../.bashrc · the path of this file leads out of the ZIP"]);
    let bomb = zipped(&[("a.json", &vec![b' '; 4 << 20])]);
    let found = mistakes(vec![given("b.zip", &bomb)]);
    assert!(found[0].starts_with("b.zip · a.json · this file unpacks"), "{found:?}");
}

#[test]
fn packed_compendium_is_one_mistake() {
    let inside =
        |inside: &str, bytes: &[u8]| Given { inside: inside.to_owned(), ..given("world", bytes) };
    let manifest = b"\x56\xf9\xb8\xf8\x1c\0\x01\x01\x1aleveldb.BytewiseComparator";
    let found = mistakes(vec![
        inside("packs/npcs/CURRENT", b"MANIFEST-000012\n"),
        inside("packs/npcs/MANIFEST-000012", manifest),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("packed compendium of Foundry VTT"), "{found:?}");
}

#[test]
fn other_programs_are_refused_by_name() {
    let beyond = br#"{"data": {"readonlyUrl": "https://x"}}"#;
    let found = mistakes(vec![given("a.json", beyond)]);
    assert_eq!(found, ["a.json ·  · a character of D&D Beyond, which is not imported"]);
}

#[test]
fn flood_of_wrong_lines_is_told_in_part() {
    let text = format!("{{\"a\": 1}}\n{{\"a\": 2}}\n{}", "x\n".repeat(1_000));
    assert_eq!(mistakes(vec![given("a.db", text.as_bytes())]).len(), FAULTS_MAX);
}

#[test]
fn large_file_is_refused_unread() {
    let large = vec![b' '; 50_000_001];
    let found = mistakes(vec![given("a.json", &large)]);
    assert_eq!(found, ["a.json ·  · a file larger than 50 MB, which is not imported"]);
}

proptest::proptest! {
    #[test]
    fn any_bytes_never_panic(
        bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300),
        text in "[\\[\\]{}\":,a-z\\-\n #0]{0,80}",
    ) {
        for bytes in [bytes, text.into_bytes()] {
            is_ours(&given("a", &bytes));
            read(vec![given("a", &bytes)]);
        }
    }
}
