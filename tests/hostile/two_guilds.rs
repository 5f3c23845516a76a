//! Two servers that play the same shipped campaign: what is done in one, the other sees nothing of.

use discord_loopback::{AUDIBLE, Guild, Member, Options, Player, Slash};

use crate::{
    bot::hall::{BOUND, Hall},
    support::chat_server::{ChatServer, Script},
};

/// Begins every word that the first server brings in.
const MARK: &str = "zyx";

/// A server, its game master and a seat there.
struct Side {
    guild: Guild,
    dm: Member,
    seat: Player,
}

impl Side {
    async fn sit_down(hall: &Hall, guild: Guild, dm: Member) -> Self {
        let seat = hall.discord.join_voice(&dm, guild.voice).await.expect("a seat");
        Self { guild, dm, seat }
    }

    /// What the bot answers to the game master.
    async fn asks(&self, hall: &Hall, slash: Slash) -> String {
        let answer = hall.asks_in(&self.dm, self.guild.text, slash).await;
        let files = answer.message.iter().flat_map(|it| it.files());
        let files: Vec<String> = files.map(|(name, _)| name).collect();
        format!("{}{}", answer.text(), files.join(" "))
    }

    async fn starts(&self, hall: &Hall) {
        let started = self.asks(hall, Slash::new("session start")).await;
        assert!(started.contains("I listen"), "{started}");
        let text = self.guild.text;
        let heard = hall.discord.wait_for_message(text, BOUND, |it| {
            it.content().split("Heard:").nth(1).is_some_and(|rest| !rest.contains("nobody"))
        });
        heard.await.expect("somebody is heard");
    }

    /// Says something to Tessa and waits until she has answered.
    async fn says(&self, hall: &Hall, text: &str) {
        let bot = hall.discord.bot();
        let quiet = std::time::Duration::from_millis(700);
        self.seat.wait_for_silence(bot, quiet, BOUND).await.expect("it is quiet");
        self.seat.forget();
        self.asks(hall, Slash::new("say").option("text", text).option("npc", "Tessa")).await;
        self.seat.wait_for_voice(bot, AUDIBLE, BOUND).await.expect("she answers");
        self.seat.wait_for_silence(bot, quiet, BOUND).await.expect("she comes to an end");
    }
}

/// Everything that can be set, asked and loaded, with a marker in each.
async fn do_everything(hall: &Hall, first: &Side) {
    let campaign = format!("campaign: {{ name: {MARK}vale, description: {MARK}mist }}\n");
    let people = format!("entities:\n- {{ name: {MARK}anders, type: npc }}\n");
    let file = |path: &str, text: &str| {
        Slash::new(path).file("file", "world.yaml", "application/yaml", text.as_bytes())
    };
    let npc = |what: &str| Slash::new(&format!("npc {what}")).option("name", "Tessa");
    let marked = |word: &str| format!("{MARK}{word}");
    let all = [
        Slash::new("character set").option("name", &*marked("hero")),
        Slash::new("scene set").option("location", &*marked("mill")),
        npc("direct").option("note", &*marked("note")),
        npc("pin"),
        Slash::new("tools deny").option("npc", "Tessa").option("tool", "dice-roller.roll"),
        Slash::new("ask").option("text", &*marked("question")),
        Slash::new("tools call")
            .option("tool", "dice-roller.roll")
            .option("arguments", "{\"expression\": \"2d6\"}"),
    ];
    for slash in all {
        first.asks(hall, slash).await;
    }
    first.asks(hall, Slash::new("session stop")).await;
    first.asks(hall, file("campaign load", &campaign)).await;
    first.asks(hall, file("entity import", &people)).await;
    first.asks(hall, Slash::new("campaign switch").option("name", "Ravenford")).await;
}

/// Everything that shows something; each answer.
async fn look_everywhere(hall: &Hall, second: &Side) -> Vec<String> {
    let npc = |what: &str| Slash::new(&format!("npc {what}")).option("name", "Tessa");
    let all = [
        Slash::new("session status"),
        Slash::new("session recap"),
        Slash::new("session recap").option("audience", "dm"),
        Slash::new("session facts"),
        Slash::new("npc list"),
        npc("show"),
        Slash::new("scene show"),
        Slash::new("tier show"),
        Slash::new("tools list").option("npc", "Tessa"),
        Slash::new("tools servers"),
        Slash::new("entity list"),
        Slash::new("campaign info"),
        Slash::new("privacy info"),
        Slash::new("privacy export"),
        Slash::new("ask").option("text", "what do you remember of the key?"),
        Slash::new("tools call")
            .option("tool", "memory.search_sessions")
            .option("arguments", "{\"query\": \"key door\"}"),
        Slash::new("help"),
    ];
    let mut seen = Vec::new();
    for slash in all {
        seen.push(second.asks(hall, slash).await);
    }
    for (path, option) in
        [("entity show", "name"), ("campaign switch", "name"), ("session recap", "which")]
    {
        let typing = Slash::new(path).option(option, MARK);
        let (dm, text) = (&second.dm, second.guild.text);
        let Ok(completed) = hall.discord.autocomplete(dm, text, typing, option).await else {
            continue;
        };
        let choices = completed.wait_first(BOUND).await.expect("choices").choices();
        seen.extend(choices.into_iter().map(|(name, _)| name));
    }
    second.says(hall, "what did anybody say of the key and the door").await;
    seen.push(second.asks(hall, Slash::new("session stop")).await);
    seen
}

/// Files of the program that are the second server's, as text.
fn files_of(hall: &Hall, guild: u64) -> Vec<String> {
    let folder = std::fs::read_dir(hall.place.path("data/sessions")).expect("sessions");
    let files = folder.map(|file| file.expect("a file").path());
    let theirs = files.filter(|path| path.to_string_lossy().contains(&guild.to_string()));
    theirs.map(|path| std::fs::read_to_string(path).expect("text")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_set_and_loaded_in_one_server_no_other_sees() {
    let model = ChatServer::start();
    model.otherwise(|_| Script::text(&["I will keep it in mind", "."]));
    let more = format!(
        "providers:\n  llm: {{ name: openai, base_url: \"{}\", model: m }}\nnpcs:\n  - name: \
         Tessa\n    voice: {{ voice_id: slt }}\n    tools: [memory.*, dice-roller.*]\n    \
         budget_tier: deep\n",
        model.base_url()
    );
    let mut hall = Hall::new(Options::default(), &more).await;
    let other = hall.discord.guild("The Sunken Oar");
    let theirs = other.owner();
    hall.start().await;
    let dora = hall.dm.clone();
    let first = Side::sit_down(&hall, hall.inn.clone(), dora).await;
    let second = Side::sit_down(&hall, other, theirs).await;
    first.starts(&hall).await;
    do_everything(&hall, &first).await;
    let before = model.requests().len();
    second.starts(&hall).await;
    let mut seen = look_everywhere(&hall, &second).await;
    seen.extend(hall.discord.messages(second.guild.text).iter().map(|it| it.text()));
    let asked = model.requests().split_off(before);
    assert!(!asked.is_empty(), "the second server has asked the model");
    seen.extend(asked.iter().map(|it| String::from_utf8_lossy(&it.body).into_owned()));
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
    let files = files_of(&hall, second.guild.id);
    assert!(!files.is_empty(), "the second server has kept something");
    seen.extend(files);
    for text in seen {
        assert!(!text.contains(MARK), "of the other server: {text}");
    }
    assert_eq!(hall.discord.violations(), Vec::<String>::new());
}
