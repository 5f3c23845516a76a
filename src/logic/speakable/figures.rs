//! Numbers, dice, money and units in English words.
//!
//! Entry function: [`in_words`].

use crate::logic::spoken::{dice_to_words, number_words};

/// Units after a number: as written, singular, plural.
const UNITS: &[(&str, &str, &str)] = &[
    ("gp", "gold piece", "gold pieces"),
    ("sp", "silver piece", "silver pieces"),
    ("cp", "copper piece", "copper pieces"),
    ("pp", "platinum piece", "platinum pieces"),
    ("ep", "electrum piece", "electrum pieces"),
    ("hp", "hit point", "hit points"),
    ("xp", "experience point", "experience points"),
    ("ft", "foot", "feet"),
    ("lb", "pound", "pounds"),
    ("lbs", "pound", "pounds"),
    ("oz", "ounce", "ounces"),
    ("yd", "yard", "yards"),
    ("mi", "mile", "miles"),
    ("mph", "mile an hour", "miles an hour"),
    ("km", "kilometer", "kilometers"),
    ("kg", "kilogram", "kilograms"),
    ("cm", "centimeter", "centimeters"),
    ("hr", "hour", "hours"),
    ("hrs", "hour", "hours"),
    ("min", "minute", "minutes"),
    ("sec", "second", "seconds"),
];
const SHORTHAND: &[(&str, &str)] = &[
    ("AC", "armor class"),
    ("DC", "difficulty class"),
    ("HP", "hit points"),
    ("XP", "experience points"),
];
const BEFORE_YEAR: &[&str] =
    &["in", "since", "year", "until", "before", "after", "around", "circa", "anno", "by", "from"];
/// Words before a die that exclude "a".
const DETERMINERS: &[&str] = &[
    "a", "the", "your", "my", "his", "her", "our", "their", "this", "that", "one", "each", "every",
    "another", "single", "extra",
];
const ERAS: &[&str] = &["DR", "AD", "BC", "BCE", "CE"];
const ORDINALS: &[(&str, &str)] = &[
    ("one", "first"),
    ("two", "second"),
    ("three", "third"),
    ("five", "fifth"),
    ("eight", "eighth"),
    ("nine", "ninth"),
    ("twelve", "twelfth"),
];

pub fn in_words(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let before = text.get(..text.len() - rest.len()).unwrap_or_default();
        let Some((words, used)) = figure(before, rest) else {
            out.push(c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            continue;
        };
        if out.ends_with(char::is_alphanumeric) {
            out.push(' ');
        }
        out.push_str(&words);
        rest = rest.get(used..).unwrap_or_default();
        if rest.starts_with(char::is_alphanumeric) {
            out.push(' ');
        }
    }
    out
}

/// The words for the figure that `rest` begins with, and its length.
fn figure(before: &str, rest: &str) -> Option<(String, usize)> {
    let first = rest.chars().next()?;
    let after_word = before.ends_with(char::is_alphanumeric);
    match first {
        '0'..='9' if !after_word => dice(before, rest).or_else(|| number(before, rest)),
        'd' | 'D' if !after_word => dice(before, rest),
        'A' | 'D' | 'H' | 'X' if !after_word => shorthand(rest),
        '+' | '-' | '−' => sign(before, rest, first),
        '$' | '€' | '£' => money(rest, first),
        '#' => counted(rest, "number "),
        '~' => Some(counted(rest, "about ").unwrap_or((" ".to_owned(), 1))),
        '½' | '¼' | '¾' => Some((vulgar(first).to_owned(), first.len_utf8())),
        '&' => Some((" and ".to_owned(), 1)),
        '=' => Some((" equals ".to_owned(), 1)),
        '×' => Some((" times ".to_owned(), first.len_utf8())),
        '°' => Some((" degrees".to_owned(), first.len_utf8())),
        '/' if before.ends_with(char::is_alphabetic) => Some((" ".to_owned(), 1)),
        _ => None,
    }
    .or_else(|| (first == 'D' && !after_word).then(|| shorthand(rest)).flatten())
}

/// `AC`, `DC` and the like.
fn shorthand(rest: &str) -> Option<(String, usize)> {
    SHORTHAND.iter().find_map(|(short, long)| {
        let after = rest.strip_prefix(short)?;
        (!after.starts_with(char::is_alphabetic)).then(|| ((*long).to_owned(), short.len()))
    })
}

/// A sign before a number, or alone between words.
fn sign(before: &str, rest: &str, first: char) -> Option<(String, usize)> {
    let after = rest.get(first.len_utf8()..)?;
    let word = if first == '+' { "plus " } else { "minus " };
    let free = before.is_empty() || before.ends_with([' ', '(', ',', '"', '“', '/']);
    let value = after.starts_with(|c: char| c.is_ascii_digit());
    let alone = first == '+' && after.starts_with(' ') && before.ends_with(' ');
    if (free && value) || (alone && !before.trim().is_empty()) {
        let used = if alone { 2 } else { first.len_utf8() };
        return Some((word.to_owned(), used));
    }
    None
}

/// `$5`.
fn money(rest: &str, sign: char) -> Option<(String, usize)> {
    let digits = rest.get(sign.len_utf8()..)?;
    let number = Number::read(digits)?;
    let (one, several) = match sign {
        '$' => ("dollar", "dollars"),
        '€' => ("euro", "euros"),
        _ => ("pound", "pounds"),
    };
    let unit = if number.is_one() { one } else { several };
    Some((format!("{} {unit}", number.words()), sign.len_utf8() + number.length))
}

fn counted(rest: &str, word: &str) -> Option<(String, usize)> {
    rest.get(1..)?.starts_with(|c: char| c.is_ascii_digit()).then(|| (word.to_owned(), 1))
}

fn vulgar(c: char) -> &'static str {
    match c {
        '½' => "half",
        '¼' => "a quarter",
        _ => "three quarters",
    }
}

fn dice(before: &str, rest: &str) -> Option<(String, usize)> {
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let sides = rest.get(digits..)?.strip_prefix(['d', 'D'])?;
    if !sides.starts_with(|c: char| c.is_ascii_digit() || c == '%' || c == 'F') {
        return None;
    }
    let base = digits + 1 + sides.len()
        - sides.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '%').len();
    let mut ends = vec![base];
    let mut end = base;
    while let Some(more) = rest.get(end..).and_then(term) {
        end += more;
        ends.push(end);
    }
    ends.into_iter().rev().find_map(|end| {
        let expression = rest.get(..end)?.replace('−', "-");
        let words = dice_to_words(&expression)?;
        let word = before.split_whitespace().next_back().unwrap_or_default().to_lowercase();
        // "a d20" already has its article.
        let article = DETERMINERS.contains(&word.as_str());
        let bare = words.strip_prefix("a ").filter(|_| article);
        Some((bare.map_or(words.clone(), str::to_owned), end))
    })
}

fn term(rest: &str) -> Option<usize> {
    let operator = rest.trim_start_matches(' ');
    let value = operator.strip_prefix(['+', '-', '−'])?.trim_start_matches(' ');
    let tail = value.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    let starts = value.starts_with(|c: char| c.is_ascii_digit())
        || (value.starts_with('d') && value.get(1..2).is_some_and(|c| c < ":"));
    // "2d6 - 3.5" is no usual roll.
    (starts && tail.len() < value.len()).then_some(rest.len() - tail.len())
}

/// A number with what belongs to it: unit, percent, ordinal, fraction, range, year, time.
fn number(before: &str, rest: &str) -> Option<(String, usize)> {
    let number = Number::read(rest)?;
    let after = rest.get(number.length..)?;
    ordinal_suffix(&number, after)
        .or_else(|| clock(&number, after))
        .or_else(|| fraction(&number, before, after))
        .or_else(|| percent(&number, after))
        .or_else(|| mixed(&number, after))
        .or_else(|| range(&number, after))
        .or_else(|| unit(&number, after))
        .or_else(|| year(&number, before, after))
        .or_else(|| {
            let times = after.strip_prefix('x')?;
            let ends = !times.starts_with(char::is_alphanumeric);
            ends.then(|| (format!("{} times", number.words()), number.length + 1))
        })
        .or_else(|| Some((number.words(), number.length)))
}

/// `3rd`.
fn ordinal_suffix(number: &Number<'_>, after: &str) -> Option<(String, usize)> {
    let suffix = ["st", "nd", "rd", "th"].iter().find(|suffix| after.starts_with(**suffix))?;
    let ends = !after.get(suffix.len()..)?.starts_with(char::is_alphanumeric);
    (ends && number.fraction.is_none())
        .then(|| (ordinal(&number.words()), number.length + suffix.len()))
}

/// `10:30`.
fn clock(number: &Number<'_>, after: &str) -> Option<(String, usize)> {
    let minutes = after.strip_prefix(':')?;
    let two = minutes.get(..2).filter(|two| two.bytes().all(|b| b.is_ascii_digit()))?;
    let ends = !minutes.get(2..)?.starts_with(|c: char| c.is_ascii_digit());
    let (hour, minute) = (number.value.filter(|&hour| hour < 25)?, two.parse::<i64>().ok()?);
    let minute_words = match minute {
        0 => "o'clock".to_owned(),
        1..10 => format!("oh {}", number_words(minute)),
        _ => number_words(minute),
    };
    ends.then(|| (format!("{} {minute_words}", number_words(hour)), number.length + 3))
}

/// `1/2`, `17/20`.
fn fraction(number: &Number<'_>, before: &str, after: &str) -> Option<(String, usize)> {
    let below = Number::read(after.strip_prefix('/')?)?;
    let (a, b) = (number.value?, below.value?);
    let points = before.trim_end().ends_with("HP");
    let words = if a < b && matches!(b, 2..=5 | 8 | 10 | 16) && !points {
        parts(a, b)
    } else {
        format!("{} out of {}", number_words(a), number_words(b))
    };
    Some((words, number.length + 1 + below.length))
}

/// `50%`.
fn percent(number: &Number<'_>, after: &str) -> Option<(String, usize)> {
    let gap = after.len() - after.trim_start_matches(' ').len();
    after
        .trim_start_matches(' ')
        .starts_with('%')
        .then(|| (format!("{} percent", number.words()), number.length + gap + 1))
}

/// `2 1/2`, `2½`.
fn mixed(number: &Number<'_>, after: &str) -> Option<(String, usize)> {
    let whole = number.words();
    if let Some(c) = after.chars().next().filter(|c| matches!(c, '½' | '¼' | '¾')) {
        let part = if c == '½' { "a half" } else { vulgar(c) };
        return Some((format!("{whole} and {part}"), number.length + c.len_utf8()));
    }
    let top = Number::read(after.strip_prefix(' ')?)?;
    let below = Number::read(after.get(1 + top.length..)?.strip_prefix('/')?)?;
    let (a, b) = (top.value?, below.value?);
    (a < b && (2..=8).contains(&b)).then(|| {
        let length = number.length + 1 + top.length + 1 + below.length;
        (format!("{whole} and {}", parts(a, b)), length)
    })
}

/// `3-5`; the second number is read separately, with its unit.
fn range(number: &Number<'_>, after: &str) -> Option<(String, usize)> {
    let dash = after.chars().next().filter(|c| matches!(c, '-' | '–'))?;
    let digit = after.get(dash.len_utf8()..)?.starts_with(|c: char| c.is_ascii_digit());
    digit.then(|| (format!("{} to ", number.words()), number.length + dash.len_utf8()))
}

/// `15 gp`, `30-ft`.
fn unit(number: &Number<'_>, after: &str) -> Option<(String, usize)> {
    let name = after.strip_prefix([' ', '-']).unwrap_or(after);
    let hyphen = after.starts_with('-');
    let letters = name.len() - name.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
    let written = name.get(..letters)?;
    let end = name.get(letters..)?;
    if end.starts_with(char::is_alphanumeric) {
        return None;
    }
    let (_, one, several) = UNITS.iter().find(|(unit, ..)| unit.eq_ignore_ascii_case(written))?;
    let unit = if hyphen || number.is_one() { one } else { several };
    let mut length = number.length + after.len() - end.len();
    // "30 ft. away": the full stop belongs to the unit.
    if end.strip_prefix(". ").is_some_and(|next| next.starts_with(char::is_lowercase)) {
        length += 1;
    }
    let joint = if hyphen { "-" } else { " " };
    Some((format!("{}{joint}{unit}", number.words()), length))
}

/// `1492` after "in", or before "DR".
fn year(number: &Number<'_>, before: &str, after: &str) -> Option<(String, usize)> {
    let value = number.value.filter(|year| (1000..2100).contains(year) && number.length == 4)?;
    let word = before.split_whitespace().next_back().unwrap_or_default().to_lowercase();
    let era =
        after.split_whitespace().next().map(|era| era.trim_matches(|c: char| !c.is_alphabetic()));
    let dated = BEFORE_YEAR.contains(&word.as_str()) && before.ends_with(' ');
    let marked = after.starts_with(' ') && era.is_some_and(|era| ERAS.contains(&era));
    if !dated && !marked {
        return None;
    }
    let (century, rest) = (number_words(value / 100), value % 100);
    let words = match rest {
        _ if (2000..2010).contains(&value) || value == 1000 => number_words(value),
        0 => format!("{century} hundred"),
        1..10 => format!("{century} oh {}", number_words(rest)),
        _ => format!("{century} {}", number_words(rest)),
    };
    Some((words, number.length))
}

/// "three quarters".
fn parts(a: i64, b: i64) -> String {
    let several = if a == 1 { "" } else { "s" };
    let part = match (a, b) {
        (1, 2) => "half".to_owned(),
        (_, 2) => "halve".to_owned(),
        (_, 4) => "quarter".to_owned(),
        _ => ordinal(&number_words(b)),
    };
    format!("{} {part}{several}", number_words(a))
}

/// "twenty-three" as "twenty-third".
fn ordinal(words: &str) -> String {
    let at = words.rfind([' ', '-']).map_or(0, |at| at + 1);
    let (head, last) = words.split_at_checked(at).unwrap_or(("", words));
    if let Some((_, ordinal)) = ORDINALS.iter().find(|(cardinal, _)| *cardinal == last) {
        return format!("{head}{ordinal}");
    }
    match last.strip_suffix('y') {
        Some(stem) => format!("{head}{stem}ieth"),
        None => format!("{head}{last}th"),
    }
}

struct Number<'t> {
    /// Digits before the point, without separators; `None` if too long or with a leading 0.
    value: Option<i64>,
    whole: &'t str,
    fraction: Option<&'t str>,
    length: usize,
}

impl<'t> Number<'t> {
    /// Reads `1,234.5` at the start of `text`.
    fn read(text: &'t str) -> Option<Self> {
        let digits =
            |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let mut end = digits(text);
        if end == 0 {
            return None;
        }
        while end > 0
            && let Some(group) = text.get(end..).and_then(|rest| rest.strip_prefix(','))
            && digits(group) == 3
        {
            end += 4;
        }
        let whole = text.get(..end)?;
        let point = text.get(end..).and_then(|rest| rest.strip_prefix('.'));
        let fraction = point.and_then(|rest| rest.get(..digits(rest))).filter(|f| !f.is_empty());
        let value = Some(whole.replace(',', ""))
            .filter(|digits| digits.len() <= 15 && (digits.len() == 1 || !digits.starts_with('0')))
            .and_then(|digits| digits.parse().ok())
            .filter(|_| fraction.is_none());
        Some(Self { value, whole, fraction, length: end + fraction.map_or(0, |f| f.len() + 1) })
    }

    fn is_one(&self) -> bool {
        self.value == Some(1)
    }

    fn words(&self) -> String {
        let whole = match self.whole.replace(',', "").parse() {
            Ok(value)
                if self.whole.len() <= 19
                    && (self.whole.len() == 1 || !self.whole.starts_with('0')) =>
            {
                number_words(value)
            }
            _ => spelled(self.whole),
        };
        match self.fraction {
            Some(fraction) => format!("{whole} point {}", spelled(fraction)),
            None => whole,
        }
    }
}

fn spelled(digits: &str) -> String {
    let words: Vec<String> =
        digits.chars().filter_map(|c| c.to_digit(10)).map(|d| number_words(d.into())).collect();
    words.join(" ")
}
