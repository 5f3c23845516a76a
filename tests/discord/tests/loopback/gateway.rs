//! The gateway: identifying, resuming, being told what one asked for.

use crate::client::{Gateway, INTENTS, Rest, SOON};
use discord_loopback::{Discord, Options};
use serde_json::json;
use std::time::Duration;

/// No waiting between identifies.
fn eager() -> Options {
    Options { identify_interval: Duration::ZERO, ..Options::default() }
}

#[tokio::test]
async fn ready_and_then_the_guilds() {
    let discord = Discord::start(eager()).await.unwrap();
    let inn = discord.guild("The Prancing Pony");
    let anna = inn.add_member("Anna", &[]);
    let (mut bot, ready) = Gateway::bot(&discord).await;
    assert_eq!(ready["user"]["id"], discord.bot().to_string());
    assert_eq!(ready["guilds"], json!([{"id": inn.id.to_string(), "unavailable": true}]));
    let guild = bot.event("GUILD_CREATE").await;
    assert_eq!((&guild["name"], &guild["member_count"]), (&json!("The Prancing Pony"), &json!(3)));
    let members = guild["members"].as_array().unwrap();
    assert_eq!(
        members.len(),
        1,
        "without the intent for members a bot hears of itself: {members:?}"
    );
    discord.wait_connected(discord.bot(), SOON).await.unwrap();
    let second = discord.guild("Rivendell");
    assert_eq!(bot.event("GUILD_CREATE").await["id"], second.id.to_string());
    anna.set_nick(Some("Strider"));
    second.set_available(false);
    second.remove_bot();
    assert_eq!(bot.so_far().await, ["GUILD_DELETE", "GUILD_DELETE"]);
    assert_eq!(discord.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn wrong_clients_are_sent_away() {
    let discord = Discord::start(eager()).await.unwrap();
    let token = discord.token();
    let mut gateway = Gateway::connect(&discord).await;
    gateway.identify("wrong", INTENTS).await;
    assert_eq!(gateway.closed().await, 4004);
    let mut gateway = Gateway::connect(&discord).await;
    gateway.identify(&token, 1 << 15).await;
    assert_eq!(gateway.closed().await, 4014);
    assert!(discord.violations().is_empty(), "both are for the operator to put right");
    let mut gateway = Gateway::connect(&discord).await;
    gateway.identify(&token, 1 << 40).await;
    assert_eq!(gateway.closed().await, 4013);
    let mut gateway = Gateway::connect(&discord).await;
    gateway.send(4, json!({})).await;
    assert_eq!(gateway.closed().await, 4003);
    let (mut gateway, _) = Gateway::bot(&discord).await;
    gateway.identify(&token, INTENTS).await;
    assert_eq!(gateway.closed().await, 4005);
    let (mut gateway, _) = Gateway::bot(&discord).await;
    gateway.send(99, json!({})).await;
    assert_eq!(gateway.closed().await, 4001);
    let (mut gateway, _) = Gateway::bot(&discord).await;
    for _ in 0..120 {
        gateway.send(1, json!(null)).await;
    }
    assert_eq!(gateway.closed().await, 4008);
    assert_eq!(discord.violations().len(), 5, "{:?}", discord.violations());
}

#[tokio::test]
async fn early_second_identify_is_rejected() {
    let discord = Discord::start(Options::default()).await.unwrap();
    let _first = Gateway::bot(&discord).await;
    let mut second = Gateway::connect(&discord).await;
    second.identify(&discord.token(), INTENTS).await;
    let invalid = second.next().await.unwrap();
    assert_eq!((&invalid["op"], &invalid["d"]), (&json!(9), &json!(false)));
    discord.advance(Duration::from_secs(6));
    second.identify(&discord.token(), INTENTS).await;
    second.event("READY").await;
    assert_eq!(discord.identifies(discord.bot()), 2);
}

#[tokio::test]
async fn heart_that_stops_ends_the_session() {
    let heartbeat_interval = Duration::from_secs(2);
    let discord = Discord::start(Options { heartbeat_interval, ..eager() }).await.unwrap();
    let (mut gateway, _) = Gateway::bot(&discord).await;
    assert_eq!(gateway.closed().await, 4009);
    assert!(discord.violations()[0].contains("4009"));
}

#[tokio::test]
async fn resume_replays_missed_events() {
    let discord = Discord::start(eager()).await.unwrap();
    let inn = discord.guild("The Prancing Pony");
    let (mut bot, ready) = Gateway::bot(&discord).await;
    bot.event("GUILD_CREATE").await;
    let session = ready["session_id"].clone();
    let seq = bot.seq;
    discord.cut_gateway(discord.bot());
    assert_eq!(bot.closed().await, 0);
    let _attic = inn.add_text("attic");
    let mut again = Gateway::connect(&discord).await;
    let resume = |seq: u64| json!({"token": discord.token(), "session_id": session, "seq": seq});
    again.send(6, resume(seq)).await;
    let missed = again.next().await.unwrap();
    assert_eq!((&missed["t"], &missed["s"]), (&json!("CHANNEL_CREATE"), &json!(seq + 1)));
    assert_eq!(again.next().await.unwrap()["t"], "RESUMED");
    discord.wait_resumed(discord.bot(), 1, SOON).await.unwrap();
    discord.reconnect_gateway(discord.bot());
    assert_eq!(again.next().await.unwrap()["op"], 7);
    discord.close_gateway(discord.bot(), 4000);
    assert_eq!(again.closed().await, 4000);
    let mut wrong = Gateway::connect(&discord).await;
    wrong.send(6, resume(9999)).await;
    assert_eq!(wrong.closed().await, 4007);
    let mut again = Gateway::connect(&discord).await;
    again.send(6, resume(seq + 2)).await;
    again.event("RESUMED").await;
    discord.invalidate_gateway(discord.bot(), false);
    assert_eq!(again.next().await.unwrap()["op"], 9);
    again.send(6, resume(seq + 2)).await;
    assert_eq!(again.next().await.unwrap(), json!({"op": 9, "s": null, "t": null, "d": false}));
}

#[tokio::test]
async fn held_events_come_later() {
    let discord = Discord::start(eager()).await.unwrap();
    let inn = discord.guild("The Prancing Pony");
    let (mut bot, _) = Gateway::bot(&discord).await;
    bot.event("GUILD_CREATE").await;
    discord.hold_events(discord.bot(), true);
    let _attic = inn.add_text("attic");
    assert!(bot.so_far().await.is_empty());
    discord.hold_events(discord.bot(), false);
    bot.event("CHANNEL_CREATE").await;
}

#[tokio::test]
async fn message_content_requires_mention() {
    let discord = Discord::start(eager()).await.unwrap();
    let inn = discord.guild("The Prancing Pony");
    let anna = inn.add_member("Anna", &[]);
    let (mut bot, _) = Gateway::bot(&discord).await;
    let (mut deaf, _) = Gateway::identified(&discord, &inn.owner().token(), 1).await;
    deaf.event("GUILD_CREATE").await;
    discord.say(&anna, inn.text, "secret").unwrap();
    let message = bot.event("MESSAGE_CREATE").await;
    assert_eq!(
        (&message["content"], &message["guild_id"]),
        (&json!(""), &json!(inn.id.to_string()))
    );
    discord.say(&anna, inn.text, &format!("<@{}> hello", discord.bot())).unwrap();
    let message = bot.event("MESSAGE_CREATE").await;
    assert!(message["content"].as_str().unwrap().ends_with("hello"));
    assert_eq!(message["mentions"][0]["id"], discord.bot().to_string());
    assert!(deaf.so_far().await.is_empty(), "messages were not asked for");
    let rest = Rest::new(&discord);
    let everyone = json!({"content": "@everyone"});
    let (_, sent) = rest.ask("POST", &format!("/channels/{}/messages", inn.text), everyone).await;
    assert_eq!(sent["mention_everyone"], false, "the permission is missing");
}

#[tokio::test]
async fn thirty_guilds_are_nothing() {
    let discord = Discord::start(eager()).await.unwrap();
    let guilds: Vec<_> = (0..30).map(|number| discord.guild(&format!("table {number}"))).collect();
    let (mut bot, ready) = Gateway::bot(&discord).await;
    assert_eq!(ready["guilds"].as_array().unwrap().len(), guilds.len());
    for guild in &guilds {
        assert_eq!(bot.event("GUILD_CREATE").await["id"], guild.id.to_string());
    }
}
