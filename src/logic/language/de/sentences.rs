//! Beginnings of German answers, endings of utterances.

use super::super::lists::{Beginnings, Endings};

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

#[rustfmt::skip]
pub(super) static ENDINGS: Endings = Endings {
    unfinished: &[
        "und", "aber", "oder", "sondern", "ahm", "ah", "ahh", "ehm", "hm", "hmm", "weil", "wenn",
        "falls", "dass", "damit", "ob", "obwohl", "der", "ein", "eine", "einen", "einem", "einer",
        "eines", "mein", "meine", "meinen", "meinem", "meiner", "dein", "deine", "deinen", "deinem",
        "deiner", "unser", "unsere", "unseren", "unserem", "euer", "eure", "euren", "ihre", "ihren",
        "den", "dem", "des", "zum", "zur", "vom", "beim", "im", "am", "ins", "sehr", "als", "sowie",
        "denn", "jeden", "jede", "welche", "welchen", "je",
    ],
    prepositions: &[
        "von", "fur", "bei", "gegen", "ohne", "zwischen", "unter", "hinter", "neben", "wegen", "bis",
        "in", "uber", "wie", "wo", "was", "wer", "womit",
    ],
    open: &[
        "ist", "sind", "war", "waren", "bin", "bist", "seid", "habe", "hab", "hast", "hat", "haben",
        "hatte", "hatten", "wurde", "wurden", "werde", "wird", "werden", "kann", "kannst", "konnte",
        "konnten", "konnten", "will", "wollen", "wollte", "soll", "sollen", "sollten", "muss",
        "mussen", "darf", "mochte", "mochten", "ich", "du", "er", "sie", "es", "wir", "ihr", "man",
        "die", "das", "dies", "diese", "diesen", "nicht", "kein", "keine", "keinen", "vielleicht",
        "wahrscheinlich", "eigentlich", "also", "dann", "da", "nur", "auch", "noch", "mir", "dir",
        "sagen", "sage", "sag", "gesagt", "weiss", "weisst", "wissen", "glaube", "glaub", "denke",
        "meine", "sehen", "schau", "ja", "nein", "gut", "okay", "ok", "moment", "warte", "erinnerst",
        "dich", "mich", "uns", "euch", "etwas", "eins", "zwei", "drei", "hundert", "schatze", "bitte",
        "vielmehr", "um", "an", "auf", "aus", "ab", "zu", "vor", "nach", "mit", "durch",
    ],
    particles: &["um", "an", "auf", "aus", "ab", "zu", "vor", "nach", "mit", "durch"],
    calling: &["ahm", "also", "he", "ah"],
    asking: &[
        "wer", "was", "wo", "wohin", "woher", "wann", "warum", "wieso", "weshalb", "wie", "welche",
        "welcher", "welches", "welchen", "wem", "wen", "wessen", "womit", "wofur", "wodurch", "worum",
    ],
    verbs: &[
        "kann", "kannst", "konnen", "konnt", "konnte", "konntest", "konnten", "konntet", "hast", "hat",
        "habt", "haben", "ist", "sind", "war", "waren", "bist", "seid", "gibt", "darf", "durfen",
        "soll", "sollen", "sollte", "sollten", "will", "willst", "wollt", "wollen", "weiss", "weisst",
        "wisst", "glaubst", "glaubt", "sieht", "siehst", "seht", "kennst", "kennt", "wird", "werden",
        "wirst", "wurde", "wurdest", "wurdet", "muss", "musst", "mussen", "mochtest", "mochtet",
        "machst", "macht", "brauchst", "braucht", "verkaufst", "verkauft", "vertraust", "trifft",
        "reicht", "gehst", "geht", "kommst", "kommt", "sprichst", "sprecht", "erinnerst", "horst",
        "hort", "stimmt", "meinst",
    ],
    subjects: &["ich", "wir", "er", "sie", "es", "du", "ihr", "man"],
    leading: &[
        "wenn", "falls", "bevor", "nachdem", "weil", "obwohl", "sobald", "solange", "wahrend", "dass",
        "ob", "da", "als", "seit",
    ],
    articles: &[
        "ein", "eine", "einen", "der", "die", "das", "den", "dem", "zwei", "drei", "vier", "funf",
        "zehn", "etwas",
    ],
    closing: &[
        "danke", "vielen dank", "danke schon", "auf wiedersehen", "tschuss", "gute nacht", "bis morgen",
        "bis bald", "bis spater", "schon gut", "vergiss es", "keine ahnung", "ich weiss nicht",
        "weiss ich nicht", "das war alles", "das ist alles", "das wars", "wie bitte", "leb wohl",
        "lebt wohl",
    ],
};
