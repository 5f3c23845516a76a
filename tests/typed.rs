//! An evening that is typed: who types, what is shown, how it ends.

use serde_json::Value;

use crate::{pages::pip, support::program::Place};

const PIP: &str = "npcs: [{ name: Pip, lines: [{ say: \"So it is, {speaker}.\" }] }]\n";

#[test]
fn bytes_that_are_no_text_do_not_end_the_evening() {
    let place = Place::with_config(PIP);
    let mut live = place.start(&["ask", "--json"]);
    live.types_bytes(b"Pip, gr\xfc\xdf dich\n");
    let line = live.says("\"outcome\"");
    assert!(line.contains("Pip, grüß dich") && line.contains("\"spoken\""), "{line}");
    live.types_bytes(b"Pip, \xff\xfe\x80\r\n");
    live.says("\"spoken\"");
    live.types("Pip, hello");
    live.says("Pip, hello");
    assert_eq!(live.leave(), 0);
}

#[test]
fn typed_lines_are_the_speakers() {
    let place = Place::with_config(PIP);
    let ran =
        place.run_typing(&["ask", "--json", "--speaker", "Wren"], "Pip, hello\n").ends_with(0);
    let line = ran.line();
    assert_eq!((&line["speaker"], &line["reply"]), (&"Wren".into(), &"So it is, Wren.".into()));
}

#[test]
fn typed_words_are_never_corrected() {
    let npcs = "npcs: [{ name: Marta, aliases: [Weiser], lines: [{ say: Indeed. }] }]\n";
    let place = Place::with_config(npcs);
    let said = ["Marta, I am Mara", "Leiser bitte, Marta", "Martha, a beer"];
    let ran = place.run_typing(&["ask", "--json"], &said.join("\n")).ends_with(0);
    let heard: Vec<Value> = ran.lines().iter().map(|line| line["heard"].clone()).collect();
    assert_eq!(heard, said);
}

#[test]
fn players_and_absent_people_get_no_answer() {
    let place = Place::with_config(&format!("campaign: saltmarsh.yaml\n{PIP}"));
    place.write(
        "saltmarsh.yaml",
        "campaign: { name: Saltmarsh }\nplayers: [{ name: Lena, character: Wren }]\n\
         entities: [{ id: thorin, name: Thorin, type: npc, aliases: [the smith] }]\n",
    );
    let typed = [
        "Pip, hello",
        "Lena, what do you think?",
        "Odo, can you see that?",
        "not you, Pip",
        "Smith, can you mend my sword?",
        "lena was meinst du",
        "Pip, where is Lena?",
    ];
    let ran = place.run_typing(&["ask", "--json", "--speaker", "Odo"], &typed.join("\n"));
    let answered: Vec<bool> = ran.lines().iter().map(|line| line["npc"] == "Pip").collect();
    assert_eq!(answered, [true, false, false, false, false, false, true], "{}", ran.stdout);
}

#[test]
fn transcript_is_plain_and_details_need_verbose() {
    let place = Place::new().brief();
    let asked = ["ask", "--text", "Bartok, roll two d six"];
    let play = place.run(&asked).ends_with(0);
    let lines: Vec<&str> = play.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert_eq!(lines[0], "Player: Bartok, roll two d six");
    assert!(lines[1].starts_with("Bartok the Barkeep: "), "{lines:#?}");
    let works = place.run(&[&asked[..], &["--verbose"]].concat()).ends_with(0);
    for part in ["  tool dice-roller.roll {", "tier standard", "s of speech by"] {
        assert!(works.stdout.contains(part), "{part}: {}", works.stdout);
    }
}

#[test]
fn help_is_a_list_and_quit_ends() {
    let place = Place::with_config(PIP);
    let typed = "/help\nPip, hello\nquit\nPip, are you there?\n";
    let ran = place.run_typing(&["ask"], typed).ends_with(0);
    let lines: Vec<&str> = ran.stdout.lines().map(str::trim).collect();
    let has = |start: &str| lines.iter().any(|line| line.starts_with(start));
    assert!(has("/xcard · ") && has("/say TEXT [npc:NAME] · "), "{lines:#?}");
    assert!(
        !ran.stdout.contains("/npc mute") && !ran.stdout.contains("are you there"),
        "{lines:#?}"
    );
    assert_eq!(lines.last(), Some(&"Pip: So it is, Player."), "{lines:#?}");
    place.run_typing(&["ask"], "quit\n").ends_with(0);
}

#[test]
fn failed_voice_shows_the_unspoken_reply() {
    let place = Place::with_config(
        "npcs: [{ name: Pip, voice: { provider: espeak, voice_id: xx-none }, \
         lines: [{ say: \"The key is under the mat. The dog is not.\" }] }]\n",
    );
    let ran = place.run(&["ask", "--text", "Pip, where is the key?"]).ends_with(1);
    assert!(ran.stdout.contains("the voice failed"), "{ran:#?}");
    let shown = "Pip (not heard): The key is under the mat.";
    assert!(ran.stdout.contains(shown), "{}", ran.stdout);
    let line = place.run(&["ask", "--json", "--text", "Pip, the key?"]).ends_with(1).line();
    let unspoken = line["unspoken"].as_str().unwrap_or_default();
    assert!(unspoken.starts_with("The key is under the mat.") && line["reply"] == "", "{line:#}");
}

#[test]
fn voice_that_really_spoke_is_named() {
    let place = Place::with_config(
        "npcs: [{ name: Pip, voice: { provider: espeak, voice_id: xx-none, fallback: { provider: flite, \
         voice_id: slt } }, lines: [{ say: Hello. }] }]\n",
    );
    let ran = place.run(&["ask", "--verbose", "--text", "Pip, hello"]).ends_with(0);
    assert!(ran.stdout.contains("s of speech by flite; "), "{}", ran.stdout);
    let line = place.run(&["ask", "--json", "--text", "Pip, hello"]).ends_with(0).line();
    assert_eq!((&line["tts"], &line["made_by"]["spoke"]), (&"flite".into(), &"flite".into()));
}

#[test]
fn check_finds_lines_with_too_many_sentences() {
    let long = "One is here. Two is here. Three is here.";
    // It may be said in two parts and is one sentence all the same.
    let clauses =
        "Of all the inns that I have ever kept along the whole river, this one is mine. Come in.";
    let place = Place::with_config(&format!(
        "npcs:\n  - name: Pip\n    max_sentences: 2\n    lines:\n      - say:\n          - One. Two is here.\n          - {long}\n          - \"{clauses}\"\n"
    ));
    let ran = place.run(&["check"]).ends_with(0);
    let warnings: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(warnings.len(), 1, "{warnings:#?}");
    assert!(
        warnings[0]
            .contains("glyphoxa.yaml:7:13: a line of 'Pip' has 3 sentences and stops after 2")
    );
    let said = place.run(&["ask", "--text", "Pip, tell me"]).ends_with(0);
    assert!(!said.stdout.contains("Three"), "it is as the warning says: {said:#?}");
    let shipped = Place::new().run(&["check"]).ends_with(0);
    assert_eq!(shipped.stderr, "", "{shipped:#?}");
}

#[test]
fn muted_or_paused_table_shows_the_way_out() {
    let place = Place::with_config(PIP);
    let typed =
        "/npc mute Pip\nPip, hello\n/npc unmute Pip\n/pause\nPip, hello\n/resume\nPip, hello\n";
    let ran = place.run_typing(&["ask", "--as-dm"], typed).ends_with(0);
    for way_out in ["the npc is muted (the game master says \"unmute\"", "is paused (use /resume"] {
        assert!(ran.stdout.contains(way_out), "{way_out}: {}", ran.stdout);
    }
    assert!(ran.stdout.contains("Pip: So it is"), "{}", ran.stdout);
}

#[test]
fn replies_are_written_as_wav_and_nothing_else() {
    let place = Place::with_config(PIP);
    let ran = place.run(&["ask", "--text", "Pip, hello", "--out", "x.mp3"]).ends_with(2);
    let message = ran.message();
    assert!(message.contains("'x.mp3'") && message.contains("WAV") && message.contains("'x.wav'"));
    assert_eq!(place.names(), ["glyphoxa.yaml"]);
}

#[test]
fn check_finds_missing_tools_and_programs() {
    let place = Place::with_config(
        "npcs: [{ name: Pip, tools: [weather.get], lines: [{ say: hi }] }]\n\
         mcp: { servers: [{ name: home, command: no-such-program --fast }] }\n",
    );
    let ran = place.run(&["check"]).ends_with(2);
    assert!(ran.stderr.contains("glyphoxa.yaml:1:29: unknown tool 'weather.get'"), "{ran:#?}");
    let missing = "glyphoxa.yaml:2:41: program 'no-such-program' not found (install it";
    assert!(ran.stderr.contains(missing), "{ran:#?}");
    place.write("conf/run.sh", "#!/bin/sh\n");
    let script = place.path("conf/run.sh");
    std::fs::set_permissions(script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let config = format!("{PIP}mcp: {{ servers: [{{ name: home, command: ./run.sh }}] }}\n");
    place.write("conf/glyphoxa.yaml", config);
    let ran = place.run(&["check", "--config", "conf/glyphoxa.yaml"]).ends_with(0);
    assert_eq!(ran.stderr, "", "a relative one begins at its file's folder");
}

#[test]
fn memory_entity_shows_known_cast_details() {
    let place = Place::new();
    let ran = place.run(&["memory", "entity", "bartok"]).ends_with(0);
    for part in ["Bartok the Barkeep", "gruff man of fifty", "secret: Tamsin Pell", "barkeep"] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    place.run(&["memory", "entity", "nobody"]).ends_with(1);
}

#[test]
fn import_into_another_campaign_asks() {
    let place = Place::with_config(PIP);
    place.write("s.yaml", "campaign: { name: Saltmarsh }\nentities: [{ name: Ned, type: npc }]\n");
    let is_there = || place.run(&["memory", "entity", "Ned"]).status == 0;
    let mut live = place.start_at_terminal(&["import", "s.yaml"]);
    live.says("s.yaml belongs to 'Saltmarsh', but 'default' is configured: import it there?");
    live.types("n");
    live.says("nothing was imported");
    assert_eq!((live.leave(), is_there()), (1, false));
    let mut live = place.start_at_terminal(&["import", "s.yaml"]);
    live.says("import it there?");
    live.types("y");
    live.says("1 added");
    assert_eq!((live.leave(), is_there()), (0, true));
}

#[test]
fn npc_that_a_player_turns_to_answers_alone() {
    let place = Place::new().brief();
    let asked = |options: &[&'static str], texts: &mut dyn Iterator<Item = &'static str>| {
        let texts = texts.flat_map(|text| ["--text", text]);
        place.run(&[&["ask"][..], options, &texts.collect::<Vec<_>>()].concat())
    };
    let turns = [
        ("I ask the barkeep for a drink", "Bartok the Barkeep"),
        ("I talk to Bartok", "Bartok the Barkeep"),
        ("I turn to the captain", "Captain Hale"),
        ("Ich frage den Wirt nach einem Bier", "Bartok the Barkeep"),
        ("Ich wende mich an den Hauptmann", "Captain Hale"),
    ];
    let lines = asked(&["--json"], &mut turns.iter().map(|it| it.0)).ends_with(0).lines();
    assert_eq!(lines.len(), turns.len());
    for (line, (said, npc)) in lines.iter().zip(turns) {
        assert_eq!(line["npc"], npc, "{said}: {line:#}");
    }
    let asides = [
        ("I whisper to Lucan that he lies", "said to another player"),
        ("(out of character) can we take a break, Bartok", "said out of character"),
        ("OOC: who is Bartok again", "said out of character"),
        ("I tell the others to wait", "said to the people at the table"),
        ("yesterday I asked the barkeep", "mentioned, not addressed"),
        ("I don't talk to Bartok", "mentioned, not addressed"),
    ];
    let texts = || asides.iter().map(|it| it.0);
    // They are talking to him already.
    let hello = &mut std::iter::once("Bartok, hello").chain(texts());
    let lines = asked(&["--json"], hello).ends_with(0).lines();
    assert_eq!(lines.len(), asides.len() + 1);
    for (line, (said, why)) in lines[1..].iter().zip(asides) {
        if why == "mentioned, not addressed" {
            assert_eq!(line["npc"], "Bartok the Barkeep", "{said}");
        } else {
            assert_eq!(line["outcome"], "nobody_addressed", "{said}");
            assert_eq!(line["detail"], why, "{said}: {line:#}");
        }
    }
    let ran = asked(&["--verbose"], &mut texts()).ends_with(1);
    let shown: Vec<&str> = ran.stdout.split("Player: ").skip(1).collect();
    assert_eq!(shown.len(), asides.len(), "{}", ran.stdout);
    for (shown, (said, why)) in shown.iter().zip(asides) {
        assert!(shown.starts_with(said) && shown.contains(why), "{said}: {}", ran.stdout);
    }
}

#[test]
fn dice_roll_when_asked_and_are_recalled_later() {
    let place = Place::new().brief();
    let typed = [
        "Bartok, what did I just roll?",
        "Bartok, 3d6 for damage and 1d20 for initiative",
        "Bartok, what did I just roll?",
        "Bartok, what are the odds of 10 or more on 2d6+3?",
        "Bartok, what are my odds?",
        "Bartok, don't roll 2d6",
    ];
    let ran = place.run_typing(&["ask", "--json", "--speaker", "Wren"], &typed.join("\n"));
    let turns = ran.ends_with(0).lines();
    let reply = |at: usize| turns[at]["reply"].as_str().unwrap().to_owned();
    let called = |at: usize| -> Vec<String> {
        let tools = turns[at]["tools"].as_array().unwrap().iter();
        tools.map(|it| it["tool"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(reply(0), "You? You have not thrown a thing at my counter today.");
    assert_eq!(called(1), ["dice-roller.roll"], "{:#}", turns[1]);
    let rolled = &turns[1]["tools"][0]["result"];
    let totals = |result: &serde_json::Value| result["totals"].as_array().map(Vec::len);
    assert_eq!(totals(rolled), Some(2), "{:#}", turns[1]);
    assert_eq!(called(2), ["dice-roller.last"], "{:#}", turns[2]);
    assert_eq!(&turns[2]["tools"][0]["result"], rolled, "nothing is rolled again");
    assert!(reply(3).contains("fifty-eight") || reply(3).contains("58"), "{}", reply(3));
    assert_eq!(called(3), ["dice-roller.odds"]);
    assert!(reply(4).starts_with("Odds of what"), "{}", reply(4));
    assert!(called(5).is_empty() && reply(5).contains("stay in the cup"), "{:#}", turns[5]);
}

#[test]
fn readme_npc_rolls_what_is_asked_for() {
    let place = Place::with_config("npc_dir: npcs\n").brief();
    place.write("npcs/pip.yaml", pip());
    let typed = [
        "Pip, throw the dice",
        "Pip, roll 2d6 for damage and 1d20 for initiative",
        "Pip, roll perception with advantage plus four",
        "Pip, roll the same again",
        "Pip, what was my roll before that?",
        "Pip, don't throw the dice",
        "Pip, throw the dice",
        "my bonus is plus seven",
        "do that one again please",
        "what did I just get there?",
        "Pip, hello",
        "plus two",
        "one more of those",
    ];
    let ran = place.run_typing(&["ask", "--json", "--speaker", "Wren"], &typed.join("\n"));
    let turns = ran.ends_with(0).lines();
    let rolled: Vec<&str> = turns
        .iter()
        .map(|turn| turn["tools"][0]["result"]["expression"].as_str().unwrap_or("-"))
        .collect();
    let lots = ["1d20", "2d6; 1d20", "2d20kh1+4", "2d20kh1+4"];
    let told = ["1d20", "1d20+7", "1d20+7", "-", "-", "-", "-"];
    assert_eq!(rolled, [&lots[..], &["-", "-"], &told[..]].concat());
    let [thrown, told] = [6, 7].map(|turn: usize| &turns[turn]["tools"][0]["result"]);
    assert_eq!(thrown["rolls"], told["rolls"], "nothing is thrown for a bonus");
    let told = turns[1]["reply"].as_str().unwrap();
    let totals = turns[1]["tools"][0]["result"]["totals"].as_array().unwrap();
    assert!(told.starts_with("My turn!") && totals.len() == 2, "{told}");
}

#[test]
fn npc_is_called_by_its_profession_too() {
    let npc = |name: &str, profession: &str| {
        format!("  - {{ name: {name}, profession: {profession}, lines: [{{ say: Yes. }}] }}\n")
    };
    let cast = [
        npc("Odo", "barkeep"),
        npc("Ulla", "the smith"),
        npc("Kuno", "guard"),
        npc("Jorg", "guard"),
        npc("Hanne", "die Wirtin"),
    ];
    let place = Place::with_config(&format!("npcs:\n{}", cast.concat()));
    place.run(&["check"]).ends_with(0);
    for (said, npc) in [
        ("I ask the barkeep for a drink", "Odo"),
        ("Barkeep, a drink!", "Odo"),
        ("I turn to the smith", "Ulla"),
        ("Ich frage die Wirtin nach einem Bier", "Hanne"),
        ("Kuno, hello", "Kuno"),
    ] {
        let line = place.run(&["ask", "--json", "--text", said]).ends_with(0).line();
        assert_eq!(line["npc"], npc, "{said}: {line:#}");
    }
    // Two NPCs have this name: neither is meant.
    for said in ["I ask the guard for the way", "I talk about the barkeep's beer"] {
        let line = place.run(&["ask", "--json", "--text", said]).line();
        assert_eq!(line["npc"], Value::Null, "{said}: {line:#}");
    }
    let wrong = Place::with_config("npcs: [{ name: Odo, profession: [], lines: [{ say: Yes. }] }]");
    let report = wrong.run(&["check"]).ends_with(2).stderr;
    assert!(report.contains("glyphoxa.yaml:1:"), "{report}");
}

/// Asked again and again, in its first turn and in later ones.
#[test]
fn promise_questions_are_always_answered() {
    let place = Place::new().brief();
    let mut live = place.start(&["ask", "--json", "--session", "evening"]);
    live.asked("Greymantle, I promise you a new lamp");
    for _ in 0..3 {
        let line = live.asked("Greymantle, what did I promise you?");
        let reply = line["reply"].as_str().unwrap();
        assert!(reply.contains("I promise you a new lamp"), "{line:#}");
        assert_eq!(line["tools"][0]["tool"], "memory.search_sessions", "{line:#}");
        assert_eq!(line["tier"]["effective"], "standard", "{line:#}");
    }
    assert_eq!(live.leave(), 0);
    // An NPC with quick turns only has no time for it, and says so.
    let place = Place::with_config(
        "npcs:\n  - name: Pip\n    tools: [memory.search_sessions]\n    lines:\n      - when: [promise]\n        \
         tool: { name: memory.search_sessions, arguments: { query: \"{utterance}\" } }\n        say: \
         \"{result.results.0.text}\"\n        else: \"I have no time to look.\"\n      - say: Hm.\n",
    );
    let mut arguments = vec!["ask", "--json", "--session", "evening", "--text", "Pip, hello"];
    arguments.extend(["--text", "Pip, what did I promise you?"].repeat(3));
    let ran = place.run(&arguments).ends_with(0);
    for line in &ran.lines()[1..] {
        assert_eq!(line["reply"], "I have no time to look.", "{line:#}");
        assert_eq!(
            (&line["outcome"], &line["tier"]["effective"]),
            (&"spoken".into(), &"fast".into())
        );
    }
    let logged = "a line's tool is not offered in this turn npc=\"Pip\" missing={\"memory.search_sessions\"}";
    assert_eq!(ran.stderr.matches(logged).count(), 3, "{}", ran.stderr);
}
