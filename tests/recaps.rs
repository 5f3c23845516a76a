//! Evenings and what a model makes of them: nothing invented stands as proven, and nothing that matters
//! is missing, through the real program.

use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::support::{
    chat_server::{ChatServer, Script},
    program::{Place, repository},
    whole,
};

/// An evening: what is said with its reply, and what a recap of it should have.
#[derive(Default)]
struct Evening {
    name: String,
    said: Vec<(String, String, String)>,
    keep: Vec<String>,
    right: Vec<String>,
    invented: Vec<String>,
}

/// A claim as it is kept, and as a model writes it.
fn claimed(text: &str) -> &str {
    text.rsplit_once(" [").expect("it cites lines").0
}

/// The evenings of a file in `tests/data`.
fn evenings(file: &str) -> Vec<Evening> {
    let text = std::fs::read_to_string(repository(&format!("tests/data/{file}"))).unwrap();
    let mut evenings: Vec<Evening> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix("== ") {
            evenings.push(Evening { name: name.to_owned(), ..Evening::default() });
            continue;
        }
        let evening = evenings.last_mut().expect("an evening begins with its name");
        let (key, rest) = line.split_once(": ").expect("a key");
        match key {
            "keep" => evening.keep.push(rest.to_owned()),
            "true" => evening.right.push(rest.to_owned()),
            "false" => evening.invented.push(rest.to_owned()),
            speaker => {
                let (said, reply) = rest.split_once(" | ").expect("a reply");
                evening.said.push((speaker.to_owned(), said.to_owned(), reply.to_owned()));
            }
        }
    }
    evenings
}

/// A table whose model answers and writes recaps as the evening that is on says.
fn table(on: &Arc<Mutex<Evening>>) -> (ChatServer, Place) {
    let server = ChatServer::start();
    let evening = Arc::clone(on);
    server.otherwise(move |request| {
        let evening = evening.lock().unwrap();
        let messages = request.json["messages"].as_array().cloned().unwrap_or_default();
        let asked = Value::Array(messages.clone()).to_string();
        if asked.contains("recap of a session") {
            let claims = evening.right.iter().chain(&evening.invented);
            return Script::text(&[&claims.map(|it| format!("{it}\n")).collect::<String>()]);
        }
        let latest = messages.iter().rev().filter(|it| it["role"] == "user");
        let latest: Vec<String> = latest.map(|it| it["content"].to_string()).collect();
        let reply = latest
            .iter()
            .find_map(|text| evening.said.iter().find(|(_, said, _)| text.contains(said.as_str())));
        Script::text(&[reply.map_or("Hm.", |(_, _, reply)| reply)])
    });
    let llm = format!("{{ name: openai, base_url: \"{}\", model: m }}", server.base_url());
    let cast = "npcs: [{ name: Bartok, voice: { voice_id: rms } }]";
    let place = Place::with_config(&format!("providers: {{ llm: {llm} }}\n{cast}\n")).brief();
    (server, place)
}

/// Results of the recaps of some evenings, each claim with its evening's name.
#[derive(Default)]
struct Tally {
    invented: usize,
    planted: usize,
    right: usize,
    /// Invented, and stands as proven.
    proven: Vec<String>,
    /// Planted, and neither told nor quoted.
    missing: Vec<String>,
    /// Right, and not taken as proven.
    doubted: Vec<String>,
}

impl Tally {
    /// Plays the evenings, has recaps made of them, and counts.
    fn of(evenings: Vec<Evening>) -> Self {
        let on = Arc::new(Mutex::new(Evening::default()));
        let (_server, place) = table(&on);
        let mut tally = Self::default();
        for (number, evening) in evenings.into_iter().enumerate() {
            let session = format!("evening-{number}");
            play(&place, &session, &evening, &on);
            let (keep, name) = (evening.keep.clone(), evening.name.clone());
            let (rights, wrongs) = (evening.right.clone(), evening.invented.clone());
            *on.lock().unwrap() = evening;
            let recap = place.run(&["session", "recap", &session, "--json"]).ends_with(0).line();
            let claims: Vec<&str> = recap["claims"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|it| it["text"].as_str())
                .collect();
            let whole = format!("{}{}", recap["claims"], recap["left_out"]);
            tally.invented += wrongs.len();
            tally.planted += keep.len();
            tally.right += rights.len();
            let named = |it: &String| format!("{name}: {it}");
            let stands = |it: &&String| claims.contains(&claimed(it));
            tally.proven.extend(wrongs.iter().filter(stands).map(named));
            tally.doubted.extend(rights.iter().filter(|it| !stands(it)).map(named));
            let is_missing = |it: &&String| !it.split(" / ").any(|way| whole.contains(way));
            tally.missing.extend(keep.iter().filter(is_missing).map(named));
        }
        tally
    }

    /// The figures, and what was not taken as proven.
    fn told(&self) -> String {
        let Self { invented, planted, right, proven, missing, doubted } = self;
        format!(
            "not proven: {doubted:#?}\nproven {} of {invented} invented claims and {} of {right} true ones; \
             missing {} of {planted} planted facts",
            proven.len(),
            right - doubted.len(),
            missing.len(),
        )
    }
}

/// Plays an evening, with its answers.
fn play(place: &Place, session: &str, evening: &Evening, on: &Mutex<Evening>) {
    let mut arguments = vec!["ask", "--json", "--session", session];
    for (speaker, said, _) in &evening.said {
        arguments.extend(["--speaker", speaker, "--text", said]);
    }
    *on.lock().unwrap() = Evening { said: evening.said.clone(), ..Evening::default() };
    let answered = place.run(&arguments).lines();
    for (turn, (_, said, reply)) in answered.iter().zip(&evening.said) {
        assert_eq!(
            (&turn["heard"], &turn["reply"]),
            (&said.as_str().into(), &reply.as_str().into())
        );
    }
}

#[test]
fn recap_proves_no_invention_and_misses_no_fact() {
    let evenings = evenings("evenings.txt");
    assert_eq!(evenings.len(), 20);
    let some = evenings.into_iter().step_by(if whole() { 1 } else { 2 });
    let tally = Tally::of(some.collect());
    println!("{}", tally.told());
    let Tally { proven, missing, doubted, .. } = tally;
    assert!(proven.is_empty(), "{proven:#?}");
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(doubted.len() <= 2, "{doubted:#?}");
}

#[test]
fn true_paraphrases_are_mostly_accepted() {
    let evenings = evenings("evenings_held_out.txt");
    assert_eq!(evenings.len(), 8);
    assert!(evenings.iter().all(|it| (5..=7).contains(&it.said.len()) && it.right.len() >= 4));
    let tally = Tally::of(evenings);
    println!("{}", tally.told());
    let Tally { proven, missing, doubted, right, .. } = tally;
    assert!(proven.is_empty(), "{proven:#?}");
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(doubted.len() * 10 <= right * 3, "{doubted:#?}");
}

/// Recap of a session when the model answers `answer`, after some lines and orders.
fn recap_of(answer: &'static str) -> Value {
    let server = ChatServer::start();
    server.otherwise(move |request| {
        let asked = String::from_utf8_lossy(&request.body);
        Script::text(&[if asked.contains("recap of a session") { answer } else { "So it is." }])
    });
    let llm = format!("{{ name: openai, base_url: \"{}\", model: m }}", server.base_url());
    let cast = "npcs: [{ name: Bartok, voice: { voice_id: rms } }]";
    let place = Place::with_config(&format!("providers: {{ llm: {llm} }}\n{cast}\n")).brief();
    let mut said = vec!["ask", "--as-dm", "--session", "one"];
    let lines = [
        "Bartok, the duke pays forty gold for the crown",
        "Bartok, the mill is old",
        "stop",
        "Bartok, stop",
        "everyone stop",
    ];
    said.extend(lines.iter().flat_map(|line| ["--text", line]));
    place.run(&said);
    place.run(&["session", "recap", "one", "--json"]).ends_with(0).line()
}

#[test]
fn useless_recap_gives_way_to_a_safe_extract() {
    for answer in ["", "\n\n", "Something happened.\nThe duke pays forty gold.\n", "[1] [2]"] {
        let recap = recap_of(answer);
        let claims = recap["claims"].to_string();
        assert_eq!(recap["by"], Value::Null, "{answer:?}: {recap:#}");
        assert!(
            recap["note"].as_str().unwrap().contains("none of its claims"),
            "{answer:?}: {recap:#}"
        );
        assert!(claims.contains("forty gold") && claims.contains("the mill is old"), "{recap:#}");
        assert!(!claims.to_lowercase().contains("stop"), "{recap:#}");
    }
}

#[test]
fn unproven_claims_and_facts_await_confirmation() {
    let answer = "Bartok married the duke [#1]\nThe duke pays forty gold for the crown. [#1]\n\
                  FACT: A dragon sleeps below Harrow [#1]\nFACT: The mill is old. [#3]\n";
    let recap = recap_of(answer);
    let claims = recap["claims"].as_array().unwrap();
    assert_eq!(claims.len(), 1, "{recap:#}");
    assert_eq!(claims[0]["text"], "The duke pays forty gold for the crown.");
    let doubts = ["Bartok married the duke", "A dragon sleeps below Harrow"];
    assert_eq!(recap["to_confirm"], serde_json::json!(doubts), "{recap:#}");
    assert_eq!(recap["proposed"], 1, "{recap:#}");
    assert!(!recap["left_out"].to_string().to_lowercase().contains("stop"), "{recap:#}");
}

#[test]
fn lines_deleted_during_a_recap_are_not_in_it() {
    let server = ChatServer::start();
    server.otherwise(|_| Script::text(&["So it is."]));
    let llm = format!("{{ name: openai, base_url: \"{}\", model: m }}", server.base_url());
    let cast = "npcs: [{ name: Bartok, voice: { voice_id: rms } }]";
    let place = Place::with_config(&format!("providers: {{ llm: {llm} }}\n{cast}\n")).brief();
    let place = Arc::new(place);
    let anna = ["--speaker", "Anna", "--text", "Bartok, the wombat sleeps below the mill"];
    let ben = ["--speaker", "Ben", "--text", "Bartok, the duke pays forty gold"];
    place.run(&[&["ask", "--session", "one"][..], &anna, &ben].concat()).ends_with(0);
    let deleting = Arc::clone(&place);
    server.otherwise(move |_| {
        deleting.run(&["memory", "forget", "Anna", "--yes"]).ends_with(0);
        Script::text(&["The wombat sleeps below the mill. [#1]\nFACT: The wombat sleeps. [#1]\n"])
    });
    let recap = place.run(&["session", "recap", "one", "--json"]).ends_with(0).line();
    assert!(recap["note"].as_str().unwrap().contains("lines were deleted"), "{recap:#}");
    assert!(recap["claims"].to_string().contains("forty gold"), "{recap:#}");
    let exported = place.run(&["session", "export", "one"]).ends_with(0).stdout;
    for text in [recap.to_string(), exported] {
        assert!(!text.contains("wombat"), "{text}");
    }
}
