//! Files that others name and that are none, or never end: each is refused with a reason, at once, and
//! nothing but a regular file is ever replaced.

use std::{fs, os::unix::fs::symlink, path::Path};

use rustix::fs::{CWD, Mode, mkfifoat};

use crate::support::{
    ears::{self, Ears},
    program::{Live, Place, repository},
    speech::read_wav,
};

const PIP: &str = "npcs: [{ name: Pip, lines: [{ say: Hello. }] }]\n";

/// A pipe without a writer.
fn pipe(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    mkfifoat(CWD, path, Mode::from_raw_mode(0o600)).unwrap();
}

#[test]
fn pipe_in_place_of_a_file_is_refused_at_once() {
    let named = "campaign: c.yaml\nnpc_dir: npcs\n";
    let cases: [(&str, &str, &[&str]); 6] = [
        ("", "glyphoxa.yaml", &["check"]),
        (PIP, "pipe.yaml", &["check", "--config", "pipe.yaml"]),
        (named, "npcs/pipe.yaml", &["check"]),
        (named, "c.yaml", &["check"]),
        (PIP, "pipe.yaml", &["import", "pipe.yaml"]),
        (PIP, "pipe.wav", &["ask", "--in", "pipe.wav"]),
    ];
    for (config, file, arguments) in cases {
        let place = if config.is_empty() { Place::new() } else { Place::with_config(config) };
        pipe(&place.path(file));
        let ran = place.run(arguments);
        assert!(ran.status > 0 && ran.stderr.contains("not a regular file ("), "{file}: {ran:#?}");
        assert!(ran.stderr.contains(file), "{ran:#?}");
    }
}

#[test]
fn manifest_that_is_a_pipe_is_refused_at_once() {
    let place = Place::with_config(&format!("tools: {{ manifests: [tools] }}\n{PIP}"));
    pipe(&place.path("tools/pipe.yaml"));
    let ran = place.run(&["check"]).ends_with(2);
    assert!(ran.stderr.contains("not a regular file ("), "{ran:#?}");
}

#[test]
fn npc_file_that_becomes_a_pipe_stops_no_table() {
    let place = Place::with_config("npc_dir: npcs\n");
    place.write("npcs/pip.yaml", "name: Pip\nlines: [{ say: Hello. }]\n");
    let mut live: Live = place.start(&["ask"]);
    live.types("Pip, hello");
    live.says("Pip: Hello.");
    fs::remove_file(place.path("npcs/pip.yaml")).unwrap();
    pipe(&place.path("npcs/pip.yaml"));
    live.says("not a regular file");
    live.types("Pip, hello");
    live.says("Pip: Hello.");
    assert_eq!(live.leave(), 0);
}

#[test]
fn recording_comes_through_standard_input() {
    let ears = Ears::start();
    let place = Place::with_recogniser(&ears.entry());
    let player = repository("tests/data/sound/player.wav");
    ears::remember("Bartok, roll two d six plus three", &read_wav(&player).samples);
    let wav = fs::read(player).unwrap();
    let mut live = place.start(&["ask", "--json", "--in", "-"]);
    live.types_bytes(&wav);
    live.ended();
    let said = live.rest().join("\n");
    assert!(said.contains("2d6+3"), "{said}");
}

#[test]
fn device_is_no_recording_and_no_place_for_one() {
    let place = Place::with_config(PIP);
    let zeros = place.run(&["ask", "--in", "/dev/zero"]).ends_with(1);
    assert!(zeros.message().contains("not a regular file"), "{zeros:#?}");
    symlink("/dev/null", place.path("out.wav")).unwrap();
    let asked = ["ask", "--text", "Pip, hello", "--out", "out.wav"];
    let ran = place.run(&asked).ends_with(2);
    assert!(ran.message().contains("not a regular file"), "{ran:#?}");
    assert_eq!(fs::read_link(place.path("out.wav")).unwrap(), Path::new("/dev/null"));
    place.run(&["tools", "report", "--out", "out.wav"]).ends_with(1);
    assert_eq!(fs::read_link(place.path("out.wav")).unwrap(), Path::new("/dev/null"));
}

#[test]
fn aliases_to_a_long_text_are_refused() {
    let repeated = ", *a".repeat(100_000);
    let text = "y".repeat(1 << 20);
    let place = Place::with_config(&format!("a: &a {text}\nb: [x{repeated}]\n{PIP}"));
    let ran = place.run(&["check"]).ends_with(2);
    assert!(ran.stderr.contains("more than 16 MiB of text"), "{ran:#?}");
}
