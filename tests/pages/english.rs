//! The English of the pages and of `--help`: phrases that read like a translation stay out.

use std::sync::LazyLock;

use regex::Regex;

use super::{Block, Page, pages};
use crate::support::program::Place;

/// A phrase, an example of it, and what to write instead.
struct Phrase {
    pattern: Regex,
    example: &'static str,
    instead: &'static str,
}

/// Phrases that no sentence, table cell, heading or comment may hold.
static PHRASES: LazyLock<Vec<Phrase>> = LazyLock::new(|| {
    let phrases = [
        (
            r"^(?:What|Who|Whose|Whom|Which|Whether|Where|Whatever|How)\b[^?]*$",
            "What must be mended",
            "name the thing: \"Errors found so far\"",
        ),
        (
            r"(?i)\b(?:who(?:m|so)?ever|whom|those who|some ?body|anybody|nobody|everybody)\b",
            "Whoever asked may have given up",
            "name the person or the thing; anyone, everyone, no player",
        ),
        (
            r"(?i)\bthere (?:is|are|was|were)\b",
            "There is none to lend",
            "begin with the thing: \"Sampling is disabled\"",
        ),
        (
            r"(?i)\b(?:is|are|was|were|be|been|being) (?:\w+ )?(?:told|said)\b",
            "You are told what changed",
            "subject and active verb: \"Notifies the game master\"",
        ),
        (r"^[Tt]he same(?: of| for|\W*$)", "The same of a server", "name it, or \"Like X, for Y\""),
        (
            r"(?i)\b(?:anew|mend(?:s|ed)?|stands|comes? to|gone? on with|an end of|stays? so)\b",
            "It stands in its file",
            "is connected, again, fix, results in, continue, shutdown",
        ),
        (
            r"(?i)\b(?:is|are) kept\b|\bkept sessions?\b",
            "What is kept of them",
            "stored, saved, cached",
        ),
        (r"(?i)\b(?:is|are) none\b", "a name that is none", "is not, has no"),
        (
            r"(?i)\bcannot be a\b|\bthat there is not\b",
            "cannot be a header",
            "invalid X '...' (the fix)",
        ),
    ];
    let phrase = |(pattern, example, instead)| Phrase {
        pattern: Regex::new(pattern).expect("a pattern"),
        example,
        instead,
    };
    phrases.map(phrase).into()
});

/// The phrases in a piece of text, each with what to write instead.
pub fn found(text: &str) -> Vec<String> {
    let text = text.split('`').step_by(2).collect::<Vec<_>>().join("x");
    let text = text.trim_start_matches(['*', '"', '(', ' ']);
    // A label begins like a sentence.
    let first = text.chars().take(1).flat_map(char::to_uppercase);
    let text: String = first.chain(text.chars().skip(1)).collect();
    let sentences: Vec<&str> = text.split_inclusive(['.', '!', '?']).map(str::trim).collect();
    let in_one = |phrase: &&Phrase| sentences.iter().any(|it| phrase.pattern.is_match(it));
    PHRASES.iter().filter(in_one).map(|it| format!("{text} ({})", it.instead)).collect()
}

/// Pieces of a page that are read at once: paragraphs, items of lists, cells, headings, comments in code.
fn pieces(page: &Page) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for line in page.prose().lines().map(str::trim) {
        let is_item = line.starts_with("- ") || line.split_once(". ").is_some_and(is_numbered);
        if line.is_empty() || line.starts_with(['#', '|']) || is_item {
            pieces.push(String::new());
        }
        if line.starts_with('|') {
            pieces.extend(line.split('|').map(str::to_owned));
            continue;
        }
        let words = line.trim_start_matches(['#', '-', ' ']);
        pieces.last_mut().expect("a piece").extend([words, " "]);
        if line.starts_with('#') {
            pieces.push(String::new());
        }
    }
    let comments = page.blocks().into_iter().filter(|it| it.language != "rust");
    pieces.extend(comments.flat_map(|block| comments_of(&block)));
    pieces
}

fn is_numbered((number, _): (&str, &str)) -> bool {
    !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
}

fn comments_of(block: &Block) -> Vec<String> {
    let comments = block.text.lines().filter_map(|line| line.split_once("# "));
    comments.map(|(_, comment)| comment.to_owned()).collect()
}

#[test]
fn phrases_are_found_in_their_examples() {
    for phrase in PHRASES.iter() {
        assert!(phrase.pattern.is_match(phrase.example), "{}", phrase.example);
        let page = format!("# A page\n\n| key | {} |\n", phrase.example);
        let page = Page { name: "x.md".to_owned(), text: page };
        assert!(pieces(&page).iter().any(|it| !found(it).is_empty()), "{}", phrase.example);
    }
    assert_eq!(found("What did I promise you?"), [""; 0]);
}

#[test]
fn pages_are_in_plain_english() {
    let (mut read, mut wrong) = (0, Vec::new());
    for page in pages() {
        for piece in pieces(&page) {
            read += 1;
            wrong.extend(found(&piece).into_iter().map(|it| format!("{}: {it}", page.name)));
        }
    }
    assert!(read > 300, "{read}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Descriptions in the help of a command and of all its subcommands; the arguments lead to it.
fn help_of(arguments: &[&str]) -> Vec<String> {
    let help = Place::new().run(&[arguments, &["--help"][..]].concat()).ends_with(0).stdout;
    let mut section = "";
    let (mut texts, mut commands) = (Vec::new(), Vec::new());
    for line in help.lines() {
        if line.ends_with(':') {
            section = line;
        }
        let described = line.trim().split_once("  ").map(|(name, text)| (name, text.trim()));
        if let ("Commands:", Some((name, _))) = (section, described)
            && name != "help"
        {
            commands.push(name);
        }
        texts.push(described.map_or(line.trim(), |(_, text)| text).to_owned());
    }
    let below = commands.iter().flat_map(|name| help_of(&[arguments, &[*name][..]].concat()));
    texts.extend(below.collect::<Vec<_>>());
    texts
}

#[test]
fn help_is_in_plain_english() {
    let texts = help_of(&[]);
    assert!(texts.len() > 300, "{}", texts.len());
    let wrong: Vec<String> = texts.iter().flat_map(|text| found(text)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn doctor_speaks_plain_english() {
    let findings = Place::new().run(&["doctor", "--json"]).lines();
    let said: Vec<&str> = findings.iter().filter_map(|it| it["detail"].as_str()).collect();
    assert!(said.len() > 10, "{said:?}");
    let wrong: Vec<String> = said.iter().flat_map(|text| found(text)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
