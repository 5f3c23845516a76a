//! Seats and names of imported people.

use super::*;
use crate::memory::Visibility;

#[tokio::test]
async fn crowd_is_seated_in_part() {
    let place = Bench::new();
    let person = |at: usize| NpcDraft {
        source: format!("foundry:actor:{at}"),
        name: format!("A{at}"),
        personality: passage("She sells maps."),
        ..NpcDraft::default()
    };
    let all = Drafts { npcs: (0..203).map(person).collect(), ..Drafts::default() };
    let preview = place.import(&all).await;
    assert_eq!(fs::read_dir(place.npc_dir()).unwrap().count(), people::SEATS_MAX);
    assert_eq!(preview.left_out[0].what, "seats and spoken lines of 3 NPCs");
    assert_eq!(place.entities(Viewer::Everyone).await, []);
    let kept = place.entities(Viewer::Dm).await;
    let shown: Vec<(&str, &str)> =
        kept.iter().map(|it| (it.name.as_str(), it.description.as_str())).collect();
    assert_eq!(shown, ["A200", "A201", "A202"].map(|name| (name, "She sells maps.")));
    let again = place.import(&all).await;
    assert_eq!((again.added.len(), again.changed.len(), again.unchanged), (0, 0, 203));
    let alone = Drafts { npcs: vec![person(202)], ..Drafts::default() };
    assert_eq!(names(&place.import(&alone).await.added), ["A202"], "it takes a seat by itself");
}

#[tokio::test]
async fn edited_file_and_other_npcs_are_kept() {
    let place = Bench::new();
    let mut other = luna();
    (other.source, other.name) = ("card:bartok".to_owned(), "bartok".to_owned());
    let drafts = Drafts { npcs: vec![luna(), other], ..Drafts::default() };
    let first = place.import(&drafts).await;
    assert_eq!(names(&first.kept), ["bartok"]);
    assert!(!place.npc_dir().join("bartok.yaml").exists());
    let edited = place.file("luna.yaml") + "max_sentences: 2\n";
    fs::write(place.npc_dir().join("luna.yaml"), &edited).unwrap();
    let mut drafts = drafts;
    drafts.npcs[0].personality = passage("Somebody else.");
    let second = place.import(&drafts).await;
    assert_eq!(names(&second.kept), ["Luna", "bartok"]);
    assert_eq!(names(&second.for_dm), ["Secrets of Luna"], "no comment of a file that stays");
    assert_eq!(place.file("luna.yaml"), edited);
}

#[tokio::test]
async fn names_are_unique_before_a_session_has_them() {
    let place = Bench::new();
    place.import(&Drafts { npcs: vec![luna()], ..Drafts::default() }).await;
    // The cast lacks Luna still; two files with her name would make the configuration invalid.
    for name in ["luna", "Lu"] {
        let mut other = luna();
        (other.source, other.name) = (format!("card:other {name}"), name.to_owned());
        let preview = place.import(&Drafts { npcs: vec![other], ..Drafts::default() }).await;
        assert_eq!(names(&preview.kept), [name]);
    }
}

#[tokio::test]
async fn alias_never_takes_the_name_of_a_person() {
    let place = Bench::new();
    let mut lu = luna();
    (lu.source, lu.name, lu.aliases) = ("card:lu".to_owned(), "Lu".to_owned(), Vec::new());
    let preview = place.import(&Drafts { npcs: vec![luna(), lu], ..Drafts::default() }).await;
    assert!(preview.kept.is_empty() && place.npc_dir().join("lu.yaml").exists(), "{preview:?}");
    assert_eq!(preview.left_out[0].what, "the name 'Lu' of 'Luna'");
}

#[tokio::test]
async fn renamed_npc_never_takes_the_name_of_another() {
    let mut place = Bench::new();
    let mut drafts = Drafts { npcs: vec![luna()], ..Drafts::default() };
    place.import(&drafts).await;
    place.npcs.push(Npc { aliases: vec!["Lu".to_owned()], ..Npc::plain("Luna") });
    let before = place.file("luna.yaml");
    // These sound alike, and the store would show one NPC what the other knows.
    for name in ["Bartok", "Bártok!"] {
        drafts.npcs[0].name = name.to_owned();
        assert_eq!(names(&place.import(&drafts).await.kept), [name]);
        assert_eq!(place.file("luna.yaml"), before);
    }
    drafts.npcs[0].name = "Sol".to_owned();
    assert_eq!(names(&place.import(&drafts).await.changed), ["Sol", "Secrets of Sol"]);
    let after = place.file("luna.yaml");
    assert!(after.contains("name: \"Sol\"") && after.contains("aliases: [\"Lu\"]"), "{after}");
}

#[tokio::test]
async fn seat_of_a_hidden_note_is_reported() {
    let place = Bench::new();
    place.import(&Drafts { npcs: vec![luna()], ..Drafts::default() }).await;
    let hidden =
        EntityDraft { source: "card:luna".to_owned(), dm_only: true, ..entity("The moon witch") };
    let preview = place.import(&Drafts { entities: vec![hidden], ..Drafts::default() }).await;
    assert_eq!(names(&preview.kept), ["Luna"]);
    assert!(preview.kept[0].about.contains("luna.yaml' stays"), "{preview:?}");
}

#[tokio::test]
async fn lore_follows_the_name_in_an_edited_file() {
    let place = Bench::new();
    let mut known = entity("Key");
    known.known_to = vec!["card:luna".to_owned()];
    let drafts = Drafts { npcs: vec![luna()], entities: vec![known], ..Drafts::default() };
    place.import(&drafts).await;
    let edited = place.file("luna.yaml").replace("name: \"Luna\"", "name: Lunette");
    fs::write(place.npc_dir().join("luna.yaml"), edited).unwrap();
    assert_eq!(names(&place.import(&drafts).await.kept), ["Lunette"]);
    let all = place.entities(Viewer::Dm).await;
    let key = all.iter().find(|it| it.name == "Key").unwrap();
    assert_eq!(key.visibility, Visibility::Npcs(vec!["Lunette".to_owned()]));
}
