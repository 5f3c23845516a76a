//! Programs that were started as MCP servers and turn against who started them.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::whole;
use crate::support::{
    processes::{is_there, wait_until},
    program::{Live, Place, repository},
    skipped::skipped,
};

/// Longest life of what a server leaves behind, after the program has ended.
const OUTLIVED: Duration = Duration::from_secs(5);
/// No process noted for this long: the chain of restarts has ended.
const QUIET: Duration = Duration::from_millis(500);
/// Signals that end the program.
const SIGNALS: [&str; 5] = ["KILL", "TERM", "INT", "ABRT", "HUP"];
/// Token that nothing may show.
const TOKEN: &str = "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs";
/// The token of the one test that looks for it in other processes: those of the tests beside it may
/// have theirs.
const SOUGHT: &str = "MjA3MTE4NTY0OTAzMjE4NjQx.Gk7RwQ.t3Vb0cXh9uJmYq5sLd8ZpNfEa2W";

/// True if there is what these tests need; says so when there is not.
fn has_python() -> bool {
    let there = Command::new("python3").arg("--version").output().is_ok();
    if !there {
        skipped("tests with MCP servers", "there is no python3");
    }
    there
}

/// True if this kernel confines programs; says so, whatever hides the output of tests, when not.
fn is_confined(place: &Place) -> bool {
    let doctor = place.run(&["doctor"]).stdout;
    let confined = doctor.contains("servers' programs: confined by Landlock");
    if !confined {
        assert!(doctor.contains("servers' programs: NOT confined"), "{doctor}");
        skipped("tests with Landlock", "this kernel has none");
    }
    confined
}

/// A table with the server `x`, and more keys of it.
fn table(more: &str) -> Place {
    table_of(more, &Place::new())
}

/// Like [`table`], with `person` as the home folder.
fn table_of(more: &str, person: &Place) -> Place {
    let place = Place::new();
    let script = repository("tests/support/mcp/intruder.py");
    place.write(
        "glyphoxa.yaml",
        format!(
            "npcs: [{{ name: Bartok, tools: [\"x.*\"], budget_tier: deep, lines: [{{ say: Hm. }}] }}]\n\
             mcp:\n  servers:\n    - {{ name: x, required: true, command: \"python3 '{}'\", tools: {{ \
             processes: {{ max_duration_ms: 60000 }} }}{more} }}\n",
            script.display()
        ),
    );
    let home = person.path("").display().to_string();
    person.write(".ssh/id", "a private key");
    place.env("DISCORD_TOKEN", TOKEN).env("HOME", &home)
}

/// Result of a tool of `x`.
fn found(place: &Place, tool: &str, arguments: &Value) -> Value {
    let call = ["tools", "call", &format!("x.{tool}"), &arguments.to_string(), "--json"];
    let mut ran = place.run(&call).ends_with(0);
    ran.stderr.clear();
    let text = ran.line()["result"].clone();
    let text = text.as_str().unwrap_or_else(|| panic!("{text:#}"));
    // It may be framed as data from outside.
    let (start, end) = (text.find('{').unwrap(), text.rfind('}').unwrap());
    serde_json::from_str(&text[start..=end]).unwrap()
}

/// Result for each path.
fn paths(place: &Place, tool: &str, paths: &[&Path]) -> Vec<String> {
    let found = found(place, tool, &json!({ "paths": paths }));
    paths
        .iter()
        .map(|path| {
            let its = &found[path.display().to_string()];
            its["refused"]
                .as_str()
                .unwrap_or_else(|| its["found"].as_str().unwrap_or("found"))
                .to_owned()
        })
        .collect()
}

#[test]
fn servers_program_sees_no_other_process() {
    if !has_python() {
        return;
    }
    let place = table("");
    let environment = found(&place, "environment", &json!({}));
    assert!(!environment.to_string().contains("DISCORD_TOKEN"), "{environment:#}");
    if !is_confined(&place) {
        return;
    }
    let found = found(&place, "processes", &json!({}));
    assert_eq!(found, json!({ "found": {} }));
}

#[test]
fn server_program_cannot_kill_its_watcher() {
    if !has_python() {
        return;
    }
    let place = table("");
    // Landlock keeps signals in from its sixth version on, of Linux 6.12.
    let version = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = version.split('.').map(|it| it.parse::<u32>().unwrap_or_default());
    if (numbers.next(), numbers.next()) < (Some(6), Some(12)) {
        skipped("tests with signals of confined programs", "this kernel lets them out");
    } else if is_confined(&place) {
        assert_eq!(found(&place, "kill", &json!({})), json!({ "found": {} }));
    }
}

#[test]
fn token_is_not_readable_in_environment() {
    if !has_python() {
        return;
    }
    // A process that may look everywhere, as root may, finds the place empty.
    let place = table(", sandbox: off").env("DISCORD_TOKEN", SOUGHT);
    // The text sought is in the command line of this very call, which shows that it was looked at. On a
    // busy machine its number may be too far from that of the program that looks.
    let was_seen = (0..20).any(|_| {
        let found = found(&place, "processes", &json!({ "part": &SOUGHT[..20] }));
        let all: Vec<&String> = found["found"].as_object().unwrap().keys().collect();
        assert!(!all.iter().any(|name| name.ends_with("/environ")), "{all:?}");
        all.iter().any(|name| name.ends_with("/cmdline"))
    });
    assert!(was_seen, "the program was not looked at");
    // It is where it is needed: the bot has a token.
    let doctor = place.run(&["doctor"]).stdout;
    assert!(!doctor.contains("no bot token"), "{doctor}");
}

/// Puts what servers' programs have no business with into `place`: campaigns, NPCs, notes, a token.
fn with_secrets(place: &Place) {
    let config = fs::read_to_string(place.path("glyphoxa.yaml")).unwrap();
    place.write(
        "glyphoxa.yaml",
        format!(
            "campaign: world.yaml\ncampaigns: [{{ file: other.yaml, shared: true }}]\nnpc_dir: cast\n\
             file_io: {{ base_dir: files }}\n{config}"
        ),
    );
    place.write("world.yaml", "campaign: { name: A }\n");
    place.write("other.yaml", "campaign: { name: B }\n");
    place.write(
        "cast/mira.yaml",
        "name: Mira\nsecret_knowledge: [It was her.]\nlines: [{ say: Hm. }]\n",
    );
    place.write("files/guild/notes.txt", "what another guild has noted");
    place.write("files/told/map", "a map");
    place.write(".env", format!("DISCORD_TOKEN={TOKEN}"));
    place.write("data/sessions/friday.json", "what was said");
}

#[test]
fn server_program_accesses_only_allowed_paths() {
    if !has_python() {
        return;
    }
    let person = Place::new();
    let sandbox = ", sandbox: { read: [books, files/told], write: [notes, ~/shared] }";
    let place = table_of(sandbox, &person);
    with_secrets(&place);
    person.write("shared/book", "shared");
    fs::create_dir_all(place.path("notes")).unwrap();
    place.write("books/book", "a book");
    place.write("beside.txt", "beside the configuration");
    if !is_confined(&place) {
        return;
    }
    let at = |name: &str| place.path(name);
    let readable = [at("books/book"), at("beside.txt"), at("files/told/map")];
    let readable: Vec<&Path> = readable.iter().map(|path| path.as_path()).collect();
    assert_eq!(paths(&place, "read", &readable), ["a book", "beside the configuration", "a map"]);
    let secret = [
        at("data/sessions/friday.json"),
        at("glyphoxa.yaml"),
        at(".env"),
        at("world.yaml"),
        at("other.yaml"),
        at("cast/mira.yaml"),
        at("files/guild/notes.txt"),
        person.path(".ssh/id"),
        "/etc/shadow".into(),
    ];
    let secret: Vec<&Path> = secret.iter().map(|path| path.as_path()).collect();
    assert_eq!(paths(&place, "read", &secret), ["Permission denied"; 9]);
    let listed = [
        at("cast"),
        at("files"),
        at("data"),
        at("data/sessions"),
        person.path(".ssh"),
        "/proc".into(),
    ];
    let listed: Vec<&Path> = listed.iter().map(|path| path.as_path()).collect();
    assert_eq!(paths(&place, "list", &listed), ["Permission denied"; 6]);
    let written = [
        at("notes/a"),
        person.path("shared/a"),
        at("a"),
        at("books/a"),
        at("data/a"),
        person.path(".ssh/authorized_keys"),
        at("../glyphoxa-was-here"),
    ];
    let written: Vec<&Path> = written.iter().map(|path| path.as_path()).collect();
    let results = paths(&place, "write", &written);
    assert_eq!(results[..2], ["written"; 2]);
    assert_eq!(results[2..], ["Permission denied"; 5]);
}

#[test]
fn replaced_file_restarts_its_server() {
    if !has_python() {
        return;
    }
    let person = Place::new();
    person.write("tool.txt", "what was there");
    let place = table_of(", debug: true", &person);
    let file = person.path("tool.txt").display().to_string();
    let config = fs::read_to_string(place.path("glyphoxa.yaml")).unwrap();
    place.write("glyphoxa.yaml", config.replace("intruder.py'", &format!("intruder.py' '{file}'")));
    if !is_confined(&place) {
        return;
    }
    // Its folder is a home, and stays closed.
    let listed = place.run(&["mcp", "servers"]).stdout;
    assert!(listed.contains("restarts when replaced") && listed.contains(&file), "{listed}");
    let live = place.start(&["ask", "--json"]);
    live.says_all(&["argument: what was there", "server ready"]);
    // As editors save.
    person.write(".tool.txt.tmp", "what is new");
    fs::rename(person.path(".tool.txt.tmp"), &file).unwrap();
    live.says_all(&["server restarts", "argument: what is new"]);
    live.leave();
}

#[test]
fn server_program_has_its_own_lasting_home() {
    if !has_python() {
        return;
    }
    let place = table("");
    let environment = found(&place, "environment", &json!({}))["found"].clone();
    let folder = |name: &str| Path::new(environment[name].as_str().unwrap()).to_owned();
    let (home, scratch) = (folder("HOME"), folder("TMPDIR"));
    assert!(home.starts_with(place.path("data/servers").canonicalize().unwrap()), "{home:?}");
    let kept = [home.join("cache"), scratch.join("temporary")];
    let kept: Vec<&Path> = kept.iter().map(|path| path.as_path()).collect();
    assert_eq!(paths(&place, "write", &kept), ["written", "written"]);
    assert_eq!(fs::read_to_string(kept[0]).unwrap(), "was here");
    assert!(!kept[1].exists(), "temporary files go with the program");
}

/// Starts the program with a server that leaves a process behind; that process, once it is there.
fn leaving(variable: &str) -> (Live, Place, PathBuf) {
    let place =
        table(&format!(", env: {{ {variable}: \"${{NOTED}}\" }}, sandbox: {{ write: [notes] }}"));
    fs::create_dir_all(place.path("notes")).unwrap();
    let noted = place.path("notes/pid");
    let place = place.env("NOTED", &noted.display().to_string());
    let mut live = place.start(&["ask", "--json"]);
    live.says("server ready");
    live.types("Bartok, hello");
    live.says("Hm.");
    wait_until("a process is noted", || fs::read(&noted).is_ok_and(|pid| !pid.is_empty()));
    (live, place, noted)
}

/// Waits until the process that `noted` names has ended and no new process is noted; how long it took.
#[track_caller]
fn all_ended(noted: &Path, what: &str) -> Duration {
    let since = Instant::now();
    let (mut known, mut gone) = (String::new(), None::<Instant>);
    wait_until(what, || {
        let now = fs::read_to_string(noted).unwrap();
        if is_there(&now) || now != known {
            (known, gone) = (now, None);
            return false;
        }
        gone.get_or_insert_with(Instant::now).elapsed() > QUIET
    });
    gone.map(|gone| gone - since).unwrap_or_default()
}

/// Ends the program by a signal; how long what it left behind has outlived it.
fn outlives(signal: &str) -> Duration {
    let (mut live, _place, noted) = leaving("LINGER");
    let pid = fs::read_to_string(&noted).unwrap();
    assert!(is_there(&pid), "{pid}");
    let sent = Command::new("kill").args(["-s", signal, &live.id().to_string()]).status();
    assert!(sent.unwrap().success());
    live.ended();
    all_ended(&noted, signal)
}

#[test]
fn session_of_its_own_does_not_outlive_us() {
    if has_python() {
        SIGNALS.iter().for_each(|signal| _ = outlives(signal));
    }
}

#[test]
fn orderly_end_leaves_nothing_behind() {
    if !has_python() {
        return;
    }
    let (live, _place, noted) = leaving("LINGER");
    assert_eq!(live.leave(), 0);
    all_ended(&noted, "orderly");
}

#[test]
fn self_restarting_process_ends_with_program() {
    if !has_python() {
        return;
    }
    let (live, _place, noted) = leaving("HYDRA");
    live.kill();
    all_ended(&noted, "killed");
}

#[test]
fn leftover_processes_end_in_time() {
    if !has_python() {
        return;
    }
    let mut all: Vec<Duration> = SIGNALS.iter().map(|signal| outlives(signal)).collect();
    let (live, _place, noted) = leaving("LINGER");
    assert_eq!(live.leave(), 0);
    all.push(all_ended(&noted, "orderly"));
    let (live, _place, noted) = leaving("HYDRA");
    live.kill();
    all.push(all_ended(&noted, "killed"));
    assert!(all.iter().all(|took| *took < OUTLIVED), "{all:?}");
}

/// Everything below `folder` with its permissions.
fn modes(folder: &Path) -> Vec<(String, u32)> {
    let mut found = Vec::new();
    let about = fs::symlink_metadata(folder).unwrap();
    found.push((folder.display().to_string(), about.permissions().mode() & 0o777));
    if about.is_dir() {
        for entry in fs::read_dir(folder).unwrap() {
            found.extend(modes(&entry.unwrap().path()));
        }
    }
    found
}

#[test]
fn stored_files_are_private_to_their_owner() {
    let place = Place::new();
    let config = "npcs: [{ name: Bartok, tools: [dice-roller.*, file-io.*], lines: [\
                  { when: [roll], tool: { name: dice-roller.roll, arguments: { expression: 1d6 } }, say: Rolled. }, \
                  { say: Hm. }] }]\nfile_io: { base_dir: data/notes }\n";
    place.write("glyphoxa.yaml", config);
    // As an earlier version, or a person by hand, has made them.
    place.write("data/sessions/old.json", "{\"version\": 1}");
    for (loose, mode) in
        [("data", 0o755), ("data/sessions", 0o755), ("data/sessions/old.json", 0o644)]
    {
        fs::set_permissions(place.path(loose), fs::Permissions::from_mode(mode)).unwrap();
    }
    let ask = ["ask", "--json", "--session", "friday", "--text", "Bartok, roll"];
    place.run(&ask).ends_with(0);
    let write =
        ["tools", "call", "file-io.write_file", "{\"path\": \"a.txt\", \"content\": \"x\"}"];
    // It has 100 ms, which a busy machine may not have.
    let mut written = (0..50).map(|_| place.run(&write));
    let written = written.find(|ran| !ran.stderr.contains("timed out")).expect("an answer in time");
    written.ends_with(0);
    place.run(&["tools", "calibrate"]).ends_with(0);
    place.run(&["session", "list"]).ends_with(0);
    let data = place.path("data");
    let found = modes(&data);
    for kept in ["friday.json", "friday.calls.jsonl", "memory.db", "a.txt"] {
        assert!(found.iter().any(|(path, _)| path.ends_with(kept)), "{kept}: {found:#?}");
    }
    // The folder itself may belong to another user, so it stays open.
    let only_itself = [(data.display().to_string(), 0o755_u32)];
    let open = |found: Vec<(String, u32)>| -> Vec<_> {
        found.into_iter().filter(|(_, mode)| mode & 0o077 != 0).collect()
    };
    assert_eq!(open(found), only_itself);
    // Everything that the program has stored is closed by its name.
    fs::remove_dir_all(data.join("notes")).unwrap();
    for (path, _) in modes(&data) {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let ran = place.run(&["session", "list"]).ends_with(0);
    assert!(ran.stderr.contains("other users can read data_dir"), "{ran:#?}");
    assert_eq!(open(modes(&data)), only_itself);
}

#[test]
fn secret_in_the_wrong_key_is_not_repeated() {
    // An address, a name, a number, a path and a key's own name are expected there.
    let keys = [
        "providers: { llm: { name: openai, base_url: \"${KEY}\", model: m } }",
        "providers: { llm: { name: \"${KEY}\" } }",
        "providers: { llm: { name: openai, base_url: \"https://h.example/${KEY}?a#b\", model: m } }",
        "budget: { session_max: \"${KEY}\" }",
        "campaign: \"${KEY}\"",
        "npc_dir: \"${KEY}\"",
        "data_dir: \"/proc/${KEY}\"",
        "language: \"${KEY}\"",
        "npcs: [{ name: \"${KEY}\" }, { name: \"${KEY}\" }]",
        "npcs: [{ name: Bartok, tools: [\"${KEY}\"] }]",
        "mcp: { servers: [{ name: \"${KEY}\", command: x }] }",
        "mcp: { servers: [{ name: x, command: \"'${KEY}\" }] }",
        "mcp: { servers: [{ name: x, url: \"${KEY}\" }] }",
        "mcp: { servers: [{ name: x, url: \"https://h.example\", headers: { A: \"${${KEY}\" } }] }",
        "mcp: { servers: [{ name: x, command: y, sandbox: { read: [\"${KEY}\"] } }] }",
        "discord: { guild_id: \"${KEY}\", api_base: \"${KEY}\" }",
        "tools: { manifests: [\"${KEY}\"], table_dir: \"${KEY}\" }",
        "rules: { files: [\"${KEY}\"] }",
        "memory: { url: \"${KEY}\" }",
        "log: { level: \"${KEY}\" }",
        "tokne: \"${KEY}\"",
    ];
    let always = [&["check"][..], &["ask", "--text", "Hm?"]];
    let in_rotation = [&["doctor"][..], &["check", "--json"]];
    for (number, key) in keys.into_iter().enumerate() {
        let place = Place::with_config(&format!("{key}\n")).env("KEY", TOKEN);
        // The gate runs three commands per key, the third in rotation.
        let more = in_rotation.iter().cycle().skip(number).take(if whole() { 2 } else { 1 });
        for command in always.iter().chain(more) {
            let ran = place.run(command);
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert!(!said.contains(&TOKEN[..20]), "{key}, {command:?}: {said}");
        }
    }
}

#[test]
fn server_stderr_is_logged_without_secrets() {
    if !has_python() {
        return;
    }
    let place = Place::new();
    place.write(
        "echo.py",
        "import os, sys\nsys.stderr.write('got ' + os.environ['A_KEY'] + '\\n')\n",
    );
    let server =
        "{ name: x, required: true, command: python3 echo.py, env: { A_KEY: \"${KEY}\" } }";
    let npc = "npcs: [{ name: Bartok, lines: [{ say: Hm. }] }]";
    place.write("glyphoxa.yaml", format!("{npc}\nmcp: {{ servers: [{server}] }}\n"));
    let place = place.env("KEY", TOKEN).env("RUST_LOG", "debug");
    let ran = place.run(&["ask", "--text", "Hm?"]);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    // By the filter of lines, or by that of the log: whichever sees it first.
    let is_hidden = said.contains("got ${KEY}") || said.contains("got <secret>");
    assert!(is_hidden && !said.contains(TOKEN), "{said}");
}
