//! NPCs of four engines at one table: two cascades, of one chat model and of two, and both services that
//! hear and speak.

use std::time::Duration;

use discord_loopback::{Options, Player, Slash};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::hall::{BOUND, Hall, said};
use crate::support::{
    chat_server::{ChatServer, Recorded, Script},
    program::Place,
    voice_models::{Answer, Seen, Service, VoiceServer},
};

const KEY: &str = "sk-key-of-both-voice-models";
/// A long answer, which is interrupted, and its last words.
const STORY: &str = "The river was dry for an hour that night. The boats lay on the stones, and the fish lay \
                     in the mud. We took our lamps and walked across to the far bank, where no one had \
                     stood before, and found a stair of old stone that leads down below the water. Half \
                     way down we heard a bell, and turned. Then the water came back at once.";
const LAST_WORDS: &str = "came back at once";
/// The first sentences of the fast model.
const OPENINGS: [&str; 2] = ["Ah, that night.", "Let us see."];
/// The answer to a roll.
const FALLEN: &str = "The dice have fallen.";
/// Packets of 20 ms that are heard of the story before it is interrupted.
const HEARD: usize = 20;
const QUIET: Duration = Duration::from_millis(500);
/// An answer whose throw is shown is heard within this time, unless it was before.
const ANSWERED: Duration = Duration::from_secs(10);

/// An NPC, what it is asked, what it is to roll, and the same as the tool has it.
struct Guest {
    name: &'static str,
    question: &'static str,
    dice: &'static str,
    expression: &'static str,
}

const GUESTS: [Guest; 4] = [
    Guest { name: "Tessa", question: "the night", dice: "one d twenty", expression: "1d20" },
    Guest { name: "Ulric", question: "the boats", dice: "five d ten", expression: "5d10" },
    Guest { name: "Odo", question: "the river", dice: "two d six", expression: "2d6" },
    Guest { name: "Gisela", question: "the fish", dice: "five d twenty", expression: "5d20" },
];

impl Guest {
    fn is_asked(&self) -> String {
        format!("{}, {}", self.name, self.question)
    }

    fn is_asked_to_roll(&self) -> String {
        format!("{}, please roll {}", self.name, self.dice)
    }

    /// The newest words in `request` ask this one to roll; others may have been overheard.
    fn is_to_roll(&self, request: &Recorded) -> bool {
        last_words(request).contains(&format!("{}, please roll", self.name))
    }
}

/// The services of the four, and the configuration that has them.
struct Services {
    /// Answers for Tessa.
    plain: ChatServer,
    /// Opens for Ulric.
    fast: ChatServer,
    /// Goes on for Ulric.
    strong: ChatServer,
    openai: VoiceServer,
    gemini: VoiceServer,
}

impl Services {
    fn start() -> Self {
        let services = Self {
            plain: ChatServer::start(),
            fast: ChatServer::start(),
            strong: ChatServer::start(),
            openai: VoiceServer::start(Service::OpenAi, KEY),
            gemini: VoiceServer::start(Service::Gemini, KEY),
        };
        services.plain.otherwise(|request| thought(request, &GUESTS[0]));
        services.strong.otherwise(|request| thought(request, &GUESTS[1]));
        services.fast.otherwise(|request| {
            Script::text(&[OPENINGS[usize::from(GUESTS[1].is_to_roll(request))]])
        });
        services
    }

    /// Makes both voice models roll in their next answer.
    fn roll(&self) {
        for (server, guest) in self.voice_models().into_iter().zip(&GUESTS[2..]) {
            server.push(Answer::call("roll", json!({ "expression": guest.expression })));
            server.push(Answer::say(FALLEN, 0.6));
        }
    }

    const fn voice_models(&self) -> [&VoiceServer; 2] {
        [&self.openai, &self.gemini]
    }

    fn config(&self) -> String {
        let chat = |name: &str, server: &ChatServer| {
            let url = server.base_url();
            format!("    - {{ service: openai, as: {name}, base_url: \"{url}\", model: m }}\n")
        };
        let talks = self.voice_models().map(|server| {
            let (name, model) = (server.service().name(), server.service().model());
            let url = server.base_url();
            format!(
                "    - {{ name: {name}, model: {model}, api_key: {KEY}, base_url: \"{url}\", free: true }}\n"
            )
        });
        let engines = [
            "llm: plain",
            "engine: sentence_cascade, cascade: { opener: fast, strong: strong }",
            "engine: s2s, s2s: { voice: cedar }",
            "engine: s2s, s2s: { provider: gemini-live, voice: Kore }",
        ];
        let npcs = GUESTS.iter().zip(engines).map(|(guest, engine)| {
            format!(
                "  - {{ name: {}, personality: A guest., tools: [dice-roller.roll], voice: {{ provider: \
                 flite, voice_id: rms }}, {engine} }}\n",
                guest.name
            )
        });
        format!(
            "\nproviders:\n  llm:\n{}{}{}  speech_to_speech:\n{}npcs:\n{}",
            chat("plain", &self.plain),
            chat("fast", &self.fast),
            chat("strong", &self.strong),
            talks.concat(),
            npcs.collect::<String>()
        )
    }
}

/// A chat model rolls where it is asked to, and else tells its story.
fn thought(request: &Recorded, guest: &Guest) -> Script {
    let messages = request.json["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let has_result = messages.last().is_some_and(|it| it["role"] == "tool");
    let may_call = request.json.get("tools").is_some();
    let is_to_roll = may_call && guest.is_to_roll(request);
    match (has_result, is_to_roll) {
        (true, _) => Script::text(&[FALLEN]),
        (false, true) => {
            let arguments = json!({ "expression": guest.expression }).to_string();
            Script::calls(&[("call_1", "roll", &arguments)])
        }
        (false, false) => Script::text(&[STORY]),
    }
}

/// The newest words of a player in a request.
fn last_words(request: &Recorded) -> String {
    let messages = request.json["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let last = messages.iter().rfind(|it| it["role"] == "user");
    last.map(|it| it["content"].to_string()).unwrap_or_default()
}

/// The messages of the request with which `server` was asked to roll for `guest`.
fn asked_to_roll(server: &ChatServer, guest: &Guest) -> Vec<Value> {
    let requests = server.requests();
    let request = requests.iter().find(|it| guest.is_to_roll(it));
    request.expect("it was asked to roll").json["messages"].as_array().expect("messages").clone()
}

/// Results of tools that a chat model was given.
fn results(server: &ChatServer) -> usize {
    let is_result = |request: &&Recorded| {
        let messages = request.json["messages"].as_array();
        messages.and_then(|all| all.last()).is_some_and(|it| it["role"] == "tool")
    };
    server.requests().iter().filter(is_result).count()
}

/// Of the answers in `told`, the one that was interrupted is there as it was heard.
fn assert_as_heard<'t>(told: impl Iterator<Item = &'t str> + Clone, whose: &str) {
    let all: Vec<&str> = told.clone().collect();
    assert!(told.clone().any(|it| it.ends_with('…')), "{whose}: {all:#?}");
    assert!(!told.clone().any(|it| it.contains(LAST_WORDS)), "{whose}: {all:#?}");
}

/// Sessions of a voice model that had nothing to refuse.
fn ended(server: &VoiceServer) -> Vec<Seen> {
    let sessions = server.ended();
    let mistakes: Vec<&String> = sessions.iter().flat_map(|it| &it.mistakes).collect();
    assert!(mistakes.is_empty(), "{mistakes:#?}");
    let results: usize = sessions.iter().map(|it| it.results.len()).sum();
    assert_eq!(results, 1, "{:?}", server.service());
    sessions
}

impl Hall {
    /// `player` asks `guest` for its story, talks into it, and has it roll; how many packets of the
    /// story were heard; `None`: on a busy machine the answer came before the silence after it.
    async fn is_interrupted_and_rolls(&self, player: &Player, guest: &Guest) -> Option<usize> {
        let bot = self.discord.bot();
        player.wait_for_silence(bot, QUIET, BOUND).await.expect("silence before");
        player.forget();
        player.say(&said("slt", &guest.is_asked())).await.expect("it is said");
        self.is_heard_for(player, HEARD).await;
        let speech = player.start_saying(said("slt", &guest.is_asked_to_roll()));
        player.wait_for_silence(bot, QUIET, BOUND).await.expect("the end of the story");
        let story = self.audible(player);
        let is_throw = |text: &str| text.contains(guest.name) && text.contains(" rolls");
        speech.finished().await.expect("it is said to its end");
        self.reads(|it| is_throw(it.content())).await;
        let is_apart = timeout(ANSWERED, self.is_heard_for(player, story + 1)).await.is_ok();
        player.wait_for_silence(bot, QUIET, BOUND).await.expect("its end");
        is_apart.then_some(story)
    }

    /// The game master reads each NPC's engine, and players the services that hear them.
    async fn tells_four_engines(&self) {
        let status = self.told(&self.dm, Slash::new("session status")).await;
        for part in [
            "**Tessa** · up to",
            "**Ulric** · up to",
            "**Odo** · s2s, hears own voices · up to",
            "**Gisela** · s2s, hears own voices · up to",
            "Ulric: fast, then strong",
        ] {
            assert!(status.contains(part), "'{part}' is missing: {status}");
        }
        for (name, part) in [
            ("Tessa", "Brain: plain"),
            ("Ulric", "Engine: sentence_cascade · fast opens, strong goes on"),
            ("Odo", "its voice: cedar"),
            ("Gisela", "its voice: Kore"),
        ] {
            let shown = self.told(&self.dm, Slash::new("npc show").option("name", name)).await;
            assert!(shown.contains(part) && !shown.contains("Last answer: by"), "{shown}");
        }
        let info = self.told(&self.dm, Slash::new("privacy info")).await;
        for (name, service) in [("Odo", Service::OpenAi), ("Gisela", Service::Gemini)] {
            let sentence = info.split("When you talk").find(|it| it.contains(name));
            assert!(sentence.is_some_and(|it| it.contains(service.model())), "{name}: {info}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn four_engines_play_one_evening() {
    let services = Services::start();
    for server in services.voice_models() {
        server.push(Answer::say(STORY, 18.0));
    }
    services.roll();
    let config = services.config();
    let (hall, [_dora, player]) = Hall::with_player(Options::default(), &config, "Anna").await;
    let mut heard = Vec::new();
    for guest in &GUESTS {
        heard.push(hall.is_interrupted_and_rolls(&player, guest).await);
    }
    hall.tells_four_engines().await;
    assert_kept(&hall.ends_keeping());
    let is_cut = heard.iter().flatten().all(|packets| *packets < 700);
    assert!(is_cut, "none is heard to its end: {heard:?}");
    assert_chat_models(&services);
    let [openai, gemini] = services.voice_models().map(ended);
    let cuts: Vec<u64> = openai.iter().flat_map(|it| &it.truncations).map(|it| it.1).collect();
    let [cut] = cuts[..] else { panic!("one cut: {cuts:?}") };
    if let Some(packets) = heard[2] {
        assert!(cut.abs_diff(packets as u64 * 20) <= 200, "cut at {cut} ms of {packets} packets");
    }
    let last = gemini.iter().rfind(|it| it.answers > 0).expect("a session");
    let answers = last.items.iter().filter(|it| it.0 == "assistant").map(|it| it.1.as_str());
    assert_as_heard(answers, "Gemini's next session");
}

/// Every NPC remembers its story as it was heard, and the roll after it.
fn assert_kept(kept: &str) {
    let mut values =
        serde_json::Deserializer::from_str(kept).into_iter::<Value>().map(Result::unwrap);
    let kept = values.find(|it| it["histories"].is_object()).expect("the conversations");
    for guest in &GUESTS {
        let history = kept["histories"][guest.name].as_array().expect("a history");
        let answers = history.iter().filter_map(|it| it["assistant"]["text"].as_str());
        assert_as_heard(answers.clone(), guest.name);
        assert!(answers.clone().any(|it| it.ends_with(FALLEN)), "{history:#?}");
    }
}

/// Chat models read in their next request what was heard, and the result of each roll.
fn assert_chat_models(services: &Services) {
    for (server, guest) in [&services.plain, &services.strong].into_iter().zip(&GUESTS) {
        let (messages, whose) = (asked_to_roll(server, guest), guest.name);
        let answers = messages.iter().filter(|it| it["role"] == "assistant");
        assert_as_heard(answers.filter_map(|it| it["content"].as_str()), whose);
        assert_eq!(results(server), 1, "{whose}");
    }
    let opened = asked_to_roll(&services.fast, &GUESTS[1]);
    let answers = opened.iter().filter(|it| it["role"] == "assistant");
    assert_as_heard(answers.filter_map(|it| it["content"].as_str()), "the opener of Ulric");
    assert_eq!(results(&services.fast), 0, "the strong model rolls");
}

/// The part of a report that says who has made an answer.
fn by(thought: &[&str], spoke: &str, engine: &str) -> Value {
    json!({ "heard": "typed", "thought": thought, "spoke": spoke, "engine": engine })
}

#[test]
fn report_names_each_of_four_engines() {
    let services = Services::start();
    services.roll();
    let asked = GUESTS.each_ref().map(Guest::is_asked_to_roll);
    let lines = asked.iter().flat_map(|line| ["--text", line]);
    let arguments: Vec<&str> =
        ["ask", "--json", "--out", "out.wav"].into_iter().chain(lines).collect();
    let ran = Place::with_config(&services.config()).run(&arguments).ends_with(0);
    let lines = ran.lines();
    let made_by: Vec<Value> = lines.iter().map(|it| it["made_by"].clone()).collect();
    let [openai, gemini] = [Service::OpenAi, Service::Gemini];
    let wanted = [
        by(&["plain"], "flite", "cascaded"),
        by(&["fast", "strong"], "flite", "sentence_cascade"),
        by(&[openai.model()], openai.name(), "speech_to_speech"),
        by(&[gemini.model()], gemini.name(), "speech_to_speech"),
    ];
    assert_eq!(made_by, wanted, "{lines:#?}");
    for (guest, line) in GUESTS.iter().zip(&lines) {
        assert_eq!((&line["npc"], &line["outcome"]), (&guest.name.into(), &"spoken".into()));
        assert_eq!(line["tools"].as_array().map(Vec::len), Some(1), "{line:#}");
    }
    for server in services.voice_models() {
        ended(server);
    }
}
