//! Limits of one player's requests, at a table with others.

use discord_loopback::{Member, Options, Slash};
use serde_json::json;

use super::hall::Hall;
use crate::support::chat_server::{ChatServer, Script, Step};

/// Tessa, whose thoughts cost something, and these limits.
fn table(server: &ChatServer, limits: &str) -> String {
    format!(
        "providers:\n  llm: {{ name: openai, base_url: \"{}\", model: dear }}\n\
         prices: {{ dear: {{ input: 0, output: 1 }} }}\nlimits: {limits}\nnpcs:\n  - name: Tessa\n    \
         voice: {{ voice_id: slt }}\n",
        server.base_url()
    )
}

impl Hall {
    async fn says(&self, member: &Member, text: &str) {
        let say = Slash::new("say").option("text", text).option("npc", "Tessa");
        let shown = self.asks(member, say).await.text();
        assert!(shown.contains(text), "{shown}");
    }

    /// Text of a message for everyone, once `part` is in it.
    async fn shows(&self, part: &str) -> String {
        self.reads(|it| it.text().contains(part)).await.text()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn paid_answers_per_player_are_rate_limited() {
    let server = ChatServer::start();
    server.otherwise(|_| Script::text(&["Well met", "."]));
    let limits = "{ paid_turns_per_minute: 2 }";
    let (hall, _dora) = Hall::in_session(Options::default(), &table(&server, limits)).await;
    let [anna, ben] = ["Anna", "Ben"].map(|name| hall.inn.add_member(name, &[]));
    for (number, text) in ["hello there", "how are you"].into_iter().enumerate() {
        hall.says(&anna, text).await;
        server.received(number + 1).await;
    }
    hall.says(&anna, "and the weather").await;
    let told = hall.shows("one moment, Anna").await;
    assert!(told.contains("the NPCs hear you, and answer again shortly"), "{told}");
    assert!(told.contains("up to 2 answers a minute for each player"), "{told}");
    // Others are answered as before, and the game master has no limit.
    hall.says(&ben, "what about me").await;
    server.received(3).await;
    for number in 4..7 {
        hall.says(&hall.dm, "tell us of the mill").await;
        server.received(number).await;
    }
    let asked = server.requests();
    let last = asked.last().unwrap().json["messages"].as_array().unwrap().last().cloned();
    assert!(last.unwrap()["content"].to_string().contains("tell us of the mill"));
    assert_eq!(asked.len(), 6, "what was put off has asked nobody");
    hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn player_has_so_many_utterances_waiting() {
    let server = ChatServer::start();
    server.otherwise(|_| {
        let begun = json!({"role": "assistant", "content": "Let me"});
        Script::stream().chunk(begun, None).step(Step::Stall)
    });
    let limits = "{ waiting: 1 }";
    let (hall, _dora) = Hall::in_session(Options::default(), &table(&server, limits)).await;
    let [anna, ben] = ["Anna", "Ben"].map(|name| hall.inn.add_member(name, &[]));
    hall.says(&anna, "hello there").await;
    server.received(1).await;
    // One waits; the next is one too many. Ben has his own.
    hall.says(&anna, "how are you").await;
    hall.says(&ben, "what about me").await;
    hall.says(&anna, "and the weather").await;
    let told = hall.shows("one moment, Anna").await;
    assert!(told.contains("up to 1 utterances of each player wait for an answer"), "{told}");
    assert!(!told.contains("one moment, Ben"), "{told}");
    hall.ends();
}
