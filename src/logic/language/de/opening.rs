//! Beginnings of German answers.

use super::super::lists::Beginnings;

#[rustfmt::skip]
pub(super) static OPENING: Beginnings = Beginnings {
    interjections: &[
        "ach", "na", "nun", "also", "ah", "oh", "aha", "hm",
    ],
    greetings: &[
        "hallo", "guten tag", "guten morgen", "guten abend", "gruss gott", "gruss dich",
        "gruss euch", "gruezi", "servus", "moin", "heda", "sei gegrusst", "seid gegrusst",
        "willkommen", "wie geht es dir", "wie geht es euch", "schon dich zu sehen",
        "schon euch zu sehen", "freut mich",
    ],
    farewells: &[
        "tschuss", "auf wiedersehen", "leb wohl", "lebt wohl", "gute nacht", "bis bald",
        "bis morgen", "bis spater", "mach es gut", "macht es gut", "gute reise",
    ],
    beside: &[
        "wieder", "freund", "freunde", "fremder", "fremde", "reisender", "reisende", "wanderer",
        "mein", "meine", "lieber", "liebe", "leute", "zusammen", "ihr", "dir", "euch", "alter",
        "und", "dann", "in", "zuruck", "heute",
    ],
    starting_over: &[
        "lass mich von vorn", "lasst mich von vorn", "noch einmal von vorn", "nochmal von vorn",
        "von vorn", "vergiss was ich", "vergesst was ich", "ich nehme das zuruck", "moment nein",
        "halt nein", "nein warte", "nein wartet", "ich habe mich versprochen",
        "ich habe mich geirrt",
    ],
    asking_back: &[
        "du fragst", "ihr fragt", "sie fragen", "fragst du", "fragt ihr", "du willst wissen",
        "ihr wollt wissen", "willst du wissen", "wollt ihr wissen", "du mochtest wissen",
        "ihr mochtet wissen",
    ],
    quantities: &[
        "viel", "viele", "warum",
    ],
    no: &[
        "nein", "nee", "nicht", "keineswegs", "niemals",
    ],
};
