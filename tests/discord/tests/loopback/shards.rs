//! Shards: sessions of one bot that share its guilds.

use crate::client::{Gateway, INTENTS, Rest, SOON};
use discord_loopback::{Discord, Guild, Options, Slash};
use serde_json::{Value, json};
use std::time::Duration;

/// No waiting between identifies.
async fn eager() -> Discord {
    let identify_interval = Duration::ZERO;
    Discord::start(Options { identify_interval, ..Options::default() }).await.unwrap()
}

/// Op 4 for a guild's voice channel.
fn sit(guild: &Guild) -> Value {
    json!({
        "guild_id": guild.id.to_string(), "channel_id": guild.voice.to_string(), "self_mute": false,
        "self_deaf": false,
    })
}

#[tokio::test]
async fn shard_has_its_own_guilds_alone() {
    let discord = eager().await;
    let [inn, mill] = [0, 1].map(|shard| discord.guild_on("A house", shard, 2));
    let (mut first, ready) = Gateway::shard(&discord, 0, 2).await;
    assert_eq!(ready["shard"], json!([0, 2]));
    assert_eq!(ready["guilds"], json!([{"id": inn.id.to_string(), "unavailable": true}]));
    assert_eq!(first.so_far().await, ["GUILD_CREATE"]);
    let (mut second, ready) = Gateway::shard(&discord, 1, 2).await;
    assert_eq!(ready["guilds"], json!([{"id": mill.id.to_string(), "unavailable": true}]));
    assert_eq!(second.so_far().await, ["GUILD_CREATE"]);
    discord.wait_shards(discord.bot(), SOON, |shards| shards == [0, 1]).await.unwrap();

    second.send(4, sit(&mill)).await;
    second.event("VOICE_STATE_UPDATE").await;
    second.event("VOICE_SERVER_UPDATE").await;
    let query = json!({"guild_id": mill.id.to_string(), "query": "A", "limit": 0});
    second.send(8, query).await;
    second.event("GUILD_MEMBERS_CHUNK").await;
    mill.remove_bot();
    assert_eq!(second.so_far().await, ["VOICE_STATE_UPDATE", "GUILD_DELETE"]);
    assert_eq!(first.so_far().await, Vec::<String>::new());
    assert_eq!(discord.violations(), Vec::<String>::new());

    first.send(4, sit(&mill)).await;
    assert_eq!(first.so_far().await, Vec::<String>::new());
    let said = discord.violations();
    assert!(said.len() == 1 && said[0].contains("which shard (0, 2) does not have"), "{said:?}");
}

#[tokio::test]
async fn command_comes_to_all_sessions_of_its_shard() {
    let answer_within = Duration::from_millis(200);
    let options =
        Options { identify_interval: Duration::ZERO, answer_within, ..Options::default() };
    let discord = Discord::start(options).await.unwrap();
    let [inn, mill] = [0, 1].map(|shard| discord.guild_on("A house", shard, 2));
    let anna = inn.add_member("Anna", &[]);
    let rest = Rest::new(&discord);
    let commands = format!("/applications/{}/commands", discord.bot());
    let command = json!({"name": "roll", "description": "Rolls dice"});
    assert_eq!(rest.ask("POST", &commands, command).await.0, 201);
    let (mut other, _) = Gateway::shard(&discord, 1, 2).await;
    assert!(discord.command(&anna, inn.text, Slash::new("roll")).await.is_err(), "no such shard");
    let (mut old, _) = Gateway::shard(&discord, 0, 2).await;
    let (mut new, _) = Gateway::shard(&discord, 0, 2).await;
    assert_eq!(discord.shards(discord.bot()), [0, 0, 1]);
    discord.command(&anna, inn.text, Slash::new("roll")).await.unwrap();
    discord.whisper(&mill.owner(), mill.text, Slash::new("roll")).await.unwrap();
    for session in [&mut old, &mut new] {
        session.event("INTERACTION_CREATE").await;
        assert_eq!(session.event("INTERACTION_CREATE").await.get("guild_id"), None);
    }
    assert_eq!(other.so_far().await, ["GUILD_CREATE"]);
}

#[tokio::test]
async fn identifies_of_other_buckets_need_not_wait() {
    let discord =
        Discord::start(Options { max_concurrency: 2, ..Options::default() }).await.unwrap();
    let bot = discord.bot();
    let rest = Rest::new(&discord);
    let before = rest.get("/gateway/bot").await.1["session_start_limit"].clone();
    assert_eq!(before["max_concurrency"], 2);
    let _first = Gateway::shard(&discord, 0, 4).await;
    let _second = Gateway::shard(&discord, 1, 4).await;
    assert_eq!(discord.identify_breaches(bot), 0);
    let mut third = Gateway::connect(&discord).await;
    third.identify_shard(&discord.token(), json!([2, 4])).await;
    let invalid = third.next().await.unwrap();
    assert_eq!((&invalid["op"], &invalid["d"]), (&json!(9), &json!(false)));
    assert_eq!((discord.identify_breaches(bot), discord.identifies(bot)), (1, 2));
    discord.advance(Duration::from_secs(5));
    third.identify_shard(&discord.token(), json!([2, 4])).await;
    third.event("READY").await;
    let after = rest.get("/gateway/bot").await.1["session_start_limit"].clone();
    let left = |limit: &Value| limit["remaining"].as_u64().unwrap();
    assert_eq!(left(&before) - left(&after), 3);

    let mut wrong = Gateway::connect(&discord).await;
    wrong.identify_shard(&discord.token(), json!([4, 4])).await;
    assert_eq!(wrong.closed().await, 4010);
    // Without a shard it is the only one, of the first bucket.
    let mut whole = Gateway::connect(&discord).await;
    whole.identify(&discord.token(), INTENTS).await;
    assert_eq!(whole.next().await.unwrap()["op"], 9);
}

#[tokio::test]
async fn new_session_takes_the_seat_in_voice() {
    let discord = eager().await;
    let inn = discord.guild_on("The inn", 3, 4);
    let (mut old, _) = Gateway::shard(&discord, 3, 4).await;
    old.send(4, sit(&inn)).await;
    let first = old.event("VOICE_SERVER_UPDATE").await;
    let (mut new, ready) = Gateway::shard(&discord, 3, 4).await;
    let there = new.event("GUILD_CREATE").await["voice_states"].clone();
    assert_eq!(there[0]["user_id"], discord.bot().to_string(), "{there}");
    new.send(4, sit(&inn)).await;
    let seat = new.event("VOICE_STATE_UPDATE").await;
    assert_eq!(seat["session_id"], ready["session_id"]);
    let second = new.event("VOICE_SERVER_UPDATE").await;
    assert_ne!(first["token"], second["token"]);
    assert_eq!(old.so_far().await, ["VOICE_STATE_UPDATE"]);
    assert_eq!(inn.seated(inn.voice), [discord.bot()]);
    assert_eq!(discord.violations(), Vec::<String>::new());
}
