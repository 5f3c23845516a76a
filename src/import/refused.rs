//! Kinds of files that are known and not imported, with the way out.
//!
//! Entry items: [`Refused`], [`by_bytes`], [`by_value`], [`is_leveldb`].

use serde_json::{Map, Value};

#[derive(Debug, PartialEq, Eq)]
pub struct Refused {
    /// "a PDF".
    pub what: &'static str,
    /// Several of them: "PDFs".
    pub many: &'static str,
    /// The alternative, or why it does not matter.
    pub way_out: &'static str,
}

const KNOWN: &str = "import a character card, an export of Foundry VTT or Roll20, Markdown notes, or a campaign file";
/// Bytes at the end of every table of a LevelDB.
const TABLE: &[u8] = b"\x57\xfb\x80\x8b\x24\x75\x47\xdb";

pub static EMPTY: Refused =
    Refused { what: "an empty file", many: "empty files", way_out: "export it again" };
pub static NESTED: Refused = Refused {
    what: "a ZIP inside another",
    many: "ZIPs inside others",
    way_out: "import it by itself",
};
pub static UNKNOWN_JSON: Refused = Refused {
    what: "JSON of an unknown kind",
    many: "JSON files of an unknown kind",
    way_out: KNOWN,
};
pub static UNKNOWN_TEXT: Refused =
    Refused { what: "text of an unknown kind", many: "texts of an unknown kind", way_out: KNOWN };
pub static UNKNOWN: Refused =
    Refused { what: "a file of an unknown kind", many: "files of an unknown kind", way_out: KNOWN };
pub static LARGE: Refused = Refused {
    what: "a file larger than 50 MB",
    many: "files larger than 50 MB",
    way_out: "split it, or leave pictures and sound out",
};
/// Files of other programs that are no content.
pub static HIDDEN: Refused = Refused {
    what: "a hidden file",
    many: "hidden files",
    way_out: "they belong to other programs",
};
/// A campaign file of ours inside a folder or a ZIP.
pub static OURS: Refused = Refused {
    what: "a campaign file",
    many: "campaign files of Glyphoxa",
    way_out: "import it by itself",
};
pub static USELESS: Refused =
    Refused { what: "nothing in it could be used", many: "", way_out: KNOWN };
pub static LEVELDB: Refused = Refused {
    what: "a packed compendium of Foundry VTT (LevelDB)",
    many: "files of packed compendia",
    way_out: "unpack it and import the folder: npx @foundryvtt/foundryvtt-cli package unpack \
              (or export the compendium's documents as JSON)",
};

static PDF: Refused =
    Refused { what: "a PDF", many: "PDFs", way_out: "copy its text into a Markdown file (.md)" };
static PICTURE: Refused = Refused {
    what: "a picture without a character card",
    many: "pictures",
    way_out: "download the character as a PNG card or as JSON",
};
static SOUND: Refused = Refused {
    what: "a recording",
    many: "recordings",
    way_out: "put music into the folder 'music'",
};
static PACKED: Refused = Refused {
    what: "a packed file that is no ZIP",
    many: "packed files",
    way_out: "unpack it, and import the folder",
};
static PAGE: Refused = Refused {
    what: "a web page",
    many: "web pages",
    way_out: "copy its text into a Markdown file (.md)",
};
static DATABASE: Refused =
    Refused { what: "a database", many: "databases", way_out: "export its content as JSON" };
static BEYOND: Refused = Refused {
    what: "a character of D&D Beyond",
    many: "characters of D&D Beyond",
    way_out: "import it into Foundry VTT and export the actor, or write a Markdown note",
};
static KANKA: Refused = Refused {
    what: "an export of Kanka",
    many: "exports of Kanka",
    way_out: "copy its texts into Markdown notes, one a page",
};
static ANVIL: Refused = Refused {
    what: "an export of World Anvil",
    many: "exports of World Anvil",
    way_out: "copy its articles into Markdown notes, one a page",
};
static RULES: Refused = Refused {
    what: "rules of 5e-database or Open5e",
    many: "rules of 5e-database or Open5e",
    way_out: "list the file under 'rules' in glyphoxa.yaml",
};

/// Beginnings of files.
static BEGINNINGS: [(&[u8], &Refused); 14] = [
    (b"%PDF", &PDF),
    (b"\x89PNG", &PICTURE),
    (b"\xff\xd8\xff", &PICTURE),
    (b"GIF8", &PICTURE),
    (b"RIFF", &PICTURE),
    (b"BM", &PICTURE),
    (b"OggS", &SOUND),
    (b"ID3", &SOUND),
    (b"fLaC", &SOUND),
    (b"\x1f\x8b", &PACKED),
    (b"7z\xbc\xaf\x27\x1c", &PACKED),
    (b"Rar!", &PACKED),
    (b"SQLite format 3\0", &DATABASE),
    (b"\0", &UNKNOWN),
];

/// The kind of file that begins like `bytes`, where it is one that is not imported.
pub fn by_bytes(bytes: &[u8]) -> Option<&'static Refused> {
    let is_text = |bytes: &[u8]| !bytes.iter().take(512).any(|byte| *byte < b'\t');
    let found = BEGINNINGS.iter().find(|(begin, _)| bytes.starts_with(begin));
    // "BMW" and "RIFF" begin texts, too.
    if let Some((_, refused)) = found
        && !(is_text(bytes) && std::str::from_utf8(bytes).is_ok())
    {
        return Some(match bytes.get(8..12) {
            Some(b"WAVE") => &SOUND,
            _ => *refused,
        });
    }
    let begin = bytes.trim_ascii_start();
    let begin = begin.get(..begin.len().min(14)).unwrap_or_default().to_ascii_lowercase();
    if begin.starts_with(b"<!doctype html") || begin.starts_with(b"<html") {
        return Some(&PAGE);
    }
    if bytes.starts_with(b"%PDF") {
        return Some(&PDF);
    }
    // Text of any encoding but UTF-16 has no such byte.
    let is_utf16 = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    (!is_utf16 && bytes.iter().take(512).any(|byte| *byte == 0)).then_some(&UNKNOWN)
}

/// True if `bytes` are a file of a LevelDB: its table, its list of files, or the name of that list.
pub fn is_leveldb(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(64)).unwrap_or_default();
    bytes.ends_with(TABLE)
        || (bytes.len() < 32 && bytes.starts_with(b"MANIFEST-"))
        || head.windows(26).any(|it| it == b"leveldb.BytewiseComparator")
}

/// The program whose JSON `document` is, where it is one that is not imported.
pub fn by_value(document: &Value) -> Option<&'static Refused> {
    let first = match document {
        Value::Array(items) => items.first()?,
        other => other,
    };
    let root = first.as_object()?;
    let inner = ["data", "character", "results", "entity"].into_iter().filter_map(|key| {
        let value = root.get(key)?;
        value.as_object().or_else(|| value.as_array()?.first()?.as_object())
    });
    std::iter::once(root).chain(inner).find_map(by_members)
}

/// The program whose objects have such members.
fn by_members(object: &Map<String, Value>) -> Option<&'static Refused> {
    let has = |keys: &[&str]| keys.iter().all(|key| object.contains_key(*key));
    let begins = |key, begin| {
        object.get(key).and_then(Value::as_str).is_some_and(|text| text.starts_with(begin))
    };
    if has(&["readonlyUrl"]) || has(&["decorations", "stats"]) {
        Some(&BEYOND)
    } else if has(&["entityClass"]) || has(&["templateType", "world"]) {
        Some(&ANVIL)
    } else if has(&["entity_id", "is_private"]) || has(&["campaign_id", "entry", "type_id"]) {
        Some(&KANKA)
    } else if (has(&["index", "name"]) && begins("url", "/api/"))
        || (has(&["slug", "name"]) && begins("document__slug", ""))
        || (has(&["key", "name"]) && begins("url", "https://api.open5e.com/"))
        || (has(&["model", "fields"]) && begins("model", "api"))
    {
        Some(&RULES)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn programs_are_known_by_their_members() {
        let what = |value: Value| by_value(&value).map(|it| it.what);
        let beyond = json!({"success": true, "data": {"readonlyUrl": "https://x", "name": "A"}});
        assert_eq!(what(beyond), Some(BEYOND.what));
        assert_eq!(
            what(json!({"data": [{"entity_id": 1, "is_private": false}]})),
            Some(KANKA.what)
        );
        assert_eq!(what(json!({"entityClass": "Article", "title": "x"})), Some(ANVIL.what));
        let rules =
            json!([{"index": "owlbear", "name": "Owlbear", "url": "/api/monsters/owlbear"}]);
        assert_eq!(what(rules), Some(RULES.what));
        assert_eq!(what(json!({"name": "Luna"})), None);
        assert_eq!(what(json!([[1]])), None);
    }

    #[test]
    fn packed_compendium_is_known_by_content() {
        assert!(is_leveldb(b"MANIFEST-000012\n"));
        assert!(is_leveldb(&[b"rows".as_slice(), TABLE].concat()));
        assert!(is_leveldb(b"\x56\xf9\xb8\xf8\x1c\0\x01\x01\x1aleveldb.BytewiseComparator\x02"));
        assert!(
            !is_leveldb(b"MANIFEST-ations of the dragon, a long note about it") && !is_leveldb(b"")
        );
    }

    #[test]
    fn words_like_beginnings_stay_text() {
        for text in ["BMW für alle", "RIFF, a song", "ID3 is a format", "Rar! said the cat"] {
            assert_eq!(by_bytes(text.as_bytes()), None, "{text}");
        }
    }
}
