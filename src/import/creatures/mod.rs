//! Creatures of 5e-database and Open5e as entities. None of them takes a seat.
//!
//! Entry functions: [`is_creatures`], [`read`]. Records lie in an array, in a page of `results`, or one
//! a file; those of Open5e's fixtures have their content under `fields`.

mod record;

use std::collections::BTreeMap;

use serde_json::Value;

use self::record::Record;
use crate::{
    domain::EntityKind,
    import::draft::{Drafts, EntityDraft, LeftOut, Mistake, Passage},
};

/// Most records of a file: five times as many as Open5e has.
const RECORDS_MAX: usize = 20_000;
/// Most records that are looked at to know what a file is.
const LOOKED_AT: usize = 100;

/// True for a list of creatures, and for one alone.
pub fn is_creatures(document: &Value) -> bool {
    records(document).iter().take(LOOKED_AT).any(|it| Record::of(it).is_creature())
}

pub fn read(file: &str, document: &Value, drafts: &mut Drafts) {
    let records = records(document);
    if records.len() > RECORDS_MAX {
        drafts.mistakes.push(Mistake {
            file: file.to_owned(),
            place: String::new(),
            message: format!("more than {RECORDS_MAX} creatures"),
            way_out: "import a file with fewer".to_owned(),
        });
        return;
    }
    let (mut others, mut copies, mut abilities) = (0, 0, 0);
    let mut sources = BTreeMap::new();
    for (at, record) in records.iter().enumerate() {
        let record = Record::of(record);
        let Some(name) = record.name().filter(|_| record.is_creature()) else {
            others += 1;
            continue;
        };
        let mut source = record.source(file, &name);
        // Some files give different creatures one wrong address.
        if sources.get(&source).is_some_and(|it| *it != name) {
            source = record::source_of_name(file, &name);
        }
        if sources.insert(source.clone(), name).is_some() {
            copies += 1;
            continue;
        }
        abilities += record.abilities();
        let place = if document.is_array() { format!("{at}/") } else { String::new() };
        drafts.entities.push(creature(file, &place, source, &record));
    }
    for (number, plural, why) in [
        (others, "records", "they are no creatures"),
        (copies, "second copies of creatures", "they have the id of an earlier one"),
        (abilities, "abilities and actions of creatures", "only their description is imported"),
    ] {
        if number > 0 {
            let (file, what) = (file.to_owned(), format!("{plural} ({number})"));
            drafts.left_out.push(LeftOut { file, what, why: why.to_owned() });
        }
    }
}

fn records(document: &Value) -> &[Value] {
    match document {
        Value::Array(records) => records,
        Value::Object(page) => match page.get("results") {
            Some(Value::Array(records)) => records,
            _ => std::slice::from_ref(document),
        },
        _ => &[],
    }
}

fn creature(file: &str, place: &str, source: String, record: &Record) -> EntityDraft {
    let passage = |name: &str, text: Option<String>| {
        let from = format!("{place}{name}");
        text.filter(|text| !text.is_empty()).map(|text| Passage { from, text })
    };
    let languages = record.languages().map(|it| format!("Languages: {it}"));
    let text = [
        passage("type", record.summary()),
        passage("desc", record.description()),
        passage("languages", languages),
    ];
    EntityDraft {
        source,
        file: file.to_owned(),
        kind: EntityKind::Npc,
        name: record.name().unwrap_or_default(),
        aliases: Vec::new(),
        text: text.into_iter().flatten().collect(),
        secrets: Vec::new(),
        dm_only: false,
        is_standing: false,
        known_to: Vec::new(),
        properties: record.properties(),
        tags: vec!["creature".to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn drafts(document: &Value) -> Drafts {
        assert!(is_creatures(document), "{document}");
        let mut drafts = Drafts::default();
        read("monsters.json", document, &mut drafts);
        assert!(drafts.mistakes.is_empty() && drafts.npcs.is_empty(), "{drafts:?}");
        drafts
    }

    fn texts(entity: &EntityDraft) -> Vec<&str> {
        entity.text.iter().map(|it| it.text.as_str()).collect()
    }

    fn property<'a>(entity: &'a EntityDraft, name: &str) -> Option<&'a str> {
        let mut properties = entity.properties.iter();
        properties.find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    #[test]
    fn creatures_of_5e_database_are_entities() {
        let eel = json!({
            "index": "marsh-eel", "name": "Marsh Eel", "size": "Large", "type": "beast", "subtype": "fish",
            "alignment": "unaligned", "hit_points": 9, "hit_dice": "2d8", "challenge_rating": 0.25,
            "languages": "", "desc": "It waits.\nIt bites.", "url": "/api/2024/monsters/marsh-eel",
            "special_abilities": [{"name": "Slick", "desc": "x"}], "actions": [{}, {}],
        });
        let all = drafts(&json!([eel, {"index": "x", "name": "No creature"}, eel]));
        assert_eq!(all.entities.len(), 1);
        let entity = &all.entities[0];
        assert_eq!((entity.name.as_str(), entity.kind), ("Marsh Eel", EntityKind::Npc));
        assert_eq!(entity.source, "creature:api/2024/monsters/marsh-eel");
        assert_eq!(texts(entity), ["Large beast (fish), unaligned", "It waits.\nIt bites."]);
        assert_eq!(property(entity, "challenge rating"), Some("1/4"));
        let left: Vec<&str> = all.left_out.iter().map(|it| it.what.as_str()).collect();
        assert_eq!(
            left,
            [
                "records (1)",
                "second copies of creatures (1)",
                "abilities and actions of creatures (3)"
            ]
        );
    }

    #[test]
    fn creatures_of_open5e_are_entities() {
        let first = drafts(&json!({"count": 1, "next": null, "results": [{
            "slug": "owl", "name": "Owl", "size": "Tiny", "type": "Beast", "hit_points": 1, "cr": 0.0,
            "challenge_rating": "0", "languages": "Owlish", "document__slug": "srd", "desc": "",
        }]}));
        assert_eq!(first.entities[0].source, "creature:srd/owl");
        assert_eq!(texts(&first.entities[0]), ["Tiny beast", "Languages: Owlish"]);
        assert_eq!(property(&first.entities[0], "challenge rating"), Some("0"));
        let fixture = drafts(&json!([{
            "model": "api_v2.creature", "pk": "srd-2024_owl", "fields": {
                "name": "Owl", "size": "tiny", "type": "beast", "hit_points": 1,
                "challenge_rating_decimal": "10.000", "languages_desc": "Owlish"},
        }]));
        assert_eq!(fixture.entities[0].source, "creature:srd-2024_owl");
        assert_eq!(texts(&fixture.entities[0]), ["Tiny beast", "Languages: Owlish"]);
        assert_eq!(property(&fixture.entities[0], "challenge rating"), Some("10"));
        let second = drafts(&json!({
            "key": "srd_owl", "name": "Owl", "size": {"name": "Tiny"}, "type": {"name": "Beast"},
            "hit_points": 1, "challenge_rating_text": "1/8", "languages": {"as_string": "Owlish"},
        }));
        assert_eq!(second.entities[0].source, "creature:srd_owl");
        assert_eq!(texts(&second.entities[0]), ["Tiny beast", "Languages: Owlish"]);
    }

    #[test]
    fn creatures_with_one_address_all_come() {
        let owl = json!({"name": "Owl", "hit_points": 1, "challenge_rating": 0, "url": "/api/monsters/x"});
        let mut wisp = owl.clone();
        wisp["name"] = json!("Will-o'-Wisp");
        let all = drafts(&json!([owl, wisp, wisp, owl]));
        let names: Vec<&str> = all.entities.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["Owl", "Will-o'-Wisp"]);
        assert_ne!(all.entities[0].source, all.entities[1].source);
        assert_eq!(all.left_out[0].what, "second copies of creatures (2)");
    }

    #[test]
    fn other_lists_are_not_taken() {
        for document in [
            json!(null),
            json!([]),
            json!({"results": [7]}),
            json!([{"index": "fireball", "name": "Fireball", "desc": ["Burns."], "level": 3}]),
            json!({"name": "Vera", "type": "npc", "system": {}, "items": []}),
        ] {
            assert!(!is_creatures(&document), "{document}");
        }
        let many = Value::Array(vec![json!(0); RECORDS_MAX + 1]);
        let mut drafts = Drafts::default();
        read("m.json", &many, &mut drafts);
        assert_eq!((drafts.mistakes.len(), drafts.entities.len()), (1, 0));
    }
}
