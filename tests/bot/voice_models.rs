//! An NPC whose voice model hears and speaks, at a table in Discord.

use std::time::Duration;

use discord_loopback::{AUDIBLE, Options};
use serde_json::json;

use super::hall::{BOUND, Hall, said, throws};
use crate::{
    hostile::has_python,
    support::{
        program::repository,
        realtime::{Answer, RealtimeServer},
    },
};

const KEY: &str = "sk-realtime-key-of-a-table";
/// What is asked of him.
const ROLL: &str = "Odo, roll two d six plus three";

/// Odo the ferryman, who speaks by `server`; one of his tools takes 1.6 s.
fn odo(server: &RealtimeServer) -> String {
    let (url, tools) = (server.base_url(), repository("tests/support/mcp/server.py"));
    format!(
        r#"
providers:
  speech_to_speech: {{ model: gpt-realtime-2.1, api_key: {KEY}, base_url: "{url}", free: true }}
npcs:
  - name: Odo
    personality: A ferryman.
    engine: s2s
    s2s: {{ voice: cedar }}
    budget_tier: deep
    tools: [dice-roller.roll, "home.dig"]
    voice: {{ provider: flite, voice_id: rms }}
    lines:
      - {{ when: [dig], tool: {{ name: home.dig }}, say: "I found {{result}} on the bank." }}
      - say: "Mind the edge."
mcp:
  servers:
    - name: home
      command: "python3 '{}' plain"
      env: {{ MORE: yes }}
      tools: {{ dig: {{ effects: none, open_world: false, estimated_duration_ms: 2000, max_duration_ms: 6000 }} }}
"#,
        tools.display()
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
    assert!(pressed.now().text().contains("no longer hear you"));
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

#[tokio::test(flavor = "multi_thread")]
async fn careful_thought_of_a_player_is_the_cascades() {
    if !has_python() {
        return;
    }
    let server = RealtimeServer::start(KEY);
    let (hall, _dora) = Hall::in_session(Options::default(), &odo(&server)).await;
    let anna = hall.inn.add_member("Anna", &[]);
    let player = hall.discord.join_voice(&anna, hall.inn.voice).await.unwrap();
    hall.listens_to("Anna").await;
    let (bot, quiet) = (hall.discord.bot(), Duration::from_millis(500));
    for line in ["Odo, good evening", "Odo, think carefully and dig", "Odo, thank you"] {
        player.wait_for_silence(bot, quiet, BOUND).await.unwrap();
        player.forget();
        player.say(&said("slt", line)).await.unwrap();
        player.wait_for_voice(bot, AUDIBLE, BOUND).await.unwrap();
    }
    player.wait_for_silence(bot, quiet, BOUND).await.unwrap();
    let kept = hall.ends_keeping();
    let why = "home.dig takes 2000 ms, and slow_tool_ms is 1500";
    assert!(kept.contains(why) && kept.contains("I found gold on the bank."), "{kept}");
    let sessions = server.ended();
    assert_eq!(sessions.iter().map(|it| it.answers).sum::<usize>(), 2, "{sessions:#?}");
    let last = sessions.iter().rfind(|it| it.answers > 0).expect("a session");
    assert!(last.has_item("assistant", "I found gold on the bank."), "{:#?}", last.items);
    let mistakes: Vec<&String> = sessions.iter().flat_map(|it| &it.mistakes).collect();
    assert!(mistakes.is_empty(), "{mistakes:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn stopped_voice_model_is_cut_where_it_was_heard() {
    let server = RealtimeServer::start(KEY);
    let story = "The river was dry for an hour that night and then it all came back at once.";
    server.push(Answer::say(story, 9.0));
    let (hall, _dora) = Hall::in_session(Options::default(), &odo(&server)).await;
    let anna = hall.inn.add_member("Anna", &[]);
    let player = hall.discord.join_voice(&anna, hall.inn.voice).await.unwrap();
    hall.listens_to("Anna").await;
    let (bot, quiet) = (hall.discord.bot(), Duration::from_millis(500));
    player.wait_for_silence(bot, quiet, BOUND).await.unwrap();
    player.say(&said("slt", "Odo, tell me of the river")).await.unwrap();
    player.forget();
    player.wait_for_voice(bot, AUDIBLE, BOUND).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    player.say(&said("slt", "stop")).await.unwrap();
    player.wait_for_silence(bot, quiet, BOUND).await.unwrap();
    let sound = player.heard(bot);
    let is_loud = |sample: &i16| f64::from(*sample).abs() > AUDIBLE;
    let first = sound.iter().position(is_loud).expect("he is heard");
    let last = sound.iter().rposition(is_loud).expect("he is heard");
    let heard = (last - first) as u64 / 48;
    let kept = hall.ends_keeping();
    assert!(!kept.contains("all came back at once"), "what nobody heard is not kept: {kept}");
    let sessions = server.ended();
    let cuts: Vec<u64> = sessions.iter().flat_map(|it| &it.truncations).map(|it| it.1).collect();
    let [cut] = cuts[..] else { panic!("one cut: {cuts:?}") };
    assert!(cut.abs_diff(heard) <= 40 && cut < 8_000, "cut at {cut} of {heard} ms");
}
