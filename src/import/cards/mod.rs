//! Character cards and lorebooks as drafts: V1, V2 and V3 as JSON, in a PNG or APNG, in a CHARX, or in a ZIP
//! behind a picture; lorebooks of V3 and world info alone.
//!
//! Entry functions: [`is_card`], [`read`]. How the host of a card would build its prompts (order, depth,
//! chance, budget of lore) has no meaning here and is listed as left out.
//! **Never**: fetches what a card refers to, or puts its instructions to models into a prompt.

mod card;
mod carriers;
mod examples;
mod fault;
mod fields;
mod looks;
mod lore;
mod macros;
mod markdown;
mod names;
mod picture;
mod reading;
mod remainder;
mod shape;
mod speech;
#[cfg(test)]
mod tests;
mod texts;

use serde_json::Value;

use super::draft::Drafts;
use carriers::Carrier;
use fault::Fault;
use reading::Reading;
use shape::Shape;

/// Bytes of a JSON file that are searched for the name of a format if the file cannot be read.
const HEAD: usize = 64 * 1024;
/// Names of formats that only cards have.
const FORMATS: &[&[u8]] = &[b"\"chara_card_v", b"\"lorebook_v3\""];

/// True if `bytes` hold a card or a lorebook, even a damaged one.
pub fn is_card(bytes: &[u8]) -> bool {
    match carriers::carrier(bytes) {
        Some(Carrier::Json) => match shape::parsed(bytes, "") {
            Ok(document) => shape::shape(&document).is_some(),
            Err(_) => {
                let head = bytes.get(..HEAD).unwrap_or(bytes);
                FORMATS.iter().any(|format| head.windows(format.len()).any(|it| it == *format))
            }
        },
        Some(Carrier::Picture | Carrier::Archive) => true,
        None => false,
    }
}

/// Adds what the card or lorebook in `bytes` holds to `drafts`. `file`: its name for people.
pub fn read(file: &str, bytes: &[u8], drafts: &mut Drafts) {
    let mut reading = Reading::new(file, drafts);
    if let Err(fault) = read_into(&mut reading, bytes) {
        reading.mistake(fault);
    }
}

/// [`read`], up to the first fault that leaves nothing to go on with.
fn read_into(reading: &mut Reading<'_>, bytes: &[u8]) -> Result<(), Fault> {
    let carried = carriers::open(bytes)?;
    if let Some(member) = carried.member {
        reading.file = format!("{}!{member}", reading.file);
    }
    for (what, why) in carried.left_out {
        reading.left_out(what, why);
    }
    let document = shape::parsed(&carried.json, &carried.place)?;
    let Some(shape) = shape::shape(&document) else {
        let message = "neither a character card nor a lorebook";
        return Err(Fault::new(&carried.place, message, "export the character again"));
    };
    let Value::Object(document) = document else { return Ok(()) };
    match shape {
        Shape::Card { is_nested } => card::read(reading, &document, is_nested),
        Shape::Book { inside } => lore::read_alone(reading, &document, inside),
    }
    Ok(())
}
