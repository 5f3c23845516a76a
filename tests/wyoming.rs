//! The real program with services that speak Wyoming: on loopback, well and badly, and made with the
//! protocol's own library.

use std::process::Command;

use serde_json::{Value, json};

use crate::{
    support::{
        NOBODY,
        program::{Live, Place, Ran, repository, run},
        speech::{plain_wav, read_wav, speech},
        wyoming::{Fault, Script, When, WyomingServer, script::pitch_of},
    },
    third_party::installed,
};

const ASKED: &str = "Bartok, what happened here last night?";
const ANSWER: &str = "The river was dry for an hour that night.";
/// Words of a failing service that must not reach the table.
const INNARDS: &str = "the boiler room is on fire";

/// A service of a configuration, with patience for a busy machine.
fn service(address: &str) -> String {
    format!(
        "{{ name: wyoming, base_url: \"{address}\", first_byte_timeout_ms: 30000, \
         idle_timeout_ms: 30000 }}"
    )
}

/// A table whose providers are these; Bartok speaks with `voice`.
fn table(providers: &str, voice: &str) -> Place {
    let npc = format!(
        "npcs:\n  - name: Bartok the Barkeep\n    aliases: [Bartok]\n    voice: {{ {voice} }}\n    \
         lines: [{{ say: \"{ANSWER}\" }}]\n"
    );
    let place = Place::with_config(&format!("providers:\n{providers}\n{npc}"));
    place.write("a.wav", plain_wav(&speech("rms", ASKED)));
    place
}

fn heard_at(address: &str) -> String {
    format!("  stt: {}\n", service(address))
}

fn spoken_at(address: &str) -> String {
    format!("  tts: {}\n", service(address))
}

/// An address at a closed port.
fn nobody() -> String {
    format!("tcp://{NOBODY}")
}

fn ask(place: &Place, said: &[&str]) -> Ran {
    place.run(&[&["ask", "--json", "--out", "out.wav"], said].concat())
}

/// Arguments that play the recording; transcripts in pieces come while it is spoken.
fn recording(in_pieces: bool) -> &'static [&'static str] {
    if in_pieces { &["--realtime", "--in", "a.wav"] } else { &["--in", "a.wav"] }
}

/// The speech is a tone of so many Hz; of a pure one the period is found 6 % too short at most.
#[track_caller]
fn assert_tone(place: &Place, wanted: f64) {
    let pitch = read_wav(&place.path("out.wav")).pitch();
    assert!((0.98..1.06).contains(&(pitch / wanted)), "{pitch} Hz instead of {wanted}");
}

#[track_caller]
fn detail(line: &Value) -> &str {
    line["detail"].as_str().unwrap_or_else(|| panic!("no detail: {line:#}"))
}

#[test]
fn wyoming_services_hear_and_answer_a_player() {
    for is_streamed in [false, true] {
        let streamed = |script: Script| if is_streamed { script.streamed() } else { script };
        let chatty = |script: Script| Script { is_chatty: true, ..script };
        let ears = WyomingServer::start(chatty(streamed(Script::hears(ASKED))));
        let mouth = WyomingServer::start(chatty(streamed(Script::speaks())));
        let providers = heard_at(&ears.address()) + &spoken_at(&mouth.address());
        let place = table(&providers, "provider: wyoming, voice_id: en_GB-alan-low");
        let line = ask(&place, recording(is_streamed)).ends_with(0).line();
        assert_eq!((&line["stt"], &line["tts"]), (&json!("wyoming"), &json!("wyoming")));
        assert_eq!(line["outcome"], "spoken", "{line:#}");
        assert_eq!((&line["reply"], &line["npc"]), (&json!(ANSWER), &json!("Bartok the Barkeep")));
        let heard = line["heard"].as_str().unwrap_or_default();
        assert!(heard.contains("what happened here last night"), "{line:#}");
        assert_eq!(line["partials"].as_u64() > Some(0), is_streamed, "{line:#}");

        assert_tone(&place, pitch_of("en_GB-alan-low"));
        let ears = ears.recorded();
        let [utterance] = &ears.heard[..] else { panic!("{ears:#?}") };
        assert!((1.0..5.0).contains(&utterance.seconds), "{utterance:#?}");
        assert_eq!(utterance.request["language"], "en");
        let names = utterance.request["transcript_names"].to_string();
        assert!(names.contains("Bartok"), "{names}");
        let mouth = mouth.recorded();
        let voice = json!({"name": "en_GB-alan-low"});
        assert!(!mouth.spoken.is_empty());
        for sentence in &mouth.spoken {
            assert_eq!((sentence.text.as_str(), &sentence.voice), (ANSWER, &voice));
            assert_eq!(sentence.in_pieces, is_streamed);
        }
        assert!(ears.refused.is_empty() && mouth.refused.is_empty(), "{ears:#?} {mouth:#?}");
    }
}

#[test]
fn pitch_and_speed_of_a_voice_are_ours() {
    let mouth = WyomingServer::start(Script::speaks());
    let voice = "voice_id: en_US-joe-medium, pitch_shift: 5, speed_factor: 1.5, formant_shift: 2";
    let place = table(&spoken_at(&mouth.address()), voice);
    let ran = ask(&place, &["--text", "Bartok, hello"]);
    let line = ran.ends_with(0).line();
    let wanted = pitch_of("en_US-joe-medium") * (5.0_f64 / 12.0).exp2();
    assert_tone(&place, wanted);
    // 60 ms a letter as the service speaks it.
    let wanted = 60.0 * ANSWER.chars().count() as f64 / 1.5;
    let lasts = line["audio_ms"].as_f64().unwrap();
    assert!((lasts - wanted).abs() < 100.0, "{lasts} ms instead of {wanted}");
}

// Each fault and each refusal is met where the clients are (`src/provider/wyoming`).

#[test]
fn recogniser_that_fails_is_a_hearing_error() {
    let fault = Fault::Error(INNARDS);
    let ears = WyomingServer::start(Script::hears(ASKED).with(When::Asked, fault));
    let mouth = WyomingServer::start(Script::speaks());
    let providers = heard_at(&ears.address()) + &spoken_at(&mouth.address());
    let place = table(&providers, "provider: wyoming");
    let line = ask(&place, &["--in", "a.wav"]).ends_with(1).line();
    assert_eq!((&line["outcome"], &line["reply"]), (&json!("hearing_error"), &json!("")));
    assert!(detail(&line).contains("the service failed"), "{line:#}");
    assert!(detail(&line).contains(&ears.address()), "{line:#}");
    assert!(mouth.recorded().spoken.is_empty(), "nobody says what went wrong");
    assert!(!place.path("out.wav").exists());
}

#[test]
fn recogniser_without_description_is_refused() {
    let ears = WyomingServer::start(Script::hears(ASKED).with(When::Described, Fault::HugeData));
    let place = table(&heard_at(&ears.address()), "provider: flite");
    let ran = ask(&place, &["--in", "a.wav"]).ends_with(1);
    // A busy machine says first that it is still loading something.
    let told = ran.stderr.lines().last().unwrap_or_default();
    assert!(told.contains("a data_length of \"1099511627776\""), "{ran:#?}");
}

#[test]
fn failing_voice_is_reported_and_not_replaced() {
    for (when, fault, outcome, heard, said) in [
        (When::Asked, Fault::Error(INNARDS), "voice_error", "", "the service failed"),
        (When::Midway, Fault::Cut, "cut_short", "The river", "the connection ended before"),
        (When::Asked, Fault::Blank, "voice_error", "", "it sends 2 s of silence"),
    ] {
        let mouth = WyomingServer::start(Script::speaks().with(when, fault));
        let place = table(&spoken_at(&mouth.address()), "voice_id: en_US-joe-medium");
        let line = ask(&place, &["--text", "Bartok, hello"]).line();
        assert_eq!(line["outcome"], outcome, "{when:?}: {line:#}");
        let reply = line["reply"].as_str().unwrap_or_default();
        assert!(reply.starts_with(heard) && reply.len() < ANSWER.len(), "{when:?}: {line:#}");
        assert_eq!(reply.is_empty(), heard.is_empty(), "{when:?}: {line:#}");
        assert!(detail(&line).contains(said), "{when:?}: {line:#}");
        let recorded = mouth.recorded();
        assert!(recorded.spoken.iter().all(|it| it.text == ANSWER), "{recorded:#?}");
    }
}

#[test]
fn fallback_voice_speaks_when_wyoming_is_down() {
    let voice = "provider: wyoming, fallback: { provider: flite, voice_id: rms }";
    let place = table(&spoken_at(&nobody()), voice);
    let line = ask(&place, &["--text", "Bartok, hello"]).ends_with(0).line();
    assert_eq!(line["outcome"], "spoken", "{line:#}");
    assert!(read_wav(&place.path("out.wav")).level() > 0.005);
}

#[test]
fn fallback_voice_speaks_for_a_silent_one() {
    let mouth = WyomingServer::start(Script::speaks().with(When::Asked, Fault::Blank));
    let voice = "provider: wyoming, fallback: { provider: flite, voice_id: rms }";
    let place = table(&spoken_at(&mouth.address()), voice);
    let line = ask(&place, &["--text", "Bartok, hello"]).ends_with(0).line();
    assert_eq!((&line["outcome"], &line["reply"]), (&json!("spoken"), &json!(ANSWER)));
    assert!(read_wav(&place.path("out.wav")).level() > 0.005);
}

#[test]
fn missing_or_wrong_service_error_names_the_fix() {
    let ran = ask(&table(&heard_at(&nobody()), "provider: flite"), &["--in", "a.wav"]).ends_with(1);
    let said = "nothing listens there (start the recogniser there";
    assert!(ran.message().contains(said), "{ran:#?}");
    assert!(ran.message().contains("wyoming-faster-whisper, at port 10300"), "{ran:#?}");
    let mouth = WyomingServer::start(Script::speaks());
    let place = table(&spoken_at(&mouth.address()), "voice_id: en_US-jo-medium");
    let line = ask(&place, &["--text", "Bartok, hello"]).ends_with(1).line();
    let nearest = "unknown voice 'en_US-jo-medium' (it has en_US-joe-medium, ";
    assert!(detail(&line).contains(nearest), "{line:#}");
    assert!(mouth.recorded().spoken.is_empty());
}

#[test]
fn doctor_tests_wyoming_services_and_their_speed() {
    let ears = WyomingServer::start(Script::hears(ASKED).streamed());
    let mouth = WyomingServer::start(Script::speaks());
    let providers = heard_at(&ears.address()) + &spoken_at(&mouth.address());
    let place = table(&providers, "voice_id: 'en_US-libritts-high#p3922'");
    let doctor = place.run(&["doctor"]).ends_with(0).stdout;
    let at = |server: &WyomingServer| server.address().replace("tcp://", "");
    for part in [
        format!("✓ hearing: loopback-ears at {}, with partials, answers in ", at(&ears)),
        " ms and hears half a second in ".to_owned(),
        format!("✓ speech service: loopback-mouth at {}, answers in ", at(&mouth)),
        " ms; 3 voices: en_US-joe-medium, en_GB-alan-low, en_US-libritts-high".to_owned(),
        "✓ voice: Bartok the Barkeep speaks (wyoming 'en_US-libritts-high#p3922'".to_owned(),
    ] {
        assert!(doctor.contains(&part), "{part}: {doctor}");
    }
    let place = table(&spoken_at(&mouth.address()), "voice_id: 'en_US-libritts-high#p3921'");
    let doctor = place.run(&["doctor"]).ends_with(1).stdout;
    let refused = "has no speaker 'p3921' (it has en_US-libritts-high#p3922, ";
    assert!(doctor.contains("✗ voice: ") && doctor.contains(refused), "{doctor}");
    let place = table(&heard_at(&mouth.address()), "provider: flite");
    let doctor = place.run(&["doctor"]).ends_with(1).stdout;
    assert!(
        doctor.contains("✗ hearing: ") && doctor.contains("this is not a recogniser"),
        "{doctor}"
    );
}

#[test]
fn keys_are_checked() {
    let check = |providers: &str| table(providers, "provider: flite").run(&["check"]);
    check("  stt: { name: wyoming, base_url: 'tcp://nas.lan:10300', model: base, language: de }")
        .ends_with(0);
    for (providers, part) in [
        ("  stt: { name: wyoming }", "missing key 'base_url' of 'providers.stt' (base_url: tcp://"),
        ("  tts: { name: wyoming }", "missing key 'base_url' of 'providers.tts' (base_url: tcp://"),
        ("  stt: { name: wyoming, base_url: 'http://nas:1' }", "(it begins with tcp://)"),
        ("  stt: { name: wyoming, base_url: 'tcp://nas' }", "(a port after the host, such as"),
        ("  stt: { name: wyoming, base_url: 'tcp://nas:99999' }", "(a port from 1 to 65535"),
        (
            "  stt: { name: wyoming, base_url: 'tcp://nas:1/x' }",
            "(only host and port after tcp://)",
        ),
        (
            "  stt: { name: wyoming, base_url: 'tcp://nas:1', api_key: k }",
            "'providers.stt.api_key' has no effect on 'wyoming'",
        ),
        (
            "  tts: { name: wyoming, base_url: 'tcp://nas:1', model: m }",
            "'providers.tts.model' has no effect on 'wyoming'",
        ),
        (
            "  tts: { name: wyoming, base_url: 'tcp://nas:1', sample_rate: 16000 }",
            "'providers.tts.sample_rate' has no effect on 'wyoming'",
        ),
    ] {
        let ran = check(providers).ends_with(2);
        assert!(ran.stderr.contains(part), "{providers}: {ran:#?}");
    }
    let ran =
        check("  stt: { name: wyoming, base_url: 'tcp://voices.example.com:10300' }").ends_with(0);
    let warning = "unencrypted to 'providers.stt.base_url'";
    assert!(ran.stderr.contains(warning), "{ran:#?}");
    let voice = table("  stt: { name: local }", "provider: wyoming").run(&["check"]).ends_with(2);
    assert!(voice.stderr.contains("voice 'wyoming' needs a speech service"), "{voice:#?}");
}

/// A program on the protocol's own library; says so when that is not there.
fn python(script: &str, arguments: &[&str]) -> Option<Command> {
    let python = installed("wyoming")?.join("bin/python");
    let mut command = Command::new(python);
    command.arg(repository("tests/support/wyoming_python").join(script)).args(arguments);
    Some(command)
}

/// A server on that library that hears these words; its address.
fn python_server(form: &str) -> Option<(Live, String)> {
    let live = Live::of(python("server.py", &[ASKED, form])?);
    let port = live.says("listening").rsplit(' ').next().unwrap().to_owned();
    Some((live, format!("tcp://127.0.0.1:{port}")))
}

#[test]
fn python_wyoming_services_hear_and_speak() {
    for form in ["whole", "pieces"] {
        let Some((server, address)) = python_server(form) else { return };
        let providers = heard_at(&address) + &spoken_at(&address);
        let place = table(&providers, "voice_id: deep");
        let line = ask(&place, recording(form == "pieces")).ends_with(0).line();
        assert_eq!((&line["stt"], &line["tts"]), (&json!("wyoming"), &json!("wyoming")));
        assert_eq!((&line["outcome"], &line["reply"]), (&json!("spoken"), &json!(ANSWER)));
        assert_eq!(line["partials"].as_u64() > Some(0), form == "pieces", "{line:#}");
        assert_tone(&place, 200.0);
        // An answer that was begun ahead may be spoken before the utterance is over, and again.
        let (mut heard, mut spoken) = (Value::Null, Value::Null);
        while heard.is_null() || spoken.is_null() {
            let line: Value = serde_json::from_str(&server.says("{")).unwrap();
            let kind = if line["heard"].is_null() { &mut spoken } else { &mut heard };
            *kind = line;
        }
        assert!(heard["heard"].as_f64().is_some_and(|s| (1.0..5.0).contains(&s)), "{heard}");
        assert_eq!(heard["language"], "en");
        assert!(heard["names"].to_string().contains("Bartok"), "{heard}");
        let expected = json!({"spoken": ANSWER, "voice": "deep", "pieces": form == "pieces"});
        assert_eq!(spoken, expected);
    }
}

#[test]
fn python_wyoming_client_accepts_the_loopback() {
    for is_streamed in [false, true] {
        let both = Script { speaks: Script::speaks().speaks, ..Script::hears(ASKED) };
        let both = if is_streamed { both.streamed() } else { both };
        let server = WyomingServer::start(Script { is_chatty: true, ..both });
        let port = server.address().rsplit(':').next().unwrap().to_owned();
        let Some(client) = python("client.py", &[&port]) else { return };
        let found = run(client, "").ends_with(0).line();
        let expected = json!({
            "hears": ["loopback-ears"],
            "voices": ["en_US-joe-medium", "en_GB-alan-low", "en_US-libritts-high"],
            "heard": ASKED,
            "pieces": if is_streamed { ASKED } else { "" },
            "sound": [22_050, 11_907],
        });
        assert_eq!(found, expected);
        let recorded = server.recorded();
        assert_eq!((recorded.refused.len(), recorded.heard.len()), (0, 1), "{recorded:#?}");
        assert_eq!(recorded.spoken[0].voice, json!({"name": "en_GB-alan-low"}));
    }
}
