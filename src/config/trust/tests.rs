use std::fs;

use super::*;
use crate::{config, tools::builtin::IDENTITIES};

/// An NPC, so that a folder is whole.
const NPC: (&str, &str) = ("npcs/bart.yaml", "name: Bart\nlines: [{ say: hi }]\n");

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [NPC].iter().chain(files) {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

/// The demands of a folder, where every secret has a value.
fn asked(dir: &Path) -> Vec<Demand> {
    // Other variables say where model files come from.
    let is_secret = |name: &str| ["KEY", "TOKEN", "PASSWORD"].iter().any(|it| name.ends_with(it));
    let environment = |name: &str| is_secret(name).then(|| format!("value-of-{name}"));
    config::load(Some(&dir.join("glyphoxa.yaml")), &environment, IDENTITIES).unwrap().demands
}

/// The lines of a folder with this configuration, the folder's name left out.
fn lines(text: &str) -> Vec<String> {
    lines_of(folder(&[("glyphoxa.yaml", text)]).path())
}

fn lines_of(dir: &Path) -> Vec<String> {
    let root = format!("{}/", dir.display());
    asked(dir).iter().map(|it| it.to_string().replace(&root, "")).collect()
}

#[test]
fn program_is_shown_with_variables_and_access() {
    let found = lines(
        "mcp:\n  servers:\n    - { name: home, command: 'sh ./a.sh \"x y\"', env: { KEY: '${HOME_KEY}', \
         A: b }, sandbox: off }\n    - { name: away, command: npx, args: [-y, 'a b'], sandbox: { read: \
         [npcs, /etc] } }\n",
    );
    let wanted = [
        "start the program `sh ./a.sh \"x y\"` with KEY=${HOME_KEY} A=b (server 'home')",
        "let the program read and write everything that you can (sandbox: off of server 'home')",
        "start the program `npx -y 'a b'` (server 'away')",
        "let the program read '/etc' (server 'away')",
    ];
    assert_eq!(found, wanted);
}

#[test]
fn address_elsewhere_is_shown_with_its_variables() {
    let found = lines(
        "providers:\n  llm: { service: openai, base_url: 'http://words.example/v1', model: m, free: true, \
         api_key: '${AWS_SECRET_ACCESS_KEY}' }\n  stt: { service: wyoming, base_url: \
         'tcp://192.168.0.9:10300' }\n",
    );
    let wanted = [
        "send what is said at the table to http://words.example/v1 (providers.llm)",
        "send the variable AWS_SECRET_ACCESS_KEY to words.example (providers.llm)",
        "send what is said at the table to tcp://192.168.0.9:10300 (providers.stt)",
    ];
    let (mut found, mut wanted) = (found, wanted.map(str::to_owned).to_vec());
    found.sort();
    wanted.sort();
    assert_eq!(found, wanted);
}

#[test]
fn server_elsewhere_is_shown_with_its_variables() {
    let found = lines(
        "mcp: { servers: [{ name: home, url: 'https://home.example/mcp', headers: { X: '${A_KEY}' } }] }\n",
    );
    let wanted = [
        "send what NPCs ask of it to https://home.example/mcp (server 'home')",
        "send the variable A_KEY to home.example (server 'home')",
    ];
    assert_eq!(found, wanted);
}

#[test]
fn discord_elsewhere_is_shown_with_its_token() {
    let found =
        lines("discord: { api_base: 'https://10.0.0.9:8443', token: '${DISCORD_TOKEN}' }\n");
    let wanted = [
        "send the bot's token and what is said on Discord to https://10.0.0.9:8443 (discord.api_base)",
        "send the variable DISCORD_TOKEN to 10.0.0.9 (discord.api_base)",
    ];
    assert_eq!(found, wanted);
    let found = lines("discord: { token: '${AWS_SECRET_ACCESS_KEY}' }\n");
    assert_eq!(found, ["send the variable AWS_SECRET_ACCESS_KEY to discord.com (discord.token)"]);
}

#[test]
fn database_elsewhere_is_asked_about() {
    let found = lines("memory: { url: 'postgres://bot:${DB_PASSWORD}@db.example/table' }\n");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("keep what is said and remembered in postgres://db.example"));
    assert!(found[1].starts_with("send the variable DB_PASSWORD to postgres://db.example"));
    let redirected = "memory: { url: 'postgres://bot@localhost/table?hostaddr=203.0.113.7' }\n";
    assert!(lines(redirected)[0].contains(" at 203.0.113.7 "));
    assert_eq!(lines("memory: { url: 'postgres://bot@localhost/table' }\n"), [""; 0]);
}

#[test]
fn known_services_and_this_machine_ask_nothing() {
    let found = lines(
        "providers:\n  llm:\n    - { service: openai, as: a, model: m, free: true, api_key: \
         '${OPENAI_API_KEY}' }\n    - { service: anthropic, as: b, model: m, free: true, api_key: \
         '${ANTHROPIC_API_KEY}' }\n    - { service: openai, as: c, base_url: \
         'https://api.groq.com/openai/v1', model: m, free: true, api_key: '${GROQ_API_KEY}' }\n    - { \
         service: openai, as: d, base_url: 'http://127.0.0.1:11434/v1', model: m, api_key: '${KEY}' }\n  \
         search: { service: brave, api_key: '${BRAVE_API_KEY}', free: true }\ndiscord: { token: \
         '${DISCORD_TOKEN:-}' }\n",
    );
    assert_eq!(found, [""; 0]);
}

#[test]
fn shipped_folder_asks_nothing() {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("glyphoxa.yaml");
    let config = config::load(Some(&shipped), &|_| None, IDENTITIES).unwrap();
    assert!(config.demands.is_empty(), "{:?}", config.demands);
}

#[test]
fn variable_in_a_text_is_asked_about() {
    let npc = "name: Ann\npersonality: '${AWS_SECRET_ACCESS_KEY} $${NOT}'\n";
    let dir = folder(&[("glyphoxa.yaml", ""), ("npcs/ann.yaml", npc)]);
    let wanted =
        "send the variable AWS_SECRET_ACCESS_KEY to the NPCs, who may say it (npcs/ann.yaml)";
    assert_eq!(lines_of(dir.path()), [wanted]);
}

#[test]
fn tool_of_a_file_is_asked_about_by_its_address() {
    let tool = |url: &str| {
        format!(
            "apiVersion: promptkit.altairalabs.ai/v1\nkind: Tool\nmetadata: {{ name: look }}\nspec:\n  \
             description: Looks.\n  input_schema: {{ type: object }}\n  http:\n    url: {url}\n    \
             headers_from_env: [X-Key=A_KEY]\n"
        )
    };
    let dir = folder(&[("glyphoxa.yaml", ""), ("tools/a.yaml", &tool("https://look.example/a"))]);
    let wanted = [
        "send what NPCs ask of it to https://look.example/a (tool 'manifest.look')",
        "send the variable A_KEY to look.example (tool 'manifest.look')",
    ];
    assert_eq!(lines_of(dir.path()), wanted);
    fs::write(dir.path().join("tools/a.yaml"), tool("http://127.0.0.1:1/a")).unwrap();
    assert_eq!(lines_of(dir.path()), [""; 0]);
}

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
fn data_folder_of_ours_or_the_user_asks_nothing() {
    let others = tempfile::tempdir().unwrap();
    let text = format!("data_dir: {}\n", others.path().display());
    assert_eq!(lines(&text), [""; 0], "it is empty");
    fs::write(others.path().join("notes.txt"), "mine").unwrap();
    assert_eq!(lines(&text).len(), 1);
    fs::write(others.path().join("memory.db"), "").unwrap();
    assert_eq!(lines(&text), [""; 0]);

    let there = others.path().display().to_string();
    fs::remove_file(others.path().join("memory.db")).unwrap();
    let dir = folder(&[("glyphoxa.yaml", "data_dir: '${GLYPHOXA_DATA:-data}'\n")]);
    let environment = |name: &str| (name == "GLYPHOXA_DATA").then(|| there.clone());
    let config = config::load(Some(&dir.path().join("glyphoxa.yaml")), &environment, IDENTITIES);
    assert!(config.unwrap().demands.is_empty(), "the user has said so");
}

#[test]
fn database_of_another_program_is_asked_about() {
    let others = tempfile::tempdir().unwrap();
    let path = others.path().join("other.db");
    let text = format!("memory: {{ path: {} }}\n", path.display());
    assert_eq!(lines(&text), [""; 0], "it is not there");
    fs::write(&path, "SQLite format 3\0 of others").unwrap();
    assert_eq!(lines(&text).len(), 1);
    fs::write(&path, "SQLite format 3\0 CREATE TABLE present_npc (").unwrap();
    assert_eq!(lines(&text), [""; 0]);
}

#[test]
fn one_byte_of_a_named_script_changes_the_digest() {
    let server =
        "mcp: { servers: [{ name: home, command: 'sh -c \"exec sh ./a.sh --x=b.sh\"' }] }\n";
    let dir = folder(&[("glyphoxa.yaml", server), ("a.sh", "echo a"), ("b.sh", "echo b")]);
    let digests = || asked(dir.path()).iter().map(Demand::digest).collect::<Vec<_>>();
    let first = digests();
    fs::write(dir.path().join("npcs/bart.yaml"), "name: Bart\nlines: [{ say: bye }]\n").unwrap();
    assert_eq!(digests(), first, "an NPC's text asks nothing");
    for (name, changed) in [("a.sh", "echo c"), ("b.sh", "echo c")] {
        let before = digests();
        fs::write(dir.path().join(name), changed).unwrap();
        assert_ne!(digests(), before, "{name}");
    }
}

#[test]
fn module_of_python_is_part_of_the_digest() {
    let server = "mcp: { servers: [{ name: home, command: python3 -m serve.tools }] }\n";
    let dir = folder(&[("glyphoxa.yaml", server), ("serve/tools.py", "a")]);
    let digest = || asked(dir.path())[0].digest();
    let first = digest();
    fs::write(dir.path().join("serve/tools.py"), "b").unwrap();
    assert_ne!(digest(), first);
}
