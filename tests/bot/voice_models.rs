//! An NPC whose voice model hears and speaks, at a table in Discord.

use std::time::Duration;

use discord_loopback::{Options, Player, Slash};
use serde_json::json;

use super::hall::{BOUND, Hall, said, throws};
use crate::{
    hostile::has_python,
    support::{
        program::repository,
        voice_models::{Answer, Seen, Service, VoiceServer},
    },
};

const KEY: &str = "sk-realtime-key-of-a-table";
/// Line that is said to him.
const ROLL: &str = "Odo, roll two d six plus three";

/// Odo the ferryman, who speaks by `server`; one of his tools takes 1.6 s.
fn odo(server: &VoiceServer) -> String {
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
async fn voice_model_rolls_for_those_it_may_hear() {
    let server = VoiceServer::start(Service::OpenAi, KEY);
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
    hall.has_greeted(&player).await;
    player.forget();
    silent.say(&said("rms", "Odo, good evening")).await.unwrap();
    let line = said("slt", ROLL);
    let seconds = line.len() as f64 / 48_000.0;
    player.say(&line).await.unwrap();
    player.wait_until_heard(bot, BOUND).await.unwrap();
    player.wait_for_silence(bot, quiet, BOUND).await.unwrap();
    hall.reads(|it| it.content().contains(" rolls")).await;
    assert_eq!(throws(&hall).len(), 1, "the call went through the host");
    let kept = hall.ends_keeping();
    assert!(kept.contains("The dice have fallen, friend."), "{kept}");
    let sessions = server.ended();
    let heard: f64 = sessions.iter().map(|it| it.seconds()).sum();
    // Carl's line lasts 1.6 s.
    assert!(heard > 1.0 && heard < seconds + 1.0, "{heard} s of {seconds} s, and nothing of Carl");
    let results: usize = sessions.iter().map(|it| it.results.len()).sum();
    assert_eq!(results, 1, "{sessions:#?}");
    let mistakes: Vec<&String> = sessions.iter().flat_map(|it| &it.mistakes).collect();
    assert!(mistakes.is_empty(), "{mistakes:#?}");
}

/// A voice model's record of a player who calls him, speaks on, and then turns to Dagny.
async fn heard_while_speaking() -> Seen {
    let server = VoiceServer::start(Service::OpenAi, KEY);
    let (hall, _dora) = Hall::in_session(Options::default(), &odo(&server)).await;
    let [anna, carl] = ["Anna", "Carl"].map(|name| hall.inn.add_member(name, &[]));
    let player = hall.discord.join_voice(&anna, hall.inn.voice).await.unwrap();
    let _other = hall.discord.join_voice(&carl, hall.inn.voice).await.unwrap();
    hall.listens_to("Carl").await;
    hall.has_greeted(&player).await;
    for line in ["Odo, good evening", "and how deep is the river at this time of the year"] {
        hall.hears_answer(&player, line).await;
    }
    player.say(&said("slt", "Dagny, look at the river over there")).await.unwrap();
    server.until(|seen| seen.iter().any(|it| it.cleared > 0));
    hall.ends_keeping();
    let [seen] = <[_; 1]>::try_from(server.ended()).expect("one session");
    assert_eq!((seen.cleared, seen.committed.len()), (1, 2), "words to Dagny are taken back");
    assert!(seen.mistakes.is_empty(), "{:#?}", seen.mistakes);
    seen
}

#[tokio::test(flavor = "multi_thread")]
async fn voice_model_hears_while_a_player_speaks() {
    let seen = heard_while_speaking().await;
    let [called, unnamed] = seen.took[..] else { panic!("{:?}", seen.took) };
    assert!(called < unnamed, "the line that calls him is sent last: {called} s of {unnamed} s");
    assert!(unnamed > 1.5, "it goes out while it is said: {unnamed} s");
}

#[tokio::test(flavor = "multi_thread")]
async fn voice_model_hears_a_line_once_called_in_time() {
    let took = heard_while_speaking().await.took;
    assert!(took[0] < 1.0, "he hears nothing before he is called: {took:?} s");
}

#[tokio::test(flavor = "multi_thread")]
async fn careful_thought_of_a_player_is_the_cascades() {
    if !has_python() {
        return;
    }
    let server = VoiceServer::start(Service::OpenAi, KEY);
    let (hall, [_dora, player]) =
        Hall::with_player(Options::default(), &odo(&server), "Anna").await;
    hall.hears_answer(&player, "Odo, good evening").await;
    player.say(&said("slt", "Odo, think carefully and dig")).await.unwrap();
    hall.reads(|it| it.text().contains("last answer by the cascade")).await;
    let shown = hall.told(&hall.dm, Slash::new("npc show").option("name", "Odo")).await;
    let why = "because home.dig takes 2000 ms, and slow_tool_ms is 1500";
    assert!(shown.replace('\\', "").contains(why), "{shown}");
    hall.hears_answer(&player, "Odo, thank you").await;
    let kept = hall.ends_keeping();
    assert!(kept.contains("I found gold on the bank."), "{kept}");
    let sessions = server.ended();
    assert_eq!(sessions.iter().map(|it| it.answers).sum::<usize>(), 2, "{sessions:#?}");
    let last = sessions.iter().rfind(|it| it.answers > 0).expect("a session");
    assert!(last.has_item("assistant", "I found gold on the bank."), "{:#?}", last.items);
    let mistakes: Vec<&String> = sessions.iter().flat_map(|it| &it.mistakes).collect();
    assert!(mistakes.is_empty(), "{mistakes:#?}");
}

/// Where a stopped answer of a voice model was cut, and how much of it was heard, in ms.
async fn stopped() -> (u64, u64) {
    let server = VoiceServer::start(Service::OpenAi, KEY);
    let story = "The river was dry for an hour that night and then it all came back at once.";
    server.push(Answer::say(story, 9.0));
    let (hall, [_dora, player]) =
        Hall::with_player(Options::default(), &odo(&server), "Anna").await;
    let (bot, quiet) = (hall.discord.bot(), Duration::from_millis(500));
    player.forget();
    player.say(&said("slt", "Odo, tell me of the river")).await.unwrap();
    hall.is_heard_for(&player, 25).await;
    player.say(&said("slt", "Odo, stop, hold on please")).await.unwrap();
    player.wait_for_silence(bot, quiet, BOUND).await.unwrap();
    // A machine that is busy leaves gaps between packets of 20 ms.
    let heard = hall.audible(&player) as u64 * 20;
    let kept = hall.ends_keeping();
    assert!(!kept.contains("all came back at once"), "what nobody heard is not kept: {kept}");
    let sessions = server.ended();
    let cuts: Vec<u64> = sessions.iter().flat_map(|it| &it.truncations).map(|it| it.1).collect();
    let [cut] = cuts[..] else { panic!("one cut: {cuts:?}") };
    (cut, heard)
}

#[tokio::test(flavor = "multi_thread")]
async fn stopped_voice_model_is_cut_where_it_was_heard() {
    let (cut, heard) = stopped().await;
    // Of nine seconds that the model sent.
    assert!(cut.abs_diff(heard) <= 200 && cut < 8_000, "cut at {cut} of {heard} ms");
}

#[tokio::test(flavor = "multi_thread")]
async fn stopped_voice_model_is_cut_to_40_ms_in_time() {
    let (cut, heard) = stopped().await;
    assert!(cut.abs_diff(heard) <= 40, "cut at {cut} of {heard} ms");
}

/// A table at which Odo speaks by the cascade until his game master says otherwise.
fn cascaded(server_url: &str) -> String {
    format!(
        r#"
providers:
  speech_to_speech: {{ model: gpt-realtime-2.1, api_key: {KEY}, base_url: "{server_url}", price: {{ input: 4, cached_input: 0.4, output: 24, audio_input: 32, audio_cached: 0.4, audio_output: 64 }} }}
npcs:
  - name: Odo
    personality: A ferryman.
    voice: {{ provider: flite, voice_id: rms }}
    lines: [{{ say: "Mind the edge." }}]
"#
    )
}

/// `/npc engine` for Odo.
fn engine(engine: &str) -> Slash {
    Slash::new("npc engine").option("name", "odo").option("engine", engine)
}

impl Hall {
    /// `player` says something and hears an answer to its end.
    async fn hears_answer(&self, player: &Player, words: &str) {
        let (bot, quiet) = (self.discord.bot(), Duration::from_millis(500));
        player.wait_for_silence(bot, quiet, BOUND).await.expect("silence before");
        player.forget();
        player.say(&said("slt", words)).await.expect("it is said");
        player.wait_until_heard(bot, BOUND).await.expect("an answer");
        player.wait_for_silence(bot, quiet, BOUND).await.expect("its end");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn engine_changes_between_turns_and_back() {
    let server = VoiceServer::start(Service::OpenAi, KEY);
    server.push(Answer::say("In your left boot, friend.", 1.5));
    let config = cascaded(&server.base_url());
    let (hall, [_dora, player]) = Hall::with_player(Options::default(), &config, "Anna").await;
    let anna = hall.inn.member(player.user());
    hall.hears_answer(&player, "Odo, my coin is in my boot").await;
    let offer = hall.told(&hall.dm, engine("s2s")).await;
    let (price, leaves) = ("costs about 1.18 to 2.26 at", "sent to gpt-realtime-2.1 at 127.0.0.1");
    assert!(offer.contains(price) && offer.contains(leaves), "{offer}");
    assert!(offer.contains("Nothing has changed yet"), "{offer}");
    let listed = hall.told(&hall.dm, Slash::new("npc list")).await;
    assert!(listed.contains("**Odo** · up to"), "{listed}");
    let changed = hall.told(&hall.dm, engine("s2s").option("confirm", true)).await;
    assert!(changed.contains("until the session ends; write `engine: s2s`"), "{changed}");
    hall.reads(|it| it.text().contains("**Odo** · s2s, hears own voices")).await;
    let info = hall.told(&anna, Slash::new("privacy info")).await;
    assert!(info.contains("to **Odo**, **your own voice**"), "{info}");
    hall.hears_answer(&player, "Odo, where is my coin").await;
    let shown = hall.told(&hall.dm, Slash::new("npc show").option("name", "Odo")).await;
    assert!(shown.contains("Engine: s2s, which hears the players' own voices"), "{shown}");
    let back = engine("cascaded").option("confirm", true);
    let changed = hall.told(&hall.dm, back).await;
    assert!(changed.contains("speaks by the engine cascaded"), "{changed}");
    hall.hears_answer(&player, "Odo, what about the ferry").await;
    let kept = hall.ends_keeping();
    assert!(kept.contains("In your left boot, friend."), "{kept}");
    let sessions = server.ended();
    let answers: usize = sessions.iter().map(|it| it.answers).sum();
    assert_eq!(answers, 1, "the cascade answers before and after: {sessions:#?}");
    let talk = sessions.iter().find(|it| it.answers > 0).expect("a session");
    assert!(talk.has_item("user", "my coin is in my boot"), "{:#?}", talk.items);
    assert!(talk.has_item("assistant", "Mind the edge."), "{:#?}", talk.items);
    assert!(talk.mistakes.is_empty() && talk.seconds() > 0.5, "{:#?}", talk.mistakes);
}

#[tokio::test(flavor = "multi_thread")]
async fn players_are_notified_before_voices_are_sent() {
    let far = cascaded("https://api.example.com/v1");
    let (hall, _dora) = Hall::in_session(Options::default(), &far).await;
    hall.listens_to("Dora").await;
    let is_told = |text: &str| text.contains("to **Odo**, **your own voice**");
    let info = hall.told(&hall.dm, Slash::new("privacy info")).await;
    assert!(!is_told(&info), "{info}");
    let told = hall.told(&hall.dm, engine("s2s").option("confirm", true)).await;
    assert!(told.contains("speaks by the engine s2s"), "{told}");
    hall.reads(|it| it.content().contains("Dora**") && is_told(it.content())).await;
    hall.listens_to("Dora").await;
    hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn files_win_where_they_change_the_npc() {
    let far = cascaded("https://api.example.com/v1");
    let (hall, _dora) = Hall::in_session(Options::default(), &far).await;
    hall.told(&hall.dm, engine("s2s").option("confirm", true)).await;
    let file = std::fs::read_to_string(hall.place.path("glyphoxa.yaml")).unwrap();
    let limited = format!("{file}\nlimits: {{ paid_turns_per_minute: 9 }}\n");
    hall.place.write("glyphoxa.yaml", &limited);
    hall.reads(|it| it.text().contains("in effect now: limits")).await;
    let listed = hall.told(&hall.dm, Slash::new("npc list")).await;
    assert!(listed.contains("**Odo** · s2s, hears own voices"), "{listed}");
    hall.place.write("glyphoxa.yaml", limited.replace("A ferryman.", "A miller."));
    let list = Slash::new("npc list");
    hall.until_told(&hall.dm, list, |told| told.contains("**Odo** · up to")).await;
    hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn engine_is_refused_without_a_service() {
    let (hall, _dora) = Hall::in_session(Options::default(), "").await;
    let engine = |name: &str| Slash::new("npc engine").option("name", name).option("engine", "s2s");
    let refused = hall.told(&hall.dm, engine("Bartok")).await;
    assert!(refused.contains("no speech-to-speech service is configured (add"), "{refused}");
    let refused = hall.told(&hall.dm, engine("Nobody")).await;
    assert!(refused.contains("unknown npc 'Nobody'"), "{refused}");
    hall.ends();
}
