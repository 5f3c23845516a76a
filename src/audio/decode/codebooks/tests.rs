use std::io::Cursor;

use symphonia::core::formats::{FormatOptions, FormatReader};
use symphonia::core::io::MediaSourceStream;
use symphonia::default::formats::OggReader;

use super::*;

const OGG: &[u8] = include_bytes!("../../../../tests/data/tone.ogg");

/// Identification header (of any content) and the beginning of a setup header.
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
    // Sane size, but cut off.
    assert_eq!(codebooks_fit(&headers(&[(SYNC, 4, 81, 1)])), None);
    assert_eq!(codebooks_fit(&[]), None);
}

#[test]
fn encoders_codebooks_fit() {
    let source = MediaSourceStream::new(Box::new(Cursor::new(OGG)), Default::default());
    let reader = OggReader::try_new(source, &FormatOptions::default()).unwrap();
    let header = reader.default_track().unwrap().codec_params.extra_data.clone().unwrap();
    let mut bits = BitReaderRtl::new(&header[VORBIS_SETUP_AT + 1..]);
    assert!(skip_codebook(&mut bits).unwrap() > 0);
    assert_eq!(codebooks_fit(&header), Some(true));
}

#[test]
fn lattice_sizes_match_specification() {
    assert_eq!(lattice_values(81, 4), Some(3));
    assert_eq!(lattice_values(80, 4), Some(2));
    assert_eq!(lattice_values(8, 1), Some(8));
    assert_eq!(lattice_values(1, 65_535), Some(1));
    assert_eq!(lattice_values(0, 2), None);
    assert_eq!(lattice_values(5, 0), None);
}
