//! Cards in the text chunks of PNG and APNG pictures.
//!
//! Entry functions: [`is_png`], [`has_card`], [`card`]. Image data is passed over, not unpacked, and
//! checksums are not compared: editors of cards write chunks without minding them. A picture that is cut off
//! still gives the chunks before the cut.

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use png::{DecodeOptions, Decoded, Info, StreamingDecoder};

use super::fault::Fault;

/// Most bytes of all text chunks together, and of one that is unpacked; real cards have less than 4 MiB.
const TEXT_MAX: usize = 16 << 20;
/// Names of the chunks, the better first: V3, then V1 and V2.
const CHUNKS: [&str; 2] = ["ccv3", "chara"];
/// Way out of a chunk that cannot be read.
const AGAIN: &str = "export the card again";
/// Tolerant of missing padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// A card's JSON from a chunk.
#[derive(Debug)]
pub struct Chunk {
    /// "ccv3", "chara".
    pub chunk: String,
    /// Not yet checked.
    pub json: Vec<u8>,
    /// A better chunk that could not be read, with the reason.
    pub left_out: Vec<(String, String)>,
}

pub fn is_png(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x89PNG\r\n\x1a\n")
}

/// True if a text chunk is named like a card's.
pub fn has_card(png: &[u8]) -> bool {
    let decoder = scanned(png);
    let Some(info) = decoder.info() else { return false };
    let mut names = info.uncompressed_latin1_text.iter().map(|it| it.keyword.as_str());
    names.any(is_name)
        || info.compressed_latin1_text.iter().any(|it| is_name(&it.keyword))
        || info.utf8_text.iter().any(|it| is_name(&it.keyword))
}

/// The card of a picture, the newest format it has.
pub fn card(png: &[u8]) -> Result<Chunk, Fault> {
    let decoder = scanned(png);
    let missing = || Fault::new("", "no character card in this picture", AGAIN);
    let info = decoder.info().ok_or_else(missing)?;
    let mut first = None;
    let mut left_out = Vec::new();
    for name in CHUNKS {
        let Some(text) = text(info, name) else { continue };
        match text.and_then(|text| decoded(name, &text)) {
            Ok(json) => return Ok(Chunk { chunk: name.to_owned(), json, left_out }),
            Err(fault) => {
                left_out.push((format!("chunk '{name}'"), fault.message.clone()));
                first = first.or(Some(fault));
            }
        }
    }
    Err(first.unwrap_or_else(missing))
}

/// True if `keyword` names a chunk with a card; writers differ in case.
fn is_name(keyword: &str) -> bool {
    CHUNKS.iter().any(|name| keyword.eq_ignore_ascii_case(name))
}

/// A decoder that has seen all text chunks, up to the first fault and within the bound.
fn scanned(png: &[u8]) -> StreamingDecoder {
    let mut options = DecodeOptions::default();
    options.set_ignore_checksums(true);
    options.set_ignore_iccp_chunk(true);
    let mut decoder = StreamingDecoder::new_with_options(options);
    let (mut rest, mut texts) = (png, 0_usize);
    while !rest.is_empty() {
        let Ok((used, event)) = decoder.update(rest, None) else { break };
        rest = rest.get(used..).unwrap_or_default();
        match event {
            Decoded::ChunkBegin(length, kind) if is_text(kind.0) => {
                texts = texts.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
                if texts > TEXT_MAX {
                    break;
                }
            }
            Decoded::ChunkComplete(kind) if kind.0 == *b"IEND" => break,
            _ => {}
        }
    }
    decoder
}

fn is_text(kind: [u8; 4]) -> bool {
    [*b"tEXt", *b"zTXt", *b"iTXt"].contains(&kind)
}

/// Bytes of the last chunk of this name, as editors append; unpacked.
fn text(info: &Info<'_>, name: &str) -> Option<Result<Vec<u8>, Fault>> {
    let too_dense = |_| {
        let message =
            format!("the chunk is damaged or unpacks to more than {} MiB", TEXT_MAX >> 20);
        Fault::new(name, message, AGAIN)
    };
    let named = |keyword: &str| keyword.eq_ignore_ascii_case(name);
    if let Some(chunk) = info.uncompressed_latin1_text.iter().rfind(|it| named(&it.keyword)) {
        return Some(Ok(latin(&chunk.text)));
    }
    if let Some(chunk) = info.utf8_text.iter().rfind(|it| named(&it.keyword)) {
        let mut chunk = chunk.clone();
        let text = chunk.decompress_text_with_limit(TEXT_MAX).and_then(|()| chunk.get_text());
        return Some(text.map(String::into_bytes).map_err(too_dense));
    }
    let chunk = info.compressed_latin1_text.iter().rfind(|it| named(&it.keyword))?;
    let mut chunk = chunk.clone();
    let text = chunk.decompress_text_with_limit(TEXT_MAX).and_then(|()| chunk.get_text());
    Some(text.map(|text| latin(&text)).map_err(too_dense))
}

/// The bytes that were read as Latin-1; some writers put UTF-8 there.
fn latin(text: &str) -> Vec<u8> {
    text.chars().filter_map(|c| u8::try_from(u32::from(c)).ok()).collect()
}

/// JSON as it is, or out of base64.
fn decoded(name: &str, text: &[u8]) -> Result<Vec<u8>, Fault> {
    if text.trim_ascii_start().starts_with(b"{") {
        return Ok(text.to_vec());
    }
    // Line ends and the letters for addresses occur.
    let letters = text.iter().filter(|byte| !byte.is_ascii_whitespace());
    let letters: Vec<u8> = letters
        .map(|byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            other => *other,
        })
        .collect();
    let fault = |_| Fault::new(name, "the chunk is not valid base64", AGAIN);
    BASE64.decode(letters).map_err(fault)
}
