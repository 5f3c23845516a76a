//! Money: whatever is killed, restarted, retried or asked at once, a service bills no more than the cap.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{
    answers::answer,
    chat_server::{ChatServer, Recorded, Script, Step},
    processes::wait_until,
    program::{Place, repository},
    skipped::skipped,
};

/// Price of a token that is written; those that are read are free.
const PRICE: f64 = 0.001;

/// A table with one NPC that thinks at `server`, at [`PRICE`]; an answer has 100 tokens at most.
fn table(server: &ChatServer, npc: &str, more: &str) -> Place {
    let config = format!(
        "providers:\n  llm: {{ name: openai, base_url: \"{}\", model: dear, max_tokens: 100 }}\n\
         prices: {{ dear: {{ input: 0, output: 1000 }} }}\n\
         npcs:\n  - {{ name: Bartok{npc} }}\n{more}",
        server.base_url()
    );
    Place::with_config(&config)
}

/// Bill of a service that counts every token it may write.
fn billed(requests: &[Recorded]) -> f64 {
    let tokens = |request: &Recorded| {
        let json = &request.json;
        let most = json.get("max_tokens").or_else(|| json.get("max_completion_tokens"));
        most.and_then(Value::as_f64).unwrap_or_default()
    };
    requests.iter().map(tokens).sum::<f64>() * PRICE
}

/// Killed in the middle of a paid answer, again and again, under a cap of five answers.
fn killed(session: &[&str]) {
    let server = ChatServer::start();
    server.otherwise(|_| {
        Script::stream()
            .chunk(json!({"role": "assistant", "content": "We"}), None)
            .step(Step::Stall)
    });
    let place = table(&server, "", "budget: { session_max: 0.5 }\n");
    let arguments = [&["ask", "--json"], session, &["--text", "Bartok, hello"]].concat();
    for _ in 0..12 {
        let asked = server.requests().len();
        let program = place.start(&arguments);
        let (mut said, mut is_over) = (Vec::<String>::new(), false);
        wait_until("it asks, or says that it may not", || {
            said.extend(program.said());
            is_over = said.iter().any(|line| line.contains("over_budget"));
            is_over || server.requests().len() > asked
        });
        program.kill();
        if is_over {
            assert_eq!(server.requests().len(), asked, "{said:#?}");
            break;
        }
    }
    let bill = billed(&server.requests());
    assert!(bill <= 0.5 + 1e-9, "{bill} billed under a cap of 0.50");
    assert!(bill >= 0.3, "a killed program leaves money for the next: {bill}");
    let line = place.run(&arguments).ends_with(1).line();
    assert_eq!(line["outcome"], "over_budget", "{line:#}");
    assert!(line["spent"].as_f64() >= Some(0.3), "{line:#}");
}

#[test]
fn killed_session_goes_on_with_what_is_left() {
    killed(&["--session", "friday"]);
}

#[test]
fn neither_does_a_killed_unnamed_table() {
    killed(&[]);
}

#[test]
fn sessions_of_another_name_have_the_same_month() {
    let server = ChatServer::start();
    server.otherwise(|_| answer(100));
    let budget = "budget: { session_max: 0.5, max_cost_month: 0.35 }\n";
    let place = table(&server, "", budget);
    for (session, outcome) in
        [("one", "spoken"), ("two", "spoken"), ("three", "spoken"), ("four", "over_budget")]
    {
        let ran = place.run(&["ask", "--json", "--session", session, "--text", "Bartok, hello"]);
        let line = ran.line();
        assert_eq!(line["outcome"], outcome, "{line:#}");
        if outcome == "over_budget" {
            let detail = line["detail"].as_str().unwrap_or_default();
            assert!(
                detail.contains("the month's") && detail.contains("max_cost_month"),
                "{detail}"
            );
        }
    }
    assert_eq!(server.requests().len(), 3);
    let stats = place.run(&["memory", "stats", "--json"]).ends_with(0).line();
    let months = stats["spent"].as_object().unwrap();
    let spent: Vec<f64> = months.values().filter_map(|it| it.as_f64()).collect();
    assert!(matches!(spent[..], [spent] if (0.3..=0.35).contains(&spent)), "{stats:#}");
    let told = place.run(&["memory", "stats"]).ends_with(0).stdout;
    assert!(told.contains("spent or set aside in 20"), "{told}");
}

/// The answer breaks off before its first word, twice; each attempt may have been billed.
#[test]
fn each_attempt_is_booked() {
    let server = ChatServer::start();
    let broken = || Script::stream().event(&json!({"error": {"message": "busy", "code": 503}}));
    server.push(broken());
    server.push(broken());
    server.otherwise(|_| answer(5));
    let place = table(&server, "", "budget: { session_max: 5 }\n");
    let line = place.run(&["ask", "--json", "--text", "Bartok, hello"]).ends_with(0).line();
    assert_eq!(server.requests().len(), 3);
    assert_eq!(line["spent"].as_f64(), Some(0.205), "two in full, and what the third has used");
    // And none goes out that is not paid for.
    let server = ChatServer::start();
    server.otherwise(move |_| broken());
    let place = table(&server, "", "budget: { session_max: 0.25 }\n");
    let line = place.run(&["ask", "--json", "--text", "Bartok, hello"]).ends_with(1).line();
    assert_eq!(server.requests().len(), 2, "{line:#}");
    assert_eq!(line["outcome"], "over_budget", "{line:#}");
}

/// Four samplings at once of 512 tokens each, for an NPC that may spend less than two of them.
#[test]
fn samplings_at_once_see_each_other() {
    if Command::new("python3").arg("--version").output().is_err() {
        return skipped("tests with MCP servers", "there is no python3");
    }
    let server = ChatServer::start();
    server.otherwise(|request| {
        let messages = request.json["messages"].as_array().cloned().unwrap_or_default();
        let is_lent = messages.first().is_some_and(|it| it["content"] == "You are robbed.");
        match messages.last() {
            _ if is_lent => answer(512),
            Some(last) if last["role"] == "tool" => answer(5),
            _ => Script::calls(&[("x", "rob", "{}")]),
        }
    });
    let npc = ", budget_tier: deep, tools: [\"home.*\"], policy: { max_cost: 0.8 }";
    let robber = repository("tests/hostile/robber.py");
    let home = format!(
        "mcp: {{ servers: [{{ name: home, command: \"python3 '{}'\", allow_sampling: true }}] }}\n",
        robber.display()
    );
    let place = table(&server, npc, &format!("budget: {{ session_max: 50 }}\n{home}"));
    let asked = ["ask", "--json", "--tier", "deep", "--text", "Bartok, tell me"];
    let line = place.run(&asked).line();
    let lent = |it: &&Recorded| it.json["messages"][0]["content"] == "You are robbed.";
    let samplings: Vec<Recorded> = server.requests().iter().filter(lent).cloned().collect();
    assert_eq!(samplings.len(), 1, "{line:#}");
    assert_eq!(line["tools"][0]["result"], "1 of 4", "{line:#}");
    assert!(line["spent"].as_f64() <= Some(0.8), "{line:#}");
}

/// A request of many short words: more tokens than a third of its bytes.
#[test]
fn request_is_reserved_by_its_bytes() {
    let server = ChatServer::start();
    let place = table(&server, "", "budget: { session_max: 0.02 }\n");
    let config = std::fs::read_to_string(place.path("glyphoxa.yaml")).expect("it was written");
    let config = config.replace("input: 0, output: 1000", "input: 10, output: 0");
    place.write("glyphoxa.yaml", config);
    let words = "a b c d ".repeat(300);
    let asked = ["ask", "--json", "--text", &format!("Bartok, {words}")];
    let line = place.run(&asked).ends_with(1).line();
    assert_eq!(line["outcome"], "over_budget", "{line:#}");
    assert_eq!(server.requests().len(), 0, "2,400 bytes may be 2,400 tokens");
}

/// Said once in the NPC's voice, and not again.
#[test]
fn spending_stop_is_said_once() {
    let server = ChatServer::start();
    server.otherwise(|_| answer(100));
    let place = table(&server, "", "budget: { session_max: 0.15 }\n");
    let said = ["--text", "Bartok, hello", "--text", "Bartok, and?", "--text", "Bartok, hello?"];
    let ran = place.run(&[&["ask", "--json", "--out", "out.wav"], &said[..]].concat());
    let lines = ran.lines();
    let outcomes: Vec<&Value> = lines.iter().map(|line| &line["outcome"]).collect();
    assert_eq!(outcomes, ["spoken", "over_budget", "over_budget"], "{ran:#?}");
    let heard = |line: &Value| line["audio_ms"].as_u64().unwrap_or_default();
    assert!(heard(&lines[1]) > 500, "{:#}", lines[1]);
    assert_eq!(heard(&lines[2]), 0, "{:#}", lines[2]);
    assert_eq!(lines[1]["reply"], "Forgive me, I have no more words for today.");
    assert_eq!(server.requests().len(), 1);
}

/// A cap that is raised holds from the next turn on, without a restart.
#[test]
fn raised_cap_holds_at_once() {
    let server = ChatServer::start();
    server.otherwise(|_| answer(100));
    let place = table(&server, "", "budget: { session_max: 0.15 }\n");
    let mut live = place.start(&["ask", "--json"]);
    live.types("Bartok, hello");
    live.says("\"spoken\"");
    live.types("Bartok, and?");
    live.says("\"over_budget\"");
    let config = std::fs::read_to_string(place.path("glyphoxa.yaml")).expect("it was written");
    place.write("glyphoxa.yaml", config.replace("session_max: 0.15", "session_max: 5"));
    live.says("configuration reloaded");
    live.types("Bartok, now?");
    live.says("\"spoken\"");
    assert_eq!(live.leave(), 0);
}

/// Limits that would silence all players, or none, are refused.
#[test]
fn limits_of_a_player_are_checked() {
    let config = |limits: &str| format!("npcs: [{{ name: Bartok }}]\nlimits: {limits}\n");
    for (limits, said) in [
        ("{ paid_turns_per_minute: 0 }", "'limits.paid_turns_per_minute'"),
        ("{ paid_turns_per_minute: many }", "'limits.paid_turns_per_minute'"),
        ("{ waiting: 0 }", "'limits.waiting'"),
        ("{ waiting: 1.5 }", "'limits.waiting'"),
        ("{ wating: 2 }", "did you mean 'waiting'"),
        ("12", "'limits'"),
    ] {
        let ran = Place::with_config(&config(limits)).run(&["check"]).ends_with(2);
        assert!(ran.stderr.contains(said) && ran.stderr.contains("glyphoxa.yaml:2:"), "{ran:#?}");
    }
    Place::with_config(&config("{ paid_turns_per_minute: 1, waiting: 1 }"))
        .run(&["check"])
        .ends_with(0);
}

/// A service that says it has counted nothing, and one that takes its count back, still spend the cap.
#[test]
fn counts_that_cannot_be_true_end_at_the_cap() {
    let long = "Well met, friend. ".repeat(20);
    let said = json!({"content": long});
    let thought = json!({"content": "Hm.", "reasoning_content": long});
    let tagged = json!({"content": format!("<think>{long}</think>Hm.")});
    for (delta, counts) in
        [(&said, vec![0]), (&said, vec![50_000, 0]), (&thought, vec![0]), (&tagged, vec![0])]
    {
        let server = ChatServer::start();
        let delta = delta.clone();
        server.otherwise(move |_| {
            let script = Script::stream().chunk(delta.clone(), None);
            let script = script.chunk(json!({}), Some("stop"));
            counts.iter().fold(script, |script, count| script.usage(*count, 0, *count)).done()
        });
        let place = table(&server, "", "budget: { session_max: 0.5 }\n").brief();
        let arguments = ["ask", "--json", "--session", "friday", "--text", "Bartok, hello"];
        let arguments = [&arguments[..], &["--text", "Bartok, hello"].repeat(2)].concat();
        let is_over = (0..4).any(|_| {
            let lines = place.run(&arguments).lines();
            lines.iter().any(|line| line["outcome"] == "over_budget")
        });
        assert!(is_over, "{} requests", server.requests().len());
        let bill = billed(&server.requests());
        assert!(bill < 0.5 + 0.1, "{bill} billed under a cap of 0.50, at 0.10 a request");
    }
}
