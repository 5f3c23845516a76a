//! Files that change during a session.

use discord_loopback::{AUDIBLE, Options, Slash};
use serde_json::Value;

use super::hall::{BOUND, Hall};
use crate::support::chat_server::{ChatServer, Script};

const WORLD: &str = "campaign: { name: Raven, description: A wet town. }\n\
                     scenes: [{ name: Tankard, npcs: [Bartok] }]\n";
const MIRA: &str = "name: Mira\npersonality: A thief of the harbour.\ntools: [dice-roller.roll]\n\
                    voice: { provider: flite, voice_id: slt }\n";

/// A session whose NPCs and campaign are in files of its own.
async fn at_own_table(server: &ChatServer, more: &str) -> (Hall, discord_loopback::Player) {
    let settings = format!(
        "providers:\n  llm: {{ name: openai, base_url: \"{}\", model: test-model }}\n{more}",
        server.base_url()
    );
    let mut hall = Hall::new(Options::default(), &settings).await;
    let config = std::fs::read_to_string(hall.place.path("glyphoxa.yaml")).expect("it is written");
    let own = config.lines().map(|line| match line.split(':').next() {
        Some("campaign") => "campaign: world.yaml",
        Some("npc_dir") => "npc_dir: npcs",
        _ => line,
    });
    let own: Vec<&str> = own.collect();
    hall.place.write("glyphoxa.yaml", own.join("\n") + "\n");
    hall.place.write("world.yaml", WORLD);
    hall.place.write("npcs/bartok.yaml", "name: Bartok\n");
    hall.start().await;
    let dora = hall.discord.join_voice(&hall.dm, hall.inn.voice).await.expect("a seat");
    hall.told(&hall.dm, Slash::new("session start")).await;
    hall.listens_to("Dora").await;
    (hall, dora)
}

impl Hall {
    /// Says a line to an NPC; what its model was asked then.
    async fn asks_npc(&self, server: &ChatServer, npc: &str) -> Value {
        let before = server.requests().len();
        let say = Slash::new("say").option("text", "Well, hello there").option("npc", npc);
        let shown = self.asks(&self.dm, say).await.text();
        assert!(shown.contains("Well, hello there"), "{shown}");
        server.received(before + 1).await;
        server.requests()[before].json.clone()
    }

    /// The panel, once this is noted there.
    async fn notes(&self, part: &str) -> String {
        self.reads(|it| it.text().contains(part)).await.text()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn npcs_and_campaign_change_during_session() {
    let server = ChatServer::start();
    server.otherwise(|_| Script::text(&["Good evening to you", "."]));
    let (hall, dora) = at_own_table(&server, "").await;
    let asked = hall.asks_npc(&server, "Bartok").await.to_string();
    assert!(asked.contains("A wet town."), "{asked}");
    let nobody = hall.told(&hall.dm, Slash::new("npc mute").option("name", "Mira")).await;
    assert!(nobody.contains("unknown npc 'Mira'"), "{nobody}");

    // A broken file changes nothing, and says what is wrong with it.
    hall.place.write("npcs/mira.yaml", MIRA.replace("tools:", "tolls:"));
    let told = hall.notes("changed files are ignored").await;
    assert!(told.contains("unknown key 'tolls'"), "{told}");
    hall.asks_npc(&server, "Bartok").await;

    // The scene has her as well, so that she is there at once.
    hall.place.write(
        "world.yaml",
        WORLD.replace("A wet town.", "A burnt town.").replace("[Bartok]", "[Bartok, Mira]"),
    );
    hall.place.write("npcs/mira.yaml", MIRA);
    hall.notes("joins: Mira; in effect now: campaign").await;
    let bot = hall.discord.bot();
    dora.wait_for_silence(bot, std::time::Duration::from_millis(500), BOUND)
        .await
        .expect("silence");
    dora.forget();
    let asked = hall.asks_npc(&server, "Mira").await;
    let text = asked.to_string();
    assert!(text.contains("A thief of the harbour.") && text.contains("A burnt town."), "{text}");
    assert_eq!(asked["tools"].as_array().map(Vec::len), Some(1), "{asked:#}");
    dora.wait_for_voice(bot, AUDIBLE, BOUND).await.expect("she has a voice");
    let asked = hall.asks_npc(&server, "Bartok").await.to_string();
    assert!(asked.contains("A burnt town.") && !asked.contains("A wet town."), "{asked}");

    std::fs::remove_file(hall.place.path("npcs/mira.yaml")).expect("it was written");
    hall.place.write("world.yaml", WORLD);
    // She has left once before, so the note alone does not tell that she has again.
    let mute = Slash::new("npc mute").option("name", "Mira");
    hall.until_told(&hall.dm, mute, |told| told.contains("'Mira' (known: Bartok)")).await;
    let listed = hall.told(&hall.dm, Slash::new("npc list")).await;
    assert!(listed.contains("Bartok") && !listed.contains("Mira"), "{listed}");
    hall.asks_npc(&server, "Bartok").await;
    let kept = hall.ends_keeping();
    assert!(kept.contains("\"Mira\""), "what she remembers is kept: {kept}");
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_reload_at_once_and_token_on_restart() {
    let server = ChatServer::start();
    server.otherwise(|_| Script::text(&["Good evening to you", "."]));
    let more =
        "prices: { test-model: { input: 0, output: 1 } }\nlimits: { paid_turns_per_minute: 9 }\n";
    let (hall, _dora) = at_own_table(&server, more).await;
    let anna = hall.inn.add_member("Anna", &[]);
    let say = || Slash::new("say").option("text", "hello there").option("npc", "Bartok");
    hall.asks(&anna, say()).await;
    server.received(1).await;
    let config = std::fs::read_to_string(hall.place.path("glyphoxa.yaml")).expect("it is written");
    let token = "MTIz.another.token-of-mine";
    let config = config.replace("minute: 9", "minute: 1").replace(&hall.discord.token(), token);
    hall.place.write("glyphoxa.yaml", config);
    let told = hall.notes("in effect now: limits").await;
    assert!(told.contains("`discord.token` changed; it takes effect at the next start"), "{told}");
    assert!(!told.contains("token-of-mine"), "{told}");
    hall.asks(&anna, say()).await;
    let told = hall.notes("one moment, Anna").await;
    assert!(told.contains("up to 1 answers a minute"), "{told}");
    assert_eq!(server.requests().len(), 1);
    let said = hall.program.as_ref().expect("it was started").said().join("\n");
    assert!(!said.contains("token-of-mine"), "{said}");
    hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn new_outside_services_are_announced_to_players() {
    let server = ChatServer::start();
    server.otherwise(|_| Script::text(&["Good evening to you", "."]));
    let (hall, _dora) = at_own_table(&server, "").await;
    let near = "answered by test-model at 127.0.0.1";
    hall.reads(|it| it.text().contains(near) && !it.text().contains(", else ")).await;
    let config = std::fs::read_to_string(hall.place.path("glyphoxa.yaml")).expect("it is written");
    let far = "{ service: openai, as: far, base_url: \"https://api.example.com/v1\", model: gpt, \
               api_key: k, free: true }";
    let line = config.lines().find(|line| line.starts_with("  llm: ")).expect("a model");
    let list = format!("  llm:\n    - {}\n    - {far}", line.trim_start_matches("  llm: "));
    hall.place.write("glyphoxa.yaml", config.replace(line, &list));
    hall.notes("in effect now: providers.llm").await;
    let named = "else gpt at api.example.com (an outside service)";
    hall.reads(|it| it.text().contains(near) && it.text().contains(named)).await;
    hall.listens_to("Dora").await;
    let info = hall.told(&hall.dm, Slash::new("privacy info")).await;
    assert!(info.contains(named) && !info.contains("None of this leaves"), "{info}");
    hall.reads(|it| it.text().contains("model, else far")).await;
    hall.asks_npc(&server, "Bartok").await;
    hall.ends();
}
