//! Replies of `ask`, heard at a terminal through stand-ins for the programs that play.

use std::{fs, os::unix::fs::PermissionsExt};

use crate::support::{program::Place, speech::read_wav};

const TWO_SENTENCES: &str = r#"
npcs:
  - name: Bartok
    voice: { provider: flite, voice_id: rms }
    lines: [{ say: "Sit down and listen, all of you. The river was dry for an hour that night." }]
"#;
/// Keeps what it is given to play.
const PLAYS: &str = "cp \"$1\" \"heard/$(ls heard | wc -l).wav\"; echo \"${0##*/}\" >>players";

/// A place with these programs in its `PATH`, all of which do this.
fn place(players: &[&str], does: &str) -> Place {
    let place = Place::with_config(TWO_SENTENCES);
    fs::create_dir(place.path("heard")).unwrap();
    for player in players {
        let name = format!("bin/{player}");
        place.write(&name, format!("#!/bin/sh\n{does}\n"));
        fs::set_permissions(place.path(&name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", place.path("bin").display());
    let temporary = place.path("tmp");
    fs::create_dir(&temporary).unwrap();
    place.env("PATH", &path).env("TMPDIR", &temporary.display().to_string())
}

const ASK: [&str; 5] = ["ask", "--text", "Bartok, hello", "--out", "out.wav"];

/// Samples of everything that was played, in order, and how many pieces they were.
fn heard(place: &Place) -> (Vec<i16>, usize) {
    let pieces = fs::read_dir(place.path("heard")).unwrap().count();
    let piece = |number| read_wav(&place.path(&format!("heard/{number}.wav"))).samples;
    ((0..pieces).flat_map(piece).collect(), pieces)
}

#[test]
fn replies_at_a_terminal_are_heard_by_sentence() {
    // Written down out of order: pw-play is not there, paplay goes before the others.
    let place = place(&["aplay", "afplay", "paplay"], PLAYS);
    assert_eq!(place.start_at_terminal(&ASK).leave(), 0);
    let (samples, pieces) = heard(&place);
    assert_eq!(samples, read_wav(&place.path("out.wav")).samples);
    assert!(pieces >= 2, "the first sentence does not wait for the second");
    let players = fs::read_to_string(place.path("players")).unwrap();
    assert!(players.lines().all(|player| player == "paplay"), "{players}");
    assert_eq!(fs::read_dir(place.path("tmp")).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn silent_or_piped_ask_plays_nothing() {
    let place = place(&["pw-play"], PLAYS);
    assert_eq!(place.start_at_terminal(&[&ASK[..], &["--silent"]].concat()).leave(), 0);
    place.run(&ASK).ends_with(0);
    assert_eq!(heard(&place).1, 0);
}

#[test]
fn player_that_fails_is_named_and_given_up() {
    let place = place(&["aplay"], "echo x >>tried; exit 3");
    let live = place.start_at_terminal(&ASK);
    let said = live.says("cannot play sound: ");
    assert!(said.contains("/aplay failed (exit status: 3)"), "{said}");
    assert!(said.contains("--silent"), "{said}");
    assert_eq!(live.leave(), 0);
    assert_eq!(fs::read_to_string(place.path("tried")).unwrap(), "x\n");
    assert!(!read_wav(&place.path("out.wav")).samples.is_empty());
}

#[test]
fn ctrl_c_ends_what_is_being_heard() {
    let place = place(&["aplay"], "echo x >>playing; exec sleep 100");
    let mut live = place.start_at_terminal(&["ask"]);
    live.says("type to the cast");
    live.types("Bartok, hello");
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !place.path("playing").exists() {
        assert!(std::time::Instant::now() < until, "{:#?}", live.said());
        std::thread::yield_now();
    }
    live.types("\u{3}");
    assert_eq!(live.leave(), 0);
    assert_eq!(fs::read_dir(place.path("tmp")).unwrap().count(), 0);
}
