use proptest::prelude::*;

use super::*;

fn speakable(text: &str, language: &str) -> String {
    SpeakableFilter::new(language, []).next(text)
}

fn say(text: &str) -> String {
    speakable(text, "en")
}

fn check(table: &[(&str, &str)]) {
    for (text, said) in table {
        assert_eq!(say(text), *said, "{text}");
    }
}

#[test]
fn plain_text_is_left_as_it_is() {
    for text in [
        "Well met, traveller!",
        "“Stop,” she cried. It's a well-known inn — the best.",
        "I don't know… perhaps?",
        "Wait, who goes there?",
    ] {
        assert_eq!(say(text), text);
        assert_eq!(speakable(text, "de"), text);
    }
    check(&[("", ""), ("  \n ", ""), ("...", ""), ("—", ""), ("\"\"", "")]);
}

#[test]
fn markdown_goes_and_its_words_stay() {
    check(&[
        ("# The Menu", "The Menu"),
        ("**Ale** and _wine_ and ***stew***", "Ale and wine and stew"),
        ("I *told* you **never** to go.", "I told you never to go."),
        ("- Ale\n- Wine\n* Stew", "Ale. Wine. Stew"),
        ("1. Go north.\n2. Turn left", "Go north. Turn left"),
        ("14. I have seen better.", "fourteen. I have seen better."),
        ("1. Ale.\n3. Not a list any more.", "Ale. three. Not a list any more."),
        ("> A quote", "A quote"),
        ("Use `the key` now", "Use the key now"),
        ("```rust\nfn main() {}\n```\nDone.", "Done."),
        ("| Item | Price |\n|---|:--|\n| Ale | low |", "Item, Price. Ale, low"),
        ("See [the map](https://x.y/z) here", "See the map here"),
        ("![a map](map.png) Look!", "Look!"),
        ("one\n\n---\n\ntwo", "one. two"),
        ("~~never~~ always", "never always"),
        ("snake_case and <b>bold</b><br/>", "snake case and bold"),
        ("The **Rusty Tankard** is full", "The Rusty Tankard is full"),
        ("2 * 3 * 4", "two times three times four"),
        ("Hi there :) friend", "Hi there friend"),
    ]);
}

#[test]
fn links_are_not_spelled_out() {
    check(&[
        ("Look at https://example.com/a?b=1.", "Look at a link."),
        ("https://example.com", ""),
        ("Go to www.example.com, friend", "Go to a link, friend"),
        ("It is <https://example.com> there", "It is a link there"),
    ]);
    assert_eq!(speakable("Schau: https://x.de!", "de"), "Schau: ein Link!");
}

#[test]
fn emoji_and_invisible_characters_go() {
    check(&[
        ("Welcome! 🍺🎲 Sit down 👩‍🚀.", "Welcome! Sit down."),
        ("zero\u{200b}width\u{feff} \u{7}bell", "zerowidth bell"),
        ("🎲", ""),
        ("north → south", "north south"),
    ]);
}

#[test]
fn stage_directions_go() {
    check(&[
        ("*sighs* I know.", "I know."),
        ("*leans in closely* Listen.", "Listen."),
        ("*The barkeep wipes a mug.* Welcome!", "Welcome!"),
        ("*He smiles.*", ""),
        ("Well, *sighs* I suppose.", "Well, I suppose."),
        ("I know. *nods*", "I know."),
        ("[laughs] Good one.", "Good one."),
        ("Good one [He laughs].", "Good one."),
        ("(sighs) Fine.", "Fine."),
        ("Fine. (laughing softly)", "Fine."),
        ("(softly) Come here.", "Come here."),
        ("_grins widely_ Of course.", "Of course."),
    ]);
    assert_eq!(speakable("*seufzt* Na gut. (flüstert) Komm.", "de"), "Na gut. Komm.");
}

#[test]
fn emphasis_and_asides_are_said() {
    check(&[
        ("That *is* bad", "That is bad"),
        ("*Never* do that", "Never do that"),
        ("I hate *spiders*.", "I hate spiders."),
        ("I *really mean* it", "I really mean it"),
        ("*The Hobbit* is long", "The Hobbit is long"),
        ("It was him (or so they say) once", "It was him, or so they say, once"),
        ("It is old (as you know).", "It is old, as you know."),
        ("**Never, ever** go there", "Never, ever go there"),
    ]);
}

#[test]
fn tool_markup_is_never_said() {
    check(&[
        ("<think>I should roll.</think>Very well.", "Very well."),
        ("<tool_call>{\"name\":\"roll\"}</tool_call>", ""),
        ("Sure. <tool_call name=\"x\">{\"a\": \"}\"}</tool_call> Done.", "Sure. Done."),
        ("{\"name\": \"roll\", \"arguments\": {\"expression\": \"2d6\"}} Rolling.", "Rolling."),
        ("[{\"name\": \"roll\"}] Rolling.", "Rolling."),
        ("[TOOL_CALLS] [{\"name\":\"roll\"}]", ""),
        ("<|im_end|>Hello<|eot_id|>", "Hello"),
        ("functions.roll({\"expression\": \"2d6\"}) Nine.", "Nine."),
        ("Well. roll(expression=\"2d6\") Nine.", "Well. Nine."),
        ("<function=roll>{\"e\":1}</function> Hm.", "Hm."),
        ("Is a < b? </think> Yes.", "Is a b? Yes."),
    ]);
}

#[test]
fn hidden_text_may_span_sentences() {
    let run = |sentences: &[&str]| {
        let mut filter = SpeakableFilter::new("en", ["Bartok the Barkeep"]);
        sentences.iter().map(|sentence| filter.next(sentence)).collect::<Vec<_>>()
    };
    assert_eq!(run(&["*leans in.", "Looks around.* Hello.", "Yes."]), ["", "Hello.", "Yes."]);
    assert_eq!(run(&["<think>Hm.", "I roll.", "a", "b", "c", "</think> Hi."])[5], "Hi.");
    assert_eq!(run(&["Ok [he laughs.", "Then stops] so."]), ["Ok", "so."]);
    assert_eq!(run(&["(sighs.", "Looks up.) Fine."]), ["", "Fine."]);
    assert_eq!(run(&["{\"name\": \"roll.", "x\", \"y\": [1]}", "Nine."]), ["", "", "Nine."]);
    assert_eq!(run(&["```", "let x = 1.", "```", "Done."]), ["", "", "", "Done."]);
    // An unclosed asterisk does not silence the rest of the reply.
    assert_eq!(run(&["*stray. ", "a one.", "b two.", "Three."])[3], "Three.");
}

#[test]
fn own_name_label_goes() {
    let say = |text: &str| SpeakableFilter::new("en", ["Bartok the Barkeep", "Barty"]).next(text);
    for text in [
        "Bartok: Hello.",
        "**Bartok:** Hello.",
        "Bartok the Barkeep: Hello.",
        "BARTOK : Hello.",
        "Barty: Hello.",
        "[Bartok]: Hello.",
        "Bartok (smiling): Hello.",
    ] {
        assert_eq!(say(text), "Hello.", "{text}");
    }
    assert_eq!(say("Greymantle: Hello."), "Greymantle: Hello.");
    assert_eq!(say("Listen: Bartok is me."), "Listen: Bartok is me.");
}

#[test]
fn figures_become_words() {
    check(&[
        ("That is 15 gp and 3 sp.", "That is fifteen gold pieces and three silver pieces."),
        ("1 gp, 2cp, 10,000 pp", "one gold piece, two copper pieces, ten thousand platinum pieces"),
        ("30 ft. away, a 10-ft pole, 50 lb", "thirty feet away, a ten-foot pole, fifty pounds"),
        ("It is 30 ft.", "It is thirty feet."),
        (
            "You have 12 HP and AC 15, DC 13.",
            "You have twelve hit points and armor class fifteen, difficulty class thirteen.",
        ),
        ("a +5 sword, -2 to hit, −1", "a plus five sword, minus two to hit, minus one"),
        (
            "1/2, 3/4, 2 1/2, 2½ and 17/20",
            "one half, three quarters, two and one half, two and a half and seventeen out of twenty",
        ),
        ("50% of it, 3.5 miles", "fifty percent of it, three point five miles"),
        ("the 3rd door, 21st, 12th, 20th", "the third door, twenty-first, twelfth, twentieth"),
        (
            "in 1492, since 1905, in 1200, 1066 DR",
            "in fourteen ninety-two, since nineteen oh five, in twelve hundred, ten sixty-six DR",
        ),
        ("1492 coins", "one thousand four hundred ninety-two coins"),
        ("at 10:30, 3-5 goblins", "at ten thirty, three to five goblins"),
        ("300 XP", "three hundred experience points"),
        ("room #3 & $5", "room number three and five dollars"),
        ("HP 7/12", "hit points seven out of twelve"),
        ("007", "zero zero seven"),
        ("1,234,567", "one million two hundred thirty-four thousand five hundred sixty-seven"),
        ("and/or", "and or"),
        ("5e rules", "five e rules"),
    ]);
}

#[test]
fn dice_become_words() {
    check(&[
        ("Roll 2d6+3.", "Roll two d six plus three."),
        ("Roll 2d6 + 3, then d20!", "Roll two d six plus three, then a d twenty!"),
        ("Roll a d20 or your D8.", "Roll a d twenty or your d eight."),
        ("1d8 fire damage", "a d eight fire damage"),
        ("1d20 + your modifier", "a d twenty plus your modifier"),
    ]);
}

#[test]
fn german_keeps_its_numbers() {
    assert_eq!(
        speakable("Das macht 15 GM am 3. Mai, 50%.", "de"),
        "Das macht 15 GM am 3. Mai, 50%."
    );
    assert_eq!(speakable("3. Mai", "de"), "3. Mai");
}

#[test]
fn numbers_use_language_of_their_sentence() {
    let mut filter = SpeakableFilter::new("en", []).by_sentence();
    let said = [
        "It is 17.",
        "Da rollen sie. 2!",
        "3!",
        "Die Würfel zeigen 17.",
        "You have 3 crowns.",
        "4.",
    ];
    let said = said.map(|sentence| filter.next(sentence));
    let words =
        ["It is seventeen.", "Da rollen sie. zwei!", "drei!", "Die Würfel zeigen siebzehn."];
    assert_eq!(said[..4], words);
    assert_eq!(said[4..], ["You have three crowns.", "four."]);
}

proptest! {
    #[test]
    fn any_text_gives_clean_text(
        sentences in proptest::collection::vec(
            "(\\*|\\*\\*|_|`|```|\\[|\\]|\\(|\\)|\\{|\\}|\"|<|>|</think>|<think>|https://x.y|\\||#|word|sighs|2d6|1/2|,|\\.|12|%|:| |\n|🎲|é){0,25}\\PC{0,8}",
            1..5,
        ),
        german: bool,
    ) {
        let mut filter = SpeakableFilter::new(if german { "de" } else { "en" }, ["Bartok"]);
        for sentence in &sentences {
            let said = filter.next(sentence);
            prop_assert_eq!(said.trim(), said.as_str());
            prop_assert!(!said.contains(['*', '`', '{', '}', '|', '\n', '🎲']), "{:?}", said);
            prop_assert!(!said.contains("  "));
            prop_assert!(said.is_empty() || said.contains(char::is_alphanumeric));
        }
    }
}
