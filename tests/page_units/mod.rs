//! The rehearsal page's own decisions, in Node.js: sound, what was played, the conversation.

use std::{fs, process::Command};

use crate::{
    support::program::{repository, run},
    third_party::node,
};

#[test]
fn page_decides_as_its_checks_say() {
    let Some(node) = node("the page's modules") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    // Node.js takes `.js` for modules where a package says so; the page has no package.
    fs::write(folder.path().join("package.json"), r#"{"type":"module"}"#).expect("it is written");
    for entry in fs::read_dir(repository("assets/web")).expect("the page") {
        let entry = entry.expect("an entry");
        if entry.path().extension().is_some_and(|it| it == "js") {
            fs::copy(entry.path(), folder.path().join(entry.file_name())).expect("it is copied");
        }
    }
    let checks = "units.mjs";
    fs::copy(repository("tests/page_units").join(checks), folder.path().join(checks))
        .expect("it is copied");
    let mut command = Command::new(node);
    command.arg(checks).current_dir(folder.path());
    let checked = run(command, "");
    assert_eq!((checked.status, checked.stdout.as_str()), (0, "passed\n"), "{}", checked.stderr);
}
