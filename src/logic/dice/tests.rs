//! Compares dice with Avrae's library (values read off `d20` 1.1.2) and other tables' spellings,
//! and checks costly rolls.

use std::convert::Infallible;

use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::{SeedableRng, TryRng};

use super::{
    outcome::{MAX_CHARS, MAX_DEPTH},
    *,
};

/// Loaded dice: return the listed faces of dice with the listed sides, in order.
struct Loaded(std::vec::IntoIter<(u32, u32)>);

impl Loaded {
    fn new(sides: u32, faces: &[u32]) -> Self {
        Self(faces.iter().map(|face| (*face, sides)).collect::<Vec<_>>().into_iter())
    }
}

impl TryRng for Loaded {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let (face, sides) = self.0.next().expect("the roll throws no more dice than were loaded");
        assert!((1..=sides).contains(&face));
        // A uniform sample is the upper half of random * sides.
        Ok(u32::try_from((u64::from(face - 1) << 32) / u64::from(sides) + 1).unwrap())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        panic!("one die takes one 32-bit sample")
    }

    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        panic!("one die takes one 32-bit sample")
    }
}

fn seeded(text: &str, seed: u64) -> Outcome {
    let expression = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    expression.roll(&mut StdRng::seed_from_u64(seed)).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Rolls exactly these faces and checks that all were thrown.
fn loaded(text: &str, sides: u32, faces: &[u32]) -> Outcome {
    let mut rng = Loaded::new(sides, faces);
    let outcome = parse(text).unwrap().roll(&mut rng).unwrap();
    assert_eq!(rng.0.next(), None, "{text} throws all {faces:?}");
    outcome
}

fn error(text: &str) -> DiceError {
    match parse(text).and_then(|e| e.roll(&mut StdRng::seed_from_u64(1))) {
        Ok(outcome) => panic!("{text} rolled {}", outcome.text),
        Err(error) => error,
    }
}

#[test]
fn arithmetic_is_that_of_avrae() {
    for (text, total) in [
        ("1+2*3", 7),
        ("(1+2)*3", 9),
        ("-7//2", -4),
        ("-7//-2", 3),
        ("7/2", 3),
        ("-7/2", -3),
        ("-7%3", 2),
        ("7%-3", -2),
        ("7.5//2", 3),
        ("10-3-2", 5),
        ("100/10/5", 2),
        ("1<2<3", 1),
        ("3>2>1", 0),
        ("2+2==4", 1),
        ("2!=2", 0),
        ("3>=3", 1),
        ("3<=2", 0),
        ("3≥3", 1),
        (".5+5.", 5),
        ("-+3", -3),
        ("--3", 3),
        ("5 % 3", 2),
        ("2×3÷4", 1),
        ("5−2", 3),
        ("5–2", 3),
        ("0d6", 0),
        ("9007199254740991", 9_007_199_254_740_991),
    ] {
        assert_eq!(seeded(text, 1).total(), Some(total), "{text}");
    }
}

#[test]
fn sets_are_those_of_avrae() {
    for (text, total) in [
        ("()", 0),
        ("(2,)", 2),
        ("(1, 2)", 3),
        ("(1 ,2,)", 3),
        ("((1,2),3)kh1", 3),
        ("(1, 5, 3)kl2", 4),
        ("(1, 5, 3)ph1", 4),
        ("(1, 5, 3)k>2", 8),
        ("(1, 5, 3)p<2", 8),
        ("(1, 5, 3)k5k1", 6),
        ("(2,)k1", 0),
        ("(5)k5", 5),
        ("(5)p5", 0),
        ("(1+2)k3*2", 6),
        ("((1, 4))kh1", 4),
        ("-(1, 2)", -3),
    ] {
        assert_eq!(seeded(text, 1).total(), Some(total), "{text}");
    }
}

#[test]
fn operators_are_those_of_avrae() {
    for (text, sides, faces, rolls) in [
        ("4d6kh3", 6, &[2, 5, 1, 4][..], &[2, 5, 4][..]),
        ("4d6kl1", 6, &[2, 5, 1, 4], &[1]),
        ("4d6ph1", 6, &[2, 5, 1, 4], &[2, 1, 4]),
        ("4d6pl1", 6, &[2, 5, 1, 4], &[2, 5, 4]),
        ("4d6k3", 6, &[3, 5, 3, 4], &[3, 3]),
        ("4d6k>3", 6, &[3, 5, 1, 4], &[5, 4]),
        ("4d6p<3", 6, &[3, 5, 1, 4], &[3, 5, 4]),
        ("4d6kl1kh1", 6, &[2, 5, 1, 4], &[5, 1]),
        ("4d6kh2k5", 6, &[2, 5, 1, 4], &[5, 4]),
        // Equal dice: the first is taken.
        ("3d6kh1", 6, &[4, 4, 4], &[4]),
        ("2d6rr<3", 6, &[1, 5, 2, 3], &[3, 5]),
        ("1d6rr1rr2", 6, &[1, 2, 1, 3], &[3]),
        ("1d6ro1ro2", 6, &[1, 2], &[2]),
        ("2d6ro<3", 6, &[1, 2, 1, 2], &[1, 2]),
        ("2d6e6", 6, &[6, 2, 6, 1], &[6, 2, 6, 1]),
        ("3d6e5e6", 6, &[6, 5, 1, 1, 2], &[6, 5, 1, 1, 2]),
        ("2d6ra6", 6, &[6, 6, 6], &[6, 6, 6]),
        ("2d6ra6", 6, &[3, 2], &[3, 2]),
        ("2d6mi3", 6, &[1, 5], &[3, 5]),
        ("2d6ma4", 6, &[1, 5], &[1, 4]),
        ("4d6mi2kh3", 6, &[1, 1, 5, 6], &[2, 5, 6]),
        ("4d6kh3mi3", 6, &[1, 2, 5, 6], &[3, 5, 6]),
        ("(4d6)kh3", 6, &[1, 2, 5, 6], &[2, 5, 6]),
        ("(2d6, 2d6, 1)kh1", 6, &[1, 2, 5, 6], &[5, 6]),
    ] {
        let outcome = loaded(text, sides, faces);
        assert_eq!(outcome.rolls, rolls, "{text}: {}", outcome.text);
        assert_eq!(outcome.total(), Some(rolls.iter().sum()), "{text}: {}", outcome.text);
    }
}

#[test]
fn other_tables_are_understood() {
    for (text, canonical) in [
        ("4d6dl1", "4d6pl1"),
        ("4d6dh2", "4d6ph2"),
        ("3d6!", "3d6e6"),
        ("3d6!5", "3d6e5"),
        ("3d6!>4", "3d6e>3"),
        ("3d6!>=4", "3d6e>3"),
        ("3d6!<2", "3d6e<3"),
        ("3d6!kh2", "3d6e6kh2"),
        ("3d6! >10", "3d6e6>10"),
        ("4dF!", "4dFe1"),
        ("1d20 adv", "2d20kh1"),
        ("1d20 dis", "2d20kl1"),
        ("d20adv+5", "2d20kh1+5"),
        ("1d20 adv + 5", "2d20kh1+5"),
        ("1d20 with advantage + 5", "2d20kh1+5"),
        ("1d20+5 adv", "2d20kh1+5"),
        ("1d20 + 5 at disadvantage", "2d20kl1+5"),
        ("1d20+1d4 adv", "2d20kh1+1d4"),
        ("1d12 dis", "2d12kl1"),
        ("1d20mi10 adv", "2d20kh1mi10"),
        ("adv", "2d20kh1"),
        ("dis", "2d20kl1"),
        ("ADV+5", "2d20kh1+5"),
        ("disadvantage-1", "2d20kl1-1"),
        ("1D20", "1d20"),
        ("4D6KH3", "4d6kh3"),
        ("d%", "1d100"),
        ("2d%+3", "2d100+3"),
        ("4dF", "4dF"),
        ("df+2", "1dF+2"),
        ("4dfkh2", "4dFkh2"),
        ("6#4d6kh3", "6#4d6kh3"),
        ("6 # 4d6", "6#4d6"),
        ("6 4d6kh3 + 2", "6#4d6kh3+2"),
        ("repeat(4d6dl1, 6)", "6#4d6pl1"),
        ("4d6min2max5", "4d6mi2ma5"),
        (" 1 d20 + 5 ", "1d20+5"),
        ("2 d 6", "2d6"),
        ("4d6 kh 3", "4d6kh3"),
        ("4d6 rr < 3", "4d6rr<3"),
        ("2d6 [fire] [cold]+3", "2d6[fire][cold]+3"),
        ("(1d6 ,1d8 , )kh1", "(1d6, 1d8)kh1"),
    ] {
        let expression = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(expression.to_string(), canonical, "{text}");
        assert_eq!(expression.comment(), None, "{text}");
    }
}

#[test]
fn comments_are_only_what_can_be_nothing_else() {
    for (text, canonical, comment) in [
        ("2d6 + 3 fire damage", "2d6+3", Some("fire damage")),
        ("1d20+5 to  hit", "1d20+5", Some("to hit")),
        ("1d20 keep the dragon grappled", "1d20", Some("keep the dragon grappled")),
        ("1d20 disarm the goblin", "1d20", Some("disarm the goblin")),
        ("1d20 (stealth)", "1d20", Some("(stealth)")),
        ("1d20 🎲 lucky", "1d20", Some("🎲 lucky")),
        ("1d20 vs AC 15-16", "1d20", Some("vs AC 15-16")),
        ("1d20 adv stealth", "2d20kh1", Some("stealth")),
        ("1d20#2d6 later", "1d20", Some("2d6 later")),
        ("3 dragons", "3", Some("dragons")),
        ("1d20 #", "1d20", None),
    ] {
        let expression = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(expression.to_string(), canonical, "{text}");
        assert_eq!(expression.comment(), comment, "{text}");
    }
}

/// Mistakes, each with its column and a part of its hint.
const MISTAKES: &[(&str, usize, &str)] = &[
    ("4d6dl", 4, "\"4d6dl1\""),
    ("4d6 kh", 5, "\"4d6 kh1\""),
    ("1d20 advv", 6, "\"1d20 adv\""),
    ("1d20avd", 5, "\"1d20adv\""),
    ("1d20 diss + 2", 6, "\"1d20 dis + 2\""),
    ("4d6kk3", 4, "\"4d6kh3\""),
    ("4d6d1", 4, "\"4d6dl1\""),
    ("2d6 d8", 5, "\"2d6 + d8\""),
    ("4d6r1", 4, "rr<3"),
    ("4d6x6", 4, "\"4d6*6\""),
    ("2x1d6", 2, "\"2*1d6\""),
    ("2(3)", 2, "\"2*(3)\""),
    ("6d10t7", 5, "successes"),
    ("3d6!!", 4, "compounding"),
    ("3d6!p", 4, "penetrating"),
    ("3d6!>10", 4, "blank behind !"),
    ("1d20 = 5", 6, "=="),
    ("1w20", 2, "\"1d20\""),
    ("(1d20", 6, "\"(1d20)\""),
    ("1d20)", 5, "\"1d20\""),
    ("1d20[fire", 5, "]"),
    ("[fire] 1d20", 1, "2d6[fire]"),
    ("4d6[a]kh3", 7, "behind the operators"),
    ("2d6+3fire", 6, "\"2d6+3 fire\""),
    ("1d20 — 5", 6, "\"1d20 - 5\""),
    ("1d20 plus 5", 6, "\"1d20 + 5\""),
    ("1d20 ea", 6, "3d20kh1"),
    ("2d20 adv", 6, "2d20kh1"),
    ("1d20kh1 adv", 9, "2d20kh1"),
    ("1d20adv5", 5, "adv+"),
    ("2d6+1d8+1 adv", 11, "d20adv"),
    ("1d8 slashing + 3", 14, "2d6[fire]+3"),
    ("1d20 to hit 2d6 damage", 13, "#"),
    ("1d20 to hit has advantage", 17, "#"),
    ("4d6 keep highest 3", 5, "kh3"),
    ("4d6 2nd attack", 5, "#"),
    ("max(1, 2)", 1, "functions"),
    ("roll 2d6", 1, "\"2d6\""),
    ("/r 2d6", 1, "\"2d6\""),
    ("5^2", 2, "powers"),
    ("2d", 2, "d20"),
    ("4d6mih2", 4, "mi2"),
    ("(4d6)e6", 6, "inside the bracket"),
    ("", 1, "2d6+3"),
    ("   ", 4, "2d6+3"),
    ("0#1d6", 1, "6#4d6"),
    ("ü2d6", 1, "2d6"),
];

#[test]
fn mistakes_point_and_offer_a_way_out() {
    for &(text, column, hint) in MISTAKES {
        let error = error(text);
        assert_eq!(error.column, column, "{text}: {error}");
        let found = error.hint.as_deref().unwrap_or_default();
        assert!(found.contains(hint), "{text}: {error}");
        assert!(!error.to_string().contains('\n'), "{text}: {error}");
    }
}

#[test]
fn other_errors_point() {
    for (text, column) in [
        ("1d0", 3),
        ("1d1000001", 3),
        ("2.5d6", 1),
        ("(2)d6", 4),
        ("1d20+", 6),
        ("2d6+*3", 5),
        (".", 1),
        ("1.2.3", 4),
        ("1/0", 2),
        ("3+1d6//0", 6),
        ("5%(1-1)", 2),
        ("9007199254740992", 1),
        ("9007199254740991+1", 17),
        ("9007199254740991*9007199254740991", 17),
        ("1/.0000000000000001", 2),
        ("(9007199254740991, 1)", 1),
        ("4d6kh99999999999", 6),
    ] {
        assert_eq!(error(text).column, column, "{text}: {}", error(text));
    }
}

/// Rolls that throw one die per round, with as many selectors as fit, until no dice are left.
fn slow_bombs() -> [String; 4] {
    let faces = |verb: &str, from: i32| -> String {
        (from..from + 64).map(|face| format!("{verb}{face}")).collect()
    };
    [
        format!("500d1000000rrh1rrl1{}", faces("rr", 2)),
        format!("1d1000000{}e<1000001", faces("e", 1)),
        "1d1000000eh1000el1000".to_owned(),
        format!("900d6{}+200d6", "kh500pl3".repeat(60)),
    ]
}

#[test]
fn no_refusal_takes_long() {
    let mut looked = 0;
    for text in slow_bombs() {
        assert!(text.len() <= MAX_CHARS, "{text}");
        let taken = outcome::during(|| drop(error(&text)));
        // Looks at each die at most once per character: 2 ms in a release build.
        assert!(taken <= MAX_CHARS * 1_000, "{taken} looks: {text}");
        looked += taken;
    }
    assert!(looked > 0, "looks are not counted");
}

#[test]
fn bombs_are_refused() {
    let nested = |n: usize| format!("{}1{}", "(".repeat(n), ")".repeat(n));
    assert_eq!(seeded(&nested(MAX_DEPTH), 1).total(), Some(1));
    assert_eq!(error(&nested(MAX_DEPTH + 1)).column, 51);
    for text in [
        nested(200),
        "(".repeat(400),
        "-".repeat(400),
        "1+".repeat(251),
        "9".repeat(500),
        "99999d99999".to_owned(),
        "99999999999999999999d6".to_owned(),
        "1001d6".to_owned(),
        "501d6+500d6".to_owned(),
        "500#3d6".to_owned(),
        "1000d6e<7".to_owned(),
        "1d1e1".to_owned(),
        "1d1!".to_owned(),
        "1d6!>1".to_owned(),
        "1d1rr1".to_owned(),
        "2d6rrh1".to_owned(),
        format!("400d6{}", "rrh1rrl2rr<6".repeat(40)),
    ] {
        error(&text);
    }
    let sum = vec!["1"; 250].join("+");
    assert_eq!(seeded(&sum, 1).total(), Some(250));
    assert_eq!(seeded(&format!("{}1", "2*".repeat(50)), 1).total(), Some(1 << 50));
    assert_eq!(seeded("1000d6", 1).rolls.len(), 1000);
    assert_eq!(seeded("100#10d6", 1).totals.len(), 100);
}

#[test]
fn text_shows_what_happened() {
    for (text, sides, faces, shown) in [
        ("2d6+3", 6, &[4, 5][..], "2d6 (4, 5) + 3 = 12"),
        ("4d6kh3", 6, &[5, 1, 3, 4], "4d6kh3 (5, ~~1~~, 3, 4) = 12"),
        ("1d6!", 6, &[6, 2], "1d6e6 (6!, 2) = 8"),
        ("2d6rr1", 6, &[1, 4, 1, 3], "2d6rr1 (~~1~~, ~~1~~, 3, 4) = 7"),
        ("1d20ro1mi10", 20, &[1, 4], "1d20ro1mi10 (~~1~~, 4 -> 10) = 10"),
        ("(1d6, 1d6)kh1[x]", 6, &[2, 5], "(~~1d6 (2)~~, 1d6 (5))kh1 [x] = 5"),
        ("4dF", 3, &[1, 2, 3, 1], "4dF (-1, 0, 1, -1) = -1"),
        ("1d20 to hit", 20, &[7], "1d20 (7) = 7 # to hit"),
        ("1d20 adv", 20, &[20, 3], "2d20kh1 (20, ~~3~~) = 20 (natural 20)"),
        ("2#1d20", 20, &[1, 3], "1: 1d20 (1) = 1 (natural 1)\n2: 1d20 (3) = 3"),
        ("2d6k3", 6, &[3, 4], "2d6k3 (3, ~~4~~) = 3 (k3 kept what equals 3; kh3 is the highest 3)"),
        ("2d10>=7", 10, &[3, 4], "2d10 (3, 4) >= 7 = 1 (sums are compared: 1 is yes, 0 is no)"),
    ] {
        assert_eq!(loaded(text, sides, faces).text, shown, "{text}");
    }
}

#[test]
fn naturals_need_a_single_kept_d20_at_the_left() {
    for (text, sides, faces, natural) in [
        ("1d20+5", 20, &[20][..], Some(Natural::Twenty)),
        ("-1d20", 20, &[1], Some(Natural::One)),
        ("(2d20kl1+3)*2", 20, &[20, 1], Some(Natural::One)),
        ("1d20", 20, &[19], None),
        ("2d20", 20, &[20, 20], None),
        ("5+1d20", 20, &[20], None),
        ("1d10", 10, &[1], None),
        ("1#1d20", 20, &[20], None),
    ] {
        assert_eq!(loaded(text, sides, faces).natural, natural, "{text}");
    }
}

#[test]
fn repeats_have_totals_and_no_total() {
    let outcome = loaded("2#1d6+1[#1]", 6, &[2, 5]);
    assert_eq!((outcome.totals.as_slice(), outcome.total()), (&[3, 6][..], None));
    assert_eq!(outcome.rolls, [2, 5]);
    assert_eq!(seeded("1#5", 1).total(), None);
    assert_eq!(seeded("5[#1]", 1).total(), Some(5));
}

#[test]
fn faces_are_equally_likely() {
    for (text, low, high) in
        [("100d6", 1, 6), ("100d%", 1, 100), ("100dF", -1, 1), ("100d20", 1, 20)]
    {
        let mut rng = StdRng::seed_from_u64(3);
        let expression = parse(text).unwrap();
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..1_000 {
            for face in expression.roll(&mut rng).unwrap().rolls {
                *counts.entry(face).or_insert(0_i32) += 1;
            }
        }
        assert_eq!(counts.keys().copied().collect::<Vec<_>>(), (low..=high).collect::<Vec<_>>());
        let faces = f64::from(i32::try_from(counts.len()).unwrap());
        let expected = 100_000.0 / faces;
        let chi: f64 = counts.values().map(|n| (f64::from(*n) - expected).powi(2) / expected).sum();
        // Chi squared has mean faces - 1 and deviation sqrt(2 (faces - 1)); five deviations never
        // happen.
        assert!(chi < (faces - 1.0) + 5.0 * (2.0 * (faces - 1.0)).sqrt(), "{text}: {chi}");
    }
}

/// Well-formed expressions as players might write them.
fn rolls() -> impl Strategy<Value = String> {
    let selector = ("[hl<>]?", 0..8_u32).prop_map(|(pick, n)| format!("{pick}{n}"));
    let verb = prop::sample::select(vec!["k", "p", "rr", "ro", "ra", "e"]);
    let op = prop_oneof![
        (verb, selector.clone()).prop_map(|(verb, selector)| format!("{verb}{selector}")),
        prop::sample::select(vec!["mi2", "ma5", "dl1", "! ", " kh 2"]).prop_map(str::to_owned),
    ];
    let dice = ("[0-9]?", prop::sample::select(vec!["d6", "D20", "d%", "dF"])).prop_flat_map(
        move |(count, die)| {
            prop::collection::vec(op.clone(), 0..3)
                .prop_map(move |ops| format!("{count}{die}{}", ops.concat()))
        },
    );
    let leaf = prop_oneof![
        dice,
        "[0-9]{1,3}(\\.[0-9]{1,2})?",
        Just("d20 adv".to_owned()),
        Just("dis".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 3, move |inner| {
        let set_op = prop_oneof![
            Just(String::new()),
            selector.clone().prop_map(|s| format!("k{s}")),
            selector.clone().prop_map(|s| format!("p{s}")),
        ];
        let binary = prop::sample::select(vec!["+", " - ", "*", "/", "//", "%", "<", ">=", "!="]);
        prop_oneof![
            (inner.clone(), binary, inner.clone()).prop_map(|(a, op, b)| format!("{a}{op}{b}")),
            (prop::collection::vec(inner.clone(), 0..3), "[,]?", set_op).prop_map(
                |(items, comma, op)| {
                    let comma = if items.is_empty() { "" } else { &comma };
                    format!("({}{comma}){op}", items.join(", "))
                }
            ),
            inner.clone().prop_map(|inner| format!("-{inner}")),
            inner.prop_map(|inner| format!("({inner})[fire # 1]")),
        ]
    })
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".{0,60}") {
        if let Err(error) = parse(&text) {
            prop_assert!((1..=text.chars().count() + 1).contains(&error.column), "{error}");
        }
    }

    #[test]
    fn any_dicelike_text_is_read_or_refused(
        text in "[0-9dDkKhlpreoimaF%!<>=+*/()\\[\\],. #xvis−–-]{0,60}", seed: u64
    ) {
        if let Ok(expression) = parse(&text) {
            let _ = expression.roll(&mut StdRng::seed_from_u64(seed));
            let printed = expression.to_string();
            let again = parse(&printed);
            prop_assert_eq!(again.map(|e| e.to_string()), Ok(printed));
        }
    }

    #[test]
    fn printed_and_read_again_is_the_same(text in rolls(), repeats in prop::option::of(1..4_u32), seed: u64) {
        let text = repeats.map_or(text.clone(), |n| format!("{n}#{text}"));
        prop_assume!(text.len() < 250);
        let first = match parse(&text) {
            Ok(first) => first,
            Err(error) => return Err(TestCaseError::fail(format!("{text}: {error}"))),
        };
        let second = parse(&first.to_string()).map_err(|e| TestCaseError::fail(format!("{first}: {e}")))?;
        prop_assert_eq!(&first, &second);
        let roll = |e: &Expression| e.roll(&mut StdRng::seed_from_u64(seed)).map_err(|e| e.message);
        prop_assert_eq!(roll(&first), roll(&second));
    }

    #[test]
    fn totals_are_within_bounds(count in 0..=1000_u32, sides in 1..=1_000_000_i32, seed: u64) {
        let outcome = seeded(&format!("{count}d{sides}"), seed);
        let (count, sides) = (i64::from(count), i64::from(sides));
        prop_assert!((count..=count * sides).contains(&outcome.total().unwrap()));
        prop_assert_eq!(outcome.rolls.iter().sum::<i64>(), outcome.total().unwrap());
        prop_assert!(outcome.rolls.iter().all(|face| (1..=sides).contains(face)));
    }

    #[test]
    fn keeping_keeps_the_best(count in 1..20_u32, keep in 0..20_usize, seed: u64) {
        let all = seeded(&format!("{count}d6"), seed).rolls;
        let kept = seeded(&format!("{count}d6kh{keep}"), seed).rolls;
        let mut sorted = all;
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        sorted.truncate(keep);
        prop_assert_eq!(kept.iter().sum::<i64>(), sorted.iter().sum::<i64>());
    }
}
