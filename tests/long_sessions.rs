//! The real program in an evening longer than its model's window, with a chat server on loopback.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{
    chat_server::{ChatServer, Recorded, Script, Step},
    program::Place,
};

/// Tokens of the window, and of an answer.
const WINDOW: u64 = 2_048;
const ANSWER: u64 = 100;
/// Time the model needs for a summary.
const SLOW: Duration = Duration::from_secs(4);

/// A table whose Bartok thinks at `server`, which is paid: 1 per 1,000 tokens.
fn table(server: &ChatServer, more: &str) -> Place {
    let (base_url, window, answer) = (server.base_url(), WINDOW, ANSWER);
    Place::with_config(&format!(
        "
providers:
  llm: {{ name: openai, base_url: \"{base_url}\", model: dear, max_tokens: {answer}, context_window: {window} }}
prices: {{ dear: {{ input: 1000, output: 1000 }} }}
budget: {{ session_max: 45 }}
npcs:
  - name: Bartok the Barkeep
    aliases: [Bartok]
    personality: A gruff innkeeper.
    voice: {{ provider: flite, voice_id: rms }}
    tools: [dice-roller.roll]
{more}"
    ))
    .brief()
}

/// Tokens of a request, as a service would count them.
fn tokens(request: &Recorded) -> u64 {
    let sized = json!([request.json["messages"], request.json["tools"]]);
    u64::try_from(sized.to_string().len()).unwrap() / 4
}

fn is_summary(request: &Recorded) -> bool {
    let system = request.json["messages"][0]["content"].as_str();
    system.is_some_and(|text| text.starts_with("You sum up"))
}

/// An answer of `words`, counted like the request, after a while.
fn says(request: &Recorded, (words, after): (&str, Duration)) -> Script {
    let script = Script::stream().step(Step::Wait(after));
    let script = script.chunk(json!({"role": "assistant", "content": words}), None);
    script.chunk(json!({}), Some("stop")).usage(tokens(request), 0, 20).done()
}

/// The last line of a request, without what the game tells.
fn asked(request: &Recorded) -> String {
    let messages = request.json["messages"].as_array().unwrap();
    let last = messages.last().unwrap()["content"].as_str().unwrap();
    last.lines().last().unwrap().to_owned()
}

fn question(nth: usize) -> String {
    format!(
        "Bartok, this is riddle{nth}x, of a fox, a goose and the old ferryman by the mill, who said so much about corn that nobody could remember it all"
    )
}

/// Answers riddles at once, and sums up slowly.
fn clever() -> ChatServer {
    let server = ChatServer::start();
    server.otherwise(|request| {
        if is_summary(request) {
            return says(request, ("- A riddle was asked.\n- The fox is sly.", SLOW));
        }
        let asked = asked(request);
        let riddle = asked.split([' ', ',']).find(|it| it.starts_with("riddle")).unwrap();
        let answer = format!("Ay, to {riddle} the answer lies below the mill where water runs.");
        says(request, (&answer, Duration::ZERO))
    });
    server
}

fn ask(place: &Place, riddles: std::ops::Range<usize>) -> Vec<Value> {
    let questions: Vec<String> = riddles.map(question).collect();
    let mut arguments = vec!["ask", "--json", "--session", "evening"];
    arguments.extend(questions.iter().flat_map(|it| ["--text", it.as_str()]));
    place.run(&arguments).ends_with(0).lines()
}

/// True if a question and its answer are in a request as they were said.
fn has(request: &Recorded, riddle: usize) -> bool {
    let text = request.json["messages"].to_string();
    let answer = format!("to riddle{riddle}x the answer lies below the mill where water runs.");
    text.contains(&question(riddle)) && text.contains(&answer)
}

#[test]
fn long_sessions_are_summarised_without_loss() {
    let server = clever();
    let place = table(&server, "");
    let mut lines = ask(&place, 0..9);
    for riddles in [9..14, 14..15, 15..16, 16..22] {
        lines.extend(ask(&place, riddles));
    }
    let requests = server.requests();
    assert!(requests.iter().all(|it| it.refused.is_none()));
    let summaries: Vec<usize> =
        (0..requests.len()).filter(|at| is_summary(&requests[*at])).collect();
    assert!((2..=5).contains(&summaries.len()), "{summaries:?} of {}", requests.len());
    for (at, request) in requests.iter().enumerate() {
        assert!(tokens(request) + ANSWER <= WINDOW, "{at}: {}", tokens(request));
    }
    // Each riddle is summed up once at most, and until then it is there as it was said.
    for riddle in 0..22 {
        let told: Vec<usize> =
            summaries.iter().copied().filter(|at| has(&requests[*at], riddle)).collect();
        assert!(told.len() <= 1, "riddle {riddle} is summed up by {told:?}");
    }
    let turns = (0..requests.len()).filter(|at| !is_summary(&requests[*at]));
    for (riddle, at) in turns.enumerate() {
        let request = &requests[at];
        assert!(asked(request).contains(&question(riddle)), "request {at}");
        for before in 0..riddle {
            let summed_up = summaries.iter().any(|it| *it < at && has(&requests[*it], before));
            assert!(summed_up || has(request, before), "riddle {before} is lost in request {at}");
        }
    }
    let last = requests.last().unwrap().json["messages"].as_array().unwrap();
    let first = last[1]["content"].as_str().unwrap();
    assert!(last[1]["role"] == "user" && first.contains("\n- The fox is sly.\n"), "{first}");
    let earlier = requests[summaries[1]].json["messages"][1]["content"].as_str().unwrap();
    assert!(earlier.starts_with("Earlier: A riddle was asked.\n"), "{earlier}");
    // No turn has waited for a summary: the lines it sums up are still there in the next question.
    let did_not_wait = |at: &usize| {
        let of = (0..22).find(|riddle| has(&requests[*at], *riddle));
        requests.get(at + 1).is_some_and(|next| !is_summary(next) && has(next, of.unwrap()))
    };
    assert!(summaries.iter().any(did_not_wait), "every question came after its summary");
    assert_eq!(lines.len(), 22);
    // It is paid.
    let spent: u64 = requests.iter().map(|it| tokens(it) + 20).sum();
    let kept: Value =
        serde_json::from_slice(&std::fs::read(place.path("data/sessions/evening.json")).unwrap())
            .unwrap();
    let (spent, kept_spent) = (spent as f64 / 1_000.0, kept["spent"].as_f64().unwrap());
    assert!((kept_spent - spent).abs() < 1e-6, "{kept_spent} of {spent}");
    assert_eq!(kept["version"], 3);
}

#[test]
fn failed_summary_is_reported_and_talk_goes_on() {
    let server = clever();
    let place = table(&server, "");
    for nth in 0..3 {
        ask(&place, nth * 3..nth * 3 + 3);
    }
    server.otherwise(|request| {
        if is_summary(request) {
            return Script::error(400, "invalid_request_error", "no");
        }
        says(
            request,
            (
                "Ay, it lies below the mill where water runs, as everybody knows by now.",
                Duration::ZERO,
            ),
        )
    });
    let more: Vec<String> = (9..24).map(question).collect();
    let mut arguments = vec!["ask", "--json", "--session", "evening"];
    arguments.extend(more.iter().flat_map(|it| ["--text", it.as_str()]));
    let ran = place.run(&arguments).ends_with(0);
    assert_eq!(ran.lines().len(), 15);
    assert_eq!(ran.stderr.matches("has talked for long").count(), 1, "{ran:#?}");
    for request in server.requests() {
        assert!(tokens(&request) + ANSWER <= WINDOW, "{}", tokens(&request));
    }
    let last = server.requests().into_iter().rfind(|it| !is_summary(it)).unwrap();
    let text = last.json["messages"].to_string();
    assert!(text.contains("What was said earlier") && text.contains(&question(22)), "{text}");
}

#[test]
fn own_server_serves_every_speaker() {
    let server = clever();
    let place = table(&server, "");
    let text = std::fs::read_to_string(place.path("glyphoxa.yaml")).unwrap();
    let free = text.lines().filter(|line| !line.starts_with("prices:"));
    place.write("glyphoxa.yaml", free.collect::<Vec<_>>().join("\n"));
    // A session of an earlier version.
    let before =
        json!([{"user": "Player: hello"}, {"assistant": {"text": "Welcome back.", "calls": []}}]);
    let kept = json!({"version": 1, "histories": {"Bartok the Barkeep": before}, "spent": 0.0});
    place.write("data/sessions/evening.json", kept.to_string());
    let began = Instant::now();
    let lines = ask(&place, 0..16);
    assert_eq!(lines.len(), 16);
    assert!(server.requests()[0].json["messages"].to_string().contains("Welcome back."));
    assert!(began.elapsed() > SLOW, "at the end it was waited for");
    ask(&place, 16..17);
    let last = server.requests().into_iter().rfind(|it| !is_summary(it)).unwrap();
    assert!(last.json["messages"].to_string().contains("- The fox is sly."));
}

/// A fault of the window is reported before the first session.
#[test]
fn window_without_room_is_reported() {
    let place = table(&ChatServer::start(), "    max_sentences: 3\n");
    place.run(&["check"]).ends_with(0);
    let text = std::fs::read_to_string(place.path("glyphoxa.yaml")).unwrap();
    place.write("glyphoxa.yaml", text.replace("max_tokens: 100", "max_tokens: 1500"));
    let ran = place.run(&["check"]).ends_with(2);
    assert!(
        ran.stderr.contains("answers of 1500 tokens leave no room in a window of 2048 (lower"),
        "{ran:#?}"
    );
    place.write("glyphoxa.yaml", text.replace("A gruff innkeeper.", &"Very gruff. ".repeat(400)));
    let ran = place.run(&["check"]).ends_with(0);
    let says = "the prompt of 'Bartok the Barkeep' and an answer fill";
    assert!(format!("{}{}", ran.stdout, ran.stderr).contains(says), "{ran:#?}");
}
