//! German words around the X-card, around requests for more of the same, and short forms of speech.

use super::super::requests::{CardTalk, MoreTalk};

// Skipped: one word a line would hide the lists' shape.
#[rustfmt::skip]
pub(super) static CARD: CardTalk = CardTalk {
    using: &[
        "spiele", "spiel", "spielt", "spielen", "gespielt", "spielst", "brauche", "brauch", "braucht", "brauchen",
        "brauchst", "nutze", "nutzen", "nutzt", "benutze", "benutzen", "benutzt", "ziehe", "ziehen", "gezogen",
        "zieht", "nehme", "nehmen", "nimmt", "einsetzen", "notig", "hebe", "heben", "werfe",
    ],
    beside: &[
        "ich", "wir", "ihr", "man", "jetzt", "hier", "heute", "da", "noch", "auch", "eine", "die", "der", "ne",
        "einer", "unsere", "will", "wollen", "mochte", "mochten", "muss", "mussen", "ist", "war", "wird", "worden",
        "habe", "haben", "dafur", "doch", "wirklich", "eigentlich", "keiner", "niemand",
    ],
    denying: &["nicht", "nich", "kein", "keine", "keiner", "nie", "ohne", "niemand"],
    denying_last: &["nicht", "nich"],
    outcries: &[],
    asking: &[],
    about: &[
        "erklar", "erklare", "erklart", "erklaren", "uber", "zur", "regel", "regeln", "frage", "bedeutet", "heisst",
        "macht", "funktioniert", "meint",
    ],
    articles: &["die", "der", "eine", "einer", "ne", "unsere", "eure"],
    allowing: &[
        "ihr konnt", "konnt ihr", "ihr durft", "durft ihr", "du kannst", "du darfst", "jeder kann", "jeder darf",
        "kann jeder", "darf jeder", "man kann", "kann man", "man darf", "alle konnen", "alle durfen",
    ],
    wishes: &["will", "mochte", "wurde", "muss"],
};

// Skipped: one word a line would hide the lists' shape.
#[rustfmt::skip]
pub(super) static MORE: MoreTalk = MoreTalk {
    phrases: &[
        "noch einen", "noch einer", "noch eine", "noch eins", "noch so einen", "noch so eins", "noch so eine",
        "das gleiche", "dasselbe", "das selbe", "gleiche noch", "mehr davon", "den gleichen", "denselben",
        "die gleiche", "dieselbe", "einen anderen", "noch andere", "noch mehr",
    ],
    beside: &[
        "hast", "habt", "hatte", "hatten", "kennst", "kennt", "weisst", "kannst", "konntest", "konnt", "du", "ihr",
        "fur", "alle", "den", "die", "das", "der", "ganzen", "ganze", "tisch", "uns", "mich", "mir", "sie", "ihn",
        "bitte", "bring", "bringt", "gib", "gebt", "mach", "macht", "schenk", "schenkt", "ich", "wir", "nehme",
        "nehmen", "gern", "gerne", "mochte", "mochten", "will", "wollen", "und", "aber", "ja", "jo", "ok", "okay",
        "also", "dann", "jetzt", "mal", "doch", "auf", "lager", "davon", "von", "denen", "so", "haha", "gut", "war",
        "danke", "freund", "erzahl", "erzahle", "erzahlst", "noch", "nochmal", "nochmals", "einmal", "gleiche",
        "an", "hey", "na", "komm", "los", "schnell", "wie", "eben", "vorhin", "vorher", "bestellen", "bestelle",
        "haben", "hab", "ein", "eine", "einen", "eins", "davor", "auch", "toll", "super",
    ],
};

/// Short forms of speech, folded, and what they are short for.
pub(super) static SHORT_FORMS: &[(&str, &str)] = &[
    ("haste", "hast du"),
    ("biste", "bist du"),
    ("kannste", "kannst du"),
    ("willste", "willst du"),
    ("weisste", "weißt du"),
    ("kennste", "kennst du"),
    ("machste", "machst du"),
    ("gibste", "gibst du"),
    ("siehste", "siehst du"),
    ("horste", "hörst du"),
    ("meinste", "meinst du"),
    ("glaubste", "glaubst du"),
    ("brauchste", "brauchst du"),
    ("kommste", "kommst du"),
    ("gehste", "gehst du"),
    ("sagste", "sagst du"),
    ("wirste", "wirst du"),
    ("spielste", "spielst du"),
    ("verkaufste", "verkaufst du"),
    ("habter", "habt ihr"),
    ("konnter", "könnt ihr"),
    ("gibts", "gibt es"),
    ("gehts", "geht es"),
    ("kanns", "kann es"),
    ("heut", "heute"),
    ("nich", "nicht"),
    ("wasn", "was denn"),
    ("n", "ein"),
    ("nen", "einen"),
    ("ne", "eine"),
    ("nem", "einem"),
    ("ner", "einer"),
];
