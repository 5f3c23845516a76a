//! Limits on Kokoro's files, and the sound of installed voices: `GLYPHOXA_MODELS` names the folder
//! of models to test.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use futures::TryStreamExt;

use super::*;
use crate::{
    provider::{Attempts, Kind},
    skipped::skipped,
};

/// Fast enough, however busy the test machine.
const ANY: f32 = 1_000.0;
/// An ONNX file with an empty graph.
const EMPTY: &[u8] = b"\x08\x08\x3a\x00";

fn kokoro(models: &Path, slowest: f32) -> Kokoro {
    let options = Options { models: vec![models.to_owned()], slowest };
    Kokoro::new(&options, Cores::default())
}

async fn said(kokoro: &Kokoro, voice: Voice) -> Result<Vec<Pcm>, Error> {
    let request = SpeakRequest {
        text: "The road to the city is long and dark, and nobody knows who waits at its end."
            .to_owned(),
        voice,
        foreign: None,
        pronunciation: Arc::from([]),
        style: None,
        attempts: Attempts::default(),
    };
    kokoro.speak(request).try_collect().await
}

fn george() -> Voice {
    Voice::as_is("kokoro", "bm_george")
}

fn seconds(chunks: &[Pcm]) -> f64 {
    chunks.iter().map(|c| c.rate.duration_of(c.samples.len()).as_secs_f64()).sum()
}

/// A folder of models with these bytes as the network and the voice of George.
fn damaged(network: &[u8], voice: &[u8]) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("kokoro");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("kokoro-v1.0.int8.onnx"), network).unwrap();
    fs::write(folder.join("bm_george.bin"), voice).unwrap();
    place
}

#[tokio::test]
async fn missing_files_or_voices_give_error_with_fix() {
    let place = tempfile::tempdir().unwrap();
    let empty = kokoro(place.path(), ANY);
    let error = said(&empty, george()).await.unwrap_err();
    let way_out = "(glyphoxa models get kokoro)";
    let expected = format!("kokoro is not in '{}' {way_out}", place.path().display());
    assert_eq!((error.kind(), error.to_string()), (Kind::Missing, expected.clone()));
    assert_eq!(empty.lacks(&george()).unwrap().to_string(), expected);

    let place = damaged(b"", b"");
    let other = kokoro(place.path(), ANY);
    for id in ["bm_lewis", "../bm_george", ""] {
        let error = said(&other, Voice::as_is("kokoro", id)).await.unwrap_err().to_string();
        let begins = format!("kokoro has no voice '{id}' in '");
        assert!(error.starts_with(&begins) && error.ends_with("(bm_george)"), "{error}");
    }
}

#[tokio::test]
async fn damaged_files_are_named() {
    let good = [0; 522_240];
    for (network, voice, part) in [
        (&b"no network"[..], &good[..], "the files of Kokoro in '"),
        (b"", &good, "it is not a complete ONNX file"),
        (EMPTY, &good, "it has no 'tokens'"),
        (EMPTY, &good[1..], "has \"522239\" bytes instead of \"522240\""),
        (EMPTY, &[0xff; 522_240], "out of range"),
        (EMPTY, &[0; 522_241], "has more than \"522240\" bytes"),
    ] {
        let place = damaged(network, voice);
        let error = said(&kokoro(place.path(), ANY), george()).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Protocol, "{error}");
        assert!(error.to_string().contains(part), "{part}: {error}");
    }
}

/// The folder of models, if Kokoro is installed.
fn with_weights() -> Option<PathBuf> {
    let models = std::env::var_os("GLYPHOXA_MODELS").map(PathBuf::from);
    let models = models.filter(|models| !library::voices(std::slice::from_ref(models)).is_empty());
    if models.is_none() {
        skipped("tests with Kokoro", "GLYPHOXA_MODELS names no folder with kokoro");
    }
    models
}

#[test]
fn symbols_are_those_of_the_model_by_kokoro() {
    let Some(models) = with_weights() else { return };
    let text = fs::read(models.join("kokoro/vocab.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let vocabulary = json["vocab"].as_object().unwrap();
    for (symbol, expected) in vocabulary {
        let symbol = symbol.chars().next().unwrap();
        assert_eq!(alphabet::number(symbol).map(i64::from), expected.as_i64(), "{symbol}");
    }
    let known = (0..=0x2_0000).filter_map(char::from_u32).filter_map(alphabet::number);
    assert_eq!(known.count(), vocabulary.len());
}

#[tokio::test]
async fn pieces_speed_and_pitch_are_spoken_by_kokoro() {
    let Some(models) = with_weights() else { return };
    let kokoro = kokoro(&models, ANY);
    kokoro.warm(&george()).await.unwrap();
    let plain = said(&kokoro, george()).await.unwrap();
    assert!(plain.len() > 1 && (3.0..8.0).contains(&seconds(&plain)), "{}", seconds(&plain));
    assert!(plain.iter().all(|chunk| chunk.rate.hz() == 24_000));
    let loudest = plain.iter().flat_map(|chunk| &chunk.samples).map(|it| it.unsigned_abs()).max();
    assert!(loudest.is_some_and(|it| (3_000..32_000).contains(&it)), "no crack: {loudest:?}");
    let fast = said(&kokoro, Voice { speed_factor: 2.0, ..george() }).await.unwrap();
    let ratio = seconds(&fast) / seconds(&plain);
    assert!((0.4..0.7).contains(&ratio), "{ratio}");
    let high = Voice { pitch_shift: 5.0, formant_shift: 3.0, ..george() };
    let ratio = seconds(&said(&kokoro, high).await.unwrap()) / seconds(&plain);
    assert!((0.85..1.15).contains(&ratio), "{ratio}");
    let others = ["af_heart", "am_adam"].map(|id| said(&kokoro, Voice::as_is("kokoro", id)));
    let others = futures::future::join_all(others).await;
    assert!(others.iter().all(|one| one.as_ref().is_ok_and(|it| seconds(it) > 2.0)));
}

#[tokio::test]
async fn slow_machine_is_refused_by_kokoro() {
    let Some(models) = with_weights() else { return };
    let kokoro = kokoro(&models, 0.000_1);
    assert!(kokoro.lacks(&george()).is_none(), "nobody knows yet");
    let error = kokoro.warm(&george()).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Unavailable);
    let text = error.to_string();
    assert!(text.starts_with("kokoro is too slow on this machine: it takes "), "{text}");
    let known = kokoro.lacks(&george()).unwrap().to_string();
    assert_eq!(known, said(&kokoro, george()).await.unwrap_err().to_string(), "measured once");
}

#[tokio::test]
async fn cut_off_network_is_refused_by_kokoro() {
    let Some(models) = with_weights() else { return };
    let folder = models.join("kokoro").canonicalize().unwrap();
    let whole = fs::read(folder.join("kokoro-v1.0.int8.onnx")).unwrap();
    for (part, flipped) in [(whole.len() / 3, 5_000), (whole.len() - 1, 90), (40_000, 39_999)] {
        let mut bytes = whole[..part].to_vec();
        bytes[flipped] ^= 0x15;
        let place = damaged(&bytes, b"");
        let voice = place.path().join("kokoro/bm_george.bin");
        fs::remove_file(&voice).unwrap();
        symlink(folder.join("bm_george.bin"), &voice).unwrap();
        let error = said(&kokoro(place.path(), ANY), george()).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Protocol, "{error}");
    }
}
