use super::super::tests::{assert_tone, decode};

/// 440 Hz, amplitude 12,000, half a second.
const OPUS: &[u8] = include_bytes!("../../../../tests/data/sound/tone.webm");
const VORBIS: &[u8] = include_bytes!("../../../../tests/data/sound/tone_vorbis.webm");

/// The file with bytes replaced.
fn changed(file: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = (0..file.len()).find(|&at| file[at..].starts_with(from)).unwrap();
    let mut file = file.to_vec();
    file.splice(at..at + from.len(), to.iter().copied());
    file
}

fn message(file: &[u8]) -> String {
    decode(file, None).unwrap_err().to_string()
}

#[test]
fn opus_and_vorbis_in_webm_are_decoded() {
    assert_tone(&decode(OPUS, None).unwrap(), 48_000, 30);
    assert_tone(&decode(VORBIS, None).unwrap(), 22_050, 30);
}

#[test]
fn unsupported_matroska_content_is_named() {
    assert_eq!(
        message(&changed(OPUS, b"A_OPUS", b"A_XPUS")),
        "cannot read this Matroska file: its sound is \"A_XPUS\" (convert it to WAV or FLAC)"
    );
    // Its type is video.
    assert!(message(&changed(OPUS, b"\x83\x81\x02", b"\x83\x81\x01")).contains("no sound in the"));
    assert!(
        message(&OPUS[..60]).contains("does not say what is in it"),
        "{}",
        message(&OPUS[..60])
    );
}

#[test]
fn absurd_lengths_take_no_memory() {
    let header = b"\x1a\x45\xdf\xa3\x80\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff";
    let with = |rest: &[u8]| message(&[header.as_slice(), rest].concat());
    // Descriptions of tracks and a block of 2^55 bytes, of unknown length, or longer than the file.
    assert!(with(b"\x16\x54\xae\x6b\x01\x7f\xff\xff\xff\xff\xff\xff").contains("absurdly large"));
    assert!(with(b"\xa3\x01\x7f\xff\xff\xff\xff\xff\xff").contains("absurdly large"));
    assert!(with(b"\xa3\xff").contains("absurdly large"));
    assert!(with(b"\xec\xff").contains("has no length"));
    assert!(with(b"\xec\x01\x7f\xff\xff\xff\xff\xff\xff").contains("does not say"));
    assert!(with(b"\x00").contains("a length in it is absurd"));
    assert!(with(b"").contains("does not say what is in it"));
}
