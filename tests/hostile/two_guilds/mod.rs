//! Two servers that play the same shipped campaign: what is done in one, the other sees nothing of.

mod orders;
mod side;

use std::{collections::BTreeSet, fs};

use discord_loopback::{Member, Options};
use serde_json::Value;

use self::{
    orders::{MARK, changes, looks, played, prepared, switched_back, typings},
    side::{Order, Side},
};
use crate::{
    bot::hall::{BOUND, Hall, kept_states},
    support::chat_server::{ChatServer, Script},
};

/// Question in both, so that an NPC who was there is reminded of it.
const QUESTION: &str = "what did anybody say of the key under the mill";

/// Words of the prompt that sums a session up.
const RECAP: &str = "recap of a session";

/// A bot in two servers, whose one NPC, Tessa, thinks with `model`.
fn configured(model: &ChatServer) -> String {
    format!(
        "# own cast\nproviders:\n  llm: {{ name: openai, base_url: \"{}\", model: m }}\nfile_io: {{ base_dir: notes \
         }}\nnpcs:\n  - name: Tessa\n    voice: {{ voice_id: slt }}\n    tools: [memory.*, dice-roller.*, \
         file-io.*, session-manager.*]\n    budget_tier: deep\n",
        model.base_url()
    )
}

/// Everything that was sent to the model since the first `skipped` requests.
fn on_the_wire(model: &ChatServer, skipped: usize) -> String {
    let requests = model.requests().into_iter().skip(skipped);
    requests.map(|it| String::from_utf8_lossy(&it.body).into_owned()).collect()
}

/// A model that answers, and finds a fact in what the first server has said.
fn writer() -> ChatServer {
    let model = ChatServer::start();
    model.otherwise(|request| {
        if !String::from_utf8_lossy(&request.body).contains(RECAP) {
            return Script::text(&["I will keep it in mind", "."]);
        }
        let lines = request.json["messages"][1]["content"].as_str().unwrap_or_default();
        let proof = lines.lines().find(|line| line.contains("zyxkey"));
        match proof.and_then(|line| line.strip_prefix('#')?.split(' ').next()) {
            None => Script::text(&["Somebody asked something. [1]\n"]),
            Some(number) => Script::text(&[
                &format!("Somebody spoke of the zyxkey. [{number}]\n"),
                &format!("FACT: The zyxkey is under the mill. [{number}]\n"),
            ]),
        }
    });
    model
}

/// Waits until this number of sessions were summed up.
async fn summed_up(model: &ChatServer, sessions: usize) {
    let all = async {
        loop {
            let asked = model.requests();
            let is_recap = |body: &[u8]| String::from_utf8_lossy(body).contains(RECAP);
            if asked.iter().filter(|it| is_recap(&it.body)).count() >= sessions {
                return;
            }
            model.received(asked.len() + 1).await;
        }
    };
    tokio::time::timeout(BOUND, all).await.expect("a session is summed up");
}

/// The paths of all commands that the bot has registered.
fn registered(hall: &Hall) -> BTreeSet<String> {
    fn leaves(one: &Value, above: &str, found: &mut BTreeSet<String>) {
        let path = format!("{above} {}", one["name"].as_str().unwrap()).trim().to_owned();
        let below = one["options"].as_array().into_iter().flatten();
        let mut below = below.filter(|it| it["type"] == 1 || it["type"] == 2).peekable();
        if below.peek().is_none() {
            found.insert(path);
            return;
        }
        below.for_each(|it| leaves(it, &path, found));
    }
    let mut found = BTreeSet::new();
    for command in hall.discord.commands(None) {
        leaves(&command, "", &mut found);
    }
    found
}

/// The first server plays, prepares, and plays again.
async fn plays(first: &Side<'_>, model: &ChatServer) {
    first.starts().await;
    for order in played() {
        let path = order.path;
        let answer = first.asks(order).await;
        assert!(!answer.contains("cannot be used now"), "{path}: {answer}");
    }
    first.says(&format!("the {MARK}key is under the mill, behind the {MARK}door")).await;
    first.asks(Order::new("session stop")).await;
    summed_up(model, 1).await;
    for order in prepared() {
        let answer = first.asks(order).await;
        assert!(answer.contains("1 added") || answer.contains("is played here"), "{answer}");
    }
    let before = model.requests().len();
    first.starts().await;
    first.says(QUESTION).await;
    assert!(!on_the_wire(model, before).contains("zyxkey"), "another campaign, another memory");
    first.asks(Order::new("session stop")).await;
    summed_up(model, 2).await;
    first.asks(switched_back()).await;
    let before = model.requests().len();
    first.starts().await;
    first.says(QUESTION).await;
    assert!(on_the_wire(model, before).contains("zyxkey"), "who was there is reminded of it");
    first.asks(Order::new("session stop")).await;
    summed_up(model, 3).await;
}

/// Component ids of the first server's messages, and its first session.
struct Stolen {
    ids: Vec<String>,
    session: String,
}

impl Stolen {
    async fn from(first: &Side<'_>) -> Self {
        let mut ids = Vec::new();
        for path in ["session facts", "privacy delete"] {
            let found = first.ids(Order::new(path)).await;
            assert!(!found.is_empty(), "{path}");
            ids.extend(found);
        }
        let of_theirs = format!("discord-{}-", first.guild.id);
        let names = kept_states(&first.hall.place).into_iter().map(|(name, _)| name);
        let session = names.filter(|name| name.starts_with(&of_theirs)).min().expect("one");
        Self { ids, session }
    }

    /// The recap of that session.
    fn recap(&self) -> Order {
        Order::new("session recap").with("which", &*self.session)
    }
}

/// Everything that the second server is shown, the model's requests for it included.
async fn looks_around(
    second: &Side<'_>,
    dora: &Member,
    stolen: &Stolen,
    model: &ChatServer,
) -> Vec<String> {
    let before = model.requests().len();
    second.starts().await;
    let mut seen = Vec::new();
    for order in looks().into_iter().chain(changes(dora.id)) {
        seen.push(second.asks(order).await);
    }
    let is_refused = |it: &String| it.contains("NPCs belong to all servers of this bot");
    assert!(seen.iter().any(is_refused), "an NPC for every server is imported: {seen:#?}");
    for (order, option) in typings() {
        seen.push(second.typing(order, option).await);
    }
    seen.push(second.asks(stolen.recap()).await);
    for id in &stolen.ids {
        seen.push(second.forges(None, id).await);
        seen.push(second.forges(Some(dora), id).await);
    }
    // She is the same person in both servers.
    for path in ["privacy export", "privacy delete", "character set", "privacy info"] {
        seen.push(second.asks_as(dora, Order::new(path)).await);
    }
    second.says(QUESTION).await;
    for path in ["xcard", "session stop"] {
        seen.push(second.asks(Order::new(path)).await);
    }
    seen.push(second.channel());
    let asked = on_the_wire(model, before);
    assert!(asked.contains(QUESTION), "the second server has asked the model");
    seen.push(asked);
    seen
}

/// Text of the program's files of one server alone: those whose path has its id.
fn files_of(hall: &Hall, guild: u64) -> Vec<String> {
    let mut folders = vec![hall.place.path("data"), hall.place.path("notes")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().contains(&guild.to_string()) {
                let text = fs::read(&path).expect("a file");
                found.push(format!("{}: {}", path.display(), String::from_utf8_lossy(&text)));
            }
        }
    }
    found
}

/// Memory and sessions of one server, as the program's own commands print them.
fn remembered(hall: &Hall, guild: u64) -> String {
    let guild = guild.to_string();
    let ask = |words: &[&str]| {
        let words = [words, &["--guild", &guild]].concat();
        hall.place.run(&words).stdout
    };
    [
        ask(&["memory", "search", "key under the mill", "--json"]),
        ask(&["memory", "entity", "grim"]),
        ask(&["memory", "facts", "--all", "--json"]),
        ask(&["session", "list"]),
    ]
    .join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn guild_actions_are_invisible_to_other_guilds() {
    let model = writer();
    let mut hall = Hall::new(Options::default(), &configured(&model)).await;
    let other = hall.discord.guild("The Sunken Oar");
    let (theirs, dora) = (other.owner(), other.invite(&hall.dm));
    let ids = (hall.inn.id, other.id);
    hall.start().await;
    let orders = || played().into_iter().chain(prepared()).chain(looks()).chain(changes(0));
    let mut tried: BTreeSet<String> = orders().map(|it| it.path.to_owned()).collect();
    tried.extend(["session stop", "say", "xcard"].map(str::to_owned));
    assert_eq!(tried, registered(&hall), "every command, and none that is gone");
    let (seen, own) = {
        let first = Side::sit_down(&hall, hall.inn.clone(), hall.dm.clone()).await;
        plays(&first, &model).await;
        let second = Side::sit_down(&hall, other, theirs).await;
        let stolen = Stolen::from(&first).await;
        let seen = looks_around(&second, &dora, &stolen, &model).await;
        let mut own = vec![first.asks(stolen.recap()).await];
        for path in ["entity list", "privacy export", "session facts"] {
            own.push(first.asks(Order::new(path)).await);
        }
        own.push(first.typing(Order::new("campaign switch").with("name", MARK), "name").await);
        (seen, own)
    };
    for text in own {
        assert!(text.contains(MARK), "the first server still has its own: {text}");
    }
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
    assert!(remembered(&hall, ids.0).contains("zyxkey"), "what the second deletes is its own");
    let files = files_of(&hall, ids.1);
    assert!(!files.is_empty(), "the second server has kept something");
    for text in seen.into_iter().chain(files).chain([remembered(&hall, ids.1)]) {
        assert!(!text.contains(MARK), "of the other server: {text}");
    }
    assert_eq!(hall.discord.violations(), Vec::<String>::new());
}
