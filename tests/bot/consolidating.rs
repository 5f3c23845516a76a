//! After a session: facts that a model proposes, and what the game master says to them.

use discord_loopback::{AUDIBLE, Member, Message, Options, Player, Response, Slash, permission};
use serde_json::{Value, json};

use super::hall::{BOUND, Hall};
use crate::support::chat_server::{ChatServer, Script};

/// Line that is said, and proves everything.
const SAID: &str = "the silver key is under the mill";

/// A chat model that answers, and writes recaps with `facts`.
fn writer(facts: &[&str]) -> ChatServer {
    let server = ChatServer::start();
    let mut recap = "Somebody spoke of the silver key. [1]\n".to_owned();
    for fact in facts {
        recap.push_str(&format!("FACT: {fact} [1]\n"));
    }
    server.otherwise(move |request| {
        if String::from_utf8_lossy(&request.body).contains("recap of a session") {
            Script::text(&[&recap])
        } else {
            Script::text(&["I will keep it in mind", "."])
        }
    });
    server
}

/// Number of recaps that were requested.
fn recaps(server: &ChatServer) -> usize {
    let is_recap = |body: &[u8]| String::from_utf8_lossy(body).contains("recap of a session");
    server.requests().iter().filter(|request| is_recap(&request.body)).count()
}

/// An NPC who thinks with that model, and looks things up, however busy the machine is.
fn with_model(server: &ChatServer) -> String {
    format!(
        "turn: {{ recall_ms: 5000 }}\nproviders:\n  llm: {{ name: openai, base_url: \"{}\", \
         model: m }}\nnpcs:\n  - name: \
         Tessa\n    voice: {{ voice_id: slt }}\n    tools: [memory.search_facts]\n    \
         budget_tier: deep\n",
        server.base_url()
    )
}

/// Something is said to Tessa, she has answered, and the session is over.
async fn play(hall: &Hall, dora: &Player) {
    let bot = hall.discord.bot();
    hall.listens_to("Dora").await;
    let quiet = std::time::Duration::from_millis(700);
    hall.has_greeted(dora).await;
    dora.forget();
    hall.asks(&hall.dm, Slash::new("say").option("text", SAID).option("npc", "Tessa")).await;
    dora.wait_for_voice(bot, AUDIBLE, BOUND).await.unwrap();
    dora.wait_for_silence(bot, quiet, BOUND).await.unwrap();
    let stopped = hall.told(&hall.dm, Slash::new("session stop")).await;
    assert!(stopped.contains("The session is over."), "{stopped}");
}

/// Makes another channel the game master's log; which.
pub async fn log_channel(hall: &Hall) -> u64 {
    let log = hall.inn.add_text("secrets");
    let role = hall.inn.add_role("Steward", permission::MANAGE_GUILD);
    let olga = hall.inn.add_member("Olga", &[role]);
    let setup = hall.asks(&olga, Slash::new("setup")).await.message.unwrap();
    let place = (hall.inn.text, setup.id, "setup:log");
    let chosen = hall.discord.choose(&olga, place, &[&log.to_string()]).await.unwrap();
    assert!(chosen.wait_final(BOUND).await.unwrap().text().contains(&format!("<#{log}>")));
    log
}

/// `member` presses a button of a message in `channel`.
async fn presses(
    hall: &Hall,
    (channel, message): (u64, &Message),
    by: &Member,
    label: &str,
) -> Response {
    let button = message.button(label).unwrap_or_else(|| panic!("no {label}: {}", message.text()));
    let id = button["custom_id"].as_str().unwrap();
    let pressed = hall.discord.press(by, channel, message.id, id).await.unwrap();
    pressed.wait_final(BOUND).await.unwrap()
}

/// Facts as the program has kept them: status by text.
fn kept(hall: &Hall) -> Value {
    let guild = hall.inn.id.to_string();
    let all = hall.place.run(&["memory", "facts", "--all", "--json", "--guild", &guild]);
    let all = all.ends_with(0);
    let facts = all.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    facts.map(|it| (it["text"].as_str().unwrap().to_owned(), it["status"].clone())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn log_channel_decisions_work_after_restart() {
    let facts = ["The silver key is under the mill.", "The mill is silver.", "A key is a mill."];
    let server = writer(&facts);
    let mut hall = Hall::new(Options::default(), &with_model(&server)).await;
    hall.start().await;
    let log = log_channel(&hall).await;
    let dora = hall.discord.join_voice(&hall.dm, hall.inn.voice).await.unwrap();
    hall.told(&hall.dm, Slash::new("session start")).await;
    play(&hall, &dora).await;
    let proposed = async |fact: &str| {
        let is_it = |it: &Message| it.content().contains(fact) && it.button("Accept").is_some();
        hall.discord.wait_for_message(log, BOUND, is_it).await.unwrap()
    };
    let [key, silver, odd] =
        [proposed(facts[0]).await, proposed(facts[1]).await, proposed(facts[2]).await];
    assert!(key.content().contains(&format!("#1 Dora: “{SAID}”")), "{}", key.content());
    let read = hall.discord.messages(hall.inn.text);
    assert!(read.iter().all(|it| !it.text().contains("The mill is")), "players read nothing of it");
    let anna = hall.inn.add_member("Anna", &[]);
    let refused = presses(&hall, (log, &key), &anna, "Accept").await;
    assert!(refused.ephemeral() && refused.text().contains("only game masters"));
    assert_eq!(kept(&hall)[facts[0]], "proposed");

    let accepted = presses(&hall, (log, &key), &hall.dm, "Accept").await.text();
    assert!(accepted.contains("**Accepted by Dora**"), "{accepted}");
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
    hall.start().await;
    let rejected = presses(&hall, (log, &odd), &hall.dm, "Reject").await.text();
    assert!(rejected.contains("**Rejected by Dora**"), "{rejected}");
    let edit = silver.button("Edit").unwrap()["custom_id"].as_str().unwrap();
    let form = hall.discord.press(&hall.dm, log, silver.id, edit).await.unwrap();
    let opened = form.wait_first(BOUND).await.unwrap();
    assert!(opened.modal().unwrap().to_string().contains(facts[1]), "it is filled in");
    let sent = hall.discord.submit(&hall.dm, &form, &[("text", "The mill glitters.")]).await;
    let edited = sent.unwrap().wait_final(BOUND).await.unwrap().text();
    assert!(edited.contains("**The mill glitters.**"), "{edited}");
    assert!(edited.contains("**Accepted in other words by Dora**"), "{edited}");
    let late = hall.discord.press(&hall.dm, log, odd.id, &id(&odd, "Accept")).await;
    assert!(late.is_err(), "its buttons are gone");
    let wanted =
        json!({facts[0]: "accepted", "The mill glitters.": "accepted", facts[2]: "rejected"});
    assert_eq!(kept(&hall), wanted);
    let none = hall.told(&hall.dm, Slash::new("session facts")).await;
    assert!(none.contains("No fact waits for you."), "{none}");
    assert_eq!(recaps(&server), 1);

    // Accepted facts are known to everyone who was there; rejected ones to no one.
    let asked = json!({ "query": "key mill" }).to_string();
    let call = ["tools", "call", "--json", "memory.search_facts", &asked, "--npc", "Tessa"];
    let guild = hall.inn.id.to_string();
    let found = hall.place.run(&[&call[..], &["--guild", &guild]].concat());
    let found = found.ends_with(0).line().to_string();
    assert!(found.contains(facts[0]) && found.contains("The mill glitters."), "{found}");
    assert!(!found.contains(facts[2]), "{found}");

    let prompt = prompted(&hall, &server, "Where is the key of the glittering mill?").await;
    assert!(prompt.contains("- The silver key is under the mill."), "{prompt}");
    assert!(!prompt.contains(facts[2]), "{prompt}");
    hall.ends();
}

/// Prompt of Tessa's model in a new session, when `text` is said to her.
async fn prompted(hall: &Hall, server: &ChatServer, text: &str) -> String {
    hall.told(&hall.dm, Slash::new("session start")).await;
    hall.asks(&hall.dm, Slash::new("say").option("text", text).option("npc", "Tessa")).await;
    let prompt = async {
        loop {
            let asked = server.requests();
            let mut prompts = asked.iter().map(|request| request.json.to_string());
            if let Some(prompt) = prompts.rfind(|prompt| prompt.contains(text)) {
                return prompt;
            }
            server.received(asked.len() + 1).await;
        }
    };
    tokio::time::timeout(BOUND, prompt).await.expect("it is asked")
}

/// The id of a button.
fn id(message: &Message, label: &str) -> String {
    message.button(label).unwrap()["custom_id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn facts_without_log_channel_go_to_game_master() {
    let facts: Vec<String> = (1..=6).map(|it| format!("The silver key opens door {it}.")).collect();
    let server = writer(&facts.iter().map(String::as_str).collect::<Vec<_>>());
    let (hall, dora) = Hall::in_session(Options::default(), &with_model(&server)).await;
    play(&hall, &dora).await;
    let word = hall.reads(|it| it.content().contains("facts wait")).await;
    assert_eq!(word.content(), "6 facts wait for the game master (/session facts).");
    let anna = hall.inn.add_member("Anna", &[]);
    let refused = hall.told(&anna, Slash::new("session facts")).await;
    assert!(refused.contains("only game masters"), "{refused}");
    let list = hall.asks(&hall.dm, Slash::new("session facts")).await;
    assert!(list.ephemeral() && list.text().contains("Facts waiting: 6"), "{}", list.text());
    let list = list.message.unwrap();
    let channel = hall.inn.text;
    let second = presses(&hall, (channel, &list), &hall.dm, "On").await.message.unwrap();
    assert!(second.text().contains("6. **"), "{}", second.text());
    let one = presses(&hall, (channel, &second), &hall.dm, "Accept 6").await.message.unwrap();
    assert!(one.text().contains("Accepted by Dora"), "{}", one.text());
    assert!(one.text().contains("Facts waiting: 5"), "{}", one.text());

    // Two lists of one game master show the same fact; it is decided once.
    let other = hall.asks(&hall.dm, Slash::new("session facts")).await.message.unwrap();
    let (first, again) = tokio::join!(
        presses(&hall, (channel, &one), &hall.dm, "Reject 1"),
        presses(&hall, (channel, &other), &hall.dm, "Accept 1")
    );
    let both = [first.text(), again.text()];
    let count = |text: &str| both.iter().filter(|it| it.contains(text)).count();
    let once = count("Rejected by Dora") + count("Accepted by Dora");
    let before = count("Was rejected before") + count("Was accepted before");
    assert_eq!((once, before), (1, 1), "{both:?}");
    hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn disabled_consolidation_asks_no_model() {
    let server = writer(&["The silver key is under the mill."]);
    let off = format!("{}memory: {{ consolidate: false }}\n", with_model(&server));
    let (hall, dora) = Hall::in_session(Options::default(), &off).await;
    play(&hall, &dora).await;
    let none = hall.told(&hall.dm, Slash::new("session facts")).await;
    assert!(none.contains("memory.consolidate is off"), "{none}");
    assert_eq!(recaps(&server), 0);
    let recap = Slash::new("session recap").option("audience", "dm");
    let told = hall.told(&hall.dm, recap).await;
    assert!(told.contains("1 facts wait for your decision"), "{told}");
    assert_eq!(recaps(&server), 1);
    hall.ends();

    let failing = ChatServer::start();
    failing.otherwise(|request| {
        match String::from_utf8_lossy(&request.body).contains("recap of a session") {
            true => Script::error(401, "invalid_request_error", "no key"),
            false => Script::text(&["Aye", "."]),
        }
    });
    let (hall, dora) = Hall::in_session(Options::default(), &with_model(&failing)).await;
    play(&hall, &dora).await;
    let word = hall.reads(|it| it.content().contains("I couldn't look for facts")).await;
    assert!(word.content().contains("use /session recap"), "{}", word.content());
    hall.ends();
}
