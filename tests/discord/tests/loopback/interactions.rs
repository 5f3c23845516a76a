//! Interactions: typed, sent, answered in time or not.

use crate::client::{Gateway, Rest, SOON};
use discord_loopback::{Answer, Discord, Guild, Member, Options, Slash};
use serde_json::{Value, json};
use std::time::Duration;

/// A table with a bot that has registered commands.
struct Table {
    discord: Discord,
    inn: Guild,
    anna: Member,
    rest: Rest,
    bot: Gateway,
}

/// Commands of every kind.
fn commands() -> Value {
    let name = json!({"type": 3, "name": "name", "description": "who", "required": true, "autocomplete": true});
    let turns = json!({"type": 4, "name": "turns", "description": "how many", "min_value": 1, "max_value": 9});
    let tier = json!({"type": 3, "name": "tier", "description": "which", "choices": [{"name": "Fast", "value": "fast"}]});
    let player = json!({"type": 6, "name": "player", "description": "whose"});
    let file = json!({"type": 11, "name": "file", "description": "what"});
    json!([
        {"name": "npc", "description": "NPCs", "options": [
            {"type": 1, "name": "direct", "description": "a note", "options": [name, turns, tier, player]},
            {"type": 1, "name": "import", "description": "a file", "options": [file]}]},
        {"name": "setup", "description": "sets up", "default_member_permissions": "32"},
    ])
}

impl Table {
    async fn new() -> Self {
        Self::with(Options::default()).await
    }

    async fn with(options: Options) -> Self {
        let discord = Discord::start(options).await.unwrap();
        let inn = discord.guild("The Prancing Pony");
        let anna = inn.add_member("Anna", &[]);
        let rest = Rest::new(&discord);
        let path = format!("/applications/{}/guilds/{}/commands", discord.bot(), inn.id);
        assert_eq!(rest.ask("PUT", &path, commands()).await.0, 200);
        let (bot, _) = Gateway::bot(&discord).await;
        Self { discord, inn, anna, rest, bot }
    }

    /// Uses a command; the bot answers with `answer`, and gets what came of that.
    async fn command(&mut self, slash: Slash, answer: Value) -> (Answer, Value, (u16, Value)) {
        let bot = async {
            let event = self.bot.event("INTERACTION_CREATE").await;
            let told = self.rest.ask("POST", &callback(&event), answer).await;
            (event, told)
        };
        let (answer, (event, told)) =
            tokio::join!(self.discord.command(&self.anna, self.inn.text, slash), bot);
        (answer.unwrap(), event, told)
    }
}

/// Path for follow-ups to an interaction.
fn webhook(discord: &Discord, event: &Value) -> String {
    format!("/webhooks/{}/{}", discord.bot(), event["token"].as_str().unwrap())
}

/// Path for the first answer to an interaction.
fn callback(event: &Value) -> String {
    format!(
        "/interactions/{}/{}/callback",
        event["id"].as_str().unwrap(),
        event["token"].as_str().unwrap()
    )
}

/// `/npc direct` for Bartok.
fn direct() -> Slash {
    Slash::new("npc direct").option("name", "Bartok")
}

#[tokio::test]
async fn deferral_an_edit_and_a_follow_up() {
    let mut table = Table::new().await;
    let anna = table.anna.id;
    let slash = direct().option("turns", 3).option("tier", "Fast").option("player", anna);
    let (answer, event, told) =
        table.command(slash, json!({"type": 5, "data": {"flags": 64}})).await;
    assert_eq!(told.0, 204);
    let options = &event["data"]["options"][0];
    assert_eq!((&options["name"], &options["type"]), (&json!("direct"), &json!(1)));
    assert_eq!(options["options"][2], json!({"name": "tier", "type": 3, "value": "fast"}));
    assert_eq!(event["data"]["resolved"]["users"][anna.to_string()]["username"], "Anna");
    assert_eq!(event["member"]["user"]["id"], anna.to_string());
    let first = answer.now();
    assert!(first.deferred() && first.ephemeral() && !first.settled && first.after.unwrap() < SOON);
    let hook = webhook(&table.discord, &event);
    let (status, _) = table
        .rest
        .ask("PATCH", &format!("{hook}/messages/@original"), json!({"content": "done"}))
        .await;
    assert_eq!(status, 200);
    let last = answer.wait_final(SOON).await.unwrap();
    assert_eq!((last.text().as_str(), last.ephemeral()), ("done", true));
    let (_, more) = table.rest.ask("POST", &hook, json!({"content": "more"})).await;
    let id = more["id"].as_str().unwrap();
    let (status, _) = table
        .rest
        .ask("PATCH", &format!("{hook}/messages/{id}"), json!({"content": "more still"}))
        .await;
    assert_eq!(status, 200);
    assert_eq!(answer.now().text(), "done\nmore still");
    let everyone = table.discord.messages(table.inn.text);
    assert_eq!(everyone.len(), 1, "the follow-up is for all: {everyone:?}");
    assert_eq!(table.discord.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn first_follow_up_fills_the_deferral_in() {
    let mut table = Table::new().await;
    let (answer, event, _) = table.command(direct(), json!({"type": 5})).await;
    assert_eq!(
        table
            .rest
            .ask("POST", &webhook(&table.discord, &event), json!({"content": "here"}))
            .await
            .0,
        200
    );
    let last = answer.now();
    assert_eq!((last.text().as_str(), last.follow_ups.len()), ("here", 0));
}

#[tokio::test]
async fn twice_is_once_too_often() {
    let mut table = Table::new().await;
    let say = json!({"type": 4, "data": {"content": "hello"}});
    let (_, event, told) = table.command(direct(), say.clone()).await;
    assert_eq!(told.0, 204);
    let (status, body) = table.rest.ask("POST", &callback(&event), say).await;
    assert_eq!((status, &body["code"]), (400, &json!(40_060)));
    assert_eq!(table.discord.violations().len(), 1);
}

#[tokio::test]
async fn late_is_never() {
    let mut table = Table::new().await;
    let bot = async {
        let event = table.bot.event("INTERACTION_CREATE").await;
        table.discord.advance(Duration::from_secs(4));
        let late = table.rest.ask("POST", &callback(&event), json!({"type": 5})).await;
        let after =
            table.rest.ask("POST", &webhook(&table.discord, &event), json!({"content": "x"})).await;
        (late, after)
    };
    let (answer, (late, after)) =
        tokio::join!(table.discord.command(&table.anna, table.inn.text, direct()), bot);
    assert_eq!((late.0, &late.1["code"]), (404, &json!(10_062)));
    assert_eq!(after.1["code"], 10_015);
    assert!(answer.unwrap().now().kind.is_none());
    let violations = table.discord.violations();
    assert!(
        violations.iter().any(|one| one.contains("/npc direct: first answered after ")),
        "{violations:?}"
    );
}

#[tokio::test]
async fn tokens_last_a_quarter_of_an_hour() {
    let mut table = Table::new().await;
    let (_, event, _) = table.command(direct(), json!({"type": 5})).await;
    table.discord.advance(Duration::from_secs(14 * 60));
    let original = format!("{}/messages/@original", webhook(&table.discord, &event));
    assert_eq!(table.rest.ask("PATCH", &original, json!({"content": "x"})).await.0, 200);
    table.discord.advance(Duration::from_secs(2 * 60));
    let (status, body) = table.rest.ask("PATCH", &original, json!({"content": "y"})).await;
    assert_eq!((status, &body["code"]), (401, &json!(50_027)));
}

#[tokio::test]
async fn invalid_slash_commands_are_not_sent() {
    let answer_within = Duration::from_millis(50);
    let table = Table::with(Options { answer_within, ..Options::default() }).await;
    let wrong = [
        Slash::new("npc"),
        Slash::new("npc fire"),
        Slash::new("dance"),
        Slash::new("npc direct"),
        direct().option("colour", "red"),
        direct().option("turns", 10),
        direct().option("turns", "three"),
        direct().option("tier", "slow"),
        direct().option("player", 5),
        Slash::new("setup"),
    ];
    for slash in wrong {
        let sent = table.discord.command(&table.anna, table.inn.text, slash.clone()).await;
        assert!(sent.is_err(), "{slash:?} was sent");
    }
    table.inn.open_command("setup");
    let sent = table.discord.command(&table.anna, table.inn.text, Slash::new("setup")).await;
    assert!(sent.is_ok(), "the guild's settings open it");
    assert!(table.discord.violations()[0].contains("/setup: not answered"));
}

#[tokio::test]
async fn choices_complete_what_is_typed() {
    let mut table = Table::new().await;
    let bot = async {
        let event = table.bot.event("INTERACTION_CREATE").await;
        let choices =
            json!({"type": 8, "data": {"choices": [{"name": "Bartok", "value": "bartok"}]}});
        assert_eq!(table.rest.ask("POST", &callback(&event), choices).await.0, 204);
        event
    };
    let typing = Slash::new("npc direct").option("name", "Ba");
    let (answer, event) =
        tokio::join!(table.discord.autocomplete(&table.anna, table.inn.text, typing, "name"), bot);
    let option = &event["data"]["options"][0]["options"][0];
    assert_eq!(option, &json!({"name": "name", "type": 3, "value": "Ba", "focused": true}));
    assert_eq!(answer.unwrap().now().choices(), [("Bartok".to_owned(), json!("bartok"))]);
}

#[tokio::test]
async fn files_come_with_commands() {
    let mut table = Table::new().await;
    let slash = Slash::new("npc import").file("file", "bartok.yaml", "text/yaml", b"name: Bartok");
    let (_, event, _) =
        table.command(slash, json!({"type": 4, "data": {"content": "thanks"}})).await;
    let id = event["data"]["options"][0]["options"][0]["value"].as_str().unwrap();
    let url = event["data"]["resolved"]["attachments"][id]["url"].as_str().unwrap();
    let url = url.replace(&table.discord.api_base(), &table.discord.http_base());
    assert_eq!(reqwest::get(url).await.unwrap().text().await.unwrap(), "name: Bartok");
}

#[tokio::test]
async fn buttons_menus_and_forms() {
    let mut table = Table::new().await;
    let button = |id: &str, disabled: bool| json!({"type": 2, "style": 1, "label": id, "custom_id": id, "disabled": disabled});
    let menu =
        json!({"type": 3, "custom_id": "who", "options": [{"label": "Bartok", "value": "bartok"}]});
    let rows = json!([{"type": 1, "components": [button("edit", false), button("off", true)]}, {"type": 1, "components": [menu]}]);
    let shown = json!({"type": 4, "data": {"content": "panel", "components": rows}});
    let (answer, ..) = table.command(direct(), shown).await;
    let panel = answer.now().message.unwrap();
    let (discord, anna, text) = (&table.discord, &table.anna, table.inn.text);
    assert!(discord.press(anna, text, panel.id, "off").await.is_err(), "disabled");
    assert!(discord.press(anna, text, panel.id, "none").await.is_err(), "not there");
    assert!(discord.choose(anna, (text, panel.id, "who"), &["nobody"]).await.is_err());
    let form = json!({"type": 9, "data": {"title": "Line", "custom_id": "line", "components": [
        {"type": 1, "components": [{"type": 4, "style": 2, "label": "Text", "custom_id": "text", "max_length": 9}]}]}});
    let rest = &table.rest;
    let bot = &mut table.bot;
    let mut answering = async |with: Value| {
        let event = bot.event("INTERACTION_CREATE").await;
        assert_eq!(rest.ask("POST", &callback(&event), with).await.0, 204);
        event
    };
    let update = json!({"type": 7, "data": {"content": "chosen"}});
    let (chosen, event) =
        tokio::join!(discord.choose(anna, (text, panel.id, "who"), &["bartok"]), answering(update));
    assert_eq!(
        (&event["data"]["values"], &event["message"]["content"]),
        (&json!(["bartok"]), &json!("panel"))
    );
    assert_eq!(chosen.unwrap().now().text(), "chosen");
    let (pressed, event) =
        tokio::join!(discord.press(anna, text, panel.id, "edit"), answering(form));
    assert_eq!(event["data"], json!({"custom_id": "edit", "component_type": 2}));
    let pressed = pressed.unwrap();
    assert_eq!(pressed.now().inputs(), [("text".to_owned(), "Text".to_owned())]);
    assert!(discord.submit(anna, &pressed, &[("text", "far too long")]).await.is_err());
    let said = json!({"type": 4, "data": {"content": "thanks", "flags": 64}});
    let (sent, event) =
        tokio::join!(discord.submit(anna, &pressed, &[("text", "short")]), answering(said));
    assert_eq!(event["data"]["components"][0]["components"][0]["value"], "short");
    assert!(sent.unwrap().now().ephemeral());
    assert_eq!(discord.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn answers_must_fit_what_was_asked() {
    let mut table = Table::new().await;
    let bot = async {
        let event = table.bot.event("INTERACTION_CREATE").await;
        let path = callback(&event);
        let update = json!({"type": 7, "data": {"content": "x"}});
        let (status, body) = table.rest.ask("POST", &path, update).await;
        assert_eq!((status, &body["code"]), (400, &json!(50_035)));
        let long = json!({"type": 4, "data": {"content": "x".repeat(2001)}});
        assert_eq!(table.rest.ask("POST", &path, long).await.0, 400);
        let good = json!({"type": 4, "data": {"content": "x"}});
        let (status, body) =
            table.rest.ask("POST", &format!("{path}?with_response=true"), good).await;
        assert_eq!((status, &body["resource"]["message"]["content"]), (200, &json!("x")));
    };
    let (answer, ()) =
        tokio::join!(table.discord.command(&table.anna, table.inn.text, direct()), bot);
    assert_eq!(answer.unwrap().now().text(), "x");
    assert_eq!(table.discord.violations().len(), 2);
}
