//! Music at a table on the terminal, through the real program.

use std::fs;

use serde_json::Value;

use crate::support::{
    program::{Place, Ran, repository},
    speech::{Recording, read_wav},
    tones::{RATE, clicks, clicks_in, db, music_wav, power, tone},
    whole,
};

const PIP: &str = "npcs: [{ name: Pip, voice: { provider: flite, voice_id: rms }, lines: [{ say: So it is. }] }]\n";
/// Half a second.
const PERIOD: usize = RATE / 2;
/// Music behind the last answer.
const TAIL: usize = 5 * RATE;
/// Above every voice, which ends at 8 kHz here.
const ABOVE: f64 = 9_000.0;
/// A sound file, and the name under which it is played.
const FORMATS: [(&str, &str); 7] = [
    ("sound/tone.flac", "copper.flac"),
    ("sound/tone.m4a", "silver.m4a"),
    ("sound/tone.aac", "pewter.aac"),
    ("sound/tone.opus", "amber.opus"),
    ("sound/tone.webm", "ivory.webm"),
    ("tone.mp3", "jade.mp3"),
    ("tone.ogg", "onyx.ogg"),
];
/// Lines said to Bartok, and the result of his tools: the title that plays, `STOP`, or nothing.
const ASKED: [(&str, &str); 46] = [
    ("play something for a tavern", "Tavern murmur"),
    ("please play some music", "Tavern murmur"),
    ("could you play some music for us?", "Tavern murmur"),
    ("play rain", "Rain"),
    ("play the rain", "Rain"),
    ("play some battle music", "Battle drums"),
    ("stop music", STOP),
    ("stop playing music", STOP),
    ("stop the drums", STOP),
    ("turn the music off", STOP),
    ("please do not play any music", STOP),
    ("don't play the rain", STOP),
    ("do you like music?", ""),
    ("tell me about the tavern", ""),
    ("when will it stop raining?", ""),
    ("don't stop the music", ""),
    ("does the rain stop when the music plays?", ""),
    ("please stop the music now", STOP),
    ("play dice in the tavern", ""),
    ("I think we've had enough of the music", STOP),
    ("there is never enough music", ""),
    ("mach bitte Musik an", "Tavern murmur"),
    ("spiel etwas für eine Taverne", "Tavern murmur"),
    ("kannst du bitte Musik spielen", "Tavern murmur"),
    ("spiel Kampfmusik", "Battle drums"),
    ("spiel den Regen", "Rain"),
    ("mach die Trommeln aus", STOP),
    ("spiel bitte keine Musik", STOP),
    ("hör auf mit der Musik", STOP),
    ("das ist jetzt genug Musik", STOP),
    ("die Musik kann jetzt weg", STOP),
    ("we do not need the music any more", STOP),
    ("ist die Musik weg gewesen?", ""),
    ("es gibt nie genug Musik", ""),
    ("magst du Musik?", ""),
    ("mach die Taverne zu", ""),
    ("wie sieht der Regen aus?", ""),
    ("ich habe keine Musik gehört", ""),
    ("hast du kein Lied mehr?", ""),
    ("mach das Feuer an", ""),
    ("mach mal Regen an", "Rain"),
    ("put something on, you will catch a cold", ""),
    ("mach was an für einen Kampf, die Orks kommen", "Battle drums"),
    ("put something on for a fight the orcs are coming", "Battle drums"),
    ("turn the rain on please", "Rain"),
    ("put something on for the cold", ""),
];
const STOP: &str = "music-ambiance.stop_music";

/// Pip, and a second of clicks that is called after them.
fn place() -> Place {
    let place = Place::with_config(PIP);
    place.write("music/ticking/clicks.wav", music_wav(&clicks(2, PERIOD)));
    place
}

/// The game master types these lines, and `--out` writes what is heard.
fn played(place: &Place, lines: &[&str]) -> Recording {
    let ask = ["ask", "--as-dm", "--out", "out.wav"];
    let ran = place.run_typing(&ask, &lines.join("\n")).ends_with(0);
    assert!(!said(&ran).contains("cannot play"), "{ran:#?}");
    let out = read_wav(&place.path("out.wav"));
    assert_eq!((out.rate, out.channels, out.bits), (48_000, 1, 16));
    out
}

fn said(ran: &Ran) -> String {
    format!("{}{}", ran.stdout, ran.stderr)
}

#[test]
fn loop_in_a_recording_has_no_gap() {
    let out = played(&place(), &["/music play clicks", "Pip, hello"]);
    let found = clicks_in(&out.samples);
    assert!(found.len() >= 8 && out.seconds() > 5.0, "{} s: {found:?}", out.seconds());
    let apart: Vec<usize> = found.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(apart.iter().all(|it| *it == PERIOD), "{apart:?}");
}

#[test]
fn music_typed_is_ducked_and_obeys_its_volume() {
    let place = Place::with_config(PIP);
    place.write("music/harbour/gulls.wav", music_wav(&tone(ABOVE, 10)));
    let lines = ["/music play gulls", "Pip, hello", "/music volume 50", "Pip, hello"];
    let out = played(&place, &lines).samples;
    let reply = (out.len() - TAIL) / 2;
    let level = |at: usize| power(&out[at..at + RATE / 10], ABOVE);
    let (loud, quiet) = (level(reply / 2), level(reply + reply / 2));
    assert!(db(quiet / loud) < -5.0, "{} dB", db(quiet / loud));
    // A second later it has swollen.
    let swollen = db(level(2 * reply + RATE) / quiet);
    assert!((swollen - 12.0).abs() < 1.5, "{swollen} dB");
    let end = db(level(out.len() - RATE / 10) / quiet);
    assert!(end < -3.0, "it fades out: {end} dB");
}

#[test]
fn music_ends_with_an_x_card_or_a_stop() {
    let lines = |last: &'static str| ["/music play clicks", "Pip, hello", last];
    // Nothing follows the answer.
    let carded = played(&place(), &lines("/xcard"));
    assert!(!carded.samples.is_empty() && carded.seconds() < 3.0, "{} s", carded.seconds());
    let stopped = played(&place(), &lines("/music stop"));
    let faded = stopped.seconds() - carded.seconds();
    assert!((1.5..2.5).contains(&faded), "it fades out within 2 s: {faded} s");
}

#[test]
fn music_commands_typed_say_what_there_is() {
    let lines = ["/music list", "/music play xyzzy", "/music volume 300", "/music play clicks"];
    let ran = place().run_typing(&["ask", "--as-dm"], &lines.join("\n")).ends_with(0);
    let said = said(&ran);
    for part in ["clicks", "Rain", "'xyzzy'", "ticking", "tavern", "volume"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let listed = place().run_typing(&["ask", "--as-dm", "--json"], "/music list").ends_with(0);
    assert!(listed.stderr.contains("clicks · music · ticking"), "{listed:#?}");
    let ran = place().run_typing(&["ask"], "/music play clicks").ends_with(0);
    assert!(ran.stderr.contains("only the game master may /music"), "{ran:#?}");
}

#[test]
fn music_of_a_scene_plays_when_it_is_set() {
    let place = place();
    place.write("glyphoxa.yaml", format!("{PIP}campaign: world.yaml\n"));
    place.write(
        "world.yaml",
        "campaign: { name: Ravenford }\nscenes:\n  - { name: Old Mill, music: ticking }\n",
    );
    let out = played(&place, &["/scene set Old Mill"]);
    assert!(clicks_in(&out.samples).len() >= 8, "{} s", out.seconds());
}

#[test]
fn npc_plays_music_by_its_tool() {
    let tool = "tool: { name: music-ambiance.play_track, arguments: { mood: a ticking clock } }";
    let config =
        PIP.replace("lines: [{ say", &format!("tools: [music-ambiance.*], lines: [{{ {tool}, say"));
    let place = place();
    place.write("glyphoxa.yaml", config);
    let ask = ["ask", "--json", "--out", "out.wav", "--text", "Pip, play some music"];
    let line = place.run(&ask).ends_with(0).line();
    assert_eq!(line["tools"][0]["result"]["playing"], "clicks", "{line:#}");
    assert_eq!(line["outcome"], "spoken", "{line:#}");
    let out = read_wav(&place.path("out.wav"));
    assert!(clicks_in(&out.samples).len() >= 8, "{} s", out.seconds());
}

#[test]
fn bartok_obeys_music_requests_in_two_languages() {
    // Every third of them: each deed, and both languages.
    let lines = ASKED.into_iter().skip(if whole() { 0 } else { 1 });
    let lines: Vec<(&str, &str)> = lines.step_by(if whole() { 1 } else { 3 }).collect();
    let typed: Vec<String> = lines.iter().map(|(asked, _)| format!("Bartok, {asked}")).collect();
    let ran = Place::new().run_typing(&["ask", "--json"], &typed.join("\n")).ends_with(0);
    let turns = ran.lines();
    assert_eq!(turns.len(), lines.len(), "{ran:#?}");
    for (turn, (asked, deed)) in turns.iter().zip(lines) {
        let called = turn["tools"].as_array().unwrap().iter();
        let done: Vec<&Value> =
            called.map(|it| it["result"].get("playing").unwrap_or(&it["tool"])).collect();
        let expected = if deed.is_empty() { vec![] } else { vec![deed] };
        assert_eq!(done, expected, "{asked}: {turn:#}");
    }
}

#[test]
fn wrong_description_is_shown_with_its_place() {
    let place = place();
    let ran = place.run(&["check"]).ends_with(0);
    assert!(ran.stdout.contains("1 track of music"), "{ran:#?}");
    place.write(
        "music/ticking/music.yaml",
        "tracks:\n  - { file: click.wav }\n  - file: clicks.wav\n    layer: musik\n    volume: lots\n",
    );
    let report = place.run(&["check"]).ends_with(2).stderr;
    for (line, part) in [(2, "did you mean 'clicks.wav'?"), (4, "'musik'"), (5, "'lots'")] {
        let at = format!("music/ticking/music.yaml:{line}:");
        let is_shown = |it: &str| {
            let rest = it.split_once(&at).map(|(_, rest)| rest);
            rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
                && it.contains(part)
                && it.ends_with(')')
        };
        assert!(report.lines().any(is_shown), "{at} {part}: {report}");
    }
}

#[test]
fn music_of_every_format_sounds() {
    let place = Place::with_config(PIP);
    for (file, name) in FORMATS {
        let sound = fs::read(repository("tests/data").join(file)).unwrap();
        place.write(&format!("music/bells/{name}"), sound);
    }
    let checked = place.run(&["check"]).ends_with(0);
    assert_eq!(checked.stderr, "");
    for (_, name) in FORMATS {
        let (title, _) = name.split_once('.').unwrap();
        let out = played(&place, &[&format!("/music play {title}")]);
        assert!(out.seconds() > 4.9 && out.level() > 0.005, "{name}: {} s", out.seconds());
    }
    place.write("music/bells/brass.flac", "this is no sound");
    let checked = place.run(&["check"]).ends_with(0);
    assert!(checked.stderr.contains("brass.flac"), "a warning: {checked:#?}");
    let typed = "/music play brass\nPip, hello";
    let ran = place.run_typing(&["ask", "--as-dm"], typed).ends_with(0);
    assert!(said(&ran).contains("cannot play 'brass'"), "{ran:#?}");
}
