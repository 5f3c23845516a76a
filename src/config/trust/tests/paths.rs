//! Files and folders: those outside, those that are there already, and those that programs may run.

use super::*;
use crate::memory::Sqlite;

#[test]
fn paths_outside_the_folder_are_asked_about() {
    let others = tempfile::tempdir().unwrap();
    let there = others.path().canonicalize().unwrap();
    for name in ["data/notes.txt", "music/a.mp3", "files/a.txt"] {
        fs::create_dir_all(there.join(name).parent().unwrap()).unwrap();
        fs::write(there.join(name), "x").unwrap();
    }
    let there = there.display();
    let found = lines(&format!(
        "data_dir: {there}/data\nmusic: {{ dirs: [{there}/music] }}\nfile_io: {{ base_dir: {there}/files }}\n"
    ));
    let others = "which is there already and is not Glyphoxa's";
    let wanted = [
        format!("play the music in '{there}/music'"),
        format!("let NPCs read and write files in '{there}/files' (file_io)"),
        format!("keep its data in '{there}/data', {others} (data_dir)"),
    ];
    assert_eq!(found, wanted);
}

#[test]
fn data_that_is_there_already_is_asked_about() {
    let others = tempfile::tempdir().unwrap();
    let there = others.path().canonicalize().unwrap();
    let text = format!("data_dir: {}\n", there.display());
    assert_eq!(lines(&text), [""; 0], "it is empty");
    fs::write(there.join("memory.db"), "").unwrap();
    let brought = "sessions, servers that were added, and permissions (data_dir)";
    let wanted = format!("use what is already in '{}': {brought}", there.display());
    assert_eq!(lines(&text), [wanted]);
    fs::write(there.join("notes.txt"), "mine").unwrap();
    let found = lines(&text);
    assert!(found.len() == 1 && found[0].starts_with("keep its data in "), "{found:?}");

    let dir = folder(&[
        ("glyphoxa.yaml", "data_dir: '${GLYPHOXA_DATA:-data}'\n"),
        ("data/discord/guild-7.json", "{}"),
    ]);
    assert_eq!(lines_of(dir.path()), [format!("use what is already in 'data': {brought}")]);
    let environment = |name: &str| (name == "GLYPHOXA_DATA").then(|| there.display().to_string());
    let config = config::load(Some(&dir.path().join("glyphoxa.yaml")), &environment, IDENTITIES);
    assert!(config.unwrap().demands.is_empty(), "the user has said so");
}

#[test]
fn database_that_is_there_is_asked_about() {
    let others = tempfile::tempdir().unwrap();
    let path = others.path().join("other.db");
    let text = format!("memory: {{ path: {} }}\n", path.display());
    assert_eq!(lines(&text), [""; 0], "it is not there");
    let is_asked = |begins: &str| {
        let found = lines(&text);
        assert!(found.len() == 1 && found[0].starts_with(begins), "{found:?}");
    };
    fs::write(&path, "SQLite format 3\0 of others").unwrap();
    is_asked("keep its memory in ");
    fs::remove_file(&path).unwrap();
    drop(Sqlite::open(&path).unwrap());
    is_asked("use the memory that is already in ");
}

#[test]
fn link_out_of_the_folder_is_shown() {
    let others = tempfile::tempdir().unwrap();
    let there = others.path().canonicalize().unwrap();
    fs::write(there.join("ann.yaml"), "name: Ann\nlines: [{ say: hi }]\n").unwrap();
    let dir = folder(&[(
        "glyphoxa.yaml",
        "mcp: { servers: [{ name: home, command: 'a --in=./notes' }] }\n",
    )]);
    std::os::unix::fs::symlink(&there, dir.path().join("notes")).unwrap();
    std::os::unix::fs::symlink(there.join("ann.yaml"), dir.path().join("npcs/ann.yaml")).unwrap();
    let wanted = [
        format!("tell NPCs what is in '{}'", there.display()),
        "start the program `a --in=./notes` (server 'home')".to_owned(),
        format!("let the program read and write '{}' (server 'home')", there.display()),
    ];
    assert_eq!(lines_of(dir.path()), wanted);
}

#[test]
fn model_files_from_and_to_elsewhere_are_shown() {
    let digest = "0".repeat(64);
    let set = |from: &str| {
        format!(
            "models:\n  dir: /srv/models\n  npm: https://registry.npmjs.org\n  more: [{{ name: mira, \
             packages: [{{ from: '{from}', bytes: 1, sha256: '{digest}' }}], files: [{{ name: a, bytes: 1, \
             sha256: '{digest}', parts: [a] }}] }}]\n"
        )
    };
    let to = "put model files into '/srv/models' (models.dir)";
    let from = "download model files from https://voices.example/a.zip (models)";
    assert_eq!(lines(&set("https://voices.example/a.zip")), [to, from]);
    assert_eq!(lines(&set("https://huggingface.co/a.zip")), [to]);
}

#[test]
fn one_byte_of_a_script_changes_the_digest() {
    let server =
        "mcp: { servers: [{ name: home, command: 'sh -c \"cd lib; sh ./a.sh; node .\"' }] }\n";
    let files = [("glyphoxa.yaml", server), ("lib/a.sh", "echo a"), ("lib/index.js", "b")];
    let dir = folder(&files);
    let digests = || asked(dir.path()).iter().map(Demand::digest).collect::<Vec<_>>();
    let first = digests();
    fs::write(dir.path().join("npcs/bart.yaml"), "name: Bart\nlines: [{ say: bye }]\n").unwrap();
    assert_eq!(digests(), first, "an NPC's text asks nothing");
    for (name, changed) in [("lib/a.sh", "echo c"), ("lib/index.js", "c")] {
        let before = digests();
        fs::write(dir.path().join(name), changed).unwrap();
        assert_ne!(digests(), before, "{name}");
    }
}

#[test]
fn changed_files_keep_a_program_from_starting() {
    let server = "mcp: { servers: [{ name: home, command: sh ./a.sh }] }\n";
    let dir = folder(&[("glyphoxa.yaml", server), ("a.sh", "echo a")]);
    let path = dir.path().join("glyphoxa.yaml");
    let config = config::load(Some(&path), &|_| None, IDENTITIES).unwrap();
    let check = config::StartCheck::of(&config).unwrap();
    assert_eq!(check.refusal(), None);
    fs::write(dir.path().join("a.sh"), "echo b").unwrap();
    let refusal = check.refusal().unwrap_or_default();
    assert!(refusal.contains("(if you agree: glyphoxa trust "), "{refusal}");
    let mut trusted = config;
    config::Agreements::new(true).settle(&mut trusted);
    assert!(config::StartCheck::of(&trusted).is_none(), "with --trust");
}
