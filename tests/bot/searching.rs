//! Searches of the web, asked for in writing and aloud.

use std::time::Duration;

use discord_loopback::{Message, Options, Slash};

use super::{
    consolidating::log_channel,
    hall::{BOUND, Hall, said},
};
use crate::support::{
    chat_server::{ChatServer, Recorded, Script},
    searches::{Hit, Kind, Searches, Way},
    web_server::Gate,
};

/// Source that describes the mill.
const SOURCE: &str = "https://mill.example.org/old";
/// Question to Tessa.
const ASKED: &str = "Tessa, search the web for the old mill";
/// The game master's question to the assistant.
const QUESTION: &str = "search the web for the old mill";

/// Results of the search.
fn mill() -> Vec<Hit> {
    vec![Hit::new("The Old Mill", SOURCE, "The old mill grinds the corn of seven villages.")]
}

/// The result that a model reads last, if it reads one.
fn result(request: &Recorded) -> Option<&str> {
    let last = request.json["messages"].as_array()?.last()?;
    last["content"].as_str().filter(|_| last["role"] == "tool")
}

/// A model that searches where it may, and answers with what was found and where.
fn model() -> ChatServer {
    let model = ChatServer::start();
    model.otherwise(|request| {
        let may_search = request.json["tools"].to_string().contains("\"search\"");
        match result(request) {
            Some(text) if text.contains(SOURCE) => {
                Script::text(&["It grinds corn. Source: ", SOURCE])
            }
            Some(_) => Script::text(&["I am still looking."]),
            None if may_search => {
                Script::calls(&[("c", "search", "{\"query\": \"old mill Ravenford\"}")])
            }
            None => Script::text(&["I know nothing of it."]),
        }
    });
    model
}

/// Tessa, who thinks there and may search, and says something while she does.
fn with_search(model: &ChatServer, searches: &Searches) -> String {
    format!(
        "tools: {{ selection: {{ top_k: 60 }} }}\nproviders:\n  llm: {{ name: openai, base_url: \
         \"{}\", model: m, free: true }}\n{}npcs:\n  - name: Tessa\n    voice: {{ voice_id: slt }}\n    \
         tools: [\"web-search.*\"]\n    budget_tier: deep\n    fillers: [\"Let me think about that for \
         a little moment.\"]\n",
        model.base_url(),
        searches.entry(", free: true")
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn assistant_answers_from_a_search() {
    let (model, searches) = (model(), Searches::finding(Kind::Brave, &mill()));
    let (hall, _dora) = Hall::in_session(Options::default(), &with_search(&model, &searches)).await;
    let anna = hall.inn.add_member("Anna", &[]);
    let ask = || Slash::new("ask").option("text", QUESTION);
    assert!(hall.told(&anna, ask()).await.contains("only game masters"));
    let answer = hall.told(&hall.dm, ask()).await;
    assert!(answer.contains(SOURCE), "it names its source: {answer}");
    assert!(answer.contains("used: web-search.search"), "{answer}");
    assert_eq!(searches.queries(), ["old mill Ravenford"]);
    assert_eq!(searches.refused(), [""; 0]);
    let info = hall.told(&anna, Slash::new("privacy info")).await;
    assert!(info.to_lowercase().contains("brave"), "players learn who is asked: {info}");
    hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn late_search_reaches_the_game_master() {
    let (model, searches, gate) = (model(), Searches::start(Kind::SearXng), Gate::default());
    searches.otherwise(Way::FindsLater(gate.clone(), mill()));
    let (hall, _dora) = Hall::in_session(Options::default(), &with_search(&model, &searches)).await;
    let log = log_channel(&hall).await;
    let answer = hall.told(&hall.dm, Slash::new("ask").option("text", QUESTION)).await;
    assert!(answer.contains("I am still looking."), "{answer}");
    gate.open();
    let is_late = |it: &Message| it.text().contains("web-search.search for ");
    let late = hall.discord.wait_for_message(log, BOUND, is_late).await.unwrap().text();
    assert!(late.contains(SOURCE), "{late}");
    hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn answer_waits_where_nothing_else_is_private() {
    let (model, searches, gate) = (model(), Searches::start(Kind::SearXng), Gate::default());
    searches.otherwise(Way::FindsLater(gate.clone(), mill()));
    let (hall, _dora) = Hall::in_session(Options::default(), &with_search(&model, &searches)).await;
    let asking = hall.told(&hall.dm, Slash::new("ask").option("text", QUESTION));
    let finding = async {
        // The second request says that the search is still at work.
        model.received(2).await;
        gate.open();
    };
    let (answer, ()) = tokio::join!(asking, finding);
    assert!(answer.contains("I am still looking.") && answer.contains(SOURCE), "{answer}");
    hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn npc_searches_after_a_spoken_question() {
    let (model, searches, gate) = (model(), Searches::start(Kind::Tavily), Gate::default());
    searches.otherwise(Way::FindsLater(gate.clone(), mill()));
    let config = with_search(&model, &searches);
    let (hall, [_dora, player]) = Hall::with_player(Options::default(), &config, "Anna").await;
    let (bot, quiet) = (hall.discord.bot(), Duration::from_millis(500));
    player.forget();
    player.say(&said("slt", ASKED)).await.unwrap();
    // Nothing is found yet: a filler is what sounds.
    player.wait_until_heard(bot, BOUND).await.unwrap();
    gate.open();
    let has_read =
        || model.requests().iter().any(|it| result(it).is_some_and(|it| it.contains(SOURCE)));
    hall.until_told(&hall.dm, Slash::new("session status"), |_| has_read()).await;
    hall.reads(|it| it.text().contains("1 answered") || it.text().contains("2 answered")).await;
    player.wait_for_silence(bot, quiet, BOUND).await.unwrap();
    // Tools of the web are for deep turns, which her words asked for.
    assert_eq!(searches.queries(), ["old mill Ravenford"]);
    assert_eq!(searches.refused(), [""; 0]);
    let kept = hall.ends_keeping();
    assert!(kept.contains("It grinds corn."), "{kept}");
}
