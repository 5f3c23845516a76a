//! German words about dice.

use super::super::lists::DiceTalk;

/// Of German.
// Skipped: one word a line would hide the lists' shape.
#[rustfmt::skip]
pub(super) static DICE: DiceTalk = DiceTalk {
    rolling: &["würfle", "würfel", "würfeln", "würfelt", "wirf", "werfe", "werfen"],
    rolled: &["gewürfelt", "geworfen", "würfelte", "warf", "war", "waren"],
    withheld: &[
        "nicht", "nie", "niemals", "kein", "keine", "keinen", "keinem", "keiner",
        "keines", "niemand", "ohne", "statt",
    ],
    over: &[
        "gestern", "vorhin", "letzte woche", "letztes mal", "letzten mal", "letzte sitzung", "neulich",
        "damals", "früher", "vor kurzem",
    ],
    asking: &[
        "wie viele", "wieviele", "wie würfle", "was ist", "was bedeutet", "was heißt", "welcher",
        "welchen", "welche", "wann", "wo ist", "wo sind", "soll ich", "sollen wir", "muss ich",
        "wenn ich", "wenn du", "wenn wir", "warum", "wieso", "was macht", "wofür", "wozu", "wie oft",
        "wie werfe", "welches", "welchem", "muss man", "müssen wir",
    ],
    whose: &[
        "einen", "mein", "meine", "meinen", "meinem", "dein", "deine", "deinen", "deinem", "sein",
        "seine", "seinen", "ihr", "ihre", "ihren", "unser", "unsere", "unseren", "der", "die", "den",
        "dem", "dieser", "diese", "diesen", "diesem", "neue", "neuen", "neuer", "alte", "alten", "alter",
    ],
    subjects: &["mein", "dein", "sein", "ihr", "unser", "euer", "der", "dieser", "jener"],
    handled: &[
        "verloren", "gefallen", "gekauft", "gefunden", "geschenkt", "geliehen", "verlegt", "habe", "hab",
        "hat", "haben", "hatte", "hast", "ist", "sind", "liegt", "liegen", "leihen", "leih", "leihst",
        "borgen", "mag", "liebe", "hasse", "suche", "finde", "verliere", "kaufe", "behalte", "vermisse",
    ],
    requests: &[
        "kann", "kannst", "konnen", "konnt", "konntest", "konntet", "darf", "durfen", "wurdest",
        "wurdet", "magst", "mogt", "willst", "wollt", "wirfst", "werft", "wurfelst", "wurfelt", "machst",
        "macht", "gibst", "gebt",
    ],
    instead: &["ich meine", "nein", "quatsch", "besser", "doch lieber"],
    chances: &["chance", "chancen", "wahrscheinlichkeit", "wahrscheinlich", "aussichten"],
    wondering: &["wie", "was", "welche", "sag"],
    last: &["letzte wurf", "letzter wurf", "letzten wurf"],
    did: &["habe ich", "hab ich"],
    at_most: &["oder weniger", "oder niedriger", "höchstens"],
    more: &["mehr als", "höher als", "über"],
    less: &["weniger als", "niedriger als", "unter"],
    exactly: &["genau", "exakt"],
};
