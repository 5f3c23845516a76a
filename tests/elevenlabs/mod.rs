//! ElevenLabs as a voice, through the real program, against a counterpart on this machine.

mod sdk;

use serde_json::{Value, json};

use crate::support::{
    deepgram::DeepgramServer,
    elevenlabs::{ElevenLabsServer, Fault, GEORGE},
    program::{Place, Ran},
    speech::{plain_wav, read_wav, speech},
};

/// The key that counterparts want.
const KEY: &str = "xi-key-of-tests";
const MODEL: &str = "eleven_flash_v2_5";
const ANSWER: &str = "Sit down and listen. The river was dry for an hour that night. Nobody knew where \
                      the water had gone. Then it came back all at once, and it took the lower town \
                      with it.";
/// A character costs this.
const CHARACTER: f64 = 0.001;

/// A configuration in which Bartok speaks with `server`; `more` keys of the entry, and of the voice.
fn config(server: &ElevenLabsServer, more: &str, voice: &str) -> String {
    let url = server.base_url();
    format!(
        "providers:\n  tts: {{ service: elevenlabs, base_url: \"{url}\", api_key: {KEY}, \
         first_byte_timeout_ms: 30000{more} }}\nnpcs:\n  - name: Bartok the Barkeep\n    \
         aliases: [Bartok]\n    max_sentences: 6\n    voice: {{ provider: elevenlabs, voice_id: \
         {GEORGE}{voice} }}\n    lines: [{{ say: \"{ANSWER}\" }}]\n"
    )
}

fn free(server: &ElevenLabsServer) -> Place {
    Place::with_config(&config(server, ", free: true", ""))
}

fn ask(place: &Place, more: &[&str]) -> Ran {
    let said = ["ask", "--json", "--out", "out.wav", "--text", "Bartok, what happened here?"];
    place.run(&[&said[..], more].concat())
}

#[track_caller]
fn assert_taken(server: &ElevenLabsServer) {
    let seen = server.seen();
    assert!(seen.iter().all(|it| it.refused.is_none()), "{seen:#?}");
}

#[test]
fn answer_is_spoken_sentence_by_sentence() {
    let server = ElevenLabsServer::start(KEY);
    server.fails(Fault::Strange);
    let place = free(&server);
    let line = ask(&place, &[]).ends_with(0).line();
    assert_eq!((&line["outcome"], &line["tts"]), (&json!("spoken"), &json!("elevenlabs")));
    assert_eq!(line["reply"], ANSWER, "{line:#}");
    let sound = read_wav(&place.path("out.wav"));
    assert!(sound.level() > 0.005 && sound.seconds() > 9.0, "{} s", sound.seconds());
    assert_taken(&server);
    let seen = server.seen();
    let spoken: Vec<&str> = seen.iter().flat_map(|it| it.said()).collect();
    assert_eq!(spoken.join(" "), ANSWER);
    assert!(spoken.len() > 1, "{spoken:?}");
}

#[test]
fn faults_are_reported_and_never_spoken() {
    let detail = |status: &str| json!({"detail": {"status": status, "message": "no"}});
    let refuse = |status, label| Fault::Refuse(status, Vec::new(), detail(label));
    let busy = Fault::Refuse(429, vec![("retry-after", "90")], detail("system_busy"));
    let crowded = "too_many_concurrent_requests";
    let faults = [
        (refuse(401, "invalid_api_key"), "voice_error", "the key was refused with status 401"),
        (refuse(401, "quota_exceeded"), "voice_error", "the account has no characters left"),
        (refuse(429, crowded), "voice_error", "too many streams at once with status 429"),
        (busy, "voice_error", "the service is busy with status 429"),
        (Fault::Error("quota_exceeded"), "voice_error", "the account has no characters left"),
        (Fault::Close(0, None), "voice_error", "the connection broke off"),
        (Fault::Cut(4), "cut_short", "the connection broke off"),
        (Fault::Hold(4), "cut_short", "its sound has stopped"),
    ];
    for (fault, outcome, said) in faults {
        let server = ElevenLabsServer::start(KEY);
        let shown = format!("{fault:?}");
        server.fails(fault);
        let config = config(&server, ", free: true, idle_timeout_ms: 1000", "");
        let ran = ask(&Place::with_config(&config), &[]);
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
fn second_voice_speaks_while_the_quota_is_spent() {
    let server = ElevenLabsServer::start(KEY);
    server.fails(Fault::Error("quota_exceeded"));
    let second = ", fallback: { provider: flite, voice_id: rms }";
    let place = Place::with_config(&config(&server, ", free: true", second));
    let line = ask(&place, &[]).ends_with(0).line();
    assert_eq!((&line["outcome"], &line["reply"]), (&json!("spoken"), &json!(ANSWER)));
    assert!(read_wav(&place.path("out.wav")).level() > 0.005);
}

/// A stop word after four seconds.
#[test]
fn interrupted_answer_closes_its_context() {
    let (server, ears) = (ElevenLabsServer::start(KEY), DeepgramServer::start("k"));
    ears.says(&["stop"]);
    let heard = config(&server, ", free: true", "");
    let heard = heard.replace("providers:\n", &format!("providers:\n{}", ears.entry()));
    let place = Place::with_config(&heard);
    place.write("voice.wav", plain_wav(&speech("slt", "stop")));
    let asked = ["--speaker", "Anna", "--at", "0", "--text", "Bartok, what happened here?"];
    let stops = ["--speaker", "Anna", "--at", "4", "--in", "voice.wav"];
    let lines = place.run(&[&["ask", "--json"][..], &asked, &stops].concat()).lines();
    let is_his = |line: &&Value| line["npc"] == "Bartok the Barkeep";
    let answer = lines.iter().find(is_his).expect("an answer");
    assert_eq!(answer["outcome"], "interrupted", "{answer:#}");
    let reply = answer["reply"].as_str().unwrap();
    assert!(reply.starts_with("Sit down") && !reply.contains("lower town"), "{reply}");
    assert_taken(&server);
    let spoke = server.seen().into_iter().filter(|it| !it.said().is_empty());
    let spoke: Vec<_> = spoke.collect();
    assert!(!spoke.is_empty() && spoke.iter().all(|it| it.closed() > 0), "{spoke:#?}");
}

#[test]
fn spending_cap_bounds_what_the_service_bills() {
    let server = ElevenLabsServer::start(KEY);
    let price = format!("prices: {{ {MODEL}: {{ characters: {} }} }}\n", CHARACTER * 1e6);
    // Enough for the line about the cap and a part of the answer.
    let cap = 0.2;
    let budget = format!("budget: {{ session_max: {cap} }}\n");
    let place = Place::with_config(&format!("{}{price}{budget}", config(&server, "", "")));
    let ran = ask(&place, &["--text", "Bartok, and then?"]);
    let billed: usize = server.seen().iter().map(|it| it.billed).sum();
    let sum = f64::from(u32::try_from(billed).unwrap()) * CHARACTER;
    assert!(sum > 0.0 && sum <= cap, "{sum} of {cap}: {ran:#?}");
    assert_taken(&server);
}

#[test]
fn invalid_elevenlabs_settings_are_refused() {
    let server = ElevenLabsServer::start(KEY);
    let said = |config: &str| Place::with_config(config).run(&["check"]).ends_with(2).stderr;
    let v3 = said(&config(&server, ", free: true, model: eleven_v3", ""));
    assert!(v3.contains("'eleven_v3' cannot stream here"), "{v3}");
    let home = said("providers: { tts: { service: elevenlabs, free: true } }");
    assert!(home.contains("ELEVENLABS_API_KEY"), "{home}");
    let unpriced = "providers: { tts: { service: elevenlabs, api_key: k } }";
    assert!(said(unpriced).contains("no price for model"));
    let flite = said("providers: { tts: { service: flite, max_streams: 2 } }");
    assert!(flite.contains("'providers.tts.max_streams' has no effect on 'flite'"), "{flite}");
    assert!(server.seen().is_empty());
}

#[test]
fn doctor_lists_the_accounts_voices() {
    let server = ElevenLabsServer::start(KEY);
    let ran = free(&server).run(&["doctor"]);
    assert!(ran.stdout.contains("2 voices: George, Sarah"), "{ran:#?}");
    let wrong = config(&server, ", free: true", "").replace(KEY, "xi-another");
    let ran = Place::with_config(&wrong).run(&["doctor"]);
    assert!(ran.stdout.contains("the key was refused with status 401"), "{ran:#?}");
    assert!(!ran.stdout.contains("xi-another"), "{ran:#?}");
}
