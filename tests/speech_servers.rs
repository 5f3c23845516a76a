//! The real program with servers that have OpenAI's speech address, and manners of their own.

use serde_json::{Value, json};

use crate::support::{
    answers::text,
    chat_server::{ChatServer, Recorded, Script},
    program::{Place, shipped},
    speech::{Format, as_wav, read_wav},
};

const RATE: u32 = 24_000;

/// Settings of a server at `address`.
fn at(address: &str, settings: &str) -> String {
    format!("tts: {{ service: openai, base_url: \"{address}\", model: m{settings} }}")
}

/// What Bartok says with the voice `id` of `tts`, and the status of the program.
fn asked(tts: &str, id: &str) -> (Value, i32) {
    let place = Place::with_config(&format!(
        "providers:\n  {tts}\nnpcs:\n  - name: Bartok\n    voice: {{ voice_id: \"{id}\" }}\n    \
         lines: [{{ say: The river is high. }}]\n"
    ));
    let ran = place.run(&["ask", "--json", "--text", "Bartok, hello", "--out", "out.wav"]);
    if ran.status == 0 {
        assert!(read_wav(&place.path("out.wav")).level() > 0.005, "{ran:#?}");
    }
    (ran.line(), ran.status)
}

/// Fails unless a second of sound was spoken.
#[track_caller]
fn assert_spoken(tts: &str, id: &str) {
    let (line, status) = asked(tts, id);
    assert_eq!((text(&line, "outcome"), text(&line, "tts"), status), ("spoken", "openai", 0));
    let lasts = line["audio_ms"].as_f64().expect("a length");
    assert!((lasts - 1_000.0).abs() < 100.0, "{line:#}");
}

/// A second of a tone.
fn tone() -> Vec<i16> {
    let sample = |at: u32| if (at / 60).is_multiple_of(2) { 8_000 } else { -8_000 };
    (0..RATE).map(sample).collect()
}

/// A second in a WAV as FFmpeg writes it to a stream: 78 bytes before the samples, no lengths.
fn streamed_wav() -> Vec<u8> {
    let mut file = as_wav(&tone(), RATE, 1, Format::Pcm16);
    file[4..8].fill(0xff);
    file[40..44].fill(0xff);
    let list = *b"LIST\x1a\0\0\0INFOISFT\x0e\0\0\0Lavf61.7.100\0\0";
    [&file[..36], &list[..], &file[36..]].concat()
}

/// Like Chatterbox-TTS-Server: it knows no PCM.
fn without_pcm(request: &Recorded) -> Script {
    if request.json["response_format"] == "wav" {
        return Script::plain(200, "audio/wav").bytes(&as_wav(&tone(), RATE, 1, Format::Float));
    }
    let detail = json!([{"type": "literal_error", "loc": ["body", "response_format"],
        "msg": "Input should be 'wav', 'opus' or 'mp3'", "input": "pcm"}]);
    Script::json(422, &json!({"detail": detail}))
}

#[test]
fn servers_that_only_send_wav_are_understood() {
    for file in [streamed_wav(), as_wav(&tone(), RATE, 1, Format::Float)] {
        let server = ChatServer::start();
        server.otherwise(move |_| Script::plain(200, "audio/wav").bytes(&file).in_pieces(61));
        assert_spoken(&at(&server.base_url(), ""), "af_bella+af_sky");
        let requests = server.requests();
        assert_eq!(requests[0].json["voice"], "af_bella+af_sky");
        assert!(requests.iter().all(|it| it.json["response_format"] == "pcm"), "{requests:#?}");
    }
}

#[test]
fn refused_format_is_asked_for_once_configured() {
    let server = ChatServer::start();
    server.otherwise(without_pcm);
    let (line, status) = asked(&at(&server.base_url(), ""), "Emily.wav");
    assert_eq!((text(&line, "outcome"), status), ("voice_error", 1), "{line:#}");
    assert!(text(&line, "detail").contains("set response_format: wav"), "{line:#}");
    assert_spoken(&at(&server.base_url(), ", response_format: wav"), "Emily.wav");
}

#[test]
fn headerless_sound_has_the_configured_rate() {
    let server = ChatServer::start();
    let sound: Vec<u8> = tone().repeat(2).iter().flat_map(|it| it.to_le_bytes()).collect();
    server.otherwise(move |_| Script::plain(200, "audio/pcm").bytes(&sound));
    assert_spoken(&at(&server.base_url(), ", sample_rate: 48000"), "tara");
}

/// The shipped file's examples of servers on this machine.
#[test]
fn shipped_examples_of_speech_servers_speak() {
    let config = shipped("glyphoxa.yaml");
    let local = "base_url: \"http://127.0.0.1:";
    let examples: Vec<&str> = config
        .lines()
        .filter_map(|line| line.strip_prefix("#   "))
        .filter(|line| line.starts_with("tts: ") && line.contains(local))
        .collect();
    assert_eq!(examples.len(), 3, "{examples:#?}");
    for example in examples {
        let server = ChatServer::start();
        server.otherwise(without_pcm);
        if !example.contains("response_format") {
            let file = streamed_wav();
            server.otherwise(move |_| Script::plain(200, "audio/wav").bytes(&file));
        }
        let (before, after) = example.split_once(local).expect("an address");
        let (_, after) = after.split_once('"').expect("its end");
        let tts = format!("{before}base_url: \"{}\"{after}", server.base_url());
        assert_spoken(&tts, "tara");
    }
}

/// A note is the style of its turns where the model takes one, and is never spoken.
#[test]
fn note_is_sent_to_models_that_take_a_style() {
    let notes = "/npc direct Bartok 1: You are furious.\nBartok, hello\n/npc direct Bartok: You whisper.\n\
                 Bartok, hello\n/npc direct Bartok:\nBartok, hello";
    let (furious, whisper) = (json!("You are furious."), json!("You whisper."));
    for (model, expected) in
        [("gpt-4o-mini-tts", vec![&furious, &whisper, &Value::Null]), ("tts-1", vec![&Value::Null])]
    {
        let server = ChatServer::start();
        let sound: Vec<u8> = tone()[..4_800].iter().flat_map(|it| it.to_le_bytes()).collect();
        server.otherwise(move |_| Script::plain(200, "audio/pcm").bytes(&sound));
        let address = server.base_url();
        let place = Place::with_config(&format!(
            "providers:\n  tts: {{ service: openai, base_url: \"{address}\", model: {model} }}\n\
             npcs:\n  - name: Bartok\n    voice: {{ voice_id: alloy }}\n    \
             lines: [{{ say: The river is high. }}]\n"
        ));
        let ran = place.run_typing(&["ask", "--json", "--as-dm"], notes).ends_with(0);
        let requests = server.requests();
        assert!(requests.iter().all(|it| it.refused.is_none()), "{requests:#?}");
        let spoken = requests.iter().filter(|it| it.json["input"].is_string());
        assert!(spoken.clone().all(|it| it.json["input"] == "The river is high."), "{requests:#?}");
        let mut styles: Vec<&Value> = spoken.map(|it| &it.json["instructions"]).collect();
        styles.dedup();
        assert_eq!(styles, expected, "{model}: {requests:#?}");
        let told = format!("{ran:?}");
        assert!(!told.contains("furious") && !told.contains("whisper"), "{told}");
    }
}
