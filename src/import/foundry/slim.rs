//! An actor without what is not imported, which is most of it: thousands are in memory at once.

use serde_json::Value;

use super::{
    facts::is_told,
    left_out::{LeftOuts, UNUSED},
    search::{is_note, prose_in},
    shape::{Fields, text},
};

/// Picture of actors that have none.
const NO_PICTURE: &str = "icons/svg/mystery-man.svg";
/// Members of an actor that nothing reads.
const UNREAD: &[&str] = &["_stats", "effects"];
/// Figures of its rules that nothing reads.
const FIGURES: &[&str] =
    &["bonuses", "currency", "resources", "saves", "scale", "skills", "spells", "tools"];

/// Takes from the actor of `file` what is not imported, and counts it in `left`.
pub fn slim(file: &str, fields: &mut Fields, left: &mut LeftOuts) {
    let number = |name: &str| fields.get(name).and_then(Value::as_array).map_or(0, Vec::len);
    left.add(file, "items of actors", number("items"));
    left.add(file, "effects on actors", number("effects"));
    let picture = text(fields, "img").filter(|it| !it.is_empty() && *it != NO_PICTURE);
    left.add(file, "pictures", usize::from(picture.is_some()));
    for name in UNREAD {
        fields.remove(*name);
    }
    if fields.get_mut("flags").is_some_and(|flags| !keep_notes(flags)) {
        fields.remove("flags");
    }
    if let Some(Value::Array(items)) = fields.get_mut("items") {
        items.retain(|item| item.as_object().is_some_and(is_told));
    }
    for name in ["prototypeToken", "token"] {
        if let Some(Value::Object(token)) = fields.get_mut(name) {
            token.retain(|name, _| name == "name");
        }
    }
    for name in ["system", "data"] {
        if let Some(Value::Object(system)) = fields.get_mut(name) {
            let figures = FIGURES.iter().filter_map(|name| system.get(*name));
            left.add(file, UNUSED, figures.map(prose_in).sum());
            system.retain(|name, _| !FIGURES.contains(&name.as_str()));
        }
    }
}

/// Takes from the flags of a document all but a game master's notes; false if nothing is left.
fn keep_notes(flags: &mut Value) -> bool {
    let Value::Object(members) = flags else { return false };
    members.retain(|name, value| is_note(name) || keep_notes(value));
    !members.is_empty()
}
