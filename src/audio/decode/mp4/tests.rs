use super::super::tests::{assert_tone, decode};

/// 440 Hz, amplitude 12,000, half a second, stereo: AAC, Apple Lossless, Opus, FLAC.
const AAC: &[u8] = include_bytes!("../../../../tests/data/sound/tone.m4a");
const ALAC: &[u8] = include_bytes!("../../../../tests/data/sound/tone_alac.m4a");
const OPUS: &[u8] = include_bytes!("../../../../tests/data/sound/tone_opus.mp4");
const FLAC: &[u8] = include_bytes!("../../../../tests/data/sound/tone_flac.mp4");
const FRAGMENTS: &[u8] = include_bytes!("../../../../tests/data/sound/fragments.m4a");

/// The file with other bytes at `after` bytes behind the start of a box's name.
fn changed(file: &[u8], name: &[u8; 4], after: usize, bytes: &[u8]) -> Vec<u8> {
    let at = (0..file.len()).rev().find(|&at| file[at..].starts_with(name)).unwrap() + after;
    let mut file = file.to_vec();
    file[at..at + bytes.len()].copy_from_slice(bytes);
    file
}

fn message(file: &[u8]) -> String {
    decode(file, None).unwrap_err().to_string()
}

#[test]
fn every_codec_in_mp4_is_decoded() {
    assert_tone(&decode(AAC, None).unwrap(), 48_000, 70);
    assert_tone(&decode(ALAC, None).unwrap(), 16_000, 0);
    assert_tone(&decode(OPUS, None).unwrap(), 48_000, 30);
    assert_tone(&decode(FLAC, None).unwrap(), 16_000, 0);
}

#[test]
fn lossless_is_without_loss() {
    let (alac, flac) = (decode(ALAC, None).unwrap(), decode(FLAC, None).unwrap());
    assert_eq!(alac, flac);
}

#[test]
fn unsupported_mp4_content_is_named() {
    assert_eq!(
        message(FRAGMENTS),
        "cannot read this MP4 file: its sound is in fragments (convert it to WAV or FLAC)"
    );
    assert!(message(&changed(AAC, b"mp4a", 0, b"ac-3")).contains("its sound is \"ac-3\""));
    assert!(message(&changed(AAC, b"soun", 0, b"vide")).contains("no sound in the MP4 file"));
    assert!(message(&AAC[..400]).contains("was not finished"), "{}", message(&AAC[..400]));
}

#[test]
fn absurd_numbers_in_tables_take_no_memory() {
    let most = [0xFF; 4];
    // Impossible numbers of packets, chunks and runs.
    for name in [b"stsz", b"stco", b"stsc"] {
        let after = if name == b"stsz" { 12 } else { 8 };
        assert_tone(&decode(&changed(AAC, name, after, &most), None).unwrap(), 48_000, 70);
    }
    // All packets of one absurd length.
    assert!(message(&changed(AAC, b"stsz", 8, &most)).contains("absurdly large"));
    // More than the file's size, though each is small: they overlap.
    let overlapping = changed(AAC, b"stsz", 8, &[0, 0, 0x02, 0, 0xFF, 0xFF, 0xFF, 0xFF]);
    let overlapping = changed(&overlapping, b"stsc", 16, &[0xFF; 4]);
    assert!(decode(&overlapping, None).map_or(0, |clip| clip.samples.len()) < 50_000);
    // Beyond the end.
    assert!(message(&changed(AAC, b"stco", 12, &most)).contains("no samples"));
    // Apple Lossless with packets of 16 GB.
    assert!(message(&changed(ALAC, b"alac", 8, &most)).contains("asks for absurdly much"));
}
