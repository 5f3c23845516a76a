//! Imported entities and relations.

use super::*;
use crate::{
    campaign::entities_of_no_file,
    memory::{Change, Visibility},
};

#[tokio::test]
async fn entities_hold_no_variables_of_prompts() {
    let place = Bench::new();
    let mut inn = entity("Inn ${data.a}");
    inn.text = passage("${global_data.b} and $\u{200b}{data.c}");
    inn.aliases = vec!["${data.d}".to_owned()];
    place.import(&Drafts { entities: vec![inn], ..Drafts::default() }).await;
    let inn = place.entities(Viewer::Dm).await.remove(0);
    for text in [&inn.name, &inn.description, &inn.aliases[0]] {
        assert!(text.contains("$ {") && !text.contains("${"), "{text}");
    }
}

#[tokio::test]
async fn pronunciation_is_plain_letters_or_none() {
    let place = Bench::new();
    let said = |said: &str| Drafts {
        entities: vec![EntityDraft {
            properties: vec![("pronunciation".to_owned(), said.to_owned())],
            ..entity("Mill")
        }],
        ..Drafts::default()
    };
    let long = "mi ".repeat(50);
    for (respelling, is_kept) in [("mill", true), ("[[mIl]]", false), (long.as_str(), false)] {
        let preview = place.import(&said(respelling)).await;
        assert_eq!(preview.left_out.is_empty(), is_kept, "{preview:?}");
        let mill = place.entities(Viewer::Dm).await.remove(0);
        assert_eq!(mill.attributes.contains_key("pronunciation"), is_kept, "{respelling}");
    }
}

#[tokio::test]
async fn secrets_are_the_game_masters() {
    let mut place = Bench::new();
    let mut hidden = entity("Cellar");
    (hidden.dm_only, hidden.secrets) = (true, passage(SECRET));
    let mut known = entity("Key");
    (known.known_to, known.is_standing) = (vec!["card:luna".to_owned()], true);
    let drafts = Drafts { npcs: vec![luna()], entities: vec![hidden, known], ..Drafts::default() };
    let preview = place.import(&drafts).await;
    assert_eq!(names(&preview.for_dm), ["Cellar", "Secrets of Cellar", "Luna", "Secrets of Luna"]);
    let all = place.entities(Viewer::Dm).await;
    let seen = |name: &str| &all.iter().find(|it| it.name == name).unwrap().visibility;
    assert_eq!(*seen("Secrets of Luna"), Visibility::Dm);
    assert_eq!(*seen("Secrets of Cellar"), Visibility::Dm);
    assert_eq!(*seen("Cellar"), Visibility::Dm);
    assert_eq!(*seen("Key"), Visibility::Npcs(vec!["Luna".to_owned()]));
    let own = scope();
    let named = entities_of_no_file(Scoped::new(&*place.store, &own), false).await.unwrap();
    let named: Vec<&str> = named.iter().map(|it| it.name.as_str()).collect();
    assert!(!named.iter().any(|it| it.starts_with("Secrets")), "{named:?}");
    let file = place.file("luna.yaml");
    assert!(file.contains("Key: An inn.") && !file.contains(SECRET), "{file}");
    // With `--secrets npc` the NPC knows its own secrets.
    place.knows_secrets = true;
    place.import(&drafts).await;
    let file = place.file("luna.yaml");
    assert!(file.contains(&format!("  - \"{SECRET}\"")), "{file}");
}

#[tokio::test]
async fn relations_of_hidden_ends_are_hidden() {
    let place = Bench::new();
    let relation = |from: &str, to: RelationTarget| RelationDraft {
        from: from.to_owned(),
        to,
        kind: "is near".to_owned(),
    };
    let source = |of: &str| RelationTarget::Source(of.to_owned());
    let mut drafts = Drafts {
        entities: vec![entity("Mill"), entity("Cellar"), entity("Pond")],
        relations: vec![
            relation("note:Mill", source("note:Cellar")),
            relation("note:Mill", source("note:Pond")),
            relation("note:Mill", source("note:never exported")),
        ],
        ..Drafts::default()
    };
    drafts.entities[1].dm_only = true;
    let preview = place.import(&drafts).await;
    assert_eq!(preview.relations, 2, "{preview:?}");
    assert!(preview.left_out.is_empty(), "{preview:?}");
    let found = place.store.snapshot(&scope(), "mill", Viewer::Dm).await.unwrap().unwrap();
    let seen = |to: &str| {
        let tie = found.ties.iter().find(|it| it.relation.key.to == to).unwrap();
        tie.relation.visibility.clone()
    };
    assert_eq!((seen("cellar"), seen("pond")), (Visibility::Dm, Visibility::Everyone));
    assert_eq!(place.import(&drafts).await.relations, 0);
}

#[tokio::test]
async fn open_relation_is_hidden_in_any_spelling() {
    let place = Bench::new();
    let mut drafts = Drafts {
        entities: vec![entity("Mill"), entity("Cellar")],
        relations: vec![RelationDraft {
            from: "note:Mill".to_owned(),
            to: RelationTarget::Source("note:Cellar".to_owned()),
            kind: "Is near".to_owned(),
        }],
        ..Drafts::default()
    };
    place.import(&drafts).await;
    drafts.entities[1].dm_only = true;
    drafts.relations[0].kind = "is near".to_owned();
    assert_eq!(place.import(&drafts).await.relations, 1);
    let found = place.store.snapshot(&scope(), "mill", Viewer::Dm).await.unwrap().unwrap();
    let seen: Vec<_> = found.ties.iter().map(|it| &it.relation.visibility).collect();
    assert_eq!(seen, [&Visibility::Dm]);
}

#[tokio::test]
async fn public_text_is_the_persons_own_entity() {
    let place = Bench::new();
    let mut public = entity("Luna");
    public.kind = EntityKind::Npc;
    let drafts = Drafts {
        npcs: vec![luna()],
        entities: vec![public, entity("Mill")],
        relations: vec![RelationDraft {
            from: "card:luna".to_owned(),
            to: RelationTarget::Source("note:Mill".to_owned()),
            kind: "owns".to_owned(),
        }],
        ..Drafts::default()
    };
    let preview = place.import(&drafts).await;
    assert_eq!(names(&preview.added), ["Luna", "Luna", "Mill", "Secrets of Luna"]);
    assert_eq!(preview.relations, 1, "{preview:?}");
}

#[tokio::test]
async fn campaign_stays_small_enough_to_be_read() {
    let place = Bench::new();
    let entities = (0..30_001).map(|number| entity(&number.to_string())).collect();
    let (drafts, scope) = (Drafts { entities, ..Drafts::default() }, scope());
    let at = Scoped::new(&*place.store, &scope);
    let refused = plan(at, drafts, place.cast()).await.unwrap_err().to_string();
    assert!(refused.contains("more than 30000 entities"), "{refused}");
}

#[tokio::test]
async fn entity_of_another_source_is_left_alone() {
    let place = Bench::new();
    let first = Drafts { entities: vec![entity("Mill")], ..Drafts::default() };
    place.import(&first).await;
    let mut own = place.entities(Viewer::Dm).await.remove(0);
    (own.source, own.description) = (None, "Written by hand.".to_owned());
    let change = vec![Change::Put(own)];
    place.store.apply(&scope(), change).await.unwrap();
    let preview = place.import(&first).await;
    assert_eq!(names(&preview.kept), ["Mill"]);
    let all = place.entities(Viewer::Dm).await;
    assert_eq!((all.len(), all[0].description.as_str()), (1, "Written by hand."));
}

#[tokio::test]
async fn bestiary_takes_no_name_from_the_table() {
    let place = Bench::new();
    place.import(&Drafts { entities: vec![entity("Mill")], ..Drafts::default() }).await;
    let mut own = place.entities(Viewer::Dm).await.remove(0);
    own.source = None;
    let scope = scope();
    place.store.apply(&scope, vec![Change::Put(own)]).await.unwrap();
    let entities = (0..1_000).map(|number| entity(&number.to_string())).collect();
    place.import(&Drafts { entities, ..Drafts::default() }).await;
    let named = entities_of_no_file(Scoped::new(&*place.store, &scope), false).await.unwrap();
    assert!(named.len() == 1_000 && named[0].name == "Mill", "{}", named[0].name);
}
