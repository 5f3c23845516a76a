//! Deepgram's voices, Aura and Flux, through the real program, against a counterpart on this machine
//! and, for the counterpart itself, the vendor's own client.

use serde_json::{Value, json};

use crate::{
    support::{
        deepgram::DeepgramServer,
        deepgram_voice::{DeepgramVoiceServer, Fault, Seen},
        program::{Place, Ran, run},
        speech::{plain_wav, read_wav, speech},
    },
    third_party::{client, installed},
};

/// The key that counterparts want.
const KEY: &str = "dg-key-of-voices";
const FLUX: &str = "flux-haley-en";
const AURA: &str = "aura-2-thalia-en";
const ANSWER: &str = "The river was dry for an hour that night.";
/// Sound of a character, in ms.
const CHARACTER: f64 = 60.0;
/// Patience for a busy machine.
const PATIENCE: &str = ", first_byte_timeout_ms: 30000, idle_timeout_ms: 30000";

/// A line of `providers`, with `more` keys.
fn entry(server: &DeepgramVoiceServer, more: &str) -> String {
    let url = server.base_url();
    format!("  tts: {{ name: deepgram, base_url: \"{url}\", api_key: {KEY}{more} }}\n")
}

/// A table with these `providers`; Bartok has this `voice` and these `lines`.
fn table(providers: &str, voice: &str, lines: &str) -> Place {
    Place::with_config(&format!(
        "providers:\n{providers}npcs:\n  - name: Bartok the Barkeep\n    aliases: [Bartok]\n    \
         voice: {{ {voice} }}\n    lines: {lines}\n"
    ))
}

/// A table where Bartok says [`ANSWER`] to everything.
fn plain_table(server: &DeepgramVoiceServer, voice: &str, more: &str) -> Place {
    let lines = format!("[{{ say: \"{ANSWER}\" }}]");
    table(&entry(server, more), &format!("voice_id: {voice}"), &lines)
}

fn ask(place: &Place, said: &[&str]) -> Ran {
    place.run(&[&["ask", "--json", "--out", "out.wav"], said].concat())
}

/// Sound of `text` at this speed has been spoken, and nothing else.
#[track_caller]
fn assert_lasts(line: &Value, text: &str, speed: f64) {
    let wanted = text.chars().count() as f64 * CHARACTER / speed;
    let lasts = line["audio_ms"].as_f64().unwrap_or_default();
    assert!((lasts - wanted).abs() < 100.0, "{lasts} ms instead of {wanted}: {line:#}");
}

#[track_caller]
fn detail(line: &Value) -> &str {
    line["detail"].as_str().unwrap_or_else(|| panic!("no detail: {line:#}"))
}

/// Texts of all sockets.
fn texts(seen: &[Seen]) -> Vec<&str> {
    seen.iter().flat_map(Seen::texts).collect()
}

#[test]
fn both_families_speak_a_turn() {
    const SECOND: &str = "Nobody knew where the water had gone.";
    for (voice, path) in [(FLUX, "/v2/speak"), (AURA, "/v1/speak")] {
        let server = DeepgramVoiceServer::start(KEY);
        let lines = format!("[{{ say: \"{ANSWER} {SECOND}\" }}]");
        let place = table(&entry(&server, PATIENCE), &format!("voice_id: {voice}"), &lines);
        let line = ask(&place, &["--text", "Bartok, hello"]).ends_with(0).line();
        assert_eq!((&line["outcome"], &line["tts"]), (&json!("spoken"), &json!("deepgram")));
        assert_eq!(line["reply"], format!("{ANSWER} {SECOND}"), "{line:#}");
        assert!(read_wav(&place.path("out.wav")).level() > 0.005);
        let seen = server.seen();
        assert_eq!(texts(&seen), [ANSWER, SECOND], "{seen:#?}");
        assert!(seen.iter().all(|it| it.path == path && it.refused.is_none()), "{seen:#?}");
        assert!(seen.iter().all(|it| it.value("model") == Some(voice)), "{seen:#?}");
        let flushed: usize = seen.iter().map(|it| it.ordered("Flush")).sum();
        assert_eq!(flushed, 2, "one for each sentence: {seen:#?}");
        // It closes with a code where it takes offence.
        let mut ended = seen.iter().filter_map(|it| it.ended.as_deref());
        assert!(ended.all(|how| !how.starts_with("10")), "{seen:#?}");
    }
}

#[test]
fn speed_is_asked_for_or_made_here() {
    for (voice, asked) in [(FLUX, Some("1.25")), (AURA, Some("1.25")), ("aura-2-fabian-de", None)] {
        let server = DeepgramVoiceServer::start(KEY);
        let keys = format!("voice_id: {voice}, speed_factor: 1.25, pitch_shift: 3");
        let lines = format!("[{{ say: \"{ANSWER}\" }}]\n    pronunciation: {{ river: rivver }}");
        let place = table(&entry(&server, PATIENCE), &keys, &lines);
        let line = ask(&place, &["--text", "Bartok, hello"]).ends_with(0).line();
        let said = ANSWER.replace("river", "rivver");
        let seen = server.seen();
        assert_eq!(texts(&seen), [said.as_str()], "{seen:#?}");
        assert!(seen.iter().all(|it| it.value("speed") == asked), "{seen:#?}");
        assert_lasts(&line, &said, 1.25);
    }
}

/// What a fault makes of a turn of `voice`.
fn fails(voice: &str, fault: &Fault, more: &str) -> Value {
    let server = DeepgramVoiceServer::start(KEY);
    // A socket is opened ahead of the turn, and perhaps another one for it.
    (0..4).for_each(|_| server.fault(fault.clone()));
    let line = ask(&plain_table(&server, voice, more), &["--text", "Bartok, hello"]).line();
    assert!(!line.to_string().contains(KEY), "{line:#}");
    line
}

#[test]
fn refusals_are_reported_with_the_way_out() {
    let body = json!({"err_code": "SOME_CODE", "err_msg": "no", "request_id": "r-1"});
    for (status, part) in [
        (401, "the key was refused with status 401: \"no\" (check api_key)"),
        (402, "the account has no credit with status 402"),
        (429, "too many streams at once with status 429"),
    ] {
        for voice in [FLUX, AURA] {
            let line = fails(voice, &Fault::Refuse(status, Vec::new(), body.clone()), PATIENCE);
            assert_eq!((&line["outcome"], &line["reply"]), (&json!("voice_error"), &json!("")));
            assert!(detail(&line).contains(part), "{line:#}");
        }
    }
}

#[test]
fn sentence_that_breaks_off_is_cut_short() {
    let short = ", first_byte_timeout_ms: 30000, idle_timeout_ms: 300";
    for (voice, fault, more, part) in [
        (FLUX, Fault::Cut, PATIENCE, "the connection broke off"),
        (AURA, Fault::Cut, PATIENCE, "the connection broke off"),
        (FLUX, Fault::Close(None), PATIENCE, "the connection broke off"),
        (AURA, Fault::Close(Some((1008, "DATA-0001"))), PATIENCE, "too much text a minute"),
        (FLUX, Fault::Error("NET-0000"), PATIENCE, "the service failed with NET-0000"),
        (FLUX, Fault::Stall, short, "the sound of a sentence has stopped"),
        (AURA, Fault::Stall, short, "the sound of a sentence has stopped"),
    ] {
        let line = fails(voice, &fault, more);
        assert_eq!(line["outcome"], "cut_short", "{fault:?}: {line:#}");
        let reply = line["reply"].as_str().unwrap_or_default();
        assert!(reply.starts_with("The") && reply.len() < ANSWER.len(), "{fault:?}: {line:#}");
        assert!(detail(&line).contains(part), "{fault:?}: {line:#}");
    }
}

#[test]
fn unknown_messages_change_nothing() {
    for voice in [FLUX, AURA] {
        let line = fails(voice, &Fault::Strange, PATIENCE);
        assert_eq!((&line["outcome"], &line["reply"]), (&json!("spoken"), &json!(ANSWER)));
        assert_lasts(&line, ANSWER, 1.0);
    }
}

#[test]
fn interrupted_turn_leaves_no_sound() {
    const TOLD: &str =
        "it came down from the hills in one night and took the mill with it and then ";
    for (voice, order) in [(FLUX, "Interrupt"), (AURA, "Clear")] {
        let (ears, server) = (DeepgramServer::start("k"), DeepgramVoiceServer::start(KEY));
        ears.says(&["stop"]);
        server.fault(Fault::Stall);
        let told = TOLD.repeat(4);
        let lines = format!(
            "[{{ when: [what happened], say: \"The flood {told}it ended.\" }}, {{ say: \"{ANSWER}\" }}]"
        );
        let providers = ears.entry() + &entry(&server, PATIENCE);
        let place = table(&providers, &format!("voice_id: {voice}"), &lines);
        place.write("stop.wav", plain_wav(&speech("slt", "stop")));
        let asked = ["--speaker", "Anna", "--at", "0", "--text", "Bartok, what happened here?"];
        let stops = ["--speaker", "Anna", "--at", "4", "--in", "stop.wav"];
        let again = ["--speaker", "Anna", "--at", "10", "--text", "Bartok, hello"];
        let lines = ask(&place, &[&asked[..], &stops, &again].concat()).lines();
        let of_bartok = lines.iter().filter(|line| line["npc"] == "Bartok the Barkeep");
        let [first, second] = of_bartok.collect::<Vec<_>>()[..] else { panic!("{lines:#?}") };
        assert_eq!(first["outcome"], "interrupted", "{first:#}");
        assert_eq!((&second["outcome"], &second["reply"]), (&json!("spoken"), &json!(ANSWER)));
        assert_lasts(second, ANSWER, 1.0);
        let seen = server.seen();
        let cancelled: Vec<&Seen> = seen.iter().filter(|it| it.cancelled > 0).collect();
        let [cancelled] = cancelled[..] else { panic!("{seen:#?}") };
        assert_eq!((cancelled.cancelled, cancelled.ordered(order)), (1, 1), "{seen:#?}");
    }
}

#[test]
fn budget_covers_all_that_is_billed() {
    // A cent for each character.
    let priced = format!("{PATIENCE}, price: {{ characters: 10000 }}");
    let server = DeepgramVoiceServer::start(KEY);
    server.fault(Fault::Cut);
    let place = plain_table(&server, FLUX, &priced);
    let config = std::fs::read_to_string(place.path("glyphoxa.yaml")).unwrap();
    place.write("glyphoxa.yaml", format!("{config}budget: {{ session_max: 1.5 }}\n"));
    let said = ["--text", "Bartok, hello"].repeat(5);
    let lines = ask(&place, &said).lines();
    assert_eq!(
        lines.last().map(|line| &line["outcome"]),
        Some(&json!("over_budget")),
        "{lines:#?}"
    );
    let billed: usize = server.seen().iter().map(|it| it.billed).sum();
    assert!((1..=150).contains(&billed), "{billed} characters: {:#?}", server.seen());
}

#[test]
fn doctor_tries_the_key_and_the_voice() {
    let server = DeepgramVoiceServer::start(KEY);
    let doctor = plain_table(&server, FLUX, PATIENCE).run(&["doctor"]).stdout;
    assert!(doctor.contains(&format!("opens a socket for '{AURA}' in ")), "{doctor}");
    assert!(doctor.contains("✓ voice: Bartok the Barkeep speaks (deepgram"), "{doctor}");
    let place = plain_table(&server, FLUX, PATIENCE);
    let config = std::fs::read_to_string(place.path("glyphoxa.yaml")).unwrap();
    place.write("glyphoxa.yaml", config.replace(KEY, "dg-another"));
    let doctor = place.run(&["doctor"]).stdout;
    assert!(doctor.contains("the key was refused with status 401"), "{doctor}");
    assert!(!doctor.contains("dg-another"), "{doctor}");
}

#[test]
fn invalid_settings_are_refused() {
    let server = DeepgramVoiceServer::start(KEY);
    let said = |voice: &str, more: &str| {
        plain_table(&server, voice, more).run(&["check"]).ends_with(2).stderr
    };
    assert!(said(FLUX, ", model: m").contains("'providers.tts.model' has no effect on 'deepgram'"));
    assert!(said("alloy", "").contains("unknown voice 'alloy' (name a voice with its whole model"));
    assert!(said("Flux-haley-en", "").contains("unknown voice"));
    let home = |keys: &str| {
        let providers = format!("  tts: {{ name: deepgram, {keys} }}\n");
        table(&providers, &format!("voice_id: {AURA}"), "[{ say: Hm. }]").run(&["check"]).stderr
    };
    assert!(home("free: true").contains("api_key: ${DEEPGRAM_API_KEY}"));
    assert!(home("api_key: k").contains("no price for model 'deepgram' under prices"));
    let openai =
        "  tts: { name: openai, base_url: 'http://127.0.0.1:1/v1', model: s, max_streams: 3 }\n";
    let ran = table(openai, "voice_id: alloy", "[{ say: Hm. }]").run(&["check"]).ends_with(2);
    assert!(
        ran.stderr.contains("'providers.tts.max_streams' has no effect on 'openai'"),
        "{ran:#?}"
    );
    assert!(server.seen().is_empty());
}

#[test]
fn vendors_own_client_is_served_alike() {
    let Some(folder) = installed("deepgram-sdk") else { return };
    let server = DeepgramVoiceServer::start(KEY);
    server.fault(Fault::None);
    server.fault(Fault::Stall);
    let mut client = client(&folder, "deepgram_voice");
    client.args([&server.base_url(), KEY, ANSWER]);
    let told = run(client, "").ends_with(0).line();
    assert_eq!(told["aura"]["kinds"], json!(["Metadata", "Flushed", "Cleared"]), "{told:#}");
    let bytes = ANSWER.chars().count() as f64 * CHARACTER / 0.9 * 48.0;
    for family in ["aura", "flux"] {
        let spoken = told[family]["bytes"].as_f64().unwrap_or_default();
        assert!((spoken - bytes).abs() < 4.0, "{family}: {spoken} bytes instead of {bytes}");
    }
    let kinds = json!(["SpeechStarted", "Flushed", "SpeechMetadata", "SessionMetadata"]);
    let flux = &told["flux"];
    assert_eq!((&flux["kinds"], &flux["text_spoken"]), (&kinds, &Value::Null), "{told:#}");
    assert_eq!(flux["billed"], ANSWER.chars().count(), "{told:#}");
    assert_eq!(told["listed"], json!([AURA, "aura-2-zeus-en", "aura-2-fabian-de"]), "{told:#}");
    assert!(told["refused"].as_str().is_some_and(|it| it.contains("HTTP 401")), "{told:#}");
}
