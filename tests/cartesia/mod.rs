//! Cartesia as a voice, through the real program, against a counterpart on this machine.

mod sdk;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{
    cartesia::{BARKEEP, CHARACTER, CartesiaServer, Fault, Seen},
    deepgram::DeepgramServer,
    program::{Place, Ran},
    speech::{plain_wav, read_wav, speech},
};

/// The key that counterparts want.
const KEY: &str = "sk_car_of_tests";
/// One of its sentences lasts longer than the service keeps a context.
const ANSWER: &str = "Sit down and listen. The river was dry for an hour that night, and nobody in the \
                      whole town knew where all of its water had gone. Then it came back all at once. \
                      It took the lower town with it.";
const SHORT: &str = "The river was dry for an hour that night.";
/// Patience for a busy machine.
const PATIENCE: &str = ", free: true, first_byte_timeout_ms: 30000, idle_timeout_ms: 30000";

/// A table where Bartok speaks with `server`; `more` keys of the entry and of the voice, and his `lines`.
fn table(server: &CartesiaServer, more: &str, voice: &str, lines: &str) -> String {
    let url = server.base_url();
    format!(
        "providers:\n  tts: {{ service: cartesia, base_url: \"{url}\", api_key: {KEY}{more} }}\n\
         npcs:\n  - name: Bartok the Barkeep\n    aliases: [Bartok]\n    max_sentences: 6\n    \
         voice: {{ provider: cartesia, voice_id: {BARKEEP}{voice} }}\n    lines: {lines}\n"
    )
}

/// A table where Bartok says [`ANSWER`] to everything.
fn plain(server: &CartesiaServer, more: &str, voice: &str) -> Place {
    Place::with_config(&table(server, more, voice, &format!("[{{ say: \"{ANSWER}\" }}]")))
}

fn ask(place: &Place, said: &[&str]) -> Ran {
    place.run(&[&["ask", "--json", "--out", "out.wav"], said].concat())
}

const ASKED: [&str; 2] = ["--text", "Bartok, what happened here?"];

/// Nothing was refused, and no context was in two sockets.
#[track_caller]
fn assert_taken(seen: &[Seen]) {
    assert!(seen.iter().all(|it| it.refused.is_none()), "{seen:#?}");
    let contexts = |it: &Seen| {
        let names = it.messages.iter().filter_map(|it| it["context_id"].as_str());
        names.map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let by_socket: Vec<BTreeSet<String>> = seen.iter().map(contexts).collect();
    let all: BTreeSet<&String> = by_socket.iter().flatten().collect();
    assert_eq!(all.len(), by_socket.iter().map(BTreeSet::len).sum::<usize>(), "{seen:#?}");
}

#[test]
fn sonic_speaks_a_turn_in_its_contexts() {
    let server = CartesiaServer::start(KEY);
    server.fails(Fault::Strange);
    let place = plain(&server, PATIENCE, ", speed_factor: 1.25");
    let line = ask(&place, &ASKED).ends_with(0).line();
    assert_eq!((&line["outcome"], &line["tts"]), (&json!("spoken"), &json!("cartesia")));
    assert_eq!(line["reply"], ANSWER, "{line:#}");
    let sound = read_wav(&place.path("out.wav"));
    assert!(sound.level() > 0.005 && sound.seconds() > 9.0, "{} s", sound.seconds());
    let seen = server.seen();
    assert_taken(&seen);
    let spoken: Vec<&str> = seen.iter().flat_map(Seen::said).collect();
    assert_eq!(spoken.concat(), format!("{ANSWER} "));
    assert!(spoken.len() > 1, "{spoken:?}");
    let inputs = seen.iter().flat_map(|it| &it.messages).filter(|it| it["transcript"].is_string());
    for input in inputs {
        assert_eq!(input["generation_config"], json!({"speed": 1.25}), "{input:#}");
        assert_eq!(input["max_buffer_delay_ms"], json!(0), "{input:#}");
        let is_text = input["transcript"] != "";
        assert_eq!(input["continue"], json!(is_text), "{input:#}");
    }
}

#[test]
fn faults_of_cartesia_are_never_spoken() {
    let body = |code: Option<&str>| json!({"title": "No", "message": "no", "error_code": code});
    let refuse = |status, code| Fault::Refuse(status, Vec::new(), body(code));
    let crowded = Some("concurrency_limited");
    let faults = [
        (refuse(401, None), "voice_error", "the key was refused with status 401"),
        (refuse(429, None), "voice_error", "too many streams at once with status 429"),
        (Fault::Error(429, crowded), "voice_error", "too many streams at once (concurrency_"),
        (Fault::Error(402, Some("quota_exceeded")), "voice_error", "no credits left (quota_"),
        (Fault::Error(404, Some("model_not_found")), "voice_error", "does not have the model"),
        (Fault::Close(0, None), "voice_error", "the connection broke off"),
        (Fault::Close(4, Some((1011, "sorry"))), "cut_short", "closed the connection (1011)"),
        (Fault::Cut(4), "cut_short", "the connection broke off"),
        (Fault::Hold(4), "cut_short", "its sound has stopped"),
    ];
    for (fault, outcome, said) in faults {
        let server = CartesiaServer::start(KEY);
        let shown = format!("{fault:?}");
        server.fails(fault);
        let more = ", free: true, first_byte_timeout_ms: 30000, idle_timeout_ms: 1000";
        let ran = ask(&plain(&server, more, ""), &ASKED);
        let line = ran.line();
        assert_eq!(line["outcome"], outcome, "{shown}: {line:#}");
        let reply = line["reply"].as_str().unwrap_or_default();
        assert_eq!(reply.is_empty(), outcome == "voice_error", "{shown}: {line:#}");
        assert!(ANSWER.starts_with(reply.trim_end_matches(['…', ' '])), "{shown}: {line:#}");
        let detail = line["detail"].as_str().unwrap_or_default();
        assert!(detail.contains(said) && detail.ends_with(')'), "{shown}: {detail}");
        assert!(!ran.stderr.contains(KEY) && !ran.stdout.contains(KEY), "{ran:#?}");
    }
}

#[test]
fn second_voice_speaks_where_sonic_is_crowded() {
    let server = CartesiaServer::start(KEY);
    server.fails(Fault::Error(429, Some("concurrency_limited")));
    let second = ", fallback: { provider: flite, voice_id: rms }";
    let place = plain(&server, PATIENCE, second);
    let line = ask(&place, &ASKED).ends_with(0).line();
    assert_eq!((&line["outcome"], &line["reply"]), (&json!("spoken"), &json!(ANSWER)));
    assert!(read_wav(&place.path("out.wav")).level() > 0.005);
}

/// A stop word after four seconds, and another question.
#[test]
fn cancelled_context_leaves_no_sound() {
    const TOLD: &str =
        "it came down from the hills in one night and took the mill with it and then ";
    // After twelve seconds of sound.
    for fault in [Fault::Hold(20), Fault::Late(20)] {
        let (server, ears) = (CartesiaServer::start(KEY), DeepgramServer::start("k"));
        ears.says(&["stop"]);
        server.fault(fault);
        let told = TOLD.repeat(4);
        let lines = format!(
            "[{{ when: [what happened], say: \"The flood {told}it ended.\" }}, {{ say: \"{SHORT}\" }}]"
        );
        let config = table(&server, PATIENCE, "", &lines);
        let config = config.replace("providers:\n", &format!("providers:\n{}", ears.entry()));
        let place = Place::with_config(&config);
        place.write("stop.wav", plain_wav(&speech("slt", "stop")));
        let asked = ["--speaker", "Anna", "--at", "0", "--text", "Bartok, what happened here?"];
        let stops = ["--speaker", "Anna", "--at", "4", "--in", "stop.wav"];
        let again = ["--speaker", "Anna", "--at", "10", "--text", "Bartok, hello"];
        let lines = ask(&place, &[&asked[..], &stops, &again].concat()).lines();
        let of_bartok = lines.iter().filter(|line| line["npc"] == "Bartok the Barkeep");
        let [first, second] = of_bartok.collect::<Vec<&Value>>()[..] else { panic!("{lines:#?}") };
        assert_eq!(first["outcome"], "interrupted", "{first:#}");
        assert_eq!((&second["outcome"], &second["reply"]), (&json!("spoken"), &json!(SHORT)));
        // With the blank behind it.
        let wanted = ((SHORT.len() + 1) * CHARACTER) as f64;
        let lasts = second["audio_ms"].as_f64().unwrap_or_default();
        assert!((lasts - wanted).abs() < 100.0, "{lasts} ms instead of {wanted}: {second:#}");
        let seen = server.seen();
        assert_taken(&seen);
        // Only the first socket has the fault.
        let held = seen[0].said().iter().any(|it| it.starts_with("The flood"));
        assert_eq!(seen[0].cancelled() > 0, held, "{seen:#?}");
    }
}

#[test]
fn invalid_cartesia_settings_are_refused() {
    let said = |tts: &str| {
        let config = format!("providers: {{ tts: {{ service: cartesia, {tts} }} }}");
        Place::with_config(&config).run(&["check"]).ends_with(2).stderr
    };
    let home = said("free: true");
    assert!(home.contains("CARTESIA_API_KEY"), "{home}");
    assert!(said("api_key: k").contains("no price for model 'sonic-3.6'"));
    let rate = said("api_key: k, free: true, sample_rate: 24000");
    assert!(rate.contains("'providers.tts.sample_rate' has no effect on 'cartesia'"), "{rate}");
}

#[test]
fn doctor_lists_the_voices_of_cartesia() {
    let server = CartesiaServer::start(KEY);
    let ran = plain(&server, PATIENCE, "").run(&["doctor"]);
    assert!(ran.stdout.contains("2 voices: Barkeep, Sage"), "{ran:#?}");
    let lines = format!("[{{ say: \"{SHORT}\" }}]");
    let wrong = table(&server, PATIENCE, "", &lines).replace(KEY, "sk_car_another");
    let ran = Place::with_config(&wrong).run(&["doctor"]);
    assert!(ran.stdout.contains("the key was refused with status 401"), "{ran:#?}");
    assert!(!ran.stdout.contains("sk_car_another"), "{ran:#?}");
}

/// A note that begins with an emotion, one that doesn't, and none.
#[test]
fn emotion_of_a_note_is_that_of_its_turns() {
    let server = CartesiaServer::start(KEY);
    let place = Place::with_config(&table(&server, PATIENCE, "", "[{ say: \"Aye.\" }]"));
    let typed = "/npc direct Bartok 1: Angry. You stole the signet.\nBartok, hello\n\
                 /npc direct Bartok: You stole the signet.\nBartok, hello\n\
                 /npc direct Bartok: sad\nBartok, hello\n/npc direct Bartok:\nBartok, hello";
    let ran = place.run_typing(&["ask", "--json", "--as-dm"], typed).ends_with(0);
    let seen = server.seen();
    assert_taken(&seen);
    let inputs = seen.iter().flat_map(|it| &it.messages).filter(|it| it["transcript"].is_string());
    // The sockets of a table are not in order.
    let mut emotions: Vec<(u64, &Value)> =
        inputs.map(|it| (number(it), &it["generation_config"]["emotion"])).collect();
    emotions.sort_by_key(|(number, _)| *number);
    emotions.dedup_by_key(|(_, emotion)| *emotion);
    let emotions: Vec<&Value> = emotions.into_iter().map(|(_, emotion)| emotion).collect();
    assert_eq!(emotions, [&json!("angry"), &Value::Null, &json!("sad"), &Value::Null]);
    let all = format!("{seen:?}{ran:?}");
    assert!(!all.contains("signet") && !all.contains("Angry"), "{all}");
    let said: Vec<&str> = seen.iter().flat_map(Seen::said).collect();
    assert!(said.iter().all(|it| *it == "Aye. "), "{said:?}");
}

/// Of its context: "turn-7".
fn number(input: &Value) -> u64 {
    let id = input["context_id"].as_str().expect("a context");
    id.trim_start_matches("turn-").parse().expect("a number")
}
