//! Tests of rolls in talk, and of both directions.

mod linear;
mod table;

use proptest::prelude::*;

use super::*;

const ROLLS: &[(&str, &str)] = &[
    ("roll two d six plus three", "2d6+3"),
    ("Bartok, roll two d six plus three", "2d6+3"),
    ("d twenty", "1d20"),
    ("eight d six", "8d6"),
    ("three d eight minus one", "3d8-1"),
    ("two dee six", "2d6"),
    ("roll two days six plus three", "2d6+3"),
    ("Roll 2 T 6.", "2d6"),
    ("Roll 12 the 6", "12d6"),
    ("roll to d six", "2d6"),
    ("too d six plus four", "2d6+4"),
    ("for d six", "4d6"),
    ("roll for a d six", "1d6"),
    ("a d 20", "1d20"),
    ("roll a D 20.", "1d20"),
    ("roll 2 d 6", "2d6"),
    ("two d. six", "2d6"),
    ("two d6", "2d6"),
    ("two d6s and 3 d8s", "2d6+3d8"),
    ("roll percentile dice", "1d100"),
    ("roll percentile", "1d100"),
    ("d one hundred", "1d100"),
    ("d hundred please", "1d100"),
    ("roll d percent", "1d100"),
    ("two d six plus twenty five", "2d6+25"),
    ("two d six plus twenty-five", "2d6+25"),
    ("one d four plus one hundred and five", "1d4+105"),
    ("twenty d six", "20d6"),
    ("twenty five d six", "25d6"),
    ("two six sided dice plus three", "2d6+3"),
    ("a twenty sided die", "1d20"),
    ("roll a six-sided die", "1d6"),
    ("twenty six sided dice", "20d6"),
    ("2 6-sided dice", "2d6"),
    ("the six sided die", "1d6"),
    ("i attack at two d six plus 3 fire", "2d6+3"),
    ("two d six fire damage plus three", "2d6+3"),
    ("roll two d six and add three", "2d6+3"),
    ("a d twenty with a plus five", "1d20+5"),
    ("two d six plus one d four plus two", "2d6+1d4+2"),
    ("two d six and one d four", "2d6+1d4"),
    ("a d twenty and two d six damage", "1d20; 2d6"),
    ("five plus two d six", "5+2d6"),
    ("two d six times two", "2d6*2"),
    ("four d six drop the lowest", "4d6pl1"),
    ("four d six keep the highest three", "4d6kh3"),
    ("four d six and keep the three best", "4d6kh3"),
    ("roll four d six drop the lowest six times", "6#4d6pl1"),
    ("roll d twenty five times", "5#1d20"),
    ("roll a d twenty twice", "2#1d20"),
    ("roll three times a d six", "3#1d6"),
    ("four fate dice plus one", "4dF+1"),
    // Advantage.
    ("a d twenty with advantage", "2d20kh1"),
    ("d twenty plus five with advantage", "2d20kh1+5"),
    ("a d twenty with disadvantage plus two", "2d20kl1+2"),
    ("with advantage roll a d twenty plus five", "2d20kh1+5"),
    ("two d twenty with advantage", "2d20kh1"),
    ("a d twenty with advantage and with disadvantage", "1d20"),
    ("i have advantage so roll two d six", "2d6"),
    ("roll with advantage", "2d20kh1"),
    ("roll at disadvantage", "2d20kl1"),
    // Typed.
    ("2d6+3", "2d6+3"),
    ("roll 2d6 + 3 please", "2d6+3"),
    ("roll 2d6+3, please!", "2d6+3"),
    ("roll 2d6!", "2d6"),
    ("2D6 - 1", "2d6-1"),
    ("roll d20-1", "1d20-1"),
    ("4d6kh3 for strength", "4d6kh3"),
    ("roll 6#4d6dl1", "6#4d6pl1"),
    ("1d20+5 with advantage", "2d20kh1+5"),
    ("2d6 plus 3", "2d6+3"),
    ("3d6+d4", "3d6+1d4"),
    ("roll d%", "1d100"),
    ("4dF", "4dF"),
    // German.
    ("zwei w sechs plus drei", "2d6+3"),
    ("würfle einen w zwanzig", "1d20"),
    ("w zwanzig mit vorteil", "2d20kh1"),
    ("würfle mit Vorteil", "2d20kh1"),
    ("mit Nachteil würfeln, bitte", "2d20kl1"),
    ("würfle zweimal w sechs", "2#1d6"),
    ("3w6 dreimal", "3#3d6"),
    ("2w6+3", "2d6+3"),
    ("drei w acht minus fünfundzwanzig", "3d8-25"),
];

#[test]
fn rolls_are_found() {
    for (utterance, roll) in ROLLS {
        assert_eq!(dice_in(utterance).as_deref(), Some(*roll), "{utterance}");
    }
}

/// Spoken rolls as Whisper writes them.
const WRITTEN: &[(&str, &str)] = &[
    ("Roll 2d6 plus 3.", "2d6+3"),
    ("Bartok, roll 2D6+3.", "2d6+3"),
    ("Bartok roll two D6 plus three.", "2d6+3"),
    ("Roll two D-six plus three.", "2d6+3"),
    ("Roll 2 D 6 +3.", "2d6+3"),
    ("Roll 2D 6 plus three!", "2d6+3"),
    ("Roll 2D-6, plus 3.", "2d6+3"),
    ("Roll two d6's plus 3.", "2d6+3"),
    ("Roll two d-sixes.", "2d6"),
    ("Roll to d6 plus 3.", "2d6+3"),
    ("Roll, to D6 plus 3.", "2d6+3"),
    ("Please roll too D6.", "2d6"),
    ("Roll to D 6 plus three.", "2d6+3"),
    ("Roll 2d6, +3.", "2d6+3"),
    ("Bartok, roll 2d6+, 3a.", "2d6+3"),
    ("Bartok, roll 2d6+, free.", "2d6+3"),
    ("Bartok, roll 2d8+, 4th for the brawl.", "2d8+4"),
    ("Roll 2d6 + three.", "2d6+3"),
    ("Roll 1d20 with advantage.", "2d20kh1"),
    ("A D20, with disadvantage.", "2d20kl1"),
    ("I need a D-20.", "1d20"),
    ("8D6 lightning damage", "8d6"),
    ("4D6, drop the lowest, six times.", "6#4d6pl1"),
    ("4D6 drop the lowest 6 times.", "6#4d6pl1"),
    ("3D8 -1", "3d8-1"),
    ("3d8 minus one.", "3d8-1"),
    ("A 20-sided die.", "1d20"),
    ("Two six-sided dice, plus 3.", "2d6+3"),
    ("Wirf 2W6 plus 3.", "2d6+3"),
    ("Wirf zwei W6 plus drei.", "2d6+3"),
    ("Wirf einen W20.", "1d20"),
    ("Wirf 2 W 6 plus 3.", "2d6+3"),
];

#[test]
fn whisper_spellings_of_dice_are_rolls() {
    for (written, roll) in WRITTEN {
        assert_eq!(dice_in(written).as_deref(), Some(*roll), "{written}");
    }
    for talk in ["We go from the old town to D6 on the map.", "It takes to D.", "I listen to D6."] {
        assert_ne!(dice_in(talk).as_deref(), Some("2d6"), "{talk}");
    }
}

#[test]
fn talk_is_no_roll() {
    for utterance in [
        "",
        "the six of us went in",
        "i have two swords",
        "do you play d and d",
        "D&D is fun",
        "R2D2 and 3D printers",
        "a three d printer",
        "i'd six times rather stay",
        "i would rather have two",
        "roll for initiative",
        "i roll my eyes with contempt",
        "give me a twenty",
        "i rolled a natural twenty",
        "we have the advantage",
        "attack with advantage",
        "vitamin d six is not a thing but roll with it",
        "plan b or d four of us already left the old tavern",
        "two plus two is four",
        "there are two sides to this and six more",
        "a two sided argument",
        "she is in the ninetieth percentile",
        "i was tempting fate with two dice",
        "meet me at room d twenty",
        "two and a half men",
        "the elf has eleven arrows",
        "george w bush had twenty",
        "who is he",
        "add three to my tab",
        "eight d six with advantage",
        "2000d6",
    ] {
        assert_eq!(dice_in(utterance), None, "{utterance}");
    }
}

#[test]
fn misspelt_words_of_dice_are_known() {
    for (said, roll) in [
        ("roll stealth with advantege", Some("2d20kh1")),
        ("roll a d20 with advatage", Some("2d20kh1")),
        ("roll at disadvanatge", Some("2d20kl1")),
        ("a d twenty with dissadvantage plus two", Some("2d20kl1+2")),
        ("roll a d20 with dis advantage", Some("2d20kl1")),
        ("roll insight, avantage, plus four", Some("2d20kh1+4")),
        ("percepton plus three", Some("1d20+3")),
        ("roll with a modifer of two", Some("1d20+2")),
        ("würfle mit Vortel", Some("2d20kh1")),
        ("würfel Wahrnehmung mit Vorteill plus fünf", Some("2d20kh1+5")),
        ("w zwanzig mit Nachtel", Some("2d20kl1")),
        ("einen w20 mit Nach teil würfeln", Some("2d20kl1")),
        ("würfle Heimlichkeit mit Nachtteil minus eins", Some("2d20kl1-1")),
        // Words of a language, forms of words, and words that are too different.
        ("roll stealth for the vantage", None),
        ("Würfeln hat Vorteile", None),
        ("das Vorurteil plus drei", None),
        ("roll a d20 with advocates", Some("1d20")),
    ] {
        assert_eq!(dice_in(said).as_deref(), roll, "{said}");
    }
}

#[test]
fn advantage_told_behind_a_request_counts() {
    for (said, roll) in [
        ("Roll stealth. Advantage I have as well, and plus three.", "2d20kh1+3"),
        ("Roll perception please, I also get advantage on that, plus two", "2d20kh1+2"),
        ("roll insight and there's advantage too, plus one", "2d20kh1+1"),
        ("Roll a d20. Disadvantage applies, minus two.", "2d20kl1-2"),
        ("A d20, please. I have advantage, and my bonus is plus six.", "2d20kh1+6"),
        ("roll persuasion +3, advantage too", "2d20kh1+3"),
        ("Würfel Wahrnehmung. Nachteil habe ich dabei auch, und minus eins.", "2d20kl1-1"),
        ("Würfle Athletik, Vorteil gibts noch dazu und plus vier", "2d20kh1+4"),
        ("Ich würfle Heimlichkeit. Plus zwei hab ich noch, und Vorteil auch.", "2d20kh1+2"),
        ("Einen w20 bitte. Vorteil krieg ich übrigens auch, plus fünf", "2d20kh1+5"),
        ("Wirf für mich Initiative, ich habe auch noch Vorteil darauf und plus drei", "2d20kh1+3"),
        ("würfel Arkane, mein Bonus ist plus sieben und Nachteil hab ich auch", "2d20kl1+7"),
        ("Würfle Motiv, einen Bonus hab ich noch von drei", "1d20+3"),
        ("Rettungswurf auf Weisheit, hab +2 und Nachteil", "2d20kl1+2"),
        ("Rettungswurf auf Weisheit, hab +2 und Nachteil wegen dem Gift", "2d20kl1+2"),
        ("Rettungswurf auf Weisheit, hab Nachteil und plus zwei", "2d20kl1+2"),
        ("Wisdom save, I've got plus two and disadvantage because of the poison", "2d20kl1+2"),
        ("i'm down death save please", "1d20"),
    ] {
        assert_eq!(dice_in(said).as_deref(), Some(roll), "{said}");
    }
    for said in [
        "what is a death save",
        "I failed my death save",
        "wir hatten plus zwei Männer und einen Vorteil",
        "We have an advantage of two archers",
        "der Vorteil ist auf unserer Seite",
    ] {
        assert_eq!(dice_in(said), None, "{said}");
    }
}

#[test]
fn numbers_are_written_out() {
    for (n, words) in [
        (0, "zero"),
        (7, "seven"),
        (12, "twelve"),
        (20, "twenty"),
        (23, "twenty-three"),
        (-3, "minus three"),
        (100, "one hundred"),
        (105, "one hundred five"),
        (342, "three hundred forty-two"),
        (1_000, "one thousand"),
        (12_016, "twelve thousand sixteen"),
        (1_000_001, "one million one"),
        (
            i64::MIN,
            "minus nine quintillion two hundred twenty-three quadrillion three hundred seventy-two \
             trillion thirty-six billion eight hundred fifty-four million seven hundred \
             seventy-five thousand eight hundred eight",
        ),
    ] {
        assert_eq!(number_words(n), words);
    }
}

#[test]
fn rolls_are_said() {
    for (roll, words) in [
        ("2d6+3", Some("two d six plus three")),
        ("d20", Some("a d twenty")),
        ("1d20 adv", Some("a d twenty with advantage")),
        ("dis-1", Some("a d twenty with disadvantage minus one")),
        ("4d6kh3", Some("four d six keep the highest three")),
        ("4d6dl1", Some("four d six drop the lowest")),
        ("6#4d6dl1", Some("four d six drop the lowest six times")),
        ("d%", Some("a d one hundred")),
        ("4dF+1", Some("four fate dice plus one")),
        ("5+2d6", Some("five plus two d six")),
        ("2d6*2", Some("two d six times two")),
        ("2*1d6", None),
        ("5+3", None),
        ("(1d6+2)*3", None),
        ("2d6rr1", None),
        ("1d20>5", None),
        ("2d6[fire]", None),
        ("1d6+.5", None),
        ("nonsense", None),
    ] {
        assert_eq!(dice_to_words(roll).as_deref(), words, "{roll}");
    }
}

proptest! {
    #[test]
    fn detected_dice_always_parse(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "roll", "a", "one", "two", "d", "dee", "d6", "2d6+3", "six", "twenty", "hundred",
                "thousand", "and", "plus", "minus", "times", "twice", "sided", "dice", "die",
                "with", "advantage", "disadvantage", "keep", "drop", "the", "highest", "lowest",
                "percentile", "fate", "w", "zwei", "sechs", "+", "-", "3", "99999", "to", "for",
                "0", "1d20", "divided", "by",
            ]),
            0..12,
        )
    ) {
        if let Some(roll) = dice_in(&words.join(" ")) {
            let parsed = read_dice(&roll).map_err(|e| TestCaseError::fail(format!("{roll}: {e}")))?;
            prop_assert!(parsed.iter().all(dice::Expression::has_dice));
            let printed: Vec<String> = parsed.iter().map(dice::Expression::to_string).collect();
            prop_assert_eq!(printed.join(APART), roll);
        }
    }

    #[test]
    fn any_text_is_taken(text in ".{0,80}") {
        let _ = dice_in(&text);
        let _ = dice_to_words(&text);
    }

    #[test]
    fn dice_in_words_convert_back_to_same_roll(
        first in (2..101_i64, prop::sample::select(vec![4, 6, 8, 10, 12, 20, 100]), "(kh2|pl1)?"),
        rest in prop::collection::vec(("[+-]", 1..1_000_i64), 0..3),
    ) {
        let (count, sides, keep) = first;
        let rest: String = rest.iter().map(|(sign, n)| format!("{sign}{n}")).collect();
        let roll = format!("{count}d{sides}{keep}{rest}");
        let words = dice_to_words(&roll).unwrap();
        prop_assert_eq!(dice_in(&words), Some(roll), "{}", words);
    }

    #[test]
    fn numbers_are_heard_as_said(n in 0..1_000_000_i64) {
        let words = format!("two d six plus {}", number_words(n));
        prop_assert_eq!(dice_in(&words), Some(format!("2d6+{n}")));
    }
}

#[test]
fn unrollable_typed_dice_are_passed_on() {
    assert_eq!(typed_dice("roll 2d6kx1 please").as_deref(), Some("2d6kx1"));
    for (said, dice) in [
        ("roll 5000d6", "5000d6"),
        ("würfel mal 5000W6", "5000d6"),
        ("Würfel fünftausend w sechs", "5000d6"),
        ("roll five thousand d six", "5000d6"),
        ("roll 2d6 and five thousand d six plus two", "5000d6"),
    ] {
        assert_eq!(dice_in(said), None, "{said}");
        let wanted = typed_dice(said);
        assert!(wanted.as_deref().is_some_and(|it| it.contains(dice)), "{said}: {wanted:?}");
    }
    for said in [
        "I just rolled 2d6 and got seven",
        "don't roll 2d6.",
        "meet me at 3",
        "don't roll five thousand d six",
        "Wie viel sind 5000W6?",
        "wir haben gestern 5000W6 gewürfelt",
        "they brought five thousand men",
        "das kostet fünftausend Gold",
    ] {
        assert_eq!(typed_dice(said), None, "{said}");
    }
}

#[test]
fn dice_of_a_vague_number_are_not_one() {
    for said in [
        "roll a few d6",
        "roll a few d6 plus two",
        "roll 2d6 and some d4",
        "roll some d six",
        "roll five million d six",
        "wirf ein paar w6",
        "würfel zwei Millionen w sechs",
    ] {
        assert_eq!(DiceRequest::of(said), DiceRequest::Talk, "{said}");
    }
    for (said, roll) in
        [("roll d6", "1d6"), ("würfel w6", "1d6"), ("roll a dozen, no, three d6", "3d6")]
    {
        assert_eq!(dice_in(said).as_deref(), Some(roll), "{said}");
    }
}

#[test]
fn written_dice_are_read_whole_or_not_at_all() {
    for text in [
        "2d6++*",
        "2d6+",
        "2d6 3",
        "2d6 +",
        "2d6 kh",
        "2d6 plus",
        "2d6 x",
        "2d6 + 3 * kh",
        "1d8; 2d6++*",
    ] {
        let error = read_dice(text).unwrap_err().to_string();
        let quotes = format!("\"{text}\"");
        assert!(dice_in(text).is_none() || error.contains(&quotes), "{text}: {error}");
    }
    for (text, rolls) in [
        ("2d6 hello", "2d6"),
        ("2d6+3 to hit", "2d6+3"),
        ("roll 2d6 + 3 please", "2d6+3"),
        ("two d six plus three fire damage", "2d6+3"),
        ("a d20, and I have advantage, plus two", "2d20kh1+2"),
        ("zwei w sechs plus drei bitte", "2d6+3"),
        ("a d twenty and two d six damage", "1d20; 2d6"),
    ] {
        let read = read_dice(text).unwrap();
        let read: Vec<String> = read.iter().map(ToString::to_string).collect();
        assert_eq!(read.join(APART), rolls, "{text}");
    }
}

#[test]
fn kept_and_dropped_dice_are_heard() {
    for (said, roll) in [
        ("wirf 10W10 und behalt nur die drei höchsten", "10d10kh3"),
        ("vier w sechs, die niedrigste weglassen", "4d6pl1"),
        ("wirf 4w6 und lass den niedrigsten weg", "4d6pl1"),
        ("würfel 4w6 und dann streich den schlechtesten Würfel", "4d6pl1"),
        ("5w6, zähl nur die besten drei", "5d6kh3"),
        ("roll ten d ten and only keep the three highest", "10d10kh3"),
        ("roll 10d10 and then keep the best three", "10d10kh3"),
        ("4d6 but drop the lowest", "4d6pl1"),
        ("4d6 and discard the lowest die plus two", "4d6pl1+2"),
    ] {
        assert_eq!(dice_in(said).as_deref(), Some(roll), "{said}");
    }
    // Rather nothing than the sum of all dice.
    for said in [
        "roll 10d10, only the best three count",
        "4d6 and leave out the lowest",
        "10w10, nur die drei höchsten",
        "würfel 4w6 und der schlechteste fällt weg, also den niedrigsten nicht zählen",
        "keep the highest three",
        "behalt die drei höchsten",
        "drop the lowest price",
    ] {
        assert_eq!(dice_in(said), None, "{said}");
    }
    for (said, roll) in [
        ("roll 2d6 at the highest tower", "2d6"),
        ("roll 2d6, my best friend", "2d6"),
        ("wirf 2w6 für den höchsten Turm", "2d6"),
        ("roll 2d6 and keep the change", "2d6"),
    ] {
        assert_eq!(dice_in(said).as_deref(), Some(roll), "{said}");
    }
}

fn wanted_after_a_roll(said: &str) -> DiceRequest {
    match DiceRequest::of(said) {
        DiceRequest::Nothing => after_roll(said, |_| false),
        wanted => wanted,
    }
}

#[test]
fn other_number_of_dice_is_no_repetition() {
    for said in [
        "Same again but with one die more",
        "same again with one more die",
        "the same again but one more",
        "the same again with one more",
        "roll the same again with two dice less",
        "roll that again with an extra d6",
        "roll the same again but with one d six more",
        "same again with another die",
        "Das Gleiche noch mal, aber mit einem Würfel mehr",
        "würfel das Gleiche noch mal mit zwei Würfeln weniger",
        "nochmal mit einem mehr",
        "würfel nochmal mit einem zusätzlichen w6",
    ] {
        let wanted = wanted_after_a_roll(said);
        assert_eq!(wanted.rolls(), None, "{said}: {wanted:?}");
    }
    for said in [
        "roll the same dice again",
        "roll the dice one more time",
        "Same again please",
        "one more roll",
        "give me one more of those",
        "once more with the same dice, roll it",
        "Würfel das Gleiche noch mal",
        "noch einen Wurf",
    ] {
        let wanted = wanted_after_a_roll(said);
        assert_eq!(wanted, DiceRequest::Again(String::new()), "{said}");
    }
}

#[test]
fn past_tenses_ask_for_the_last_roll() {
    for (said, back) in [
        ("Was hatte ich da grad gewürfelt?", Some(0)),
        ("was hatte ich eben geworfen", Some(0)),
        ("Was hatte ich davor gewürfelt?", Some(1)),
        ("was hatte ich gesagt, als er da war", None),
        ("ich hatte eine Eins gewürfelt", None),
        ("Was hatte der Ork gewürfelt?", None),
    ] {
        assert_eq!(DiceRequest::of(said).last(), back, "{said}");
    }
}

#[test]
fn damage_on_a_hit_is_rolled_too() {
    for (said, rolls) in [
        ("einmal w zwanzig plus fünf und wenn ich treffe eins w acht plus drei", "1d20+5; 1d8+3"),
        ("w20 plus fünf, und falls ich treffe, 1w8+3", "1d20+5; 1d8+3"),
        ("a d20 plus five and if I hit a d eight plus three", "1d20+5; 1d8+3"),
        ("roll 1d20+5 and, if that hits, 2d6", "1d20+5; 2d6"),
    ] {
        assert_eq!(dice_in(said).as_deref(), Some(rolls), "{said}");
    }
    for said in [
        "if I hit do I roll a d8",
        "do I roll a d20 and if I hit a d8?",
        "soll ich einen w20 würfeln und wenn ich treffe einen w8",
        "don't roll a d20 and if I hit a d8",
        "ich würfle einen w20 und wenn ich treffe, wie viele w8 sind das",
        "if I roll a d20 and it is a one, do I die?",
        "wenn ich treffe, bist du tot",
        "yesterday I rolled a d20 and if I hit a d8",
    ] {
        assert_eq!(dice_in(said), None, "{said}");
    }
}
