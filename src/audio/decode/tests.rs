use std::{io::Cursor, time::Duration};

use super::*;
use crate::{
    audio::{Clip, SampleRate, wav::write_wav},
    extent,
};
use proptest::prelude::*;

/// A file's sound at its own rate.
pub fn decode(bytes: &[u8], hint: Option<&str>) -> Result<Clip, DecodeError> {
    decode_to(bytes, hint, None)
}

fn decode_to(
    bytes: &[u8],
    hint: Option<&str>,
    rate: Option<SampleRate>,
) -> Result<Clip, DecodeError> {
    let mut samples = Vec::new();
    let rate = super::decode(Cursor::new(bytes.to_vec()), hint, rate, &mut |piece| {
        samples.extend_from_slice(piece);
        Ok(())
    })?;
    Ok(Clip { samples, rate })
}

/// In dBFS.
fn loudness(samples: &[i16]) -> f64 {
    let squares: f64 = samples.iter().map(|&s| (f64::from(s) / 32_768.0).powi(2)).sum();
    10.0 * (squares / samples.len() as f64).log10()
}

/// Half a second of 440 Hz at amplitude 12,000, and at most `more` ms.
#[track_caller]
pub fn assert_tone(clip: &Clip, hz: u32, more: u128) {
    assert_eq!(clip.rate.hz(), hz);
    let millis = clip.duration().as_millis();
    assert!((500..=500 + more).contains(&millis), "{millis} ms");
    // Codecs blur both ends.
    let at = |millis: u64| clip.rate.samples_in(Duration::from_millis(millis));
    let middle = &clip.samples[at(100)..at(400)];
    let n_periods = middle.windows(2).filter(|w| w[0] < 0 && w[1] >= 0).count();
    assert!(n_periods.abs_diff(132) <= 1, "{n_periods} periods");
    assert!((loudness(middle) + 11.74).abs() < 0.5, "{} dBFS", loudness(middle));
}

/// A WAV of any format; `sound` is the data chunk's content.
fn wav(tag: u16, channels: u16, hz: u32, bits: u16, sound: &[u8]) -> Vec<u8> {
    let block = channels.wrapping_mul(bits / 8);
    let mut bytes = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0".to_vec();
    bytes.extend_from_slice(&tag.to_le_bytes());
    bytes.extend_from_slice(&channels.to_le_bytes());
    bytes.extend_from_slice(&hz.to_le_bytes());
    bytes.extend_from_slice(&hz.wrapping_mul(u32::from(block)).to_le_bytes());
    bytes.extend_from_slice(&block.to_le_bytes());
    bytes.extend_from_slice(&bits.to_le_bytes());
    bytes.extend_from_slice(b"data");
    bytes.extend_from_slice(&u32::try_from(sound.len()).unwrap().to_le_bytes());
    bytes.extend_from_slice(sound);
    let riff_len = u32::try_from(bytes.len() - 8).unwrap();
    bytes[4..8].copy_from_slice(&riff_len.to_le_bytes());
    bytes
}

fn samples(bytes: &[u8]) -> Vec<i16> {
    decode(bytes, None).unwrap().samples
}

fn message(bytes: &[u8]) -> String {
    decode(bytes, None).unwrap_err().to_string()
}

#[test]
fn sixteen_bits_come_back_bit_by_bit() {
    let clip =
        Clip { samples: (i16::MIN..=i16::MAX).collect(), rate: SampleRate::new(22_050).unwrap() };
    assert_eq!(decode(&write_wav(&clip), Some("wav")).unwrap(), clip);
}

#[test]
fn every_kind_of_sample_is_read() {
    let half: [(u16, u16, Vec<u8>); 8] = [
        (1, 8, vec![0xC0]),
        (1, 16, vec![0, 0x40]),
        (1, 24, vec![0, 0, 0x40]),
        (1, 32, vec![0, 0, 0, 0x40]),
        (3, 32, 0.5_f32.to_le_bytes().to_vec()),
        (3, 64, 0.5_f64.to_le_bytes().to_vec()),
        (6, 8, vec![0xA5]),
        (7, 8, vec![0x8F]),
    ];
    for (tag, bits, sample) in half {
        let sound = samples(&wav(tag, 1, 8_000, bits, &sample.repeat(5_000)));
        assert_eq!(sound.len(), 5_000);
        // The telephone's logarithmic codes have no exact half.
        assert!(sound.iter().all(|s| s.abs_diff(16_384) <= 512), "{tag} {bits}: {}", sound[0]);
        assert!(tag > 3 || sound.iter().all(|&s| s == 16_384), "{tag} {bits}: {}", sound[0]);
    }
    let mut wild = 7.5_f32.to_le_bytes().to_vec();
    wild.extend_from_slice(&f32::NAN.to_le_bytes());
    wild.extend_from_slice(&f32::NEG_INFINITY.to_le_bytes());
    assert_eq!(samples(&wav(3, 1, 8_000, 32, &wild)), [i16::MAX, 0, i16::MIN]);
}

#[test]
fn extensible_wav_is_read_by_its_extension() {
    let plain = wav(3, 1, 48_000, 32, &0.25_f32.to_le_bytes());
    let mut bytes = plain[..16].to_vec();
    bytes.extend_from_slice(&40_u32.to_le_bytes());
    bytes.extend_from_slice(&[0xFE, 0xFF]);
    bytes.extend_from_slice(&plain[22..36]);
    bytes.extend_from_slice(&[22, 0, 32, 0, 4, 0, 0, 0, 3, 0]);
    bytes.extend_from_slice(b"\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71");
    bytes.extend_from_slice(&plain[36..]);
    assert_eq!(samples(&bytes), [8_192]);
}

#[test]
fn channels_are_mixed_to_their_mean() {
    let stereo: Vec<u8> = [1_000_i16, 3_000, i16::MAX, i16::MAX, 5, -5]
        .iter()
        .flat_map(|s| s.to_le_bytes())
        .collect();
    assert_eq!(samples(&wav(1, 2, 44_100, 16, &stereo)), [2_000, i16::MAX, 0]);
    // More channels than any codec knows, and more than a packet's worth of them.
    let many: Vec<u8> = (0..3_000_i16 * 3).flat_map(|n| (n / 3_000).to_le_bytes()).collect();
    assert_eq!(samples(&wav(1, 3_000, 44_100, 16, &many)), [0, 1, 2]);
}

#[test]
fn sound_cut_short_or_followed_by_chunks_is_read() {
    let mut cut = wav(1, 2, 48_000, 16, &[1, 0, 1, 0, 2, 0, 2, 0, 3, 0, 3, 0]);
    cut.truncate(44 + 11);
    assert_eq!(samples(&cut), [1, 2]);
    for len in [0, u32::MAX, 0x7FFF_F000] {
        cut[4..8].copy_from_slice(&[0; 4]);
        cut[40..44].copy_from_slice(&len.to_le_bytes());
        assert_eq!(samples(&cut), [1, 2], "data length {len}");
    }
    let mut trailed = wav(1, 1, 48_000, 16, &[1, 0, 2, 0]);
    trailed.extend_from_slice(b"LIST\x04\0\0\0INFO");
    assert_eq!(samples(&trailed), [1, 2]);
}

#[test]
fn unsupported_formats_are_named_in_error() {
    for (bytes, wanted) in [
        (vec![], "the sound file is empty (record or export it again)"),
        (
            b"hello".to_vec(),
            "not a sound file: it starts with \"hell\" (give a WAV, FLAC, MP3, M4A, AAC, Ogg or WebM \
             file)",
        ),
        (
            b"FORM....AIFF".to_vec(),
            "cannot read \"AIFF\" (convert it to WAV, FLAC, MP3, M4A, Ogg or WebM)",
        ),
    ] {
        assert_eq!(message(&bytes), wanted);
    }
    assert!(message(b"OggS and nothing").starts_with("the Ogg file is damaged: "));
    assert!(message(b"ID3").starts_with("the MP3 file is damaged: "));
}

#[test]
fn each_fault_of_a_wav_has_its_message() {
    let good = wav(1, 1, 48_000, 16, &[1, 0]);
    for (bytes, wanted) in [
        (
            good[..40].to_vec(),
            "the WAV ends inside its header after \"40\" bytes (record or export it again)",
        ),
        (
            good[..44].to_vec(),
            "the sound file has a header but no samples (record or export it again)",
        ),
        (
            wav(1, 1, 48_000, 16, &[1]),
            "the sound file has a header but no samples (record or export it again)",
        ),
        (
            wav(1, 1, 0, 16, &[1, 0]),
            "the WAV says its sample rate is \"0\" Hz (export it again at 48000 Hz)",
        ),
        (
            wav(1, 1, 800_000, 16, &[1, 0]),
            "the WAV says its sample rate is \"800000\" Hz (export it again at 48000 Hz)",
        ),
        (
            wav(1, 1, 12, 16, &[1, 0]),
            "a sample rate of \"12\" Hz is absurd (export it again at 8000 to 48000 Hz)",
        ),
        (
            wav(1, 0, 48_000, 16, &[1, 0]),
            "the WAV says it has \"0\" channels (export it again with one)",
        ),
        (
            wav(2, 1, 48_000, 4, &[1, 0]),
            "cannot read WAV samples of \"4\" bits, encoding \"2\" (export it again as 16-bit PCM)",
        ),
        (
            wav(1, 1, 48_000, 0, &[1, 0]),
            "cannot read WAV samples of \"0\" bits, encoding \"1\" (export it again as 16-bit PCM)",
        ),
    ] {
        assert_eq!(message(&bytes), wanted);
    }
}

#[test]
fn length_is_measured_in_seconds_not_samples() {
    // A bug once held that many samples of all channels for over an hour.
    let mut heard = 0;
    let mut count = |_: SampleRate, piece: &[i16]| {
        heard += piece.len();
        Ok(())
    };
    let mut output = Output::new(Some(SampleRate::HZ_16000), Some(MAX_SOUND), &mut count);
    let second = vec![0.0; 1_500 * 8_000];
    for _ in 0..20 {
        output.take("WAV", 8_000, 1_500, &second).unwrap();
    }
    assert_eq!(output.finish().unwrap(), SampleRate::HZ_16000);
    assert_eq!(heard, 20 * 16_000);
    let mut drop = |_: SampleRate, _: &[i16]| Ok(());
    let mut output = Output::new(None, Some(MAX_SOUND), &mut drop);
    let hour = vec![0; 4_000 * 3_600];
    for _ in 0..2 {
        output.take_mono("WAV", 4_000, &hour).unwrap();
    }
    let message = output.take_mono("WAV", 4_000, &[0]).unwrap_err().to_string();
    assert_eq!(message, "the sound is longer than \"2\" hours (cut it into pieces)");
    let mut output = Output::new(None, None, &mut drop);
    for _ in 0..3 {
        output.take_mono("WAV", 4_000, &hour).expect("what is played may be longer");
    }
}

#[test]
fn recording_is_decoded_in_small_pieces() {
    for seconds in [1, 16] {
        let clip = Clip { samples: vec![7; 48_000 * seconds], rate: SampleRate::HZ_48000 };
        let (mut heard, mut largest) = (0, 0);
        let file = Cursor::new(write_wav(&clip));
        let rate = super::decode(file, None, Some(SampleRate::HZ_16000), &mut |piece| {
            heard += piece.len();
            largest = largest.max(piece.len());
            Ok(())
        });
        assert_eq!((rate.unwrap().hz(), heard), (16_000, 16_000 * seconds));
        assert!(largest <= 4_096, "{largest} samples at once");
    }
}

#[test]
fn taker_that_has_heard_enough_ends_it() {
    let clip = Clip { samples: vec![7; 48_000], rate: SampleRate::HZ_48000 };
    let mut calls = 0;
    let ended = super::decode(Cursor::new(write_wav(&clip)), None, None, &mut |_| {
        calls += 1;
        Err(std::io::ErrorKind::BrokenPipe.into())
    });
    assert!(matches!(ended, Err(DecodeError::Read(_))) && calls == 1, "{calls}: {ended:?}");
}

#[test]
fn sound_is_brought_to_the_rate_that_is_wanted() {
    for (file, more) in [
        (include_bytes!("../../../tests/data/sound/tone.opus").as_slice(), 0),
        (include_bytes!("../../../tests/data/sound/tone.m4a"), 70),
        (include_bytes!("../../../tests/data/tone.mp3"), 0),
    ] {
        let clip = decode_to(file, None, Some(SampleRate::HZ_16000)).unwrap();
        assert_tone(&clip, 16_000, more);
    }
}

/// One of each format.
const FILES: [&[u8]; 11] = [
    include_bytes!("../../../tests/data/tone.mp3"),
    include_bytes!("../../../tests/data/tone.ogg"),
    include_bytes!("../../../tests/data/sound/tone.flac"),
    include_bytes!("../../../tests/data/sound/tone.aac"),
    include_bytes!("../../../tests/data/sound/tone.m4a"),
    include_bytes!("../../../tests/data/sound/tone_alac.m4a"),
    include_bytes!("../../../tests/data/sound/tone_opus.mp4"),
    include_bytes!("../../../tests/data/sound/tone_flac.mp4"),
    include_bytes!("../../../tests/data/sound/tone.opus"),
    include_bytes!("../../../tests/data/sound/tone.webm"),
    include_bytes!("../../../tests/data/sound/tone_vorbis.webm"),
];

#[test]
fn files_cut_anywhere_give_sound_or_an_error() {
    for (kind, file) in FILES.iter().enumerate() {
        let whole = decode(file, None).unwrap().samples.len();
        for cut in (0..file.len()).step_by(file.len() / 20) {
            match decode(&file[..cut], None) {
                Ok(clip) => assert!(clip.samples.len() <= whole + 1_500, "{kind}: {cut}"),
                Err(e) => assert!(e.to_string().ends_with(')'), "{kind}: {cut}: {e}"),
            }
        }
    }
}

/// Beginnings that select each of the readers.
const MAGICS: [&[u8]; 9] = [
    b"",
    b"RIFF\0\0\0\0WAVE",
    b"OggS\0\x02",
    b"ID3\x04\0\0",
    b"\xff\xfb\x90\x04",
    b"\xff\xf1\x50\x80",
    b"fLaC\x80\0\0\x22",
    b"\0\0\0\x08ftyp",
    b"\x1a\x45\xdf\xa3\x80\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff",
];

/// Corrects the checksums of all Ogg pages, so that damage reaches the codec.
fn mend_checksums(file: &mut [u8]) {
    let mut at = 0;
    while let Some(n_segments) = file.get(at + 26).map(|&n| usize::from(n)) {
        let Some(lens) = file.get(at + 27..at + 27 + n_segments) else { return };
        let len: usize = 27 + n_segments + lens.iter().map(|&l| usize::from(l)).sum::<usize>();
        let Some(page) = file.get_mut(at..at + len) else { return };
        page[22..26].fill(0);
        let crc = page.iter().fold(0_u32, |crc, &byte| {
            (0..8).fold(crc ^ u32::from(byte) << 24, |crc, _| {
                if crc >> 31 == 1 { crc << 1 ^ 0x04C1_1DB7 } else { crc << 1 }
            })
        });
        page[22..26].copy_from_slice(&crc.to_le_bytes());
        at += len;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250 * extent::times()))]
    #[test]
    fn damaged_files_never_panic(
        file in prop::sample::select(FILES.as_slice()),
        // Tables and headers are at both ends.
        damage in prop::collection::vec((0_usize..12_000, any::<bool>(), any::<u8>()), 1..8),
        near in any::<bool>(),
    ) {
        let mut file = file.to_vec();
        for (at, is_late, byte) in damage {
            let at = if near { at % 700 } else { at } % file.len();
            let at = if is_late { file.len() - 1 - at } else { at };
            file[at] = byte;
        }
        mend_checksums(&mut file);
        let _ = decode(&file, None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000 * extent::times()))]
    #[test]
    fn no_bytes_panic(
        magic in prop::sample::select(MAGICS.as_slice()),
        bytes in prop::collection::vec(any::<u8>(), 0..600),
        hint in prop::option::of(prop::sample::select(vec!["mp3", ".MP3", "wav", "ogg"])),
    ) {
        let _ = decode(&[magic, &bytes].concat(), hint);
    }

    #[test]
    fn no_mutated_wav_header_panics(
        at in 0_usize..44,
        with in prop::collection::vec(prop_oneof![any::<u8>(), Just(0), Just(0xFF)], 1..5),
        cut in 0_usize..100,
    ) {
        let mut bytes = wav(1, 2, 44_100, 16, &[7; 52]);
        for (to, from) in bytes[at..].iter_mut().zip(with) {
            *to = from;
        }
        bytes.truncate(cut.max(20));
        if let Ok(clip) = decode(&bytes, None) {
            prop_assert!(!clip.samples.is_empty() && clip.samples.len() <= 52);
        }
    }
}

#[test]
fn pieces_as_they_are_come_with_their_rate() {
    let clip = Clip { samples: (0..441).collect(), rate: SampleRate::new(44_100).unwrap() };
    let mut heard = Vec::new();
    decode_as_is(Cursor::new(write_wav(&clip)), None, &mut |rate, piece| {
        assert_eq!(rate, clip.rate);
        heard.extend_from_slice(piece);
        Ok(())
    })
    .unwrap();
    assert_eq!(heard, clip.samples);
}
