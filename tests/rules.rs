//! Rules looked up by the real program: the built-in ones, your own, and imported files.

use serde_json::{Value, json};

use crate::support::program::Place;

/// Answers of the shipped cast to typed questions.
fn answers(place: &Place, questions: &[&str]) -> Vec<Value> {
    let texts = questions.iter().flat_map(|question| ["--text", question]);
    let arguments: Vec<&str> = ["ask", "--json"].into_iter().chain(texts).collect();
    place.run(&arguments).ends_with(0).lines()
}

/// The rule that was spoken after one successful search.
#[track_caller]
fn assert_looked_up<'l>(line: &'l Value, id: &str, says: &str) -> &'l Value {
    let call = &line["tools"][0];
    assert_eq!(call["tool"], "rules-lookup.search_rules", "{line:#}");
    assert_eq!(call["ok"], true, "{line:#}");
    let first = &call["result"]["results"][0];
    assert_eq!(first["id"], id, "{line:#}");
    assert_eq!(line["outcome"], "spoken", "{line:#}");
    assert!(line["reply"].as_str().unwrap().contains(says), "{line:#}");
    assert_eq!(line["tier"]["effective"], "standard", "{line:#}");
    first
}

#[test]
fn greymantle_answers_rules_questions_aloud() {
    let lines = answers(
        &Place::new(),
        &[
            "Greymantle, can I attack while frightened?",
            "Greymantle, how far can I jump?",
            "Greymantle, does fireball need concentration?",
            "Greymantle, what happens when I fall unconscious?",
            "Greymantle, roll 2d6",
            "Bartok, does fireball need concentration?",
        ],
    );
    let rule = assert_looked_up(&lines[0], "condition-frightened", "can still attack");
    assert_eq!((&rule["name"], &rule["edition"]), (&json!("Frightened"), &json!("5e")));
    assert!(lines[0]["audio_ms"].as_u64().unwrap() > 5_000, "{:#}", lines[0]);
    assert_looked_up(&lines[1], "movement-long-jump", "Strength score");
    assert_looked_up(&lines[2], "spell-fireball", "no concentration");
    assert_looked_up(&lines[3], "condition-unconscious", "falls prone");
    assert_eq!(lines[4]["tools"][0]["tool"], "dice-roller.roll", "{:#}", lines[4]);
    assert_eq!(lines[5]["tools"], json!([]), "Bartok has no book: {:#}", lines[5]);
}

#[test]
fn questions_in_own_words_are_looked_up() {
    let questions = [
        ("0 hit points, how many failed saves until I'm dead?", "damage-death-saves"),
        ("someone who's lying on the ground get hit easier", "condition-prone"),
        ("how long do I gotta sleep to get my spells back?", "rest-long"),
        ("how much does it hurt if i fall sixty feet", "movement-falling"),
        ("wie lange hält Unsichtbarkeit?", "spell-invisibility"),
        ("kann man jemanden einfach umschubsen?", "combat-shove"),
    ];
    let texts = questions.iter().flat_map(|(question, _)| ["--text", question]);
    let asked = ["ask", "--json", "--npc", "Greymantle"].into_iter().chain(texts);
    let asked: Vec<&str> = asked.collect();
    let lines = Place::new().brief().run(&asked).ends_with(0).lines();
    for (line, (question, id)) in lines.iter().zip(questions) {
        let call = &line["tools"][0];
        assert_eq!(call["tool"], "rules-lookup.search_rules", "{question}: {line:#}");
        let first = call["result"]["results"][0]["id"].as_str().unwrap_or_default();
        assert!(first.starts_with(id), "{question}: {line:#}");
    }
}

#[test]
fn rule_answer_is_one_sentence_and_its_source() {
    let questions = [
        (
            "plate armour AC",
            "equipment-plate-armor",
            "Plate armor gives an armor class of 18, whatever your Dexterity.",
        ),
        ("what does grappled do", "condition-grappled", "A grappled creature's speed is 0."),
        ("what does fireball do", "spell-fireball", "In a 20-foot-radius sphere"),
        ("what is the range of fireball", "spell-fireball", "Level 3 evocation, action, 150 feet"),
        ("what damage does a longsword do", "equipment-longsword", "A longsword does 1d8 slashing"),
        ("what does a longsword hit for?", "equipment-longsword", "A longsword does 1d8 slashing"),
    ];
    let texts = questions.iter().flat_map(|(question, ..)| ["--text", question]);
    let uncovered = ["--text", "what is the rule for brewing lightning in a teapot?"];
    let asked = ["ask", "--json", "--npc", "Greymantle"].into_iter().chain(texts);
    let asked: Vec<&str> = asked.chain(uncovered).collect();
    let lines = Place::new().brief().run(&asked).ends_with(0).lines();
    assert_eq!(lines.len(), questions.len() + 1);
    let reply = lines.last().unwrap()["reply"].as_str().unwrap();
    assert!(reply.starts_with("My books have nothing on that."), "{reply}");
    for (line, (_, id, sentence)) in lines.iter().zip(questions) {
        assert_looked_up(line, id, sentence);
        let reply = line["reply"].as_str().unwrap();
        assert!(reply.starts_with(sentence), "{reply}");
        assert!(reply.ends_with("the rules of the fifth edition."), "{reply}");
        assert!(reply.matches(". ").count() == 1, "one sentence and its source: {reply}");
    }
}

#[test]
fn of_rules_with_headings_no_heading_is_read_out() {
    let place =
        Place::with_config(&SCHOLAR.replace("{result.results.0.text}", "{result.results.0.short}"));
    place.write(
        "house.yaml",
        "rules:\n  - id: house-oaths\n    name: Oaths\n    text: |\n      ## Oaths\n\n      **Sworn Oaths.** \
         An oath binds for a year.\n\n      Broken Oaths\n      ------------\n      Whoever breaks one \
         loses their luck.\n",
    );
    let spell = json!([{
        "index": "ember-wave", "name": "Ember Wave", "level": 1, "casting_time": "1 action",
        "desc": ["## Ember Wave", "Embers roll over the floor.", "| Level | Embers |\n|---|---|\n| 1 | 3 |"],
        "higher_level": ["***At Higher Levels.*** Ember wave has more embers."],
        "url": "/api/2024/spells/ember-wave",
    }]);
    place.write("5e-SRD-Spells.json", spell.to_string());
    let questions = [
        "Pip, what are oaths",
        "Pip, what is the rule of broken oaths",
        "Pip, what does ember wave do",
        "Pip, what does ember wave do at higher levels",
    ];
    for line in answers(&place, &questions) {
        let reply = line["reply"].as_str().unwrap();
        assert_eq!(line["tools"][0]["ok"], true, "{line:#}");
        for markup in ["#", "*", "|", "---", "Sworn Oaths", "Broken Oaths", "Higher Levels"] {
            assert!(!reply.contains(markup), "{markup}: {reply}");
        }
        assert!(reply.ends_with('.') && reply.split_whitespace().count() > 3, "{reply}");
    }
}

/// A table of one NPC that looks up whatever is said.
const SCHOLAR: &str = r#"
npcs:
  - name: Pip
    budget_tier: standard
    tools: [rules-lookup.*]
    lines:
      - when: '/ (?<id>\w+-[\w-]+)$/'
        tool: { name: get_rule, arguments: { id: "{id}" } }
        say: "{result.text}"
      - when: '/.*/'
        tool: { name: search_rules, arguments: { query: "{utterance}" } }
        say: "{result.results.0.text}"
      - say: "No such rule."
rules: { edition: 5e-2024, files: [house.yaml, 5e-SRD-Spells.json] }
"#;

#[test]
fn own_and_imported_rules_replace_built_in_ones() {
    let place = Place::with_config(SCHOLAR);
    place.write(
        "house.yaml",
        "rules:\n  - { id: house-luck, name: Luck of the ravens, text: Touch the third raven. }\n  \
         - { id: condition-prone, name: Prone, text: Here prone is comfortable. }\n",
    );
    let spell = json!([{
        "index": "ember-wave", "name": "Ember Wave", "desc": ["Embers roll."], "level": 1,
        "casting_time": "1 action", "url": "/api/2024/spells/ember-wave",
    }]);
    place.write("5e-SRD-Spells.json", spell.to_string());
    let lines = answers(
        &place,
        &[
            "Pip, what is the luck of the ravens",
            "Pip, tell me about prone",
            "Pip, what does ember wave do",
            "Pip, read spell-fireball",
            "Pip, read combat-hide",
            "Pip, read combat-hide-2014",
        ],
    );
    let replies: Vec<&str> = lines.iter().map(|line| line["reply"].as_str().unwrap()).collect();
    assert_eq!(replies[0], "Touch the third raven.");
    assert_eq!(replies[1], "Here prone is comfortable.");
    assert_eq!(replies[2], "Level 1, 1 action. Embers roll.");
    assert!(replies[3].contains("8d6"), "{replies:#?}");
    assert!(replies[4].starts_with("2024 rules"), "{replies:#?}");
    assert_eq!(replies[5], "No such rule.", "the 2014 rules are not played here");
    assert_eq!(lines[2]["tier"]["reason"], "names a rule", "its own names count too");
}

#[test]
fn mistakes_in_rules_have_their_place() {
    let place = Place::with_config(&SCHOLAR.replace("5e-2024", "5e-2022"));
    place.write("house.yaml", "rules:\n  - { id: Bad Id, nam: x, text: y }\n");
    place.write("5e-SRD-Spells.json", "[{\"name\": \n}]");
    let ran = place.run(&["check"]).ends_with(2);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    for expected in [
        "glyphoxa.yaml:14:19: 'rules.edition' is '5e-2022'",
        "house.yaml:2:5: missing key 'name'",
        "house.yaml:2:19: unknown key 'nam'",
        "5e-SRD-Spells.json:2:1: not valid JSON",
    ] {
        assert!(said.contains(expected), "no '{expected}' in:\n{said}");
    }
    let place = Place::with_config(SCHOLAR);
    let ran = place.run(&["check"]).ends_with(2);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("glyphoxa.yaml:14:36: rules 'house.yaml': no such file"), "{said}");
}
