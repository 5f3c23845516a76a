//! Compares texts word by word, with numbers and dice as they are spoken.

const SMALL: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 10] =
    ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// A number below a million in words.
fn said(number: usize) -> String {
    match number {
        0..20 => SMALL[number].to_owned(),
        20..100 if number.is_multiple_of(10) => TENS[number / 10].to_owned(),
        20..100 => format!("{} {}", TENS[number / 10], SMALL[number % 10]),
        100..1000 if number.is_multiple_of(100) => format!("{} hundred", SMALL[number / 100]),
        100..1000 => format!("{} hundred {}", SMALL[number / 100], said(number % 100)),
        1000..1_000_000 if number.is_multiple_of(1000) => {
            format!("{} thousand", said(number / 1000))
        }
        1000..1_000_000 => format!("{} thousand {}", said(number / 1000), said(number % 1000)),
        _ => number.to_string(),
    }
}

/// Lower-case words without punctuation; "2d6+3" becomes "two d six plus three".
pub fn words(text: &str) -> Vec<String> {
    let mut spaced = String::new();
    let mut last = ' ';
    for c in text.to_lowercase().chars().filter(|c| !matches!(c, '\'' | '’')) {
        match c {
            '+' => spaced.push_str(" plus "),
            '-' if last.is_ascii_digit() => spaced.push_str(" minus "),
            _ if c.is_alphanumeric() => {
                if c.is_ascii_digit() != last.is_ascii_digit() {
                    spaced.push(' ');
                }
                spaced.push(c);
            }
            _ => spaced.push(' '),
        }
        last = c;
    }
    let number = |word: &str| word.parse().map_or_else(|_| word.to_owned(), said);
    let spoken: Vec<String> = spaced.split_whitespace().map(number).collect();
    spoken.join(" ").split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Number of missing, added and wrong words.
pub fn errors(expected: &[String], heard: &[String]) -> usize {
    let mut row: Vec<usize> = (0..=heard.len()).collect();
    for (i, word) in expected.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, other) in heard.iter().enumerate() {
            let best = (row[j].min(row[j + 1]) + 1).min(diagonal + usize::from(word != other));
            diagonal = std::mem::replace(&mut row[j + 1], best);
        }
    }
    row.last().copied().unwrap_or(0)
}

/// True if the phrase's words are adjacent in `heard`.
pub fn has(heard: &[String], phrase: &str) -> bool {
    let phrase = words(phrase);
    heard.windows(phrase.len().max(1)).any(|window| window == phrase)
}

/// Texts between these brackets.
pub fn marked(text: &str, open: char, close: char) -> impl Iterator<Item = &str> {
    text.split(open).skip(1).filter_map(move |rest| rest.split(close).next())
}

/// The text without the marks.
pub fn plain(text: &str) -> String {
    text.replace(['{', '}', '[', ']'], "")
}
