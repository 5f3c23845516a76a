//! An evening in German with the shipped cast: who answers, in which language, what is rolled and
//! looked up.

use serde_json::{Value, json};

use crate::support::program::{Place, shipped};

/// Speaker at these evenings.
const SPEAKER: &str = "Wren";
/// Beginning of the German lines of a shipped NPC.
const GERMAN: &str = "# ==== In German";

/// The turns of an evening that is typed.
fn evening(place: &Place, typed: &[&str]) -> Vec<Value> {
    let asked = ["ask", "--json", "--speaker", SPEAKER];
    place.run_typing(&asked, &typed.join("\n")).ends_with(0).lines()
}

/// The turns of an evening at the shipped table.
fn shipped_evening(typed: &[&str]) -> Vec<Value> {
    evening(&Place::new().brief(), typed)
}

/// Asserts that `line` is answered from the German half of its NPC's file if `german`, else from the
/// English one.
#[track_caller]
fn assert_language(line: &Value, german: bool) {
    assert_eq!(line["outcome"], "spoken", "{line:#}");
    let npc = line["npc"].as_str().expect("somebody answers").to_lowercase();
    let names = ["bartok", "greymantle", "hale", "mira", "vesper"];
    let file = names.into_iter().find(|name| npc.contains(name)).expect("one of the cast");
    let text = shipped(&format!("npcs/{file}.yaml"));
    let (in_english, in_german) = text.split_once(GERMAN).expect("two halves");
    // The file has placeholders for numbers and names.
    let reply = line["reply"].as_str().unwrap().replace(SPEAKER, "0");
    let fixed = reply.split(|c: char| c.is_ascii_digit()).max_by_key(|part| part.len()).unwrap();
    let (its, other) = if german { (in_german, in_english) } else { (in_english, in_german) };
    assert!(its.contains(fixed.trim()), "{} / {reply}", line["heard"]);
    assert!(!other.contains(fixed.trim()), "{} / {reply}", line["heard"]);
}

/// Names of the tools that were called.
fn called(line: &Value) -> Vec<&str> {
    let tools = line["tools"].as_array().unwrap().iter();
    tools.map(|it| it["tool"].as_str().unwrap()).collect()
}

#[test]
fn what_was_asked_before_is_asked_again() {
    let lines = shipped_evening(&[
        "bartok ein bier bitte",
        "noch mal das gleiche für alle",
        "Grüß dich Bartok, sag mal, haste noch n Bett für heut Nacht?",
        "Bartok, got any good jokes?",
        "That was terrible. Got another one?",
        "bartok my name is rosalind",
        "do you still know what i'm called",
        "Nicht du, Greymantle. Bartok, ein Bier!",
        "Mit Vesper will ich nix zu tun haben, Bartok. Gib mir lieber nen Schnaps.",
    ]);
    let reply = |at: usize| lines[at]["reply"].as_str().unwrap_or_default();
    for (at, words) in [
        (0, &["Krähenschwarz"][..]),
        (1, &["Krähenschwarz"][..]),
        (2, &["Silber"][..]),
        (3, &["wizard", "skeletons", "paladin"][..]),
        (4, &["wizard", "skeletons", "paladin"][..]),
        (6, &["Rosalind"][..]),
        (7, &["Kräh", "Tresen", "Wahl", "gebracht", "Krug", "Runde"][..]),
        (8, &["Flussbrand"][..]),
    ] {
        let is_said = words.iter().any(|word| reply(at).contains(word));
        assert!(is_said, "{} / {}", lines[at]["heard"], reply(at));
    }
    assert_ne!(reply(0), reply(1));
    assert_ne!(reply(3), reply(4));
}

/// A line, the NPC that answers it, the tool that is called if any, and words of the answer, one of which is
/// there.
type Exchange = (&'static str, &'static str, Option<&'static str>, &'static [&'static str]);

/// An evening, line by line.
const EVENING: &[Exchange] = &[
    ("Guten Abend, Wirt!", "Bartok the Barkeep", None, &["Willkommen"]),
    ("Wie heißt du?", "Bartok the Barkeep", None, &["Bartok"]),
    ("Bartok, zwei W sechs plus drei", "Bartok the Barkeep", Some("dice-roller.roll"), &[]),
    ("Bartok, 2w6+3", "Bartok the Barkeep", Some("dice-roller.roll"), &[]),
    ("Bartok, würfle mit Vorteil", "Bartok the Barkeep", Some("dice-roller.roll"), &[]),
    ("Bartok, was habe ich gewürfelt?", "Bartok the Barkeep", Some("dice-roller.last"), &[]),
    ("Was weißt du von der Karawane?", "Bartok the Barkeep", None, &["Vier Wagen", "vier Wagen"]),
    ("Was ist im Keller?", "Bartok the Barkeep", None, &["Ratten", "zu"]),
    ("Ich frage den Hauptmann nach dem Auftrag", "Captain Hale", None, &["Woche", "Meilenstein"]),
    ("Hale, wo war die Streife?", "Captain Hale", None, &["Befehle", "geschickt"]),
    ("Mira, hast du den Ring?", "Mira Quickfingers", None, &["Durchsuch", "offenes Buch"]),
    (
        "Ich wende mich an die Diebin: was kostet das?",
        "Mira Quickfingers",
        None,
        &["Gefallen", "Kronen"],
    ),
    ("Vesper, wo sind die Wagen?", "Vesper of the Glass", None, &["Stein", "verloren"]),
    (
        "Greymantle, was macht gegriffen?",
        "Greymantle the Sage",
        Some("rules-lookup.search_rules"),
        &["Grappled"],
    ),
    ("Mira, Blumenkohl schmeckt grauenhaft", "Mira Quickfingers", None, &[]),
    ("Vielen Dank, Mira", "Mira Quickfingers", None, &["Gefallen", "jede Nacht"]),
    ("Tschüss Bartok, bis morgen", "Bartok the Barkeep", None, &[]),
];

#[test]
fn evening_in_german_is_answered_in_german() {
    let typed: Vec<&str> = EVENING.iter().map(|(said, ..)| *said).collect();
    let turns = shipped_evening(&typed);
    assert_eq!(turns.len(), EVENING.len());
    for (turn, (said, npc, tool, words)) in turns.iter().zip(EVENING) {
        let reply = turn["reply"].as_str().unwrap();
        println!("{said}\n    {}: {reply}", turn["npc"].as_str().unwrap_or("nobody"));
        assert_eq!(turn["npc"], *npc, "{said}: {turn:#}");
        assert_eq!(called(turn), Vec::from_iter(*tool), "{said}: {turn:#}");
        assert!(words.is_empty() || words.iter().any(|it| reply.contains(it)), "{said}: {reply}");
        if tool.is_none_or(|tool| tool.starts_with("dice")) {
            assert_language(turn, true);
        }
    }
}

#[test]
fn english_is_answered_in_english() {
    let typed = [
        "Hello Bartok",
        "Bartok, roll two d six plus three",
        "Bartok, tell me about the caravan",
        "Mira, did you take the ring?",
        "Mira, what did I promise you?",
        "Hale, the weather in spring is better than cauliflower",
        "Vesper, who are you?",
        // A number has no language: hers is used.
        "Mira, 17",
    ];
    for turn in &shipped_evening(&typed) {
        assert_language(turn, false);
    }
}

#[test]
fn speaker_language_lasts_until_they_switch() {
    let typed = ["Servus Mira, wie geht's?", "Mira, 17", "Mira, how are you?", "Mira, 17"];
    let turns = shipped_evening(&typed);
    for (turn, german) in turns.iter().zip([true, true, false, false]) {
        assert_language(turn, german);
    }
}

#[test]
fn questions_about_the_past_are_never_dropped() {
    let npcs = ["Bartok", "Greymantle", "Hale", "Mira", "Vesper"];
    let questions = ["what did I promise you?", "was habe ich dir versprochen?"];
    // In the first turn there is time to look it up, in the later ones there may be none.
    let typed: Vec<String> = questions
        .iter()
        .flat_map(|question| npcs.map(|npc| format!("{npc}, {question}\n{npc}, {question}")))
        .collect();
    let typed: Vec<&str> = typed.iter().map(String::as_str).collect();
    let turns = shipped_evening(&typed);
    assert_eq!(turns.len(), 20);
    for turn in &turns {
        assert_eq!(turn["outcome"], "spoken", "{turn:#}");
        let german = turn["heard"].as_str().unwrap().contains("versprochen");
        if called(turn).is_empty() {
            assert_language(turn, german);
        }
    }
}

#[test]
fn greymantle_flags_english_rules_in_german() {
    let rule = |line: &Value| line["tools"][0]["result"]["results"][0]["id"].clone();
    let questions = [
        ("Greymantle, was macht gegriffen?", "condition-grappled"),
        ("Greymantle, was bedeutet liegend?", "condition-prone"),
        ("Greymantle, wie funktioniert ein Gelegenheitsangriff?", "combat-opportunity-attack"),
        ("Greymantle, welche Rüstungsklasse hat ein Plattenpanzer?", "equipment-plate-armor"),
        ("Greymantle, was bringt mir halbe Deckung?", "combat-cover"),
        ("Greymantle, was bekomme ich von einer langen Rast?", "rest-long"),
    ];
    let typed: Vec<&str> =
        std::iter::once("Greymantle, guten Tag").chain(questions.map(|it| it.0)).collect();
    let turns = shipped_evening(&typed);
    assert_eq!(turns.len(), typed.len());
    for (line, (question, id)) in turns[1..].iter().zip(questions) {
        assert_eq!(rule(line), id, "{line:#}");
        let reply = line["reply"].as_str().unwrap();
        let says = reply.contains("nur auf Englisch") || reply.contains("Das englische Buch");
        assert!(says, "{question}: {reply}");
        let result = &line["tools"][0]["result"]["results"][0];
        assert!(reply.contains(result["name"].as_str().unwrap()), "{reply}");
        assert!(reply.ends_with(result["short"].as_str().unwrap()), "{reply}");
    }
    let place = Place::with_config("rules: { files: [regeln.yaml] }\n");
    place.write("npcs/greymantle.yaml", shipped("npcs/greymantle.yaml"));
    let text = "Wer gegriffen ist, kommt nicht vom Fleck.";
    let own = json!({"rules": [{"id": "condition-grappled", "name": "Gegriffen", "text": text}]});
    place.write("regeln.yaml", own.to_string());
    let line = &evening(&place, &["Greymantle, was macht gegriffen?"])[0];
    let reply =
        "Wer gegriffen ist, kommt nicht vom Fleck. So steht es in den Regeln dieses Tisches.";
    assert_eq!(line["reply"], reply, "{line:#}");
}

#[test]
fn lines_of_your_own_may_have_a_language() {
    let lines = json!([
        { "when": "ale", "say": "Two coppers." },
        { "when": ["bier", "ale"], "language": "de", "say": "Zwei Kupfer." },
        { "say": "So it is." },
    ]);
    let without_default = format!("npcs: [{{ name: Pip, lines: {lines} }}]\n");
    let place = Place::with_config(&without_default);
    for (said, reply) in [
        ("Pip, was kostet das Ale?", "Zwei Kupfer."),
        ("Pip, an ale, please", "Two coppers."),
        ("Pip, ale", "Two coppers."),
        // It has no German line that always fits.
        ("Pip, was gibt es Neues?", "So it is."),
    ] {
        let line = place.run(&["ask", "--json", "--text", said]).ends_with(0).line();
        assert_eq!(line["reply"], reply, "{said}");
    }
    let german = json!([{ "language": "de", "say": "Soso." }]);
    let place =
        Place::with_config(&format!("npcs: [{{ name: Pip, language: de, lines: {german} }}]\n"));
    let line = place.run(&["ask", "--json", "--text", "Pip, what is new?"]).ends_with(0).line();
    assert_eq!(line["reply"], "Soso.", "better than silence");
    let french = json!([{ "language": "fr", "say": "Voilà." }]);
    let place = Place::with_config(&format!("npcs: [{{ name: Pip, lines: {french} }}]\n"));
    let ran = place.run(&["check"]).ends_with(2);
    assert!(ran.stderr.contains("glyphoxa.yaml:1:") && ran.stderr.contains("'fr'"), "{ran:#?}");
}
