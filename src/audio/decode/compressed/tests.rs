use super::*;
use crate::audio::decode::decode;
/// The loudest sample in dBFS.
fn peak_dbfs(samples: &[i16]) -> f32 {
    let peak = samples.iter().map(|s| s.unsigned_abs()).max().unwrap_or(0);
    20.0 * (f32::from(peak) / 32_768.0).log10()
}
use proptest::prelude::*;

/// 440 Hz, amplitude 12,000, half a second, mono 22,050 Hz, 64 kbit/s, with ID3 and LAME tags.
const MP3: &[u8] = include_bytes!("../../../../tests/data/tone.mp3");
/// 440 Hz, amplitude 12,000, half a second, stereo 16,000 Hz.
const OGG: &[u8] = include_bytes!("../../../../tests/data/tone.ogg");

/// Periods of the tone, by its rising zero crossings.
fn n_periods(samples: &[i16]) -> usize {
    samples.windows(2).filter(|w| w[0] < 0 && w[1] >= 0).count()
}

fn assert_tone(clip: &Clip, hz: u32) {
    assert_eq!(clip.rate.hz(), hz);
    assert_eq!(clip.duration().as_millis(), 500);
    assert!(n_periods(&clip.samples).abs_diff(220) <= 1, "{} periods", n_periods(&clip.samples));
    assert!((peak_dbfs(&clip.samples) + 8.7).abs() < 0.5, "{} dBFS", peak_dbfs(&clip.samples));
}

#[test]
fn ogg_vorbis_is_decoded_to_its_length() {
    assert_tone(&decode(OGG, None).unwrap(), 16_000);
}

#[test]
fn mp3_is_decoded_without_its_padding() {
    let clip = decode(MP3, None).unwrap();
    assert_tone(&clip, 22_050);
    // The encoder's delay is cut off: the tone starts at the first sample.
    let wanted: Vec<f32> = (0..600)
        .map(|n| 12_000.0 * (std::f32::consts::TAU * 440.0 / 22_050.0 * n as f32).sin())
        .collect();
    let worst =
        clip.samples[100..600].iter().zip(&wanted[100..]).map(|(&a, b)| (f32::from(a) - b).abs());
    assert!(worst.fold(0.0, f32::max) < 1_200.0);
}

#[test]
fn an_mp3_behind_junk_needs_its_name() {
    let junk = [b"junk".as_slice(), &MP3[id3_len(MP3)..]].concat();
    assert!(matches!(decode(&junk, None), Err(DecodeError::NotAudio { .. })));
    assert_eq!(decode(&junk, Some("Mp3")).unwrap().rate.hz(), 22_050);
}

#[test]
fn files_cut_short_give_what_is_there() {
    let clip = decode(&MP3[..MP3.len() - 1_000], None).unwrap();
    let millis = clip.duration().as_millis();
    assert!((300..470).contains(&millis), "{millis} ms");
    // All sound of the tone is on one page.
    let twice = [OGG, OGG].concat();
    for cut in [700, OGG.len() - 1_000, OGG.len() - 10] {
        assert_tone(&decode(&twice[..twice.len() - cut], None).unwrap(), 16_000);
    }
    let error = decode(&OGG[..OGG.len() - 700], None).unwrap_err().to_string();
    assert_eq!(error, "the Ogg file is damaged: end of stream (export it again)");
}

#[test]
fn ogg_files_one_after_the_other_are_one_sound() {
    let clip = decode(&[OGG, OGG].concat(), None).unwrap();
    assert!(clip.duration().as_millis().abs_diff(1_000) <= 20, "{:?}", clip.duration());
}

#[test]
fn opus_is_named() {
    let mut page = b"OggS\0\x02".to_vec();
    page.resize(27, 0);
    page.extend_from_slice(b"\x13OpusHead");
    assert_eq!(
        decode(&page, None).unwrap_err().to_string(),
        "cannot read \"Ogg Opus\" (convert it to WAV, Ogg Vorbis or MP3)"
    );
}

/// Identification header (its content does not matter) and the beginning of a setup header.
fn headers(books: &[(u32, u32, u32, u32)]) -> Vec<u8> {
    let mut bits = Vec::new();
    for &(value, n_bits) in books
        .iter()
        .flat_map(|(sync, dimensions, entries, ordered)| {
            [(*sync, 24), (*dimensions, 16), (*entries, 24), (*ordered, 1)]
        })
        .collect::<Vec<_>>()
        .iter()
    {
        bits.extend((0..n_bits).map(|bit| value >> bit & 1 == 1));
    }
    let mut bytes = vec![0; VORBIS_SETUP_AT];
    bytes.push(u8::try_from(books.len() - 1).unwrap());
    bytes.extend(bits.chunks(8).map(|byte| {
        byte.iter().enumerate().fold(0, |sum, (bit, &set)| sum | u8::from(set) << bit)
    }));
    bytes
}

#[test]
fn codebooks_that_would_eat_the_memory_are_seen() {
    const SYNC: u32 = 0x0056_4342;
    assert_eq!(codebooks_fit(&headers(&[(SYNC, 65_535, 0xFF_FFFF, 1)])), Some(false));
    assert_eq!(codebooks_fit(&headers(&[(SYNC, 1, 0x3F_FFFF, 1)])), Some(false));
    // Of a sane size, but cut off.
    assert_eq!(codebooks_fit(&headers(&[(SYNC, 4, 81, 1)])), None);
    assert_eq!(codebooks_fit(&[]), None);
}

#[test]
fn an_encoders_codebooks_fit() {
    let reader = OggReader::try_new(source(OGG.to_vec()), &FormatOptions::default()).unwrap();
    let header = reader.default_track().unwrap().codec_params.extra_data.clone().unwrap();
    let mut bits = BitReaderRtl::new(&header[VORBIS_SETUP_AT + 1..]);
    assert!(skip_codebook(&mut bits).unwrap() > 0);
    assert_eq!(codebooks_fit(&header), Some(true));
}

#[test]
fn lattices_are_counted_like_the_specification_says() {
    assert_eq!(lattice_values(81, 4), Some(3));
    assert_eq!(lattice_values(80, 4), Some(2));
    assert_eq!(lattice_values(8, 1), Some(8));
    assert_eq!(lattice_values(1, 65_535), Some(1));
    assert_eq!(lattice_values(0, 2), None);
    assert_eq!(lattice_values(5, 0), None);
}

/// Makes the checksums of all Ogg pages right again, so that damage reaches the codec.
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
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn damaged_files_never_panic(
        is_ogg in any::<bool>(),
        damage in prop::collection::vec((0_usize..4_400, any::<u8>()), 1..8),
    ) {
        let mut file = if is_ogg { OGG.to_vec() } else { MP3.to_vec() };
        for (at, byte) in damage {
            let at = at % file.len();
            file[at] = byte;
        }
        if is_ogg {
            mend_checksums(&mut file);
        }
        let _ = decode(&file, None);
    }
}
