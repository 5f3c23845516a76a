use super::super::{
    error::DecodeError,
    id3_len,
    tests::{assert_tone, decode},
};

/// 440 Hz, amplitude 12,000, half a second, mono 22,050 Hz, 64 kbit/s, with ID3 and LAME tags.
const MP3: &[u8] = include_bytes!("../../../../tests/data/tone.mp3");
/// 440 Hz, amplitude 12,000, half a second, stereo 16,000 Hz.
const OGG: &[u8] = include_bytes!("../../../../tests/data/tone.ogg");

#[test]
fn ogg_vorbis_is_decoded_to_its_length() {
    assert_tone(&decode(OGG, None).unwrap(), 16_000, 0);
}

#[test]
fn mp3_is_decoded_without_its_padding() {
    let clip = decode(MP3, None).unwrap();
    assert_tone(&clip, 22_050, 0);
    // The encoder's delay is cut off: the tone starts at the first sample.
    let wanted: Vec<f32> = (0..600)
        .map(|n| 12_000.0 * (std::f32::consts::TAU * 440.0 / 22_050.0 * n as f32).sin())
        .collect();
    let worst =
        clip.samples[100..600].iter().zip(&wanted[100..]).map(|(&a, b)| (f32::from(a) - b).abs());
    assert!(worst.fold(0.0, f32::max) < 1_200.0);
}

/// 440 Hz, amplitude 12,000, half a second, stereo 16,000 Hz.
const FLAC: &[u8] = include_bytes!("../../../../tests/data/sound/tone.flac");
/// 440 Hz, amplitude 12,000, half a second, stereo 48,000 Hz: AAC with a header for each frame.
const AAC: &[u8] = include_bytes!("../../../../tests/data/sound/tone.aac");

#[test]
fn flac_comes_back_bit_by_bit() {
    let clip = decode(FLAC, None).unwrap();
    assert_tone(&clip, 16_000, 0);
    let radians = |n: i32| std::f64::consts::TAU * 440.0 / 16_000.0 * f64::from(n);
    let wanted = (0..8_000).map(|n| 12_000.0 * radians(n).sin());
    let differs = clip.samples.iter().zip(wanted).find(|(a, b)| (f64::from(**a) - b).abs() > 0.51);
    assert_eq!(differs, None);
}

#[test]
fn flac_is_read_whatever_its_titles_claim() {
    // A comment of 4 GB, a picture, an application's block, each shorter than it declares.
    let mut file = b"fLaC".to_vec();
    file.extend_from_slice(&FLAC[4..42]);
    file[4] = 0;
    file.extend_from_slice(b"\x04\0\0\x0c\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff");
    file.extend_from_slice(b"\x06\0\0\x04\xff\xff\xff\xff\x02\0\0\0");
    let last = file.len() - 4;
    file[last] |= 0x80;
    let mut rest = &FLAC[4..];
    while rest[0] & 0x80 == 0 {
        rest = &rest[4 + usize::from(rest[2]) * 256 + usize::from(rest[3])..];
    }
    file.extend_from_slice(&rest[4 + usize::from(rest[2]) * 256 + usize::from(rest[3])..]);
    assert_eq!(decode(&file, None).unwrap(), decode(FLAC, None).unwrap());
}

#[test]
fn flac_without_its_header_is_refused() {
    let message = |bytes: &[u8]| decode(bytes, None).unwrap_err().to_string();
    assert_eq!(
        message(&FLAC[..30]),
        "the FLAC file is damaged: it ends inside its header (export it again)"
    );
    let mut zero = FLAC.to_vec();
    let bits = zero[20] & 0x0F;
    zero[18..21].copy_from_slice(&[0, 0, bits]);
    assert!(message(&zero).starts_with("a sample rate of \"0\" Hz is absurd"));
    let mut other = FLAC.to_vec();
    other[4] = 1;
    assert!(message(&other).contains("it does not say what its sound is"), "{}", message(&other));
}

#[test]
fn aac_frames_are_decoded() {
    assert_tone(&decode(AAC, None).unwrap(), 48_000, 70);
    let titled = [b"ID3\x04\0\0\0\0\0\x05title".as_slice(), AAC].concat();
    assert_eq!(decode(&titled, Some("aac")).unwrap(), decode(AAC, None).unwrap());
}

#[test]
fn mp3_behind_junk_needs_its_name() {
    let junk = [b"junk".as_slice(), &MP3[usize::try_from(id3_len(MP3)).unwrap()..]].concat();
    assert!(matches!(decode(&junk, None), Err(DecodeError::NotAudio { .. })));
    assert_eq!(decode(&junk, Some("Mp3")).unwrap().rate.hz(), 22_050);
}

#[test]
fn files_cut_short_give_what_is_there() {
    let clip = decode(&MP3[..MP3.len() - 1_000], None).unwrap();
    let millis = clip.duration().as_millis();
    assert!((300..470).contains(&millis), "{millis} ms");
    // The tone's whole sound is on one page.
    let twice = [OGG, OGG].concat();
    for cut in [700, OGG.len() - 1_000, OGG.len() - 10] {
        assert_tone(&decode(&twice[..twice.len() - cut], None).unwrap(), 16_000, 0);
    }
    let error = decode(&OGG[..OGG.len() - 700], None).unwrap_err().to_string();
    assert_eq!(error, "the Ogg file is damaged: end of stream (export it again)");
}

#[test]
fn ogg_files_one_after_the_other_are_one_sound() {
    let clip = decode(&[OGG, OGG].concat(), None).unwrap();
    assert!(clip.duration().as_millis().abs_diff(1_000) <= 20, "{:?}", clip.duration());
}
