//! Files of every format, with secrets planted in them: words that begin with HUSH, then say whose they are.

use std::{collections::BTreeSet, path::PathBuf};

use serde_json::Value;

use super::*;
use crate::import::{Given, read};

/// Files in `tests/data/imports`, those of a folder with their paths inside it.
const FILES: [(&str, &str); 11] = [
    ("card.json", ""),
    ("lorebook.json", ""),
    ("actors.json", ""),
    ("vttes.json", ""),
    ("campaign.json", ""),
    ("go.yaml", ""),
    ("monsters.json", ""),
    ("vault", "npcs/Holya.md"),
    ("vault", "places/Boot.md"),
    ("vault", "places/Mire.md"),
    ("vault", "GM/Plan.md"),
];
/// Fewest secrets planted.
const PLANTED_MIN: usize = 30;

fn files() -> Vec<Given> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/imports"));
    let given = |(file, inside): (&str, &str)| {
        let path = root.join(file);
        let path = if inside.is_empty() { path } else { path.join(inside) };
        let bytes = fs::read(path).unwrap();
        Given { file: file.to_owned(), inside: inside.to_owned(), bytes }
    };
    FILES.into_iter().map(given).collect()
}

fn drafts() -> Drafts {
    let drafts = read(files());
    assert!(drafts.mistakes.is_empty(), "{:?}", drafts.mistakes);
    drafts
}

/// Secrets in `text`.
fn planted(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter_map(|word| Some(word.get(word.find("HUSH")?..)?.to_owned())).collect()
}

fn all_planted() -> BTreeSet<String> {
    let texts = files().into_iter().map(|it| String::from_utf8(it.bytes).unwrap());
    let all: BTreeSet<String> = texts.flat_map(|text| planted(&text)).collect();
    assert!(all.len() >= PLANTED_MIN, "{all:?}");
    all
}

/// NPC files, by name.
fn npc_files(place: &Bench) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(place.npc_dir()).unwrap();
    let mut files: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
        .collect();
    files.sort();
    files
}

/// NPC files as the configuration reads them.
fn described(place: &Bench) -> Vec<Value> {
    let parsed = |text: &str| yaml::parse(text, &mut Problems::new("a")).unwrap().to_json();
    npc_files(place).iter().map(|(_, text)| parsed(text)).collect()
}

/// Secrets that `viewer` finds in the store.
async fn found(place: &Bench, viewer: &Viewer) -> BTreeSet<String> {
    let entities = place.entities(viewer.clone()).await;
    let mut found = planted(&format!("{entities:?}"));
    for entity in &entities {
        let id = entity.id.as_str();
        let snapshot = place.store.snapshot(&scope(), id, viewer.clone()).await.unwrap();
        found.extend(planted(&format!("{snapshot:?}")));
    }
    found
}

/// Players, and every NPC.
fn viewers(place: &Bench) -> Vec<Viewer> {
    let names = described(place).into_iter().map(|npc| npc["name"].as_str().unwrap().to_owned());
    let npc = |name| Viewer::Npc { name, knows: vec!["everything".to_owned()] };
    names.chain(["Bartok".to_owned()]).map(npc).chain([Viewer::Everyone]).collect()
}

#[tokio::test]
async fn secrets_of_every_format_are_the_dms_alone() {
    let place = Bench::new();
    let preview = place.import(&drafts()).await;
    let comments: String = npc_files(&place).into_iter().map(|(_, text)| text).collect();
    let of_dm: BTreeSet<String> =
        found(&place, &Viewer::Dm).await.union(&planted(&comments)).cloned().collect();
    assert_eq!(of_dm, all_planted(), "none is lost");
    assert_eq!(planted(&format!("{preview:?}")), BTreeSet::new());
    for viewer in viewers(&place) {
        assert_eq!(found(&place, &viewer).await, BTreeSet::new(), "{viewer:?}");
    }
    for npc in described(&place) {
        assert_eq!(planted(&npc.to_string()), BTreeSet::new(), "{npc:#}");
    }
}

#[tokio::test]
async fn npcs_know_only_their_own_secrets_if_any() {
    let mut place = Bench::new();
    place.knows_secrets = true;
    place.import(&drafts()).await;
    let (all, mut npcs) = (all_planted(), described(&place));
    assert_eq!(npcs.len(), 5, "{npcs:#?}");
    for npc in &mut npcs {
        let secrets = npc.as_object_mut().unwrap().remove("secret_knowledge").unwrap();
        let name = npc["name"].as_str().unwrap().split(' ').next().unwrap().to_uppercase();
        let own = |it: &&String| it.starts_with(&format!("HUSH{name}"));
        let own: BTreeSet<String> = all.iter().filter(own).cloned().collect();
        assert_eq!(planted(&secrets.to_string()), own);
        assert_eq!(planted(&npc.to_string()), BTreeSet::new(), "{npc:#}");
    }
    for viewer in viewers(&place) {
        assert_eq!(found(&place, &viewer).await, BTreeSet::new(), "{viewer:?}");
    }
}

#[tokio::test]
async fn every_format_imported_twice_changes_nothing() {
    let mut place = Bench::new();
    let mut drafts = drafts();
    let first = place.import(&drafts).await;
    assert!(first.relations > 0 && first.kept.is_empty(), "{first:?}");
    let seated = described(&place).into_iter().map(|npc| {
        let aliases = npc["aliases"].as_array().into_iter().flatten();
        let aliases = aliases.map(|it| it.as_str().unwrap().to_owned()).collect();
        Npc { aliases, ..Npc::plain(npc["name"].as_str().unwrap()) }
    });
    let seated: Vec<Npc> = seated.collect();
    place.npcs.extend(seated.iter().cloned());
    let before = (npc_files(&place), place.entities(Viewer::Dm).await);
    let again = place.import(&drafts).await;
    assert!(again.added.is_empty() && again.changed.is_empty(), "{again:?}");
    assert_eq!((again.unchanged, again.relations), (first.added.len(), 0), "{again:?}");
    assert_eq!((npc_files(&place), place.entities(Viewer::Dm).await), before);
    // Files that the game master has edited stay, whatever comes later.
    for (path, text) in before.0 {
        fs::write(path, text + "max_sentences: 2\n").unwrap();
    }
    let edited = npc_files(&place);
    drafts.npcs.iter_mut().for_each(|npc| npc.personality = passage("Somebody else."));
    let kept = place.import(&drafts).await.kept;
    let stay: BTreeSet<&str> = names(&kept).into_iter().collect();
    let all: BTreeSet<&str> = seated.iter().map(|npc| npc.name.as_str()).collect();
    assert_eq!(stay, all);
    assert_eq!(npc_files(&place), edited);
}
