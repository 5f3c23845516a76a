use super::super::tests::{assert_tone, decode};
use crate::audio::Clip;

/// 440 Hz, amplitude 12,000, half a second, stereo.
const OPUS: &[u8] = include_bytes!("../../../../tests/data/sound/tone.opus");
/// 440 Hz, amplitude 12,000, half a second, in six channels.
const SIX: &[u8] = include_bytes!("../../../../tests/data/sound/six_channels.opus");

fn pages(file: &[u8]) -> Vec<usize> {
    (0..file.len()).filter(|&at| file[at..].starts_with(b"OggS")).collect()
}

/// The file with its header changed.
fn with_head(change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut file = OPUS.to_vec();
    change(&mut file[28..47]);
    mended(file, 0)
}

/// The file with a correct checksum of the page at `at`.
fn mended(mut file: Vec<u8>, at: usize) -> Vec<u8> {
    let end = pages(&file).into_iter().find(|&page| page > at).unwrap_or(file.len());
    file[at + 22..at + 26].fill(0);
    let checksum = super::checksum(&file[at..end]);
    file[at + 22..at + 26].copy_from_slice(&checksum.to_le_bytes());
    file
}

fn message(file: &[u8]) -> String {
    decode(file, None).unwrap_err().to_string()
}

fn peak(clip: &Clip) -> f32 {
    clip.samples.iter().map(|s| f32::from(s.unsigned_abs())).fold(0.0, f32::max)
}

#[test]
fn opus_is_decoded_from_first_to_last_sample() {
    let clip = decode(OPUS, None).unwrap();
    assert_tone(&clip, 48_000, 0);
    // Samples before the beginning and after the end are cut off.
    assert_eq!(clip.samples.len(), 24_000);
}

#[test]
fn skipped_beginning_is_as_long_as_header_says() {
    let more = with_head(|head| {
        let skip = u16::from_le_bytes([head[10], head[11]]) + 4_800;
        head[10..12].copy_from_slice(&skip.to_le_bytes());
    });
    let clip = decode(&more, None).unwrap();
    assert_eq!(clip.samples.len(), 24_000 - 4_800);
    assert_eq!(clip.samples, decode(OPUS, None).unwrap().samples[4_800..]);
}

#[test]
fn gain_of_the_header_is_applied() {
    let quiet = with_head(|head| head[16..18].copy_from_slice(&(-1_536_i16).to_le_bytes()));
    let (quiet, plain) = (decode(&quiet, None).unwrap(), decode(OPUS, None).unwrap());
    // 6 dB less.
    assert!((peak(&plain) / peak(&quiet) - 1.995).abs() < 0.02, "{}", peak(&plain) / peak(&quiet));
}

#[test]
fn headers_of_other_opus_say_what_is_wrong() {
    assert_eq!(
        message(SIX),
        "cannot read Opus of \"6\" channels in mapping family \"1\" (convert it to mono or stereo)"
    );
    assert!(message(&with_head(|head| head[9] = 0)).contains("it has no channels"));
    assert!(message(&with_head(|head| head[9] = 200)).contains("\"200\" channels"));
    assert!(message(&with_head(|head| head[18] = 255)).contains("family \"255\""));
    assert!(message(&with_head(|head| head[8] = 16)).contains("of version 16"));
    let short = [&OPUS[..26], b"\x01\x0a", &OPUS[28..38]].concat();
    assert!(message(&mended(short, 0)).contains("its header is broken"));
    let empty = &OPUS[..pages(OPUS)[2]];
    assert!(message(empty).contains("a header but no samples"), "{}", message(empty));
}

#[test]
fn damaged_pages_and_rubbish_are_skipped() {
    let starts = pages(OPUS);
    let sound = starts[2];
    let mut rubbish = OPUS[..sound].to_vec();
    rubbish.extend_from_slice(b"OOggOggS and no page, OggOggOgg");
    rubbish.extend_from_slice(&[0xFF; 300]);
    rubbish.extend_from_slice(&OPUS[sound..]);
    // Garbage that looks like a page may hide the page behind it.
    if let Ok(clip) = decode(&rubbish, None) {
        assert!(clip.samples.len() <= 24_000);
    }
    let clean = [&OPUS[..sound], b"OOgg, OggO", &OPUS[sound..]].concat();
    assert_eq!(decode(&clean, None).unwrap(), decode(OPUS, None).unwrap());
    let mut damaged = OPUS.to_vec();
    damaged[sound + 60] ^= 0xFF;
    assert!(decode(&damaged, None).map_or(0, |clip| clip.samples.len()) < 24_000);
}

#[test]
fn files_one_after_the_other_are_one_sound() {
    let twice = decode(&[OPUS, OPUS].concat(), None).unwrap();
    assert_eq!(twice.samples.len(), 48_000);
}
