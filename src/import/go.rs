//! Campaign files of Glyphoxa Go: entities without seats.
//!
//! Its shape is near ours: `target_name` for `target`, lists of ids in `visibility`, and in its design
//! `attributes` and relationships beside the entities. Fields and tags that mark notes of the game master do
//! so here, too. Entry functions: [`is_go`], [`read`].

use std::collections::{BTreeMap, HashMap};

use super::{
    campaign::{hyphened, kind},
    draft::{Drafts, EntityDraft, LeftOut, Mistake, Passage, RelationDraft, RelationTarget},
    notes::{is_secret, is_secret_title},
};
use crate::{
    domain::{bare_name, one_line, visible},
    yaml::{Entry, Node, quoted},
};

/// Most entities of a file.
const ENTITIES_MAX: usize = 20_000;
/// Longest name, key and kind of a relation, in characters.
const NAME_MAX: usize = 80;
/// Keys of an entity that are read.
const KNOWN: &[&str] = &[
    "attributes",
    "description",
    "id",
    "name",
    "properties",
    "relationships",
    "tags",
    "type",
    "visibility",
];

/// True for a campaign file of Glyphoxa Go that our own reader would refuse.
pub fn is_go(file: &Node) -> bool {
    let entities = items(file, "entities");
    let is_named = entities.iter().any(|it| text(it, "name").is_some());
    let has_own = |entity: &Node| {
        let relations = items(entity, "relationships");
        entity.inside(&["attributes"]).is_some()
            || relations.iter().any(|it| text(it, "target_name").is_some())
    };
    let has_relations = !items(file, "relationships").is_empty();
    is_named && (has_relations || entities.iter().any(has_own))
}

pub fn read(file: &str, document: &Node, drafts: &mut Drafts) {
    let entities = items(document, "entities");
    if entities.len() > ENTITIES_MAX {
        let message = format!("more than {ENTITIES_MAX} entities");
        mistake(drafts, file, "entities", message);
        return;
    }
    let campaign = text(document, "campaign").or_else(|| inner(document, "campaign", "name"));
    let campaign = hyphened(&name_of(campaign.unwrap_or_default()));
    let mut reading = Reading { file, drafts, sources: HashMap::new(), extras: BTreeMap::new() };
    let sources: Vec<String> = entities.iter().map(|it| source(&campaign, it)).collect();
    for (entity, source) in entities.iter().zip(&sources) {
        let names = [text(entity, "id"), text(entity, "name")].into_iter().flatten();
        for name in names {
            reading.sources.entry(bare_name(name)).or_insert_with(|| source.clone());
        }
    }
    for (at, (entity, source)) in entities.iter().zip(sources).enumerate() {
        reading.entity(entity, source, at);
    }
    for relation in items(document, "relationships") {
        let from = ["source_id", "source", "source_name", "from"];
        let from = from.into_iter().find_map(|key| text(relation, key));
        match from.and_then(|name| reading.sources.get(&bare_name(name)).cloned()) {
            Some(from) => reading.relation(&from, relation),
            None => reading.extra("relationships without a known source"),
        }
    }
    if document.inside(&["campaign"]).is_some() {
        reading.extra("the campaign's name, description and rules");
    }
    for entry in document.entries() {
        if !["campaign", "entities", "relationships"].contains(&entry.key.as_str()) {
            reading.extra(&format!("section {}", quoted(&entry.key)));
        }
    }
    reading.report();
}

/// Parts of an entity for the game master alone.
struct Hidden {
    /// True if the whole entity is.
    is_whole: bool,
    secrets: Vec<Passage>,
}

impl Hidden {
    /// Adds a field whose key marks it: a text, a list of texts, or anything else as JSON. A flag is about the
    /// whole entity.
    fn add(&mut self, field: &Entry, from: String) {
        let node = &field.node;
        if let Some(flag) = node.scalar().and_then(|it| it.flag()) {
            self.is_whole |= flag;
            return;
        }
        let lines: Option<Vec<&str>> = node.items().iter().map(Node::text).collect();
        let text = match (node.text(), lines) {
            (Some(text), _) => text.to_owned(),
            (None, Some(lines)) if node.entries().is_empty() => lines.join("\n"),
            _ => node.to_json().to_string(),
        };
        let text = visible(&text);
        if !text.trim().is_empty() {
            self.secrets.push(Passage { from, text });
        }
    }
}

struct Reading<'a> {
    file: &'a str,
    drafts: &'a mut Drafts,
    /// By id and by name.
    sources: HashMap<String, String>,
    extras: BTreeMap<String, usize>,
}

impl Reading<'_> {
    fn entity(&mut self, entity: &Node, source: String, at: usize) {
        let name = name_of(text(entity, "name").unwrap_or_default());
        let word = text(entity, "type").unwrap_or_default().trim().to_lowercase();
        let Some(kind) = kind(&word) else {
            let message = format!("unknown type {}", quoted(&word));
            mistake(self.drafts, self.file, &format!("entities/{at}/type"), message);
            return;
        };
        if name.is_empty() {
            let place = format!("entities/{at}/name");
            mistake(self.drafts, self.file, &place, "an entity without a name".to_owned());
            return;
        }
        for relation in items(entity, "relationships") {
            self.relation(&source, relation);
        }
        let (known_to, is_unknown) = self.visibility(entity);
        let mut hidden = Hidden { is_whole: is_unknown, secrets: Vec::new() };
        for entry in entity.entries().iter().filter(|it| !KNOWN.contains(&it.key.as_str())) {
            match is_secret(&entry.key) {
                true => hidden.add(entry, format!("entities/{at}/{}", name_of(&entry.key))),
                false => self.extra(&format!("field {}", quoted(&entry.key))),
            }
        }
        let text = text(entity, "description").map(|it| visible(it).trim().to_owned());
        let text = text.filter(|it| !it.is_empty());
        let passage = |text| Passage { from: format!("entities/{at}/description"), text };
        let tags = items(entity, "tags").iter().filter_map(Node::text).map(name_of);
        let tags: Vec<String> = tags.filter(|it| !it.is_empty()).collect();
        hidden.is_whole |= tags.iter().any(|it| is_secret_title(it));
        let properties = self.properties(entity, at, &mut hidden);
        self.drafts.entities.push(EntityDraft {
            source,
            file: self.file.to_owned(),
            kind,
            name,
            aliases: Vec::new(),
            text: text.map(passage).into_iter().collect(),
            secrets: hidden.secrets,
            dm_only: hidden.is_whole,
            is_standing: false,
            known_to,
            properties,
            tags,
        });
    }

    /// Sources of the NPCs that may know of `entity`; and true if it names some but none of the file.
    fn visibility(&mut self, entity: &Node) -> (Vec<String>, bool) {
        let ids = items(entity, "visibility").iter().filter_map(Node::text);
        let ids: Vec<String> = ids.map(bare_name).collect();
        let known: Vec<String> =
            ids.iter().filter_map(|id| self.sources.get(id).cloned()).collect();
        if known.len() < ids.len() {
            self.extra("unknown NPCs in 'visibility'");
        }
        let is_hidden = known.is_empty() && !ids.is_empty();
        (known, is_hidden)
    }

    /// The properties that everyone may know; the others go to `hidden`.
    fn properties(
        &mut self,
        entity: &Node,
        at: usize,
        hidden: &mut Hidden,
    ) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for key in ["properties", "attributes"] {
            let fields = entity.inside(&[key]).map(Node::entries).unwrap_or_default();
            for field in fields {
                let name = name_of(&field.key);
                match field.node.text() {
                    _ if is_secret(&field.key) => {
                        hidden.add(field, format!("entities/{at}/{key}/{name}"));
                    }
                    Some(text) => found.push((name, visible(text))),
                    None => self.extra("nested or empty properties"),
                }
            }
        }
        found
    }

    fn relation(&mut self, from: &str, relation: &Node) {
        let keys = ["target_id", "target_name", "target", "to"];
        let target = keys.into_iter().find_map(|key| text(relation, key));
        let keys = ["type", "rel_type"];
        let kind = keys.into_iter().find_map(|key| text(relation, key)).map(name_of);
        let (Some(target), Some(kind)) = (target, kind.filter(|it| !it.is_empty())) else {
            self.extra("relationships without a target or a type");
            return;
        };
        let known = self.sources.get(&bare_name(target)).cloned();
        let is_both = relation
            .inside(&["bidirectional"])
            .is_some_and(|it| it.scalar().and_then(|it| it.flag()).unwrap_or_default());
        match &known {
            Some(known) if is_both => {
                let to = RelationTarget::Source(from.to_owned());
                let (from, kind) = (known.clone(), kind.clone());
                self.drafts.relations.push(RelationDraft { from, to, kind });
            }
            None if is_both => self.extra("other directions of relationships to others"),
            _ => {}
        }
        let to =
            known.map_or_else(|| RelationTarget::Name(name_of(target)), RelationTarget::Source);
        self.drafts.relations.push(RelationDraft { from: from.to_owned(), to, kind });
    }

    fn extra(&mut self, what: &str) {
        *self.extras.entry(what.to_owned()).or_default() += 1;
    }

    fn report(self) {
        for (what, number) in self.extras {
            let what = if number == 1 { what } else { format!("{what} ({number} times)") };
            let why = "it has no place here".to_owned();
            self.drafts.left_out.push(LeftOut { file: self.file.to_owned(), what, why });
        }
    }
}

fn mistake(drafts: &mut Drafts, file: &str, place: &str, message: String) {
    drafts.mistakes.push(Mistake {
        file: file.to_owned(),
        place: place.to_owned(),
        message,
        way_out: "correct the file".to_owned(),
    });
}

fn source(campaign: &str, entity: &Node) -> String {
    let id = text(entity, "id").or_else(|| text(entity, "name")).unwrap_or_default();
    format!("go:{campaign}:{}", one_line(&hyphened(id), NAME_MAX))
}

fn name_of(text: &str) -> String {
    let line = one_line(text, 2_000);
    let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().take(NAME_MAX).collect::<String>().trim().to_owned()
}

fn text<'a>(node: &'a Node, key: &str) -> Option<&'a str> {
    node.inside(&[key])?.text()
}

fn inner<'a>(node: &'a Node, outer: &str, key: &str) -> Option<&'a str> {
    node.inside(&[outer, key])?.text()
}

fn items<'a>(node: &'a Node, key: &str) -> &'a [Node] {
    node.inside(&[key]).map(Node::items).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::EntityKind,
        yaml::{Problems, parse},
    };

    const FILE: &str = r#"
campaign: {name: The Mire, system: dnd5e}
entities:
  - id: npc-1
    name: "Holya\u202E"
    type: npc
    description: Townmaster of ${DISCORD_TOKEN}.
    properties: {occupation: smith}
    voice: alloy
    relationships:
      - {target_name: mire, type: lives_in, bidirectional: true}
      - {target_name: Nowhere, type: fears}
  - {name: Mire, type: location, visibility: [npc-1]}
  - {name: Plot, type: lore, visibility: [npc-9]}
"#;

    fn node(text: &str) -> Node {
        parse(text, &mut Problems::new("x")).unwrap()
    }

    #[test]
    fn entities_of_go_are_read_without_seats() {
        let mut drafts = Drafts::default();
        assert!(is_go(&node(FILE)));
        read("x.yaml", &node(FILE), &mut drafts);
        assert!(drafts.npcs.is_empty() && drafts.mistakes.is_empty(), "{drafts:?}");
        let [holya, mire, plot] = drafts.entities.as_slice() else { panic!("{drafts:?}") };
        assert_eq!((holya.name.as_str(), holya.kind), ("Holya", EntityKind::Npc));
        assert_eq!(holya.text[0].text, "Townmaster of ${DISCORD_TOKEN}.");
        assert_eq!(holya.properties, [("occupation".to_owned(), "smith".to_owned())]);
        assert_eq!(mire.known_to, std::slice::from_ref(&holya.source));
        assert!(!mire.dm_only && plot.dm_only);
        let kinds: Vec<&str> = drafts.relations.iter().map(|it| it.kind.as_str()).collect();
        assert_eq!(kinds, ["lives_in", "lives_in", "fears"]);
        assert_eq!(drafts.relations[2].to, RelationTarget::Name("Nowhere".to_owned()));
        let what: Vec<&str> = drafts.left_out.iter().map(|it| it.what.as_str()).collect();
        let meant = [
            "field 'voice'",
            "the campaign's name, description and rules",
            "unknown NPCs in 'visibility'",
        ];
        assert_eq!(what, meant);
    }

    #[test]
    fn fields_of_the_game_master_are_secrets() {
        let text = "entities:\n- {name: A, type: npc, properties: {gm_notes: SPY1, job: smith},\n   \
                    attributes: {secret: {a: SPY2}, dmNotes: [SPY3, SPY4]}, notes_for_dm: SPY5}\n\
                    - {name: B, type: lore, attributes: {dm_only: true}}\n\
                    - {name: C, type: lore, tags: [dm-only], description: SPY}\n\
                    - {name: D, type: lore, attributes: {secret: false}}\n";
        let mut drafts = Drafts::default();
        read("x.yaml", &node(text), &mut drafts);
        let [a, b, c, d] = drafts.entities.as_slice() else { panic!("{drafts:?}") };
        let secrets: Vec<&str> = a.secrets.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(secrets, ["SPY5", "SPY1", "{\"a\":\"SPY2\"}", "SPY3\nSPY4"]);
        assert_eq!(a.secrets[1].from, "entities/0/properties/gm_notes");
        assert_eq!(a.properties, [("job".to_owned(), "smith".to_owned())]);
        assert!(!a.dm_only && b.dm_only && c.dm_only && !d.dm_only, "{drafts:?}");
        assert!(drafts.left_out.is_empty(), "{drafts:?}");
    }

    #[test]
    fn wrong_entities_are_mistakes_with_their_place() {
        let mut drafts = Drafts::default();
        let text = "entities: [{name: A, type: dragon, attributes: {a: 1}}, {type: npc}, 7]";
        read("x.yaml", &node(text), &mut drafts);
        let places: Vec<&str> = drafts.mistakes.iter().map(|it| it.place.as_str()).collect();
        assert_eq!(places, ["entities/0/type", "entities/1/name", "entities/2/type"]);
    }

    #[test]
    fn our_own_campaign_is_not_of_go() {
        let ours = "entities: [{name: A, type: npc, relationships: [{target: B, type: x}]}]";
        assert!(!is_go(&node(ours)) && !is_go(&node("name: x")));
    }
}
