//! Wrong input: one clear message each, with the way out and the right exit status.

use std::{
    fs,
    os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::Value;

use crate::support::{
    ears::Ears,
    program::{Place, Ran},
    speech::{Format, plain_wav, speech, wav},
};

/// A table of one NPC with a line for everything.
const ONE: &str = "npcs: [{ name: Pip, lines: [{ say: Hello. }] }]\n";

/// Refused, one message, nothing on stdout, no file left.
#[track_caller]
fn refused(place: &Place, arguments: &[&str], status: i32) -> Ran {
    let before = place.names();
    let ran = place.run(arguments).ends_with(status);
    assert_eq!(ran.stdout, "", "{ran:#?}");
    assert_eq!(place.names(), before, "nothing is left behind");
    ran
}

#[test]
fn recordings_that_are_none() {
    let place = Place::with_config(ONE);
    let good = wav(&[1; 1600], 16_000, 1, Format::Pcm16);
    let changed = |at: usize, bytes: &[u8]| {
        let mut bad = good.clone();
        bad[at..at + bytes.len()].copy_from_slice(bytes);
        bad
    };
    let cases: [(&str, Vec<u8>); 9] = [
        ("text.wav", b"this is no recording, however long one looks at it".to_vec()),
        ("empty.wav", Vec::new()),
        ("head.wav", good[..20].to_vec()),
        ("no_data.wav", good[..36].to_vec()),
        ("no_samples.wav", wav(&[], 16_000, 1, Format::Pcm16)),
        ("zero_hz.wav", changed(24, &[0; 4])),
        ("no_channels.wav", changed(22, &[0; 2])),
        ("odd_bits.wav", changed(34, &[7, 0])),
        ("other_codec.wav", changed(20, &[0x55, 0])),
    ];
    for (name, bytes) in cases {
        place.write(name, bytes);
        let ran = refused(&place, &["ask", "--json", "--out", "o.wav", "--in", name], 1);
        assert!(ran.message().contains(&format!("'{name}'")), "{ran:#?}");
    }
}

#[test]
fn recordings_that_are_not_there() {
    let place = Place::with_config(ONE);
    let ran = refused(&place, &["ask", "--in", "nobody.wav"], 1);
    assert!(ran.message().contains("'nobody.wav'"), "{ran:#?}");
    place.write("folder/x", "");
    let ran = refused(&place, &["ask", "--in", "folder"], 1);
    assert!(ran.message().contains("'folder'"), "{ran:#?}");
}

#[test]
fn recording_without_speech() {
    let ears = Ears::start();
    let place = Place::with_config(&format!("providers:\n{}{ONE}", ears.entry()));
    place.write("silence.wav", wav(&[0; 32_000], 44_100, 2, Format::Pcm16));
    let ran = place.run(&["ask", "--json", "--in", "silence.wav", "--out", "o.wav"]).ends_with(1);
    let line = ran.line();
    assert_eq!((&line["outcome"], &line["npc"]), (&Value::from("empty_transcript"), &Value::Null));
    assert_eq!(line["detail"], "no speech was found in 'silence.wav'");
    assert_eq!(place.names(), ["glyphoxa.yaml", "silence.wav"]);
}

#[test]
fn place_for_the_answer_that_is_none() {
    let place = Place::with_config(ONE);
    let say = |out: &'static str| ["ask", "--text", "Pip, hello", "--out", out];
    let ran = refused(&place, &say("missing/o.wav"), 2);
    assert!(ran.message().contains("'missing'"), "{ran:#?}");
    place.write("folder/x", "");
    let ran = refused(&place, &say("folder"), 2);
    assert!(ran.message().contains("'folder' is a folder"), "{ran:#?}");
    let ran = refused(&place, &say("/proc/o.wav"), 2);
    assert!(ran.message().contains("'/proc/o.wav'"), "{ran:#?}");
    let ran = refused(&place, &say(""), 2);
    assert!(ran.stderr.contains("--out"), "{ran:#?}");
}

#[test]
fn times_that_are_none() {
    let place = Place::with_config(ONE);
    for time in ["-1", "NaN", "inf", "1e300"] {
        let ran = refused(&place, &["ask", "--at", time, "--text", "Pip, hello"], 2);
        assert!(ran.message().contains("--at '"), "{ran:#?}");
    }
    let ran = refused(&place, &["ask", "--text", "Pip, hello", "--at", "1"], 2);
    assert!(ran.stderr.contains("--at"), "{ran:#?}");
    refused(&place, &["ask", "--at", "soon", "--text", "Pip, hello"], 2);
}

#[test]
fn nothing_said_at_all() {
    let place = Place::with_config(ONE);
    let ran = refused(&place, &["ask"], 2);
    assert_eq!(ran.message(), "no input (give --in FILE, --text TEXT, or type a line)");
    let ran = place.run_typing(&["ask"], "\n  \n").ends_with(2);
    assert_eq!(ran.stdout, "");
}

#[test]
fn every_mistake_of_every_file_in_one_report() {
    let place = Place::with_config(
        "campaign: world.yaml\nnpc_dir: people\nbudgets: { session_max: 2 }\nlanguage: 7\n",
    );
    place.write(
        "people/pip.yaml",
        "name: Pip\nengine: s2s\ntools: [dice-roller.rol]\nlines: [{ say: Hello. }]\n",
    );
    place.write("people/tom.yaml", "name: Tom\nvoice: { provider: flite, speed_factor: 9 }\n");
    place.write(
        "world.yaml",
        "campaign: { name: X }\nentities: [{ id: a, name: A, type: plaice }]\n",
    );
    let ran = place.run(&["check"]).ends_with(2);
    let expected = [
        "glyphoxa.yaml:3:1: ",
        "glyphoxa.yaml:4:11: ",
        "people/pip.yaml:2:9: ",
        "people/pip.yaml:3:9: ",
        "people/tom.yaml:2:41: ",
        "world.yaml:2:36: ",
    ];
    let problems: Vec<&str> =
        ran.stderr.lines().filter(|line| !line.starts_with("warning: ")).collect();
    assert_eq!(problems.len(), expected.len(), "{}", ran.stderr);
    for (problem, place) in problems.iter().zip(expected) {
        assert!(problem.starts_with(place), "{place}: {problem}");
        assert!(problem.ends_with(')'), "no way out: {problem}");
    }
    assert!(ran.stderr.contains("dice-roller.roll"), "the nearest name: {}", ran.stderr);
    assert_eq!(ran.stdout, "");
    let as_json = place.run(&["check", "--json"]).ends_with(2).line();
    assert_eq!(as_json["problems"].as_array().map(Vec::len), Some(expected.len()));
    for command in [&["ask", "--text", "Pip, hello"][..], &["tier", "--text", "x"]] {
        let same = refused(&place, command, 2);
        assert_eq!(same.stderr.trim_end(), problems.join("\n"), "{command:?}");
    }
}

#[test]
fn files_that_are_no_yaml() {
    for (name, text) in [
        ("tab", "npcs:\n\t- name: x\n"),
        ("open", "npcs: [{ name: Pip }\n"),
        ("binary", "npcs: \u{0}\n"),
        ("list", "- a\n- b\n"),
        ("twice", "language: en\nlanguage: de\n"),
        ("empty_key", "npcs:\n  - name:\n"),
    ] {
        let place = Place::with_config(text);
        let ran = refused(&place, &["check"], 2);
        for problem in ran.stderr.lines() {
            let at = problem.strip_prefix("warning: ").unwrap_or(problem);
            assert!(at.starts_with("glyphoxa.yaml:"), "{name}: {problem}");
        }
    }
    let place = Place::new();
    place.write("latin.yaml", b"language: \xe9\n");
    let ran = refused(&place, &["check", "--config", "latin.yaml"], 2);
    assert!(ran.message().starts_with("latin.yaml:1:11: "), "{ran:#?}");
    let ran = refused(&place, &["check", "--config", "missing.yaml"], 2);
    assert!(ran.message().starts_with("missing.yaml"), "{ran:#?}");
}

#[test]
fn npcs_that_cannot_be() {
    for (npc, wrong) in [
        ("{ name: Pip, tools: [dice.roll] }", "dice.roll"),
        ("{ name: Pip, tools: [banana] }", "banana"),
        ("{ name: Pip, voice: { provider: siri } }", "siri"),
        ("{ name: Pip, voice: { provider: openai, voice_id: x } }", "openai"),
        ("{ name: Pip, engine: s2s }", "s2s"),
        ("{ name: Pip, lines: [{ when: /(/, say: x }] }", "/(/"),
        ("{ name: Pip, budget_tier: slow }", "slow"),
        ("{ name: Pip, bugdet_tier: fast }", "bugdet_tier"),
    ] {
        let place = Place::with_config(&format!("npcs:\n - {npc}\n"));
        let problem = refused_line(&place);
        let column = npc.find(wrong).expect("what is wrong") + " - ".len() + 1;
        assert!(problem.contains(wrong), "{npc}: {problem}");
        assert!(problem.starts_with(&format!("glyphoxa.yaml:2:{column}: ")), "{npc}: {problem}");
    }
}

/// The one problem that `check` finds.
fn refused_line(place: &Place) -> String {
    let ran = refused(place, &["check"], 2);
    let mut problems = ran.stderr.lines().filter(|line| !line.starts_with("warning: "));
    let problem = problems.next().expect("a problem").to_owned();
    assert_eq!(problems.next(), None, "{ran:#?}");
    assert!(problem.ends_with(')'), "no way out: {problem}");
    problem
}

#[test]
fn names_that_belong_to_others() {
    let tool = |namespace: &str| {
        format!(
            "apiVersion: promptkit.altairalabs.ai/v1\nkind: Tool\n\
             metadata: {{ name: now, namespace: {namespace} }}\n\
             spec: {{ description: x, input_schema: {{ type: object }}, mock_result: 1 }}\n"
        )
    };
    for (server, key) in [("name: sky", "name"), ("name: a, prefix: sky", "prefix")] {
        let servers = format!("mcp:\n  servers:\n    - {{ {server}, command: x }}\n");
        let place = Place::with_config(&format!("{ONE}{servers}"));
        place.write("tools/now.yaml", tool("sky"));
        let column = "    - { ".len() + server.find("sky").expect("the name") + 1;
        let expected = format!(
            "glyphoxa.yaml:4:{column}: 'sky' is the namespace of the manifest of 'sky.now' \
             (give this one another name, or a prefix)"
        );
        assert_eq!(refused_line(&place), expected, "{key}");
    }
    let servers = "mcp: { servers: [{ name: a, prefix: tools, command: x }] }\n";
    let place = Place::with_config(&format!("{ONE}{servers}"));
    let expected = "glyphoxa.yaml:2:37: 'tools' is the name of a built-in server";
    assert!(refused_line(&place).starts_with(expected), "{}", refused_line(&place));
}

#[test]
fn dice_that_cannot_be_rolled() {
    let place = Place::new();
    let long = "1+".repeat(300) + "1";
    let deep = "(".repeat(60) + "1" + &")".repeat(60);
    for bomb in [
        "1001d6",
        "999999999d999999999",
        "1d1e1",
        "1d1rr1",
        "1000#1000d1000",
        "1/0",
        "d0",
        "9223372036854775807+1",
        "2d6kh",
        "2x6",
        "",
        " ",
        "roll",
        &long,
        &deep,
    ] {
        let ran = refused(&place, &["roll", bomb], 2);
        assert!(!ran.stderr.is_empty() && ran.stderr.len() < 2_000, "{bomb}: {ran:#?}");
    }
}

#[test]
fn missing_voice_package() {
    let place = Place::with_config(ONE).env("PATH", "/nowhere");
    let ran = place.run(&["ask", "--json", "--text", "Pip, hello", "--out", "o.wav"]).ends_with(1);
    let line = ran.line();
    assert_eq!((&line["outcome"], &line["reply"]), (&Value::from("voice_error"), &Value::from("")));
    let detail = line["detail"].as_str().expect("a detail");
    assert!(detail.contains("flite") && detail.contains("apt"), "{detail}");
    assert_eq!(place.names(), ["glyphoxa.yaml"]);
    let doctor = place.run(&["doctor"]).ends_with(1);
    assert!(doctor.stdout.contains("✗ flite: ") && doctor.stdout.contains("apt"), "{doctor:#?}");
}

#[test]
fn voice_that_is_not_installed() {
    for (provider, voice) in [("flite", "banana"), ("espeak", "tlh-none")] {
        let npc = format!("voice: {{ provider: {provider}, voice_id: {voice} }}");
        let place = Place::with_config(&format!(
            "npcs: [{{ name: Pip, {npc}, lines: [{{ say: Hi. }}] }}]\n"
        ));
        let ran = place.run(&["ask", "--json", "--text", "Pip, hello", "--out", "o.wav"]);
        if ran.status == 2 {
            assert!(ran.stderr.contains(voice), "{ran:#?}");
            continue;
        }
        let line = ran.ends_with(1).line();
        assert_eq!(line["outcome"], "voice_error", "{line:#}");
        let detail = line["detail"].as_str().expect("a detail");
        assert!(detail.contains("voice") && detail.ends_with(')'), "{detail}");
        assert_eq!(place.names(), ["glyphoxa.yaml"]);
    }
}

#[test]
fn sound_that_ends_early_is_heard_to_its_end() {
    let ears = Ears::start();
    let place = Place::with_config(&format!("providers:\n{}{ONE}", ears.entry()));
    let whole = plain_wav(&speech("rms", "hello there pip"));
    place.write("cut.wav", &whole[..whole.len() - 1001]);
    let ran = place.run(&["ask", "--json", "--in", "cut.wav"]);
    assert!(!ran.stderr.contains("panicked"), "{ran:#?}");
    assert!(ran.status == 1 || ran.lines()[0]["heard"] != "", "{ran:#?}");
}

/// Permissions and time of writing.
fn stamp(path: &Path) -> (u32, i64, i64) {
    let about = fs::symlink_metadata(path).unwrap();
    (about.mode(), about.mtime(), about.mtime_nsec())
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn data_folder_that_is_none_is_refused_untouched() {
    for named in ["pipe", "file", "file/data"] {
        let place = Place::with_config(&format!("data_dir: {named}\n{ONE}"));
        let path = place.path(named.split('/').next().unwrap());
        match named {
            "pipe" => mkfifoat(CWD, &path, Mode::from_raw_mode(0o600)).unwrap(),
            _ => place.write("file", "theirs"),
        }
        set_mode(&path, 0o666);
        let before = stamp(&path);
        for command in [&["check"][..], &["session", "list"], &["ask", "--text", "Pip, hello"]] {
            let ran = refused(&place, command, 2);
            let said = format!("glyphoxa.yaml:1:11: data_dir '{named}' is not a folder (");
            assert!(ran.message().starts_with(&said), "{ran:#?}");
        }
        assert_eq!(stamp(&path), before, "{named}");
        assert_eq!(fs::metadata(&path).unwrap().file_type().is_fifo(), named == "pipe");
    }
}

#[test]
fn data_folder_of_others_stays_as_it_is() {
    let place = Place::with_config(&format!("data_dir: theirs\n{ONE}"));
    for file in ["www/index.html", "sessions/app.json", "run.sh"] {
        place.write(&format!("theirs/{file}"), "theirs");
        let path = place.path("theirs").join(file);
        set_mode(&path, 0o644);
        set_mode(path.parent().unwrap(), 0o755);
    }
    set_mode(&place.path("theirs/run.sh"), 0o755);
    let modes = || {
        let names = ["", "run.sh", "www", "www/index.html", "sessions", "sessions/app.json"];
        let paths: Vec<PathBuf> =
            names.iter().map(|name| place.path("theirs").join(name)).collect();
        paths.iter().map(|path| fs::metadata(path).unwrap().mode()).collect::<Vec<u32>>()
    };
    let before = modes();
    // The second run finds what the first has stored there.
    for _ in 0..2 {
        let ran = place.run(&["ask", "--text", "Pip, hello", "--session", "friday"]).ends_with(0);
        let said = "note: glyphoxa.yaml:1:11: other users can read data_dir 'theirs' (";
        assert!(ran.stderr.contains(said), "{ran:#?}");
        assert_eq!(modes(), before);
    }
    let stored = fs::metadata(place.path("theirs/sessions/friday.json")).unwrap();
    assert_eq!(stored.mode() & 0o777, 0o600);
    let checked = place.run(&["check"]).ends_with(0);
    assert!(checked.stderr.contains("warning: glyphoxa.yaml:1:11: other users"), "{checked:#?}");
}

#[test]
fn memory_path_of_another_program_stays_as_it_is() {
    let place = Place::with_config(&format!("memory: {{ path: theirs.db }}\n{ONE}"));
    let path = place.path("theirs.db");
    let theirs = rusqlite::Connection::open(&path).unwrap();
    theirs.execute_batch("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)").unwrap();
    drop(theirs);
    set_mode(&path, 0o644);
    let before = (fs::read(&path).unwrap(), stamp(&path));
    let ran = refused(&place, &["session", "list"], 1);
    assert!(ran.message().contains("theirs.db' is the database of another program"), "{ran:#?}");
    assert_eq!((fs::read(&path).unwrap(), stamp(&path)), before);
}
