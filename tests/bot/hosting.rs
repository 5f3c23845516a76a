//! The bot owner's view before the first session: tokens, links, servers, permissions.

use std::fs;

use discord_loopback::{Fault, Options, Overwrite, Slash, permission};

use super::hall::Hall;
use crate::support::{NOBODY, program::Place};

/// Puts other words into the configuration.
fn reword(hall: &Hall, from: &str, to: &str) {
    let text = fs::read_to_string(hall.place.path("glyphoxa.yaml")).unwrap();
    assert!(text.contains(from), "{from}: {text}");
    hall.place.write("glyphoxa.yaml", text.replace(from, to));
}

/// Ends a program that has held no session.
fn leaves(mut hall: Hall) {
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
    assert_eq!(hall.discord.violations(), Vec::<String>::new());
}

#[test]
fn missing_token_fails_run_and_invite() {
    let place = Place::new();
    for command in ["run", "invite"] {
        let ran = place.run(&[command]).ends_with(2);
        assert!(ran.message().starts_with("no bot token (") && ran.stdout.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_token_is_said_in_one_line() {
    let hall = Hall::new(Options::default(), "").await;
    for wrong in ["MTIz.abcdef.not-this-one", "t\\u00f6ken"] {
        let known = fs::read_to_string(hall.place.path("glyphoxa.yaml")).unwrap();
        reword(&hall, &hall.discord.token(), wrong);
        let invite = hall.place.run(&["invite"]).ends_with(1);
        assert!(invite.message().starts_with("discord does not accept the token ("), "{invite:#?}");
        let ran = hall.place.run(&["run"]).ends_with(1);
        assert_eq!(ran.stderr.lines().last(), Some(invite.stderr.trim_end()), "{ran:#?}");
        hall.place.write("glyphoxa.yaml", known);
    }
    assert_eq!(hall.discord.identifies(hall.discord.bot()), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn invite_link_asks_for_what_the_bot_needs() {
    let hall = Hall::new(Options::default(), "").await;
    let bits = permission::VIEW_CHANNEL
        | permission::CONNECT
        | permission::SPEAK
        | permission::SEND_MESSAGES
        | permission::EMBED_LINKS
        | permission::ATTACH_FILES;
    let (bot, inn) = (hall.discord.bot(), hall.inn.id);
    let link = format!(
        "https://discord.com/oauth2/authorize?client_id={bot}\
         &scope=bot%20applications.commands&permissions={bits}"
    );
    let invite = hall.place.run(&["invite"]).ends_with(0);
    let lines: Vec<&str> = invite.stdout.lines().collect();
    assert_eq!((lines.len(), lines[0]), (3, link.as_str()));
    assert!(lines[1].contains("'Glyphoxa'") && lines[1].contains("/session start"), "{}", lines[1]);
    assert!(
        lines[2].contains("Anyone can invite it") && lines[2].contains("Public Bot"),
        "{}",
        lines[2]
    );
    reword(&hall, "discord:\n", &format!("discord:\n  guild_id: \"{inn}\"\n"));
    let line = hall.place.run(&["invite", "--json"]).ends_with(0).line();
    assert_eq!(line["link"], format!("{link}&guild_id={inn}"));
    assert_eq!(line["application"], bot.to_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn unreachable_discord_is_reported_and_retried() {
    let mut hall = Hall::new(Options::default(), "").await;
    hall.discord.fail("GET", "/oauth2/applications/@me", Fault::Status(503), 1);
    hall.start().await;
    hall.program.as_ref().unwrap().says("discord does not answer; trying again in 2 s");
    reword(&hall, &hall.discord.api_base(), &format!("https://{NOBODY}"));
    let invite = hall.place.run(&["invite"]).ends_with(1);
    assert!(invite.message().starts_with("discord does not answer: "), "{invite:#?}");
    leaves(hall);
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_intent_ends_bot_with_instructions() {
    let mut hall = Hall::new(Options::default(), "").await;
    hall.start().await;
    hall.discord.close_gateway(hall.discord.bot(), 4014);
    let program = hall.program.take().unwrap();
    program.says("an intent is not allowed (turn it on at");
    assert_eq!(program.leave(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn bot_without_servers_shows_invite_link() {
    let mut hall = Hall::new(Options::default(), "").await;
    hall.inn.remove_bot();
    hall.start().await;
    let line = hall.program.as_ref().unwrap().says("the bot has joined no server yet");
    assert!(line.contains("https://discord.com/oauth2/authorize?client_id="), "{line}");
    leaves(hall);
}

#[tokio::test(flavor = "multi_thread")]
async fn leaving_a_server_revokes_its_tokens() {
    let mut hall = Hall::new(Options::default(), "").await;
    let inn = hall.inn.id.to_string();
    for of in [&["--guild", &inn][..], &["--local"]] {
        hall.place.run(&[&["token", "create", "--role", "dm"], of].concat()).ends_with(0);
    }
    hall.start().await;
    hall.inn.remove_bot();
    hall.program.as_ref().unwrap().says("revoked the tokens of a server left");
    let left = hall.place.run(&["token", "list", "--json"]).ends_with(0).line();
    assert_eq!(left["owner"], "local");
    leaves(hall);
}

#[tokio::test(flavor = "multi_thread")]
async fn full_channel_is_reported_at_session_start() {
    let mut hall = Hall::new(Options::default(), "").await;
    let snug = hall.inn.add_voice("Snug", 1);
    hall.start().await;
    let _dora = hall.discord.join_voice(&hall.dm, snug).await.unwrap();
    let answer = hall.asks(&hall.dm, Slash::new("session start")).await;
    assert!(answer.text().contains("is full (raise its user limit"), "{}", answer.text());
    leaves(hall);
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_says_what_each_channel_lacks() {
    let mut hall = Hall::new(Options::default(), "").await;
    let (inn, role) = (&hall.inn, Overwrite::Role(hall.inn.bot_role));
    inn.set_overwrite(inn.add_voice("Closed", 0), role, 0, permission::CONNECT);
    inn.set_overwrite(inn.add_text("rules"), role, 0, permission::SEND_MESSAGES);
    let _stage = inn.add_stage("Stage");
    let (_booth, _snug) = (inn.add_voice("Booth", 1), inn.add_voice("Snug", 5));
    let before = hall.place.run(&["doctor"]).ends_with(1);
    for line in [
        "✓ discord token: the bot is 'Glyphoxa'",
        "✓ discord application: ",
        "✓ discord server: in 'The Tilted Tankard'; game masters: 'Game Master'",
        "✓ voice channel: '#Table' of 'The Tilted Tankard'",
        "✗ voice channel: I lack Connect in '#Closed' of 'The Tilted Tankard' (grant it",
        "✗ voice channel: '#Stage' of 'The Tilted Tankard' is a stage",
        "✗ voice channel: '#Booth' of 'The Tilted Tankard' is full once one player joins",
        "✓ voice channel: '#Snug' of 'The Tilted Tankard'; I need one of its 5 seats",
        "✗ text channel: I lack Send Messages in '#rules'",
        "✓ text channels: 1 of 'The Tilted Tankard'",
        "✗ discord commands: not registered in every server: /",
    ] {
        assert!(before.stdout.lines().any(|it| it.starts_with(line)), "{line}: {before:#?}");
    }
    hall.start().await;
    let elsewhere = hall.discord.guild_without_bot("Elsewhere");
    let after = hall.place.run(&["doctor"]).ends_with(1);
    assert!(after.stdout.contains("✓ discord commands: registered in every server"), "{after:#?}");
    reword(&hall, "discord:\n", &format!("discord:\n  guild_id: \"{}\"\n", elsewhere.id));
    let stranger = hall.place.run(&["doctor"]).ends_with(1);
    let lack =
        format!("✗ discord server: the bot is not in server '{}' (invite it: ", elsewhere.id);
    assert!(stranger.stdout.contains(&lack), "{stranger:#?}");
    assert!(stranger.stdout.contains("✗ discord commands: not allowed in server"), "{stranger:#?}");
    leaves(hall);
}
