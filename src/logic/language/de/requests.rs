//! German words of requests: dice, music, the X-card, more of the same, turning away from a person, and short forms of speech.

use super::super::{
    lists::{DiceTalk, MusicTalk},
    vocabulary::{CardTalk, ListenerTalk, MoreTalk, TurningAway},
};

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
    death_saves: &["todesrettungswurf", "todesrettung", "rettungswurf gegen den tod", "rettungswurf gegen tod"],
    beside_death_save: &[
        "todesrettungswurf", "todesrettung", "rettungswurf", "gegen", "den", "tod", "ich", "bin", "unten", "am", "boden",
        "bewusstlos", "sterbe", "liege", "bitte", "würfel", "würfle", "würfeln", "wirf", "mach", "mache", "machen",
        "einen", "ein", "meinen", "mein", "noch", "ersten", "zweiten", "dritten", "nächsten", "nächster", "für", "mich",
        "mir", "und", "also", "dann", "jetzt", "mal", "ja", "okay", "ok", "kannst", "kann", "du", "brauche", "brauch",
        "oh", "äh", "ähm", "hier", "kommt", "danke",
    ],
    if_it_hits: &[
        "wenn ich treffe", "falls ich treffe", "wenn es trifft", "wenn das trifft", "wenn der trifft", "falls es trifft",
        "falls das trifft", "falls der trifft", "bei einem treffer", "bei treffer",
    ],
    increase: &["mehr", "weniger", "zusätzlich", "zusätzliche", "zusätzlichen", "zusätzlicher", "zusätzliches"],
    another_die: &[],
    dice_nouns: &["würfel", "würfeln"],
    turns: &["davon"],
    before_keeping: &["und", "dann", "aber", "davon", "ich", "wir", "bitte", "nur"],
    keeping: &[
        "behalt", "behalte", "behalten", "behält", "behältst", "nimm", "nehme", "nehmen", "nehm", "zähl", "zähle",
        "zählen", "zählt", "weglassen", "weg", "raus", "streich", "streiche", "streichen", "abziehen", "nur", "lass",
        "lasse", "wegwerfen", "ignoriere", "ignorier", "fallen",
    ],
    heights: &[
        "höchsten", "höchste", "höchster", "besten", "beste", "bester", "größten", "größte", "niedrigsten",
        "niedrigste", "niedrigster", "schlechtesten", "schlechteste", "kleinsten", "kleinste", "tiefsten", "tiefste",
    ],
    vague: &[
        "paar", "einige", "mehrere", "viele", "dutzend", "hunderte", "tausende", "million", "millionen", "milliarde",
        "milliarden",
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
        "sie", "kannst", "du", "freund", "dann", "davor",
    ],
    telling: &["sag", "sage", "sagt", "erinner", "erinnere", "ergebnis"],
    before: &["davor", "vorletzter wurf", "vorletzten wurf", "vorletzte wurf", "vor dem letzten"],
    suggesting: &["wie wäre es", "wie wärs", "wie wär es", "warum nicht"],
    doubles: &["pasch", "zwei gleiche", "die gleiche zahl", "dieselbe zahl"],
    of_what: &["auf", "für", "bei", "mit", "von"],
    adds: &["plus", "addiere"],
    takes: &["minus", "abzüglich"],
    coming: &["kommen", "kommt", "rechne", "rechnest", "zähl", "zähle"],
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

#[rustfmt::skip]
pub(super) static MUSIC: MusicTalk = MusicTalk {
    nouns: &["musik", "lied", "lieder", "stuck", "song", "songs", "titel", "melodie", "hintergrundmusik"],
    softer: &["leiser", "leise", "runter", "herunter"],
    louder: &["lauter", "hoch", "rauf", "auf"],
    alone: &["leiser", "lauter"],
    turning: &["dreh", "drehe", "stell", "stelle"],
    loud: &["laut"],
    soft: &["leise"],
    next: &[
        "nachste", "nachstes", "nachsten", "nachster", "anderes", "andere", "anderen", "anderer", "wechsel",
        "wechseln", "wechsle", "neues", "neue", "uberspring", "uberspringe", "uberspringen", "uberspringt",
    ],
    stop: &[
        "stopp", "stop", "stoppe", "stoppen", "aus", "beende", "beenden", "ende", "schluss", "genug", "kein",
        "keine", "ausmachen", "ausschalten", "abstellen", "weg", "ruhe", "aufhoren", "verstummen",
    ],
    play: &["spiel", "spiele", "spielt", "spielen", "spielst"],
    performing: &["spiel", "spiele", "spielt", "spielen", "spielst"],
    weary: &["satt", "leid", "langweilig", "langweilt", "reicht"],
    asking: &["was", "welche", "welches", "welcher", "wie"],
    running: &["lauft", "spielt"],
    excess: &["zu"],
    meant: &["das", "es"],
    changing: &["wechsel", "wechseln", "wechsle"],
    choosing: &[
        "irgendwas", "irgendetwas", "am", "im", "zum", "zur", "beim", "vom", "ums", "an", "auf", "in", "aus",
        "passendes", "lieber", "stimmung", "klange", "gerausche",
    ],
    needing: &["brauche", "brauchen", "braucht", "will", "wollen"],
    apart: &["und", "dann", "danach", "ausserdem", "aber"],
    beside: &[
        "mach", "mache", "macht", "machen", "machst", "die", "das", "der", "den", "dem", "ein", "eine", "einen",
        "bisschen", "etwas", "wenig", "bitte", "kannst", "konnt", "konnen", "konnte", "konntest", "konntet",
        "konnten", "du", "ihr", "wir", "ich", "man", "sie", "es", "mal", "doch", "jetzt", "gerade", "gern",
        "gerne", "noch", "viel", "so", "ist", "sind", "dreh", "drehe", "drehen", "stell", "stelle", "stellen",
        "schalte", "schalten", "spiel", "spiele", "spielen", "spielt", "spielst", "mit", "und", "fur", "uns",
        "mir", "wurdest", "wurde", "wurden", "mag", "mochte", "mochten", "will", "wollen", "hatte", "hatten",
        "lass", "lasst", "hier", "da", "denn", "im", "hintergrund", "wieder", "nur", "dann", "hey", "ok", "okay",
        "horen", "heisst", "danke", "sein", "was", "davon", "dies", "dieses", "diese", "hab", "habe",
        "haben", "mich", "lieber", "bin", "oft", "also", "heute", "erst", "einmal", "mehr", "als", "von",
        "kann", "soll", "sollte", "muss", "darf", "ziemlich", "drin", "ganz", "viel", "brauche", "brauchen",
        "braucht",
    ],
    listener: ListenerTalk {
        skipping: &["uberspring", "uberspringe", "uberspringen", "uberspringt"],
        pointing: &["hier", "dieses", "eins"],
        pains: &["kopfschmerzen", "kopfweh", "migrane", "nervt", "nerven"],
        hurting: &["weh", "schmerzen", "schmerzt"],
        hurt: &["ohren", "kopf", "schadel"],
        beside_pain: &[
            "puh", "boah", "uff", "oh", "ach", "mann", "gehen", "geht", "auf", "krieg", "kriege", "kriegt", "bekomme",
            "bekommt", "von", "tun", "tut", "in", "total", "langsam", "echt", "voll", "schon", "meinen", "meine",
            "mein", "unsere", "ohren", "kopf", "schadel",
        ],
        reasons: &["man", "ich", "wir", "keiner", "niemand", "weil", "sonst"],
        hearing: &["versteht", "verstehe", "verstehen", "hort", "hore", "hor", "horen"],
        little: &["kaum", "nichts", "nix", "keiner", "niemand"],
        beside_reason: &[
            "man", "ich", "wir", "hier", "ja", "sein", "mein", "unser", "eigenes", "eigene", "wort", "kann", "konnen",
            "gar", "gegenseitig", "uns", "mich", "sich", "selbst", "einander", "mehr", "noch", "das", "die", "den",
            "der", "denn", "schon", "fast", "so", "doch", "bei", "dem", "vor", "lauter",
        ],
    },
};

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
    outcries: &["nicht", "nich"],
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
        "haben", "hab", "ein", "eine", "einen", "eins", "davor", "auch", "toll", "super", "schlecht", "schwach", "mies",
        "lahm", "flach", "doof", "lustig", "witzig", "sehr", "echt", "ziemlich", "besseren", "bessere",
        "besseres", "buh", "puh",
    ],
};

// Skipped: one word a line would hide the lists' shape.
#[rustfmt::skip]
pub(super) static AWAY: TurningAway = TurningAway {
    beginnings: &[
        "nicht du", "nein nicht du", "du nicht", "ich rede nicht mit", "ich spreche nicht mit", "ich meine nicht",
        "ich meinte nicht", "ich habe nicht mit", "ich frage nicht",
    ],
    phrases: &["nichts zu tun haben", "nix zu tun haben", "nichts zu schaffen haben", "nichts am hut"],
    asking: &["warum", "wieso", "weshalb"],
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
