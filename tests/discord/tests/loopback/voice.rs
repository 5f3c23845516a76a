//! Voice states: users in channels, and the clients that get the events.

use crate::client::{Gateway, Rest};
use discord_loopback::{Discord, Guild, Options, Overwrite, permission};
use serde_json::{Value, json};

/// A guild, and the bot's gateway, which has received it.
async fn table() -> (Discord, Guild, Gateway) {
    let discord = Discord::start(Options::default()).await.unwrap();
    let inn = discord.guild("The Prancing Pony");
    let (mut bot, _) = Gateway::bot(&discord).await;
    bot.event("GUILD_CREATE").await;
    (discord, inn, bot)
}

/// Op 4.
fn sit(guild: &Guild, channel: Option<u64>) -> Value {
    let channel = channel.map(|id| id.to_string());
    json!({"guild_id": guild.id.to_string(), "channel_id": channel, "self_mute": false, "self_deaf": false})
}

#[tokio::test]
async fn joining_gives_a_seat_and_a_server() {
    let (discord, inn, mut bot) = table().await;
    bot.send(4, sit(&inn, Some(inn.voice))).await;
    let state = bot.event("VOICE_STATE_UPDATE").await;
    assert_eq!(
        (&state["channel_id"], &state["user_id"]),
        (&json!(inn.voice.to_string()), &json!(discord.bot().to_string()))
    );
    let server = bot.event("VOICE_SERVER_UPDATE").await;
    assert!(server["endpoint"].as_str().unwrap().starts_with("127.0.0.1:"));
    let mut deaf = sit(&inn, Some(inn.voice));
    deaf["self_deaf"] = json!(true);
    bot.send(4, deaf.clone()).await;
    assert_eq!(bot.event("VOICE_STATE_UPDATE").await["self_deaf"], true);
    assert!(bot.so_far().await.is_empty(), "the server stays");
    bot.send(4, deaf).await;
    bot.event("VOICE_SERVER_UPDATE").await;
    inn.member(discord.bot()).disconnect();
    let gone = bot.event("VOICE_STATE_UPDATE").await;
    assert_eq!((&gone["channel_id"], &gone["session_id"]), (&Value::Null, &state["session_id"]));
    assert!(inn.seated(inn.voice).is_empty());
    assert_eq!(discord.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn full_and_forbidden_channels_say_nothing() {
    let (discord, inn, mut bot) = table().await;
    let anna = inn.add_member("Anna", &[]);
    let nook = inn.add_voice("Nook", 1);
    let _player = discord.join_voice(&anna, nook).await.unwrap();
    assert_eq!(bot.event("VOICE_STATE_UPDATE").await["user_id"], anna.id.to_string());
    bot.send(4, sit(&inn, Some(nook))).await;
    assert!(bot.so_far().await.is_empty());
    inn.set_overwrite(inn.voice, Overwrite::Role(inn.bot_role), 0, permission::CONNECT);
    bot.event("CHANNEL_UPDATE").await;
    bot.send(4, sit(&inn, Some(inn.voice))).await;
    bot.send(4, sit(&inn, Some(inn.text))).await;
    assert!(bot.so_far().await.is_empty());
    inn.set_seats(nook, 2);
    bot.send(4, sit(&inn, Some(nook))).await;
    bot.event("VOICE_SERVER_UPDATE").await;
    assert_eq!(inn.seated(nook).len(), 2);
    inn.delete_channel(nook);
    assert_eq!(bot.so_far().await, ["VOICE_STATE_UPDATE", "VOICE_STATE_UPDATE", "CHANNEL_DELETE"]);
    assert_eq!(anna.voice_channel(), None);
}

#[tokio::test]
async fn moving_and_stages() {
    let (discord, inn, mut bot) = table().await;
    let rest = Rest::new(&discord);
    bot.send(4, sit(&inn, Some(inn.voice))).await;
    bot.event("VOICE_SERVER_UPDATE").await;
    let stage = inn.add_stage("Stage");
    bot.event("CHANNEL_CREATE").await;
    bot.send(4, sit(&inn, Some(stage))).await;
    assert_eq!(bot.event("VOICE_STATE_UPDATE").await["suppress"], true);
    bot.event("VOICE_SERVER_UPDATE").await;
    let path = format!("/guilds/{}/voice-states/@me", inn.id);
    let speak = json!({"channel_id": stage.to_string(), "suppress": false});
    assert_eq!(rest.ask("PATCH", &path, speak.clone()).await.1["code"], 50_013);
    inn.set_role(inn.bot_role, permission::MUTE_MEMBERS);
    assert_eq!(rest.ask("PATCH", &path, speak).await.0, 204);
    assert_eq!(bot.event("VOICE_STATE_UPDATE").await["suppress"], false);
    assert!(inn.member(discord.bot()).move_to(inn.voice).is_none(), "the bot is notified");
    assert_eq!(bot.event("VOICE_STATE_UPDATE").await["channel_id"], inn.voice.to_string());
    bot.event("VOICE_SERVER_UPDATE").await;
    bot.send(4, sit(&inn, None)).await;
    assert_eq!(bot.event("VOICE_STATE_UPDATE").await["channel_id"], Value::Null);
    assert_eq!(rest.get(&path).await.1["code"], 10_065);
}
