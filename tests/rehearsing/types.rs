//! The page's files: their types, and that they ask nothing from elsewhere.

use std::{fs, process::Command};

use crate::{
    support::program::{repository, run},
    third_party::installed,
};

/// Addresses elsewhere, and texts that are read as HTML or as scripts.
const FOREIGN: [&str; 12] = [
    "src=\"http",
    "href=\"http",
    "url(http",
    "fetch(\"http",
    "import(\"http",
    "from \"http",
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "document.write",
    "eval(",
    "new Function",
];

#[test]
fn page_passes_the_type_checker() {
    let Some(tools) = installed("page-tools") else { return };
    let mut checker = Command::new(tools.join("node_modules/.bin/tsc"));
    checker.arg("--project").arg(repository("assets/web/jsconfig.json"));
    let checked = run(checker, "");
    assert_eq!((checked.status, checked.stdout.as_str()), (0, ""), "{}", checked.stderr);
}

/// The content security policy would refuse it; a user without a network would see a page in pieces.
#[test]
fn page_asks_nothing_from_elsewhere() {
    let (mut read, mut found) = (0, Vec::new());
    for entry in fs::read_dir(repository("assets/web")).expect("the page") {
        let path = entry.expect("an entry").path();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        read += 1;
        // The name of a format, which is no address.
        let text = text.replace("http://www.w3.org/", "");
        let words = FOREIGN.iter().filter(|word| text.contains(**word));
        found.extend(words.map(|word| format!("{}: {word}", path.display())));
    }
    assert!(read >= 8, "{read}");
    assert!(found.is_empty(), "{found:#?}");
}
