//! Files that carry a card: JSON itself, a picture with text chunks, a ZIP alone or behind a picture.
//!
//! Entry functions: [`carrier`], [`open`].

use super::{fault::Fault, picture};
use crate::{
    archives::{Limits, zip_behind, zip_member},
    domain::revealed_name,
};

/// Where a ZIP holds the card.
const CARD_FILE: &str = "card.json";
/// Signature and length of an entry of a ZIP's directory, before the name.
const ENTRY: (&[u8], usize) = (b"PK\x01\x02", 46);
/// Bytes at the end that are searched for the directory: 10,000 names of 200 bytes need 2.5 MB.
const DIRECTORY_MAX: usize = 4 << 20;

/// Kinds of files that carry a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A JSON object; whether it is a card shows when it is read.
    Json,
    /// A PNG or APNG with a chunk of a card.
    Picture,
    /// A ZIP with `card.json` at its root, alone (CHARX) or behind a picture.
    Archive,
}

/// A card's JSON, out of its file.
pub struct Carried {
    /// Place inside the file: "ccv3"; empty: the whole of it.
    pub place: String,
    pub member: Option<&'static str>,
    /// Its bytes, not yet checked in any way.
    pub json: Vec<u8>,
    /// Other parts of the file, with the reason they are not used.
    pub left_out: Vec<(String, String)>,
}

/// How `bytes` may carry a card; `None`: they do not.
pub fn carrier(bytes: &[u8]) -> Option<Carrier> {
    if picture::is_png(bytes) && picture::has_card(bytes) {
        return Some(Carrier::Picture);
    }
    if is_archive(bytes) {
        return has_card_file(bytes).then_some(Carrier::Archive);
    }
    let start = bytes.iter().find(|byte| !is_before_json(**byte))?;
    (*start == b'{').then_some(Carrier::Json)
}

/// The card's JSON in `bytes`.
pub fn open(bytes: &[u8]) -> Result<Carried, Fault> {
    match carrier(bytes) {
        Some(Carrier::Picture) => {
            let mut carried = picture::card(bytes)?;
            carried.left_out.push(("the picture".to_owned(), PICTURES.to_owned()));
            let picture::Chunk { chunk, json, left_out } = carried;
            Ok(Carried { place: chunk, member: None, json, left_out })
        }
        Some(Carrier::Archive) => unpacked(bytes),
        Some(Carrier::Json) => {
            let json = bytes.to_vec();
            Ok(Carried { place: String::new(), member: None, json, left_out: Vec::new() })
        }
        None => Err(Fault::new("", "no character card in this file", "export the card again")),
    }
}

/// Reason why pictures and sound stay where they are.
pub const PICTURES: &str = "pictures and sound of cards are not imported";

fn unpacked(bytes: &[u8]) -> Result<Carried, Fault> {
    let (json, others) = zip_member(bytes, &Limits::IMPORT, CARD_FILE).map_err(|error| {
        let place = revealed_name(error.member().unwrap_or_default());
        Fault::new(&place, error.to_string(), error.way_out())
    })?;
    let Some(json) = json else {
        let message = "the ZIP has no 'card.json' at its root";
        return Err(Fault::new("", message, "export the card again"));
    };
    let mut left_out = Vec::new();
    if others > 0 {
        left_out.push((format!("{others} other files of the archive"), PICTURES.to_owned()));
    }
    Ok(Carried { place: String::new(), member: Some(CARD_FILE), json, left_out })
}

/// True for a ZIP, alone or behind a picture.
fn is_archive(bytes: &[u8]) -> bool {
    let is_picture = picture::is_png(bytes) || bytes.starts_with(&[0xff, 0xd8, 0xff]);
    bytes.starts_with(b"PK\x03\x04") || (is_picture && zip_behind(bytes))
}

/// True if the directory of a ZIP lists the card; nothing is unpacked for that.
fn has_card_file(bytes: &[u8]) -> bool {
    let end = bytes.get(bytes.len().saturating_sub(DIRECTORY_MAX)..).unwrap_or(bytes);
    let (signature, name_at) = ENTRY;
    let is_it = |entry: &[u8]| {
        let length = entry.get(28..30).map(|it| usize::from(it[0]) + (usize::from(it[1]) << 8));
        length == Some(CARD_FILE.len())
            && entry.get(name_at..name_at + CARD_FILE.len()) == Some(CARD_FILE.as_bytes())
    };
    (0..end.len()).filter_map(|at| end.get(at..)).any(|it| it.starts_with(signature) && is_it(it))
}

/// Blanks, marks of an encoding, and the zeros of UTF-16.
fn is_before_json(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, 0 | 0xef | 0xbb | 0xbf | 0xfe | 0xff)
}
