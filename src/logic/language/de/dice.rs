//! German words about dice.

use super::super::lists::DiceTalk;

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
    meant: &["würfle", "würfel", "würfeln", "würfelt", "wirf", "werfe", "werfen"],
    throws: &[
        "würfle", "würfel", "würfeln", "würfelt", "wirf", "wurf", "wurfs", "würfe", "gewürfelt",
        "geworfen", "würfelte",
    ],
    again: &[
        "noch mal", "nochmal", "nochmals", "noch einmal", "erneut", "wiederhole", "wiederhol",
        "wiederholen", "das gleiche", "das selbe", "dasselbe", "den gleichen", "den selben", "denselben",
        "die gleichen", "dieselben", "genauso", "noch ein wurf", "noch einen wurf",
    ],
    another: &[
        "noch eins", "noch einen", "noch einer", "noch eine", "noch so", "das gleiche", "gleiche", "gleichen",
        "selbe", "selben",
    ],
    beside_repeating: &[
        "mach", "mache", "machst", "machen", "tu", "das", "den", "die", "der", "es", "so", "einen", "eine", "eins",
        "ein", "einer", "davon", "von", "denen", "mal", "bitte", "danke", "kannst", "könntest", "könnten", "können",
        "kann", "könnt", "ich", "du", "wir", "ihr", "uns", "mir", "gib", "gibst", "lass", "lasst", "und", "aber",
        "jetzt", "gleich", "sofort", "einfach", "doch", "noch", "hätte", "will", "möchte", "gern", "gerne", "okay",
        "ok", "ja", "na", "los", "komm", "dann", "also", "äh", "ähm", "oh", "auch", "wie", "eben", "vorhin",
        "gerade", "vorher", "genau", "würdest", "darf", "mit", "nimm", "versuch", "versuche", "versuchs", "wieder",
        "freund", "solche", "solchen", "dazu",
    ],
    asking_shown: &["was", "wie", "wieviel", "welche", "welches"],
    shown: &[
        "war", "wars", "waren", "hatte", "hatten", "kam", "kams", "gekommen", "rausgekommen", "herausgekommen",
        "bekommen", "bekam", "geworden", "gewesen", "gehabt", "gekriegt", "zeigten", "gezeigt", "gefallen", "ergab",
        "ergeben", "ergebnis", "summe", "zahl", "hab", "habe", "haben",
    ],
    telling_again: &["sag", "sage", "sagst", "sagen", "verrat"],
    beside_shown: &[
        "viel", "hoch", "ich", "wir", "mir", "uns", "mein", "meine", "das", "es", "der", "die", "den", "da", "dabei",
        "denn", "nochmal", "nochmals", "noch", "mal", "einmal", "gerade", "grad", "eben", "jetzt", "vorhin", "und",
        "also", "äh", "ähm", "oh", "bitte", "raus", "heraus", "rum", "so", "genau", "doch", "alles", "schon",
        "eigentlich", "moment", "warte", "ja", "okay", "ok", "ist", "sind", "letzte", "letztes", "zuletzt", "hm",
        "sie", "kannst", "du", "freund", "dann",
    ],
    telling: &["sag", "sage", "sagt", "erinner", "erinnere", "ergebnis"],
    before: &["davor", "vorletzter wurf", "vorletzten wurf", "vorletzte wurf", "vor dem letzten"],
    suggesting: &["wie wäre es", "wie wärs", "wie wär es", "warum nicht"],
    doubles: &["pasch", "zwei gleiche", "die gleiche zahl", "dieselbe zahl"],
    of_what: &["auf", "für", "bei", "mit", "von"],
    adds: &["plus", "addiere"],
    takes: &["minus", "abzüglich"],
    bonuses: &["bonus", "modifikator"],
    penalties: &["malus", "abzug"],
    beside_bonus: &[
        "ein", "eine", "einen", "einem", "mein", "meinen", "meinem", "der", "den", "von", "ist", "mit", "ich",
        "hab", "habe", "auch", "noch",
    ],
    beside_told: &[
        "ich", "hab", "habe", "hätte", "bekomme", "bekomm", "krieg", "kriege", "mit", "ein", "eine", "einen", "der",
        "die", "den", "das", "mein", "meine", "meinen", "meinem", "ist", "sind", "es", "dazu", "noch", "bitte",
        "kommt", "kommen", "dann", "und", "auch", "mir", "also", "ja", "äh", "ähm", "ah", "ach", "oh", "rechne",
        "rechnest", "rechnen", "zähl", "zähle", "zählst", "gib", "drauf", "darauf", "hinzu", "dabei", "übrigens",
        "doch", "moment", "warte", "macht", "vergessen", "insgesamt", "da", "mich", "kannst", "könntest", "du",
        "okay", "ok", "gut", "halt", "nämlich", "hier", "jetzt", "obendrauf", "schaden", "punkte",
        "gilt", "gibts", "gibt", "zählt",
    ],
    own: &["ich", "mein", "meine", "meinen", "meinem"],
    sources: &[
        "von", "vom", "für", "auf", "wegen", "durch", "dank", "aus", "weil", "bei", "beim", "in", "im", "zum", "zur",
        "zu", "gegen", "mit",
    ],
    checks: &[
        "probe", "rettungswurf", "angriffswurf", "wurf", "initiative", "wahrnehmung", "heimlichkeit",
        "motiv", "überzeugen", "überzeugung", "täuschen", "täuschung", "einschüchtern", "einschüchterung",
        "athletik", "akrobatik", "nachforschung", "nachforschungen", "arkane", "geschichte", "naturkunde",
        "religion", "überlebenskunst", "heilkunde", "auftreten", "fingerfertigkeit", "stärke",
        "geschicklichkeit", "konstitution", "intelligenz", "weisheit", "charisma",
    ],
    attacks: &["angriff", "attacke", "treffen", "schlag"],
    no_advantage: &[
        "der", "den", "dem", "einen", "ein", "kein", "keinen", "keinem", "ohne", "zum", "großer",
        "großen", "unser", "euer", "dein", "ihr",
    ],
    more: &["mehr als", "höher als", "über"],
    less: &["weniger als", "niedriger als", "unter"],
    exactly: &["genau", "exakt"],
};
