use std::{collections::BTreeSet, fs, path::Path, time::Duration};

use proptest::prelude::*;

use super::*;
use crate::{
    domain::{AddressMode, EngineKind, LineWhen, Npc, S2s, Tier, ToolChoice},
    logic::{
        budget::BudgetOptions,
        turn::{Detector, Patience},
    },
    provider::{
        DeepgramVoiceOptions, EmbedderEntry, ModelEntry, RecogniserEntry, SpeechOptions,
        SpeechService, VoiceEntry, base_url, deepgram, openai::SoundFormat,
    },
    session,
    web::{McpOptions, WebOptions},
    yaml::{Key, Kind, Shape},
};

const TOOLS: &[&str] = &["dice-roller.roll", "dice-roller.roll_table", "memory.roll_call"];
const FILES: [&Shape; 6] = [
    &keys::app::FILE,
    &keys::npc::NPC,
    &crate::import::campaign::FILE,
    &keys::manifest::FILE,
    &keys::music::FILE,
    &keys::workflow::FILE,
];
const BART: &str = "name: Bart\nlines: [{ say: hi }]\n";

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn no_variables(_: &str) -> Option<String> {
    None
}

fn load_with(
    files: &[(&str, &str)],
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Config, Vec<String>> {
    let dir = folder(files);
    let result = load(Some(&dir.path().join("glyphoxa.yaml")), environment, TOOLS);
    let root = format!("{}/", dir.path().display());
    result
        .map_err(|report| report.to_string().lines().map(|line| line.replace(&root, "")).collect())
}

/// The configuration of these files, or its problems without the folder's name.
fn load_files(files: &[(&str, &str)]) -> Result<Config, Vec<String>> {
    load_with(files, &no_variables)
}

/// The configuration `text` beside one good NPC.
fn load_app(text: &str) -> Result<Config, Vec<String>> {
    load_files(&[("glyphoxa.yaml", text), ("npcs/bart.yaml", BART)])
}

/// The NPC `text`.
fn load_npc(text: &str) -> Result<Npc, Vec<String>> {
    let config = load_files(&[("glyphoxa.yaml", ""), ("npcs/a.yaml", text)])?;
    Ok(config.npcs.into_iter().next().unwrap())
}

fn npc_problems(text: &str) -> Vec<String> {
    let named = format!("name: Bart\n{text}");
    load_npc(&named).unwrap_err().into_iter().map(|line| line.replace("npcs/a.yaml:", "")).collect()
}

#[test]
fn five_mistakes_in_three_files_are_one_report() {
    let found = load_files(&[
        ("glyphoxa.yaml", "campaign: c.yaml\nturn: { patience: slow }\nbudgets: {}\n"),
        ("npcs/bart.yaml", "name: Bart\npersonalty: gruff\ntools: [dice-roller.rol]\n"),
        ("c.yaml", "entities:\n  - { name: Rivermouth, type: plase }\n"),
    ]);
    assert_eq!(
        found.unwrap_err(),
        [
            "c.yaml:2:31: 'entities.type' is 'plase' (expected npc or player or location or \
             item or faction or event or quest or concept or lore; did you mean 'player'?)",
            "glyphoxa.yaml:2:19: 'turn.patience' is 'slow' (expected snappy or normal or patient)",
            "glyphoxa.yaml:3:1: unknown key 'budgets' (did you mean 'budget'?)",
            "npcs/bart.yaml:2:1: unknown key 'personalty' (did you mean 'personality'?)",
            "npcs/bart.yaml:3:9: unknown tool 'dice-roller.rol' (did you mean \
             'dice-roller.roll'?)",
        ]
    );
}

#[test]
fn time_zone_is_named_or_this_machines() {
    let config = load_app("timezone: Europe/Berlin\nschedules: { catch_up: true }\n").unwrap();
    assert_eq!(config.schedules.zone.iana_name(), Some("Europe/Berlin"));
    assert!(config.schedules.catch_up);
    assert!(!load_app("").unwrap().schedules.catch_up);
    let wrong = "glyphoxa.yaml:1:11: unknown time zone 'Mars/Olympus' (use a name such as \
                 Europe/Berlin, America/New_York or UTC)";
    assert_eq!(load_app("timezone: Mars/Olympus\n").unwrap_err(), [wrong]);
}

#[test]
fn web_listener_is_off_unless_written() {
    assert_eq!(load_app("").unwrap().web, None);
    let plain = load_app("web: { listen: '127.0.0.1:4100' }\n").unwrap().web.unwrap();
    assert_eq!(plain, WebOptions::default());
    let all = "web:\n  listen: '[::]:80'\n  behind_tls: true\n  hosts: [NPC.example, b.example]\n  \
               mcp: { listen: true, tool_names: underscore }\n";
    let expected = WebOptions {
        listen: "[::]:80".parse().unwrap(),
        behind_tls: true,
        hosts: vec!["npc.example".to_owned(), "b.example".to_owned()],
        mcp: McpOptions { listen: true, underscores: true },
    };
    assert_eq!(load_app(all).unwrap().web, Some(expected));
}

#[test]
fn shipped_files_are_fine() {
    let mut reading = reading::Reading::new(
        files::Source::Shipped,
        &no_variables,
        crate::tools::builtin::IDENTITIES,
    );
    let config = app::read(&mut reading, Path::new(FILE_NAME)).unwrap();
    assert_eq!(reading.problems, [], "problems");
    assert_eq!(reading.warnings, [], "warnings");
    assert!(config.npcs.len() >= 4);
    assert!(!config.campaign.entities.is_empty());
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let disk = load(Some(&root.join(FILE_NAME)), &no_variables, crate::tools::builtin::IDENTITIES)
        .unwrap();
    assert_eq!(config.npcs, disk.npcs, "every npc file is embedded");
    assert_eq!(config.campaign, disk.campaign);
    assert_eq!(disk.session, session::Options::default(), "the file shows the defaults");
    assert_eq!(disk.budget, BudgetOptions { session_max: Some(2.0), ..Default::default() });
    let tables = shipped::FILES.iter().filter(|(name, _)| name.starts_with(shipped::TABLES));
    assert_eq!(disk.files.len(), shipped::FILES.len() - tables.count());
    assert_eq!(disk.tables.len(), 3, "the built-in tables");
}

#[test]
fn shipped_files_fit_their_schemas() {
    for (name, text) in shipped::FILES {
        let kind = match Path::new(name).parent().and_then(Path::to_str) {
            Some("npcs") => SchemaKind::Npc,
            Some("campaigns") => SchemaKind::Campaign,
            Some("tools") => SchemaKind::Tool,
            Some("workflows") => SchemaKind::Workflow,
            Some(shipped::TABLES) => continue,
            _ => SchemaKind::Config,
        };
        let mut problems = crate::yaml::Problems::new(*name);
        let json = crate::yaml::parse(text, &mut problems).unwrap().to_json();
        let schema = schema(kind);
        jsonschema::meta::validate(&schema).unwrap();
        let errors: Vec<_> = jsonschema::validator_for(&schema)
            .unwrap()
            .iter_errors(&json)
            .map(|error| error.to_string())
            .collect();
        assert_eq!(errors, [""; 0], "{name}");
    }
}

/// Every mapping with known keys below `shape`, itself included.
fn shapes(shape: &'static Shape, found: &mut Vec<&'static Shape>) {
    fn inside(kind: &'static Kind, found: &mut Vec<&'static Shape>) {
        match kind {
            Kind::Shape(shape) => shapes(shape, found),
            Kind::List(kind) | Kind::Names(kind) => inside(kind, found),
            Kind::Either(kinds) => kinds.iter().for_each(|kind| inside(kind, found)),
            _ => {}
        }
    }
    if !found.iter().any(|known| std::ptr::eq(*known, shape)) {
        found.push(shape);
        shape.keys.iter().for_each(|key| inside(&key.kind, found));
    }
}

/// Values of every type, as they might follow a key.
const VALUES: [&str; 30] = [
    "~",
    "x",
    "''",
    "' '",
    "true",
    "0",
    "1",
    "3",
    "-3",
    "1.5",
    "99999999999",
    "[]",
    "[x]",
    "[1]",
    "[true]",
    "[[]]",
    "{}",
    "{x: y}",
    "{name: x}",
    "[{}]",
    "[{result: x}]",
    "none",
    "flite",
    "[en]",
    "'7'",
    "'true'",
    "deep",
    "{x: 1}",
    "{x: {}}",
    "{x: [a]}",
];

/// A mapping of `shape` with `value` under `key` and something plain under each required key.
fn example(shape: &Shape, key: &Key, value: &str) -> String {
    let mut text = format!("{}: {value}\n", key.name);
    for other in shape.keys.iter().filter(|other| other.required && other.name != key.name) {
        let plain = match other.kind {
            Kind::Word(words) => words[0],
            Kind::List(_) => "[x]",
            _ => "x",
        };
        text += &format!("{}: {plain}\n", other.name);
    }
    text
}

/// Reading and schema agree on every key of every mapping, for values of every type.
#[test]
fn parser_and_schema_accept_same_values() {
    let mut all = Vec::new();
    for shape in FILES {
        shapes(shape, &mut all);
    }
    assert!(all.len() > 15);
    for shape in all {
        let validator = jsonschema::validator_for(&schema::schema_of(shape)).unwrap();
        for (key, value) in shape.keys.iter().flat_map(|key| VALUES.map(|value| (key, value))) {
            let text = example(shape, key, value);
            let mut problems = crate::yaml::Problems::new("f");
            let mut node = crate::yaml::parse(&text, &mut problems).unwrap();
            let allowed = validator.is_valid(&node.to_json());
            crate::yaml::check(&mut node, "", &Kind::Shape(shape), &mut problems);
            let read = problems.is_empty();
            assert_eq!(read, allowed, "{}: {text}{:?}", shape.title, problems.into_vec());
        }
        let extra = serde_json::json!({ "surely_unknown": 1 });
        assert!(!validator.is_valid(&extra), "{}", shape.title);
    }
}

#[test]
fn every_key_is_described() {
    let mut all = Vec::new();
    for shape in FILES {
        shapes(shape, &mut all);
    }
    for shape in all {
        let names: BTreeSet<_> = shape.keys.iter().map(|key| key.name).collect();
        assert_eq!(names.len(), shape.keys.len(), "{}: a key twice", shape.title);
        for key in shape.keys {
            assert!(key.doc.ends_with('.') && key.doc.len() > 5, "{}.{}", shape.title, key.name);
        }
    }
}

#[test]
fn npc_has_its_defaults() {
    let npc = load_npc("name: Bart the Bold\n").unwrap();
    assert_eq!((npc.voice.provider.as_str(), npc.voice.voice_id.as_str()), ("flite", "slt"));
    assert_eq!((npc.voice.pitch_shift, npc.voice.speed_factor, npc.voice.volume), (0.0, 1.0, 1.0));
    assert_eq!((npc.language.as_str(), npc.max_sentences), ("en", 4));
    assert_eq!((npc.budget_tier, npc.address), (Tier::Fast, AddressMode::Adaptive));
    assert_eq!(npc.policy, crate::domain::Policy::default());
    assert!(npc.tools.is_empty());
}

#[test]
fn every_npc_key_reaches_the_npc() {
    let text = "name: The Old Greymantle\naliases: [sage]\npronunciation: gray mantle\n\
        personality: wise\nbehavior_rules: [be brief]\nsecret_knowledge: it was me\n\
        knowledge_scope: [stars]\n\
        voice: { provider: espeak, voice_id: en-gb+m3, pitch_shift: 2, speed_factor: 0.5, volume: 2 }\n\
        language: de\nmax_sentences: 2\nengine: cascaded\nbudget_tier: deep\n\
        tools: [roll, \"memory.*\"]\naddress: always\nfillers: [hm]\n\
        lines:\n\
        \x20 - { when: [dice, die], say: [\"{result.total} for {speaker}\", b], once: true, weight: 3, \
        tool: { name: roll, arguments: { expression: \"{dice}\", n: 1 } } }\n\
        \x20 - { when: '/call me (?<name>\\w+) or (\\w+)/', say: '{name} {2} {npc} {utterance}' }\n\
        \x20 - say: what\n\
        policy: { tool_choice: roll, max_rounds: 1, max_calls_per_turn: 2, max_parallel: 3, \
        max_calls_per_session: 4, max_calls_per_minute: 5, max_identical: 6, blocklist: [roll_call], \
        stop_on_tool: [\"dice-roller.*\"], max_cost: 0.5 }\n";
    let npc = load_npc(text).unwrap();
    assert_eq!(npc.pronunciation.len(), 1);
    assert_eq!(npc.pronunciation[0].word, "Greymantle");
    assert_eq!(npc.secret_knowledge, ["it was me"]);
    assert_eq!(npc.tools, ["dice-roller.roll", "memory.*"], "bare names become identities");
    assert_eq!(npc.voice.voice_id, "en-gb+m3");
    assert_eq!((npc.max_sentences, npc.language.as_str()), (2, "de"));
    let [dice, name, last] = &*npc.lines else { unreachable!("three lines") };
    assert_eq!(dice.when, Some(LineWhen::Phrases(vec!["dice".into(), "die".into()])));
    let tool = dice.tool.as_ref().unwrap();
    assert_eq!(tool.name, "dice-roller.roll");
    assert_eq!(tool.arguments, serde_json::json!({ "expression": "{dice}", "n": 1 }));
    assert!(dice.once && dice.weight == 3 && dice.say.len() == 2);
    assert!(matches!(&name.when, Some(LineWhen::Pattern(p)) if p.starts_with("call me")));
    assert_eq!(last.when, None);
    let policy = npc.policy;
    assert_eq!(policy.tool_choice, ToolChoice::Named("dice-roller.roll".into()));
    assert_eq!((policy.max_rounds, policy.max_calls_per_turn, policy.max_parallel), (1, 2, 3));
    assert_eq!((policy.max_calls_per_session, policy.max_calls_per_minute), (4, 5));
    assert_eq!((policy.max_identical, policy.max_cost), (6, Some(0.5)));
    assert_eq!(policy.blocklist, ["memory.roll_call"]);
    assert_eq!(policy.stop_on_tool, ["dice-roller.*"]);
}

#[test]
fn engines_that_cannot_run_say_why() {
    assert_eq!(
        npc_problems("engine: s2s\n"),
        ["2:9: engine 's2s' needs a speech-to-speech service, and none is configured \
          (providers.speech_to_speech: { model: gpt-realtime-2.1, api_key: … })"]
    );
    assert!(npc_problems("engine: speech_to_speech\n")[0].contains("none is configured"));
    let found = npc_problems("engine: sentence_cascade\n");
    assert_eq!(
        found,
        ["2:9: engine 'sentence_cascade' needs two chat models (add cascade: { opener: NAME, \
          strong: NAME }, names of providers.llm)"]
    );
    let found = npc_problems("engine: sentence_cascade\ncascade: { opener: a }\n");
    assert!(found.iter().any(|it| it.contains("missing key 'strong'")), "{found:?}");
    let found = npc_problems("cascade: { opener: scripted, strong: b }\n");
    assert!(found.iter().any(|it| it.contains("'scripted' is no chat model")), "{found:?}");
    assert!(npc_problems("engine: cascadet\n")[0].contains("did you mean 'cascaded'?"));
}

#[test]
fn two_chat_models_make_a_sentence_cascade() {
    let near = "base_url: 'http://127.0.0.1:9/v1'";
    let load = |npc: &str, more: &str| {
        let llm = format!(
            "providers:\n  llm:\n    - {{ name: openai, as: fast, model: f, {near} }}\n    \
             - {{ name: openai, as: main, model: m, {near}{more} }}\n"
        );
        load_files(&[("glyphoxa.yaml", &llm), ("npcs/a.yaml", &format!("name: Bart\n{npc}"))])
    };
    let named = "cascade: { opener: fast, strong: main }\n";
    let config = load(&format!("engine: sentence_cascade\n{named}"), ", continues: true").unwrap();
    let npc = &config.npcs[0];
    assert_eq!((npc.engine, npc.thinks_with()), (EngineKind::SentenceCascade, Some("main")));
    assert_eq!(npc.cascade.as_ref().map(|it| it.opener.as_str()), Some("fast"));
    assert_eq!(warned(&config), [""; 0]);
    let plain = load(named, "").unwrap();
    assert_eq!(plain.npcs[0].thinks_with(), None);
    assert_eq!(warned(&plain), ["'cascade' has no effect on 'Bart', whose engine is cascaded"]);
    let twice = "engine: sentence_cascade\ncascade: { opener: main, strong: main }\n";
    let twice = load(twice, "").unwrap();
    assert_eq!(warned(&twice), ["'Bart' opens and goes on with the same chat model"]);
    let wrong = load("engine: sentence_cascade\ncascade: { opener: fats, strong: main }\n", "");
    let wrong = wrong.unwrap_err();
    assert!(wrong.len() == 1 && wrong[0].contains("did you mean 'fast'?"), "{wrong:?}");
}

/// A configuration with a voice model that has these settings, and one NPC.
fn load_talking(service: &str, npc: &str) -> Result<Config, Vec<String>> {
    let text = format!("providers: {{ speech_to_speech: {{ model: gpt-r{service} }} }}\n");
    let npc = format!("name: Bart\nlines: [{{ say: hi }}]\n{npc}");
    load_files(&[("glyphoxa.yaml", &text), ("npcs/a.yaml", &npc)])
}

/// Its only service that hears and speaks.
#[track_caller]
fn talks(config: &Config) -> SpeechOptions {
    let [entry] = &config.services.speech_to_speech[..] else { unreachable!("one service") };
    entry.clone()
}

/// Messages of the warnings, without the ways out.
fn warned(config: &Config) -> Vec<&str> {
    config.warnings.iter().map(|it| it.message.as_str()).collect()
}

const TALKS: &str = "engine: s2s\nvoice: { voice_id: rms }\ns2s: { voice: cedar }\n";

#[test]
fn every_key_of_a_voice_model_is_read() {
    let near = ", base_url: http://127.0.0.1:9/v1";
    let config = load_talking(near, TALKS).unwrap();
    assert_eq!(warned(&config), [""; 0]);
    let plain = talks(&config);
    assert_eq!((plain.model.as_str(), &plain.priced_as), ("gpt-r", &None));
    assert_eq!(plain.first_byte_timeout, Duration::from_secs(3));
    assert_eq!((plain.max_age, plain.idle), (Duration::from_mins(55), Duration::from_mins(1)));
    let set = ", name: openai-realtime, base_url: 'wss://x.example/v1/', api_key: k, free: true, \
               first_byte_timeout_ms: 3, max_age_min: 9, idle_s: 5";
    let set = talks(&load_talking(set, TALKS).unwrap());
    assert_eq!(set.base_url, "https://x.example/v1");
    assert_eq!(set.api_key.as_ref().map(|key| key.0.as_str()), Some("k"));
    assert_eq!(set.first_byte_timeout, Duration::from_millis(3));
    assert_eq!((set.max_age, set.idle), (Duration::from_mins(9), Duration::from_secs(5)));
    let home = talks(&load_talking(", free: true, api_key: k", TALKS).unwrap());
    assert_eq!(home.base_url, "https://api.openai.com/v1");
    assert!(load_app("").unwrap().services.speech_to_speech.is_empty());
}

#[test]
fn gemini_live_has_defaults_of_its_own() {
    let config = load_talking(", name: gemini-live, free: true, api_key: k", TALKS).unwrap();
    let entry = talks(&config);
    assert_eq!(entry.service, SpeechService::Gemini);
    assert_eq!(entry.base_url, "https://generativelanguage.googleapis.com");
    assert_eq!((entry.max_age, entry.idle), (Duration::from_mins(9), Duration::from_mins(1)));
    let found = load_talking(", name: gemini-live, free: true", TALKS).unwrap_err();
    assert!(found[0].contains("(api_key: ${GEMINI_API_KEY}, or another base_url)"), "{found:?}");
    let near = ", name: gemini-live, base_url: http://127.0.0.1:9";
    let voiceless = load_talking(near, "engine: s2s\nvoice: { voice_id: rms }\n").unwrap();
    assert!(format!("{:?}", voiceless.warnings).contains("s2s: { voice: Charon }"));
    let other = "engine: s2s\nvoice: { voice_id: rms }\n\
                 s2s: { provider: openai-realtime, voice: marin }\n";
    assert_eq!(
        load_talking(near, other).unwrap_err(),
        ["npcs/a.yaml:5:18: speech-to-speech service 'openai-realtime' is not configured (add it \
          to providers.speech_to_speech, or use gemini-live)"]
    );
}

/// A configuration with these two entries, and two NPCs that speak, Gisela with these settings.
fn load_two(entries: [&str; 2], gisela: &str) -> Result<Config, Vec<String>> {
    let [first, second] = entries.map(|entry| {
        format!("    - {{ {entry}, base_url: http://127.0.0.1:9, price: {{ audio_input: 3 }} }}\n")
    });
    let text = format!("providers:\n  speech_to_speech:\n{first}{second}");
    let with = |name: &str, s2s: &str| {
        format!(
            "name: {name}\nlines: [{{ say: hi }}]\nengine: s2s\nvoice: {{ voice_id: rms }}\n{s2s}"
        )
    };
    load_files(&[
        ("glyphoxa.yaml", &text),
        ("npcs/gisela.yaml", &with("Gisela", gisela)),
        ("npcs/odo.yaml", &with("Odo", "s2s: { voice: cedar }\n")),
    ])
}

const BOTH: [&str; 2] = ["name: openai-realtime, model: a", "name: gemini-live, model: b"];

#[test]
fn two_services_speak_at_one_table() {
    let config = load_two(BOTH, "s2s: { provider: gemini-live, voice: Kore }\n").unwrap();
    assert_eq!(warned(&config), [""; 0]);
    let spoken_by = |name: &str| {
        let npc = config.npcs.iter().find(|npc| npc.name == name).unwrap();
        config.services.speech_to_speech_of(npc).unwrap()
    };
    assert_eq!(spoken_by("Gisela").service, SpeechService::Gemini);
    assert_eq!(spoken_by("Odo").service, SpeechService::OpenAi, "the first, where none is named");
    for name in ["Gisela", "Odo"] {
        let priced_as = spoken_by(name).priced_as.as_deref().unwrap();
        assert_eq!(config.budget.prices[priced_as].audio_input, 3.0, "{name}");
    }
    let voiceless = load_two(BOTH, "s2s: { provider: gemini-live }\n").unwrap();
    assert_eq!(warned(&voiceless), ["'Gisela' has no voice for the speech-to-speech service"]);
    assert!(format!("{:?}", voiceless.warnings).contains("s2s: { voice: Charon }"));
    let one = load_app(
        "providers: { speech_to_speech: [{ model: r, base_url: 'http://127.0.0.1:9' }] }\n",
    );
    assert_eq!(talks(&one.unwrap()).service, SpeechService::OpenAi, "a list of one");
}

#[test]
fn voice_models_of_one_name_have_own_prices() {
    let entry = |named: &str, price: u8| {
        let price = format!("price: {{ audio_input: {price} }}");
        format!("    - {{ {named}, model: r, base_url: 'http://127.0.0.1:9', {price} }}\n")
    };
    let entries =
        [entry("api_key: k", 3), entry("service: gemini-live", 5), entry("as: deep", 7)].concat();
    let config = load_app(&format!("providers:\n  speech_to_speech:\n{entries}")).unwrap();
    let all = &config.services.speech_to_speech;
    for (name, price) in [("openai-realtime", 3.0), ("gemini-live", 5.0), ("deep", 7.0)] {
        let entry = SpeechOptions::of(all, Some(name)).unwrap();
        let priced_as = entry.priced_as.as_deref().unwrap();
        assert_eq!((&*entry.name, config.budget.prices[priced_as].audio_input), (name, price));
    }
    let twice = "service: gemini-live, name: gemini-live, model: a";
    let twice = load_two([twice, BOTH[0]], "s2s: { voice: Kore }\n").unwrap_err();
    assert!(twice[0].contains("has both 'service' and 'name'"), "{twice:?}");
}

#[test]
fn npc_chooses_a_voice_model_by_its_own_name() {
    let entries = ["name: gemini-live, model: a", "service: gemini-live, as: deep, model: b"];
    let model_of = |provider: &str| {
        let config = load_two(entries, &format!("s2s: {{ provider: {provider}, voice: Kore }}\n"));
        let config = config.unwrap();
        let npc = config.npcs.iter().find(|npc| npc.name == "Gisela").unwrap();
        config.services.speech_to_speech_of(npc).unwrap().model.clone()
    };
    assert_eq!((model_of("deep").as_str(), model_of("gemini-live").as_str()), ("b", "a"));
    let unknown = load_two(entries, "s2s: { provider: depe, voice: Kore }\n").unwrap_err();
    assert!(unknown[0].contains("'depe' is not configured"), "{unknown:?}");
    assert!(unknown[0].contains("or use gemini-live or deep"), "{unknown:?}");
}

#[test]
fn services_listed_wrongly_are_refused() {
    let voiced = "s2s: { voice: Kore }\n";
    let twice = load_two(["name: gemini-live, model: a", "name: gemini-live, model: b"], voiced);
    assert_eq!(
        twice.unwrap_err(),
        ["glyphoxa.yaml:4:15: 'providers.speech_to_speech' lists 'gemini-live' twice (give \
          one of them another name: `as: mini`)"]
    );
    let default = load_two(["name: openai-realtime, model: a", "model: b"], voiced).unwrap_err();
    assert!(default[0].contains("lists 'openai-realtime' twice"), "{default:?}");
    let named = "s2s: { provider: gemini-live, voice: Kore }\n";
    let unread = load_two(["name: gemini, model: a", BOTH[0]], named).unwrap_err();
    assert!(unread.len() == 1 && unread[0].contains("is 'gemini' (expected"), "{unread:?}");
    let none = load_app("providers: { speech_to_speech: [] }\n").unwrap_err();
    assert!(none[0].contains("'providers.speech_to_speech' is an empty list"), "{none:?}");
}

#[test]
fn voice_model_without_a_key_is_refused() {
    let found = load_talking(", free: true", TALKS).unwrap_err();
    assert_eq!(
        found,
        ["glyphoxa.yaml:1:32: missing key 'api_key' of 'providers.speech_to_speech' (api_key: \
          ${OPENAI_API_KEY}, or another base_url)"]
    );
    let two = load_files(&[
        ("glyphoxa.yaml", "providers: { speech_to_speech: { name: gemini } }\n"),
        ("npcs/a.yaml", "name: Bart\nengine: s2s\n"),
    ]);
    let two = two.unwrap_err().join("\n");
    assert!(two.contains("openai-realtime") && !two.contains("none is configured"), "{two}");
}

#[test]
fn paid_voice_model_needs_a_price() {
    let with = |rest: &str| load_talking(&format!(", api_key: k{rest}"), TALKS);
    assert!(with("").unwrap_err()[0].contains("no price for model 'gpt-r'"));
    assert!(with(", free: true").is_ok());
    let odd = with(", price: { minute: 1 }").unwrap_err();
    let way_out = "does not fit its use (add input, output, audio_input and audio_output, or";
    assert!(odd[0].contains(way_out), "{odd:?}");
    let sound = with(", price: { audio_input: 32 }").unwrap();
    assert_eq!(warned(&sound), [""; 0]);
    let of = |price: &str| {
        let config = with(&format!(", price: {{ {price} }}")).unwrap();
        let model = talks(&config).priced_as.unwrap();
        (config.budget.prices[&model], config)
    };
    let (dear, config) =
        of("input: 4, cached_input: 0.4, output: 24, audio_input: 32, audio_output: 64");
    assert_eq!((dear.audio_input, dear.audio_cached, dear.audio_output), (32.0, 3.2, 64.0));
    assert_eq!(warned(&config), [""; 0]);
    let (own, _) = of("audio_input: 32, audio_cached: 2, audio_output: 64");
    assert_eq!(own.audio_cached, 2.0);
    let (whole, _) = of("audio_input: 32, audio_output: 64");
    assert_eq!(whole.audio_cached, 32.0, "the cache is not free by default");
}

#[test]
fn sound_priced_as_text_is_a_warning() {
    let named = |model: &str| {
        load_files(&[
            (
                "glyphoxa.yaml",
                &format!(
                    "providers: {{ speech_to_speech: {{ model: {model}, api_key: k }} }}\n\
                     prices: {{ text: {{ input: 4, output: 24 }}, dear: {{ input: 4, output: 24, \
                     audio_input: 32, audio_output: 64 }} }}\n"
                ),
            ),
            ("npcs/a.yaml", &format!("{BART}{TALKS}")),
        ])
        .unwrap()
    };
    let config = named("text");
    assert_eq!(warned(&config), ["the price of model 'text' charges sound like text"]);
    let price = config.budget.prices["text"];
    assert_eq!((price.audio_input, price.audio_output), (4.0, 24.0), "sound is never free");
    assert_eq!(warned(&named("dear")), [""; 0]);
}

#[test]
fn npc_may_speak_through_a_voice_model() {
    let near = ", base_url: http://127.0.0.1:9/v1";
    let npc = |text: &str| load_talking(near, text).unwrap();
    let config = npc(TALKS);
    let default = S2s { voice: Some("cedar".to_owned()), ..S2s::default() };
    assert_eq!(
        (config.npcs[0].engine, &config.npcs[0].s2s),
        (EngineKind::SpeechToSpeech, &default)
    );
    let keys = "engine: speech_to_speech\nvoice: { voice_id: rms }\n\
                s2s: { provider: openai-realtime, voice: marin, slow_tool_ms: 90, max_answer_s: 12 }\n";
    let config = npc(keys);
    let wanted = S2s {
        provider: Some("openai-realtime".to_owned()),
        voice: Some("marin".to_owned()),
        slow_tool: Duration::from_millis(90),
        max_answer: Duration::from_secs(12),
    };
    assert_eq!((config.npcs[0].engine, &config.npcs[0].s2s), (EngineKind::SpeechToSpeech, &wanted));
    assert_eq!(warned(&config), [""; 0]);
    assert_eq!(npc("").npcs[0].engine, EngineKind::Cascaded, "it has to be asked for");
}

#[test]
fn engines_and_voices_that_miss_are_warned_of() {
    let near = ", base_url: http://127.0.0.1:9/v1";
    let found = |text: &str| {
        let config = load_talking(near, text).unwrap();
        warned(&config).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        found("voice: { voice_id: rms }\ns2s: { voice: cedar }\n"),
        ["'s2s' has no effect on 'Bart', whose engine is cascaded"]
    );
    assert_eq!(
        found("engine: s2s\nvoice: { voice_id: rms }\n"),
        ["'Bart' has no voice for the speech-to-speech service"]
    );
    assert_eq!(
        found("engine: s2s\ns2s: { voice: cedar }\n"),
        ["'Bart' has no 'voice' for answers through the cascade"]
    );
    let guarded = load_files(&[
        (
            "glyphoxa.yaml",
            "lines_and_veils: [spiders]\n\
             providers: { speech_to_speech: { model: r, base_url: http://127.0.0.1:9/v1 } }\n",
        ),
        ("npcs/a.yaml", &format!("{BART}{TALKS}")),
    ]);
    assert_eq!(
        warned(&guarded.unwrap()),
        ["'Bart' answers through the cascade, because lines_and_veils are set"]
    );
    let assistant = load_app("npcs: [{ name: Clerk, kind: assistant, engine: s2s, s2s: {} }]\n");
    let assistant = assistant.unwrap();
    assert_eq!(assistant.assistant.engine, EngineKind::Cascaded);
    assert_eq!(
        warned(&assistant),
        [
            "'engine' has no effect on the assistant, which writes its answers",
            "'s2s' has no effect on the assistant, which writes its answers",
        ]
    );
}

#[test]
fn unknown_voices_and_tools_name_the_known() {
    assert_eq!(
        npc_problems("voice: { voice_id: rmss }\n"),
        ["2:20: unknown voice 'rmss' (did you mean 'rms'? flite has slt, rms, awb, kal16, kal)"]
    );
    assert!(
        npc_problems("voice: { provider: espeak, voice_id: 'a;b' }\n")[0].starts_with("2:38: ")
    );
    assert!(
        npc_problems("voice: { provider: espeak, voice_id: '-x' }\n")[0].contains("unknown voice")
    );
    assert!(
        npc_problems("voice: { provider: openai, voice_id: alloy }\n")[0]
            .contains("none is configured")
    );
    assert!(npc_problems("voice: { pitch_shift: 11 }\n")[0].contains("from -10 to 10"));
    for (entry, way_out) in [
        ("memory.query", "known tools: dice-roller.roll, "),
        ("rol", "did you mean 'roll'?"),
        ("'dice-roler.*'", "did you mean 'dice-roller.*'?"),
        ("'*'", "known tools"),
        ("'dice-roller.x*'", "did you mean 'dice-roller.*'?"),
    ] {
        let found = npc_problems(&format!("tools: [{entry}]\n"));
        assert_eq!(found.len(), 1, "{entry}");
        assert!(found[0].starts_with("2:9: unknown tool"), "{found:?}");
        assert!(found[0].contains(way_out), "{found:?}");
    }
}

#[test]
fn server_name_alone_means_all_its_tools() {
    let tools =
        |entries: &str| load_npc(&format!("name: Bart\ntools: [{entries}]\n")).unwrap().tools;
    assert_eq!(tools("dice-roller, memory"), ["dice-roller.*", "memory.*"]);
    assert_eq!(tools("roll"), ["dice-roller.roll"]);
    assert_eq!(whitelist::whole_server("a", &["b.a", "a.*"]).as_deref(), Some("a.*"));
    assert_eq!(whitelist::whole_server("a.b", &["a.b.c"]), None);
    let found = npc_problems("tools: [dice-roler]\n");
    assert!(found[0].contains("did you mean 'dice-roller'?"), "{found:?}");
    let found = npc_problems("tools: [file-io]\n");
    assert!(found[0].contains("add file_io: { base_dir"), "{found:?}");
}

#[test]
fn bare_name_of_two_servers_is_ambiguous() {
    let found = whitelist::resolve("a", &["x.a", "y.a"]).unwrap_err();
    assert_eq!(found, ("several servers have a tool 'a'".into(), "x.a, y.a".into()));
}

#[test]
fn npc_line_problems_are_shown_with_position() {
    let found = npc_problems(
        "tools: [roll]\nlines:\n  - { when: '/a(/', say: x }\n  - { when: ['?!'], say: x }\n  \
         - { when: [a, /b/], say: x }\n  - { say: '{spaeker} {1} {result.total}' }\n  \
         - { say: x, tool: { name: roll_table } }\n  - { when: [], say: x }\n  - { when: x }\n",
    );
    assert_eq!(found.len(), 8, "{found:#?}");
    assert!(found[0].starts_with("4:13: pattern '/a(/': unclosed group"), "{found:#?}");
    assert!(found[1].starts_with("5:14: phrase '?!' "));
    assert!(found[2].starts_with("6:17: pattern '/b/' "));
    assert_eq!(
        found[3],
        "7:12: unknown placeholder '{1}' (known: {speaker} {npc} {utterance} {dice} {odds} {last} {name})"
    );
    assert!(found[4].contains("unknown placeholder '{result.total}'"));
    assert!(found[5].contains("unknown placeholder '{spaeker}' (did you mean '{speaker}'?)"));
    assert!(found[6].starts_with("9:13: 'when' is an empty list"));
    assert!(found[7].starts_with("10:5: missing key 'say' of 'lines'"));
}

#[test]
fn one_mistake_is_one_problem() {
    assert_eq!(npc_problems("tools: roll\nlines: [{ say: x, tool: { name: roll } }]\n").len(), 1);
    assert_eq!(npc_problems("voice: { voice_id: [x] }\n").len(), 1);
    assert_eq!(npc_problems("pronunciation: 'b4rt!'\n").len(), 1);
    assert_eq!(npc_problems("language: english\n").len(), 1);
}

#[test]
fn names_are_unique_across_files() {
    let found = load_files(&[
        ("glyphoxa.yaml", "npcs:\n  - { name: Mira, aliases: [the thief], lines: [{ say: x }] }\n"),
        ("npcs/a.yaml", "name: Bart\naliases: [bart, barkeep]\n"),
        ("npcs/b.yaml", "name: BART\naliases: [The  Thief]\n"),
    ])
    .unwrap_err();
    assert_eq!(found.len(), 2, "{found:#?}");
    let mut found = found;
    found.sort_by_key(|line| line.starts_with("glyphoxa.yaml"));
    assert!(found[0].starts_with("npcs/b.yaml:1:7: the name 'BART' is taken by another npc"));
    assert!(found[0].contains("npcs/a.yaml:1; choose another"), "{found:#?}");
    assert!(
        found[1].starts_with("glyphoxa.yaml:2:29: the name 'the thief' is taken"),
        "{found:#?}"
    );
    assert!(found[1].contains("npcs/b.yaml:2; choose another"), "{found:#?}");
}

#[test]
fn configuration_changes_npcs_of_files() {
    let bart = "name: Bart\ntools: [roll, roll_table]\nvoice: { voice_id: rms, speed_factor: 0.9 }\n\
                lines:\n  - { say: x, tool: { name: roll } }\n  - { say: y, tool: { name: roll_table } }\n";
    let app = "npcs:\n  - { name: Odo, lines: [{ say: x }] }\n  \
               - { name: bart, tools: [roll], voice: { speed_factor: 0.8 } }\n";
    let config = load_files(&[("glyphoxa.yaml", app), ("npcs/bart.yaml", bart)]).unwrap();
    let names: Vec<&str> = config.npcs.iter().map(|npc| npc.name.as_str()).collect();
    assert_eq!(names, ["Odo", "Bart"]);
    let bart = &config.npcs[1];
    assert_eq!(bart.tools, ["dice-roller.roll"], "a list replaces");
    assert_eq!(bart.voice.voice_id, "rms", "a mapping is merged");
    assert_eq!(bart.lines.len(), 2);
    assert_eq!(config.changed.len(), 1);
    let warnings: Vec<String> = config.warnings.iter().map(ToString::to_string).collect();
    let lacking: Vec<&String> = warnings.iter().filter(|it| it.contains("call tools")).collect();
    assert_eq!(lacking.len(), 1, "{warnings:#?}");
    assert!(lacking[0].contains("glyphoxa.yaml:3:"), "{warnings:#?}");
    assert!(lacking[0].ends_with("(add to 'tools': dice-roller.roll_table)"), "{warnings:#?}");
}

#[test]
fn problems_at_one_place_of_two_files_are_apart() {
    let bart = "name: Bart\nvoice:\n  voice_id: [x]\nlines: [{ say: x }]\n";
    let app = "npcs:\n- name: Bart\n  language: english\n";
    let found = load_files(&[("glyphoxa.yaml", app), ("npcs/bart.yaml", bart)]).unwrap_err();
    assert_eq!(found.len(), 2, "{found:#?}");
    for place in ["glyphoxa.yaml:3:13: 'language' is", "npcs/bart.yaml:3:"] {
        assert!(found.iter().any(|it| it.starts_with(place)), "{place} in {found:#?}");
    }
}

#[test]
fn table_needs_an_npc() {
    let found = load_files(&[("glyphoxa.yaml", "# nothing\n")]).unwrap_err();
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("glyphoxa.yaml:1:1: no npcs found ("));
}

#[test]
fn files_that_cannot_be_read_say_why() {
    let dir = tempfile::tempdir().unwrap();
    let missing = load(Some(&dir.path().join("no.yaml")), &no_variables, TOOLS).unwrap_err();
    assert_eq!(missing.problems.len(), 1);
    assert!(
        missing
            .to_string()
            .ends_with("no.yaml:1:1: no such file or folder (name a file that exists)")
    );
    let folder = load(Some(dir.path()), &no_variables, TOOLS).unwrap_err().to_string();
    assert!(folder.contains("this is a folder"), "{folder}");

    let found = load_app("campaign: c.yaml\ntools: { table_dir: t }\n").unwrap_err();
    assert_eq!(found.len(), 2);
    assert!(
        found[0].starts_with("glyphoxa.yaml:1:11: campaign 'c.yaml': no such file"),
        "{found:?}"
    );
    assert!(found[1].starts_with("glyphoxa.yaml:2:21: table_dir 't': no such file"), "{found:?}");
    let found = load_app("npc_dir: casts\n").unwrap_err();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("glyphoxa.yaml:1:10: npc_dir 'casts': no such file or folder"));
}

#[test]
fn text_that_is_not_utf8_is_named_with_its_place() {
    let dir = folder(&[("glyphoxa.yaml", ""), ("npcs/a.yaml", BART)]);
    fs::write(dir.path().join("npcs/b.yaml"), b"name: \xc3\xa4x\nvoice: \xff\n").unwrap();
    let report = load(Some(&dir.path().join(FILE_NAME)), &no_variables, TOOLS).unwrap_err();
    assert_eq!(report.problems.len(), 1);
    assert!(report.to_string().contains("b.yaml:2:8: not UTF-8 text from here on"), "{report}");
}

#[test]
fn variables_expand_with_defaults_and_escapes() {
    let environment = |name: &str| match name {
        "KEY" => Some("sk-1".to_owned()),
        "EMPTY" => Some(String::new()),
        "COUNT" => Some("7".to_owned()),
        _ => None,
    };
    let text = "name: a${KEY}b\npersonality: '$${KEY} ${EMPTY}${EMPTY:-e}${NO:-d:-x}$ $x {y} ${data.sky} ${global_data.sea}'\n\
                max_sentences: ${COUNT}\nknowledge_scope: ['${COUNT}']\nlines: [{ say: x }]\n";
    let files = [("glyphoxa.yaml", ""), ("npcs/a.yaml", text)];
    let npc = load_with(&files, &environment).unwrap().npcs.remove(0);
    assert_eq!(npc.name, "ask-1b");
    let later = "${KEY} ed:-x$ $x {y} ${data.sky} ${data.sea}";
    assert_eq!(npc.personality, later, "data is filled in later");
    assert_eq!(npc.max_sentences, 7);
    assert_eq!(npc.knowledge_scope, ["7"]);
}

#[test]
fn missing_variables_name_key_and_variable() {
    assert_eq!(
        npc_problems("voice: { voice_id: '${VOICE}' }\naliases: [x, '${1x}', '${Z']\n"),
        [
            "2:20: 'voice.voice_id' needs the variable 'VOICE', which is not set (set it, or give a \
         default: ${VOICE:-default})",
            "3:14: 'aliases' has an invalid variable name in '1x' (write ${NAME}, or $${ for the characters ${)",
            "3:23: 'aliases' has '${' without '}' (close it, or write $${ for the characters ${)",
        ]
    );
}

#[test]
fn variable_values_are_never_printed() {
    let secret = |_: &str| Some("hunter2".to_owned());
    let text = "turn: { patience: '${X}', timeout_ms: '${X}' }\nlog: { level: '${X}' }\n";
    let npc = "name: Bart\nvoice: { voice_id: '${X}' }\ntools: ['${X}']\nlanguage: '${X}'\n";
    let files = [("glyphoxa.yaml", text), ("npcs/a.yaml", npc)];
    let found = load_with(&files, &secret).unwrap_err();
    assert_eq!(found.len(), 6, "{found:#?}");
    assert!(
        found.iter().all(|line| !line.contains("hunter2") && line.contains("'${X}'")),
        "{found:?}"
    );
}

/// A configuration that sets every key.
const EVERY_KEY: &[(&str, &str)] = &[
    (
        "glyphoxa.yaml",
        "campaign: c.yaml\nnpc_dir: cast\nlanguage: de\nlines_and_veils: [spiders]\n\
             providers:\n  stt: { name: openai, base_url: http://localhost:1/v1, model: w, language: fr }\n  \
             llm: { name: openai, base_url: 'https://x.example/v1/', api_key: k, model: m, max_tokens: 9, context_window: 8192, \
             temperature: 0.5, extra_body: { reasoning_effort: low, n: 1 }, first_byte_timeout_ms: 1, \
             idle_timeout_ms: 2 }\n  \
             tts: { name: openai, base_url: http://10.0.0.7/v1, model: s, response_format: wav, \
             sample_rate: 44100, free: true }\n\
             turn: { patience: patient, detector: both, preemptive: false, timeout_ms: 5, recall_ms: 6 }\n\
             tiers: { languages: [de], deep: { add: [ponder] }, standard: { replace: [only] } }\n\
             budget: { session_max: none }\nprices: { m: { input: 1, output: 2.5 } }\n\
             tools: { filler_after_ms: 3, policy: { max_rounds: 2 }, table_dir: t, \
             tables: { food: [stew, { weight: 3, result: bread }] } }\n\
             telemetry: { otlp: 'http://10.0.0.7:4318/', content: true }\n\
             data_dir: d\nlog: { level: debug }\n",
    ),
    ("cast/a.yaml", "name: Bart\nvoice: { voice_id: alloy }\npolicy: { max_identical: 9 }\n"),
    ("cast/.hidden.yaml", "no: npc\n"),
    ("cast/readme.txt", "no npc\n"),
    ("t/weather.yml", "description: sky\nentries: [rain]\n"),
    (
        "c.yaml",
        "campaign: { name: C, description: d, system: 5e }\nplayers: [{ name: A, character: B }]\n",
    ),
];

#[test]
fn every_key_of_a_provider_reaches_its_option() {
    let config = load_files(EVERY_KEY).unwrap();
    let entry = &config.services.recognisers.entries[0].entry;
    let RecogniserEntry::OpenAi { options, language } = entry else { unreachable!("it is openai") };
    assert_eq!((options.model.as_str(), language.as_str()), ("w", "fr"));
    assert_eq!(options.priced_as, None, "this machine is free");
    assert_eq!(config.services.models.names().collect::<Vec<_>>(), ["m"]);
    let ModelEntry::OpenAi(options) = &config.services.models.entries[0].entry else {
        unreachable!("it is openai")
    };
    assert_eq!(options.base_url, "https://x.example/v1");
    assert_eq!(options.api_key.as_ref().map(|key| key.0.as_str()), Some("k"));
    assert_eq!(options.priced_as.as_deref(), Some("m"));
    assert_eq!((options.temperature, options.context_window), (Some(0.5), 8_192));
    assert_eq!(options.first_byte_timeout.as_millis(), 1);
    assert_eq!(options.idle_timeout.as_millis(), 2);
    assert_eq!(
        serde_json::to_string(&options.extra_body).unwrap(),
        r#"{"reasoning_effort":"low","n":1}"#
    );
    let VoiceEntry::OpenAi(options) = &config.services.voices.first().unwrap().entry else {
        unreachable!("it is openai")
    };
    assert_eq!(options.reach.model, "s");
    assert_eq!((options.format, options.sample_rate), (SoundFormat::Wav, 44_100));
}

#[test]
fn recognisers_are_one_or_a_list() {
    let load = |stt: &str| load_app(&format!("providers: {{ stt: {stt} }}\n"));
    let names = |stt: &str| {
        let config = load(stt).unwrap();
        config.services.recognisers.names().map(str::to_owned).collect::<Vec<_>>()
    };
    let at = "base_url: 'http://127.0.0.1:1/v1'";
    assert_eq!(names("{ service: local }"), ["local"]);
    let three = format!("[{{ name: openai, {at}, model: w }}, {{ as: here }}, {{ name: local }}]");
    assert_eq!(names(&three), ["w", "here", "local"]);
    let config = load(&three).unwrap();
    assert!(config.services.recognisers.only_here().is_none(), "another one hears first");
    let hears = config.services.describe(&[]).hears;
    assert_eq!(hears.len(), 2, "each service once: {hears:?}");
    assert!(load("[]").unwrap_err()[0].contains("'providers.stt' is an empty list"));
    let twice = format!("[{{ name: openai, {at}, model: w }}, {{ name: openai, {at}, model: w }}]");
    assert!(load(&twice).unwrap_err()[0].contains("two recognisers are called 'w'"));
    let price = |as_: &str, minute: u8| {
        let price = format!("price: {{ minute: {minute} }}");
        format!("{{ name: openai, as: {as_}, {at}, model: w, {price} }}")
    };
    let config = load(&format!("[{}, {}]", price("a", 1), price("b", 2))).unwrap();
    let costs = |name: &str| config.budget.prices[&format!("providers.stt.{name}")].minute;
    assert_eq!((costs("a"), costs("b")), (1.0, 2.0));
}

#[test]
fn voices_are_one_or_a_list() {
    let load = |tts: &str, voice: &str| {
        let npc = format!("npcs: [{{ name: Bart, voice: {{ {voice} }}, lines: [{{ say: hi }}] }}]");
        load_files(&[("glyphoxa.yaml", &format!("providers: {{ tts: {tts} }}\n{npc}\n"))])
    };
    let paid = "api_key: k, price: { characters: 30 }";
    let second = "fallback_voices: { '*': { provider: spare } }";
    let all = format!(
        "[{{ name: elevenlabs, {paid}, {second} }}, {{ name: deepgram, as: dg, {paid} }}, \
         {{ name: flite, as: spare }}]"
    );
    let config = load(&all, "voice_id: abc").unwrap();
    let voices = &config.services.voices;
    let named = voices.named().iter().map(|it| it.name.as_str());
    assert_eq!(named.take(3).collect::<Vec<_>>(), ["elevenlabs", "dg", "spare"]);
    let speaks = voices.speaks(&config.npcs[0]);
    let speaks = speaks.iter().map(|it| (it.provider.as_str(), it.voice_id.as_str()));
    assert_eq!(speaks.collect::<Vec<_>>(), [("elevenlabs", "abc"), ("spare", "slt")]);
    assert_eq!(config.services.describe(&config.npcs).speaks.len(), 2);
    let prices: Vec<_> = config.budget.prices.keys().map(String::as_str).collect();
    assert_eq!(prices, ["providers.tts.dg", "providers.tts.eleven_flash_v2_5"]);
    let config = load("{ name: flite }", "voice_id: rms").unwrap();
    assert_eq!(config.services.voices.speaks(&config.npcs[0]).len(), 1);
    let first = |tts: &str| load(tts, "voice_id: rms").unwrap_err().remove(0);
    assert!(first("[]").contains("'providers.tts' is an empty list"));
    assert!(first("[{}, {}]").contains("two voice services are called 'flite'"));
    assert!(first("[{ as: piper }]").contains("'piper' is the name of another voice service"));
}

#[test]
fn every_key_of_deepgram_reaches_its_option() {
    let deepgram = |keys: &str| {
        let price = "prices: { flux-general-multi: { minute: 1 } }";
        let stt = format!("stt: {{ name: deepgram, model: flux-general-multi, api_key: k{keys} }}");
        let mut config = load_app(&format!("providers: {{ {stt} }}\n{price}\n")).unwrap();
        let entry = config.services.recognisers.entries.remove(0).entry;
        let RecogniserEntry::Deepgram(options) = entry else { unreachable!("it is deepgram") };
        options
    };
    let plain = deepgram("");
    assert_eq!((plain.eager, plain.max_streams), (Some(deepgram::EAGER), None));
    assert_eq!(plain.info().to_string(), "flux-general-multi at api.deepgram.com");
    assert!(!plain.info().is_local(), "voices leave the machine, and players are told");
    let set = deepgram(
        ", base_url: 'wss://dg.example/', language: fr, eager: off, max_streams: 3, \
         first_byte_timeout_ms: 1, idle_timeout_ms: 2",
    );
    let wanted = deepgram::Options {
        base_url: "https://dg.example".to_owned(),
        language: "fr".to_owned(),
        eager: None,
        max_streams: Some(3),
        first_byte_timeout: Duration::from_millis(1),
        idle_timeout: Duration::from_millis(2),
        ..plain
    };
    assert_eq!(set, wanted);
    assert_eq!(set.priced_as.as_deref(), Some("flux-general-multi"));
    assert_eq!(deepgram(", eager: 0.5").eager, Some(0.5));
}

#[test]
fn every_key_of_cartesia_has_its_option() {
    let cartesia = |keys: &str| {
        let tts = format!("tts: {{ name: cartesia, api_key: k{keys} }}");
        let prices = "prices: { sonic-3.6: { characters: 45 }, sonic-3: { characters: 45 } }";
        let npc = "npcs: [{ name: Bart, voice: { voice_id: a-b }, lines: [{ say: hi }] }]";
        let text = format!("providers: {{ {tts} }}\n{prices}\n{npc}\n");
        let config = load_files(&[("glyphoxa.yaml", &text)]).unwrap();
        let first = config.services.voices.first().unwrap();
        let VoiceEntry::Cartesia(options) = first.entry.clone() else {
            unreachable!("it is cartesia")
        };
        options
    };
    let plain = cartesia("");
    assert_eq!(plain.info().to_string(), "sonic-3.6 at api.cartesia.ai");
    assert_eq!((plain.max_streams, plain.priced_as.as_deref()), (None, Some("sonic-3.6")));
    assert_eq!(plain.language, "en");
    let set = cartesia(
        ", base_url: 'wss://ca.example/', model: sonic-3, max_streams: 3, \
         first_byte_timeout_ms: 1, idle_timeout_ms: 2",
    );
    assert_eq!((set.base_url.as_str(), set.model.as_str()), ("https://ca.example", "sonic-3"));
    let waits = (set.first_byte_timeout.as_millis(), set.idle_timeout.as_millis());
    assert_eq!((set.max_streams, waits), (Some(3), (1, 2)));
    assert_eq!(set.priced_as.as_deref(), Some("sonic-3"));
}

#[test]
fn every_key_of_deepgram_voices_has_its_option() {
    let voices = |keys: &str| {
        let tts = format!("tts: {{ name: deepgram, api_key: k{keys} }}");
        let prices = "prices: { deepgram: { characters: 30 } }";
        let npc =
            "npcs: [{ name: Bart, voice: { voice_id: aura-2-zeus-en }, lines: [{ say: hi }] }]";
        let text = format!("providers: {{ {tts} }}\n{prices}\n{npc}\n");
        let config = load_files(&[("glyphoxa.yaml", &text)]).unwrap();
        let first = config.services.voices.first().unwrap();
        let VoiceEntry::Deepgram(options) = first.entry.clone() else {
            unreachable!("it is deepgram")
        };
        options
    };
    let plain = voices("");
    assert_eq!(plain.info().to_string(), "Deepgram at api.deepgram.com");
    assert_eq!((plain.max_streams, plain.priced_as.as_deref()), (None, Some("deepgram")));
    assert_eq!(plain.first_byte_timeout, deepgram::FIRST_BYTE_TIMEOUT);
    let set = voices(
        ", base_url: 'wss://dg.example/', max_streams: 3, first_byte_timeout_ms: 1, \
         idle_timeout_ms: 2, price: { characters: 40 }",
    );
    let wanted = DeepgramVoiceOptions {
        base_url: "https://dg.example".to_owned(),
        max_streams: Some(3),
        first_byte_timeout: Duration::from_millis(1),
        idle_timeout: Duration::from_millis(2),
        priced_as: Some("providers.tts.deepgram".to_owned()),
        ..plain
    };
    assert_eq!(set, wanted);
}

#[test]
fn every_other_key_reaches_its_option() {
    let config = load_files(EVERY_KEY).unwrap();
    assert_eq!(config.campaign.lines_and_veils, ["spiders"]);
    assert_eq!(config.session.patience, Patience::Patient);
    assert_eq!(config.session.detector, Detector::Both);
    let file = config.data_dir.join("models/smart-turn/smart-turn-v3.2-cpu.onnx");
    assert_eq!(config.services.turn_model, file);
    assert_eq!((config.session.preemptive, config.session.max_tokens), (false, 9));
    assert_eq!(config.session.filler_after.as_millis(), 3);
    assert_eq!(config.session.turn_timeout.as_millis(), 5);
    assert_eq!(config.session.recall_timeout.as_millis(), 6);
    assert!(config.tiers.deep.contains(&"im Detail".to_owned()));
    assert!(!config.tiers.deep.contains(&"in detail".to_owned()));
    assert_eq!(config.tiers.deep.last().map(String::as_str), Some("ponder"));
    assert_eq!(config.tiers.standard, ["only"]);
    assert_eq!(config.budget.session_max, None);
    assert_eq!(config.budget.prices["m"].cached_input, 1.0, "the cache is not free by default");
    let names: Vec<&str> = config.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["food", "weather", "random_encounter", "treasure_hoard", "wild_magic"]);
    assert_eq!(config.tables[0].entries, [(1, "stew".to_owned()), (3, "bread".to_owned())]);
    assert_eq!((config.tables[1].name.as_str(), config.tables[1].entries.len()), ("weather", 1));
    assert!(config.data_dir.ends_with("d") && config.data_dir.is_absolute());
    assert_eq!(config.log_level, "debug");
    let telemetry = config.telemetry.as_ref().unwrap();
    let traced = (telemetry.otlp.0.as_str(), telemetry.content);
    assert_eq!(traced, ("http://10.0.0.7:4318/v1/traces", true));
    assert_eq!(config.files.len(), 4);
    assert_eq!((config.campaign.name.as_str(), config.campaign.players.len()), ("C", 1));
    let npc = &config.npcs[0];
    assert_eq!((npc.voice.provider.as_str(), npc.language.as_str()), ("openai", "de"));
    assert_eq!((npc.policy.max_rounds, npc.policy.max_identical), (2, 9), "merged");
}

#[test]
fn paid_models_need_a_price() {
    let llm = |rest: &str| {
        load_app(&format!(
            "providers: {{ llm: {{ name: openai, api_key: k, model: m, {rest} }} }}\n\
             prices: {{ dear: {{ input: 1, output: 1 }}, odd: {{ minute: 1 }} }}\n"
        ))
    };
    assert_eq!(
        llm("base_url: https://x.example/v1").unwrap_err(),
        [
            "glyphoxa.yaml:1:54: no price for model 'm' under prices (add one, or `free: true` to the \
         provider)"
        ]
    );
    assert!(llm("free: false").is_err());
    assert!(llm("free: true").is_ok());
    assert!(llm("base_url: http://ollama:1/v1").is_ok());
    let priced = |model: &str, rest: &str| {
        load_app(&format!(
            "providers: {{ llm: {{ name: openai, api_key: k, model: {model}{rest} }} }}\n\
             prices: {{ dear: {{ input: 1, output: 1 }}, odd: {{ minute: 1 }} }}\n"
        ))
    };
    assert!(priced("dear", "").is_ok());
    assert!(priced("dear", ", free: true").unwrap_err()[0].contains("free: true"));
    assert!(
        priced("odd", "").unwrap_err()[0].contains("does not fit its use (add input and output")
    );
}

#[test]
fn voice_may_cost_by_the_character_or_the_minute() {
    let tts = |price: &str| {
        let tts = format!("{{ service: openai, api_key: k, model: m, price: {{ {price} }} }}");
        let text = format!("providers: {{ tts: {tts} }}\n");
        let npc = "name: Bart\nvoice: { voice_id: alloy }\nlines: [{ say: hi }]\n";
        load_files(&[("glyphoxa.yaml", &text), ("npcs/bart.yaml", npc)])
    };
    for price in ["characters: 15", "minute: 0.03"] {
        assert!(tts(price).is_ok(), "{:?}", tts(price));
    }
    let refused = tts("input: 1").unwrap_err().join("\n");
    assert!(refused.contains("(add characters or minute, or `free: true`"), "{refused}");
}

#[test]
fn anthropics_models_have_settings_of_their_own() {
    let llm = |rest: &str| {
        load_app(&format!(
            "providers: {{ llm: {{ name: anthropic, model: m, {rest} }} }}\n\
             prices: {{ m: {{ input: 2, output: 1 }} }}\n"
        ))
    };
    let config = llm("api_key: k, thinking_budget: 2048").unwrap();
    let ModelEntry::Anthropic(options) = &config.services.models.entries[0].entry else {
        unreachable!("it is anthropic")
    };
    let address = options.reach.base_url.as_str();
    assert_eq!((options.thinking, address), (Some(2_048), "https://api.anthropic.com/v1"));
    assert_eq!(options.info().to_string(), "m at api.anthropic.com", "those who are heard read it");
    assert!(!options.info().is_local());
    assert_eq!(config.budget.prices["m"].cache_write, 2.5, "dearer than what is read");
    let found = llm("temperature: 1, thinking_budget: 9, extra_body: { max_tokens: 5 }");
    let found = found.unwrap_err().join("\n");
    for part in [
        "missing key 'api_key' of 'providers.llm' (api_key: ${ANTHROPIC_API_KEY}, or another",
        "'providers.llm.temperature' has no effect on 'anthropic' (remove it, or set the name to openai)",
        "thinking_budget",
        "extra_body cannot set 'max_tokens'",
    ] {
        assert!(found.contains(part), "{part}: {found}");
    }
}

#[test]
fn provider_settings_act_or_are_refused() {
    let found = load_app(
        "providers:\n  stt: { name: local, model: x }\n  llm: { max_tokens: 5 }\n  \
         tts: { name: openai, base_url: x.example, api_key: k }\n",
    )
    .unwrap_err();
    assert_eq!(
        found,
        [
            "glyphoxa.yaml:2:30: 'providers.stt.model' has no effect on 'local' (remove it, or set \
         the name to openai)",
            "glyphoxa.yaml:3:22: 'providers.llm.max_tokens' has no effect on 'scripted' (remove it, \
         or set the name to openai)",
            "glyphoxa.yaml:4:8: missing key 'model' of 'providers.tts' (add model: its name at the \
         service)",
            "glyphoxa.yaml:4:34: 'providers.tts.base_url' is 'x.example' (it begins with http:// or \
         https://)",
            "npcs/bart.yaml:1:1: missing key 'voice_id' of 'voice' (name a voice of the service, \
         such as alloy)",
        ]
    );
    let found = load_app(
        "providers: { llm: { name: openai, model: m, free: true, extra_body: { stream: false } } }\n",
    )
    .unwrap_err();
    assert!(found[0].contains("missing key 'api_key' of 'providers.llm'"), "{found:?}");
    let thinks = "providers: { llm: { name: openai, api_key: k, model: m, free: true, thinking_budget: 2048 } }\n";
    assert!(
        load_app(thinks).unwrap_err()[0].contains("has no effect on 'openai' (remove it, or use")
    );
    assert!(found[1].contains("extra_body cannot set 'stream'"), "{found:?}");
}

#[test]
fn addresses_are_private_or_not() {
    let private = |text: &str| base_url(text).unwrap().private;
    for text in [
        "http://localhost:1/v1",
        "http://127.8.8.8",
        "http://[::1]:80/v1",
        "http://192.168.1.2",
        "http://172.16.0.1",
        "http://ollama:11434/v1",
        "http://nas.local",
        "http://[fd00::1]",
        "http://[::ffff:127.0.0.1]",
    ] {
        assert!(private(text), "{text}");
    }
    for text in [
        "https://api.openai.com/v1",
        "http://172.32.0.1",
        "http://8.8.8.8",
        "http://[2001:db8::1]",
        "http://localhost.evil.example",
        "http://127.0.0.1.nip.example",
    ] {
        assert!(!private(text), "{text}");
    }
    for text in [
        "",
        "ftp://x",
        "http://",
        "http://127.0.0.1@evil.example",
        "http://x:99999",
        "http://[::1",
        "http://a b",
        "http://x?y",
        "http://127.0.0.1\\.evil.example",
        "http://2130706433",
        "http://127.1",
        "http://0x7f.0.0.1",
        "http://0177.0.0.1",
        "http://127.0.0.1.",
        "http://localhost.",
        "http://①②⑦.⓪.⓪.①",
        "http://%31%32%37.0.0.1",
        "http://127。0。0。1",
        "http://[fe80::1%25eth0]",
        "http://[::1]x",
    ] {
        assert!(base_url(text).is_err(), "{text}");
    }
}

#[test]
fn campaigns_are_checked_inside() {
    let text = "entities:\n  - { id: a, name: Elara, type: npc, visibility: dm, \
                relationships: [{ target_id: b, type: t }, { target: Thorin, type: t }] }\n  \
                - { id: a, name: Thorin, type: npc, properties: { height: 4 }, relationships: \
                [{ target: Elarra, type: t }, { type: t }] }\n\
                scenes:\n  - { name: inn, npcs: [Bart, barkeep, Brat] }\n";
    let files = [
        ("glyphoxa.yaml", "campaign: c.yaml\n"),
        ("c.yaml", text),
        ("npcs/a.yaml", "name: Bart\naliases: [barkeep]\n"),
    ];
    let found = load_files(&files).unwrap_err();
    assert_eq!(found.len(), 5, "{found:#?}");
    assert!(found[0].starts_with("c.yaml:2:83: unknown entity 'b'"), "{found:#?}");
    assert!(found[1].starts_with("c.yaml:3:5: id 'a' appears twice (it is already at line 2;"));
    assert!(found[2].contains("unknown entity 'Elarra' (did you mean 'Elara'?)"));
    assert!(found[3].contains("a relationship needs a target"));
    assert!(found[4].contains("unknown npc 'Brat' (did you mean 'Bart'?)"));

    let text = "entities: [{ name: E, type: npc, visibility: dm }, { name: F, type: lore }]\n\
                scenes: [{ name: inn, npcs: [BARKEEP] }]\n";
    let config = load_files(&[files[0], ("c.yaml", text), files[2]]).unwrap();
    assert_eq!(
        config.campaign.entities.iter().map(|it| it.dm_only).collect::<Vec<_>>(),
        [true, false]
    );
    assert_eq!(config.campaign.scenes[0].npcs, ["Bart"], "full names");
}

#[test]
fn suspicious_settings_are_warnings() {
    let config = load_files(&[
        ("glyphoxa.yaml", "budget: { session_max: 200 }\n"),
        ("npcs/a.yaml", "name: Bart\nlanguage: de\n"),
    ])
    .unwrap();
    let warnings: Vec<_> = config.warnings.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(
        warnings,
        [
            "a session may spend 200.00",
            "'Bart' has no lines and will not answer",
            "'Bart' speaks 'de' with an English voice",
        ]
    );
}

#[test]
fn cluster_without_postgres_is_a_warning() {
    for (memory, warns) in
        [("", true), ("{ path: m.db }", true), ("{ url: 'postgres://db/t' }", false)]
    {
        let config = load_app(&format!("cluster: {{ shards: 8 }}\nmemory: {memory}\n")).unwrap();
        let found = config.warnings.iter().find(|it| it.message == cluster::UNSHARED);
        assert_eq!(found.is_some(), warns, "{memory}: {:?}", config.warnings);
    }
    let alone = load_app("memory: { path: m.db }\n").unwrap();
    assert!(alone.warnings.iter().all(|it| it.message != cluster::UNSHARED));
}

proptest! {
    #[test]
    fn any_npc_text_is_read_or_refused(text in "\\PC{0,120}", value in "\\PC{0,40}") {
        let _ = load_npc(&text);
        let quoted = serde_json::to_string(&value).unwrap();
        let _ = load_npc(&format!(
            "name: {quoted}\nvoice: {{ voice_id: {quoted} }}\ntools: [{quoted}]\n\
             pronunciation: {quoted}\nlines: [{{ when: {quoted}, say: {quoted} }}]\n"
        ));
        let _ = base_url(&value);
        let _ = base_url(&format!("http://{value}"));
    }
}

#[test]
fn tools_of_manifests_may_be_given_to_npcs() {
    let tool = |name: &str| {
        format!(
            "apiVersion: promptkit.altairalabs.ai/v1alpha1\nkind: Tool\nmetadata: {{ name: {name} }}\n\
             spec: {{ name: other, description: d, input_schema: {{ type: object }}, mock_result: 1, \
             floor: deep, approval: dm, late: follow_up, cacheable_seconds: 1.5, max_duration_ms: 9 }}\n"
        )
    };
    let (good, broken) = (tool("good"), tool("bad").replace("mock_result: 1", "mock_rezult: 1"));
    let files = [
        ("glyphoxa.yaml", "tools: { manifests: [lore] }\n"),
        ("npcs/a.yaml", "name: Bart\nlines: [{ say: hi }]\ntools: [good, manifest.bad]\n"),
        ("lore/good.yaml", good.as_str()),
        ("lore/bad.yaml", broken.as_str()),
    ];
    let found = load_files(&files).unwrap_err();
    assert_eq!(found.len(), 2, "a broken tool is known all the same: {found:#?}");
    let config =
        load_files(&[files[0], ("npcs/a.yaml", "name: B\ntools: [good]\n"), files[2]]).unwrap();
    assert_eq!(config.npcs[0].tools, ["manifest.good"]);
    let declared = &config.manifests[0].declared;
    assert_eq!((declared.floor, declared.approval), (Some(Tier::Deep), Some(true)));
    assert_eq!((declared.follow_up, declared.idempotent), (Some(true), None));
    assert_eq!(declared.cacheable, Some(std::time::Duration::from_millis(1_500)));
    assert_eq!(declared.max, Some(std::time::Duration::from_millis(9)));
    let said = "'spec.name' 'other' is not used";
    assert!(config.warnings.iter().any(|it| it.message == said), "{:?}", config.warnings);
}

proptest! {
    #[test]
    fn any_manifest_text_is_read_or_refused(text in "\\PC{0,60}", key in 0..6usize) {
        let quoted = serde_json::to_string(&text).unwrap();
        let line = match key {
            0 => format!("mock_template: {quoted}"),
            1 => format!("http: {{ url: {quoted} }}"),
            2 => format!("http: {{ url: \"http://x.test/\", response_mapping: {quoted} }}"),
            3 => format!("http: {{ url: \"http://x.test/\", headers: {{ {quoted}: {quoted} }} }}"),
            4 => format!("http: {{ url: {} }}", serde_json::to_string(&format!("http://x.test/{text}")).unwrap()),
            _ => format!("mock_result: 1, name: {quoted}, namespace: {quoted}"),
        };
        let file = format!(
            "apiVersion: promptkit.altairalabs.ai/v1\nkind: Tool\nspec: {{ description: d, \
             input_schema: {{ type: object, properties: {{ a: {{ enum: [{quoted}] }} }} }}, {line} }}\n"
        );
        let _ = load_files(&[("glyphoxa.yaml", ""), ("npcs/bart.yaml", BART), ("tools/a.yaml", &file)]);
    }
}

proptest! {
    #[test]
    fn damaged_files_are_read_or_refused(
        file in 0..shipped::FILES.len(),
        at in 0.0..1.0f64,
        cut in 0..30usize,
        put in prop::sample::select(vec![
            "", ":", "\n", "  ", "- ", "[", "}", "'", "\"", "|", "*a", "&a ", "${", "{x}", "~", "/(/", "\t",
        ]),
    ) {
        let (name, text) = shipped::FILES[file];
        let chars: Vec<char> = text.chars().take(2_000).collect();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a place in a short text"
        )]
        let at = (at * chars.len() as f64) as usize;
        let after = chars.iter().skip(at + cut);
        let damaged: String = chars[..at].iter().copied().chain(put.chars()).chain(after.copied()).collect();
        let small = [
            (FILE_NAME, "campaign: campaigns/ravenford.yaml\n"),
            ("campaigns/ravenford.yaml", ""),
            ("npcs/bart.yaml", BART),
        ];
        let others = small.into_iter().filter(|(other, _)| *other != name);
        let files: Vec<_> = others.chain([(name, damaged.as_str())]).collect();
        if let Err(lines) = load_files(&files) {
            for line in lines {
                let mut parts = line.splitn(4, ':');
                let file = parts.next().unwrap_or_default();
                prop_assert!(files.iter().any(|(name, _)| *name == file), "{line}");
                for number in parts.by_ref().take(2) {
                    prop_assert!(number.parse::<usize>().is_ok_and(|it| it > 0), "{line}");
                }
            }
        }
    }
}

#[test]
fn selection_of_tools_is_read() {
    let config = load_app("").unwrap();
    assert_eq!((config.selection.top_k, config.services.embedder), (None, None));
    let text = "tools:\n  selection:\n    top_k: 5\n    core: [roll, memory.*]\n    threshold: 0.4\n    \
        embedder: { name: openai, base_url: 'http://127.0.0.1:1/v1', model: m }\n";
    let config = load_app(text).unwrap();
    assert_eq!(config.selection.core, ["dice-roller.roll", "memory.*"]);
    assert_eq!((config.selection.top_k, config.selection.threshold), (Some(5), 0.4));
    assert!(
        matches!(config.services.embedder, Some(EmbedderEntry(options)) if options.model == "m")
    );
    let none = load_app("tools: { selection: { embedder: none } }").unwrap();
    assert_eq!(none.services.embedder, None);
}

#[test]
fn embedder_that_cannot_work_is_refused() {
    let problems = |embedder: &str| {
        load_app(&format!("tools: {{ selection: {{ embedder: {embedder} }} }}"))
            .unwrap_err()
            .join("\n")
    };
    let paid = "{ name: openai, base_url: 'http://127.0.0.1:1/v1', model: m } } }\nprices: { m: { input: 1 } }\nturn: { timeout_ms: ";
    let paid =
        load_app(&format!("tools: {{ selection: {{ embedder: {paid} 9000 }}\n")).unwrap_err();
    assert!(paid.join("\n").contains("'tools.selection.embedder' would not count"), "{paid:?}");
    assert!(problems("{ name: openai, model: m, free: true }").contains("missing key 'api_key'"));
    assert!(problems("{ name: word2vec }").contains("word2vec"));
    let idle = load_app("tools: { selection: { threshold: 0.5 } }").unwrap_err().join("\n");
    assert!(idle.contains("no effect without an embedder"), "{idle}");
    let unknown = load_app("tools: { selection: { core: [rol] } }").unwrap_err().join("\n");
    assert!(unknown.contains("did you mean 'roll'?"), "{unknown}");
    let gone = problems("{ name: minilm }");
    assert!(gone.contains("embedder 'minilm' is not supported"), "{gone}");
}

#[test]
fn servers_that_are_served_are_listed_or_any() {
    use crate::campaign::ServedGuilds;
    let served = |text: &str| load_app(text).map(|config| config.discord.served);
    assert_eq!(served(""), Ok(ServedGuilds::LetIn));
    assert_eq!(served("discord: { guilds: any }"), Ok(ServedGuilds::Any));
    let listed = served("discord: { guilds: [\"12\", 34] }");
    assert_eq!(listed, Ok(ServedGuilds::Listed([12, 34].into())));
    assert_eq!(served("discord: { guilds: [] }"), Ok(ServedGuilds::Listed(BTreeSet::new())));
    let wrong = served("discord: { guilds: [mine] }").unwrap_err();
    assert!(wrong[0].contains("guilds 'mine' is not a Discord id"), "{wrong:?}");
    assert!(served("discord: { guilds: all }").is_err());
}

#[test]
fn further_campaigns_are_shared_or_nobodys() {
    let files = |shared: &str| {
        let app = format!("campaigns: [{{ file: b.yaml{shared} }}]");
        let world = ("b.yaml", "campaign: { name: B, system: dnd5e }");
        load_files(&[("glyphoxa.yaml", &app), ("npcs/bart.yaml", BART), world])
    };
    let config = files(", shared: true").unwrap();
    assert_eq!((config.shared.len(), config.shared[0].0.name.as_str()), (1, "B"));
    let config = files("").unwrap();
    assert!(config.shared.is_empty() && config.warnings[0].message.contains("'b.yaml'"));
    let wrong = load_app("campaigns: [{ file: missing.yaml, shared: true }]").unwrap_err();
    assert!(wrong[0].contains("missing.yaml"), "{wrong:?}");
}

#[test]
fn leases_last_as_long_as_set() {
    let lease = |text: &str| load_app(text).map(|config| config.cluster.unwrap().lease);
    assert_eq!(lease("cluster: { shards: 2 }\n"), Ok(Duration::from_secs(6)));
    assert_eq!(lease("cluster: { lease_s: 2 }\n"), Ok(Duration::from_secs(2)));
    for seconds in [1, 61] {
        let problems = lease(&format!("cluster: {{ lease_s: {seconds} }}\n")).unwrap_err();
        assert!(problems[0].contains("lease_s"), "{problems:?}");
    }
}
