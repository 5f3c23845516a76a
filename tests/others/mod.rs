//! Files that people bring from other programs, through the real program: taken as they are written,
//! and their mistakes named with file, line and column.

mod npcs;
mod servers;
mod slips;
mod variables;

use crate::support::program::Place;

/// Output of `check` for a folder that it takes, warnings included.
#[track_caller]
fn taken(place: &Place) -> String {
    let ran = place.run(&["check"]).ends_with(0);
    ran.stdout + &ran.stderr
}

/// Asserts that `check` refuses the folder, and says all of `parts`.
#[track_caller]
fn refused(place: &Place, parts: &[&str]) {
    let ran = place.run(&["check"]).ends_with(2);
    let said = ran.stdout + &ran.stderr;
    for part in parts {
        assert!(said.contains(part), "'{part}' is not in:\n{said}");
    }
}
