use super::*;
use crate::{
    audio::{Clip, write_wav},
    domain::Voice,
    provider::remote::chat_server::{ChatServer, Script, Step},
};

fn says(text: &str, pitch_shift: f32, speed_factor: f32) -> SpeakRequest {
    let voice = Voice {
        provider: "openai".into(),
        voice_id: "af_heart".into(),
        pitch_shift,
        speed_factor,
        volume: 1.0,
        formant_shift: 0.0,
        fallback: None,
    };
    let attempts = Attempts::default();
    let pronunciation = Arc::from([]);
    SpeakRequest { text: text.into(), voice, foreign: None, pronunciation, style: None, attempts }
}

async fn spoken(
    server: &ChatServer,
    request: SpeakRequest,
) -> Result<(Vec<i16>, SampleRate), Error> {
    let options = VoiceOptions::at(&server.base_url());
    spoken_by(Speech::new(options).unwrap(), request).await
}

async fn spoken_by(speech: Speech, request: SpeakRequest) -> Result<(Vec<i16>, SampleRate), Error> {
    let mut stream = speech.speak(request);
    let (mut samples, mut rate) = (Vec::new(), None);
    while let Some(piece) = stream.next().await {
        let piece = piece?;
        assert!(rate.is_none_or(|rate| rate == piece.rate));
        rate = Some(piece.rate);
        samples.extend(piece.samples);
    }
    Ok((samples, rate.expect("some sound")))
}

fn pcm(samples: &[i16]) -> Vec<u8> {
    samples.iter().flat_map(|sample| sample.to_le_bytes()).collect()
}

#[tokio::test]
async fn raw_pcm_in_odd_pieces_is_given_on() {
    let server = ChatServer::start();
    let samples: Vec<i16> = (0..500).collect();
    server.push(Script::plain(200, "audio/pcm").bytes(&pcm(&samples)).in_pieces(33));
    let got = spoken(&server, says("Aye.", 0.0, 1.1)).await.unwrap();
    assert_eq!(got, (samples, SampleRate::HZ_24000));
    let request = &server.requests()[0];
    assert_eq!(request.refused, None);
    assert_eq!(
        request.json,
        json!({"model": "test-model", "voice": "af_heart", "input": "Aye.", "speed": 1.1,
            "response_format": "pcm"})
    );
}

#[tokio::test]
async fn models_that_take_a_style_get_it() {
    let server = ChatServer::start();
    let long = "ä".repeat(5_000);
    let cases = [
        ("gpt-4o-mini-tts", "You whisper.", Some("You whisper.".to_owned())),
        ("openai/gpt-4o-mini-tts-2025-12-15", &*long, Some("ä".repeat(4_096))),
        ("tts-1", "You whisper.", None),
        ("kokoro", "You whisper.", None),
    ];
    for (model, style, expected) in cases {
        let mut options = VoiceOptions::at(&server.base_url());
        options.reach.model = model.into();
        let request = SpeakRequest { style: Some(Arc::from(style)), ..says("Aye.", 0.0, 1.0) };
        spoken_by(Speech::new(options).unwrap(), request).await.unwrap();
        let requests = server.requests();
        let sent = requests.last().unwrap();
        assert_eq!(sent.refused, None, "{model}");
        let instructions = sent.json.get("instructions").and_then(Value::as_str);
        assert_eq!(instructions, expected.as_deref(), "{model}");
        assert_eq!(sent.json["input"], "Aye.", "{model}");
    }
}

#[tokio::test]
async fn wav_is_understood_with_its_own_rate() {
    let server = ChatServer::start();
    let samples: Vec<i16> = (0..300).collect();
    let rate = SampleRate::HZ_16000;
    let file = write_wav(&Clip { samples: samples.clone(), rate });
    server.push(Script::plain(200, "audio/wav").bytes(&file).in_pieces(7));
    assert_eq!(spoken(&server, says("Aye.", 0.0, 1.0)).await.unwrap(), (samples, rate));
    assert_eq!(server.requests()[0].json.get("speed"), None);
}

#[tokio::test]
async fn format_and_rate_are_settings() {
    let server = ChatServer::start();
    let with = |format, sample_rate| {
        let options = VoiceOptions { format, sample_rate, ..VoiceOptions::at(&server.base_url()) };
        spoken_by(Speech::new(options).unwrap(), says("Aye.", 0.0, 1.0))
    };
    let samples: Vec<i16> = (0..300).collect();
    let rate = SampleRate::new(44_100).unwrap();
    server.push(Script::plain(200, "application/octet-stream").bytes(&pcm(&samples)));
    let raw = with(SoundFormat::Pcm, 44_100).await.unwrap();
    assert_eq!(raw, (samples.clone(), rate));
    let file = write_wav(&Clip { samples: samples.clone(), rate: SampleRate::HZ_16000 });
    server.push(Script::plain(200, "audio/wav").bytes(&file));
    let wav = with(SoundFormat::Wav, 44_100).await.unwrap();
    assert_eq!(wav, (samples, SampleRate::HZ_16000), "the header counts");
    let asked: Vec<_> =
        server.requests().iter().map(|it| it.json["response_format"].clone()).collect();
    assert_eq!(asked, ["pcm", "wav"]);
}

#[tokio::test]
async fn event_stream_ends_with_its_last_event() {
    let server = ChatServer::start();
    let delta = json!({"type": "speech.audio.delta", "audio": "BwAHAAcA"});
    let done = json!({"type": "speech.audio.done", "usage": {"input_tokens": 1}});
    let whole = Script::stream().event(&delta).event(&delta).event(&done).in_pieces(11);
    server.push(whole.step(Step::Stall));
    let (samples, rate) = spoken(&server, says("Aye.", 0.0, 1.0)).await.unwrap();
    assert_eq!((samples, rate), (vec![7; 6], SampleRate::HZ_24000));
    server.push(Script::stream().event(&delta));
    let cut = spoken(&server, says("Aye.", 0.0, 1.0)).await.unwrap_err();
    assert_eq!(cut.kind(), Kind::Interrupted);
}

#[tokio::test]
async fn voice_mixes_are_sent_as_written() {
    let server = ChatServer::start();
    let mut request = says("Aye.", 0.0, 1.0);
    request.voice.voice_id = "af_bella(2)+af_sky(1)".to_owned();
    spoken(&server, request).await.unwrap();
    assert_eq!(server.requests()[0].json["voice"], "af_bella(2)+af_sky(1)");
}

#[tokio::test]
async fn refused_format_names_the_setting() {
    let server = ChatServer::start();
    // As FastAPI refuses a value that is not listed.
    let refused = json!({"detail": [{"type": "literal_error", "loc": ["body", "response_format"],
        "msg": "Input should be 'wav', 'opus' or 'mp3'", "input": "pcm"}]});
    server.push(Script::json(422, &refused));
    let error = spoken(&server, says("Aye.", 0.0, 1.0)).await.unwrap_err();
    assert_eq!((error.kind(), server.requests().len()), (Kind::InvalidRequest, 1));
    let told = error.to_string();
    assert!(told.contains("no sound as pcm (set response_format: wav"), "{told}");
}

#[tokio::test]
async fn pitch_is_ours() {
    let server = ChatServer::start();
    let tone: Vec<i16> =
        (0_i16..12_000).map(|at| if at / 60 % 2 == 0 { 8_000 } else { -8_000 }).collect();
    let crossings =
        |samples: &[i16]| samples.windows(2).filter(|pair| (pair[0] < 0) != (pair[1] < 0)).count();
    server.push(Script::plain(200, "audio/pcm").bytes(&pcm(&tone)).in_pieces(997));
    let (samples, _) = spoken(&server, says("Aye.", 7.0, 1.0)).await.unwrap();
    assert!(samples.len().abs_diff(tone.len()) < 1_200, "{} samples", samples.len());
    assert!(crossings(&samples) > crossings(&tone) * 13 / 10, "{}", crossings(&samples));
}

#[tokio::test]
async fn sound_comes_before_the_answer_is_whole() {
    let server = ChatServer::start();
    server.push(Script::plain(200, "audio/pcm").bytes(&pcm(&[7; 480])).step(Step::Stall));
    let speech = Speech::new(VoiceOptions::at(&server.base_url())).unwrap();
    let mut stream = speech.speak(says("Aye.", 0.0, 1.0));
    assert_eq!(stream.next().await.unwrap().unwrap().samples.len(), 480);
    drop(stream);
    server.abandoned(1).await;
}

#[tokio::test]
async fn unusable_response_is_an_error_by_kind() {
    let server = ChatServer::start();
    let kind = async |script: Script| {
        server.push(script);
        spoken(&server, says("Aye.", 0.0, 1.0)).await.unwrap_err().kind()
    };
    let error = json!({"error": {"message": "no voice", "code": 400}});
    assert_eq!(kind(Script::json(200, &error)).await, Kind::InvalidRequest);
    assert_eq!(kind(Script::json(200, &error).in_pieces(5)).await, Kind::InvalidRequest);
    assert_eq!(kind(Script::json(400, &error)).await, Kind::InvalidRequest);
    assert_eq!(kind(Script::plain(200, "audio/mpeg").raw("ID3\x04....")).await, Kind::Protocol);
    assert_eq!(kind(Script::plain(200, "audio/pcm")).await, Kind::Protocol);
    assert_eq!(kind(Script::plain(200, "text/html").raw("<html>")).await, Kind::Protocol);
    let cut = Script::plain(200, "audio/pcm").bytes(&pcm(&[1; 50])).step(Step::Cut);
    assert_eq!(kind(cut).await, Kind::Interrupted);
    let mut short = write_wav(&Clip { samples: vec![1; 50], rate: SampleRate::HZ_16000 });
    short.truncate(100);
    assert_eq!(kind(Script::plain(200, "audio/wav").bytes(&short)).await, Kind::Interrupted);
}

#[tokio::test]
async fn passing_failures_are_tried_again() {
    let server = ChatServer::start();
    server.push(Script::error(429, "tokens", "loading").header("retry-after-ms", "1"));
    assert_eq!(spoken(&server, says("Aye.", 0.0, 1.0)).await.unwrap().0.len(), 2400);
    assert_eq!(server.requests().len(), 2);
    // As Chatterbox-TTS-Server answers while it loads.
    server.push(Script::json(503, &json!({"detail": "TTS engine model is not loaded."})));
    let request = says("Aye.", 0.0, 1.0);
    let once = SpeakRequest { attempts: request.attempts.clone().once(), ..request };
    assert!(spoken(&server, once).await.unwrap_err().kind().is_retryable());
}
