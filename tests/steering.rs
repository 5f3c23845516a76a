//! Slash commands: the game master steers the table through the real program.

use serde_json::{Value, json};

use crate::support::{
    ears::Ears,
    program::{Place, Ran},
    speech::{plain_wav, speech},
};

const CAST: &str = r#"
npcs:
  - name: Bartok the Barkeep
    aliases: [Bartok]
    voice: { provider: flite, voice_id: rms }
    lines: [{ say: "Sit down, {speaker}." }]
  - name: Mira Quickfingers
    aliases: [Mira]
    voice: { provider: flite, voice_id: slt }
    lines: [{ say: "What is it to you?" }]
campaign: world.yaml
"#;
const WORLD: &str = r#"
campaign: { name: Ravenford }
scenes:
  - { name: The Tilted Tankard, npcs: [Bartok, Mira] }
  - { name: Old Mill, npcs: [Mira] }
"#;

/// The game master types these lines.
fn typed(lines: &[&str]) -> Ran {
    table().run_typing(&["ask", "--json", "--as-dm"], &lines.join("\n"))
}

fn table() -> Place {
    let place = Place::with_config(CAST).brief();
    place.write("world.yaml", WORLD);
    place
}

/// The turns and the status objects of a run.
#[track_caller]
fn parted(ran: Ran) -> (Vec<Value>, Vec<Value>) {
    let lines = ran.ends_with(0).lines();
    let (statuses, turns): (Vec<_>, Vec<_>) =
        lines.into_iter().partition(|line| line.get("status").is_some());
    (turns, statuses.into_iter().map(|mut line| line["status"].take()).collect())
}

fn npcs(turns: &[Value]) -> Vec<&str> {
    turns.iter().map(|turn| turn["npc"].as_str().unwrap_or("nobody")).collect()
}

#[test]
fn mute_pause_and_x_card_hold_until_revoked() {
    let (turns, statuses) = parted(typed(&[
        "/npc mute Mira",
        "Mira, hello",
        "/npc unmute Mira",
        "Mira, hello",
        "/pause",
        "Mira, hello",
        "/session status",
        "/resume",
        "Mira, hello",
        "/xcard",
        "Bartok, hello",
        "/session status",
        "/npc unmuteall",
        "X-card!",
        "/npc unmuteall",
        "Bartok, hello",
        "/skip",
    ]));
    let mira = "Mira Quickfingers";
    let bartok = "Bartok the Barkeep";
    assert_eq!(npcs(&turns), ["nobody", mira, "nobody", mira, "nobody", "nobody", bartok]);
    let paused = turns[2]["detail"].as_str().expect("the way out");
    assert!(paused.contains("paused") && paused.contains("/resume"), "{paused}");
    assert_eq!(
        (&turns[5]["speaker"], &turns[5]["outcome"]),
        (&json!("somebody"), &json!("stopped"))
    );
    assert_eq!((&statuses[0]["state"], &statuses[0]["utterances"]), (&json!("paused"), &json!(3)));
    let muted: Vec<_> = statuses[1]["seats"].as_array().unwrap().iter().collect();
    assert!(muted.iter().all(|seat| seat["muted"] == true), "{muted:#?}");
}

#[test]
fn why_shows_what_an_answer_was_made_from() {
    let ran = typed(&["Bartok, hello", "/why", "/why 7", "Mira, hello", "/why 1"]).ends_with(0);
    assert!(ran.stderr.contains("line 7 has no explanation"), "{ran:#?}");
    let lines = ran.lines();
    let whys: Vec<_> = lines.iter().filter_map(|line| line.get("why")).collect();
    let [last, first] = whys.as_slice() else { panic!("{lines:#?}") };
    assert_eq!(last, first, "it is found by its number");
    assert_eq!((&last["turn"], &last["npc"]), (&json!(1), &json!("Bartok the Barkeep")));
    let parts = last["parts"].as_array().expect("parts of the prompt");
    let own = parts.iter().find(|part| part["name"] == "This turn").expect("the turn's message");
    assert!(own["text"].as_str().is_some_and(|it| it.ends_with("hello")), "{own:#}");
    let shown = table().run_typing(&["ask", "--as-dm"], "Bartok, hello\n/why").ends_with(0).stdout;
    assert!(shown.contains("line 1, Bartok the Barkeep") && shown.contains("  Role:"), "{shown}");
    let refused = table().run_typing(&["ask"], "Bartok, hello\n/why").stderr;
    assert!(refused.contains("only the game master may /why"), "{refused}");
}

#[test]
fn x_card_is_heard_aloud_from_anybody() {
    let (place, ears) = (table(), Ears::start());
    place.write("glyphoxa.yaml", format!("providers:\n{}{CAST}", ears.entry()));
    assert_x_card_is_heard(&place);
}

#[test]
fn x_card_is_heard_aloud_by_whisper() {
    if let Some(place) = table().with_whisper() {
        assert_x_card_is_heard(&place);
    }
}

/// A player says it aloud, and everyone is muted.
#[track_caller]
fn assert_x_card_is_heard(place: &Place) {
    place.write("card.wav", plain_wav(&speech("rms", "x card")));
    let said = ["--in", "card.wav", "--text", "Mira, hello"];
    let turns = place.run(&[&["ask", "--json"], &said[..]].concat()).ends_with(1).lines();
    assert_eq!(
        (&turns[0]["outcome"], &turns[0]["speaker"]),
        (&json!("stopped"), &json!("somebody"))
    );
    let muted = "an X-card has muted everyone (\"everyone continue\" or /resume unmutes them)";
    assert_eq!(turns[1]["detail"], muted, "{turns:#?}");
}

#[test]
fn tiers_pins_and_words_reach_the_named_npc() {
    let (turns, statuses) = parted(typed(&[
        "/tier set deep Bartok 10",
        "/npc pin Mira",
        "what is the news",
        "Bartok, hello",
        "/tier clear",
        "Bartok, and the weather",
        "/npc speak Mira: Not a word, friends.",
        "/say Mira, hello npc:Bartok",
        "/session status",
        "/npc unpin",
    ]));
    let effective: Vec<_> = turns.iter().map(|turn| &turn["tier"]["effective"]).collect();
    assert_eq!(effective, ["fast", "deep", "fast", "fast", "fast"]);
    let (mira, bartok) = ("Mira Quickfingers", "Bartok the Barkeep");
    assert_eq!(npcs(&turns), [mira, bartok, bartok, mira, bartok]);
    assert_eq!(turns[3]["reply"], "Not a word, friends.");
    let seats = &statuses[0]["seats"];
    assert_eq!(
        (&seats[0]["override"], &seats[1]["pinned_by"]),
        (&Value::Null, &json!(["everyone"]))
    );
    assert_eq!(seats[0]["last_selection"]["effective"], "fast");
    assert_eq!(statuses[0]["answered"], 4, "the game master's own words answer nobody");
}

#[test]
fn scene_brings_npcs_and_players_get_characters() {
    let (turns, statuses) = parted(typed(&[
        "/scene set old mill, dusk",
        "Bartok, hello",
        "/session status",
        "/scene set the river",
        "/scene enter Bartok",
        "/scene leave Mira",
        "/character set Balin the Wise",
        "Bartok, hello",
        "/session status",
        "/npc direct Mira 2: be afraid",
        "/session status",
    ]));
    assert_eq!(npcs(&turns), ["nobody", "Bartok the Barkeep"]);
    assert_eq!(turns[1]["reply"], "Sit down, Balin the Wise.");
    let scene = |place: &str, here: &str| json!({"location": place, "time_of_day": "dusk", "present": [here]});
    assert_eq!(statuses[0]["scene"], scene("Old Mill", "Mira Quickfingers"));
    assert_eq!(statuses[1]["scene"], scene("the river", "Bartok the Barkeep"));
    assert_eq!(statuses[2]["seats"][1]["note_turns_left"], 2);
}

#[test]
fn requested_npc_is_added_to_scene() {
    let place = table();
    let alone = WORLD.replace("npcs: [Bartok, Mira]", "npcs: [Bartok]");
    place.write("world.yaml", alone);
    let asked = place.run(&["ask", "--json", "--npc", "Mira", "--text", "hello"]).ends_with(0);
    assert_eq!(asked.line()["npc"], "Mira Quickfingers");
    assert!(asked.stderr.contains("Mira Quickfingers was not in the scene"), "{}", asked.stderr);
    let asked = place.run(&["ask", "--npc", "Bartok", "--text", "hello"]).ends_with(0);
    assert_eq!(asked.stderr, "");
}

#[test]
fn opted_out_speakers_are_ignored() {
    let ran = typed(&[
        "/privacy optout",
        "Mira, hello",
        "/say Mira, hello",
        "/privacy optin",
        "Mira, hello",
        "/leave",
        "Mira, again",
    ]);
    assert!(ran.stderr.contains("/privacy optin"), "{ran:#?}");
    let (turns, _) = parted(ran);
    assert_eq!(npcs(&turns), ["Mira Quickfingers", "Mira Quickfingers"]);
}

#[test]
fn players_may_stop_everything_and_steer_nothing() {
    let lines = "/npc mute Mira\nMira, hello\n/session status\n/nonsense\n/xcard\nMira, hello";
    let ran = table().run_typing(&["ask"], lines).ends_with(0);
    let err = &ran.stderr;
    assert!(err.contains("only the game master may /npc mute (start with --as-dm)"), "{err}");
    assert!(err.contains("unknown command '/nonsense' (/help lists the commands)"), "{err}");
    assert!(err.contains("stopped: everyone is muted"), "{err}");
    assert_eq!(ran.stdout.matches("Mira Quickfingers: What is it to you?").count(), 1, "{ran:#?}");
    assert!(err.contains("only the game master may /session status"), "{err}");
    assert!(
        ran.stdout.contains(
            "no NPC answers: an X-card has muted everyone (\"everyone continue\" or /resume"
        ),
        "{ran:#?}"
    );
}

#[test]
fn players_roll_dice_and_recap_their_evening() {
    let place = table();
    let typed = "Mira, the silver key is under the mill\n/roll 2d6+3\n/roll two d six\n/session recap\n\
                 /say Bartok good evening to you";
    let ran = place.run_typing(&["ask", "--session", "friday"], typed).ends_with(0);
    let shown = &ran.stdout;
    for part in ["2d6", "Player to Mira Quickfingers: “Mira, the silver key is under the mill”"]
    {
        assert!(shown.contains(part), "{part}: {ran:#?}");
    }
    assert!(shown.contains("Bartok the Barkeep: Sit down, Player."), "{ran:#?}");
    assert_eq!(ran.stderr.matches("unknown command").count(), 0, "{ran:#?}");
    let ran = place.run(&["ask", "--text", "/session recap"]).ends_with(1);
    assert!(ran.stderr.contains("(start it with --session NAME)"), "{}", ran.stderr);
    place.run(&["ask", "--text", "/roll 2x6"]).ends_with(1);
    place.run(&["ask", "--text", "/session recap dm"]).ends_with(1);
}

#[test]
fn texts_with_a_slash_are_commands() {
    let place = table();
    let texts = |texts: &[&'static str]| {
        let texts: Vec<&str> = texts.iter().flat_map(|text| ["--text", *text]).collect();
        place.run(&[&["ask", "--json"][..], &texts].concat())
    };
    let ran = texts(&["/xcard", "Mira, hello", "/resume", "Mira, hello"]).ends_with(0);
    let lines = ran.lines();
    assert_eq!(npcs(&lines), ["nobody", "Mira Quickfingers"], "{lines:#?}");
    texts(&["Mira, hello", "/character set Balin"]).ends_with(0);
    let ran = texts(&["Mira, hello", "/npc mute Mira"]).ends_with(1);
    assert!(ran.stderr.contains("only the game master may /npc mute"), "{}", ran.stderr);
    let ran = texts(&["/privacy optout", "Mira, hello"]).ends_with(1);
    assert!(ran.stdout.is_empty() && ran.stderr.contains("/privacy optin"), "{ran:#?}");
    // An X-card counts, though they are not heard.
    texts(&["/privacy optout", "I can't go on. X card!"]).ends_with(0);
    let by_name = ["ask", "--json", "--speaker", "Max", "--as-dm", "--text", "/npc mute Mira"];
    let others = ["--speaker", "Anna", "--text", "Mira, hello", "--text", "/npc unmute Mira"];
    let ran = place.run(&[&by_name[..], &others].concat()).ends_with(1);
    assert_eq!(npcs(&ran.lines()), ["nobody"], "{ran:#?}");
}

#[test]
fn world_of_the_campaign_is_changed_by_commands() {
    let place = table();
    place.write(
        "places.yaml",
        "entities:\n  - { name: Saltmarsh, type: location, description: A town. }\n",
    );
    place.write("city.yaml", "campaign: { name: The Sunken City }\n");
    let typed = [
        "/entity add Old Mill, A ruin by the river, the mill location",
        "/entity show the mill",
        "/entity remove Old Mill",
        "/entity remove Old Mill confirm",
        "/entity list location",
        "/entity import places.yaml",
        "/entity list location",
        "/entity import nowhere.yaml",
        "/campaign info",
        "/campaign load city.yaml",
        "/campaign switch The Sunken City",
    ];
    let ran = place.run_typing(&["ask", "--as-dm"], &typed.join("\n")).ends_with(0);
    for part in [
        "  Added Old Mill.",
        "  also the mill\n  A ruin by the river\n",
        "  Remove Old Mill (location) and its relations?\n  /entity remove Old Mill confirm does it\n",
        "  Removed Old Mill.\n  No entities yet",
        "1 entities and 0 relations in 'places.yaml'",
        "  Saltmarsh · location\n",
        "  Ravenford is played here: ",
        "  The Sunken City is stored as a campaign of its own: ",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {ran:#?}");
    }
    for part in ["cannot read 'nowhere.yaml': ", "the configuration says which campaign"] {
        assert!(ran.stderr.contains(part), "{part}: {ran:#?}");
    }
    let ran = place.run(&["ask", "--text", "/entity list"]).ends_with(1);
    assert!(ran.stderr.contains("only the game master may /entity list"), "{}", ran.stderr);
}

/// Export and deletion cover a player's own lines in a saved session, and leave those of others.
#[test]
fn own_words_are_exported_and_deleted() {
    let place = table();
    let texts = |speaker: &'static str, texts: &[&'static str]| {
        let texts = texts.iter().flat_map(|text| ["--text", *text]);
        let all = ["ask", "--session", "friday", "--speaker", speaker].into_iter().chain(texts);
        place.run(&all.collect::<Vec<_>>()).ends_with(0)
    };
    let exported = |name: &str| std::fs::read_to_string(place.path(name)).unwrap();
    texts("Anna", &["Mira, the silver key is under the mill"]);
    texts("Ben", &["Mira, the bell is cracked"]);
    let ran = texts("Anna", &["/privacy info", "/privacy export", "/privacy delete"]);
    for part in [
        "  I hear what you type",
        "  written to 'what-you-said.txt'",
        "every line that you have said",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {ran:#?}");
    }
    assert!(ran.stdout.ends_with("  /privacy delete confirm does it\n"), "{ran:#?}");
    let said = exported("what-you-said.txt");
    assert!(said.contains("silver key") && !said.contains("bell"), "{said}");
    let ran = texts("Anna", &["/privacy delete confirm", "/privacy export"]);
    assert!(ran.stdout.contains("  Deleted: 1 line, the answers"), "{ran:#?}");
    let left = exported("what-you-said-2.txt");
    assert!(left.ends_with("\nNothing.\n") && !left.contains("silver key"), "{left}");
    assert_eq!(exported("what-you-said.txt"), said, "no file is replaced");
    let kept = exported("data/sessions/friday.json");
    assert!(kept.contains("cracked") && !kept.contains("silver key"), "{kept}");
    let shown = place.run(&["session", "show", "friday"]).ends_with(0).stdout;
    assert!(shown.contains("cracked") && !shown.contains("silver key"), "{shown}");
}

/// A player who is alone can end an X-card, also in a saved session that is opened again, and gives no other
/// orders of the game master.
#[test]
fn x_card_of_somebody_alone_can_be_ended() {
    let table = table();
    let typed = [
        "/xcard",
        "Mira, hello",
        "/npc unmuteall",
        "everyone continue",
        "Mira, hello",
        "X-card",
        "/resume",
        "Bartok, hello",
        "x card",
    ];
    let evening = ["ask", "--session", "friday"];
    let ran = table.run_typing(&[&evening[..], &["--json"]].concat(), &typed.join("\n"));
    let refused =
        "only the game master may /npc unmuteall (start with --as-dm; /resume ends an X-card)";
    assert!(ran.stderr.contains(refused), "{}", ran.stderr);
    let (mira, bartok) = ("Mira Quickfingers", "Bartok the Barkeep");
    let (turns, _) = parted(ran);
    assert_eq!(npcs(&turns), ["nobody", "nobody", mira, "nobody", bartok, "nobody"]);
    assert!(turns[0]["detail"].as_str().unwrap().contains("/resume"), "{:#}", turns[0]);
    assert_eq!(turns[1]["outcome"], "command", "{:#}", turns[1]);

    let mut live = table.start_at_terminal(&evening);
    live.says("'friday' ended with an X-card: may everyone speak again?");
    live.types("no");
    live.says("still muted (by an X-card: \"everyone continue\" or /resume unmutes them)");
    live.types("quit");
    live.leave();
    let mut live = table.start_at_terminal(&evening);
    live.says("may everyone speak again?");
    live.types("yes");
    live.types("Mira, hello");
    live.says("Mira Quickfingers: What is it to you?");
    live.types("quit");
    live.leave();
}

#[test]
fn status_commands_show_current_settings() {
    let lines = "/tier set standard 1\n/npc direct Mira: hush\n/npc mute Bartok\n/npc pin Mira\n/tier show\n\
                 /scene show\n/session status";
    let shown = table().run_typing(&["ask", "--as-dm"], lines).ends_with(0).stdout;
    for text in [
        "  Mira Quickfingers · up to fast · set to standard, ",
        "  The Tilted Tankard\n  Here: Bartok the Barkeep, Mira Quickfingers",
        "  scene: The Tilted Tankard; present: Bartok the Barkeep, Mira Quickfingers",
        "listening; 0 utterances: 0 answered, 0 needed no answer, 0 failed",
        "; scripted and flite; muted",
        "; hears everyone; has a note",
    ] {
        assert!(shown.contains(text), "{text}:\n{shown}");
    }
    assert!(!shown.contains("hush"), "{shown}");
}

#[test]
fn assistant_looks_rules_up_in_writing() {
    let place = table();
    let ask = ["ask", "--json", "--assistant", "--text", "how does grappling work?"];
    let answer = place.run(&ask).ends_with(0).line();
    assert_eq!(answer["assistant"], "Assistant", "{answer:#}");
    let text = answer["text"].as_str().unwrap();
    assert!(text.starts_with("I am scripted") && text.to_lowercase().contains("grappl"), "{text}");
    assert_eq!(answer["tools"][0]["tool"], "rules-lookup.search_rules", "{answer:#}");
    let nothing = ["ask", "--json", "--assistant", "--text", "xyzzy"];
    let nothing = place.run(&nothing).ends_with(0).line();
    assert!(nothing["text"].as_str().unwrap().contains("found nothing"), "{nothing:#}");
    let shown = place.run_typing(&["ask", "--as-dm"], "/ask what is prone?\nBartok, hello");
    let shown = shown.ends_with(0).stdout;
    assert!(shown.starts_with("Assistant: I am scripted") && !shown.contains("tool "), "{shown}");
    let refused = place.run_typing(&["ask"], "/ask what is prone?").ends_with(0);
    assert!(refused.stderr.contains("only the game master may /ask"), "{refused:#?}");
    place.run(&["ask", "--assistant"]).ends_with(2);
}

#[test]
fn assistant_of_ones_own_is_no_npc() {
    let own = "
  - name: Clerk
    kind: assistant
    tools: [dice-roller.roll]
    lines: [{ when: roll, say: 'It is {result.total}.', tool: { name: dice-roller.roll, arguments: { expression: '{dice}' } } }]
campaign";
    let place = table();
    place.write("glyphoxa.yaml", CAST.replace("\ncampaign", own));
    let checked = place.run(&["check"]).ends_with(0);
    assert!(
        checked.stdout.contains("2 NPCs (Bartok the Barkeep, Mira Quickfingers)"),
        "{checked:#?}"
    );
    assert_eq!(checked.stderr, "", "an assistant needs no voice and no lines");
    let asked = ["roll 2d6", "how does grappling work?"];
    let asked = ["ask", "--json", "--assistant", "--text", asked[0], "--text", asked[1]];
    let answers = place.run(&asked).ends_with(0).lines();
    assert!(answers[0]["text"].as_str().unwrap().starts_with("It is "), "{answers:#?}");
    assert_eq!(answers[1]["tools"], json!([]), "its whitelist holds: {answers:#?}");
    let line = place.run(&["ask", "--json", "--text", "Clerk, hello"]).line();
    assert_eq!(line["npc"], Value::Null, "nobody can speak to it: {line:#}");
    let two = "npcs:\n  - { name: A, kind: assistant }\n  - { name: B, kind: assistant }\n";
    let report = Place::with_config(two).run(&["check"]).ends_with(2).stderr;
    assert!(report.contains("'A' is already the assistant (keep one"), "{report}");
    let one = Place::with_config("npcs: [{ name: A, kind: assistant }]\n").run(&["check"]);
    assert!(one.ends_with(2).stderr.contains("no npcs found"), "an assistant alone is no cast");
}

#[test]
fn kept_session_goes_on_as_it_was_left() {
    let table = table();
    let evening = |lines: &[&str]| {
        let arguments = ["ask", "--json", "--as-dm", "--session", "friday"];
        table.run_typing(&arguments, &lines.join("\n"))
    };
    evening(&["/scene set Old Mill, night", "Mira, hello", "/xcard"]).ends_with(0);
    let ran = evening(&["/session status", "Mira, hello", "/npc unmuteall", "Mira, hello"]);
    let told = "'friday' resumes with Bartok the Barkeep, Mira Quickfingers still muted";
    assert!(ran.stderr.contains(told), "{ran:#?}");
    let (turns, statuses) = parted(ran);
    let scene = &statuses[0]["scene"];
    assert_eq!((&scene["location"], &scene["time_of_day"]), (&json!("Old Mill"), &json!("night")));
    assert_eq!(scene["present"], json!(["Mira Quickfingers"]));
    assert_eq!(turns[0]["reply"], json!(""), "{:#}", turns[0]);
    assert_eq!(turns[1]["reply"], json!("What is it to you?"), "{:#}", turns[1]);
    let ran = evening(&["Mira, hello"]);
    assert!(!ran.stderr.contains("still muted"), "{ran:#?}");
}
