use super::*;
use proptest::prelude::*;

const RATE: SampleRate = SampleRate::HZ_48000;

fn clip(samples: &[i16]) -> Clip {
    Clip { samples: samples.to_vec(), rate: RATE }
}

/// Reads `wav` in pieces of `len` bytes.
fn stream(wav: &[u8], len: usize) -> Result<(Vec<i16>, Option<SampleRate>), WavError> {
    let (mut stream, mut out) = (WavStream::new(), Vec::new());
    for piece in wav.chunks(len.max(1)) {
        stream.push(piece, &mut out)?;
    }
    stream.finish()?;
    Ok((out, stream.rate()))
}

fn with_field(mut wav: Vec<u8>, at: usize, value: &[u8]) -> Vec<u8> {
    wav[at..at + value.len()].copy_from_slice(value);
    wav
}

#[test]
fn header_is_what_players_expect() {
    let wav = write_wav(&clip(&[1, -2, i16::MIN]));
    let expected = b"RIFF\x2a\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x80\xbb\0\0\0\x77\x01\0\x02\0\x10\0data\x06\0\0\0\x01\0\xfe\xff\0\x80";
    assert_eq!(wav, expected);
    let endless = wav_header(RATE, None);
    assert_eq!((&endless[4..8], &endless[40..44]), (&[0xFF; 4][..], &[0xFF; 4][..]));
    assert_eq!(wav_header(RATE, Some(usize::MAX)), endless);
    assert_eq!(wav_header(RATE, Some(0x8000_0000)), endless);
}

#[test]
fn stream_is_read_whatever_its_lengths_say() {
    let sound = [5, -6, 700, -800];
    let wav = write_wav(&clip(&sound));
    let pipes: [(&str, [u32; 2]); 6] = [
        ("no length inside an endless file", [u32::MAX, 0]),
        ("header written before the sound", [36, 0]),
        ("no lengths at all", [0, 0]),
        ("ffmpeg", [u32::MAX, u32::MAX]),
        ("espeak-ng", [0x7FFF_F024, 0x7FFF_F000]),
        ("sox", [0x7FFF_F024, 0x7FFF_EFFC]),
    ];
    for (program, [riff, data]) in pipes {
        let wav = with_field(wav.clone(), 4, &riff.to_le_bytes());
        let wav = with_field(wav, 40, &data.to_le_bytes());
        assert_eq!(stream(&wav, 5).unwrap(), (sound.to_vec(), Some(RATE)), "{program}");
    }
}

#[test]
fn chunks_before_and_after_the_sound_are_skipped() {
    let wav = write_wav(&clip(&[1, 2, 3]));
    let mut full = wav[..36].to_vec();
    // An odd length is padded to an even one.
    full.extend_from_slice(b"LIST\x05\0\0\0abcde\0");
    full.extend_from_slice(&wav[36..]);
    full.extend_from_slice(b"LIST\x04\0\0\0INFO");
    for len in [1, 3, 1_000] {
        assert_eq!(stream(&full, len).unwrap().0, [1, 2, 3]);
    }
}

#[test]
fn empty_file_with_a_trailer_has_no_sound() {
    let mut wav = write_wav(&clip(&[]));
    wav.extend_from_slice(b"LIST\x04\0\0\0INFO");
    let wav = with_field(wav, 4, &48_u32.to_le_bytes());
    assert_eq!(stream(&wav, 7).unwrap().0, Vec::<i16>::new());
}

#[test]
fn sound_cut_short_is_kept() {
    let wav = write_wav(&clip(&[1, 2, 3, 4]));
    assert_eq!(stream(&wav[..49], 4).unwrap().0, [1, 2]);
    let is_short = |wav: &[u8]| {
        let mut stream = WavStream::new();
        stream.push(wav, &mut Vec::new()).unwrap();
        stream.is_short()
    };
    assert!(is_short(&wav[..49]) && !is_short(&wav));
    assert!(!is_short(&with_field(wav, 40, &[0xFF; 4])[..49]), "it promises no length");
}

#[test]
fn floats_are_read_as_integers() {
    let mut wav = wav_header(RATE, Some(6)).to_vec();
    wav.extend([0.5_f32, -0.25, 1.5, f32::NAN].into_iter().flat_map(f32::to_le_bytes));
    let wav = with_field(with_field(wav, 20, &[3]), 34, &[32]);
    let wav = with_field(wav, 40, &16_u32.to_le_bytes());
    for len in [1, 7, 1_000] {
        assert_eq!(stream(&wav, len).unwrap().0, [16_384, -8_192, i16::MAX, 0]);
    }
}

#[test]
fn each_fault_is_named() {
    let wav = write_wav(&clip(&[1, 2]));
    let error = |wav: Vec<u8>| stream(&wav, 9).unwrap_err().to_string();
    for (wav, message) in [
        (
            b"<html>".to_vec(),
            "not a WAV: it starts with \"<htm\" (give a file that starts with \"RIFF\")",
        ),
        (
            b"RIFF----AVI ".to_vec(),
            "not a WAV: it starts with \"RIFF\" (give a file that starts with \"RIFF\")",
        ),
        (
            wav[..30].to_vec(),
            "the WAV ends inside its header after \"30\" bytes (record or export it again)",
        ),
        (
            Vec::new(),
            "the WAV ends inside its header after \"0\" bytes (record or export it again)",
        ),
        (
            with_field(wav.clone(), 24, &[0; 4]),
            "the WAV says its sample rate is \"0\" Hz (export it again at 48000 Hz)",
        ),
        (
            with_field(wav.clone(), 24, &[0xFF; 4]),
            "the WAV says its sample rate is \"4294967295\" Hz (export it again at 48000 Hz)",
        ),
        (
            with_field(wav.clone(), 22, &[0; 2]),
            "the WAV says it has \"0\" channels (export it again with one)",
        ),
        (
            with_field(wav.clone(), 12, b"junk"),
            "the WAV does not say what its samples are (export it again as 16-bit PCM)",
        ),
        (
            with_field(wav.clone(), 16, &[15]),
            "the WAV does not say what its samples are (export it again as 16-bit PCM)",
        ),
        (
            with_field(wav.clone(), 22, &[2]),
            "the stream has \"2\" channels of \"16\" bits, encoding \"1\" (make the program write mono 16-bit PCM)",
        ),
        (
            with_field(wav.clone(), 34, &[8]),
            "the stream has \"1\" channels of \"8\" bits, encoding \"1\" (make the program write mono 16-bit PCM)",
        ),
    ] {
        assert_eq!(error(wav), message);
    }
}

#[test]
fn endless_header_is_given_up() {
    let mut endless = write_wav(&clip(&[]))[..12].to_vec();
    endless.extend_from_slice(b"LIST\xff\xff\xff\x7f");
    endless.resize(100_000, 0);
    assert_eq!(stream(&endless, 4_096), Err(WavError::HeaderTooLong));
}

proptest! {
    #[test]
    fn pieces_make_no_difference(
        sound in prop::collection::vec(any::<i16>(), 0..200),
        pieces in prop::collection::vec(1_usize..40, 1..40),
    ) {
        let wav = write_wav(&clip(&sound));
        let (mut stream, mut out, mut rest) = (WavStream::new(), Vec::new(), wav.as_slice());
        for len in pieces.into_iter().chain([usize::MAX]) {
            let (piece, later) = rest.split_at(len.min(rest.len()));
            stream.push(piece, &mut out).unwrap();
            rest = later;
        }
        stream.finish().unwrap();
        prop_assert_eq!(out, sound);
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), at in 0_usize..44) {
        let _ = stream(&bytes, 13);
        let mut wav = write_wav(&clip(&[1; 20]));
        for (to, from) in wav[at..].iter_mut().zip(bytes.iter().take(6)) {
            *to = *from;
        }
        let _ = stream(&wav, 13);
    }
}
