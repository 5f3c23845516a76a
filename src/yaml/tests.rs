use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;

static INNER: Shape = Shape {
    title: "inner",
    keys: &[
        Key::new("pitch", Kind::Number { min: -10.0, max: 10.0 }, ""),
        Key::new("id", Kind::Filled, ""),
    ],
};

static OUTER: Shape = Shape {
    title: "outer",
    keys: &[
        Key::required("name", Kind::Filled, ""),
        Key::new("voice", Kind::Shape(&INNER), ""),
        Key::new("tier", Kind::Word(&["fast", "standard", "deep"]), ""),
        Key::new("count", Kind::Whole { min: 1, max: 20 }, ""),
        Key::new("on", Kind::Flag, ""),
        Key::new("tags", Kind::List(&Kind::Filled), ""),
        Key::new("say", Kind::Either(&[Kind::Filled, Kind::List(&Kind::Filled)]), ""),
        Key::new("cap", Kind::Either(&[INNER_NUMBER, Kind::Word(&["none"])]), ""),
    ],
};
const INNER_NUMBER: Kind = Kind::Number { min: 0.0, max: 9.0 };

fn read(text: &str) -> (Option<Node>, Vec<String>) {
    let mut problems = Problems::new("f");
    let node = parse(text, &mut problems).map(|mut node| {
        check(&mut node, "", &Kind::Shape(&OUTER), &mut problems);
        node
    });
    (node, problems.into_vec().iter().map(ToString::to_string).collect())
}

fn problems(text: &str) -> Vec<String> {
    read(text).1
}

#[test]
fn reads_what_is_right_without_a_word() {
    let text = "name: Bart\nvoice: { pitch: -2, id: 007 }\ntier: deep\ncount: 4\non: false\n\
                tags: [no, yes, 1.50]\nsay: hi\ncap: none\n";
    let (node, found) = read(text);
    assert_eq!(found, [""; 0]);
    let node = node.unwrap();
    let fields = Fields::new(&node, &OUTER);
    let voice = fields.map("voice", &INNER).unwrap();
    assert_eq!(voice.text("id"), Some("007"), "text keeps its zeros");
    assert_eq!(voice.number("pitch"), Some(-2.0));
    assert_eq!(fields.texts("tags"), ["no", "yes", "1.50"], "yaml 1.2 has two booleans");
    assert_eq!(fields.texts("say"), ["hi"], "one text stands for a list of one");
    assert_eq!(fields.flag("on"), Some(false));
    assert_eq!(fields.whole::<u8>("count"), Some(4));
}

#[test]
fn every_mistake_has_its_place_and_its_way_out() {
    let text = "naem: Bart\nvoice:\n  pitch: 99\n  pich: 1\n  id: true\ntier: fats\ncount: \"4\"\n\
                on: yes\ntags: Bart\nsay: {}\ncap: nine\n";
    assert_eq!(
        problems(text),
        [
            "f:1:1: missing key 'name' (name: text)",
            "f:1:1: unknown key 'naem' (did you mean 'name'?)",
            "f:3:10: 'voice.pitch' is '99' (expected a number from -10 to 10)",
            "f:4:3: unknown key 'pich' in 'voice' (did you mean 'pitch'?)",
            "f:5:7: 'voice.id' is 'true' (expected text; put it in quotes to make it text)",
            "f:6:7: 'tier' is 'fats' (expected fast or standard or deep; did you mean 'fast'?)",
            "f:7:8: 'count' is '4' (expected a whole number from 1 to 20; without quotes)",
            "f:8:5: 'on' is 'yes' (expected true or false; write true)",
            "f:9:7: 'tags' is 'Bart' (expected a list of texts; put it in [ ])",
            "f:10:6: 'say' is a mapping (expected text, or a list of texts)",
            "f:11:6: 'cap' is 'nine' (expected a number from 0 to 9, or none)",
        ]
    );
}

#[test]
fn columns_count_characters() {
    assert_eq!(
        problems("name: x\nvoice: { id: \"äöü🎲\", pitch: 99 }\n"),
        ["f:2:29: 'voice.pitch' is '99' (expected a number from -10 to 10)"]
    );
}

#[test]
fn second_key_is_named_with_the_first() {
    assert_eq!(
        problems("name: x\ntier: fast\nname: y\n"),
        ["f:3:1: key 'name' appears twice (it is already at line 1)"]
    );
}

#[test]
fn byte_order_mark_and_windows_lines_are_fine() {
    assert_eq!(
        problems("\u{feff}name: x\r\ntier: slow\r\n"),
        ["f:2:7: 'tier' is 'slow' (expected fast or standard or deep)"]
    );
}

#[test]
fn empty_file_is_an_empty_mapping() {
    for text in ["", "\n", "# nothing\n", "---\n", "--- ~\n"] {
        assert_eq!(problems(text), ["f:1:1: missing key 'name' (name: text)"], "{text:?}");
    }
}

#[test]
fn top_level_list_or_scalar_is_refused() {
    assert_eq!(
        problems("- a\n"),
        ["f:1:1: the file is a list (expected a mapping of keys and values)"]
    );
    assert_eq!(
        problems("hello\n"),
        ["f:1:1: the file is 'hello' (expected a mapping of keys and values)"]
    );
}

#[test]
fn no_yaml_is_one_positioned_problem() {
    for (text, place) in [
        ("name: [a, b\ntier: fast\n", "f:2:"),
        ("name: \"a\n", "f:"),
        ("name: x\n\tvoice: {}\n", "f:2:1: this line is indented with a tab (use spaces)"),
        ("name: *nobody\n", "f:1:7"),
        ("name: &a [*a]\n", "f:1:"),
        ("a: b: c\n", "f:1:"),
    ] {
        let found = problems(text);
        assert_eq!(found.len(), 1, "{text:?}: {found:?}");
        assert!(found[0].starts_with(place), "{text:?}: {found:?}");
        assert!(!found[0].contains('\n'), "{found:?}");
    }
}

#[test]
fn only_tabs_before_json_are_blanks() {
    let (node, found) = read(
        "name: x\nvoice: {\n\t\"pitch\":\t2,\n\t\t\"id\": \"a\tb\"\n\t}\nsay: |\n  \t\"kept\"\n",
    );
    assert_eq!(found, [""; 0]);
    let node = node.unwrap();
    assert_eq!(Fields::new(&node, &OUTER).texts("say"), ["\t\"kept\"\n"]);
    assert_eq!(
        problems("name: x\n\tcount: 2\n"),
        ["f:2:1: this line is indented with a tab (use spaces)"]
    );
}

#[test]
fn several_documents_are_refused() {
    let found = problems("name: x\n---\nname: y\n");
    assert_eq!(
        found,
        ["f:2:1: a second document begins here (remove the line '---' and everything after it)"]
    );
}

#[test]
fn tags_and_merge_keys_are_named() {
    assert_eq!(problems("name: !!str 12\n"), [""; 0]);
    assert_eq!(
        problems("name: !secret x\n"),
        ["f:1:15: unknown tag '!secret' (remove it; only core tags such as !!str are supported)"]
    );
    assert_eq!(
        problems("name: x\n<<: { tier: fast }\n"),
        ["f:2:1: unknown key '<<' (merge keys are not part of YAML 1.2; write the keys out)"]
    );
}

#[test]
fn text_that_aliases_repeat_is_bounded() {
    let file = |aliases: usize| {
        let many = ", *a".repeat(aliases);
        format!("a: &a {{ {}: {} }}\nb: [x{many}]\n", "k".repeat(1_000), "y".repeat(1 << 20))
    };
    // The text itself, its anchor and the aliases: below 16 MiB.
    let of_size = |found: Vec<String>| found.into_iter().any(|it| it.contains("MiB"));
    assert!(!of_size(problems(&file(13))));
    for aliases in [14, 2_000] {
        let found = problems(&file(aliases));
        assert!(found[0].contains("more than 16 MiB of text"), "{found:?}");
        assert!(found[0].contains("(use fewer aliases"), "{found:?}");
    }
}

#[test]
fn aliased_value_has_position_of_its_alias() {
    let (node, found) = read("name: x\nsay: &words [a, b]\ntags: *words\n");
    assert_eq!(found, [""; 0]);
    let node = node.unwrap();
    let fields = Fields::new(&node, &OUTER);
    assert_eq!(fields.texts("tags"), ["a", "b"]);
    assert_eq!(fields.place("tags"), Position { line: 3, column: 7 });
}

#[test]
fn bombs_are_refused_quickly() {
    let mut text = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..20 {
        let inside = vec![format!("*a{}", level - 1); 9].join(",");
        writeln!(text, "a{level}: &a{level} [{inside}]").unwrap();
    }
    let found = problems(&text);
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("more than 250000 values"), "{found:?}");

    let mut text = "a0: &a0 [x]\n".to_owned();
    for level in 1..200 {
        writeln!(text, "a{level}: &a{level} [*a{}]", level - 1).unwrap();
    }
    assert!(problems(&text)[0].contains("nested deeper than 64 levels through aliases"));

    for text in ["[".repeat(100_000), "- ".repeat(100_000), "{a: ".repeat(100_000)] {
        let found = problems(&text);
        assert_eq!(found.len(), 1, "{found:?}");
    }
    let text = format!("name: [{}]", "x,".repeat(300_000));
    assert!(problems(&text)[0].contains("more than 250000 values"));
}

#[test]
fn json_has_the_types_of_yaml_1_2() {
    let mut problems = Problems::new("f");
    let text = "{a: 1, b: 1.5, c: true, d: no, e: '2', f: ~, g: [0x10, .inf, 1e3, 007, +1]}";
    let node = parse(text, &mut problems).unwrap();
    let expected = serde_json::json!({
        "a": 1, "b": 1.5, "c": true, "d": "no", "e": "2", "f": null,
        "g": [16, ".inf", 1000.0, 7, 1],
    });
    assert_eq!(node.to_json(), expected);
}

#[test]
fn nearest_spelling_is_found_and_only_that() {
    let known = ["name", "aliases", "personality", "voice"];
    assert_eq!(nearest("personalty", known), Some("personality"));
    assert_eq!(nearest("vocie", known), Some("voice"), "swapped letters are one slip");
    assert_eq!(nearest("Name", known), Some("name"));
    assert_eq!(nearest("zzzz", known), None);
    assert_eq!(nearest("", known), None);
}

#[test]
fn messages_stay_on_one_line_and_short() {
    let found = problems(&format!("name: x\n\"a\\n\\e[31m{}\": 1\n", "b".repeat(500)));
    assert_eq!(found.len(), 1);
    assert!(found[0].chars().all(|char| !char.is_control()), "{found:?}");
    assert!(found[0].chars().count() < 250, "{found:?}");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        let _ = read(&text);
    }

    #[test]
    fn any_yaml_like_text_is_read_or_refused(
        text in proptest::collection::vec(
            prop::sample::select(vec![
                "name", ":", " ", "\n", "- ", "[", "]", "{", "}", ",", "&a ", "*a", "\"", "'", "|",
                ">", "#", "!!str ", "?", "\t", "---\n", "...", "0x", "voice", "  ", "é", "%", "\r",
            ]), 0..60),
    ) {
        let (node, found) = read(&text.concat());
        prop_assert!(node.is_some() || !found.is_empty(), "a refusal has its reason");
    }
}
