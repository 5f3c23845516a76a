//! An NPC whose voice model hears and speaks, at a table in Discord.

use std::time::Duration;

use discord_loopback::{AUDIBLE, Options};
use serde_json::json;

use super::hall::{BOUND, Hall, said, throws};
use crate::support::realtime::{Answer, RealtimeServer};

const KEY: &str = "sk-realtime-key-of-a-table";
/// What is asked of him.
const ROLL: &str = "Odo, roll two d six plus three";

/// Odo the ferryman, who speaks by `server`.
fn odo(server: &RealtimeServer) -> String {
    let url = server.base_url();
    format!(
        r#"
providers:
  speech_to_speech: {{ model: gpt-realtime-2.1, api_key: {KEY}, base_url: "{url}", free: true }}
npcs:
  - name: Odo
    personality: A ferryman.
    engine: s2s
    s2s: {{ voice: cedar }}
    budget_tier: standard
    tools: [dice-roller.roll]
    voice: {{ provider: flite, voice_id: rms }}
    lines: [{{ say: "Mind the edge." }}]
"#
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn voice_model_rolls_for_whoever_may_be_heard() {
    let server = RealtimeServer::start(KEY);
    server.push(Answer::call("roll", json!({ "expression": "2d6+3" })));
    server.push(Answer::say("The dice have fallen, friend.", 1.5));
    let (hall, _dora) = Hall::in_session(Options::default(), &odo(&server)).await;
    let [anna, carl] = ["Anna", "Carl"].map(|name| hall.inn.add_member(name, &[]));
    let player = hall.discord.join_voice(&anna, hall.inn.voice).await.unwrap();
    let silent = hall.discord.join_voice(&carl, hall.inn.voice).await.unwrap();
    hall.listens_to("Carl").await;
    let notice = hall.reads(|it| it.content().contains("Carl**")).await;
    assert!(notice.content().contains("to **Odo**, **your own voice**"), "{}", notice.content());
    let pressed = hall.discord.press(&carl, hall.inn.text, notice.id, "consent:out").await.unwrap();
    assert!(pressed.now().text().contains("not heard any more"));
    hall.reads(|it| it.content().contains("Not heard: Carl")).await;
    let (bot, quiet) = (hall.discord.bot(), Duration::from_millis(500));
    player.wait_for_silence(bot, quiet, BOUND).await.unwrap();
    player.forget();
    silent.say(&said("rms", "Odo, good evening")).await.unwrap();
    let line = said("slt", ROLL);
    let seconds = line.len() as f64 / 48_000.0;
    player.say(&line).await.unwrap();
    player.wait_for_voice(bot, AUDIBLE, BOUND).await.unwrap();
    player.wait_for_silence(bot, quiet, BOUND).await.unwrap();
    assert_eq!(throws(&hall).len(), 1, "the call went through the host");
    let kept = hall.ends_keeping();
    assert!(kept.contains("The dice have fallen, friend."), "{kept}");
    let sessions = server.ended();
    let heard: f64 = sessions.iter().map(|it| it.seconds()).sum();
    assert!(heard > 1.0 && heard < seconds + 0.6, "{heard} s of {seconds} s, and nothing of Carl");
    let results: usize = sessions.iter().map(|it| it.results.len()).sum();
    assert_eq!(results, 1, "{sessions:#?}");
    let mistakes: Vec<&String> = sessions.iter().flat_map(|it| &it.mistakes).collect();
    assert!(mistakes.is_empty(), "{mistakes:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn voice_model_hears_while_a_player_speaks() {
    let server = RealtimeServer::start(KEY);
    let (hall, _dora) = Hall::in_session(Options::default(), &odo(&server)).await;
    let [anna, carl] = ["Anna", "Carl"].map(|name| hall.inn.add_member(name, &[]));
    let player = hall.discord.join_voice(&anna, hall.inn.voice).await.unwrap();
    let _other = hall.discord.join_voice(&carl, hall.inn.voice).await.unwrap();
    hall.listens_to("Carl").await;
    let (bot, quiet) = (hall.discord.bot(), Duration::from_millis(500));
    player.wait_for_silence(bot, quiet, BOUND).await.unwrap();
    for line in ["Odo, good evening", "and how deep is the river at this time of the year"] {
        player.forget();
        player.say(&said("slt", line)).await.unwrap();
        player.wait_for_voice(bot, AUDIBLE, BOUND).await.unwrap();
        player.wait_for_silence(bot, quiet, BOUND).await.unwrap();
    }
    player.say(&said("slt", "Carl, look at the river over there")).await.unwrap();
    server.until(|seen| seen.iter().any(|it| it.cleared > 0));
    hall.ends_keeping();
    let [seen] = <[_; 1]>::try_from(server.ended()).expect("one session");
    let [called, unnamed] = seen.took[..] else { panic!("{:?}", seen.took) };
    assert!(called < 1.0, "he hears nothing before he is called: {called} s");
    assert!(unnamed > 1.5, "it goes out while it is said: {unnamed} s");
    assert_eq!((seen.cleared, seen.committed.len()), (1, 2), "words to Carl are taken back");
    assert!(seen.mistakes.is_empty(), "{:#?}", seen.mistakes);
}
