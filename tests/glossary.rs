//! One word, one meaning: the glossary of ARCHITECTURE.md against the code.

use std::{collections::BTreeSet, fs, path::Path};

use crate::{
    house::{is_test_file, rust_files, without_comments},
    support::program::shipped,
};

/// Types and modules that were private metaphors, or stood for several things, and are not to come back.
const RETIRED: &[&str] = &[
    "Aside",
    "Books",
    "Desk",
    "Ear",
    "Ears",
    "Found",
    "FrameHeard",
    "Hear",
    "Heard",
    "HeardAloud",
    "HeardAt",
    "HeardBy",
    "HearingReport",
    "Held",
    "House",
    "Known",
    "Lane",
    "Line",
    "Mouth",
    "Noting",
    "Opening",
    "Overheard",
    "Pen",
    "Place",
    "Placed",
    "Purse",
    "Residence",
    "Scribe",
    "Shelf",
    "Standing",
    "Talk",
    "Telling",
    "Trial",
    "Wish",
    "aside",
    "board",
    "books",
    "desk",
    "ears",
    "examine",
    "heard",
    "house",
    "lane",
    "mouth",
    "noting",
    "pen",
    "purse",
    "scribe",
    "shelf",
    "sounds",
    "spelling",
    "taking_back",
    "telling",
    "trial",
    "using",
];

/// Names of the types, traits and modules that `src` defines, tests left out.
fn defined() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for path in rust_files(Path::new("src")).into_iter().filter(|path| !is_test_file(path)) {
        for line in without_comments(&fs::read_to_string(&path).unwrap()).lines() {
            let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
            let (kind, name) = (words.next(), words.next());
            if !["struct", "enum", "trait", "type", "mod"].contains(&kind.unwrap_or_default()) {
                continue;
            }
            let end = |c: char| !c.is_alphanumeric() && c != '_';
            names.extend(name.and_then(|name| name.split(end).next()).map(str::to_owned));
        }
    }
    names
}

#[test]
fn every_term_names_something_that_is_there() {
    let text = shipped("ARCHITECTURE.md");
    let (_, glossary) = text.split_once("\n## Glossary\n").expect("there is no glossary");
    let glossary = glossary.split("\n## ").next().unwrap_or(glossary);
    let defined = defined();
    let (mut terms, mut missing) = (BTreeSet::new(), Vec::new());
    for row in glossary.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [term, meaning, names] = cells.as_slice() else { panic!("not three cells: {row}") };
        assert!(!meaning.is_empty(), "'{term}' has no meaning");
        assert!(terms.insert(term.to_lowercase()), "'{term}' is there twice");
        for name in names.split(',').map(|name| name.trim().trim_matches('`')) {
            let last = name.trim_end_matches('/').rsplit([':', '/']).next().unwrap_or(name);
            if !defined.contains(last) {
                missing.push(format!("{term}: '{name}'"));
            }
        }
    }
    assert!(terms.len() > 30, "the glossary was not read: {terms:?}");
    assert!(missing.is_empty(), "no such type or module:\n{}", missing.join("\n"));
}

#[test]
fn retired_names_stay_away() {
    let defined = defined();
    let back: Vec<_> = RETIRED.iter().filter(|name| defined.contains(**name)).collect();
    assert!(back.is_empty(), "say these with the words of the glossary: {back:?}");
}
