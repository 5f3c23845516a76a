use super::*;
use crate::{
    audio::{Clip, SampleRate, write_wav},
    domain::Voice,
    provider::remote::{
        chat_server::{ChatServer, Script, Step},
        options,
    },
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
    SpeakRequest { text: text.into(), voice, foreign: None, pronunciation: Arc::new([]), attempts }
}

async fn spoken(
    server: &ChatServer,
    request: SpeakRequest,
) -> Result<(Vec<i16>, SampleRate), Error> {
    let mut stream = Speech::new(options(&server.base_url())).unwrap().speak(request);
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
    let mut stream =
        Speech::new(options(&server.base_url())).unwrap().speak(says("Aye.", 0.0, 1.0));
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
    assert_eq!(kind(Script::json(400, &error)).await, Kind::InvalidRequest);
    assert_eq!(kind(Script::plain(200, "audio/mpeg").raw("ID3\x04....")).await, Kind::Protocol);
    assert_eq!(kind(Script::plain(200, "audio/pcm")).await, Kind::Protocol);
    assert_eq!(kind(Script::plain(200, "text/html").raw("<html>")).await, Kind::Protocol);
    let cut = Script::plain(200, "audio/pcm").bytes(&pcm(&[1; 50])).step(Step::Cut);
    assert_eq!(kind(cut).await, Kind::Interrupted);
}

#[tokio::test]
async fn passing_failures_are_tried_again() {
    let server = ChatServer::start();
    server.push(Script::error(429, "tokens", "loading").header("retry-after-ms", "1"));
    assert_eq!(spoken(&server, says("Aye.", 0.0, 1.0)).await.unwrap().0.len(), 2400);
    assert_eq!(server.requests().len(), 2);
}
