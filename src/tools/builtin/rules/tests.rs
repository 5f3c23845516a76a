use super::*;

fn rule(id: &str, edition: &str, text: &str) -> Rule {
    let name = id.split_once('-').unwrap().1.replace('-', " ");
    let (id, edition, text) = (id.to_owned(), edition.to_owned(), text.to_owned());
    Rule { id, name, edition, category: "house".into(), aliases: Vec::new(), text }
}

fn built_in() -> Vec<Rule> {
    vec![
        rule("spell-fireball", "5e", "Fire everywhere."),
        rule("combat-hide-2014", "5e-2014", "Hide as before."),
        rule("combat-hide-2024", "5e-2024", "Hide as now."),
    ]
}

fn get(book: &RuleBook, id: &str) -> Result<Value, CallError> {
    let arguments = Map::from_iter([("id".to_owned(), json!(id))]);
    book.get(&arguments).map(|output| output.value())
}

#[test]
fn own_rules_replace_built_in_ones() {
    let own =
        vec![rule("spell-fireball", "5e", "Only embers."), rule("house-luck", "pf2e", "Luck.")];
    let book = RuleBook::new(own, None, built_in);
    assert_eq!(get(&book, "spell-fireball").unwrap()["text"], "Only embers.");
    assert_eq!(get(&book, " Spell Fireball ").unwrap()["id"], "spell-fireball");
    let found = book.find("fireball", None).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(book.find("luck", Some("PF2E")).unwrap()[0].id, "house-luck");
    assert!(book.find("luck", Some("5e")).unwrap().is_empty());
}

#[test]
fn a_wrong_id_is_told_the_nearest() {
    let book = RuleBook::new(Vec::new(), None, built_in);
    let error = get(&book, "spell-firebal").unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Tool);
    assert!(error.message.contains("nearest: spell-fireball"), "{error}");
    let error = get(&book, "combat-hide").unwrap_err();
    assert!(error.message.contains("combat-hide-2014, combat-hide-2024"), "{error}");
}

#[test]
fn the_edition_played_needs_no_year() {
    let book = RuleBook::new(Vec::new(), Some("5e-2024".into()), built_in);
    assert_eq!(get(&book, "combat-hide").unwrap()["text"], "Hide as now.");
    assert!(get(&book, "combat-hide-2014").is_err());
}

#[test]
fn nothing_found_says_what_to_do() {
    let book = RuleBook::new(Vec::new(), None, built_in);
    let arguments = Map::from_iter([("query".to_owned(), json!("the weather in spring"))]);
    let value = book.search(&arguments).unwrap().value();
    assert_eq!(value["results"], json!([]));
    assert!(value["note"].as_str().unwrap().contains("by its name"));
}
