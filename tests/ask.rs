//! Turns through the real program: recorded and typed, heard, answered and spoken.

use serde_json::{Value, json};

use crate::support::{
    answers::text,
    cast::shipped,
    deepgram::DeepgramServer,
    ears::Ears,
    program::Place,
    speech::{Format, padded, plain_wav, read_wav, speech, wav},
};

const ROLL: &str = "Bartok, roll two d six plus three";
const SWORD: &str = "I draw my sword and look around";
const BARTOK: &str = "Bartok the Barkeep";

/// Bartok has much to say and takes no hints; Mira answers shortly.
const TALKATIVE: &str = r#"
npcs:
  - name: Bartok the Barkeep
    aliases: [Bartok]
    voice: { provider: flite, voice_id: rms }
    max_sentences: 6
    lines:
      - say: "Sit down and listen. The river was dry for an hour that night. Nobody knew where the water had gone. Then it came back all at once, and it took the lower town with it."
  - name: Mira Quickfingers
    aliases: [Mira]
    voice: { provider: flite, voice_id: slt }
    lines: [{ say: "What is it to you?" }]
"#;

/// Bartok greets a session once.
const GREETER: &str = r#"
npcs:
  - name: Bartok the Barkeep
    voice: { provider: flite, voice_id: rms }
    lines:
      - { when: [hello], once: true, weight: 1000000, say: "Welcome to the Tilted Tankard." }
      - say: "Back again?"
"#;

/// The arguments of `ask`, then these.
fn ask<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&["ask", "--json"], arguments].concat()
}

/// A roll of 2d6+3 that was asked for aloud and answered aloud.
#[track_caller]
fn assert_rolled(line: &Value) {
    let heard = text(line, "heard");
    assert!(heard.to_lowercase().starts_with("bartok"), "{line:#}");
    assert_eq!(line["npc"], BARTOK, "{line:#}");
    let call = &line["tools"][0];
    assert_eq!(call["tool"], "dice-roller.roll", "{line:#}");
    assert_eq!(call["arguments"], json!({"expression": "2d6+3"}), "{line:#}");
    assert_eq!(call["ok"], true, "{line:#}");
    let total = call["result"]["total"].as_i64().expect("a total");
    assert!((5..=15).contains(&total), "{line:#}");
    let digits = |c: char| !c.is_ascii_digit();
    let mut numbers = text(line, "reply").split(digits);
    assert!(numbers.any(|number| number == total.to_string()), "{line:#}");
    assert_spoken(line);
}

#[track_caller]
fn assert_spoken(line: &Value) {
    assert_eq!(line["outcome"], "spoken", "{line:#}");
    assert!(line["audio_ms"].as_u64().is_some_and(|ms| ms > 300), "{line:#}");
    assert_ne!(line["reply"], "", "{line:#}");
}

#[track_caller]
fn assert_nobody(line: &Value) {
    assert_eq!((&line["npc"], &line["outcome"]), (&Value::Null, &json!("nobody_addressed")));
    assert_eq!((&line["reply"], &line["audio_ms"]), (&json!(""), &json!(0)), "{line:#}");
}

/// The keys that programs may rely on.
#[track_caller]
fn assert_shape(line: &Value) {
    for key in ["turn", "partials", "audio_ms"] {
        assert!(line[key].is_u64(), "{key}: {line:#}");
    }
    for key in ["speaker", "heard", "reply", "outcome", "stt"] {
        assert!(line[key].is_string(), "{key}: {line:#}");
    }
    for key in ["visible", "tools"] {
        assert!(line[key].is_array(), "{key}: {line:#}");
    }
    for key in ["npc", "tier", "brain", "tts"] {
        assert!(line.get(key).is_some(), "{key}: {line:#}");
    }
    let times = [
        "speech_end_to_final",
        "final_to_first_text",
        "first_text_to_first_audio",
        "speech_end_to_first_audio",
    ];
    for key in times {
        assert!(line["ms"][key].as_f64().is_some_and(|ms| ms >= 0.0), "{key}: {line:#}");
    }
}

#[test]
fn recordings_in_any_format_are_answered_aloud() {
    let ears = Ears::start();
    let place = Place::with_recogniser(&ears.entry());
    place.write("sword.wav", plain_wav(&speech("rms", SWORD)));
    place.write("slt.wav", wav(&speech("slt", ROLL), 22_050, 2, Format::Pcm24));
    place.write("rms.wav", wav(&speech("rms", ROLL), 44_100, 1, Format::Float));
    place.write("awb.wav", wav(&speech("awb", ROLL), 8_000, 1, Format::Pcm16));
    place.write("more.wav", wav(&speech("rms", "what is the news"), 48_000, 2, Format::Pcm32));
    let files = ["sword.wav", "slt.wav", "rms.wav", "awb.wav", "more.wav"];
    let inputs: Vec<&str> = files.iter().flat_map(|file| ["--in", file]).collect();
    let ran = place.run(&[ask(&["--text", SWORD, "--out", "out.wav"]), inputs].concat());
    let lines = ran.ends_with(0).lines();
    assert_eq!(lines.len(), 6, "{lines:#?}");
    lines.iter().for_each(assert_shape);
    lines[..2].iter().for_each(assert_nobody);
    assert_eq!((text(&lines[0], "stt"), text(&lines[1], "stt")), ("typed", "openai"));
    lines[2..5].iter().for_each(assert_rolled);
    assert_eq!(lines[2]["tier"]["reason"], "first turn with this npc");
    assert_eq!(
        lines[3]["tier"],
        json!({"selected": "fast", "effective": "fast", "reason": "default"})
    );
    assert_eq!(
        lines[2]["visible"],
        json!(["last", "odds", "roll", "roll_table", "play_track", "stop_music"])
    );
    assert_eq!((text(&lines[2], "brain"), text(&lines[2], "tts")), ("scripted", "flite"));
    assert_eq!(lines[5]["npc"], BARTOK, "without a name, the talk goes on");
    assert_spoken(&lines[5]);
    let out = read_wav(&place.path("out.wav"));
    assert_eq!((out.rate, out.channels, out.bits), (48_000, 1, 16));
    assert!(out.level() > 0.01, "{}", out.level());
    let spoken: u64 = lines.iter().filter_map(|line| line["audio_ms"].as_u64()).sum();
    assert!(out.seconds() >= spoken as f64 / 1e3 - 0.1, "{} s of {spoken} ms", out.seconds());
    assert_eq!(
        place.names(),
        ["awb.wav", "glyphoxa.yaml", "more.wav", "out.wav", "rms.wav", "slt.wav", "sword.wav"]
    );
}

#[test]
fn one_recording_may_hold_several_utterances() {
    let ears = Ears::start();
    let place = Place::with_recogniser(&ears.entry());
    let both = [speech("rms", ROLL), padded(1.5, &speech("rms", "what is the news"), 0.0)].concat();
    place.write("both.wav", plain_wav(&both));
    let lines = place.run(&ask(&["--in", "both.wav"])).ends_with(0).lines();
    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert_rolled(&lines[0]);
    assert_eq!(lines[1]["npc"], BARTOK);
    assert_spoken(&lines[1]);
}

#[test]
fn every_npc_has_a_voice_of_its_own() {
    // Only their names and voices: the rest of the cast takes long to read.
    let npcs: String = shipped().iter().map(|npc| npc.saying("Aye.")).collect();
    let place = Place::with_config(&format!("npcs:\n{npcs}"));
    let names = ["Bartok", "Mira", "Greymantle", "Hale", "Vesper"];
    let recordings = names.map(|name| {
        let (words, file) =
            (format!("{name}, say good evening to all of you"), format!("{name}.wav"));
        let ran = place.run(&ask(&["--as-dm", "--text", &words, "--out", &file]));
        let lines = ran.ends_with(0).lines();
        assert_eq!(lines[1]["reply"], "good evening to all of you", "{lines:#?}");
        read_wav(&place.path(&file))
    });
    for (index, one) in recordings.iter().enumerate() {
        assert!(one.level() > 0.005, "{}: {}", names[index], one.level());
        assert!(recordings[..index].iter().all(|other| other.samples != one.samples));
    }
    let (bartok, mira) = (recordings[0].pitch(), recordings[1].pitch());
    assert!((60.0..140.0).contains(&bartok) && mira > bartok * 1.3, "{bartok} and {mira} Hz");
}

#[test]
fn two_players_talking_at_once_are_both_answered() {
    let server = DeepgramServer::start("k");
    server.says_each(&[ROLL, ROLL]);
    assert_both_answered(&Place::with_recogniser(&server.entry()));
}

#[test]
fn two_players_talking_are_heard_by_whisper() {
    if let Some(place) = Place::new().with_whisper() {
        assert_both_answered(&place);
    }
}

/// Two players ask for dice almost at the same time.
fn assert_both_answered(place: &Place) {
    place.write("a.wav", plain_wav(&speech("rms", ROLL)));
    place.write("b.wav", plain_wav(&speech("awb", ROLL)));
    let said = ["--speaker", "Anna", "--at", "0", "--in", "a.wav"];
    let also = ["--speaker", "Ben", "--at", "0.4", "--in", "b.wav"];
    let ran = place.run(&ask(&[&["--realtime", "--out", "out.wav"][..], &said, &also].concat()));
    let mut lines = ran.ends_with(0).lines();
    assert_eq!(lines.len(), 2, "{lines:#?}");
    lines.sort_by_key(|line| text(line, "speaker").to_owned());
    assert_eq!((text(&lines[0], "speaker"), text(&lines[1], "speaker")), ("Anna", "Ben"));
    lines.iter().for_each(assert_rolled);
    assert!(lines.iter().all(|line| line["partials"].as_u64() > Some(0)), "{lines:#?}");
    let spoken: u64 = lines.iter().filter_map(|line| line["audio_ms"].as_u64()).sum();
    let out = read_wav(&place.path("out.wav"));
    assert!(out.seconds() > spoken as f64 / 1e3 - 0.1, "one answer after the other");
}

/// Bartok's long answer to Anna, and the other lines, when `who` said `words` 4 s after her question.
fn second_voice(who: &str, words: &str) -> (Value, Vec<Value>) {
    let server = DeepgramServer::start("k");
    server.says(&[words]);
    let place = Place::with_config(&format!("providers:\n{}{TALKATIVE}", server.entry()));
    place.write("voice.wav", plain_wav(&speech("slt", words)));
    let asked = ["--speaker", "Anna", "--at", "0", "--text", "Bartok, what happened here?"];
    let voice = ["--speaker", who, "--at", "4", "--in", "voice.wav"];
    let lines = place.run(&ask(&[asked, voice].concat())).lines();
    let (answers, others): (Vec<Value>, Vec<Value>) =
        lines.into_iter().partition(|line| line["npc"] == BARTOK);
    assert_eq!(answers.len(), 1, "{answers:#?} {others:#?}");
    (answers[0].clone(), others)
}

#[test]
fn stop_word_of_addressed_player_ends_answer() {
    let (answer, others) = second_voice("Anna", "stop");
    assert_eq!(answer["outcome"], "interrupted", "{answer:#}");
    let reply = text(&answer, "reply");
    assert!(reply.starts_with("Sit down") && !reply.contains("lower town"), "{reply}");
    assert!(answer["audio_ms"].as_u64() > Some(0), "{answer:#}");
    assert_eq!(others[0]["outcome"], "stopped", "{others:#?}");
}

#[test]
fn chatter_of_another_player_does_not() {
    let (answer, others) = second_voice("Ben", SWORD);
    assert_eq!(answer["outcome"], "spoken", "{answer:#}");
    assert!(text(&answer, "reply").ends_with("took the lower town with it."));
    assert_eq!((&others[0]["speaker"], others.len()), (&json!("Ben"), 1));
    assert_nobody(&others[0]);
}

#[test]
fn typed_lines_are_answered_until_input_ends() {
    let place = Place::new();
    let ran = place
        .run_typing(&["ask", "--verbose"], "Bartok, roll two d six plus three\n\nroll d twenty\n");
    let shown = ran.ends_with(0).stdout;
    assert_eq!(shown.matches("  tool dice-roller.roll ").count(), 2, "{shown}");
    assert!(shown.contains(r#"{"expression":"2d6+3"}"#), "{shown}");
    assert!(shown.contains("\nBartok the Barkeep: "), "{shown}");
    let place = Place::with_config(TALKATIVE);
    let lines = place.run_typing(&ask(&[]), "hello there\nMira, hello").ends_with(0).lines();
    assert_nobody(&lines[0]);
    assert_eq!(lines[1]["npc"], "Mira Quickfingers");
    assert_spoken(&lines[1]);
}

#[test]
fn last_turn_decides_the_exit_status() {
    let place = Place::with_config(TALKATIVE);
    place.run(&ask(&["--text", "hello there", "--text", "Mira, hello"])).ends_with(0);
    let by_two =
        ["--speaker", "Anna", "--text", "Mira, hello", "--speaker", "Ben", "--text", "hello"];
    let lines = place.run(&ask(&by_two)).ends_with(1).lines();
    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert_nobody(&lines[1]);
}

#[test]
fn kept_sessions_go_on() {
    let place = Place::with_config(GREETER);
    let welcome = "Welcome to the Tilted Tankard";
    for (turn, is_first) in [(1, true), (2, false)] {
        let line = place.run(&ask(&["--session", "one", "--text", "Bartok, hello"])).line();
        assert_spoken(&line);
        assert_eq!(text(&line, "reply").contains(welcome), is_first, "{turn}: {line:#}");
    }
    let kept = std::fs::read_to_string(place.path("data/sessions/one.json")).unwrap();
    let kept: Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept["histories"][BARTOK].as_array().map(Vec::len), Some(4), "{kept:#}");
    let line = place.run(&ask(&["--session", "two", "--text", "Bartok, hello"])).line();
    assert!(text(&line, "reply").contains(welcome), "another session knows nothing of it");
}

#[test]
fn invalid_session_names_are_refused() {
    let place = Place::with_config(GREETER);
    for name in ["../../etc/passwd", "", ".hidden", "a/b", "a b", "é", &"x".repeat(65)] {
        let ran = place.run(&ask(&["--text", "hello", "--session", name])).ends_with(2);
        assert!(ran.message().contains(&format!("'{name}'")), "{ran:#?}");
        assert_eq!(ran.stdout, "");
    }
    place.write("data/sessions/broken.json", "{");
    let ran = place.run(&ask(&["--text", "hello", "--session", "broken"])).ends_with(1);
    assert!(ran.stderr.contains("broken.json' is not a saved session"), "{ran:#?}");
    assert_eq!(std::fs::read_to_string(place.path("data/sessions/broken.json")).unwrap(), "{");
}

#[test]
fn orders_are_the_game_masters_alone() {
    let place = Place::with_config(TALKATIVE);
    let orders = ["--text", "mute Bartok", "--text", "Bartok, hello", "--text", "unmute Bartok"];
    let orders = [&orders[..], &["--text", "Bartok, hello"]].concat();
    let lines = place.run(&ask(&[&["--as-dm"], &orders[..]].concat())).ends_with(0).lines();
    let outcomes: Vec<&str> = lines.iter().map(|line| text(line, "outcome")).collect();
    assert_eq!(outcomes, ["command", "nobody_addressed", "command", "spoken"], "{lines:#?}");
    assert_eq!(lines[0]["detail"], "Bartok the Barkeep is muted");
    let lines = place.run(&ask(&orders[..4])).ends_with(0).lines();
    assert!(
        lines.iter().all(|line| line["outcome"] == "spoken"),
        "players order nobody: {lines:#?}"
    );
    let by_name = ["--speaker", "Anna", "--as-dm", "--text", "mute Bartok"];
    let by_name = [&by_name[..], &["--speaker", "Ben", "--text", "mute Mira"]].concat();
    let lines = place.run(&ask(&by_name)).ends_with(0).lines();
    assert_eq!((text(&lines[0], "outcome"), text(&lines[1], "outcome")), ("command", "spoken"));
}

#[test]
fn tier_and_an_npc_may_be_forced() {
    let place = Place::with_config(TALKATIVE);
    let line = place.run(&ask(&["--tier", "deep", "--npc", "mira", "--text", SWORD])).line();
    assert_eq!(line["npc"], "Mira Quickfingers");
    assert_eq!(
        (&line["tier"]["selected"], &line["tier"]["effective"]),
        (&json!("standard"), &json!("deep"))
    );
    assert_spoken(&line);
    let ran = place.run(&ask(&["--npc", "Nobody", "--text", "hello"])).ends_with(2);
    let known = "npc 'Nobody' (known: Bartok the Barkeep, Mira Quickfingers)";
    assert!(ran.message().contains(known), "{ran:#?}");
    place.run(&ask(&["--tier", "slow", "--text", "hello"])).ends_with(2);
}

#[test]
fn built_in_and_custom_tables_can_be_rolled() {
    let place = Place::new();
    let asked = ["Bartok, wild magic", "Bartok, what did we find?", "Bartok, random encounter"];
    let inputs: Vec<&str> = asked.iter().flat_map(|text| ["--text", text]).collect();
    let lines = place.run(&ask(&inputs)).ends_with(0).lines();
    for (line, table) in lines.iter().zip(["wild_magic", "treasure_hoard", "random_encounter"]) {
        let call = &line["tools"][0];
        assert_eq!((&call["tool"], &call["ok"]), (&json!("dice-roller.roll_table"), &json!(true)));
        assert_eq!(call["result"]["table"], table, "{line:#}");
        assert!(call["result"]["roll"].as_u64() > Some(0), "{line:#}");
        assert!(text(line, "reply").contains(text(&call["result"], "result")), "{line:#}");
    }
    let own = "tools: { tables: { wild_magic: [A goose of our own.] } }\n";
    let npc = "npcs:\n  - name: Pip\n    tools: [roll_table]\n    lines:\n      - say: \"{result.result}\"\n";
    let call =
        "        tool: { name: dice-roller.roll_table, arguments: { table_name: Wild Magic } }\n";
    let place = Place::with_config(&format!("{own}{npc}{call}"));
    let line = place.run(&ask(&["--text", "Pip, magic"])).ends_with(0).line();
    assert_eq!(line["reply"], "A goose of our own.");
}

#[test]
fn people_are_shown_what_happened() {
    let ears = Ears::start();
    let place = Place::with_recogniser(&ears.entry());
    place.write("a.wav", plain_wav(&speech("rms", ROLL)));
    let asked = ["ask", "--verbose", "--text", SWORD, "--in", "a.wav"];
    let ran = place.run(&asked).ends_with(0);
    for part in [
        "Player: I draw my sword and look around\n",
        "  to Bartok the Barkeep, tier standard (first turn with this npc)\n",
        "  tool dice-roller.roll {\"expression\":\"2d6+3\"} -> ",
        "\nBartok the Barkeep: ",
        " s of speech by flite; first sound ",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "{ran:#?}");
}
