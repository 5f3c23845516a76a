//! A folder made by another person: programs it starts and data it sends need a yes, once.

use std::fs;

use tempfile::TempDir;

use crate::support::{
    processes::wait_until,
    program::{Place, Ran},
};

/// A folder whose server makes the file `started.txt`, which is no program.
const SERVER: &str =
    "npcs: [{ name: Pip, voice: { provider: flite, voice_id: slt }, lines: [{ say: Hi. }] }]
mcp: { servers: [{ name: home, command: sh ./server.sh, sandbox: off, auto_reconnect: false }] }
";
/// Without the server.
const TEXT: &str =
    "npcs: [{ name: Pip, voice: { provider: flite, voice_id: slt }, lines: [{ say: Hi. }] }]\n";
/// The two lines that the server needs a yes for.
const LINES: [&str; 2] = [
    "  - start the program `sh ./server.sh` (server 'home')",
    "  - let the program read and write everything that you can (sandbox: off of server 'home')",
];

/// A downloaded folder with this configuration, and the state folder of a user who has agreed to nothing.
fn downloaded(config: &str) -> (Place, TempDir) {
    let mut place = Place::with_config(config).brief().untrusted();
    place.write("server.sh", "touch started.txt\n");
    let state = TempDir::new().expect("a temporary folder");
    place.set_env("XDG_STATE_HOME", &state.path().display().to_string());
    (place, state)
}

impl Place {
    fn has_started(&self) -> bool {
        self.path("started.txt").exists()
    }

    /// Runs a command that is refused.
    #[track_caller]
    fn refuses(&self, arguments: &[&str]) -> Ran {
        let refused = self.run(arguments).ends_with(2);
        assert!(!self.has_started(), "{refused:#?}");
        assert!(refused.stderr.contains("(if you agree: glyphoxa trust "), "{refused:#?}");
        refused
    }
}

#[test]
fn downloaded_folder_starts_nothing_before_yes() {
    let (place, state) = downloaded(SERVER);
    let refused = place.refuses(&["ask", "--text", "Pip, hello"]);
    let folder = place.path("").canonicalize().unwrap().display().to_string();
    let folder = folder.trim_end_matches('/');
    let wanted = format!(
        "'glyphoxa.yaml' needs your trust first, because it would:\n{}\n{}\n(if you agree: glyphoxa \
         trust {folder}; for services and containers: --trust)\n",
        LINES[0], LINES[1]
    );
    assert_eq!(refused.stderr, wanted);
    for arguments in
        [&["tools", "list"][..], &["mcp", "servers"], &["mcp", "trust", "home"], &["doctor"]]
    {
        place.refuses(arguments);
    }
    for arguments in [&["check"][..], &["roll", "d6"], &["session", "list"], &["trust", "--show"]] {
        place.run(arguments).ends_with(0);
    }
    assert!(!place.has_started() && !state.path().join("glyphoxa/trusted.json").exists());
}

#[test]
fn yes_holds_until_the_script_changes() {
    let (place, _state) = downloaded(SERVER);
    let trusted = place.run(&["trust", "--trust"]).ends_with(0);
    assert!(LINES.iter().all(|line| trusted.stdout.contains(line)), "{trusted:#?}");
    assert!(!place.has_started());
    place.write("glyphoxa.yaml", SERVER.replace("Hi.", "Hello."));
    // The script is no server.
    place.run(&["mcp", "servers", "--wait", "20"]).ends_with(1);
    assert!(place.has_started());
    fs::remove_file(place.path("started.txt")).unwrap();

    place.write("server.sh", "touch startee.txt\n");
    let refused = place.refuses(&["mcp", "servers"]);
    let changed = "\n(changed since your yes: 'server.sh')\n(if you agree: ";
    assert!(refused.stderr.contains(changed), "{refused:#?}");
    let shown = place.run(&["trust", "--show"]).ends_with(0);
    assert!(shown.stdout.ends_with("\nnot trusted yet\n"), "{shown:#?}");
    place.refuses(&["mcp", "servers"]);
}

#[test]
fn question_shows_each_line_and_takes_a_yes() {
    let (place, _state) = downloaded(SERVER);
    let mut live = place.start_at_terminal(&["mcp", "servers", "--wait", "20"]);
    let question = [
        "'glyphoxa.yaml' would:",
        LINES[0],
        LINES[1],
        "Do you trust it? You won't be asked again until one of these lines changes, or a file that its \
         programs may run. [y/N]",
    ];
    assert_eq!(live.says_until("[y/N]"), question);
    assert!(!place.has_started());
    live.types("no");
    live.says("nothing was started or sent");
    assert_eq!(live.leave(), 2);
    assert!(!place.has_started());

    let mut live = place.start_at_terminal(&["mcp", "servers", "--wait", "20"]);
    live.says("[y/N]");
    live.types("yes");
    live.says("home");
    wait_until("the server was started", || place.has_started());
    live.leave();
    // It is not asked again.
    place.run(&["mcp", "servers", "--wait", "20"]).ends_with(1);
}

#[test]
fn trust_needs_a_terminal_and_is_taken_back() {
    let (place, state) = downloaded(SERVER);
    // Without a terminal, it cannot ask.
    let refused = place.run(&["trust"]).ends_with(2);
    assert!(LINES.iter().all(|line| refused.stderr.contains(line)), "{refused:#?}");
    assert!(
        refused.stderr.ends_with("(run it at a terminal, or agree with --trust)\n"),
        "{refused:#?}"
    );
    let shown = || place.run(&["trust", "--show"]).ends_with(0).stdout;
    assert!(
        shown().ends_with("\nnot trusted yet\n")
            && !state.path().join("glyphoxa/trusted.json").exists()
    );
    let mut live = place.start_at_terminal(&["trust"]);
    live.says("[y/N]");
    live.types("yes");
    live.says("trusted, until");
    assert_eq!(live.leave(), 0);
    assert!(shown().ends_with("\ntrusted\n"));
    // A broken configuration can still be forgotten.
    place.write("glyphoxa.yaml", "[");
    for told in ["is no longer trusted", "was not trusted"] {
        let forgot = place.run(&["trust", "--forget"]).ends_with(0);
        assert!(forgot.stdout.contains(told), "{forgot:#?}");
    }
    place.write("glyphoxa.yaml", SERVER);
    assert!(shown().ends_with("\nnot trusted yet\n"));
    place.refuses(&["mcp", "servers"]);
}

#[test]
fn unwritable_state_folder_is_named() {
    let (mut place, state) = downloaded(SERVER);
    let file = state.path().join("file");
    fs::write(&file, "").unwrap();
    place.set_env("XDG_STATE_HOME", &file.display().to_string());
    let refused = place.run(&["trust", "--trust"]).ends_with(1);
    let named = format!("cannot record it in '{}/glyphoxa/trusted.json': ", file.display());
    assert!(refused.message().contains(&named), "{refused:#?}");
}

#[test]
fn reload_starts_nothing_new_without_a_yes() {
    let (place, _state) = downloaded(TEXT);
    let mut live = place.start(&["ask", "--json"]);
    assert_eq!(live.asked("Pip, hello")["reply"], "Hi.");
    place.write("glyphoxa.yaml", SERVER.replace("Hi.", "Hello."));
    live.says("changed files are ignored until you trust them");
    live.says("glyphoxa trust ");
    assert_eq!(live.asked("Pip, hello")["reply"], "Hi.");
    assert!(!place.has_started());
    place.run(&["trust", "--trust"]).ends_with(0);
    live.says("configuration reloaded");
    wait_until("the server was started", || place.has_started());
    assert_eq!(live.asked("Pip, hello")["reply"], "Hello.");
    assert_eq!(live.leave(), 0);
}

#[test]
fn data_made_here_is_used_data_that_came_is_not() {
    let (place, _state) = downloaded(TEXT);
    for _ in 0..2 {
        place.run(&["memory", "migrate"]).ends_with(0);
    }
    assert!(place.path("data").exists());
    let (place, _state) = downloaded(TEXT);
    place.write("data/discord/guild-7.json", "{}");
    let refused = place.refuses(&["memory", "migrate"]);
    assert!(refused.stderr.contains("use what is already in 'data': sessions"), "{refused:#?}");
}
