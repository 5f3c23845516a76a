//! Two Discord servers play the shipped campaign: neither sees anything of the other's.

use std::time::Duration;

use discord_loopback::{AUDIBLE, Guild, Member, Options, Player, Slash, permission};

use crate::{
    bot::hall::{BOUND, Hall},
    support::chat_server::{ChatServer, Script},
};

/// What only the first of them knows.
const MARKER: &str = "zanzibar";
/// What is asked in the other one, with the words around it.
const QUESTION: &str = "where is the copper key that we spoke of last session";

/// One of the two, with its game master.
struct House<'a> {
    hall: &'a Hall,
    guild: &'a Guild,
    dm: &'a Member,
    player: Player,
}

impl<'a> House<'a> {
    async fn opened(hall: &'a Hall, guild: &'a Guild, dm: &'a Member) -> Self {
        let player = hall.discord.join_voice(dm, guild.voice).await.unwrap();
        let house = Self { hall, guild, dm, player };
        let started = house.told(Slash::new("session start")).await;
        assert!(started.contains("I listen"), "{started}");
        house
    }

    /// All that is read of an answer.
    async fn told(&self, slash: Slash) -> String {
        let sent = self.hall.discord.command(self.dm, self.guild.text, slash).await.unwrap();
        let answer = sent.wait_final(BOUND).await.unwrap();
        let files = answer.message.as_ref().map(|it| it.files()).unwrap_or_default();
        format!("{}\n{files:?}", answer.text())
    }

    /// Says something to Tessa, until she has answered.
    async fn says(&self, text: &str) {
        let (bot, quiet) = (self.hall.discord.bot(), Duration::from_millis(700));
        self.player.wait_for_silence(bot, quiet, BOUND).await.unwrap();
        self.player.forget();
        self.told(Slash::new("say").option("text", text).option("npc", "Tessa")).await;
        self.player.wait_for_voice(bot, AUDIBLE, BOUND).await.unwrap();
        self.player.wait_for_silence(bot, quiet, BOUND).await.unwrap();
    }
}

/// Everything that was sent to the model since the first `skipped` requests.
fn on_the_wire(model: &ChatServer, skipped: usize) -> String {
    let requests = model.requests().into_iter().skip(skipped);
    requests.map(|it| String::from_utf8_lossy(&it.body).to_lowercase()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_learned_and_named_in_one_shows_nowhere_in_the_other() {
    let model = ChatServer::start();
    model.otherwise(|_| Script::text(&["I will keep it in mind", "."]));
    let more = format!(
        "providers:\n  llm: {{ name: openai, base_url: \"{}\", model: m }}\nmemory: {{ consolidate: \
         false }}\nfile_io: {{ base_dir: notes }}\nnpcs:\n  - name: Tessa\n    voice: {{ voice_id: slt \
         }}\n    tools: [memory.search_facts, memory.query_entities]\n    budget_tier: deep\n",
        model.base_url()
    );
    let mut hall = Hall::new(Options::default(), &more).await;
    let abbey = hall.discord.guild("The Abbey");
    let steward = abbey.add_role("Steward", permission::MANAGE_GUILD);
    let abbot = abbey.add_member("Dora", &[steward]);
    hall.start().await;

    let inn = House::opened(&hall, &hall.inn, &hall.dm).await;
    inn.says(&format!("the copper key of {MARKER} is under the mill")).await;
    let gate = format!("Gate of {MARKER}");
    inn.told(Slash::new("entity add").option("name", gate.as_str()).option("type", "location"))
        .await;
    let note = format!(r#"{{"path": "key.txt", "content": "{MARKER}"}}"#);
    let call = || Slash::new("tools call");
    inn.told(call().option("tool", "file-io.write_file").option("arguments", note.as_str())).await;
    inn.told(Slash::new("session stop")).await;
    let again = House::opened(&hall, &hall.inn, &hall.dm).await;
    let before = model.requests().len();
    again.says(QUESTION).await;
    assert!(on_the_wire(&model, before).contains(MARKER), "who was there is reminded of it");
    again.told(Slash::new("session stop")).await;

    let other = House::opened(&hall, &abbey, &abbot).await;
    let before = model.requests().len();
    other.says(QUESTION).await;
    other.says(&format!("what do you know of the {}", "gate")).await;
    let seen = on_the_wire(&model, before);
    assert!(seen.contains("copper key") && !seen.contains(MARKER), "{seen}");
    let search =
        |tool: &str, arguments: &str| call().option("tool", tool).option("arguments", arguments);
    let mut replies = Vec::new();
    for slash in [
        Slash::new("entity list"),
        Slash::new("campaign info"),
        Slash::new("session facts"),
        Slash::new("session status"),
        Slash::new("session recap"),
        Slash::new("session recap").option("audience", "dm"),
        Slash::new("privacy export"),
        Slash::new("privacy delete"),
        search("memory.search_facts", r#"{"query": "copper key under the mill"}"#),
        search("memory.query_entities", r#"{"name": "gate"}"#),
        search("session-manager.search_history", r#"{"query": "copper key under the mill"}"#),
        search("file-io.read_file", r#"{"path": "key.txt"}"#),
    ] {
        replies.push(other.told(slash).await);
    }
    let replies = replies.join("\n").to_lowercase();
    assert!(!replies.contains(MARKER), "{replies}");
    let text: String = hall.discord.messages(abbey.text).iter().map(|it| it.text()).collect();
    assert!(!text.to_lowercase().contains(MARKER), "{text}");
    other.told(Slash::new("session stop")).await;

    // What the other one has forgotten of Dora is theirs; the inn still has hers.
    let owner = |guild: &Guild| guild.id.to_string();
    let (inn_id, abbey_id) = (owner(&hall.inn), owner(&abbey));
    let found = |guild: &str| {
        let search = ["memory", "search", "copper key", "--guild", guild, "--json"];
        hall.place.run(&search).ends_with(0).stdout.to_lowercase()
    };
    assert!(found(&inn_id).contains(MARKER));
    assert!(found(&abbey_id).contains("copper key") && !found(&abbey_id).contains(MARKER));
    drop((inn, again, other));
    let program = hall.program.take().unwrap();
    assert_eq!(program.terminate(), 0);
    for entry in std::fs::read_dir(hall.place.path("data/sessions")).unwrap() {
        let path = entry.unwrap().path();
        if path.display().to_string().contains(&abbey_id) {
            let kept = std::fs::read_to_string(&path).unwrap().to_lowercase();
            assert!(!kept.contains(MARKER), "{}", path.display());
        }
    }
}
