//! The small commands, and the shipped files.

use std::{fs, net::TcpListener, thread};

use serde_json::{Value, json};

use crate::support::{
    program::{Place, Ran, repository},
    whole,
};

/// Runs in an empty folder: built-in defaults, shipped cast.
fn bare(arguments: &[&str]) -> Ran {
    Place::new().run(arguments)
}

fn integers(value: &Value) -> Vec<i64> {
    let values = value.as_array().expect("a list").iter();
    values.map(|value| value.as_i64().expect("a whole number")).collect()
}

#[test]
fn dice_are_rolled_and_added() {
    let line = bare(&["roll", "2d6+3", "--json"]).ends_with(0).line();
    let rolls = integers(&line["rolls"]);
    assert_eq!((&line["expression"], rolls.len()), (&json!("2d6+3"), 2));
    assert!(rolls.iter().all(|roll| (1..=6).contains(roll)), "{line}");
    assert_eq!(line["total"], rolls.iter().sum::<i64>() + 3);
    assert_eq!(line.as_object().map(|object| object.len()), Some(4), "{line}");
    let line = bare(&["roll", "-1d4+5", "--json"]).ends_with(0).line();
    assert_eq!(line["total"], 5 - integers(&line["rolls"])[0]);
    let line = bare(&["roll", "6#4d6kh3", "--json"]).ends_with(0).line();
    assert_eq!((integers(&line["totals"]).len(), integers(&line["rolls"]).len()), (6, 18));
    assert_eq!(line.get("total"), None, "{line}");
    for (expression, total) in [("7/2", 3), ("-7/2", -3), ("(1+2)*3", 9), ("2.5*2", 5)] {
        let line = bare(&["roll", expression, "--json"]).ends_with(0).line();
        assert_eq!(line["total"], total, "{expression}: {line}");
    }
}

#[test]
fn seeds_repeat_dice_and_times_repeat_rolls() {
    let roll = |seed: &str| bare(&["roll", "10d20", "--times", "3", "--seed", seed, "--json"]);
    let first = roll("7").ends_with(0).lines();
    assert_eq!(first.len(), 3);
    assert!(first[0] != first[1] && first[1] != first[2], "each roll is its own: {first:?}");
    assert_eq!(roll("7").lines(), first);
    assert_ne!(roll("8").lines(), first);
    let shown = bare(&["roll", "d20", "--seed", "7"]).ends_with(0).stdout;
    assert!(shown.starts_with("1d20 (") && shown.ends_with('\n'), "{shown}");
    bare(&["roll", "d20", "--times", "0"]).ends_with(2);
}

#[test]
fn voices_are_listed_and_recorded() {
    let place = Place::with_config("npcs: [{ name: Bartok, lines: [{ say: Hm. }] }]\n");
    let lines = place.run(&["voices", "--provider", "flite", "--json"]).ends_with(0).lines();
    let slt = lines.iter().find(|line| line["id"] == "slt").expect("flite has it");
    assert_eq!((&slt["service"], &slt["languages"]), (&json!("flite"), &json!(["en"])));
    assert_eq!(slt["about"], "female, American");
    let table = place.run(&["voices", "american", "--provider", "flite"]).ends_with(0).stdout;
    assert!(table.starts_with("flite  slt") && !table.contains("Scottish"), "{table}");
    place.run(&["voices", "--provider", "flite", "--language", "de"]).ends_with(1);
    let ran = place.run(&["voices", "--provider", "flit"]).ends_with(2);
    assert!(ran.stderr.contains("is not configured (did you mean flite?"), "{ran:#?}");
    place.run(&["voices", "slt", "--language", "german"]).ends_with(2);
    let ran = place.run(&["voices", "--provider", "flite", "--play", "Well met."]).ends_with(2);
    assert!(ran.stderr.contains("record it with --out FILE.wav"), "{ran:#?}");
    let play = ["voices", "slt", "--provider", "flite", "--play", "Well met.", "--out", "met.wav"];
    place.run(&play).ends_with(0);
    let sound = fs::read(place.path("met.wav")).expect("a recording");
    assert!(sound.len() > 20_000 && sound.starts_with(b"RIFF"), "{} bytes", sound.len());
    assert!(!place.path("data").exists(), "looking and hearing store nothing");
}

#[test]
fn unknown_voices_are_refused_online() {
    let place = Place::with_config(
        "models: { dir: models }\nnpcs:\n  - { name: Bartok, lines: [{ say: Hm. }], voice: { \
         provider: piper, voice_id: jow } }\n",
    );
    place.write("models/joe/joe.onnx", "");
    place.write("models/joe/joe.onnx.json", "{}");
    place.run(&["check"]).ends_with(0);
    let ran = place.run(&["check", "--online"]).ends_with(2);
    let wanted = "Bartok: unknown voice 'jow' of piper (nearest: joe";
    assert!(ran.stderr.contains(wanted), "{ran:#?}");
    let doctor = place.run(&["doctor"]).ends_with(1).stdout;
    assert!(doctor.contains("; nearest: joe"), "{doctor}");
}

#[test]
fn dice_that_cannot_be_read_point_at_the_spot() {
    let ran = bare(&["roll", "2d6kx1"]).ends_with(2);
    assert!(ran.stderr.starts_with("column 4: "), "{ran:#?}");
    assert_eq!(ran.stdout, "");
}

#[test]
fn tiers_follow_key_words_and_ceilings() {
    let campaign = repository("campaigns/ravenford.yaml");
    let place = Place::with_config(&format!(
        "campaign: {}\nnpcs: [{{ name: Bartok, budget_tier: standard, lines: [{{ say: Hm. }}] }}]\n",
        campaign.display()
    ));
    let tier = |arguments: &[&str]| {
        place.run(&[&["tier", "--json", "--text"], arguments].concat()).ends_with(0).line()
    };
    for harmless in ["I draw my sword", "such a nice inn", "a request", "good evening"] {
        let answer =
            json!({"selected": "fast", "effective": "fast", "reason": "default", "keyword": null});
        assert_eq!(tier(&[harmless]), answer, "{harmless}");
    }
    let selected = |arguments: &[&str]| {
        let answer = tier(arguments);
        let text = |key: &str| answer[key].as_str().unwrap_or("none").to_owned();
        (text("selected"), text("effective"), text("keyword"))
    };
    let is =
        |one: &str, other: &str, word: &str| (one.to_owned(), other.to_owned(), word.to_owned());
    assert_eq!(selected(&["Do you remember the quest?"]), is("standard", "standard", "remember"));
    assert_eq!(selected(&["tell me everything"]), is("deep", "deep", "tell me everything"));
    assert_eq!(selected(&["erzähl mir alles"]), is("deep", "deep", "erzähl mir alles"));
    assert_eq!(selected(&["tell me everything", "--npc", "Bartok"]).1, "standard");
    assert_eq!(selected(&["tell me everything", "--since-deep", "29"]).0, "standard");
    assert_eq!(selected(&["tell me everything", "--since-deep", "31"]).0, "deep");
    assert_eq!(selected(&["tell me everything", "--override", "fast"]).1, "fast");
    assert_eq!(selected(&["hello", "--npc", "Bartok", "--override", "deep"]).1, "deep");
    assert_eq!(selected(&["do you remember", "--queue", "3"]).0, "fast");
    assert_eq!(selected(&["hello", "--first"]).0, "standard");
    assert_eq!(selected(&["hello", "--first", "--recent", "2"]).0, "fast");
    assert_eq!(selected(&["where is the Slate Quarry?"]).0, "standard");
    for wrong in [["--npc", "Nobody"], ["--since-deep", "soon"], ["--override", "slow"]] {
        place.run(&[&["tier", "--text", "x"], &wrong[..]].concat()).ends_with(2);
    }
    let ran = place.run(&["tier", "--text", "x", "--since-deep", "-1"]).ends_with(2);
    assert!(ran.stderr.contains("-1"), "{ran:#?}");
    // At the shipped table too.
    let answer = bare(&["tier", "--json", "--text", "tell me everything", "--npc", "Bartok"]);
    assert_eq!(answer.ends_with(0).line()["effective"], "standard");
}

#[test]
fn every_command_shows_an_example() {
    let help = bare(&["--help"]).ends_with(0).stdout;
    let list = help.split("Commands:").nth(1).and_then(|rest| rest.split("\n\n").next());
    let names =
        list.expect("a list of commands").lines().filter_map(|line| line.split_whitespace().next());
    let names: Vec<&str> = names.filter(|name| *name != "help").collect();
    assert!(names.len() >= 6, "{names:?}");
    for name in names {
        let help = bare(&[name, "--help"]).ends_with(0).stdout;
        assert!(help.contains(&format!("glyphoxa {name}")), "{name}: {help}");
        let example = help.split("example").nth(1).expect("an example");
        assert!(example.contains(&format!("glyphoxa {name}")), "{name}: {help}");
    }
    bare(&[]).ends_with(2);
    bare(&["banana"]).ends_with(2);
    bare(&["--version"]).ends_with(0);
}

#[test]
fn shipped_files_are_fine() {
    let files = repository("glyphoxa.yaml");
    let path = files.to_str().expect("a path");
    let report = bare(&["check", "--json", "--config", path]).ends_with(0).line();
    assert_eq!(
        (&report["ok"], &report["problems"], &report["warnings"]),
        (&json!(true), &json!([]), &json!([]))
    );
    let shown = bare(&["check"]).ends_with(0);
    assert!(shown.stdout.contains(": fine: 5 NPCs (Bartok the Barkeep, "), "{shown:#?}");
    assert_eq!(shown.stderr, "");
}

#[test]
fn schemas_fit_shipped_files_and_refuse_mistakes() {
    let schema = |kind: &str| -> Value {
        let printed = bare(&["schema", kind]).ends_with(0).stdout;
        serde_json::from_str(&printed).expect("JSON")
    };
    let mut files = vec![
        (repository("glyphoxa.yaml"), schema("config")),
        (repository("campaigns/ravenford.yaml"), schema("campaign")),
        (repository("tools/tavern_rumour.yaml"), schema("tool")),
        (repository("workflows/the-evening-begins.yaml"), schema("workflow")),
    ];
    for entry in fs::read_dir(repository("npcs")).expect("the cast") {
        files.push((entry.expect("an entry").path(), schema("npc")));
    }
    for entry in fs::read_dir(repository("assets/rules/5e")).expect("the rules") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|ending| ending == "yaml") {
            files.push((path, schema("rules")));
        }
    }
    assert!(files.len() > 20);
    for (path, schema) in files {
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        let text = fs::read_to_string(&path).expect("a file");
        let mut file: Value = serde_yaml::from_str(&text).expect("YAML");
        let errors: Vec<String> = validator.iter_errors(&file).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{}: {errors:?}", path.display());
        file["no_such_key"] = json!(1);
        assert!(!validator.is_valid(&file), "{}", path.display());
    }
    bare(&["schema", "banana"]).ends_with(2);
}

#[test]
fn check_reads_the_workflows_of_a_folder() {
    let place = Place::with_config("npcs: [{ name: Pip, lines: [{ say: Hm. }] }]\n");
    let write = |step: &str| {
        let text = format!("name: bells\ndescription: Rings.\nsteps: [{{ {step} }}]\n");
        place.write("workflows/bells.yaml", text);
    };
    write("roll: banana");
    let shown = place.run(&["check"]).ends_with(2).stderr;
    assert!(shown.contains("bells.yaml:3:17: 'roll' is 'banana'"), "{shown}");
    write("roll: 1d6");
    let shown = place.run(&["check"]).ends_with(0).stdout;
    assert!(shown.ends_with("no campaign, 1 workflow\n"), "{shown}");
}

#[test]
fn doctor_checks_everything_sessions_need() {
    let place = Place::new();
    let place = if whole() { place.with_whisper() } else { place.with_whisper_alone() };
    let Some(place) = place else { return };
    let before = place.names();
    let findings = place.run(&["doctor", "--json"]).ends_with(0).lines();
    let looked_at: Vec<&str> = findings.iter().filter_map(|found| found["what"].as_str()).collect();
    for what in
        ["configuration", "hearing", "thinking", "voice", "flite", "espeak", "disk", "memory"]
    {
        assert!(looked_at.contains(&what), "{what}: {looked_at:?}");
    }
    assert!(findings.iter().all(|found| found["ok"] == true), "{findings:#?}");
    let checked = |what: &str| {
        let found = findings.iter().find(|found| found["what"] == what);
        found.map(|found| found["checked"] == true)
    };
    for (what, is_checked) in
        [("hearing", true), ("disk", true), ("memory", false), ("discord", false)]
    {
        assert_eq!(checked(what), Some(is_checked), "{what}: {findings:#?}");
    }
    assert_eq!(place.names(), before, "it looks and leaves nothing");
    // One NPC is as good from here on.
    place.write("glyphoxa.yaml", "npcs: [{ name: Pip, lines: [{ say: Hi. }] }]\n");
    place.run(&["session", "list"]).ends_with(0);
    let known = place.run(&["doctor"]).ends_with(0).stdout;
    assert!(known.contains("– discord: not checked"), "{known}");
    assert!(known.contains("✓ memory: SQLite 3.") && known.contains("memory.db"), "{known}");
    place.write("data/memory.db", "somebody else's file, and of some length".repeat(9));
    let damaged = place.run(&["doctor"]).ends_with(1).stdout;
    assert!(damaged.contains("✗ memory: "), "{damaged}");
    let wrong = Place::with_config("npcs: [{ name: Pip, lines: [{ say: Hi. }] }]\nnpc: 1\n")
        .run(&["doctor"])
        .ends_with(1);
    assert!(
        wrong.stdout.contains("✗ configuration: 1 problem (see: glyphoxa check)"),
        "{wrong:#?}"
    );
}

/// `doctor` tries the port of the listener and counts the tokens that open it.
#[test]
fn doctor_looks_at_the_listener() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = port.local_addr().unwrap();
    let npcs = "npcs: [{ name: Pip, lines: [{ say: Hi. }] }]\n";
    let web = format!("web: {{ listen: '{at}', mcp: {{ listen: true }} }}\n");
    let place = Place::with_config(&format!("{npcs}{web}"));
    let doctor = || place.run(&["doctor"]).stdout;
    // Another program: it closes the connection without a word, and then its port.
    let other = thread::spawn(move || drop(port.accept()));
    let taken = doctor();
    assert!(taken.contains(&format!("✗ listener: {at} is in use by another program")), "{taken}");
    assert!(taken.contains("– tokens: no valid token"), "{taken}");
    other.join().unwrap();
    for role in ["player", "dm"] {
        place.run(&["token", "create", "--role", role]).ends_with(0);
    }
    let free = doctor();
    let wanted = format!(
        "✓ listener: {at} is free; only programs of this machine reach it; voice.listen is on"
    );
    assert!(free.contains(&wanted), "{free}");
    let wanted = "✓ tokens: 2 valid tokens (1 with the rights of a game master, 2 without an end);";
    assert!(free.contains(wanted), "{free}");
    let bot = place.start(&["serve", "--listen", &at.to_string()]);
    bot.says(&at.to_string());
    let ours = doctor();
    let wanted = format!("– listener: {at} is in use by a running Glyphoxa; only programs");
    assert!(ours.contains(&wanted), "{ours}");
    assert_eq!(bot.terminate(), 0);
}

#[test]
fn reader_that_leaves_is_no_failure() {
    let mut command = std::process::Command::new("bash");
    let line = format!(
        "set -o pipefail; '{}' roll d20 --times 1000 | head -1",
        env!("CARGO_BIN_EXE_glyphoxa")
    );
    command.args(["-c", &line]);
    let ran = crate::support::program::run(command, "").ends_with(0);
    assert_eq!((ran.stdout.lines().count(), ran.stderr.as_str()), (1, ""));
}

#[test]
fn odds_are_counted_and_nothing_is_rolled() {
    let compared = bare(&["roll", "--odds", "2d6+3 >= 10"]).ends_with(0);
    assert_eq!(compared.stdout, "2d6+3>=10: 58.33 %\n");
    let all = bare(&["roll", "--odds", "2d6", "--json"]).ends_with(0).line();
    let outcomes = all["outcomes"].as_array().unwrap();
    assert_eq!((outcomes.len(), &outcomes[5]["total"]), (11, &json!(7)));
    assert!((outcomes[5]["exactly"].as_f64().unwrap() - 1.0 / 6.0).abs() < 1e-9, "{all}");
    let table = bare(&["roll", "--odds", "2d6"]).ends_with(0).stdout;
    assert!(table.starts_with("2d6: 2 to 12, 7.00 on average\n") && table.lines().count() == 13);
    let refused = bare(&["roll", "--odds", "1d6!"]).ends_with(2);
    assert!(refused.message().contains("dice that explode"), "{refused:?}");
}
