//! Rules of 5e-database (arrays of `index`, `name`, `desc`) and Open5e (`results` of `slug` or
//! `key`, or fixtures of `fields`).

use serde_json::Value;

use super::{rules::RULES_MAX, shorten::shorten};
use crate::{
    domain::{Rule, json_values},
    yaml::{Position, Problems},
};

/// Most values of a file, each of 72 bytes or more in memory. 10 MiB of records have fewer.
const VALUES_MAX: usize = 500_000;
/// Fix for a file that is too large.
const SPLIT: &str = "name a file with fewer records";
/// Longest id and name, in characters.
const NAME_MAX: usize = 80;
/// Names of record types in addresses and models -> the prefix of our ids.
const KINDS: &[(&str, &str)] = &[
    ("spell", "spell"),
    ("condition", "condition"),
    ("skill", "skill"),
    ("ability-score", "ability"),
    ("abilit", "ability"),
    ("damage-type", "damage"),
    ("damagetype", "damage"),
    ("magic-school", "school"),
    ("spellschool", "school"),
    ("magic-item", "item"),
    ("magicitem", "item"),
    ("item", "item"),
    ("equipment", "equipment"),
    ("weapon-propert", "weapon"),
    ("weapon", "weapon"),
    ("armor", "armor"),
    ("feature", "feature"),
    ("feat", "feat"),
    ("trait", "trait"),
    ("poison", "poison"),
    ("plane", "plane"),
    ("section", "rule"),
    ("rule", "rule"),
];

/// The rules in `text`, a JSON file called `stem` without its extension; the stem gives the kind of
/// records that name none. Records without a name or a text are skipped and counted.
pub fn rules_json(stem: &str, text: &str, problems: &mut Problems) -> (Vec<Rule>, usize) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if json_values(text.as_bytes()) > VALUES_MAX {
        problems.add(Position::START, format!("more than {VALUES_MAX} values"), SPLIT);
        return (Vec::new(), 0);
    }
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => {
            let at = Position { line: error.line().max(1), column: error.column().max(1) };
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default().to_lowercase();
            problems.add(at, format!("not valid JSON: {message}"), "export the file again");
            return (Vec::new(), 0);
        }
    };
    let records = match &value {
        Value::Array(records) => records.as_slice(),
        Value::Object(page) => match page.get("results") {
            Some(Value::Array(records)) => records.as_slice(),
            _ => std::slice::from_ref(&value),
        },
        _ => &[],
    };
    if records.len() > RULES_MAX {
        problems.add(Position::START, format!("more than {RULES_MAX} records"), SPLIT);
        return (Vec::new(), 0);
    }
    let rules: Vec<Rule> = records.iter().filter_map(|record| rule(stem, record)).collect();
    if rules.is_empty() {
        let message = "no rules found: no record has a name and a text";
        let way_out = "name a file of 5e-database or Open5e, such as its spells or conditions";
        problems.add(Position::START, message, way_out);
    }
    let skipped = records.len() - rules.len();
    (rules, skipped)
}

/// `None` without a name or a text.
fn rule(stem: &str, record: &Value) -> Option<Rule> {
    let record = Record::of(record);
    let name = record.text("name")?;
    let name: String = name.trim().chars().take(NAME_MAX).collect();
    let kind = record.kind(stem);
    let slug = slug(&name);
    let described = record.described()?;
    let head = if kind == "spell" { record.spell_head() } else { String::new() };
    let body = shorten(&described, head.split_whitespace().count());
    if slug.is_empty() || body.is_empty() {
        return None;
    }
    let text = if head.is_empty() { body } else { format!("{head} {body}") };
    Some(Rule {
        id: format!("{kind}-{slug}"),
        name,
        edition: record.edition().to_owned(),
        category: kind.to_owned(),
        aliases: Vec::new(),
        text,
    })
}

/// A record, unwrapped.
struct Record<'a> {
    fields: &'a Value,
    /// The mapping around them in a fixture; else `fields` itself.
    outer: &'a Value,
}

impl<'a> Record<'a> {
    fn of(outer: &'a Value) -> Self {
        Self { fields: outer.get("fields").unwrap_or(outer), outer }
    }

    /// A text that is not blank.
    fn text(&self, key: &str) -> Option<&'a str> {
        self.fields.get(key)?.as_str().filter(|text| !text.trim().is_empty())
    }

    /// Kind of record, from its address, its model or the file's name.
    fn kind(&self, stem: &str) -> &'static str {
        if ["casting_time", "level_int", "spell_level"]
            .iter()
            .any(|it| self.fields.get(it).is_some())
        {
            return "spell";
        }
        let model = self.outer.get("model").and_then(Value::as_str);
        let url = self.text("url").and_then(|url| url.trim_end_matches('/').rsplit('/').nth(1));
        [url, model, Some(stem)].into_iter().flatten().find_map(kind_in).unwrap_or("rule")
    }

    /// The description: text, lines, or entries of text.
    fn described(&self) -> Option<String> {
        ["desc", "description", "descriptions", "short"]
            .iter()
            .filter_map(|key| self.fields.get(key))
            .map(joined)
            .find(|text| !text.trim().is_empty())
    }

    /// "Level 3 evocation, 1 action, 150 feet, instantaneous."
    fn spell_head(&self) -> String {
        let named = |key: &str| {
            let value = self.fields.get(key)?;
            value.as_str().or_else(|| value.get("name")?.as_str()).map(str::to_lowercase)
        };
        let level = ["level_int", "spell_level", "level"]
            .iter()
            .find_map(|key| self.fields.get(key)?.as_u64())
            .map(|level| if level == 0 { "cantrip".to_owned() } else { format!("level {level}") });
        let school = named("school").map_or_else(String::new, |school| format!(" {school}"));
        let mut parts = vec![level.map_or_else(|| "spell".to_owned(), |level| level + &school)];
        parts.extend(named("casting_time"));
        parts.extend(named("range_text").or_else(|| named("range")));
        let lasting = named("duration");
        match (self.yes("concentration"), lasting) {
            (true, Some(lasting)) if !lasting.contains("concentration") => {
                parts.push(format!("concentration, {lasting}"));
            }
            (_, lasting) => parts.extend(lasting),
        }
        if self.yes("ritual") {
            parts.push("ritual".to_owned());
        }
        let head = parts.join(", ");
        let mut letters = head.chars();
        let first = letters.next().map(|c| c.to_uppercase().collect::<String>());
        format!("{}{}.", first.unwrap_or_default(), letters.as_str())
    }

    fn yes(&self, key: &str) -> bool {
        match self.fields.get(key) {
            Some(Value::Bool(flag)) => *flag,
            Some(Value::String(word)) => word.eq_ignore_ascii_case("yes"),
            _ => false,
        }
    }

    /// From the address, key or document; else both editions.
    fn edition(&self) -> &'static str {
        let document = self.fields.get("document");
        let said = [
            self.fields.get("url"),
            self.fields.get("key"),
            self.outer.get("pk"),
            self.fields.get("document__slug"),
            document,
            document.and_then(|document| document.get("key")),
        ];
        let mut said = said.into_iter().flatten().filter_map(Value::as_str);
        said.find_map(|text| {
            [("2014", "5e-2014"), ("2024", "5e-2024"), ("wotc-srd", "5e-2014")]
                .into_iter()
                .find(|(mark, _)| text.contains(mark))
                .map(|(_, edition)| edition)
        })
        .unwrap_or("5e")
    }
}

/// The kind meant by a word of an address, a model or a file's name.
fn kind_in(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase().replace('_', "-");
    KINDS.iter().find(|(mark, _)| word.contains(mark)).map(|(_, kind)| *kind)
}

/// Text, or a list of texts or of entries with a `desc`.
fn joined(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(joined).collect::<Vec<_>>().join("\n"),
        Value::Object(entry) => entry.get("desc").map(joined).unwrap_or_default(),
        _ => String::new(),
    }
}

/// Lower case with hyphens; apostrophes vanish.
fn slug(name: &str) -> String {
    let mut slug = String::with_capacity(name.len());
    for c in name.chars().filter(|c| !matches!(c, '\'' | '’')) {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    slug.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(stem: &str, value: &Value) -> Vec<Rule> {
        let mut problems = Problems::new("x.json");
        let (rules, _) = rules_json(stem, &value.to_string(), &mut problems);
        assert!(problems.is_empty(), "{:?}", problems.into_vec());
        rules
    }

    #[test]
    fn five_e_database() {
        let spell = json!([{
            "index": "acid-arrow", "name": "Acid Arrow",
            "desc": ["A green arrow streaks.", "It hurts."], "higher_level": ["More."],
            "range": "90 feet", "components": ["V", "S", "M"], "ritual": false,
            "duration": "Instantaneous", "concentration": false, "casting_time": "1 action",
            "level": 2, "school": {"index": "evocation", "name": "Evocation"},
            "url": "/api/2014/spells/acid-arrow",
        }]);
        let rule = &read("5e-SRD-Spells", &spell)[0];
        assert_eq!((rule.id.as_str(), rule.edition.as_str()), ("spell-acid-arrow", "5e-2014"));
        assert_eq!(
            rule.text,
            "Level 2 evocation, 1 action, 90 feet, instantaneous. A green arrow streaks. It hurts."
        );
        let condition = json!([{
            "index": "blinded", "name": "Blinded", "url": "/api/2024/conditions/blinded",
            "desc": ["- A blinded creature can't see.", "- It fails."],
        }]);
        let rule = &read("x", &condition)[0];
        assert_eq!((rule.id.as_str(), rule.edition.as_str()), ("condition-blinded", "5e-2024"));
        assert_eq!(rule.text, "A blinded creature can't see. It fails.");
        let sections = json!([{"index": "cover", "name": "Cover", "desc": "## Cover\nWalls help.",
            "url": "/api/rule-sections/cover"}]);
        assert_eq!(read("x", &sections)[0].id, "rule-cover");
    }

    #[test]
    fn open5e() {
        let first = json!({"count": 1, "next": null, "results": [{
            "slug": "hunters-mark", "name": "Hunter's Mark", "desc": "You mark.",
            "range": "90 feet", "ritual": "no", "concentration": "yes", "level": "1st-level",
            "duration": "Up to 1 hour", "casting_time": "1 bonus action", "level_int": 1,
            "school": "Divination", "document__slug": "wotc-srd",
        }]});
        let rule = &read("spells", &first)[0];
        assert_eq!((rule.id.as_str(), rule.edition.as_str()), ("spell-hunters-mark", "5e-2014"));
        assert!(rule.text.starts_with(
            "Level 1 divination, 1 bonus action, 90 feet, concentration, up to 1 hour. You"
        ));
        let second = json!([
            {"model": "api_v2.condition", "pk": "srd-2024_prone",
             "fields": {"name": "Prone", "descriptions": [{"desc": "You lie."}]}},
            {"model": "api_v2.condition", "pk": "x", "fields": {"name": "Empty", "desc": ""}},
        ]);
        let mut problems = Problems::new("x.json");
        let (rules, skipped) = rules_json("Condition", &second.to_string(), &mut problems);
        assert_eq!((rules.len(), skipped), (1, 1));
        assert_eq!(
            (rules[0].id.as_str(), rules[0].edition.as_str()),
            ("condition-prone", "5e-2024")
        );
    }

    #[test]
    fn file_over_a_bound_is_refused_unread() {
        let problem = |text: &str| {
            let mut problems = Problems::new("x.json");
            assert!(rules_json("spells", text, &mut problems).0.is_empty());
            problems.into_vec()[0].to_string()
        };
        let records = vec![r#"{"name": "A", "desc": "Aye."}"#; RULES_MAX + 1];
        let found = problem(&format!("[{}]", records.join(",")));
        assert!(found.starts_with("x.json:1:1: more than 20000 records"), "{found}");
        let found = problem(&format!("[{}", "[],".repeat(VALUES_MAX / 2)));
        assert!(found.starts_with("x.json:1:1: more than 500000 values"), "{found}");
    }

    #[test]
    fn files_without_rules_are_reported() {
        for (text, expected) in [
            ("[{\"name\": ", "x.json:1:10: not valid JSON: eof while parsing a value"),
            ("[1, {}]", "x.json:1:1: no rules found"),
            ("7", "x.json:1:1: no rules found"),
        ] {
            let mut problems = Problems::new("x.json");
            rules_json("spells", text, &mut problems);
            let found = problems.into_vec()[0].to_string();
            assert!(found.starts_with(expected), "{found}");
        }
    }
}
