//! Lines of sessions are kept, shown, found and deleted, through the real program.

use std::{
    collections::HashMap,
    env, fs,
    time::{Duration, Instant},
};

use rusqlite::{
    Connection,
    functions::{Context, FunctionFlags},
};
use serde_json::Value;

use crate::support::{
    answers::text,
    chat_server::{ChatServer, Script},
    program::{Live, Place, Ran, repository},
};

const BARTOK: &str = "Bartok the Barkeep";

/// A table in the shipped campaign. Bartok rolls dice and has an answer to everything else; Mira is there so
/// that he does not answer words addressed to no NPC.
fn table() -> Place {
    let campaign = repository("campaigns/ravenford.yaml");
    let roll = "tool: { name: dice-roller.roll, arguments: { expression: 2d6+3 } }";
    Place::with_config(&format!(
        "campaign: {}\nnpcs:\n  - name: {BARTOK}\n    aliases: [Bartok]\n    voice: {{ provider: flite, voice_id: rms }}\n    \
         tools: [dice-roller.roll]\n    lines:\n      - {{ when: [roll], {roll}, say: \"It is {{result.total}}.\" }}\n      \
         - {{ say: Well met. }}\n  - {{ name: Mira, lines: [{{ say: Hm. }}] }}\n",
        campaign.display()
    ))
    .brief()
}

fn ask(place: &Place, session: &str, texts: &[&str]) -> Vec<Value> {
    let mut arguments = vec!["ask", "--json", "--session", session, "--speaker", "Anna"];
    texts.iter().for_each(|text| arguments.extend(["--text", text]));
    place.run(&arguments).lines()
}

fn shown(place: &Place, session: &str) -> Vec<Value> {
    place.run(&["session", "show", session, "--json"]).ends_with(0).lines()
}

#[test]
fn session_lines_store_speaker_and_listeners() {
    let place = table();
    ask(&place, "friday", &["I look at the ceiling for a while"]);
    let said = ask(&place, "friday", &["Bartok, hello", "Bartok, roll two d six plus three"]);
    let lines = shown(&place, "friday");
    let numbers: Vec<u64> = lines.iter().map(|line| line["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=lines.len() as u64).collect::<Vec<_>>());
    assert_eq!(text(&lines[0], "outcome"), "nobody_addressed");
    assert_eq!((text(&lines[0], "speaker"), text(&lines[0], "speaker_id")), ("Anna", "Anna"));
    assert_eq!(text(&lines[0], "character"), "Wren", "as the campaign has it");
    assert_eq!(text(&lines[1], "text"), text(&said[0], "heard"));
    assert_eq!(text(&lines[1], "npc"), BARTOK);
    assert_eq!(text(&lines[2], "text"), text(&said[0], "reply"));
    assert_eq!((text(&lines[2], "speaker"), &lines[2]["speaker_id"]), (BARTOK, &Value::Null));
    assert!(lines[2]["duration"].as_u64().unwrap() > 100, "{:#}", lines[2]);
    let at = |line: &Value| line["at"].as_i64().unwrap();
    assert!(at(&lines[0]) > 1_700_000_000_000 && at(&lines[0]) <= at(&lines[2]));
    for line in &lines {
        let present: Vec<&str> =
            line["present"].as_array().unwrap().iter().map(|who| text(who, "name")).collect();
        assert!(present.contains(&BARTOK) && present.contains(&"Anna"), "{line:#}");
    }
    let roll = lines.iter().find(|line| !line["tools"].is_null()).unwrap();
    assert_eq!(roll["tools"][0]["tool"], "dice-roller.roll", "{roll:#}");
    assert!(text(roll, "text").contains("two d six"), "calls go with the question");

    let listed = place.run(&["session", "list", "--json"]).ends_with(0).line();
    assert_eq!((text(&listed, "id"), &listed["lines"]), ("friday", &Value::from(lines.len())));
    assert!(listed["started"].is_i64() && listed["ended"].is_i64(), "{listed:#}");
    let people = place.run(&["session", "show", "friday", "--last", "2"]).ends_with(0);
    assert_eq!(people.stdout.lines().count(), 2, "{people:#?}");
    assert!(people.stdout.contains(&format!(" {BARTOK}: ")), "{people:#?}");
}

#[test]
fn session_without_a_name_is_not_kept() {
    let place = table();
    place.run(&["ask", "--text", "Bartok, hello"]).ends_with(0);
    assert!(!place.path("data/memory.db").exists());
    let none = place.run(&["session", "list"]).ends_with(0);
    assert!(none.stdout.contains("no saved sessions of the campaign"), "{none:#?}");
}

#[test]
fn lines_are_found_again() {
    let place = table();
    ask(&place, "one", &["Bartok, the silver key is under the mill", "Bartok, hello"]);
    ask(&place, "two", &["Bartok, where is the key?"]);
    let search = |more: &[&str]| {
        let arguments = [&["memory", "search", "silver key", "--json"], more].concat();
        place.run(&arguments).ends_with(0).lines()
    };
    let hits = search(&["--speaker", "anna"]);
    assert!(text(&hits[0], "text").contains("silver"), "{hits:#?}");
    assert_eq!(hits.len(), 2, "{hits:#?}");
    assert_eq!(search(&["--speaker", "anna", "--session", "two"]).len(), 1);
    assert_eq!(search(&["--npc", "Bartok", "--speaker", "anna"]).len(), 2);
    let nobody = place.run(&["memory", "search", "key", "--npc", "Nobody"]).ends_with(2);
    assert!(nobody.message().contains("Nobody"), "{nobody:#?}");
    let stats = place.run(&["memory", "stats", "--json"]).ends_with(0).line();
    assert_eq!(stats["counts"]["sessions"], 2, "{stats:#}");
    assert!(place.run(&["memory", "stats"]).ends_with(0).stdout.contains("SQLite 3."));
    let migrated = place.run(&["memory", "migrate"]).ends_with(0).stdout;
    assert!(migrated.contains("SQLite 3.") && migrated.contains("(up to date)"), "{migrated}");
    let town = place.run(&["memory", "entity", "ravenford", "--json"]).ends_with(0).line();
    assert_eq!(town["entity"]["kind"], "location", "{town:#}");
    place.run(&["memory", "entity", "Ravenford", "--near", "2"]).ends_with(0);
    let away = place.run(&["memory", "entity", "Ravenford", "--way-to", "Ravenford"]);
    assert_eq!(away.ends_with(0).stdout, "", "it is there already");
    let unknown = place.run(&["memory", "entity", "Zorg"]).ends_with(1);
    assert!(unknown.stderr.contains("'Zorg'"), "{unknown:#?}");
}

#[test]
fn session_is_exported_and_deleted() {
    let place = table();
    ask(&place, "friday", &["Bartok, my secret is a wombat"]);
    place.run(&["session", "export", "friday", "--out", "friday.md"]).ends_with(0);
    let page = fs::read_to_string(place.path("friday.md")).unwrap();
    assert!(page.starts_with("# friday\n") && page.contains("Wren (Anna): "), "{page}");
    let whole = place.run(&["session", "export", "friday", "--json"]).ends_with(0).lines();
    assert_eq!(whole, shown(&place, "friday"));

    let gone = place.run(&["session", "delete", "friday", "--json"]).ends_with(0).line();
    assert_eq!(gone["sessions"], 1, "{gone:#}");
    for action in ["show", "export", "delete"] {
        let ran = place.run(&["session", action, "friday"]).ends_with(1);
        assert!(ran.message().contains("no session 'friday' (glyphoxa session list)"), "{ran:#?}");
    }
    holds_nowhere(&place, "wombat");
}

#[test]
fn session_continues_only_where_it_was_played() {
    let place = table();
    ask(&place, "friday", &["Bartok, hello"]);
    let kept = place.path("data/sessions/discord-42-7.json");
    fs::write(&kept, r#"{"version": 2, "histories": {}, "spent": 0.0}"#).unwrap();
    let goes_on = |session: &str| {
        place.run(&["ask", "--session", session, "--text", "Bartok, hello"]).ends_with(2).stderr
    };
    assert!(goes_on("discord-42-7").contains("the Discord server 42, not to the campaign"));
    let delete = ["session", "delete", "discord-42-7"];
    let refused = place.run(&delete);
    assert!(refused.stderr.contains("the Discord server 42"), "{refused:?}");
    assert!(kept.exists());
    place.run(&[&delete[..], &["--guild", "42"]].concat()).ends_with(0);
    assert!(!kept.exists());
    place.write("hollow.yaml", "campaign: { name: Hollow }\n");
    let npc = "npcs: [{ name: Bartok, lines: [{ say: Hm. }] }]\n";
    place.write("glyphoxa.yaml", format!("campaign: hollow.yaml\n{npc}"));
    let elsewhere = goes_on("friday");
    assert!(elsewhere.contains("the campaign 'the-raven-signet'"), "{elsewhere}");
}

/// Asserts that no file of the place holds `word`.
#[track_caller]
fn holds_nowhere(place: &Place, word: &str) {
    for folder in ["data", "data/sessions"] {
        for entry in fs::read_dir(place.path(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let bytes = fs::read(&path).unwrap();
                let found = bytes.windows(word.len()).any(|bytes| bytes == word.as_bytes());
                assert!(!found, "'{word}' is still in {}", path.display());
            }
        }
    }
}

#[test]
fn x_card_takes_the_last_exchange_back() {
    let place = table();
    let typed =
        "Bartok, roll 2d6 for my mule\nBartok, roll 2d6 for my wombat\n/xcard\n/session status\n";
    place.run_typing(&["ask", "--json", "--session", "friday"], typed).ends_with(0);
    let lines = shown(&place, "friday");
    let withdrawn: Vec<bool> =
        lines.iter().map(|line| line["withdrawn"].as_bool().unwrap()).collect();
    assert_eq!(withdrawn, [false, false, true, true], "{lines:#?}");
    let found = place.run(&["memory", "search", "wombat", "--json"]).ends_with(0);
    assert_eq!(found.lines(), Vec::<Value>::new());
    holds_nowhere(&place, "wombat");
    let calls = fs::read_to_string(place.path("data/sessions/friday.calls.jsonl")).unwrap();
    assert_eq!(calls.lines().count(), 1, "the calls of the first exchange stay: {calls}");
    let kept = fs::read_to_string(place.path("data/sessions/friday.json")).unwrap();
    assert!(kept.contains("mule"), "{kept}");
}

#[test]
fn extract_covers_events_and_cites_their_lines() {
    let place = table();
    ask(&place, "friday", &["Bartok, roll two d six plus three", "Bartok, tell me of Ravenford"]);
    let recap = place.run(&["session", "recap", "friday", "--json"]).ends_with(0).line();
    assert_eq!(recap["by"], Value::Null, "nothing thinks here: {recap:#}");
    let claims = recap["claims"].as_array().unwrap();
    let lines = shown(&place, "friday");
    for claim in claims {
        for number in claim["lines"].as_array().unwrap() {
            assert!(lines.iter().any(|line| line["seq"] == *number), "{claim:#}");
        }
    }
    let all = recap.to_string();
    assert!(all.contains("Wren rolled") && all.contains("Ravenford"), "{recap:#}");
    place.run(&["session", "export", "friday", "--out", "friday.md"]).ends_with(0);
    let page = fs::read_to_string(place.path("friday.md")).unwrap();
    assert!(page.contains("Wren rolled"), "it is kept as the summary: {page}");
    let none = place.run(&["session", "recap", "monday"]).ends_with(1);
    assert!(none.message().contains("no session 'monday'"), "{none:#?}");
    let facts = place.run(&["memory", "facts"]).ends_with(0);
    assert!(facts.stdout.contains("no fact is waiting"), "{facts:#?}");
}

#[test]
fn model_claims_need_proof_and_facts_approval() {
    let server = ChatServer::start();
    server.otherwise(|request| {
        let asked = String::from_utf8_lossy(&request.body);
        if asked.contains("recap of a session") {
            Script::text(&[
                "Anna told Bartok of the silver key. [1]\nThe king is dead. [?]\n",
                "FACT: The silver key is under the mill. [1]\nFACT: Bartok is sad. [77]\n",
            ])
        } else {
            Script::text(&["I will remember."])
        }
    });
    let llm = format!("{{ name: openai, base_url: \"{}\", model: m }}", server.base_url());
    let cast = "npcs: [{ name: Bartok, voice: { voice_id: rms } }]";
    let place = Place::with_config(&format!("providers: {{ llm: {llm} }}\n{cast}\n"));
    ask(&place, "one", &["Bartok, the silver key is under the mill"]);
    let recap = place.run(&["session", "recap", "one"]).ends_with(0);
    assert!(recap.stdout.contains("- Anna told Bartok of the silver key. [#1]"), "{recap:#?}");
    assert!(recap.stdout.contains("To confirm (no line says so):\n- The king"), "{recap:#?}");
    assert!(recap.stderr.contains("1 facts wait"), "{recap:#?}");
    place.run(&["session", "recap", "one"]).ends_with(0);
    let waiting = place.run(&["memory", "facts", "--json"]).ends_with(0).line();
    assert_eq!(waiting["status"], "proposed", "{waiting:#}");
    let id = text(&waiting, "id");
    let decided = ["memory", "facts", "--edit", id, "--text", "A key lies under the mill."];
    let left = place.run(&decided).ends_with(0);
    assert!(left.stdout.contains("no fact is waiting"), "{left:#?}");
    let all = place.run(&["memory", "facts", "--all", "--json"]).ends_with(0).line();
    assert_eq!(
        (text(&all, "status"), text(&all, "text")),
        ("accepted", "A key lies under the mill.")
    );
    let unknown = place.run(&["memory", "facts", "--accept", "fact-x"]).ends_with(1);
    assert!(unknown.message().contains("unknown fact 'fact-x'"), "{unknown:#?}");
}

#[test]
fn memory_that_cannot_be_used_is_said_at_once() {
    let place = table();
    place.write(
        "data/memory.db",
        "this is no database, though it is long enough to be one\n".repeat(40),
    );
    let refused = |ran: Ran| {
        let ran = ran.ends_with(1);
        assert!(ran.message().contains("the memory is damaged"), "{ran:#?}");
    };
    refused(place.run(&["ask", "--session", "one", "--text", "Bartok, hello"]));
    refused(place.run(&["session", "list"]));
    // Commands that need no memory keep working.
    place.run(&["ask", "--text", "Bartok, hello"]).ends_with(0);
}

#[test]
fn file_is_where_the_configuration_says() {
    let place = Place::with_config(
        "npcs: [{ name: Bartok, voice: { voice_id: rms } }]\nmemory: { path: store/m.db }\n",
    );
    ask(&place, "one", &["Bartok, hello"]);
    assert!(place.path("store/m.db").exists() && !place.path("data/memory.db").exists());
}

#[expect(clippy::disallowed_methods, reason = "the environment sets how often it is killed")]
fn crashes() -> usize {
    env::var("GLYPHOXA_TEST_CRASHES").map_or(3, |crashes| crashes.parse().unwrap())
}

/// A printed line is on the disk, once, whenever the program is killed.
#[test]
fn nothing_printed_is_lost_when_it_is_killed() {
    let place = table();
    let mut printed = Vec::new();
    for kill in 0..crashes() {
        let mut running = place.start(&["ask", "--json", "--session", "crash"]);
        for n in 0..40 {
            running.types(&format!("I count kill {kill} line {n}"));
        }
        // Another moment each time, and always in the middle of the next lines.
        for _ in 0..=(kill * 7 % 25) {
            let line = running.says("\"turn\"");
            printed.push(text(&serde_json::from_str(&line).unwrap(), "heard").to_owned());
        }
        let said = running.said();
        running.kill();
        let more = said.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        printed.extend(more.map(|line| text(&line, "heard").to_owned()));
    }
    // Whatever was not made searchable any more is so when it next ends in order.
    printed.push("I count no more".to_owned());
    ask(&place, "crash", &["I count no more"]);
    let mut kept: HashMap<String, usize> = HashMap::new();
    let lines = shown(&place, "crash");
    for (line, seq) in lines.iter().zip(1..) {
        assert_eq!(line["seq"], seq, "numbers have no gaps");
        *kept.entry(text(line, "text").to_owned()).or_default() += 1;
    }
    for line in &printed {
        assert_eq!(kept.get(line), Some(&1), "'{line}' was printed");
    }
    assert!(kept.values().all(|count| *count == 1), "{kept:#?}");
    assert!(printed.len() > crashes());
    is_whole(&place);
    println!("{} kills, {} printed, {} there", crashes(), printed.len(), lines.len());
}

/// Asserts that SQLite finds the memory as it must be, and every line is in a chunk of its index.
#[track_caller]
fn is_whole(place: &Place) {
    let db = Connection::open(place.path("data/memory.db")).unwrap();
    let checked: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(checked, "ok");
    // The lines here have no accents.
    let fold = |given: &Context<'_>| Ok(given.get::<String>(0)?.to_lowercase());
    db.create_scalar_function("fold", 1, FunctionFlags::default(), fold).unwrap();
    for table in ["line_text", "item_text"] {
        let check = format!("INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)");
        db.execute_batch(&check).unwrap();
    }
    let outside = "SELECT count(*) FROM line WHERE indexed = 0 OR NOT EXISTS (
        SELECT 1 FROM item WHERE item.session = line.session AND seq BETWEEN first AND last)";
    let outside: u32 = db.query_row(outside, [], |row| row.get(0)).unwrap();
    assert_eq!(outside, 0, "lines in no chunk");
}

/// No player asked for this deletion, so none is notified when a later run finishes it.
#[test]
fn forgetting_by_command_notifies_no_player() {
    let place = table();
    place.write("data/memory-waiting.0.jsonl", "a line of another version\n");
    let ran = place.run(&["memory", "forget", "Anna", "--yes"]).ends_with(0);
    assert!(ran.stdout.contains("lines wait in a file"), "{ran:#?}");
    let db = Connection::open(place.path("data/memory.db")).unwrap();
    let recorded: (String, String) = db
        .query_row("SELECT player, asker FROM deletion", [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    assert_eq!(recorded, ("Anna".to_owned(), String::new()));
}

#[test]
fn forgetting_lists_what_would_be_deleted() {
    let place = table();
    let texts = ["--text", "Bartok, hello", "--text", "Bartok, roll two d six plus three"];
    let (anna, ben) =
        (["--speaker", "Anna"], ["--speaker", "Ben", "--text", "Bartok, good evening"]);
    place.run(&[&["ask", "--session", "one"][..], &anna, &texts, &ben].concat()).ends_with(0);
    let forget = |more: &[&str]| place.run(&[&["memory", "forget"][..], more].concat());
    let mistaken = forget(&["ana", "--yes"]).ends_with(1);
    assert!(mistaken.message().contains("'ana' (did you mean 'Anna'?)"), "{mistaken:#?}");
    let listed = forget(&["Anna"]).ends_with(0).stdout;
    for part in [
        "one #1 Wren (Anna): Bartok, hello",
        "one #2 Bartok the Barkeep: ",
        "NPCs' memory of 'one': ",
        ", 1 tool call\n",
        "nothing is deleted yet (add --yes",
    ] {
        assert!(listed.contains(part), "'{part}' in {listed}");
    }
    assert!(!listed.contains("good evening"), "{listed}");
    let deleted = forget(&["Anna", "--yes"]).ends_with(0).stdout;
    assert_eq!(deleted, "deleted 2 lines of 'Anna' and 2 answers to them\n");
    let session = place.run(&["session", "show", "one"]).ends_with(0).stdout;
    assert_eq!(session.matches("(deleted)").count(), 4, "{session}");
    assert!(session.contains("good evening"), "{session}");
    let again = forget(&["Anna"]).ends_with(1);
    assert!(again.message().contains("nothing is stored about 'Anna'"), "{again:#?}");
}

#[test]
fn foreign_file_keeps_no_lines_from_deletion() {
    let place = table();
    ask(&place, "one", &["Bartok, hello"]);
    place.write("data/sessions/two.json", "a diary");
    let listed = place.run(&["memory", "forget", "Anna"]).ends_with(0).stdout;
    for part in ["one #1 Wren (Anna): Bartok, hello", "two.json' is not a saved session"] {
        assert!(listed.contains(part), "'{part}' in {listed}");
    }
    let ran = place.run(&["memory", "forget", "Anna", "--yes"]).ends_with(1);
    assert!(ran.stdout.contains("deleted 1 line of 'Anna' and 1 answer"), "{ran:#?}");
    assert!(ran.stderr.contains("two.json' is not a saved session"), "{ran:#?}");
    assert!(!shown(&place, "one").iter().any(|line| text(line, "speaker") == "Anna"));
    let db = Connection::open(place.path("data/memory.db")).unwrap();
    let left: String = db.query_row("SELECT files FROM deletion", [], |row| row.get(0)).unwrap();
    assert_eq!(left, "[\"two\"]");
}

#[test]
fn deletion_that_a_reader_delays_can_be_finished() {
    let place = table();
    ask(&place, "one", &["Bartok, hello"]);
    let reader = Connection::open(place.path("data/memory.db")).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let read: u32 = reader.query_row("SELECT count(*) FROM line", [], |row| row.get(0)).unwrap();
    assert_eq!(read, 2);
    let forget = || place.run(&["memory", "forget", "Anna", "--yes"]);
    let delayed = forget().ends_with(1);
    assert!(delayed.stdout.contains("deleted 1 line of 'Anna' and 1 answer"), "{delayed:#?}");
    assert!(delayed.stderr.contains("another program reads it"), "{delayed:#?}");
    reader.execute_batch("COMMIT").unwrap();
    let done = forget().ends_with(0).stdout;
    assert_eq!(done, "an earlier deletion of what 'Anna' said is done now\n");
    assert!(forget().ends_with(1).message().contains("nothing is stored about 'Anna'"));
}

/// A memory that was being made when the program was killed is made by the next start.
#[test]
fn first_start_that_is_killed_is_made_good() {
    for (kill, (name, bytes)) in
        [("memory.db", 0), ("memory.db-wal", 0), ("memory.db-wal", 1), ("memory.db-wal", 100_000)]
            .into_iter()
            .cycle()
            .take(crashes() + 1)
            .enumerate()
    {
        let place = table();
        let mut running = place.start(&["ask", "--json", "--session", "one"]);
        running.types("I count to one");
        let until = Instant::now() + Duration::from_secs(60);
        let file = place.path("data").join(name);
        while !fs::metadata(&file).is_ok_and(|file| file.len() >= bytes) {
            assert!(Instant::now() < until, "{name} has never {bytes} bytes");
            std::thread::yield_now();
        }
        running.kill();
        let second = format!("I count to two after kill {kill}");
        ask(&place, "one", &[&second]);
        let lines = shown(&place, "one");
        let texts: Vec<&str> = lines.iter().map(|line| text(line, "text")).collect();
        assert!(texts == [second.as_str()] || texts == ["I count to one", &second], "{texts:?}");
        is_whole(&place);
    }
}

#[test]
fn full_disk_is_reported_as_lines_not_written() {
    let place = table();
    let (hello, answer) = ("Bartok, hello", "Bartok the Barkeep:");
    ask(&place, "friday", &[hello]);
    let full = || {
        let mut table = Live::of(place.after("trap '' XFSZ", &["ask", "--session", "friday"]));
        table.types(hello);
        table.says(answer);
        // From here on no file grows, as on a full disk.
        table.files_grow_to("0:unlimited");
        table.types(hello);
        let told = table.says_all(&["not being written for now", answer]);
        assert!(told[0].contains("is it full?"), "{told:#?}");
        table
    };
    let (status, said) = full().interrupt();
    assert_eq!(status, 1, "{said:#?}");
    assert!(!said.iter().any(|line| line.contains("being written again")), "{said:#?}");
    assert!(said.iter().any(|line| line.contains("the transcript lacks 2 lines")), "{said:#?}");

    let before = shown(&place, "friday").len();
    let mut mended = full();
    mended.types(hello);
    mended.says(answer);
    mended.files_grow_to("unlimited:unlimited");
    mended.says("the transcript is being written again");
    assert_eq!(mended.leave(), 0);
    assert_eq!(shown(&place, "friday").len(), before + 6);
}

#[test]
fn one_program_at_a_time_plays_a_session() {
    let place = table();
    let mut first = place.start(&["ask", "--session", "friday", "--speaker", "Anna"]);
    first.types("Bartok, hello");
    first.says("Bartok the Barkeep:");
    let second = place.run(&["ask", "--session", "friday", "--text", "Bartok, hello"]).ends_with(1);
    assert!(second.message().contains("session 'friday' is open in another"), "{second:#?}");
    let deleted = place.run(&["session", "delete", "friday"]).ends_with(1);
    assert!(deleted.message().contains("session 'friday' is open"), "{deleted:#?}");
    let forgotten = place.run(&["memory", "forget", "Anna", "--yes"]).ends_with(1);
    assert!(forgotten.message().contains("session 'friday' is open"), "{forgotten:#?}");
    ask(&place, "saturday", &["Bartok, hello"]);
    place.run(&["session", "recap", "friday", "--extract"]).ends_with(0);
    assert_eq!(first.leave(), 0);
    let lines = shown(&place, "friday").len();
    assert!(lines > 0);
    // A program that is killed holds nothing.
    let mut killed = place.start(&["ask", "--session", "friday"]);
    killed.types("Bartok, good evening");
    killed.says("Bartok the Barkeep:");
    killed.kill();
    ask(&place, "friday", &["Bartok, hello"]);
    assert!(shown(&place, "friday").len() > lines);
    place.run(&["memory", "forget", "Anna", "--yes"]).ends_with(0);
    assert!(!shown(&place, "friday").iter().any(|line| text(line, "speaker") == "Anna"));
    place.run(&["session", "delete", "friday"]).ends_with(0);
    let left = fs::read_dir(place.path("data/sessions")).unwrap().map(|it| it.unwrap().file_name());
    let left: Vec<_> = left.filter(|it| it.to_string_lossy().contains("friday")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Mutes, unmutes and the scene survive when the program is killed.
#[test]
fn x_card_holds_though_the_program_is_killed() {
    let place = Place::new().brief();
    let evening = ["ask", "--json", "--as-dm", "--session", "friday"];
    let statuses = |live: &mut Live| -> Value {
        live.types("/session status");
        serde_json::from_str(&live.says("\"status\"")).expect("a line of JSON")
    };
    let muted = |status: &Value| -> Vec<bool> {
        let seats = status["status"]["seats"].as_array().expect("seats");
        seats.iter().map(|seat| seat["muted"] == true).collect()
    };
    let mut live = place.start(&evening);
    live.types("Bartok, hello");
    live.says("\"spoken\"");
    live.types("/scene set Old Mill, night");
    live.says("Old Mill");
    live.types("/xcard");
    live.says("everyone is muted");
    live.kill();

    let mut live = place.start(&evening);
    live.says("'friday' resumes with");
    let status = statuses(&mut live);
    assert!(muted(&status).iter().all(|it| *it), "{status:#}");
    let scene = &status["status"]["scene"];
    assert_eq!((&scene["location"], &scene["time_of_day"]), (&"Old Mill".into(), &"night".into()));
    // Aloud, and one of them alone.
    live.types("/npc unmuteall");
    live.says("may speak");
    live.types("Mira, be quiet");
    live.says("\"command\"");
    live.kill();

    let mut live = place.start(&evening);
    live.says("'friday' resumes with Mira Quickfingers still muted");
    let status = statuses(&mut live);
    assert_eq!(muted(&status).iter().filter(|it| **it).count(), 1, "{status:#}");
    live.types("/npc unmuteall");
    live.says("may speak");
    live.kill();
    let mut live = place.start(&evening);
    let status = statuses(&mut live);
    assert!(muted(&status).iter().all(|it| !*it), "{status:#}");
    live.leave();
}
